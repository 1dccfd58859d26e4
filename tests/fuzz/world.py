"""A throw-away machine for a fuzzed call: a home, a project, and the command line in this process."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from hookctl.__main__ import run
from hookctl.ownership import sources
from hookctl.system import interpreter
from tests.disk import Tree, put_back, tree

_OF_OTHERS = ("HOOKCTL_", "CLAUDE_", "CODEX_", "GEMINI_", "QWEN_", "COPILOT_", "HERMES_", "OPENCODE_", "XDG_")


class Said(NamedTuple):
    """What a command ended with, and its standard output."""

    code: int
    out: str


class World:
    """A folder with everything that a call may touch."""

    def __init__(self, top: Path) -> None:
        self.top, self.home, self.work, self.state = top, top / "home", top / "work", top / "state"
        for folder in (self.home, self.work):
            folder.mkdir(parents=True, exist_ok=True)
        for name in list(os.environ):
            if name.startswith(_OF_OTHERS):
                del os.environ[name]
        folders = {"HOME": self.home, "HOOKCTL_STATE_DIR": self.state, "HOOKCTL_DATA_DIR": top / "data"}
        os.environ.update({name: str(path) for name, path in folders.items()}, NO_COLOR="1")
        os.chdir(self.work)
        self.clean = tree(top)

    def reset(self) -> None:
        """Everything as it was in the beginning."""
        put_back(self.top, self.clean)

    def keep(self) -> None:
        """From now on, this is the beginning."""
        self.clean = tree(self.top)

    def hookctl(self, *arguments: str) -> Said:
        """Run the command line; what it prints is kept."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()) as err:
            code = run(list(arguments))
        text = out.getvalue() + err.getvalue()
        if code == 3 or "Traceback" in text:
            log = self.state / "error.log"
            said = log.read_text()[-1500:] if log.is_file() else ""
            raise AssertionError(f"hookctl {' '.join(arguments)}: {text[:400]}{said}")
        return Said(code, out.getvalue())

    def now(self) -> Tree:
        """Everything that lies there."""
        return tree(self.top)


@contextlib.contextmanager
def quick() -> Iterator[None]:
    """No pause before a file is read again, no search for an interpreter, no wait for the disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "READ_PAUSE", 0)
        patch.setattr(interpreter, "choose", lambda *_: ("/usr/bin/python3", ""))
        patch.setattr(interpreter, "on_path", lambda *_: ())
        patch.setattr(os, "fsync", lambda handle: None)
        yield


def _open_handles() -> set[str]:
    """The numbers of this process's open files, without the one that lists them."""
    names = os.listdir("/proc/self/fd") if sys.platform == "linux" else []
    return {name for name in names if os.path.exists(f"/proc/self/fd/{name}")}


@contextlib.contextmanager
def no_new_handles() -> Iterator[None]:
    """Close what the hook leaves open: as a process of its own it ends right after."""
    before = _open_handles()
    try:
        yield
    finally:
        for name in _open_handles() - before if before else ():
            with contextlib.suppress(OSError):
                os.close(int(name))
