"""`hookctl supervise`: one agent as a child, started again only where it ended by accident."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookctl.system import processes
from hookctl.system.project import session_hash
from tests.conftest import Hookctl, put
from tests.templates.wraps import alive

IMPATIENT = """
from hookctl.__main__ import main
from hookctl.system.processes import Guardian
rest = Guardian.rest
Guardian.rest = lambda self, seconds: rest(self, seconds / 20)
main()
"""


class Stage:
    """A project with an agent that writes down each start, and does what its script says."""

    def __init__(self, hookctl: Hookctl, isolated: Path) -> None:
        self.hookctl, self.project = hookctl, Path.cwd()
        (self.project / ".git").mkdir()
        self.starts = isolated / "starts"
        self.state = Path(os.environ["HOOKCTL_STATE_DIR"]) / "guard" / session_hash(str(self.project.resolve()))
        self.agent = put(isolated / "agent.py", "")

    def script(self, text: str) -> None:
        """What the agent does; `crumb()` is what the guard's hook writes while it keeps the agent going."""
        put(
            self.agent,
            "import os, pathlib, signal, sys, time\n"
            f"starts = pathlib.Path({str(self.starts)!r})\n"
            "with starts.open('a') as stream: stream.write(f'{os.getpid()}\\n')\n"
            "number = len(starts.read_text().split())\n"
            f"crumb = lambda: pathlib.Path({str(self.state / 'RESPAWN_REQUESTED')!r}).write_text('1')\n" + text,
        )

    def begin(self, *options: str, start: tuple[str, ...] = ("-m", "hookctl")) -> subprocess.Popen[str]:
        command = [sys.executable, *start, "supervise", *options, "--", sys.executable, str(self.agent)]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)

    def run(self, *options: str) -> tuple[int, str]:
        """Supervise the agent to its end, with pauses of a twentieth."""
        process = self.begin(*options, start=("-c", IMPATIENT))
        out, errors = process.communicate(timeout=60)
        return process.returncode, out + errors

    @property
    def pids(self) -> list[int]:
        return [int(pid) for pid in self.starts.read_text().split()] if self.starts.exists() else []

    @property
    def is_armed(self) -> bool:
        return (self.state / "ACTIVE").exists()

    def wait_for_start(self, number: int) -> int:
        deadline = time.monotonic() + 30
        while len(self.pids) < number:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return self.pids[number - 1]


@pytest.fixture
def stage(hookctl: Hookctl, isolated: Path) -> Iterator[Stage]:
    stage = Stage(hookctl, isolated)
    yield stage
    for pid in stage.pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


# How the first agent ends (the second ends with 0), and whether there is a second.
ENDS: dict[str, tuple[str, bool]] = {
    "well": ("sys.exit(0)", False),
    "a failure": ("sys.exit(7)", True),
    "killed": ("os.kill(os.getpid(), signal.SIGKILL)", True),
    "a crash": ("os.kill(os.getpid(), signal.SIGSEGV)", True),
    "terminated": ("os.kill(os.getpid(), signal.SIGTERM)", False),
    "terminated in its own words": ("sys.exit(143)", False),
    "hung up": ("os.kill(os.getpid(), signal.SIGHUP)", False),
    "interrupted": ("signal.signal(signal.SIGINT, signal.SIG_DFL)\n    os.kill(os.getpid(), signal.SIGINT)", False),
}


@pytest.mark.parametrize(
    ("name", "remaining"), [*((name, "") for name in ENDS), *((name, "0") for name in ENDS), ("killed", "2")]
)
def test_how_an_agent_ends_says_whether_it_meant_to(stage: Stage, name: str, remaining: str) -> None:
    script, is_against_will = ENDS[name]
    if remaining:
        stage.hookctl("run", "remaining", remaining)
    stage.script(f"if number == 1:\n    {script}")
    code, told = stage.run()
    is_started_again = is_against_will and remaining != "0"
    assert len(stage.pids) == 1 + is_started_again
    assert (code == 0) == (is_started_again or name == "well")
    assert ("no work is left" if is_against_will and not is_started_again else "ended by itself") in told
    assert stage.is_armed
    assert "STOP and CONCLUDE are cleared" in told
    assert "the run goes on until" in told
    assert "`hookctl run stop` ends it" in told


@pytest.mark.parametrize(
    ("answer", "code"), [("signal.SIG_DFL", 130), ("lambda *_: sys.exit(1)", 1), ("lambda *_: sys.exit(130)", 130)]
)
def test_an_agent_that_ends_by_ctrl_c_is_not_started_again(stage: Stage, answer: str, code: int) -> None:
    stage.script(f"signal.signal(signal.SIGINT, {answer})\ncrumb()\ntime.sleep(60)")
    process = stage.begin()
    stage.wait_for_start(1)
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, told = process.communicate(timeout=30)
    assert out == "", "stdout is the agent's"
    assert (process.returncode, len(stage.pids)) == (code, 1)
    assert "it was interrupted" in told


@pytest.mark.parametrize(("number", "code"), [(signal.SIGKILL, 137), (signal.SIGSEGV, 139)])
def test_an_agent_that_is_killed_is_started_again(stage: Stage, number: int, code: int) -> None:
    stage.script(f"crumb()\nos.kill(os.getpid(), {int(number)})")
    result, told = stage.run("--max-respawns", "1")
    assert (result, len(stage.pids)) == (code, 2)
    assert f"it ended with {code}; started again in 2 s" in told
    assert "it was started again 1 time, and no run goes on now" in told


@pytest.mark.parametrize("mark", ["stop", "conclude"])
def test_a_mark_ends_it_with_0(stage: Stage, mark: str) -> None:
    stage.script("crumb()\ntime.sleep(60)")
    process = stage.begin()
    agent = stage.wait_for_start(1)
    stage.hookctl("run", mark)
    os.kill(agent, signal.SIGKILL)
    assert f"not started again: {mark.upper()} is set" in process.communicate(timeout=30)[1]
    assert (process.returncode, len(stage.pids)) == (0, 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_end_reaches_the_agent_and_nothing_starts_again(stage: Stage, number: int) -> None:
    stage.script("crumb()\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
                 "signal.signal(signal.SIGHUP, lambda *_: sys.exit(7))\ncrumb()\ntime.sleep(60)")  # fmt: skip
    process = stage.begin()
    stage.wait_for_start(1)
    time.sleep(0.3)
    process.send_signal(number)
    out, told = process.communicate(timeout=30)
    assert out == "", "stdout is the agent's"
    assert (process.returncode, len(stage.pids)) == (7, 1)
    assert "it was interrupted" in told


def test_a_killed_supervisor_leaves_nothing_that_starts_again(stage: Stage) -> None:
    stage.script("crumb()\ntime.sleep(60)")
    process = stage.begin()
    agent = stage.wait_for_start(1)
    time.sleep(0.3)
    process.kill()
    process.wait()
    for stream in (process.stdout, process.stderr):
        assert stream is not None
        stream.close()
    assert alive(agent), "the agent works on"
    # Another supervisor does not start a second one beside it.
    code, told = stage.run()
    assert (code, len(stage.pids)) == (1, 1)
    assert f"still runs: {agent}" in told
    os.kill(agent, signal.SIGKILL)
    while alive(agent):
        time.sleep(0.02)
    time.sleep(1)
    assert len(stage.pids) == 1
    stage.script("sys.exit(0)")
    assert stage.run()[0] == 0


def test_two_supervisors_of_one_project(stage: Stage) -> None:
    stage.script("time.sleep(60)")
    first = stage.begin()
    agent = stage.wait_for_start(1)
    code, told = stage.run()
    assert (code, len(stage.pids)) == (1, 1)
    assert "another supervisor of this project is running" in told
    stage.hookctl("run", "stop")
    os.kill(agent, signal.SIGKILL)
    first.communicate(timeout=30)


def test_the_dead_session_s_work_is_free_for_the_next(stage: Stage) -> None:
    owner = stage.project / ".hookctl/run/OWNER"
    stage.script(f"crumb()\nprint(os.path.exists({str(owner)!r}), flush=True)\n"
                 f"os.makedirs({str(owner.parent)!r}, exist_ok=True)\n"
                 f"open({str(owner)!r}, 'w').write('dead')\nos.kill(os.getpid(), 9)")  # fmt: skip
    _, told = stage.run("--max-respawns", "1")
    assert told.splitlines()[:2] == ["False", "False"]


# What may stand for the agent; how it ends, and whether STOP is still there then.
NOT_STARTED: dict[str, tuple[int | None, str, int]] = {
    "not there": (None, "", 4),
    "not executable": (0o644, "#!/bin/sh\n", 4),
    "a folder": (-1, "", 4),
    "an interpreter that is missing": (0o755, "#!/no/such/interpreter\n", 1),
}


@pytest.mark.parametrize("name", NOT_STARTED)
def test_a_command_that_cannot_be_started_arms_no_run(stage: Stage, isolated: Path, name: str) -> None:
    mode, text, code = NOT_STARTED[name]
    agent = isolated / "agent"
    if mode == -1:
        agent.mkdir()
    elif mode is not None:
        put(agent, text).chmod(mode)
    stage.hookctl("run", "stop")
    before = sorted((path, path.read_bytes()) for path in stage.state.rglob("*") if path.is_file())
    outcome = stage.hookctl("supervise", "--", str(agent))
    assert outcome.code == code
    assert not stage.is_armed
    if code == 4:  # nothing was written
        assert (stage.project / ".hookctl/run/STOP").exists()
        assert sorted((path, path.read_bytes()) for path in stage.state.rglob("*") if path.is_file()) == before


# hookctl verify with real verifiers: what their ends mean, what they see, and that nothing of them is left.
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


def assert_all_ended(pids: str) -> None:
    end = time.monotonic() + 10
    while left := [pid for pid in map(int, pids.split()) if alive(pid)]:
        assert time.monotonic() < end, left
        time.sleep(0.05)


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
