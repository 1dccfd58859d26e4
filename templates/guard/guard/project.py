"""The user's home and state folder, and the project of a call."""

import posix
import sys

from .files import env, exists


def home_folder():
    """The user's home folder."""
    if env("HOME").startswith("/"):
        return env("HOME").rstrip("/")
    from pwd import getpwuid

    return getpwuid(posix.getuid()).pw_dir


def default_state_dir(home):
    """The user's state folder, the same as platformdirs gives."""
    state = env("XDG_STATE_HOME").strip()
    if not state.startswith("/"):
        is_mac = sys.platform == "darwin"
        state = home + ("/Library/Application Support" if is_mac else "/.local/state")
    return state + "/hookctl"


def find_project(start, home):
    """The nearest folder of this user with .hookctl or .git, below HOME; else start."""
    folder = start
    while folder and not (home + "/").startswith(folder + "/"):
        marked = exists(folder + "/.hookctl") or exists(folder + "/.git")
        if marked and posix.stat(folder).st_uid == posix.geteuid():
            return folder
        folder = folder.rpartition("/")[0]
    return start
