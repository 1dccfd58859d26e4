"""Which Python runs the hooks: one that stays when hookctl's own environment is removed."""

import os
import re
import shutil
import sys
from collections.abc import Mapping

from hookctl.system import owners
from hookctl.system.project import safe_path

_SYSTEM = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/local/bin")
MINIMUM = (3, 8)
_ASK = "import sys; print(sys.executable, *sys.version_info[:2], sep='\\n')"
_VERSION = r"[0-9]+\.[0-9]+"


def choose(environ: Mapping[str, str]) -> tuple[str, str]:
    """The interpreter's absolute path, and a warning or ''."""
    folders = dict.fromkeys((*_SYSTEM, *environ.get("PATH", "").split(os.pathsep)))
    for candidate in (os.path.join(folder, "python3") for folder in filter(os.path.isabs, folders)):
        is_program = os.access(candidate, os.X_OK) and not _is_in_environment(candidate)
        answer = ask(candidate) if is_program and not owners.find_fault(candidate) else None
        path, version = answer or ("", (0, 0))
        # In a virtual environment, or a version manager's folder, it will hardly stay.
        is_lasting = os.path.isabs(path) and not re.search(_VERSION, os.path.dirname(path))
        is_fit = version >= MINIMUM and is_lasting and not _is_in_environment(path)
        if is_fit and not owners.find_fault(path):
            return path, ""
    base = os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)
    warning = (
        f"no system python3 was found, so the hook runs with {base}; "
        "when that version is removed, run `hookctl install` again (`hookctl doctor` tells)"
    )
    return base, warning if re.search(_VERSION, base) else ""


def python3(environ: Mapping[str, str], project: str) -> str:
    """The python3 on PATH, relative folders and those of the project apart; '' if there is none."""
    return shutil.which("python3", path=safe_path(environ, project)) or ""


def find_problem(program: str) -> str:
    """What keeps a Python from running our programs, in words; '' if nothing does."""
    if not os.path.isfile(program) or not os.access(program, os.X_OK):
        return "is not there"
    if fault := owners.find_fault(program):
        return f"could be changed by another user: {fault.path} {fault.reason}"
    answer = ask(program)
    if answer is None:
        return "does not run"
    version, needed = (".".join(map(str, numbers)) for numbers in (answer[1], MINIMUM))
    return "" if answer[1] >= MINIMUM else f"is {version}; it needs {needed} or later"


def on_path(environ: Mapping[str, str], project: str) -> tuple[str, ...]:
    """The warning, if any, about the python3 that a hook of project scope uses here."""
    problem = find_problem(python3(environ, project))
    warning = f"python3 on PATH {problem}, so the hook does nothing until that is right"
    return (warning,) if problem else ()


def is_usable(program: str) -> bool:
    """Whether a recorded interpreter is still there, and no other user can change it."""
    is_program = os.path.isfile(program) and os.access(program, os.X_OK)
    return is_program and not owners.find_fault(program)


def ask(program: str) -> tuple[str, tuple[int, int]] | None:
    """A Python's own sys.executable and version; None if it does not run."""
    from hookctl.system import processes  # late: a recorded interpreter is not asked again

    said = processes.ask([os.path.abspath(program), "-I", "-S", "-c", _ASK], {}, 10)
    try:
        path, major, minor = said.out.splitlines()
        return path, (int(major), int(minor))
    except ValueError:
        return None


def _is_in_environment(program: str) -> bool:
    """Whether it lies in a virtual environment; -S hides that from sys.prefix."""
    folder = os.path.dirname(program)
    parents = (folder, os.path.dirname(folder))
    return any(os.path.exists(os.path.join(parent, "pyvenv.cfg")) for parent in parents)
