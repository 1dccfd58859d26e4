"""The user's home and state folder, the project of a call, and its task file."""

import posix
import sys

from .files import env, exists, is_foreign


def home_folder():
    """The user's home folder."""
    if env("HOME").startswith("/"):
        return env("HOME").rstrip("/")
    home = registered_home()
    if not home:
        raise KeyError
    return home


def registered_home():
    """The user's home folder as the user database has it; empty if it has none."""
    from pwd import getpwuid

    try:
        return getpwuid(posix.getuid()).pw_dir
    except KeyError:
        return ""


def default_state_dir(home, locked=False):
    """The user's state folder, the same as platformdirs gives; locked, no variable moves it."""
    state = env("XDG_STATE_HOME").strip()
    if locked:
        state, home = "", registered_home() or home
    if not state.startswith("/"):
        is_mac = sys.platform == "darwin"
        state = home + ("/Library/Application Support" if is_mac else "/.local/state")
    return state + "/hookctl"


def is_foreign_project(folder):
    """Does a project, or its .hookctl, belong neither to the caller nor to root?"""
    return is_foreign(folder) or is_foreign(folder + "/.hookctl")


def is_foreign_home(path):
    """Is the caller root, and the folder that a path lies in another user's?"""
    if posix.geteuid() != 0:
        return False
    while path and not exists(path):
        path = path.rpartition("/")[0]
    try:
        return posix.stat(path or "/").st_uid != 0
    except OSError:  # a link that leads nowhere
        return posix.lstat(path).st_uid != 0


def find_project(start, home):
    """The nearest folder of this user or root with .hookctl or .git, below HOME; else start."""
    folder = start
    while folder and not (home + "/").startswith(folder + "/"):
        if is_marked(folder) and not is_foreign(folder):
            return folder
        folder = folder.rpartition("/")[0]
    return start


def is_marked(folder):
    """Has a folder the mark of a project, which no other user has put there?"""
    marks = (folder + "/.hookctl", folder + "/.git")
    return any(exists(mark) and not is_foreign(mark) for mark in marks)


def list_tasks(settings, env=env):
    """Where another system may keep its task file, and the names of the fields in it.

    A variable names the file, or it is one of `task_file`. Without both there is none.
    """
    named = "" if settings.locked or not settings.task_env else env(settings.task_env).strip()
    if not named and not settings.task_file:
        return [], {}
    names = dict(pair.split("=", 1) for pair in settings.task_fields if "=" in pair)
    return [named] if named else settings.task_file.split(":"), names


def find_task(settings, env=env, exists=exists):
    """The path of the task file, and the names of its fields where another system writes it.

    Where the other system has none, ours in the run folder counts.
    """
    paths, names = list_tasks(settings, env)
    for path in paths:
        if exists(path):
            return path, names
    own = settings.run_dir + "/task.json"
    return (own, {}) if names or not paths else (paths[-1], names)
