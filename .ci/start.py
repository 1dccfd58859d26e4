"""The `__main__.py` of hookctl.pyz: unpacks what is in it, once, and starts it from there.

It goes where only this user can write: into a cache, or where there is none, a folder that goes
at the end. It is parsed by every Python, so that an old one is told so.
"""

import os
import stat
import sys

import hookctl  # noqa: F401 (out of the archive: it refuses a Python that is too old)

del sys.modules["hookctl"]
ARCHIVE = os.path.abspath(__loader__.archive)


def is_ours(path):
    """Whether only this user and root can change what lies in a folder, or will be made there."""
    shared = stat.S_IWGRP | stat.S_IWOTH
    while True:
        if os.path.lexists(path):
            status = os.lstat(path)  # what is a link now was none a moment ago
            is_shared = status.st_mode & shared and not status.st_mode & stat.S_ISVTX
            if status.st_uid not in (0, os.geteuid()) or is_shared:
                return False
        if path == os.path.dirname(path):
            return True
        path = os.path.dirname(path)


def unpack(folder, rows):
    """Write each file that is not there whole, by a rename: others may run, or do the same."""
    for size, name in rows:
        path = os.path.join(folder, name)
        try:
            if os.stat(path).st_size == size:
                continue
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        beside = path + "." + str(os.getpid())
        with open(beside, "wb") as stream:
            stream.write(__loader__.get_data(name))
        os.replace(beside, path)


def cache():
    """The folder of this user for what can be made anew at any time."""
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Caches")
    named = os.environ.get("XDG_CACHE_HOME", "")
    return named if os.path.isabs(named) else os.path.expanduser("~/.cache")


def prepare():
    """The folder with what is in this file, and what is to be done with it at the end."""
    digest, text = __loader__.get_data("FILES").decode().split("\n", 1)
    rows = [(int(size), name) for size, name in map(str.split, text.splitlines())]
    top = cache()
    folder = os.path.realpath(os.path.join(top, "hookctl", "pyz-" + digest[:16]))
    try:
        if os.path.isabs(top) and is_ours(folder):  # with no HOME at all it is "~/.cache"
            os.makedirs(folder, exist_ok=True)
            if is_ours(folder):  # still: nobody else has made a part of it meanwhile
                unpack(folder, rows)
                return folder, None
    except OSError:  # a home that is read-only, full or not there
        pass
    import shutil
    import tempfile

    fault, folder = "another user could change it", ""
    try:
        folder = os.path.realpath(tempfile.mkdtemp(prefix="hookctl-"))
        if is_ours(folder):
            unpack(folder, rows)
            return folder, lambda: shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        fault = error.strerror
    shutil.rmtree(folder, ignore_errors=True)
    hint = "\n  fix: Set TMPDIR to a folder of your own that has room."
    sys.exit("hookctl: error: nothing can be unpacked here (" + fault + "): " + folder + hint)


umask = os.umask(0o077)
unpacked, clean_up = prepare()
os.umask(umask)
sys.path[:] = [unpacked] + [one for one in sys.path if os.path.abspath(one or ".") != ARCHIVE]
from hookctl.__main__ import main  # noqa: E402

main(clean_up)
