"""hookctl's own folders and the environment that a run sees."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from hookctl.errors import HookctlError


@dataclass(frozen=True)
class Folders:
    """Where a run keeps its things; all paths are absolute."""

    state: str  # ledger, journal, backups, the guard's sessions and logs
    data: str  # runtime files that settings files point to
    environ: Mapping[str, str]
    cwd: str
    ledger: str = field(init=False)
    journal: str = field(init=False)
    pending: str = field(init=False)  # the bytes that an unfinished run was to write

    def __post_init__(self) -> None:
        for name, file in (("ledger", "ledger.json"), ("journal", "journal.json"), ("pending", "pending")):
            object.__setattr__(self, name, os.path.join(self.state, file))

    @property
    def home(self) -> str:
        """The real path of HOME."""
        return os.path.realpath(self.environ.get("HOME") or os.path.expanduser("~"))


def here() -> Folders:
    """The folders of this process: HOOKCTL_STATE_DIR and HOOKCTL_DATA_DIR, else the platform's own."""
    environ = os.environ
    state, data = environ.get("HOOKCTL_STATE_DIR", ""), environ.get("HOOKCTL_DATA_DIR", "")
    if not state or not data:
        import platformdirs

        state = state or platformdirs.user_state_dir("hookctl", appauthor=False)
        data = data or platformdirs.user_data_dir("hookctl", appauthor=False)
    try:
        return Folders(os.path.abspath(state), os.path.abspath(data), environ, os.getcwd())
    except FileNotFoundError:
        message, hint = "the working folder does not exist any more", "Change into another one."
        raise HookctlError("unreadable", message, hint=hint) from None


def asset(*names: str) -> str:
    """A file of `schemas/` or `templates/`: beside the package in a wheel, above it in a checkout."""
    package = os.path.dirname(os.path.abspath(__file__))
    inside = os.path.join(package, *names)
    return inside if os.path.exists(inside) else os.path.join(os.path.dirname(package), *names)
