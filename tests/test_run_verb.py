"""hookctl run: what it refuses, and odd files, times and links; that the hook obeys it: tests/stories/run-*.txt."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

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
