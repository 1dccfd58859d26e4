"""Which folder is the project, and where a run in it keeps its files; the hook finds both alike."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Container, Mapping

from hookctl.errors import USAGE, HookctlError


def find(start: str, environ: Mapping[str, str]) -> str:
    """The nearest folder upwards that has .hookctl or .git, else `start`.

    HOME counts only if the search starts there; folders above HOME or of other users never count.
    """
    start = os.path.realpath(start)
    home = os.path.realpath(_home(environ))
    folder = start
    while folder != os.path.dirname(folder) and not f"{home}/".startswith(f"{folder}/"):
        if _has_mark(folder) and _is_mine(folder):
            return folder
        folder = os.path.dirname(folder)
    return start


def _has_mark(folder: str) -> bool:
    return any(os.path.lexists(os.path.join(folder, mark)) for mark in (".hookctl", ".git"))


def is_away(folder: str) -> bool:
    """Whether a project's folder is not there: renamed, removed, or on a disk that is not there."""
    try:
        return not os.listdir(folder)  # a disk that is not mounted leaves an empty folder
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


def named(folder: str, recorded: Container[str] = ()) -> str:
    """The real path of the folder that --project names; a recorded one may be gone."""
    if not os.path.isdir(folder) and os.path.realpath(folder) not in recorded:
        hint = "Give the project's folder with --project."
        raise HookctlError("usage", f"no such folder: {folder}", hint=hint, exit_code=USAGE)
    return os.path.realpath(folder)


def _home(environ: Mapping[str, str]) -> str:
    if environ.get("HOME", "").startswith("/"):
        return environ["HOME"]
    import pwd

    return pwd.getpwuid(os.getuid()).pw_dir


def _is_mine(folder: str) -> bool:
    try:
        return os.stat(folder).st_uid == os.geteuid()
    except OSError:
        return False


def state_folder(state: str, project: str) -> str:
    """The guard's folder for a project: sessions, log, ACTIVE."""
    return os.path.join(state, "guard", _hash(os.path.realpath(project)))


def session_hash(session: str) -> str:
    """The name of a session in the guard's state and log."""
    return _hash(session)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def run_folder(project: str, environ: Mapping[str, str], configured: str = "") -> str:
    """Where the current work is described: $HOOKCTL_RUN_DIR, as configured, or .hookctl/run."""
    named = environ.get("HOOKCTL_RUN_DIR", "").strip() or configured
    return os.path.join(project, named or os.path.join(".hookctl", "run"))
