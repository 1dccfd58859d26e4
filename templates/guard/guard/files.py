"""Files, folders and variables, by plain system calls that never hang; JSON and hashes.

It imports only the interpreter's C modules: the public ones would more than double the cost of a
call.
"""

import posix

try:
    from _sha256 import sha256  # up to Python 3.11
except ImportError:
    try:
        from _sha2 import sha256
    except ImportError:
        from hashlib import sha256

KIB = 1024
FILE_LIMIT = 64 * KIB  # config.json, task.json, a session's state
LINE_LIMIT = 256  # OWNER, ACTIVE
REGULAR = 0o100000
FOLDER = 0o040000
KIND = 0o170000
STICKY = 0o1000
INVALID = 22  # the number of this error on Linux and macOS


def read_number(digits):
    """A whole number of JSON; a very long one stays text, as converting it could take minutes."""
    if len(digits) < 19:
        return int(digits)
    return digits


class Scanning:
    """The options of the JSON scanner, as Python's own `json` sets them."""

    strict = True
    object_hook = object_pairs_hook = array_hook = None  # array_hook: Python 3.15
    parse_float = parse_constant = float
    parse_int = read_number


try:
    from _json import encode_basestring_ascii, make_encoder, make_scanner

    scan = make_scanner(Scanning)
    encode = make_encoder(None, None, encode_basestring_ascii, None, ":", ",", True, False, True)

    def dump(value):
        """A value as JSON, always in the same form."""
        return "".join(encode(value, 0))

except Exception:  # another interpreter, or a later version
    import json

    scan = json.JSONDecoder(parse_int=read_number).scan_once

    def dump(value):
        """A value as JSON, always in the same form."""
        return json.dumps(value, separators=(",", ":"), sort_keys=True)


def parse(data, errors="strict", scan=scan):
    """The object that a JSON document holds; ValueError for everything else."""
    text = data.decode("utf-8", errors).lstrip("\ufeff").strip(" \t\r\n")
    try:
        value, end = scan(text, 0)
    # SystemError: json's own error class is not loaded.
    except (StopIteration, RecursionError, SystemError):
        raise ValueError from None
    if end < len(text) or type(value) is not dict:
        raise ValueError
    return value


def digest_bytes(data):
    """A short hash of bytes."""
    return sha256(data).hexdigest()[:16]


def digest(text):
    """A short hash of a text: of a session, a project or a tool call."""
    return digest_bytes(text.encode("utf-8", "surrogatepass"))


def is_true(value):
    """Is a value true, or the text of a variable a yes?"""
    if type(value) is str:
        return value.strip().lower() in ("1", "true", "yes", "on")
    return bool(value)


def whole_number(text):
    """The whole number in a text; None if it is no number, or very long."""
    text = text.strip()
    digits = text[1:] if text.startswith("-") else text
    if digits.isdigit() and digits.isascii() and len(digits) < 19:
        return int(text)
    return None


def leading_number(text, default):
    """The number that a text begins with, as Claude Code reads its cap ("3abc" is 3, "0x3" 0)."""
    text = text.strip()[:32]
    for end in range(len(text), 0, -1):
        head = text[:end]
        if head.strip("0123456789+-.eE") or head.lstrip("+-")[:1] == ".":
            continue
        try:
            number = float(head)
        except ValueError:
            continue
        return number if abs(number) < 1e300 else default
    return default


def first_text(values, *names):
    """The first of these fields with a text that is not empty; else ''."""
    for name in names:
        if type(values.get(name)) is str and values[name]:
            return values[name]
    return ""


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
        posix.close(fd)
        raise OSError(INVALID, "Not a regular file", path)
    return fd


def read_file(path, limit):
    """At most so many bytes of a file."""
    fd = open_file(path, posix.O_RDONLY)
    try:
        return posix.read(fd, limit)
    finally:
        posix.close(fd)  # hookctl may look at a file for hours


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
    data = read_file(path, limit + 1)
    if len(data) > limit:
        raise ValueError
    return parse(data)


def read_line(path):
    """The text of a tiny file; empty if it is unreadable."""
    try:
        return read_file(path, LINE_LIMIT).decode("utf-8", "replace").strip()
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


def make_folder(path, project=""):
    """Make a private folder, and those above it; one of a project gets a file with its path."""
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
    if project and not exists(path + "/project"):
        try:
            fd = open_new(path + "/project")
            posix.write(fd, project.encode("utf-8", "surrogateescape"))
            posix.close(fd)
        except OSError:
            pass  # the line of the log matters more


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


def is_foreign_project(folder):
    """Does a project, or its .hookctl, belong neither to the caller nor to root?"""
    return is_foreign(folder) or is_foreign(folder + "/.hookctl")


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


def is_out_of_reach(path):
    """May the caller change neither this file nor replace it or a folder above?"""
    while path:
        status = posix.stat(path)
        if status.st_uid == posix.geteuid():
            return False
        # In a sticky folder no user can replace another user's files.
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
