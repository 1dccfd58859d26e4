"""Whose project it is, to the hook: another user's is none, and nobody unlocks a locked guard."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .lab import Lab, lay, own_programs
from .play import play

STRANGER, USER = 12345, 23456
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away and be somebody else")


# A stranger's project: what is his, and what a session did and another one does then.
STRANGERS = {
    "the project": ("project", "work 3; 0=B", "S2:0=A[no_work]"),
    "its folder .hookctl": ("project/.hookctl", "work 3; 0=B", "S2:0=A[no_work]"),
    "an owner in it": ("project", "work 3; 0=B; owner S1", "S2:0=A[no_work]"),
    "an owner in its .hookctl": ("project/.hookctl", "work 3; 0=B; owner S1", "S2:0=A[no_work]"),
    "a mark in it": ("project", "work 3; 0=B; mark STOP", "S2:0=A[no_work]"),
    "a mark in its .hookctl": ("project/.hookctl", "work 3; 0=B; mark STOP", "S2:0=A[no_work]"),
    "a chain there still ends": ("project", "work 0", "01111=AAAAH"),
}


@pytest.mark.parametrize(("whose", "before", "then"), STRANGERS.values(), ids=STRANGERS)
def test_a_strangers_work_blocks_nobody(lab: Lab, whose: str, before: str, then: str) -> None:
    play(lab, {}, before)
    os.chown(lab.root / whose, STRANGER, -1)
    play(lab, {}, then)


def test_a_link_to_a_strangers_folder_is_his(lab: Lab) -> None:
    lab.task(remaining=3)
    (lab.project / ".hookctl").rename(lab.root / "bobs")
    (lab.project / ".hookctl").symlink_to(lab.root / "bobs")
    assert lab.stop() == "B"
    os.chown(lab.root / "bobs", STRANGER, -1)
    assert lab.stop(session_id="S2") == "A"


def test_nor_does_a_run_folder_that_is_named_count_there(lab: Lab) -> None:
    lab.config(run_dir=str(lab.run), task_file=str(lab.run / "task.json")).task(remaining=3)
    assert lab.stop() == "B"
    os.chown(lab.project, STRANGER, -1)
    assert lab.stop(session_id="S2") == "A"


@pytest.mark.parametrize("whose", ["project/.hookctl", "project"])
def test_a_hook_in_a_strangers_hookctl_does_nothing(lab: Lab, whose: str) -> None:
    lay(lab.project / ".hookctl")
    lab.use(lab.project / ".hookctl")
    lab.task(remaining=3)
    assert lab.stop() == "B"
    os.chown(lab.root / whose, STRANGER, -1)
    assert lab.stop(session_id="S2") == "A"


def test_roots_hook_makes_nothing_in_another_users_home(lab: Lab) -> None:
    lab.task(remaining=3)
    del lab.environment["HOOKCTL_STATE_DIR"]
    os.chown(lab.home, STRANGER, -1)
    assert lab.stop() == "A"
    assert os.listdir(lab.home) == []


class LockedLab(Lab):
    """A guard that root has installed, and a user who runs it."""

    def config(self, **knobs: Any) -> LockedLab:
        super().config(**{"locked": True, "state_dir": str(self.state), **knobs})
        return self


@pytest.fixture
def locked() -> Iterator[LockedLab]:
    root = Path(tempfile.mkdtemp(prefix="hookctl-locked-"))  # the folders of pytest are root's alone
    root.chmod(0o755)
    lab = LockedLab(root)
    lab.user = USER
    own_programs(lab.top)
    for folder in (lab.top, *(path for path in lab.top.rglob("*") if path.is_dir())):
        folder.chmod(0o755)
    for path in (lab.project, lab.project / ".hookctl", lab.run, lab.home):
        os.chown(path, USER, USER)
    lab.state.mkdir()
    os.chown(lab.state, USER, USER)
    lab.environment.pop("HOOKCTL_STATE_DIR")
    yield lab.config()
    shutil.rmtree(root)


SILENCERS = {
    "HOOKCTL_DISABLE": "1",
    "HOOKCTL_MODE": "off",
    "HOOKCTL_CHILD": "1",
    "HOOKCTL_RUN_DIR": "/nowhere",
    "HOOKCTL_STATE_DIR": "{root}/fresh-{n}",
    "XDG_STATE_HOME": "{root}/fresh-{n}",
    "HOOKCTL_END_FOREIGN_CHAINS": "0",
    "MAX_STOP_BLOCKS": "0",
    "HOOKCTL_DISPATCH_TOOLS": "Other",
    "HOOKCTL_DISPATCH_MAX": "1000",
    "HOOKCTL_NOW": "{n}00000",
    "HOOKCTL_LOCKED": "0",
    "HOME": "{root}/fresh-{n}",
    "CLAUDE_PROJECT_DIR": "{root}/fresh-{n}",
}


@pytest.mark.parametrize(
    ("name", "is_locked"),
    [*((name, True) for name in SILENCERS), *((f"HOOKCTL_{name}", False) for name in ("DISABLE", "STATE_DIR", "MODE"))],
)
def test_no_variable_ends_the_watch_over_chains_or_over_calls(locked: LockedLab, name: str, is_locked: bool) -> None:
    """Without the lock they do."""
    locked.config(locked=is_locked, dispatch_tools=["Task"], dispatch_max=2)
    letters, calls = "", ""
    for number in range(5):
        (locked.root / f"fresh-{number}").mkdir(exist_ok=True)
        (locked.root / f"fresh-{number}").chmod(0o777)
        locked.environment[name] = SILENCERS[name].format(root=locked.root, n=number)
        letters += locked.stop(number > 0)
        calls += locked.attempt("same")
    assert letters == ("AAAAH" if is_locked else "AAAAA")
    assert calls == "AADDD" or not is_locked


@pytest.mark.parametrize("whose", ["it", "its folder", "open to all"])
def test_a_lock_that_the_caller_could_take_away_is_none(locked: LockedLab, whose: str) -> None:
    config = locked.configuration
    if whose == "open to all":
        config.chmod(0o666)
    else:
        os.chown(config if whose == "it" else config.parent, USER, -1)
    locked.environment["HOOKCTL_DISABLE"] = "1"
    assert locked.stops("01111") == "AAAAA"


# What a project has, or another configuration, and what the hook does then.
WATCHED = {
    **{f"a mark {name}": ({}, f"{word}; 01111=AAAAH")
       for name, word in {"OWNER": "owner x", "STOP": "mark STOP", "CONCLUDE": "mark CONCLUDE"}.items()},
    "a heartbeat": ({}, "work 0 a; 0=A; work 0 b; 1=A; work 0 c; 1=A; work 0 d; 1=A; work 0 e; 1=H"),
    "a limit of the configuration": ({"max_stop_blocks": 2}, "work 1; env MAX_STOP_BLOCKS=9; 0111=BBRA"),
    "a wrapped hook": ({}, "env HOOKCTL_DISABLE=1; wrapped 6=BBBBRA"),
}  # fmt: skip


@pytest.mark.parametrize(("config", "script"), WATCHED.values(), ids=WATCHED)
def test_no_file_of_a_project_ends_the_watch(locked: LockedLab, config: dict[str, Any], script: str) -> None:
    play(locked.config(**config), {}, script)


def test_no_folder_of_a_project_moves_its_state(locked: LockedLab) -> None:
    locked.config(dispatch_tools=["Task"], dispatch_max=2)
    letters = ""
    for number in range(4):
        nested = locked.project / f"sub{number}"
        (nested / ".git").mkdir(parents=True)
        letters += locked.attempt("same", cwd=str(nested))
    assert letters == "AADD"
