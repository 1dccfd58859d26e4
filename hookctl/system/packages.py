"""Puts packages beside their launchers and takes them away; see `runtime` for what they are."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Container, Iterator

from hookctl.errors import FAILED, HookctlError
from hookctl.system import files
from hookctl.system.runtime import Packages, find_unnamed, is_as_named, is_whole, list_packages

_LOCK_SECONDS = 30
_POLL = 0.05  # seconds


@contextlib.contextmanager
def locked(folder: str) -> Iterator[None]:
    """Hold the lock of a folder of packages, which runs with other state folders share.

    Raises `lock_timeout` (exit 1) after 30 seconds.
    """
    end = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:  # nothing is there to be kept from others
            yield
            return
        except OSError as error:
            raise files.cannot_write(folder, error) from None
        try:
            if _try_lock(handle) and _is_still(handle, folder):
                yield
                return
        finally:
            os.close(handle)
        if time.monotonic() > end:
            message = f"another hookctl has held the lock for {_LOCK_SECONDS} seconds"
            hint = "Wait for it to end, then run the command again."
            raise HookctlError("lock_timeout", message, path=folder, hint=hint, exit_code=FAILED)
        time.sleep(_POLL)


def _try_lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # this file system has no locks
        return True
    return True


def _is_still(handle: int, folder: str) -> bool:
    """Whether the locked folder was not removed, and perhaps made again, meanwhile."""
    with contextlib.suppress(OSError):
        return os.path.samestat(os.fstat(handle), os.stat(folder))
    return False


def provide(packages: Packages, locks: contextlib.ExitStack, created: list[str]) -> list[str]:
    """Lock a folder and put the package there; returns those to keep when the run is over.

    Folders that are made are added to `created`, the deepest first.
    """
    if packages.name:
        inside = os.path.join(packages.path, packages.name)
        created[:0] = files.make_parent_folders(inside, packages.mode)
    locks.enter_context(locked(packages.path))
    kept = []
    if packages.keeps_replaced:
        unnamed = find_unnamed(packages.path, {})
        kept = [name for name in list_packages(packages.path) if name not in unnamed]
    if packages.name:
        _lay(packages)
    return kept


def _lay(packages: Packages) -> None:
    """Put the package there, whole; one of that name with another content gives way.

    Raises HookctlError where the folder may not be written, and Changed where it is gone.
    """
    target = os.path.join(packages.path, packages.name)
    if is_whole(target, packages.modules):
        return
    staged = files.temporary_name(target)
    try:
        files.make_folder(staged, packages.mode)
        for name, data in packages.modules.items():
            files.write_new(os.path.join(staged, name), data, packages.mode)
        files.sync_folder(staged)
        _put_in_place(staged, target)
        files.sync_folder(packages.path)
    except FileNotFoundError:
        raise files.Changed(target) from None
    except OSError as error:
        shutil.rmtree(staged, ignore_errors=True)
        raise files.cannot_write(target, error) from None


def _put_in_place(staged: str, target: str) -> None:
    """Rename a package into its place; what is there gives way, and comes back if that fails."""
    old = files.temporary_name(target)
    if not os.path.lexists(target):
        os.rename(staged, target)
        return
    os.rename(target, old)
    try:
        os.rename(staged, target)
    except OSError:
        os.rename(old, target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def sweep(folder: str, kept: Container[str] = ()) -> bool:
    """Remove what killed runs left here, and packages that no launcher names, but for `kept`.

    A package that somebody has changed stays. Nothing is removed where a link has come into the
    path of the folder. False where something could not be removed.
    """
    if os.path.realpath(folder) != folder:
        return True
    try:
        for name in find_unnamed(folder, {}):
            package = os.path.join(folder, name)
            if name not in kept and is_as_named(package):
                _remove(package)
        files.sweep_folders(folder)
        if not os.listdir(folder):
            os.rmdir(folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _remove(package: str) -> None:
    """Remove a package by one rename, so that a kill leaves none that is half there."""
    gone = files.temporary_name(package)
    try:
        os.rename(package, gone)
    except FileNotFoundError:
        return
    if os.path.islink(gone):
        os.unlink(gone)
    else:
        shutil.rmtree(gone)
