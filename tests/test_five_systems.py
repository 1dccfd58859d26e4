"""The page of the five systems: every row of its tables names a test that is there, or says why it is not so.

Below that are rows that no other test shows with the preset alone.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from hookctl.packs.choices import PRESETS
from tests.templates.lab import Lab

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "five-systems.md"
SYSTEMS = {"bmad-automator": 14, "Nightly": 16, "OpenHands": 10, "RockBot": 12, "Hermes": 11}


def rows(system: str) -> list[list[str]]:
    """The cells of each row below a system's heading."""
    text = PAGE.read_text().partition(f"\n## {system}:")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def is_there(name: str) -> bool:
    """Whether a file of tests, or a test in it, exists; a story is a file."""
    path, _, test = name.partition("::")
    if not test or not (ROOT / path).is_file():
        return (ROOT / path).is_file()
    tree = ast.parse((ROOT / path).read_text())
    return any(isinstance(node, ast.FunctionDef) and node.name == test for node in ast.walk(tree))


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_row_is_shown_or_has_its_reason(system: str) -> None:
    found = rows(system)
    assert len(found) >= SYSTEMS[system]
    for row in found:
        assert len(row) == 3 and all(row), row
        says_no = row[1].startswith("no: ")
        assert says_no or re.match(r"yes\b", row[1]), row
        names = re.findall(r"`(tests/[^`]*)`", row[2])
        assert names or says_no, row
        assert [name for name in names if not is_there(name)] == []


def test_a_name_of_no_test_is_noticed() -> None:
    assert not is_there("tests/test_five_systems.py::test_of_nothing")
    assert not is_there("tests/no_such_file.py")
    assert is_there("tests/test_five_systems.py::test_a_name_of_no_test_is_noticed")


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


@pytest.mark.parametrize("name", ["dispatch_max", "dispatch_window_s"])
def test_a_limit_of_0_allows_everything(rockbot: Lab, name: str) -> None:
    rockbot.config(**{**PRESETS["rockbot"], name: 0}, dispatch_tools=["Task"])
    assert rockbot.attempts("a", 40) == "A" * 40


def test_no_arguments_are_never_refused_and_empty_ones_count(rockbot: Lab) -> None:
    assert [rockbot.call("pre-tool", tool_name="Task") for _ in range(31)] == [""] * 31
    assert rockbot.attempts("", 31, tool_input={}) == "A" * 30 + "D"


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
