"""hookctl's own folders, and the environment that a run sees."""

import os
from collections.abc import Mapping
from functools import cached_property

from hookctl.errors import FAILED, HookctlError
from hookctl.system.project import find_around

# The variables that move our folders.
_MOVING = ("HOOKCTL_STATE_DIR", "HOOKCTL_DATA_DIR", "XDG_STATE_HOME", "XDG_DATA_HOME")


class Folders:
    """Where a run keeps its files; all paths are absolute."""

    def __init__(self, state: str, data: str, environ: Mapping[str, str], cwd: str) -> None:
        self.state = state  # ledger, journal, backups, the guard's sessions and logs
        self._real_state = os.path.realpath(state)
        self.data = data  # runtime files that settings files point to
        self.environ = environ
        self.cwd = cwd
        self.ledger = os.path.join(state, "ledger.json")
        self.former_disabled = os.path.join(state, "disabled.json")  # 0.2.0's record of it
        self.journal = os.path.join(state, "journal.json")
        self.traces = os.path.join(state, "traces.json")  # the hooks that are traced
        self.pending = os.path.join(state, "pending")  # where 0.2.0 kept the bytes of a run

    @cached_property
    def home(self) -> str:
        """The real path of HOME."""
        return os.path.realpath(self.environ["HOME"])

    @cached_property
    def cache(self) -> str:
        """Where packs from git are fetched to, for the time of a command."""
        import platformdirs  # late: few packs come from git

        return platformdirs.user_cache_dir("hookctl", appauthor=False)

    def has_unfinished_run(self) -> bool:
        """Whether an interrupted run left something to finish or to clear away."""
        return os.path.lexists(self.journal) or os.path.lexists(self.pending)

    def shorten(self, path: str) -> str:
        """A path as our records keep it: relative to them where both lie below HOME.

        So a HOME that moves takes its records along; the state folder may serve several HOMEs.
        """
        home = self.home.rstrip("/") + "/"
        if not self._real_state.startswith(home) or not f"{path}/".startswith(home):
            return path
        name = os.path.relpath(path, self._real_state)
        return name if name.startswith("..") else f"./{name}"

    def resolve(self, name: str) -> str:
        """The path that our records keep under this name."""
        if name.startswith("."):
            return os.path.normpath(os.path.join(self._real_state, name))
        return name


def here() -> Folders:
    """The folders of this process: HOOKCTL_STATE_DIR and HOOKCTL_DATA_DIR, else the platform's.

    Refuses (`no_home`) without a home folder, where agents have their settings, and
    (`unsafe_path`) a folder of our own that lies in a project.
    """
    home = os.environ.get("HOME", "")
    if not os.path.isabs(home):
        hint = "Set it to your home folder: `export HOME=/home/YOU`."
        raise HookctlError("no_home", f"HOME is {home!r}, which is no absolute path", hint=hint)
    folders = without_home()
    moving = [name for name in _MOVING if os.environ.get(name)]
    for folder in (folders.state, folders.data) if moving else ():
        project = find_around(os.path.realpath(folder), folders.home)
        project = project or find_around(folder, home.rstrip("/"))
        if project:  # a repository could then forge our records
            message = f"a folder of hookctl's own lies in the project {project}"
            names = ", ".join(moving)
            hint = f"Name a folder outside of projects, or unset what names this one: {names}."
            raise HookctlError("unsafe_path", message, path=folder, hint=hint, exit_code=FAILED)
    return folders


def without_home() -> Folders:
    """The same for what needs no home folder."""
    environ = os.environ
    state = environ.get("HOOKCTL_STATE_DIR", "")
    data = environ.get("HOOKCTL_DATA_DIR", "")
    if not state or not data:
        import platformdirs  # late: these variables may name both

        state = state or platformdirs.user_state_dir("hookctl", appauthor=False)
        data = data or platformdirs.user_data_dir("hookctl", appauthor=False)
    try:
        return Folders(os.path.abspath(state), os.path.abspath(data), environ, os.getcwd())
    except FileNotFoundError:
        message = "the working folder does not exist any more"
        hint = "Change into another folder."
        raise HookctlError("unreadable", message, hint=hint) from None
