"""Programs that take no lock: they read a settings file, change it, and write it back in the ways that are common."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from tests.conftest import put

Write = Callable[[Path, bytes], None]


def truncating(path: Path, data: bytes) -> None:
    """As most editors and hosts do it."""
    put(path, data)


def renaming(path: Path, data: bytes) -> None:
    """As careful programs do it."""
    os.replace(put(path.with_suffix(".theirs"), data), path)


def numbered(data: bytes | None, number: int) -> bytes:
    """The document with `n` set to the number, and all its other values."""
    return json.dumps({**json.loads(data or b"{}"), "n": number}, indent=2).encode()
