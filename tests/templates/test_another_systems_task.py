"""Work that another system describes: its file, its names of fields, its variables; the file is only read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookctl.packs.choices import PRESETS

from .lab import Lab

BMAD = {name: value for name, value in PRESETS["bmad"].items()}


class Marker:
    """The marker that bmad-automator keeps in a project."""

    def __init__(self, path: Path, **fields: Any) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.write(**fields)

    def write(self, **fields: Any) -> None:
        self.path.write_text(json.dumps(fields))


@pytest.fixture
def bmad(lab: Lab) -> Lab:
    return lab.config(**BMAD)


@pytest.mark.parametrize("folder", [".claude", ".agents", ".codex"])
def test_the_preset_finds_the_marker_of_its_system(bmad: Lab, folder: str) -> None:
    marker = Marker(bmad.project / folder / ".story-automator-active", storiesRemaining=2, heartbeat="a")
    before = marker.path.read_bytes()
    assert bmad.stops("011111") == "BBBBBR"
    assert "(2)" in bmad.call("stop", stop_hook_active=False)
    assert marker.path.read_bytes() == before, "it is only read"
    marker.write(storiesRemaining=0)
    assert bmad.stops("0") == "A"


def test_heartbeat_and_count_of_the_marker_are_progress(bmad: Lab) -> None:
    bmad.environment["MAX_STOP_BLOCKS"] = "2"
    marker = Marker(bmad.project / ".claude/.story-automator-active", storiesRemaining="3", heartbeat="a")
    assert bmad.stops("01") == "BB"
    marker.write(storiesRemaining="3", heartbeat="b")
    assert bmad.stops("11") == "BB"
    marker.write(storiesRemaining="2", heartbeat="b")
    assert bmad.stops("111") == "BBR"


def test_a_variable_names_the_marker(bmad: Lab) -> None:
    bmad.environment["STORY_AUTOMATOR_ACTIVE_MARKER"] = "elsewhere/active.json"
    assert bmad.stop() == "A"
    Marker(bmad.project / "elsewhere/active.json", storiesRemaining=1)
    assert bmad.stop() == "B"


def test_the_owner_in_the_marker_is_kept_and_nobody_else(bmad: Lab) -> None:
    marker = Marker(bmad.project / ".claude/.story-automator-active", storiesRemaining=2, ownerSession="S1")
    assert bmad.stop(session_id="S2") == "A"
    assert bmad.codes()[-1] == "not_owner"
    assert bmad.stop(session_id="S1") == "B"
    marker.write(storiesRemaining=2)
    assert bmad.stop(session_id="S2") == "B", "a marker without the field holds every session"


def test_our_own_file_counts_where_the_system_has_none(bmad: Lab) -> None:
    bmad.task(remaining=2)
    assert bmad.stop() == "B"
    Marker(bmad.project / ".claude/.story-automator-active", storiesRemaining=0)
    assert bmad.stop() == "A"


@pytest.mark.parametrize(
    ("own", "common", "blocks"),
    [("2", "4", 2), ("", "4", 4), ("0", "4", 4), ("-1", "4", 4), ("many", "4", 4), ("3", "", 3), ("", "", 5)],
)
def test_the_limit_of_the_system_wins(bmad: Lab, own: str, common: str, blocks: int) -> None:
    Marker(bmad.project / ".claude/.story-automator-active", storiesRemaining=2)
    bmad.environment |= {"STORY_AUTOMATOR_MAX_STOP_BLOCKS": own, "MAX_STOP_BLOCKS": common}
    assert bmad.stops("0" + "1" * blocks) == "B" * blocks + "R"


def test_a_child_of_the_system_may_stop(bmad: Lab) -> None:
    Marker(bmad.project / ".claude/.story-automator-active", storiesRemaining=2)
    bmad.environment["STORY_AUTOMATOR_CHILD"] = "true"
    assert bmad.stop() == "A"


@pytest.mark.parametrize("count", [True, -1, 2.0, "two"])
def test_what_the_guard_reads_otherwise(bmad: Lab, count: object) -> None:
    """Neither an odd count nor `PROJECT_ROOT`: the host names its project."""
    marker = Marker(bmad.project / ".claude/.story-automator-active", storiesRemaining=count)
    assert bmad.stop() == "A"
    marker.write(storiesRemaining=1)
    bmad.environment["PROJECT_ROOT"] = str(bmad.root)
    assert bmad.stop() == "B"


def test_in_a_locked_guard_no_variable_names_file_or_limit(lab: Lab) -> None:
    # The tests own the configuration, so it does not lock; what locks is seen in the settings alone.
    from .modules import module

    def env(name: str) -> str:
        return {"LIMIT": "9", "FILE": "x"}.get(name, "")

    settings = module("settings").Settings({"limit_env": "LIMIT", "task_env": "FILE"}, locked=True, env=env)
    assert settings.max_stop_blocks == 5
    assert module("work").find_task(settings, env) == (".hookctl/run/task.json", {})
    settings.locked = False
    assert module("work").find_task(settings, env)[0] == "x"
