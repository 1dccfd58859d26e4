"""Backups: the bytes of a settings file before our first write, and before each of the last ten.

Beside each of the ten lies the ledger's record of that moment, if there was one: it says what in
those bytes is ours. The name of a backup is `first` or its time, and its SHA-256.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Container, Iterable
from typing import NamedTuple

from hookctl.errors import HookctlError
from hookctl.system import files
from hookctl.system.folders import Folders

KEEP = 10
KEEP_SECONDS = 30 * 24 * 3600  # after an uninstall
_BACKUP_NAME = r"(first|[0-9]+)-[0-9a-f]{64}"
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
    name = files.digest(os.fsencode(folders.shorten(path)))[:16]
    return os.path.join(folders.state, "backups", name)


def backup_folders(state: str) -> list[str]:
    """The folders of all settings files that have backups."""
    folder = os.path.join(state, "backups")
    with contextlib.suppress(OSError):
        return [os.path.join(folder, name) for name in os.listdir(folder)]
    return []


def read_backups(folders: Folders, path: str) -> list[Backup]:
    """The backups of a settings file: the one before our first write, then from old to new."""
    folder = backup_folder(folders, path)
    found = [_read_backup(os.path.join(folder, name)) for name in sorted(_backup_names(folder))]
    firsts = [backup for backup in found if backup and backup.first]
    first_data = {backup.data for backup in firsts}
    return [*firsts, *(one for one in found if one and one.data not in first_data)]


def _read_backup(file: str) -> Backup | None:
    """The backup in a file; None where its bytes do not have the SHA-256 of its name."""
    stamp, _, sha = os.path.basename(file).partition("-")
    data = files.read(file).data
    if data is None or files.digest(data) != sha:
        return None
    if stamp == "first":
        return Backup(os.stat(file).st_mtime, data, True)
    return Backup(int(stamp) / 1e9, data, False, files.read(file + _RECORD_SUFFIX).data)


def number_backups(backups: list[Backup]) -> dict[int, Backup]:
    """Backups by their number in `hookctl restore`; 1 is always the one before our first write."""
    has_first = bool(backups) and backups[0].first
    return dict(enumerate(backups, 1 if has_first else 2))


def list_backed_up(folders: Folders) -> list[str]:
    """The settings files that have backups."""
    paths = []
    for folder in backup_folders(folders.state):
        with contextlib.suppress(HookctlError):
            path = _settings_path(folders, folder)
            if path:
                paths.append(path)
    return sorted(paths)


def find_backup(state: str, sha: str) -> bytes | None:
    """The bytes of a backup with this SHA-256, at any path that its file had."""
    for folder in backup_folders(state):
        with contextlib.suppress(OSError, HookctlError):
            for name in sorted(_backup_names(folder), reverse=True):  # the first one first
                if name.endswith(f"-{sha}"):
                    data = files.read(os.path.join(folder, name)).data
                    if files.digest(data) == sha:
                        return data
    return None


def back_up(
    folders: Folders, path: str, data: bytes, *, first: bool, record: bytes | None = None
) -> None:
    """Keep the bytes of a settings file and its record; `first`: as what uninstall gives back."""
    folder = backup_folder(folders, path)
    names = sorted(_backup_names(folder))
    numbered = [name for name in names if name[:20].isdecimal()]
    newest = int(numbered[-1][:20]) if numbered else 0  # later than now where the clock was reset
    sha = files.digest(data)
    name = f"{max(time.time_ns(), newest + 1):020d}-{sha}"
    contents = {_PATH_FILE: os.fsencode(folders.shorten(path)) + b"\n"}
    if first:
        contents[f"first-{sha}"] = data
    contents[name] = data
    if record is not None:
        contents[name + _RECORD_SUFFIX] = record
    files.write_all(folder, contents)
    if first:
        superseded = {name for name in names if name.startswith("first-")} - {f"first-{sha}"}
        _remove_files(folder, superseded)
    _remove_files(folder, numbered[: 1 - KEEP])


def restart_expiry(folders: Folders, path: str) -> None:
    """Let the month of a file's backups start now: nothing is installed in it any more."""
    with contextlib.suppress(OSError):
        os.utime(os.path.join(backup_folder(folders, path), _PATH_FILE))


def remove_expired(folders: Folders, installed: Container[str], needed: Iterable[str]) -> None:
    """Remove the backups of files without a pack, a month after the last use of them.

    Those with a `needed` SHA-256 stay, wherever links have moved their file since.
    """
    needed_names = {f"first-{sha}" for sha in needed}
    for folder in backup_folders(folders.state):
        with contextlib.suppress(OSError, HookctlError):
            if _settings_path(folders, folder) in installed:
                continue
            names = os.listdir(folder)
            times = [os.stat(os.path.join(folder, name)).st_mtime for name in names]
            is_expired = time.time() - max(times, default=0.0) > KEEP_SECONDS  # or it is empty
            if needed_names.isdisjoint(names) and is_expired:
                _remove_files(folder, names)
                os.rmdir(folder)


def _settings_path(folders: Folders, folder: str) -> str:
    """The settings file that the backups in a folder are of; empty where that is not known."""
    data = files.read(os.path.join(folder, _PATH_FILE)).data or b""
    return folders.resolve(os.fsdecode(data.removesuffix(b"\n")))


def _backup_names(folder: str) -> list[str]:
    """The names of the backups in a folder, without their records; none where it is not there."""
    with contextlib.suppress(FileNotFoundError):
        return [name for name in os.listdir(folder) if re.fullmatch(_BACKUP_NAME, name)]
    return []


def _remove_files(folder: str, names: Iterable[str]) -> None:
    """Remove these files, and a record before its backup.

    After a kill in between, the backup is like those of older versions, which have no record.
    """
    for name in names:
        for file in (name + _RECORD_SUFFIX, name):
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, file))
