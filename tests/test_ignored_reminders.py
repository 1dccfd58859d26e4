"""A reminder that an agent ignores: in the log, in stats, and in the exit code of `run status --check`."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.templates.lab import Lab

from .conftest import Hookctl

NUDGE = {"required_tools": ["finish"]}


@pytest.fixture
def lab(isolated: Path) -> Lab:
    """The hook in the project and the state folder that hookctl sees."""
    lab = Lab(isolated / "lab").config(**NUDGE)
    lab.project, lab.state = isolated / "work", isolated / "state"
    lab.payload["cwd"] = str(lab.project)
    lab.environment["HOOKCTL_STATE_DIR"] = str(lab.state)
    return lab


def check(hookctl: Hookctl) -> int:
    return hookctl("run", "status", "--check").code


def ignored(lab: Lab) -> list[bool]:
    return [line.get("ignored", False) for line in lab.log()]


def test_the_stop_after_it_has_it_in_the_log_and_check_fails(lab: Lab, hookctl: Hookctl) -> None:
    assert lab.stop() == "B"
    assert check(hookctl) == 0, "the agent may still call it"
    assert lab.stop(True) == "A"
    assert ignored(lab) == [False, True]
    assert check(hookctl) == 1
    done = hookctl("run", "status")
    assert (done.code, "an agent stopped although" in done.out) == (0, True)
    assert hookctl("run", "status", "--json").data["ignored"] is True
    assert hookctl("stats", "--json").data["ignored"] == 1
    assert "the reminder before it was ignored" in hookctl("log").out


def test_a_guard_that_stopped_blocking_although_work_remains_is_to_be_looked_at(lab: Lab, hookctl: Hookctl) -> None:
    lab.config(max_stop_blocks=1)
    hookctl("run", "remaining", "2")
    assert (lab.stops("0"), check(hookctl)) == ("B", 0)
    assert (lab.stops("1"), check(hookctl)) == ("R", 1)
    hookctl("run", "remaining", "0")
    assert check(hookctl) == 0


def test_it_is_counted_once_however_often_the_agent_stops(lab: Lab, hookctl: Hookctl) -> None:
    assert lab.stops("0111") == "BAAA"
    assert ignored(lab) == [False, True, False, False]
    assert check(hookctl) == 1, "nobody saw to it"
    lab.stops("0", prompt_id="next")
    assert check(hookctl) == 0, "a person wrote, and the agent is reminded anew"
    assert hookctl("stats", "--json").data["ignored"] == 1


def test_each_of_several_reminders_counts(lab: Lab, hookctl: Hookctl) -> None:
    lab.config(**NUDGE, max_nudges=2)
    assert lab.stops("01") == "BB"
    assert check(hookctl) == 1, "the first was ignored"
    assert lab.stop(True) == "A"
    assert ignored(lab) == [False, True, True]
    data = hookctl("stats", "--json").data
    assert (data["nudges"], data["ignored"]) == (2, 2)


def test_while_work_remains_the_last_block_is_the_reminder(lab: Lab, hookctl: Hookctl) -> None:
    assert hookctl("run", "remaining", "1").code == 0
    assert (lab.stops("011111"), lab.codes()[-1]) == ("BBBBBB", "nudged")
    assert (lab.stop(True), check(hookctl)) == ("R", 1)


def test_one_that_was_heeded_is_none(lab: Lab, hookctl: Hookctl) -> None:
    assert lab.stop() == "B"
    lab.call("post-tool", tool_name="finish", tool_input={})
    assert lab.stop(True) == "A"
    assert (any(ignored(lab)), check(hookctl)) == (False, 0)


def test_a_call_that_comes_late_settles_it(lab: Lab, hookctl: Hookctl) -> None:
    assert (lab.stops("01"), check(hookctl)) == ("BA", 1)
    lab.call("post-tool", tool_name="finish", tool_input={})
    assert check(hookctl) == 0


def test_a_prompt_settles_it(lab: Lab, hookctl: Hookctl) -> None:
    assert (lab.stops("01", prompt_id="p"), check(hookctl)) == ("BA", 1)
    lab.call("prompt", prompt="go on", prompt_id="q")
    assert check(hookctl) == 0


def test_stop_is_a_persons_wish_and_no_fault_of_the_agents(lab: Lab, hookctl: Hookctl) -> None:
    assert lab.stop() == "B"
    assert hookctl("run", "stop").code == 0
    assert lab.stop(True) == "A"
    assert (any(ignored(lab)), check(hookctl)) == (False, 0)


def test_the_next_run_settles_it_and_so_do_twelve_hours(
    lab: Lab, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (lab.stops("01"), check(hookctl)) == ("BA", 1)
    lab.stops("0", session_id="S2")
    assert check(hookctl) == 1, "another session changes nothing"
    monkeypatch.setenv("HOOKCTL_NOW", str(time.time() + 12 * 3600 + 60))
    assert check(hookctl) == 0
    monkeypatch.delenv("HOOKCTL_NOW")
    assert hookctl("run", "start").code == 0
    assert check(hookctl) == 0


@pytest.mark.parametrize("text", ["", "[]", '{"terminal": 5, "nudges": "0"}', "[" * 9999])
def test_a_session_file_that_cannot_be_read_settles_nothing(lab: Lab, hookctl: Hookctl, text: str) -> None:
    lab.stops("01")
    path = lab.session_file()
    path.write_text(text)
    assert check(hookctl) == 1
    path.unlink()
    os.mkfifo(path)
    assert check(hookctl) == 1


def test_two_registrations_make_one_ignored_reminder(lab: Lab) -> None:
    other = lab.second()
    assert lab.call("stop") == lab.call("stop", other) != ""
    lab.stop(True), lab.stop(True, other)
    assert ignored(lab) == [False, True]
