"""How files are written: links, compare before rename, modes, backups. Nothing is ever torn or left empty.

The procedure is that of docs/safe-writes.md: a temporary file beside the real one, the owner, the extended
attributes and last the mode of the old file, fsync, a comparison with what was read, rename, fsync of the folder.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
import time
from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple

from hookctl.errors import FAILED, HookctlError
from hookctl.model import LIMIT, Change

SUFFIX = ".hookctl"
PRIVATE = 0o600
SETTLE = 0.2  # seconds


class Snapshot(NamedTuple):
    """A file as it was at one moment; data is None where there is none."""

    path: str  # the real path, every link resolved
    data: bytes | None
    links: int = 1  # names of the same file

    @property
    def sha(self) -> str:
        return digest(self.data)


class Changed(Exception):
    """Somebody else wrote the file between our reading and our writing."""


def digest(data: bytes | None) -> str:
    """The SHA-256 in hex; empty for no file."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def real(path: str) -> str:
    """The path with every link on it resolved, also where its target does not exist yet."""
    resolved = os.path.realpath(path)
    if os.path.islink(resolved):  # realpath gives up on a loop of links and returns one of them
        raise HookctlError(
            "unreadable", "the links lead in a circle", path=path, hint="Mend the link."
        )
    return resolved


def read(path: str) -> Snapshot:
    """The file behind every link; anything but a regular file is refused, without opening it."""
    target = real(path)
    try:
        about = os.stat(target)
        if not stat.S_ISREG(about.st_mode):
            raise HookctlError(
                "unreadable", "this is not a regular file", path=path, hint="Move it away."
            )
        # Not blocking: should it have become a FIFO this moment, it must not hang us.
        handle = os.open(target, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(handle, "rb") as stream:
            about = os.fstat(handle)
            data = stream.read(LIMIT + 1)
    except FileNotFoundError:
        return Snapshot(target, None)
    except OSError as error:
        raise _unreadable(path, error) from None
    if len(data) > LIMIT:
        raise HookctlError(
            "unparsable", "the file is larger than 16 MiB", path=path, hint="Is it the right file?"
        )
    return Snapshot(target, data, about.st_nlink)


def _unreadable(path: str, error: OSError) -> HookctlError:
    hint = (
        "Give yourself read access to it."
        if isinstance(error, PermissionError)
        else "Mend the path."
    )
    return HookctlError(
        "unreadable", f"the file cannot be read ({error.strerror})", path=path, hint=hint
    )


def replace(
    old: Snapshot, data: bytes | None, *, mode: int = PRIVATE, chmod: int | None = None
) -> None:
    """Make the file `data`, if it still is as in `old`; None removes it.

    `mode` is that of a new file; an old one keeps its owner and extended attributes and, unless there is a `chmod`, its
    mode. Raises Changed where the file is not as in `old` any more, and HookctlError `read_only` (exit 1) where it may
    not be written.
    """
    if old.data == b"":
        time.sleep(
            SETTLE
        )  # who truncates a file writes it a moment later, and the comparison sees that then
    try:
        if data is None:
            _check_writable(old)
            _compare(old)
            os.unlink(old.path)
        elif old.links > 1:
            _write_in_place(old, data)
            if chmod is not None:
                os.chmod(old.path, chmod)
        else:
            _check_writable(old)
            _rename_over(old, data, mode, chmod)
        sync_folder(os.path.dirname(old.path))
    except FileNotFoundError:  # the file or its folder was taken away meanwhile
        raise Changed(old.path) from None
    except OSError as error:
        raise cannot_write(old.path, error) from None


def cannot_write(path: str, error: OSError) -> HookctlError:
    """The error of a file that may not, or cannot, be written."""
    code, hint = (
        "write_failed",
        "The file has its old bytes. Mend the cause and run the command again.",
    )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        code = "read_only"
        hint = "Make it writable, or change it where it is generated (`hookctl plan` shows what is to be added)."
    what = "cannot be written"
    if str(error.filename).endswith(SUFFIX):  # a temporary file beside it could not be made
        path, what = os.path.dirname(path), "no file can be made in this folder"
    return HookctlError(code, f"{what} ({error.strerror})", path=path, hint=hint, exit_code=FAILED)


def _compare(old: Snapshot) -> None:
    try:
        now = read(old.path)
    except HookctlError:
        raise Changed(old.path) from None
    if now.path != old.path or now.data != old.data:
        raise Changed(old.path)


def _check_writable(old: Snapshot) -> None:
    """A rename would replace a read-only file all the same; but its mode is the operator's word."""
    if old.data is not None and is_read_only(old.path):
        raise PermissionError(errno.EACCES, "it is read-only")


def is_read_only(path: str) -> bool:
    """Whether a file's mode, or its file system, says that it is not to be written; root may not ignore that."""
    return not os.stat(path).st_mode & 0o222 or not os.access(path, os.W_OK)


def _rename_over(old: Snapshot, data: bytes, mode: int, chmod: int | None) -> None:
    temp = _temp_name(old.path)
    try:
        handle = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE)
        with open(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            if old.data is None:
                os.fchmod(handle, mode)
            else:
                _keep_attributes(old.path, handle, chmod)
            os.fsync(handle)
        _compare(old)
        if old.data is None:
            _link_new(temp, old.path)
        else:
            os.replace(temp, old.path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temp)


def _keep_attributes(path: str, handle: int, chmod: int | None) -> None:
    """Owner, extended attributes and last the mode, since a change of owner clears bits of it."""
    about = os.stat(path)
    with contextlib.suppress(PermissionError):
        os.fchown(handle, about.st_uid, about.st_gid)
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            for name in os.listxattr(path):
                with contextlib.suppress(OSError):
                    os.setxattr(handle, name, os.getxattr(path, name))
    os.fchmod(handle, stat.S_IMODE(about.st_mode) if chmod is None else chmod)


def _link_new(temp: str, path: str) -> None:
    """A link fails where a rename would silently replace a file that somebody made meanwhile."""
    try:
        os.link(temp, path)
    except FileExistsError:
        raise Changed(path) from None
    except OSError as error:
        if error.errno not in (
            errno.EPERM,
            errno.ENOTSUP,
            errno.EOPNOTSUPP,
            errno.ENOSYS,
            errno.EMLINK,
        ):
            raise
        os.replace(temp, path)  # a file system without hard links


def _write_in_place(old: Snapshot, data: bytes) -> None:
    """A file with several names cannot be replaced without parting them; the backup covers a kill in between."""
    _check_writable(old)
    _compare(old)
    try:
        _overwrite(old.path, data)
    except OSError as error:
        try:
            _overwrite(old.path, old.data or b"")
        except OSError:
            message = f"cannot be written ({error.strerror}), and only a part of it was"
            hint = "Mend the cause and run the command again: it puts the file right."
            raise HookctlError(
                "torn", message, path=old.path, hint=hint, exit_code=FAILED
            ) from None
        raise


def _overwrite(path: str, data: bytes) -> None:
    with open(path, "r+b") as stream:
        stream.write(data)
        stream.truncate()
        stream.flush()
        os.fsync(stream.fileno())


def set_mode(path: str, mode: int) -> None:
    """Give a file this mode, where that is possible."""
    with contextlib.suppress(OSError):
        os.chmod(path, mode)


def write_own(path: str, data: bytes) -> None:
    """Put a file of hookctl's own in place, whole or not at all, with mode 0600; makes its folders (0700)."""
    try:
        for folder in reversed(missing_folders(os.path.dirname(path))):
            with contextlib.suppress(FileExistsError):  # another hookctl was faster
                os.mkdir(folder, 0o700)
        temp = _temp_name(path)
        try:
            handle = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE)
            with open(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(handle)
            os.replace(temp, path)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(temp)
        sync_folder(os.path.dirname(path))
    except OSError as error:
        raise cannot_write(path, error) from None


def umask() -> int:
    """The process's umask."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def missing_folders(folder: str) -> list[str]:
    """The folder and those above it that do not exist, the deepest first."""
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return missing


def make(change: Change) -> Change:
    """Make a change of one file; what is returned knows the mode that the file had, for `take_back`."""
    undone, links = change, 1
    with contextlib.suppress(OSError):
        about = os.stat(change.path)
        mode, links = stat.S_IMODE(about.st_mode), about.st_nlink
        undone = change._replace(mode=mode, chmod=None if change.chmod is None else mode)
    replace(
        Snapshot(change.path, change.before, links),
        change.after,
        mode=change.mode,
        chmod=change.chmod,
    )
    return undone


def take_back(undone: Change) -> None:
    """Put a file back as it was before a change, unless somebody wrote it since."""
    links = 1
    with contextlib.suppress(OSError):
        links = os.stat(undone.path).st_nlink
    replace(
        Snapshot(undone.path, undone.after, links),
        undone.before,
        mode=undone.mode,
        chmod=undone.chmod,
    )


def make_way(path: str, mode: int) -> list[str]:
    """Make the folders that a file of this mode needs, private if it is; those made, the deepest first.

    Raises Changed where a link has come into the path, which had none.
    """
    if real(path) != path:
        raise Changed(path)
    folder, made = os.path.dirname(path), []
    try:
        for missing in reversed(missing_folders(folder)):
            with contextlib.suppress(FileExistsError):  # another program was faster
                os.mkdir(missing, 0o777 if mode & 0o077 else 0o700)
                made.insert(0, missing)
    except OSError as error:
        remove_folders(made)
        raise cannot_write(folder, error) from None
    return made


def remove_folders(names: Iterable[str]) -> list[str]:
    """Remove those that are empty, in this order; those that are left, if one could not be removed."""
    left = []
    for name in names:
        try:
            os.rmdir(name)
        except OSError as error:
            if left or error.errno not in (
                errno.ENOENT,
                errno.ENOTEMPTY,
                errno.EEXIST,
                errno.ENOTDIR,
            ):
                left.append(name)
    return left


def sync_folder(folder: str) -> None:
    """Make a rename in the folder durable, where the file system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _temp_name(path: str) -> str:
    """Machine and process stand in the name, so that only a dead run's files are ever swept."""
    folder, name = os.path.split(path)
    return os.path.join(
        folder, f".{name[:100]}.{_machine()}.{os.getpid()}.{os.urandom(4).hex()}{SUFFIX}"
    )


def _machine() -> str:
    return hashlib.sha256(os.uname().nodename.encode()).hexdigest()[:8]


def sweep(folder: str) -> list[str]:
    """Remove the temporary files that a killed hookctl of this user and machine left in the folder; their paths."""
    gone = []
    for path, pid in _temporary(folder):
        if not _alive(pid) and _mine(path):
            with contextlib.suppress(OSError):
                os.unlink(path)
                gone.append(path)
    return gone


def unswept(folder: str) -> bool:
    """Whether a temporary file of this very process is left in the folder, since it could not be removed."""
    return any(pid == os.getpid() for _, pid in _temporary(folder))


def _temporary(folder: str) -> Iterator[tuple[str, int]]:
    """The temporary files of this machine in the folder, and the process that made each."""
    names = []
    with contextlib.suppress(OSError):
        names = os.listdir(folder)
    for name in names:
        parts = name.split(".")
        if not name.startswith(".") or not name.endswith(SUFFIX) or len(parts) < 5:
            continue
        machine, pid = parts[-4], parts[-3]
        if machine == _machine() and pid.isdecimal():
            yield os.path.join(folder, name), int(pid)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _mine(path: str) -> bool:
    try:
        about = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid()


# Backups: the bytes of a settings file before our first write and before each of the last ten. Beside each of the
# ten lies the ledger's page of that moment, if there was one: it says what in those bytes is ours.

KEEP = 10
_BACKUP = re.compile(r"(first|[0-9]+)-[0-9a-f]{64}")
_PAGE = ".page"
KEEP_SECONDS = 30 * 24 * 3600  # after an uninstall


def backup_folder(state: str, path: str) -> str:
    """Where the backups of one settings file lie."""
    return os.path.join(state, "backups", digest(os.fsencode(path))[:16])


def backup_folders(state: str) -> list[str]:
    """The folders of all settings files that have backups."""
    folder = os.path.join(state, "backups")
    with contextlib.suppress(OSError):
        return [os.path.join(folder, name) for name in os.listdir(folder)]
    return []


class Backup(NamedTuple):
    """The bytes of a settings file at some time before a write of ours."""

    at: float  # seconds since the epoch
    data: bytes
    first: bool  # those before our first write
    page: bytes | None = None  # the ledger's page then; None: nothing was ours, or it was not kept


def backups(state: str, path: str) -> list[Backup]:
    """The backups of a settings file, that from before our first write first, then from old to new."""
    folder, firsts, later = backup_folder(state, path), [], []
    with contextlib.suppress(FileNotFoundError):
        for name in sorted(_texts(folder)):
            stamp, _, sha = name.partition("-")
            place = os.path.join(folder, name)
            data = read(place).data
            if data is None or digest(data) != sha:
                continue  # torn, or no work of ours
            if stamp == "first":
                firsts.append(Backup(os.stat(place).st_mtime, data, True))
            else:
                later.append(Backup(int(stamp) / 1e9, data, False, read(place + _PAGE).data))
    known = {backup.data for backup in firsts}
    return [*firsts, *(backup for backup in later if backup.data not in known)]


def numbered(found: list[Backup]) -> dict[int, Backup]:
    """Backups by the number that `hookctl restore` gives them; 1 is always the one from before our first write."""
    return dict(enumerate(found, 1 if found and found[0].first else 2))


def _texts(folder: str) -> list[str]:
    """The names of the backups in a folder, without their pages."""
    return [name for name in os.listdir(folder) if _BACKUP.fullmatch(name)]


def prunable(state: str, path: str, needed: str) -> list[str]:
    """The names of the backups of one settings file, without the first one if that has the `needed` SHA-256."""
    with contextlib.suppress(FileNotFoundError):
        return [
            name
            for name in _texts(backup_folder(state, path))
            if not needed or name != f"first-{needed}"
        ]
    return []


def prune_own(state: str, path: str, needed: str) -> list[str]:
    """Remove those backups, and their folder if it is empty then; the names that went."""
    folder, going = backup_folder(state, path), prunable(state, path, needed)
    _unlink_all(folder, going)
    with contextlib.suppress(OSError):
        if os.listdir(folder) == ["path"]:
            _unlink_all(folder, ["path"])
            os.rmdir(folder)
    return going


def backed_up(state: str) -> list[str]:
    """The settings files that have backups."""
    found = []
    for folder in backup_folders(state):
        with contextlib.suppress(HookctlError):
            data = read(os.path.join(folder, "path")).data
            if data:
                found.append(os.fsdecode(data.removesuffix(b"\n")))
    return sorted(found)


def back_up(state: str, path: str, data: bytes, *, first: bool, page: bytes | None = None) -> None:
    """Keep the bytes of a settings file, and its page; with `first`, as those that an uninstall may give back."""
    folder = backup_folder(state, path)
    sha = digest(data)
    write_own(os.path.join(folder, "path"), os.fsencode(path) + b"\n")
    if first:
        write_own(os.path.join(folder, f"first-{sha}"), data)
        _unlink_all(
            folder,
            [name for name in _texts(folder) if name.startswith("first-") and sha not in name],
        )
    place = os.path.join(folder, f"{time.time_ns():020d}-{sha}")
    write_own(place, data)
    if page is not None:
        write_own(place + _PAGE, page)
    _unlink_all(folder, sorted(name for name in _texts(folder) if name[:20].isdecimal())[:-KEEP])


def find_backup(state: str, sha: str) -> bytes | None:
    """The backup with this SHA-256, if it is there and really has it; whichever path its file had then."""
    for folder in backup_folders(state):
        with contextlib.suppress(OSError, HookctlError):
            for name in os.listdir(folder):
                data = read(os.path.join(folder, name)).data if name.endswith(f"-{sha}") else None
                if data is not None and digest(data) == sha:
                    return data
    return None


def date_backups(state: str, path: str) -> None:
    """Count the month of a file's backups from now on: nothing is installed in it any more."""
    with contextlib.suppress(OSError):
        os.utime(os.path.join(backup_folder(state, path), "path"))


def prune_backups(state: str, installed: Container[str], needed: Iterable[str]) -> None:
    """Remove the backups of files that nothing is installed in, a month after the last use of them.

    Those with a `needed` SHA-256 stay, wherever links have moved their file since.
    """
    firsts = {f"first-{sha}" for sha in needed}
    for folder in backup_folders(state):
        with contextlib.suppress(OSError, HookctlError):
            path = os.fsdecode((read(os.path.join(folder, "path")).data or b"").removesuffix(b"\n"))
            names = os.listdir(folder)
            newest = max(os.stat(os.path.join(folder, name)).st_mtime for name in names)
            if (
                path not in installed
                and firsts.isdisjoint(names)
                and time.time() - newest > KEEP_SECONDS
            ):
                _unlink_all(folder, names)
                os.rmdir(folder)


def _unlink_all(folder: str, names: list[str]) -> None:
    """Remove these, and a page before its backup: without one, a backup is as those of older versions are."""
    for name in names:
        for each in (name + _PAGE, name):
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, each))
