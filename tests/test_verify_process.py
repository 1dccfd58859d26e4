"""hookctl verify with real verifiers: what their ends mean, what they see, and that nothing of them is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hookctl.system import processes

from .conftest import Hookctl, put

QUICK = ("--grace", "0")
GRACE = 1.0  # seconds between TERM and KILL, here
HASTY = f"""
from hookctl.__main__ import main
from hookctl.system import processes
processes._GRACE = {GRACE}
main()
"""


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_GRACE", GRACE)


def start(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HASTY, "verify", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, **{**pipes, **options})


def until(path: Path) -> str:
    """What a file says, once it says something."""
    end = time.monotonic() + 20
    while not (path.exists() and path.read_text().endswith("\n")):
        assert time.monotonic() < end, path
        time.sleep(0.02)
    return path.read_text()


def is_running(pid: int) -> bool:
    """Whether there is such a process; one that has ended and waits to be reaped is none."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
    return bool(state) and not state.startswith("Z")


def assert_all_ended(pids: str) -> None:
    end = time.monotonic() + 10
    while alive := [pid for pid in map(int, pids.split()) if is_running(pid)]:
        assert time.monotonic() < end, alive
        time.sleep(0.05)


# What an end means.


@pytest.mark.parametrize(
    ("line", "code", "runs"),
    [
        ("exit 0", 0, 1), ("exit 1", 1, 3), ("exit 125", 1, 3), ("exit 126", 4, 1), ("exit 127", 4, 1),
        ("exit 128", 4, 1), ("exit 255", 4, 1), ("kill -9 $$", 4, 1), ("kill -15 $$", 4, 1),
    ],
)  # fmt: skip
def test_what_a_verifiers_end_means(hookctl: Hookctl, line: str, code: int, runs: int) -> None:
    assert hookctl("verify", *QUICK, "--", "sh", "-c", f"echo x >> runs; {line}").code == code
    assert Path("runs").read_text() == "x\n" * runs


BROKEN = {
    "./missing": "No such file or directory", "./plain": "Permission denied", "./folder": "Permission denied",
    "./no-format": "Exec format error", "./no-interpreter": "No such file or directory",
}  # fmt: skip


def test_the_grace_ends_with_the_time_and_the_last_status_is_told(hookctl: Hookctl) -> None:
    begin = time.monotonic()
    done = hookctl("verify", "--grace", "60", "--timeout", "1", "--json", "--", "sh", "-c", "echo x >> runs; exit 7")
    assert (done.code, done.data["verdict"], done.data["looks"], done.data["exit_status"]) == (124, "timeout", 1, 7)
    assert time.monotonic() - begin < 30 and Path("runs").read_text() == "x\n"


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_started_is_said_at_once(hookctl: Hookctl, name: str) -> None:
    put(Path("plain"), "#!/bin/sh\n")
    Path("folder").mkdir()
    put(Path("no-format"), b"\x7fELF nothing").chmod(0o755)
    put(Path("no-interpreter"), "#!/no/such/program\n").chmod(0o755)
    outcome = hookctl("verify", "--json", "--grace", "60", "--", name)
    assert outcome.code == 4
    assert outcome.result["errors"][0]["code"] == "broken_contract"
    assert BROKEN[name] in outcome.result["errors"][0]["message"]
    assert (outcome.data["verdict"], outcome.data["looks"], outcome.data["exit_status"]) == ("broken", 1, None)


# What it sees.


def test_it_is_marked_as_a_child_has_no_input_and_gets_its_words_as_given() -> None:
    code = "import os, sys; print(os.environ['HOOKCTL_CHILD'], sys.argv[1:], repr(sys.stdin.read()))"
    running = start("--", sys.executable, "-c", code, "$HOME", "*", "--json", stdin=subprocess.PIPE)
    _, err = running.communicate("not for you")
    assert err == "1 ['$HOME', '*', '--json'] ''\n"
    assert running.returncode == 0


def test_in_json_its_output_goes_to_stderr_alone(process: Hookctl) -> None:
    outcome = process("verify", "--json", *QUICK, "--", "sh", "-c", "echo said; exit 1")
    assert (outcome.code, outcome.err) == (1, "said\n" * 3)
    data = {name: value for name, value in outcome.data.items() if name not in ("seconds", "command")}
    assert data == {
        "verdict": "incomplete", "looks": 3, "exit_status": 1, "signal": None, "rechecks": 3, "grace": 0.0,
        "timeout": None,
    }  # fmt: skip


@pytest.mark.parametrize("flags", [(), ("--json",)], ids=["text", "json"])
def test_what_it_leaves_behind_does_not_hold_the_answer_up(flags: tuple[str, ...]) -> None:
    begin = time.monotonic()
    running = start(*flags, "--", "sh", "-c", "echo begun; sleep 30 & echo $! > pid", stderr=subprocess.DEVNULL)
    running.communicate(timeout=20)
    os.kill(int(Path("pid").read_text()), signal.SIGKILL)
    assert running.returncode == 0
    assert time.monotonic() - begin < 20


# How it is ended.

FAMILY = "sh -c 'trap \"\" TERM; echo $$ > second; for n in $(seq 60); do sleep 1; done' & {} echo $$ > first; wait"
HARD = "trap '' TERM;"  # it does not listen to TERM


@pytest.mark.parametrize("trap", ["", HARD], ids=["listens", "deaf"])
def test_out_of_time_it_is_ended_with_all_that_it_started(hookctl: Hookctl, trap: str) -> None:
    begin = time.monotonic()
    outcome = hookctl("verify", "--timeout", "1", "--", "sh", "-c", FAMILY.format(trap))
    assert (outcome.code, outcome.out) == (124, "")
    assert "out of time after 1 s, at look 1 of 3: sh did not hold" in outcome.err
    assert_all_ended(Path("first").read_text() + Path("second").read_text())
    assert time.monotonic() - begin < 20


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_interrupted_it_is_ended_with_all_that_it_started(number: signal.Signals) -> None:
    running = start("--", "sh", "-c", FAMILY.format(""))
    pids = until(Path("first")) + until(Path("second"))
    running.send_signal(number)
    out, err = running.communicate(timeout=20)
    assert (running.returncode, out, err) == (130, "", "\nhookctl: interrupted\n")
    assert_all_ended(pids)
