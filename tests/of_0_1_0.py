"""What hookctl 0.1.0 left on disk (`fixtures/0.1.0/`), laid out below the folder of a test.

A fixture holds no path of the machine that made it: `@TOP@` stands for the folder with home, work, state and data,
`@PYTHON@` for the interpreter, `@NODE@` for the machine's name, `@PID@` for a process that has ended, `@NOW@` for the
time of a guard's answer, `@SHA<number>:<digits>@` for the hash of one of its texts. 0.1.0 does not change any more, and
so the fixtures do not; the program that made them is in the history (`git log -- tests/fixtures/make_0_1_0.py`).
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from hookctl.system import interpreter

FIXTURES = Path(__file__).parent / "fixtures" / "0.1.0"
_HASH = re.compile(r"@SHA([0-9]+):([0-9]+)@")


def names() -> list[str]:
    """Every fixture."""
    return sorted(path.stem for path in FIXTURES.glob("*.json"))


class Fixture:
    """One fixture, with the paths that it has below `top`."""

    def __init__(self, name: str, top: Path) -> None:
        self._kept = json.loads((FIXTURES / f"{name}.json").read_text())
        self._top = top
        self._now = int(time.time())

    @property
    def commands(self) -> list[tuple[str, ...]]:
        """The commands of hookctl that were run; the last one of a killed run did not end."""
        return [tuple(command) for command in self._kept["commands"]]

    def before(self) -> dict[str, tuple[str, bytes | None]]:
        """What there was before hookctl came: the mode and the bytes of each file, by its name below the top."""
        return self._tree("before")

    def lay_out(self, *parts: str) -> None:
        """Put what 0.1.0 left below the top; with parts only what lies below those."""
        for name, (mode, data) in self._tree("after").items():
            if parts and not name.startswith(parts):
                continue
            path = self._top / name
            if data is None:
                path.mkdir(exist_ok=True)
            else:
                path.write_bytes(data)
            path.chmod(int(mode, 8))

    def _tree(self, part: str) -> dict[str, tuple[str, bytes | None]]:
        found: dict[str, tuple[str, bytes | None]] = {}
        for name, (mode, *text) in self._kept[part].items():
            data = self._text(text[0]).encode("utf-8", "surrogatepass") if text else None
            found[self._expanded(name)] = (mode, data)
        return found

    @functools.cache  # noqa: B019 (as short-lived as its test)
    def _text(self, number: int) -> str:
        kept: Any = self._kept["texts"][number]
        return (FIXTURES / kept["file"]).read_text() if isinstance(kept, dict) else self._expanded(kept)

    def _expanded(self, text: str) -> str:
        text = text.replace("@TOP@", str(self._top)).replace("@PYTHON@", python())
        text = text.replace("@NODE@", os.uname().nodename).replace("@PID@", ended_process())
        return _HASH.sub(self._digits, text.replace("@NOW@", str(self._now)))

    def _digits(self, match: re.Match[str]) -> str:
        text = self._text(self._kept["hashes"][int(match[1])])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[: int(match[2])]


@functools.cache
def python() -> str:
    """The interpreter that hookctl chooses here."""
    return interpreter.choose(os.environ)[0]


@functools.cache
def ended_process() -> str:
    """The number of a process that runs no more."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        return str(process.pid)


def tree(top: Path) -> dict[str, tuple[str, bytes | None]]:
    """Everything below a folder, in the form of a fixture's."""
    found: dict[str, tuple[str, bytes | None]] = {}
    for path in sorted(top.rglob("*")):
        mode = f"{path.stat().st_mode & 0o777:o}"
        found[str(path.relative_to(top))] = (mode, None if path.is_dir() else path.read_bytes())
    return found
