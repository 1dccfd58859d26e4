"""Files, folders and variables, by plain system calls that never hang, whatever the path is."""

import posix

from .values import dump, parse

KIB = 1024
FILE_LIMIT = 64 * KIB  # config.json, task.json, a session's state
LINE_LIMIT = 256  # OWNER, ACTIVE
REGULAR = 0o100000
FOLDER = 0o040000
KIND = 0o170000
STICKY = 0o1000
INVALID = 22  # the number of this error on Linux and macOS


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
    """Open a regular file only: a pipe could hang us, and a device could be endless.

    A file that may be made or emptied is not opened through a link.
    """
    if flags & posix.O_CREAT:
        flags |= posix.O_NOFOLLOW
    fd = posix.open(path, flags | posix.O_NONBLOCK | posix.O_CLOEXEC, 0o600)
    if posix.fstat(fd).st_mode & KIND != REGULAR:
        raise OSError(INVALID, "Not a regular file", path)
    return fd


def open_to_replace(path):
    """Open an empty file for writing, in place of the old one."""
    return open_file(path, posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC)


def open_new(path):
    """Make a file for writing; one that a killed call left behind is removed."""
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL
    try:
        return open_file(path, flags)
    except FileExistsError:
        posix.unlink(path)
        return open_file(path, flags)


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
    """Write an object to a file; OSError with the path if it cannot be written completely."""
    data = dump(value).encode()
    try:
        fd = open_new(path + ".tmp")
        while data:  # what is left of a write that was cut short says why
            data = data[posix.write(fd, data) :]
        posix.rename(path + ".tmp", path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error


def make_folder(path):
    """Make a private folder, and those above it."""
    try:
        posix.mkdir(path, 0o700)
        posix.chmod(path, 0o700)  # whatever the umask
    except FileExistsError:
        pass
    except FileNotFoundError:
        above = path.rpartition("/")[0]
        if exists(above):
            raise  # it takes no folder
        make_folder(above)
        make_folder(path)


def is_foreign(path):
    """Does a file, or what a link leads to, belong neither to the caller nor to root?"""
    for follow in (False, True):
        try:
            owner = posix.stat(path, follow_symlinks=follow).st_uid
        except (OSError, ValueError):
            continue
        if owner not in (0, posix.geteuid()):
            return True
    return False


def is_out_of_reach(path):
    """May the caller change neither this file nor replace it or a folder above?"""
    while path:
        status = posix.stat(path)
        if status.st_uid == posix.geteuid():
            return False
        # In a sticky folder nobody replaces what is another's.
        is_sticky = status.st_mode & KIND == FOLDER and status.st_mode & STICKY
        if posix.access(path, posix.W_OK) and not is_sticky:
            return False
        path = path.rpartition("/")[0]
    return True


def enter(path):
    """Change to a folder; its real path, or "" if that fails."""
    try:
        posix.chdir(path)
        return posix.getcwd()
    except (OSError, ValueError):
        return ""
