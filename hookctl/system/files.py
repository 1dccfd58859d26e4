"""Safe writes: a file is replaced whole or not at all, and only if it is still as it was read.

The procedure: a temporary file beside the real one, the owner, the extended attributes and last the
mode of the old file, fsync, a comparison with what was read, rename, fsync of the folder.
"""

import contextlib
import errno
import os
import re
import stat
import time
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from hookctl.errors import FAILED, HookctlError
from hookctl.model import LIMIT
from hookctl.system import owners
from hookctl.system.folders import Folders

try:  # hashlib loads OpenSSL, which takes longer than any of our modules
    from _sha256 import sha256  # up to Python 3.11
except ImportError:
    try:
        from _sha2 import sha256
    except ImportError:
        from hashlib import sha256

SUFFIX = ".hookctl"
PRIVATE = 0o600
SETTLE = 2.0  # seconds: another program may be about to fill a younger empty file
_MACHINE = sha256(os.uname().nodename.encode()).hexdigest()[:8]
_NOT_PERMITTED = (errno.EACCES, errno.EPERM, errno.EROFS)
_NO_HARD_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_NOTHING_TO_REMOVE = (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR)


class Snapshot(NamedTuple):
    """A file as it was at one moment; data is None where there is none."""

    path: str  # the real path, every link resolved
    data: bytes | None
    links: int = 1  # names of the same file

    @property
    def sha(self) -> str:
        return digest(self.data)


class Changed(Exception):
    """Another program wrote the file between our reading and our writing."""


@lru_cache(maxsize=64)  # one run asks several times about the same bytes
def digest(data: bytes | None) -> str:
    """The SHA-256 in hex; empty for no file."""
    return "" if data is None else sha256(data).hexdigest()


def content_digest(manifest: bytes, contents: Mapping[str, bytes]) -> str:
    """The SHA-256 over a pack's manifest and the names and bytes of its files, sorted by name."""
    parts = [manifest]
    for name in sorted(contents):
        parts += [name.encode("utf-8", "surrogatepass"), contents[name]]
    result = sha256()
    for part in parts:
        # The length before each part keeps parts apart: "ab", "c" differs from "a", "bc".
        result.update(b"%d:" % len(part))
        result.update(part)
    return result.hexdigest()


def real(path: str) -> str:
    """The path with every link on it resolved, also where its target does not exist yet."""
    resolved = os.path.realpath(path)
    if os.path.islink(resolved):  # realpath gives up on a loop of links and returns one of them
        raise HookctlError("unreadable", "symbolic link loop", path=path, hint="Fix the link.")
    return resolved


def is_same(first: str, second: str) -> bool:
    """Whether two paths lead to one file, by links of either kind; it need not exist yet."""
    are_there = os.path.exists(first) and os.path.exists(second)
    return real(first) == real(second) or (are_there and os.path.samefile(first, second))


def read(path: str, resolved: str = "") -> Snapshot:
    """The file behind every link; refuses anything but a regular file, without opening it.

    `resolved` is the path without links, where that is known.
    """
    target = resolved or real(path)
    try:
        if not stat.S_ISREG(os.stat(target).st_mode):
            raise HookctlError("unreadable", "not a regular file", path=path, hint="Move it away.")
        # Not blocking: if it has just become a FIFO, opening it must not hang.
        with open(os.open(target, os.O_RDONLY | os.O_NONBLOCK), "rb") as stream:
            links = os.fstat(stream.fileno()).st_nlink
            data = stream.read(LIMIT + 1) or b""
    except FileNotFoundError:
        return Snapshot(target, None)
    except OSError as error:
        message = f"the file cannot be read ({error.strerror})"
        hint = "Fix the path, or give yourself read access to it."
        raise HookctlError("unreadable", message, path=path, hint=hint) from None
    if len(data) > LIMIT:
        message, hint = "the file is larger than 16 MiB", "Check that it is the right file."
        raise HookctlError("unparsable", message, path=path, hint=hint)
    return Snapshot(target, data, links)


def read_folder(folder: str, names: Iterable[str]) -> dict[str, bytes | None]:
    """The bytes of files in a folder that is no link, by their names."""
    real_folder = real(folder)  # once for all of them
    paths = {name: os.path.join(folder, name) for name in names}
    return {name: read(path, os.path.join(real_folder, name)).data for name, path in paths.items()}


def read_or_none(path: str) -> bytes | None:
    """The bytes of a file; None where it cannot be read."""
    try:
        return read(path).data
    except HookctlError:
        return None


def written_at(path: str) -> float | None:
    """When a file was written last; None where there is none."""
    try:
        return os.stat(path).st_mtime
    except (OSError, ValueError):
        return None


def read_settled(path: str) -> Snapshot:
    """The file; one that has just become empty is waited for, since its bytes may follow."""
    snapshot = read(path)
    if snapshot.data == b"":
        wait_until_filled(snapshot.path)
        snapshot = read(path)
    return snapshot


def wait_until_filled(path: str) -> None:
    """Wait while a file is empty and young: a program that truncates a file writes it later."""
    end = time.monotonic() + SETTLE
    while time.monotonic() < end:
        try:
            status = os.stat(path)
        except OSError:
            return
        age = time.time() - max(status.st_mtime, status.st_ctime)
        if status.st_size or age > SETTLE:
            return
        time.sleep(0.02)


def replace(
    old: Snapshot, data: bytes | None, *, mode: int = PRIVATE, chmod: int | None = None
) -> None:
    """Give the file these bytes if it is still as in `old`; None removes it.

    `mode` is for a new file. An old one keeps its owner and extended attributes and, unless `chmod`
    is given, its mode. Raises Changed where the file is not as in `old` any more, and HookctlError
    `read_only` (exit 1) where it may not be written.
    """
    if old.data == b"":
        wait_until_filled(old.path)  # the comparison then sees what was written
    try:
        # A rename would replace a read-only file too, but its mode says that it is to stay.
        if old.data is not None and is_read_only(old.path):
            raise PermissionError(errno.EACCES, "it is read-only")
        if data is None:
            _require_unchanged(old)
            os.unlink(old.path)
        else:
            with _temporary(old.path) as temp:
                like = "" if old.data is None else old.path
                write_new(temp, data, PRIVATE if like else mode, like=like, chmod=chmod)
                _require_unchanged(old)
                put = os.replace if like else _put_new
                put(temp, old.path)
        sync_folder(os.path.dirname(old.path))
    except FileNotFoundError:  # the file or its folder was removed meanwhile
        raise Changed(old.path) from None
    except OSError as error:
        raise cannot_write(old.path, error) from None


def cannot_write(path: str, error: OSError) -> HookctlError:
    """The error of a file that may not, or cannot, be written."""
    code, message = "write_failed", f"cannot be written ({error.strerror})"
    hint = "The file has its old bytes. Fix the cause and run the command again."
    if error.errno in _NOT_PERMITTED:
        code = "read_only"
        hint = (
            "Make it writable, or change it where it is generated "
            "(`hookctl plan` shows what is to be added)."
        )
    if error.filename2 is None and str(error.filename).endswith(SUFFIX):
        path = os.path.dirname(path)
        message = f"no file can be made in this folder ({error.strerror})"
    return HookctlError(code, message, path=path, hint=hint, exit_code=FAILED)


def _require_unchanged(old: Snapshot) -> None:
    try:
        now = read(old.path)
    except HookctlError:
        raise Changed(old.path) from None
    if now.path != old.path or now.data != old.data:
        raise Changed(old.path)


def is_read_only(path: str) -> bool:
    """Whether a file's mode or its file system forbids writing; that counts for root too."""
    return not os.stat(path).st_mode & 0o222 or not os.access(path, os.W_OK)


def _put_new(temp: str, path: str) -> None:
    """Put a new file in place; a rename would replace another program's file."""
    try:
        os.link(temp, path)
    except FileExistsError:
        raise Changed(path) from None
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        os.replace(temp, path)


@contextlib.contextmanager
def _temporary(path: str) -> Iterator[str]:
    """The name of a temporary file beside it, which is removed where it was not renamed."""
    temp = temporary_name(path)
    try:
        yield temp
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temp)


def write_new(
    path: str, data: bytes, mode: int, *, like: str = "", chmod: int | None = None
) -> None:
    """Write a file that is not there yet, durably and with this mode, whatever the umask.

    Or with the owner, the attributes and, unless `chmod` is given, the mode of another file.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with open(handle, "wb") as stream:
        stream.write(data)
        stream.flush()
        if like:
            owners.copy_attributes(like, handle, chmod)
        elif stat.S_IMODE(os.fstat(handle).st_mode) != mode:
            os.fchmod(handle, mode)
        os.fsync(handle)


def write_folder(folder: str, contents: Mapping[str, bytes], mode: int) -> None:
    """Make a folder with these files in it, durably."""
    _make_folder(folder, mode)
    for name, data in contents.items():
        write_new(os.path.join(folder, name), data, mode)
    sync_folder(folder)


def write_tree(
    folder: str, contents: Mapping[str, bytes], mode: int, programs: Container[str] = ()
) -> None:
    """Write these new files, by their paths in a folder, and the folders that they need."""
    try:
        for name, data in contents.items():
            path = os.path.join(folder, name)
            make_folders(os.path.dirname(path), mode)
            write_new(path, data, mode | (mode & 0o444) >> 2 if name in programs else mode)
    except OSError as error:
        raise cannot_write(folder, error) from None


def set_mode(path: str, mode: int) -> None:
    """Give a file this mode, where that is possible."""
    with contextlib.suppress(OSError):
        os.chmod(path, mode)


def write_own(path: str, data: bytes) -> None:
    """Write a file of hookctl's own, whole or not at all, mode 0600; makes its folders (0700)."""
    folder = os.path.dirname(path)
    try:
        make_folders(folder, PRIVATE)
        with _temporary(path) as temp:
            write_new(temp, data, PRIVATE)
            os.replace(temp, path)
        sync_folder(folder)
    except OSError as error:
        raise cannot_write(path, error) from None


def make_folders(folder: str, mode: int) -> list[str]:
    """Make a folder for files of this mode, and those above it that are missing."""
    created: list[str] = []
    try:
        for missing in reversed(missing_folders(folder)):
            with contextlib.suppress(FileExistsError):  # another program was faster
                _make_folder(missing, mode)
                created.insert(0, missing)
    except OSError:
        remove_folders(created)
        raise
    return created


def _make_folder(folder: str, mode: int) -> None:
    """Make a folder: 0700 for private files whatever the umask, else as a public mode says."""
    os.mkdir(folder, 0o775 if mode & 0o077 else 0o700)
    if not mode & 0o077 and os.stat(folder).st_mode & 0o700 != 0o700:
        os.chmod(folder, 0o700)


def public_mode() -> int:
    """The mode of a new file for others, by the umask; never one that everybody may write."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o664 & ~mask


def missing_folders(folder: str) -> list[str]:
    """The folder and those above it that do not exist, the deepest first."""
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return missing


def make_parent_folders(path: str, mode: int) -> list[str]:
    """Make the folders that a file needs, private if its mode is; returns them, deepest first."""
    if real(path) != path:
        raise Changed(path)
    folder = os.path.dirname(path)
    try:
        return make_folders(folder, mode)
    except OSError as error:
        raise cannot_write(folder, error) from None


def remove_folders(folders: Iterable[str]) -> list[str]:
    """Remove the empty folders, in this order; returns those still to remove after a failure."""
    remaining: list[str] = []
    for folder in folders:
        try:
            os.rmdir(folder)
        except OSError as error:
            # The folders after one that could not be removed are tried again together with it.
            if remaining or error.errno not in _NOTHING_TO_REMOVE:
                remaining.append(folder)
    return remaining


def sync_folder(folder: str) -> None:
    """Make a rename in the folder durable, where the file system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def temporary_name(path: str) -> str:
    """A temporary name beside it, with machine and process, so that only a dead run's is swept."""
    folder, name = os.path.split(path)
    unique = f"{_MACHINE}.{os.getpid()}.{os.urandom(4).hex()}"
    start = os.fsdecode(os.fsencode(name)[:100])  # a name may have 255 bytes
    return os.path.join(folder, f".{start}.{unique}{SUFFIX}")


def sweep(folder: str) -> bool:
    """Remove what this user's killed runs on this machine left there; False where that fails."""
    import shutil  # late: most calls write nothing

    is_clean = True
    for name in names_in(folder, rf"\..*\.{_MACHINE}\.[0-9]+\.[^.]*\{SUFFIX}"):
        path, pid = os.path.join(folder, name), int(name.split(".")[-3])
        try:
            status = os.lstat(path)
            if status.st_uid != os.geteuid() or (pid != os.getpid() and _is_alive(pid)):
                continue
            if stat.S_ISDIR(status.st_mode):
                shutil.rmtree(path)
            elif stat.S_ISREG(status.st_mode):
                os.unlink(path)
        except FileNotFoundError:  # another run was faster
            continue
        except OSError:
            is_clean = False
    return is_clean


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True


def names_in(folder: str, pattern: str = ".*") -> list[str]:
    """The names in a folder that fit a pattern, sorted; none where it cannot be read."""
    with contextlib.suppress(OSError):
        return sorted(name for name in os.listdir(folder) if re.fullmatch(pattern, name, re.DOTALL))
    return []


def private_folder(purpose: str, state: str) -> contextlib.AbstractContextManager[str]:
    """A new private folder of the caller, removed at the end with its content.

    It lies in the system's folder for temporary files, or in the state folder where another user
    could change that one, as TMPDIR may name such a folder.
    """
    import tempfile  # late: it takes long, and few calls need it

    usual = os.path.abspath(tempfile.gettempdir())
    return folder_in(state if owners.find_fault(usual) else usual, purpose)


@contextlib.contextmanager
def folder_in(place: str, purpose: str) -> Iterator[str]:
    """The same in this folder; refuses it where another user could change it (`unsafe_path`)."""
    import tempfile  # late, too

    owners.require_safe(place)
    try:
        if not os.path.isdir(place):
            make_folders(place, PRIVATE)
        start = f".{purpose}.{_MACHINE}.{os.getpid()}."
        folder = tempfile.TemporaryDirectory(SUFFIX, start, place, ignore_cleanup_errors=True)
    except OSError as error:
        raise cannot_write(place, error) from None
    with folder as path:
        yield path


KEEP = 10
KEEP_SECONDS = 30 * 24 * 3600  # after an uninstall
_BACKUP_NAME = r"(first|[0-9]+)-[0-9a-f]{64}"  # not that of its record
_PATH_FILE = "path"  # the file in a backup folder that names the settings file
_RECORD_SUFFIX = ".page"


class Backup(NamedTuple):
    """The bytes of a settings file at some time before one of our writes."""

    at: float  # seconds since the epoch
    data: bytes
    first: bool  # those before our first write
    page: bytes | None = None  # the ledger's record then; None: nothing was ours, or it is not kept


def backup_folder(folders: Folders, path: str) -> str:
    """Where the backups of one settings file lie."""
    name = digest(os.fsencode(folders.shorten(path)))[:16]
    return os.path.join(folders.state, "backups", name)


def backup_folders(state: str) -> list[str]:
    """The folders of all settings files that have backups."""
    folder = os.path.join(state, "backups")
    return [os.path.join(folder, name) for name in names_in(folder)]


def read_backups(folders: Folders, path: str) -> dict[int, Backup]:
    """The backups of a settings file: 1 is from before our first write, then from old to new."""
    folder, found = backup_folder(folders, path), []
    for name in names_in(folder, _BACKUP_NAME):
        file, (stamp, _, sha) = os.path.join(folder, name), name.partition("-")
        data = read(file).data
        if data is not None and digest(data) == sha:
            is_first = stamp == "first"
            at = os.stat(file).st_mtime if is_first else int(stamp) / 1e9
            found.append(Backup(at, data, is_first, read(file + _RECORD_SUFFIX).data))
    first = next((backup for backup in found if backup.first), None)
    others = [one for one in found if not (first and one.data == first.data)]
    return {**({1: first} if first else {}), **dict(enumerate(others, 2))}


def list_backed_up(folders: Folders) -> list[str]:
    """The settings files that have backups."""
    paths = []
    for folder in backup_folders(folders.state):
        data = read_or_none(os.path.join(folder, _PATH_FILE))
        if data:
            paths.append(folders.resolve(os.fsdecode(data.removesuffix(b"\n"))))
    return sorted(paths)


def find_backup(state: str, sha: str) -> bytes | None:
    """The bytes of a backup with this SHA-256, at any path that its file had."""
    for folder in backup_folders(state):
        for name in names_in(folder, rf"(first|[0-9]+)-{re.escape(sha)}"):
            data = read_or_none(os.path.join(folder, name))
            if data is not None and digest(data) == sha:
                return data
    return None


def back_up(
    folders: Folders, path: str, data: bytes, *, first: bool, record: bytes | None = None
) -> None:
    """Keep the bytes of a settings file and its record; `first`: as what uninstall gives back."""
    folder = backup_folder(folders, path)
    names = names_in(folder, _BACKUP_NAME)
    numbered = [name for name in names if name[:20].isdecimal()]
    newest = int(numbered[-1][:20]) if numbered else 0  # later than now where the clock was reset
    sha, superseded = digest(data), numbered[: 1 - KEEP]
    name = f"{max(time.time_ns(), newest + 1):020d}-{sha}"
    contents = {_PATH_FILE: os.fsencode(folders.shorten(path)) + b"\n"}
    if first:
        contents[f"first-{sha}"] = data
        superseded += [one for one in names if one.startswith("first-") and sha not in one]
    contents[name] = data
    if record is not None:
        contents[name + _RECORD_SUFFIX] = record
    for each, its_data in contents.items():
        write_own(os.path.join(folder, each), its_data)
    _remove_files(folder, superseded)


def remove_expired(
    folders: Folders, installed: Iterable[str], ended: Iterable[str], needed: Iterable[str]
) -> None:
    """Remove the backups of files without a pack, a month after the last use of them.

    It starts now where the last pack has just left. Those with a `needed` SHA-256 stay, wherever
    links have moved their file since.
    """
    for path in ended:
        with contextlib.suppress(OSError):
            os.utime(os.path.join(backup_folder(folders, path), _PATH_FILE))
    needed_names = {f"first-{sha}" for sha in needed}
    used = {backup_folder(folders, path) for path in installed}
    for folder in backup_folders(folders.state):
        with contextlib.suppress(OSError):
            if folder in used:
                continue
            names = os.listdir(folder)
            times = [os.stat(os.path.join(folder, name)).st_mtime for name in names]
            is_expired = time.time() - max(times, default=0.0) > KEEP_SECONDS  # or it is empty
            if needed_names.isdisjoint(names) and is_expired:
                _remove_files(folder, names)
                os.rmdir(folder)


def _remove_files(folder: str, names: Iterable[str]) -> None:
    """Remove these files, and a record before its backup."""
    for name in names:
        for file in (name + _RECORD_SUFFIX, name):
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, file))
