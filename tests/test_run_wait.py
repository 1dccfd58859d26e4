"""`hookctl run wait`: one call that blocks until the work is done, stands still, or time is up."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hookctl.verbs import run
from hookctl.work import run_files
from tests.conftest import Hookctl, put

TWO, ONE, NONE = (2, ""), (1, ""), (0, "")


class Timer:
    """A clock that only pauses move, and what happens in them."""

    def __init__(self, happens: Callable[[int], object] = lambda pauses: None) -> None:
        self.time, self.pauses, self.happens = 100.0, 0, happens

    def monotonic(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        assert 0 < seconds <= 1
        self.time += seconds
        self.pauses += 1
        self.happens(self.pauses)


@pytest.mark.parametrize(
    ("looks", "timeout", "stall", "expected"),
    [
        ([NONE], "10s", "", ("done", 0, 0)),
        ([NONE], "0s", "0s", ("done", 0, 0)),
        ([TWO, TWO, ONE, NONE], "10s", "", ("done", 0, 3)),
        ([TWO], "10s", "", ("timeout", 2, 10)),
        ([TWO], "2.5s", "", ("timeout", 2, 2.5)),
        ([TWO], "10s", "4s", ("stalled", 2, 4)),
        ([TWO, TWO, TWO, ONE, ONE], "100s", "4s", ("stalled", 1, 7)),
        ([(2, "a"), (2, "b"), (2, "b")], "100s", "4s", ("stalled", 2, 5)),
        ([TWO], "3s", "4s", ("timeout", 2, 3)),
    ],
)
def test_how_a_wait_ends(
    hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch, looks: list[tuple[int, str]], timeout: str, stall: str,
    expected: tuple[str, int, float],
) -> None:  # fmt: skip
    script = iter(looks)
    monkeypatch.setattr(run_files, "read_progress", lambda files: next(script, looks[-1]))
    monkeypatch.setattr(run, "time", Timer())
    data = hookctl("run", "wait", "--timeout", timeout, *(["--stall", stall] if stall else []), "--json").data
    assert (data["outcome"], data["remaining"], data["seconds"]) == expected


def test_it_never_waits_busily_and_sees_a_stop(
    hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hookctl("run", "remaining", "2")
    stop = isolated / "work" / ".hookctl" / "run" / "STOP"
    timer = Timer(lambda pauses: pauses == 60 and stop.touch())
    monkeypatch.setattr(run, "time", timer)
    outcome = hookctl("run", "wait")
    assert (outcome.code, outcome.out, timer.pauses) == (0, "STOP is set, 2 remaining\n", 60)


@pytest.mark.parametrize(
    ("before", "options", "code", "text"),
    [
        ([], [], 0, "no work is left"),
        (["remaining", "0"], [], 0, "no work is left"),
        (["remaining", "2"], ["--timeout", "0s"], 124, "2 remaining; nothing moved for 0 s"),
        (["remaining", "2"], ["--stall", "0s"], 1, "2 remaining, and nothing moved for 0 s"),
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


WAIT = ("wait", "--stall", "8m", "--timeout", "0s")
# What happens in which minute, and how the call of `run wait` behind it ends.
MOVEMENTS: dict[str, list[tuple[float, tuple[str, ...], int]]] = {
    "none": [(0, WAIT, 124), (3, WAIT, 124), (7, WAIT, 124), (8.1, WAIT, 1), (20.1, WAIT, 1)],
    "a heartbeat": [(0, WAIT, 124), (7, ("heartbeat",), 0), (8, WAIT, 124), (15, WAIT, 124), (16.1, WAIT, 1)],
    "less work": [(0, WAIT, 124), (7, ("remaining", "1"), 0), (9, WAIT, 124), (16, WAIT, 124), (17.1, WAIT, 1)],
    "the same count again": [(0, WAIT, 124), (9, ("remaining", "2"), 0), (10, WAIT, 124), (18.1, WAIT, 1)],
    "a new run": [(0, WAIT, 124), (9, ("start",), 0), (10, WAIT, 124), (18.1, WAIT, 1)],
    "another patience": [
        (0, WAIT, 124),
        (5.1, ("wait", "--stall", "5m", "--timeout", "0s"), 1),
        (6, WAIT, 124),
        (8.1, WAIT, 1),
    ],
    "a clock that was set back": [(90, WAIT, 124), (0, WAIT, 124), (7, WAIT, 124), (8.1, WAIT, 1)],
}


@pytest.mark.parametrize("name", MOVEMENTS)
def test_standing_still_is_measured_over_all_calls(
    hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    hookctl("run", "remaining", "2")
    for minute, arguments, code in MOVEMENTS[name]:
        monkeypatch.setenv("HOOKCTL_NOW", str(1_800_000_000 + 60 * minute))
        outcome = hookctl("run", *arguments)
        assert outcome.code == code, (minute, arguments, outcome)


def test_what_cannot_be_kept_ends_the_wait(hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hookctl("run", "remaining", "2")
    put(isolated / "file", "")
    monkeypatch.setenv("HOOKCTL_STATE_DIR", str(isolated / "file" / "state"))
    assert hookctl("run", *WAIT).code == 1
    assert hookctl("run", "wait", "--timeout", "0s").code == 124


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
