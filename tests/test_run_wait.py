"""`hookctl run wait`: one call that blocks until the work is done, stands still, or time is up."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookctl.verbs.wait import Clock, Look, watch
from tests.conftest import Hookctl

TWO, ONE, NONE = Look(2), Look(1), Look(0)


class Timer:
    """A clock that only pauses move, and what the pauses were."""

    def __init__(self) -> None:
        self.time, self.pauses = 100.0, 0

    def sleep(self, seconds: float) -> None:
        assert 0 < seconds <= 1
        self.time += seconds
        self.pauses += 1


def play(looks: list[Look], timeout: float, stall: float | None) -> tuple[str, int, float]:
    """How the wait ends, what was left then, and after how many seconds."""
    timer, script = Timer(), iter(looks)
    last = [NONE]

    def look() -> Look:
        last[0] = next(script, last[0])
        return last[0]

    outcome, seen = watch(look, timeout, stall, Clock(lambda: timer.time, timer.sleep))
    return outcome, seen.remaining, timer.time - 100


@pytest.mark.parametrize(
    ("looks", "timeout", "stall", "expected"),
    [
        ([NONE], 10, None, ("done", 0, 0)),
        ([NONE], 0, 0, ("done", 0, 0)),
        ([TWO, TWO, ONE, NONE], 10, None, ("done", 0, 3)),
        ([TWO], 10, None, ("timeout", 2, 10)),
        ([TWO], 2.5, None, ("timeout", 2, 2.5)),
        ([TWO], 10, 4, ("stalled", 2, 4)),
        ([TWO, TWO, TWO, ONE, ONE], 100, 4, ("stalled", 1, 7)),
        ([Look(2, "a"), Look(2, "b"), Look(2, "b")], 100, 4, ("stalled", 2, 5)),
        ([TWO], 3, 4, ("timeout", 2, 3)),
        ([TWO, Look(2, "", "STOP")], 10, 1, ("stopped", 2, 1)),
    ],
)
def test_how_a_wait_ends(
    looks: list[Look], timeout: float, stall: float | None, expected: tuple[str, int, float]
) -> None:
    assert play(looks, timeout, stall) == expected


def test_it_never_waits_busily() -> None:
    timer = Timer()
    watch(lambda: TWO, 60, None, Clock(lambda: timer.time, timer.sleep))
    assert timer.pauses == 60


@pytest.mark.parametrize(
    ("before", "options", "code", "text"),
    [
        ([], [], 0, "no work is left"),
        (["remaining", "0"], [], 0, "no work is left"),
        (["remaining", "2"], ["--timeout", "0s"], 124, "2 remaining after"),
        (["remaining", "2"], ["--stall", "0s"], 1, "2 remaining, and nothing moved for 0s"),
        (["stop"], [], 0, "STOP is set"),
        (["remaining", "2"], ["--timeout", "soon"], 2, "not a duration"),
    ],
)
def test_the_exit_code_says_how(
    hookctl: Hookctl, isolated: Path, before: list[str], options: list[str], code: int, text: str
) -> None:
    if before:
        hookctl("run", *before)
    outcome = hookctl("run", "wait", *options)
    assert (outcome.code, text in outcome.out + outcome.err) == (code, True)


def test_its_options_belong_to_it(hookctl: Hookctl, isolated: Path) -> None:
    assert hookctl("run", "status", "--stall", "1m").code == 2


@pytest.fixture
def waiting(hookctl: Hookctl, isolated: Path) -> Iterator[subprocess.Popen[str]]:
    hookctl("run", "remaining", "2")
    command = [sys.executable, "-m", "hookctl", "run", "wait", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield process


def test_a_process_that_waits_sees_the_end(waiting: subprocess.Popen[str], hookctl: Hookctl) -> None:
    hookctl("run", "remaining", "0")
    out, _ = waiting.communicate(timeout=30)
    assert waiting.returncode == 0
    data = json.loads(out)["data"]
    assert (data["outcome"], data["remaining"]) == ("done", 0)
