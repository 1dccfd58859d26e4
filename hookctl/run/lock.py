"""hookctl's lock: one run at a time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator

import filelock

from hookctl.system import files
from hookctl.system.folders import Folders
from hookctl.system.packages import LOCK_SECONDS, lock_timeout


@contextlib.contextmanager
def locked(folders: Folders, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold hookctl's lock, and call `waiting` once if another hookctl has it.

    Raises `lock_timeout` (exit 1) after 30 seconds.
    """
    try:
        files.make_folders(folders.state, files.PRIVATE)
        lock = filelock.FileLock(os.path.join(folders.state, "lock"), mode=0o600)
        try:
            lock.acquire(timeout=0.2)
        except filelock.Timeout:
            waiting()
            lock.acquire(timeout=LOCK_SECONDS)
    except filelock.Timeout:
        raise lock_timeout(folders.state) from None
    except OSError as error:
        raise files.cannot_write(folders.state, error) from None
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # the end of the process releases it too
            lock.release()
