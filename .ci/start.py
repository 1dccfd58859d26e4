"""The `__main__.py` of hookctl.pyz: unpacks it, once, where only this user can write, and starts it from there."""

import os
import stat
import sys

import hookctl  # noqa: F401 (out of the archive: it refuses a Python that is too old)

del sys.modules["hookctl"]
ARCHIVE = os.path.abspath(__loader__.archive)  # noqa: F821


def is_ours(path):
    """Whether only this user and root can change what lies in a folder, or would if it were made."""
    while True:
        if os.path.lexists(path):
            status = os.stat(path)
            is_shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX
            if status.st_uid not in (0, os.geteuid()) or is_shared:
                return False
        if path == os.path.dirname(path):
            return True
        path = os.path.dirname(path)


def unpack(folder, rows):
    """Write each file that is not there whole: by a rename, so that others may run or do the same."""
    for size, name in rows:
        path = os.path.join(folder, name)
        try:
            if os.stat(path).st_size == size:
                continue
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        beside = "%s.%d" % (path, os.getpid())
        with open(beside, "wb") as stream:
            stream.write(__loader__.get_data(name))  # noqa: F821
        os.replace(beside, path)


def cache():
    """The folder of this user for what can be made anew at any time."""
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Caches")
    named = os.environ.get("XDG_CACHE_HOME", "")
    return named if os.path.isabs(named) else os.path.expanduser("~/.cache")


def prepare():
    """The folder with what is in this file, and what is to be done with it at the end."""
    digest, lines = __loader__.get_data("FILES").decode().split("\n", 1)  # noqa: F821
    rows = [(int(size), name) for size, name in (line.split(" ", 1) for line in lines.splitlines())]
    folder = os.path.join(os.path.realpath(cache()), "hookctl", "pyz-" + digest[:16])
    try:
        if is_ours(folder):
            unpack(folder, rows)
            return folder, None
    except OSError:  # a home that is read-only, full or not there: for this call alone
        pass
    import shutil
    import tempfile

    folder = os.path.realpath(tempfile.mkdtemp(prefix="hookctl-"))
    fault = "another user could change it"
    try:
        if is_ours(folder):
            unpack(folder, rows)
            return folder, lambda: shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        fault = error.strerror
    shutil.rmtree(folder, ignore_errors=True)
    sys.exit("hookctl: error: nothing can be unpacked in %s: %s\n  fix: set TMPDIR to a folder of yours" % (folder, fault))


umask = os.umask(0o077)
unpacked, clean_up = prepare()
os.umask(umask)
sys.path[:] = [unpacked] + [path for path in sys.path if os.path.abspath(path or ".") != ARCHIVE]
from hookctl.__main__ import main  # noqa: E402

main(clean_up)
