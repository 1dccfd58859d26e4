"""hookctl run: what it refuses, and odd files, times and links; that the hook obeys it: tests/stories/run-*.txt."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hookctl import work as run_files
from hookctl.system import guard_module, project
from hookctl.verbs import run as run_verb
from hookctl.work import RunFiles
from tests.conftest import Hookctl, Outcome, put
from tests.texts import rows
from tests.trees import tree

NOW = 1_000_000_000


class Run:
    """One project, where hookctl and the hook see the same environment."""

    def __init__(self, hookctl: Hookctl, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.hookctl, self.root, self.monkeypatch = hookctl, root, monkeypatch
        self.project = root / "work"
        self.folder = self.project / ".hookctl" / "run"
        monkeypatch.setenv("HOOKCTL_NOW", str(NOW))

    def __call__(self, *arguments: str) -> Outcome:
        outcome = self.hookctl("run", *arguments, "--json")
        return outcome

    @property
    def state(self) -> Path:
        return Path(project.state_folder(str(self.root / "state"), str(self.project)))

    def names(self) -> set[str]:
        return set(os.listdir(self.folder)) if self.folder.is_dir() else set()


@pytest.fixture
def run(hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return Run(hookctl, isolated, monkeypatch)


# The files are shared with people and agents.
@pytest.mark.parametrize("text", ['{"remaining": 3', "[1]", '"text"', '{"remaining": 1 /* one */}', '{"remaining": 1,}',
                                  '{"remaining": 1, "remaining": 2}', "\xff"])  # fmt: skip
@pytest.mark.parametrize("arguments", [("remaining", "4"), ("heartbeat",), ("start", "--remaining", "4")])
def test_a_task_that_the_hook_could_not_read_is_refused_without_loss(
    run: Run, text: str, arguments: tuple[str, ...]
) -> None:
    """A comment too: to the hook such a task says nothing, and hookctl would have promised a block."""
    put(run.folder / "STOP", "")
    path = put(run.folder / "task.json", text.encode("latin-1"))
    outcome = run(*arguments)
    if outcome.code == 0:  # the doubled key, which only `heartbeat` does not touch
        assert (text, arguments) == ('{"remaining": 1, "remaining": 2}', ("heartbeat",))
        return
    assert outcome.code == 4
    assert outcome.result["errors"][0]["path"] == str(path)
    assert path.read_bytes() == text.encode("latin-1")
    assert run.names() == {"STOP", "task.json"}
    assert run.hookctl("run", "status").code == 0


def test_a_file_that_never_stands_still_is_an_error_and_no_promise(run: Run) -> None:
    from hookctl.system import files

    def changed(*_: Any, **__: Any) -> None:
        raise files.Changed("it")

    run.monkeypatch.setattr("hookctl.system.files.replace", changed)
    for arguments in (("stop",), ("remaining", "1")):
        outcome = run(*arguments)
        assert outcome.code == 4
        assert outcome.result["errors"][0]["code"] == "changed_meanwhile"


# A repository could bring links.
LINKS = (".hookctl", ".hookctl/run", ".hookctl/run/task.json", ".hookctl/run/STOP", ".hookctl/run/CONCLUDE",
         ".hookctl/run/OWNER")  # fmt: skip
WRITES = {
    ("remaining", "1"): "task.json",
    ("heartbeat",): "task.json",
    ("stop",): "STOP",
    ("conclude",): "CONCLUDE",
    ("start", "--owner", "S1"): "OWNER",
    ("start", "--remaining", "1"): "task.json",
    ("start",): "",
}


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("arguments", WRITES, ids=" ".join)
@pytest.mark.parametrize("dangling", [False, True], ids=["", "dangling"])
def test_nothing_is_written_through_a_link(run: Run, link: str, arguments: tuple[str, ...], dangling: bool) -> None:
    outside = run.root / "outside"
    path = run.project / link
    target = outside / path.name
    path.parent.mkdir(parents=True, exist_ok=True)
    for name in ("STOP", "CONCLUDE", "OWNER", "task.json", "run/STOP", "run/CONCLUDE", "run/OWNER", "run/task.json"):
        put(outside / ".hookctl" / name, "{}")
        put(outside / "run" / name.rpartition("/")[2], "{}")
        put(outside / name.rpartition("/")[2], "{}")
    if dangling:
        shutil.rmtree(target) if target.is_dir() else target.unlink()
    path.symlink_to(target)
    before = tree(outside)
    outcome = run(*arguments)
    refused = path.name in (".hookctl", "run", WRITES[arguments])
    if refused:
        assert outcome.code == 4
        assert outcome.result["errors"][0]["code"] == "linked"
        assert outcome.result["errors"][0]["path"] == str(path)
        assert path.is_symlink()
    assert tree(outside) == before


# Who holds a claim, and which process is the agent; what people see of it: tests/stories/whose-work-it-is.txt.
def state() -> str:
    return project.state_folder(os.environ["HOOKCTL_STATE_DIR"], os.getcwd())


def test_a_claim_that_is_held_is_waited_for_and_then_named(
    hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_files, "_PATIENCE", 0.1)
    with run_files.locked(RunFiles("", None, "", {}, state(), 0)):
        outcome = hookctl("run", "remaining", "1", "--json")
    assert (outcome.code, outcome.result["errors"][0]["code"]) == (1, "lock_timeout")
    assert not Path(".hookctl/run/task.json").exists()


# `hookctl run wait`: one call that blocks until the work is done, stands still, or time is up.
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
    monkeypatch.setattr(guard_module("work"), "read_task", lambda files: next(script, looks[-1])[::-1])
    monkeypatch.setattr(run_verb, "time", Timer())
    data = hookctl("run", "wait", "--timeout", timeout, *(["--stall", stall] if stall else []), "--json").data
    assert (data["outcome"], data["remaining"], data["seconds"]) == expected


def test_it_never_waits_busily_and_sees_a_stop(
    hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hookctl("run", "remaining", "2")
    stop = isolated / "work" / ".hookctl" / "run" / "STOP"
    timer = Timer(lambda pauses: pauses == 60 and stop.touch())
    monkeypatch.setattr(run_verb, "time", timer)
    outcome = hookctl("run", "wait")
    assert (outcome.code, outcome.out, timer.pauses) == (0, "STOP is set, 2 remaining\n", 60)


WAIT = ("wait", "--stall", "8m", "--timeout", "0s")


@pytest.mark.parametrize(("what", "calls"), rows("movements"))
def test_standing_still_is_measured_over_all_calls(
    hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch, what: str, calls: str
) -> None:
    hookctl("run", "remaining", "2")
    patience = {"wait": WAIT, "wait5": ("wait", "--stall", "5m", "--timeout", "0s")}
    for call in calls.split(", "):
        minute, *words, code = call.split()
        monkeypatch.setenv("HOOKCTL_NOW", str(1_800_000_000 + 60 * float(minute)))
        assert hookctl("run", *patience.get(words[0], words)).code == int(code), (what, call)


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


# Work that waits while the guard is disabled: whoever asks is told that nobody is kept at it.
# Hosts where hooks that tell the guard of prompts and tools stay registered, and where none is.
HELPED, ALONE = ("cursor", "kimi"), ("claude", "antigravity")


# The guard on a host where no hook keeps the agent working: install and status say that it only watches.
@pytest.mark.parametrize("name", (*HELPED, *ALONE))
def test_work_that_waits_keeps_nobody_while_the_guard_is_disabled(hookctl: Hookctl, name: str) -> None:
    hookctl("install", "--host", name)
    hookctl("run", "remaining", "3")
    assert "for the first session" in hookctl("status").out
    hookctl("disable", "guard/stop")
    status = hookctl("status").out
    assert status.startswith("skip"), status
    assert " does nothing: disabled\n    fix: `hookctl enable guard" in status
    assert "3 remaining, touched " in status and "but no guard here blocks a stop: agents may stop" in status
    assert "for the first session" not in status
    said = hookctl("run", "remaining", "2").err
    assert said == "hookctl: the guard is disabled here: `hookctl enable guard`\n"
    hookctl("enable", "guard")
    assert hookctl("run", "remaining", "2").err == ""
    assert "for the first session" in hookctl("status").out


pytestmark = pytest.mark.usefixtures("fixed_python")
