"""What the page of the five systems says of a preset and no other test shows with the preset alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookctl.packs.choices import PRESETS
from tests.templates.lab import Lab


@pytest.fixture
def rockbot(tmp_path: Path) -> Lab:
    lab = Lab(tmp_path / "lab").config(**PRESETS["rockbot"], dispatch_tools=["Task"])
    lab.environment["HOOKCTL_NOW"] = "1000"
    return lab


def test_a_trip_lasts_until_the_window_ends(rockbot: Lab) -> None:
    assert rockbot.attempts("a", 32) == "A" * 30 + "DD"
    for now, answer in (("1299.9", "D"), ("1300", "A")):
        rockbot.environment["HOOKCTL_NOW"] = now
        assert rockbot.attempt("a") == answer


def test_each_kind_of_call_has_its_own_count(rockbot: Lab) -> None:
    assert rockbot.attempts("a", 31)[-1] == "D"
    assert rockbot.attempts("b", 31) == "A" * 30 + "D"


@pytest.fixture
def hermes(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "lab").config(**PRESETS["hermes"])


@pytest.mark.parametrize("task", ["", " ", "\t\n"])
def test_a_blank_task_is_none(hermes: Lab, task: str) -> None:
    hermes.environment["HERMES_KANBAN_TASK"] = task
    assert hermes.stop() == "A"
    hermes.environment["HERMES_KANBAN_TASK"] = "T7"
    assert hermes.stop() == "B"


def test_a_call_counts_for_its_task(hermes: Lab) -> None:
    hermes.environment["HERMES_KANBAN_TASK"] = "T7"
    hermes.call("post-tool", tool_name="kanban_complete", tool_input={})
    assert hermes.stop(prompt_id="p") == "A"
    assert hermes.stop(prompt_id="q") == "A", "also after the next prompt"
    hermes.environment["HERMES_KANBAN_TASK"] = "T8"
    assert hermes.stop(prompt_id="r") == "B"
