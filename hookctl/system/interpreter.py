"""Which Python runs the hooks: one that stays when hookctl's own environment is removed."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping

from hookctl.errors import OUT_OF_DESCRIPTORS
from hookctl.system import owners
from hookctl.system.project import safe_path

_SYSTEM = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/local/bin")
MINIMUM = (3, 8)
_ASK = "import sys; print(sys.executable, *sys.version_info[:2], sep='\\n')"
_VERSION = r"[0-9]+\.[0-9]+"


def choose(environ: Mapping[str, str]) -> tuple[str, str]:
    """The interpreter's absolute path, and a warning or ''."""
    for candidate in _candidates(environ):
        if _is_in_environment(candidate) or owners.find_fault(candidate):
            continue
        answer = ask(candidate)
        if answer is None:
            continue
        path, version = answer
        if version >= MINIMUM and _is_lasting(path) and not owners.find_fault(path):
            return path, ""
    base = os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)
    warning = ""
    if re.search(_VERSION, base):
        warning = (
            f"no system python3 was found, so the hook runs with {base}; "
            "when that version is removed, run `hookctl install` again (`hookctl doctor` tells)"
        )
    return base, warning


def python3(environ: Mapping[str, str], project: str) -> str:
    """The python3 on PATH, relative folders and those of the project apart; '' if there is none."""
    return shutil.which("python3", path=safe_path(environ, project)) or ""


def on_path(environ: Mapping[str, str], project: str) -> tuple[str, ...]:
    """The warning, if any, about the python3 that a hook of project scope uses here."""
    program = python3(environ, project)
    answer = None
    if program:
        fault = owners.find_fault(program)
        if fault:
            return (f"another user could change {program}: {fault.path} {fault.reason}",)
        answer = ask(program)
    if answer is not None and answer[1] >= MINIMUM:
        return ()
    needed = ".".join(map(str, MINIMUM))
    problem = f"there is no python3 {needed} or later on PATH"
    return (f"{problem}, so the hook does nothing until there is one",)


def is_usable(program: str) -> bool:
    """Whether a recorded interpreter is still there, and no other user can change it."""
    is_program = bool(program) and os.path.isfile(program) and os.access(program, os.X_OK)
    return is_program and not owners.find_fault(program)


def ask(program: str) -> tuple[str, tuple[int, int]] | None:
    """A Python's own sys.executable and version; None if it does not run."""
    import subprocess  # late: a recorded interpreter is not asked again

    command = [os.path.abspath(program), "-I", "-S", "-c", _ASK]
    try:
        # In /: a version manager's shim starts what the working folder's files name.
        process = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=10,
            env={},
            stdin=subprocess.DEVNULL,
            cwd="/",
        )
        path, major, minor = process.stdout.splitlines()
        return path, (int(major), int(minor))
    except OSError as error:
        if error.errno in OUT_OF_DESCRIPTORS:  # it says nothing about this Python
            raise
        return None
    except (ValueError, subprocess.SubprocessError):
        return None


def _is_lasting(program: str) -> bool:
    """Whether it will likely stay: not in a virtual environment or a version manager's folder."""
    folder = os.path.dirname(program)
    if not os.path.isabs(program) or re.search(_VERSION, folder):
        return False
    return not _is_in_environment(program)


def _is_in_environment(program: str) -> bool:
    """Whether it lies in a virtual environment; -S hides that from sys.prefix."""
    folder = os.path.dirname(program)
    parents = (folder, os.path.dirname(folder))
    return any(os.path.exists(os.path.join(parent, "pyvenv.cfg")) for parent in parents)


def _candidates(environ: Mapping[str, str]) -> Iterator[str]:
    """The python3 programs of the system's folders, then those on PATH."""
    path = environ.get("PATH", "").split(os.pathsep)
    seen = set()
    for folder in (*_SYSTEM, *path):
        program = os.path.join(folder, "python3")
        if not os.path.isabs(folder) or program in seen:
            continue
        if os.access(program, os.X_OK):
            seen.add(program)
            yield program
