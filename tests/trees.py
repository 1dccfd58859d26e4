"""Everything below a folder, to be compared before and after."""

from __future__ import annotations

import os
from pathlib import Path


def tree(root: Path) -> dict[str, tuple[object, ...]]:
    """Every file, folder and link below: its mode, its modification time, and its bytes or target."""
    return {str(path.relative_to(root)): _about(path) for path in sorted(root.rglob("*"))}


def _about(path: Path) -> tuple[object, ...]:
    about = path.lstat()
    if path.is_symlink():
        return about.st_mode, about.st_mtime_ns, os.readlink(path)
    return about.st_mode, about.st_mtime_ns, path.read_bytes() if path.is_file() else None
