"""Which folder is the project, and where a run in it keeps its files; the hook finds both alike."""

import os
from collections.abc import Container, Iterator, Mapping

from hookctl.errors import USAGE, HookctlError
from hookctl.system import guard_module, owners

_SYSTEM = ("/usr", "/bin", "/sbin", "/opt", "/nix", "/snap", "/System", "/Library", "/Applications")
_MARKS = (".hookctl", ".git")  # of a project
MARKS = ("STOP", "CONCLUDE")  # files of a run folder that let every agent stop


def find(start: str, environ: Mapping[str, str]) -> str:
    """The project of a folder; refused (`foreign_project`) where it is another user's."""
    folder = search(start, environ)
    require_own(folder)
    return folder


def find_quietly(start: str, environ: Mapping[str, str]) -> str:
    """The same for a command that only reads: a folder without a mark may have any owner."""
    folder = search(start, environ)
    if has_mark(folder):
        require_own(folder)
    return folder


def search(start: str, environ: Mapping[str, str]) -> str:
    """The nearest folder upwards that has .hookctl or .git, else `start`.

    HOME counts only if the search starts there; folders above HOME or of other users never count.
    """
    home = environ.get("HOME", "")
    if not home.startswith("/"):
        import pwd  # late: Windows has none

        home = pwd.getpwuid(os.getuid()).pw_dir
    home = os.path.realpath(home)
    return str(guard_module("files").find_project(os.path.realpath(start), home))


def upwards(path: str) -> Iterator[str]:
    """The path and each folder above it, up to the root."""
    yield path
    while path != os.path.dirname(path):
        path = os.path.dirname(path)
        yield path


def below_home(path: str, home: str) -> Iterator[str]:
    """The path and each folder above it that is neither HOME nor above HOME."""
    while not f"{home}/".startswith(f"{path.rstrip('/')}/"):
        yield path
        path = os.path.dirname(path)


def find_repository(folder: str) -> str:
    """The top of the git repository that a folder lies in, as agents look for it; else ''."""
    for above in upwards(folder):
        mark = os.path.join(above, ".git")
        if os.path.isfile(mark) or os.path.exists(os.path.join(mark, "HEAD")):
            return above
    return ""


def find_around(path: str, home: str) -> str:
    """The project that a path lies in; '' if none. HOME and shared folders are no projects."""
    folders = (one for one in below_home(path, home) if has_mark(one))
    return next((one for one in folders if not os.stat(one).st_mode & 0o002), "")


def has_mark(folder: str) -> bool:
    """Whether a folder is marked as a project."""
    return any(os.path.lexists(os.path.join(folder, mark)) for mark in _MARKS)


def is_away(folder: str) -> bool:
    """Whether a project's folder is not there: renamed, removed, or on a disk that is not there."""
    try:
        return not os.listdir(folder)  # a disk that is not mounted leaves an empty folder
    except OSError as error:
        return isinstance(error, FileNotFoundError | NotADirectoryError)


def named(folder: str, recorded: Container[str] = ()) -> str:
    """The real path of the folder that --project names; a recorded one may be gone."""
    if not os.path.isdir(folder) and os.path.realpath(folder) not in recorded:
        hint = "Give the project's folder with --project."
        raise HookctlError("usage", f"no such folder: {folder}", hint=hint, exit_code=USAGE)
    real = os.path.realpath(folder)
    require_own(real)
    return real


def require_own(folder: str) -> None:
    """Refuse a project that belongs, itself or its .hookctl, neither to the caller nor to root."""
    for path in (folder, os.path.join(folder, ".hookctl")):
        if guard_module("files").is_foreign(path):
            user = owners.user_name(os.stat(path, follow_symlinks=False).st_uid)
            message = f"this belongs to another user ({user}), so it is no project of yours"
            hint = "Change into a folder of your own, or make it yours with `sudo chown -R`."
            raise HookctlError("foreign_project", message, path=path, hint=hint)


def is_foreign(folder: str) -> bool:
    """Whether a project, or its .hookctl, belongs neither to the caller nor to root."""
    return bool(guard_module("files").is_foreign_project(folder))


def is_inside(project: str, path: str, home: str) -> bool:
    """Whether a path, or what it resolves to, lies in a project, or in one that this one is in.

    HOME and / are no projects for that; a folder without a mark is one, for all that is below it.
    """
    folders = [*filter(has_mark, below_home(os.path.dirname(project), home))]
    is_of_the_system = f"{project}/".startswith(tuple(f"{top}/" for top in _SYSTEM))
    if project not in ("/", home) and (has_mark(project) or not is_of_the_system):
        folders.append(project)
    tops = tuple(f"{folder}/" for folder in folders)
    return any(f"{part}/".startswith(tops) for part in (path, os.path.realpath(path)))


def safe_path(environ: Mapping[str, str], project: str) -> str:
    """PATH without relative folders and those of a project."""
    home = os.path.realpath(environ.get("HOME", ""))
    folders = environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(
        folder
        for folder in folders
        if os.path.isabs(folder) and not is_inside(project, folder, home)
    )


def state_folder(state: str, project: str) -> str:
    """The guard's folder for a project: sessions, log, ACTIVE."""
    return os.path.join(state, "guard", session_hash(os.path.realpath(project)))


def session_hash(session: str) -> str:
    """The name of a session, or of a project's path, in the guard's state and log."""
    return str(guard_module("files").digest(session))
