"""Which Python runs the hooks: one that outlives hookctl's own environment (design, section 4)."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping

_SYSTEM = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/local/bin")
MINIMUM = (3, 8)
_ASK = "import sys; print(sys.executable, *sys.version_info[:2], sep='\\n')"
_VERSION = r"[0-9]+\.[0-9]+"


def choose(environ: Mapping[str, str]) -> tuple[str, str]:
    """The interpreter's absolute path, and a warning or an empty text."""
    for candidate in _candidates(environ):
        found = ask(candidate)
        if found and found[1] >= MINIMUM and _lasts(found[0]):
            return found[0], ""
    base = os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)
    warning = ""
    if re.search(_VERSION, base):
        warning = (
            f"no system python3 was found, so the hook runs with {base}; "
            "when that version goes, run `hookctl install` again (`hookctl doctor` notices)"
        )
    return base, warning


def python3(environ: Mapping[str, str]) -> str:
    """The python3 on PATH, never one that a relative folder of it brings; empty if there is none."""
    import shutil

    folders = [
        folder
        for folder in environ.get("PATH", os.defpath).split(os.pathsep)
        if os.path.isabs(folder)
    ]
    return shutil.which("python3", path=os.pathsep.join(folders)) or ""


def on_path(environ: Mapping[str, str]) -> tuple[str, ...]:
    """What to say of the python3 that a command of project scope will find here; nothing where all is well."""
    found = python3(environ)
    about = ask(found) if found else None
    if about and about[1] >= MINIMUM:
        return ()
    needed = ".".join(map(str, MINIMUM))
    return (
        f"there is no python3 {needed} or later on PATH, so the hook does nothing until there is one",
    )


def runs(program: str) -> bool:
    """Whether a recorded interpreter is still there, as a program."""
    return bool(program) and os.path.isfile(program) and os.access(program, os.X_OK)


def ask(program: str) -> tuple[str, tuple[int, int]] | None:
    """What a Python says of itself, its sys.executable and its version; None if it does not run."""
    import subprocess

    call = [program, "-I", "-S", "-c", _ASK]
    try:
        run = subprocess.run(
            call, capture_output=True, text=True, timeout=10, env={}, stdin=subprocess.DEVNULL
        )
        path, major, minor = run.stdout.splitlines()
        return path, (int(major), int(minor))
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def _lasts(program: str) -> bool:
    """Whether it is likely to be there tomorrow: not in a virtual environment or a version manager's folder."""
    folder = os.path.dirname(program)
    # -S hides a virtual environment from sys.prefix, so its file is looked for.
    in_venv = any(
        os.path.exists(os.path.join(place, "pyvenv.cfg"))
        for place in (folder, os.path.dirname(folder))
    )
    return os.path.isabs(program) and not in_venv and not re.search(_VERSION, folder)


def _candidates(environ: Mapping[str, str]) -> Iterator[str]:
    path = environ.get("PATH", "").split(os.pathsep)
    seen = set()
    for folder in (*_SYSTEM, *path):
        program = os.path.join(folder, "python3")
        if os.path.isabs(folder) and program not in seen and os.access(program, os.X_OK):
            seen.add(program)
            yield program
