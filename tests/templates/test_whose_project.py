"""Whose project it is, to the hook: another user's is none, and nobody unlocks a locked guard."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .lab import Lab, lay
from .wraps import Wrapped

STRANGER, USER = 12345, 23456
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away and be somebody else")


# A stranger's project.


@pytest.mark.parametrize("whose", ["project", "project/.hookctl"])
@pytest.mark.parametrize("mark", ["", "OWNER", "STOP"])
def test_a_strangers_work_blocks_nobody(lab: Lab, whose: str, mark: str) -> None:
    lab.task(remaining=3)
    assert lab.stop() == "B"
    if mark:
        lab.mark(mark, "S1")
    os.chown(lab.root / whose, STRANGER, -1)
    assert lab.stop(session_id="S2") == "A"
    assert lab.log()[-1]["code"] == "no_work"


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


def test_chains_still_end_there(lab: Lab) -> None:
    os.chown(lab.project, STRANGER, -1)
    assert lab.stops("01111") == "AAAAH"


def test_a_hook_in_a_strangers_hookctl_does_nothing(lab: Lab) -> None:
    lay(lab.project / ".hookctl")
    lab.use(lab.project / ".hookctl")
    lab.task(remaining=3)
    assert lab.stop() == "B"
    os.chown(lab.project / ".hookctl", STRANGER, -1)
    assert lab.stop(session_id="S2") == "A"
    os.chown(lab.project / ".hookctl", 0, -1)
    os.chown(lab.project, STRANGER, -1)
    assert lab.stop(session_id="S3") == "A"


def test_roots_hook_makes_nothing_in_another_users_home(lab: Lab) -> None:
    lab.task(remaining=3)
    del lab.environment["HOOKCTL_STATE_DIR"]
    os.chown(lab.home, STRANGER, -1)
    assert lab.stop() == "A"
    assert os.listdir(lab.home) == []


# A locked guard.


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


def silence(lab: LockedLab, name: str, number: int) -> None:
    (lab.root / f"fresh-{number}").mkdir(exist_ok=True)
    (lab.root / f"fresh-{number}").chmod(0o777)
    lab.environment[name] = SILENCERS[name].format(root=lab.root, n=number)


@pytest.mark.parametrize("name", SILENCERS)
def test_no_variable_ends_the_watch_over_chains_or_over_calls(locked: LockedLab, name: str) -> None:
    locked.config(dispatch_tools=["Task"], dispatch_max=2)
    letters, calls = "", ""
    for number in range(5):
        silence(locked, name, number)
        letters += locked.stop(number > 0)
        calls += locked.attempt("same")
    assert (letters, calls) == ("AAAAH", "AADDD")


@pytest.mark.parametrize("name", ["HOOKCTL_DISABLE", "HOOKCTL_STATE_DIR", "HOOKCTL_MODE"])
def test_without_the_lock_they_do(locked: LockedLab, name: str) -> None:
    locked.config(locked=False, dispatch_tools=["Task"], dispatch_max=2)
    letters = ""
    for number in range(5):
        silence(locked, name, number)
        letters += locked.stop(number > 0)
    assert letters == "AAAAA"


@pytest.mark.parametrize("whose", ["it", "its folder", "open to all"])
def test_a_lock_that_the_caller_could_take_away_is_none(locked: LockedLab, whose: str) -> None:
    config = locked.configuration
    if whose == "open to all":
        config.chmod(0o666)
    else:
        os.chown(config if whose == "it" else config.parent, USER, -1)
    locked.environment["HOOKCTL_DISABLE"] = "1"
    assert locked.stops("01111") == "AAAAA"


@pytest.mark.parametrize("name", ["OWNER", "STOP", "CONCLUDE", ""])
def test_no_file_of_a_project_ends_the_watch(locked: LockedLab, name: str) -> None:
    """Nor does its heartbeat."""
    letters = ""
    for number in range(5):
        if name:
            locked.mark(name, "somebody")
        else:
            locked.task(remaining=0, heartbeat=number)
        letters += locked.stop(number > 0)
    assert letters == "AAAAH"


def test_no_folder_of_a_project_moves_its_state(locked: LockedLab) -> None:
    locked.config(dispatch_tools=["Task"], dispatch_max=2)
    letters = ""
    for number in range(4):
        nested = locked.project / f"sub{number}"
        (nested / ".git").mkdir(parents=True)
        letters += locked.attempt("same", cwd=str(nested))
    assert letters == "AADD"


def test_its_limit_comes_from_the_configuration(locked: LockedLab) -> None:
    locked.config(max_stop_blocks=2).task(remaining=1)
    locked.environment["MAX_STOP_BLOCKS"] = "9"
    assert locked.stops("0111") == "BBRA"


def test_a_wrapped_hook_is_limited_too(locked: LockedLab) -> None:
    locked.environment["HOOKCTL_DISABLE"] = "1"
    assert Wrapped(locked).stops(6) == "BBBBRA"
