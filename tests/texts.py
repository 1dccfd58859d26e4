"""A folder of files as one text that a person can read and a later version can lay out again.

A file is a section, `== PATH (MODE, as OTHER PATH, no final newline) ==`, and what is usual is not named. A text
names no folder of a machine: the folder's own path is `{TOP}` in it.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import inspect
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.documents.table import read_table

_TOP = "{TOP}"
_HEADING = r"(?m)^== (\S+)(?: \((.+)\))? ==\n"
_NO_NEWLINE, _AS = "no final newline", "as "


@contextlib.contextmanager
def alone(top: Path) -> Iterator[None]:
    """The folder, not there yet, with nobody else in it, and gone afterwards."""
    with open(f"{top}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(top, ignore_errors=True)
        try:
            yield
        finally:
            shutil.rmtree(top)


def sections(top: Path, paths: Iterable[Path]) -> dict[str, str]:
    """The text of each of these files, by its heading."""
    found = {}
    for path in paths:
        text, mode = path.read_bytes().decode(), stat.S_IMODE(path.stat().st_mode)
        flags = [] if mode == 0o644 else [f"{mode:o}"]
        flags += [] if text.endswith("\n") else [_NO_NEWLINE]
        name = path.relative_to(top)
        found[f"{name} ({', '.join(flags)})" if flags else str(name)] = text
    return found


def joined(found: dict[str, str], top: Path) -> str:
    """The sections as one text."""
    parts = [f"== {heading} ==\n{text}" + ("" if text.endswith("\n") else "\n") for heading, text in found.items()]
    return "".join(parts).replace(str(top), _TOP)


def parsed(text: str, top: Path) -> Iterator[tuple[str, list[str], str]]:
    """Path, flags and text of each file."""
    known: dict[str, str] = {}
    _, *parts = re.split(_HEADING, text.replace(_TOP, str(top)))
    for name, said, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        flags = (said or "").split(", ")
        other = next((flag.removeprefix(_AS) for flag in flags if flag.startswith(_AS)), "")
        known[name] = known[other] if other else body[:-1] if _NO_NEWLINE in flags else body
        yield name, flags, known[name]


def lay(files: Iterable[tuple[str, list[str], str]], top: Path, time: int) -> None:
    """Write these files, all of the same age."""
    for name, flags, body in files:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body.encode())
        path.chmod(next((int(flag, 8) for flag in flags if flag.isdigit()), 0o644))
        os.utime(path, (time, time))


def rows(name: str) -> list[list[str]]:
    """The cells of each row of a table in tests/rows/."""
    return read_table(name, Path(__file__).parent / "rows")


def all_of(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[..., Any]:
    """One test of all rows, which need no folder of their own; it names each row that fails."""
    many = (names,) if isinstance(names, str) else names

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        given = inspect.signature(test)
        kept = [one for name, one in given.parameters.items() if name not in many]

        @functools.wraps(test)
        def play(*known: Any, **fixtures: Any) -> None:
            failures = []
            fixtures |= dict(zip((one.name for one in kept), known, strict=False))
            for case in cases:
                values = (case,) if isinstance(names, str) else getattr(case, "values", case)
                try:
                    test(**fixtures, **dict(zip(many, values, strict=True)))
                except Exception as error:
                    error.add_note(f"the row: {values!r}")
                    failures.append(error)
            if failures:
                raise ExceptionGroup(f"{len(failures)} rows", failures)

        play.__signature__ = given.replace(parameters=kept)  # type: ignore[attr-defined]
        return play

    return decorate
