"""hookctl run: what it refuses, and odd files, times and links; that the hook obeys it: tests/stories/run-*.txt."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from hookctl import clock
from hookctl.errors import HookctlError
from hookctl.packs import supervised
from hookctl.system import project

from .conftest import Hookctl, Outcome, put
from .trees import tree

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

    def does(self, *arguments: str) -> dict[str, Any]:
        outcome = self(*arguments)
        assert outcome.code == 0, outcome
        return outcome.data

    @property
    def state(self) -> Path:
        return Path(project.state_folder(str(self.root / "state"), str(self.project)))

    def names(self) -> set[str]:
        return set(os.listdir(self.folder)) if self.folder.is_dir() else set()


@pytest.fixture
def run(hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return Run(hookctl, isolated, monkeypatch)


@pytest.mark.parametrize(("mode", "is_told"), [("keepalive", True), ("breaker", False)])
def test_a_run_says_its_default_length_and_what_keepalive_can_cost(run: Run, mode: str, is_told: bool) -> None:
    run.hookctl("install", "--host", "claude", "--mode", mode)
    said = run.hookctl("run", "start").out
    assert "(in 12 h, the default)" in said and ("up to 5000 forced stops" in said) is is_told
    assert "(in 2 h)" in run.hookctl("run", "start", "--for", "2h").out
    run.hookctl("install", "--host", "claude", "--set", "keepalive_cap=20")
    assert ("stops, 20 of them without progress" in run.hookctl("run", "start").out) is is_told


def test_respawns_are_counted_for_each_run(run: Run) -> None:
    supervised.note(str(run.state), 3, os.getpid())
    assert run.does("status")["respawns"] == 3
    run.does("start")
    assert run.does("status")["respawns"] == 0
    with pytest.raises(HookctlError, match="still runs"), supervised.alone(str(run.state)):
        pass


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


def test_two_runs_that_make_the_folder_at_once_both_succeed(run: Run) -> None:
    real = os.makedirs

    def slow(path: str, **options: Any) -> None:
        real(path, **options)
        ignore = run.project / ".hookctl" / ".gitignore"
        if run.folder.is_dir() and not ignore.exists():
            ignore.write_text("run/\n")  # the other one was faster

    run.monkeypatch.setattr("os.makedirs", slow)
    run.does("remaining", "1")


def test_a_file_that_never_stands_still_is_an_error_and_no_promise(run: Run) -> None:
    from hookctl.system import files

    def changed(*_: Any, **__: Any) -> None:
        raise files.Changed("it")

    run.monkeypatch.setattr("hookctl.system.files.replace", changed)
    for arguments in (("stop",), ("remaining", "1")):
        outcome = run(*arguments)
        assert outcome.code == 4
        assert outcome.result["errors"][0]["code"] == "changed_meanwhile"


@pytest.mark.parametrize(
    ("heartbeat", "age"),
    [
        ('"2001-09-09T01:46:30Z"', 10), ('"2001-09-09T01:46:30.000000Z++"', 10), ('"2001-09-09T03:46:30+02:00"', 10),
        ('"2001-09-09T01:47:00Z"', 0), ('"step 4"', None), ("7", None), ("{}", None), ('"0001-01-01"', None),
        ("null", None), ('""', None),
    ],
)  # fmt: skip
def test_a_heartbeat_is_as_old_as_it_says(run: Run, heartbeat: str, age: float | None) -> None:
    put(run.folder / "task.json", f'{{"heartbeat": {heartbeat}}}')
    assert run.does("status")["ages"].get("heartbeat") == age


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (-5, "0 s"), (0.9, "0 s"), (59, "59 s"), (60, "1 min"), (61, "1 min 1 s"), (3600, "1 h"), (3605, "1 h"),
        (43080, "11 h 58 min"), (86400, "1 d"), (86400 + 59, "1 d"), (2 * 86400 + 3 * 3600 + 60, "2 d 3 h"),
    ],
)  # fmt: skip
def test_ages_are_told_in_their_two_largest_units(span: float, text: str) -> None:
    assert clock.age(span) == text


def test_what_it_says_fits_80_columns(run: Run) -> None:
    run.monkeypatch.setenv("COLUMNS", "80")
    run.does("heartbeat")
    for words in (["start", "--remaining", "3"], ["stop"], ["conclude"], ["remaining", "5"], ["status"]):
        lines = run.hookctl("run", *words).out.splitlines()
        assert [line for line in lines if len(line) > 80 and "/" not in line] == [], (
            "a path is copied, and never broken"
        )
    assert f"run folder {run.folder}" in lines
    (first,) = [number for number, line in enumerate(lines) if line.startswith("running    until ")]
    assert lines[first + 1].startswith(" " * 11), "it stays in its column"


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


@pytest.mark.parametrize("text", ["1e20", "inf", "nan", "-1", "soon", "\udcff"])
def test_an_end_that_is_no_time_arms_nothing(run: Run, text: str) -> None:
    run.does("start")
    (active,) = run.root.glob("state/guard/*/ACTIVE")
    active.write_text(text, errors="surrogateescape")
    assert run.does("status")["active_until"] is None


@pytest.mark.parametrize("now", ["inf", "nan", "1e18", "-5"])
def test_a_clock_that_says_nonsense_is_passed_over(run: Run, now: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOKCTL_NOW", now)
    assert run("start").code == 0
