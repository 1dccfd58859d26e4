"""Files, folders and variables, by plain system calls that never hang, whatever the path is."""

import posix

from .values import dump, parse

KIB = 1024
FILE_LIMIT = 64 * KIB  # config.json, task.json, a session's state
LINE_LIMIT = 256  # OWNER, ACTIVE
REGULAR = 0o100000
KIND = 0o170000


def env(name):
    """The value of a variable; empty if it is not set."""
    return posix.environ.get(name.encode(), b"").decode("utf-8", "surrogateescape")


def exists(path):
    """Is something there? A broken link counts."""
    try:
        return bool(posix.lstat(path))
    except (OSError, ValueError):
        return False


def open_file(path, flags):
    """Open a regular file only: a pipe could hang us, and a device could be endless."""
    fd = posix.open(path, flags | posix.O_NONBLOCK | posix.O_CLOEXEC, 0o600)
    if posix.fstat(fd).st_mode & KIND != REGULAR:
        raise OSError
    return fd


def open_to_replace(path):
    """Open an empty file for writing, in place of the old one."""
    return open_file(path, posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC)


def read_object(path, limit=FILE_LIMIT):
    """The object in a small file; OSError or ValueError if there is none."""
    data = posix.read(open_file(path, posix.O_RDONLY), limit + 1)
    if len(data) > limit:
        raise ValueError
    return parse(data)


def read_line(path):
    """The text of a tiny file; empty if it is unreadable."""
    try:
        data = posix.read(open_file(path, posix.O_RDONLY), LINE_LIMIT)
        return data.decode("utf-8", "replace").strip()
    except (OSError, ValueError):
        return ""


def save_object(path, value):
    """Write an object to a file; False if it was not written completely."""
    data = dump(value).encode()
    try:
        fd = open_to_replace(path + ".tmp")
        if posix.write(fd, data) < len(data):
            return False
        posix.rename(path + ".tmp", path)
        return True
    except OSError:
        return False


def make_folder(path):
    """Make a private folder, and those above it."""
    try:
        posix.mkdir(path, 0o700)
    except FileExistsError:
        pass
    except FileNotFoundError:
        make_folder(path.rpartition("/")[0])
        make_folder(path)


def enter(path):
    """Change to a folder; its real path, or "" if that fails."""
    try:
        posix.chdir(path)
        return posix.getcwd()
    except (OSError, ValueError):
        return ""
