"""A reminder that an agent ignores: in the log, in stats, and in the exit code of `run status --check`."""

from __future__ import annotations

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
    assert (done.code, "ignored    an agent stopped although" in done.out) == (0, True)
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
