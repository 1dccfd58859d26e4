"""Packs from git: one commit is fetched, the pack is read and checked, and nothing stays on disk.

The files that the pack names are put into a private folder and checked there as those of a pack by
path; links, submodules and devices never get there. The pack then holds their bytes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import NamedTuple

from hookctl.errors import USAGE, HookctlError
from hookctl.model import LIMIT
from hookctl.packs.model import Pack
from hookctl.packs.pack import (
    MANIFEST,
    MANIFEST_LIMIT,
    TOTAL_LIMIT,
    file_error,
    find_pack_file,
    list_files,
    load_file,
    read_files,
)
from hookctl.system.fetch import Commit, Tell, TreeEntry, fetched
from hookctl.system.folders import Folders
from hookctl.system.git_address import Address, parse

_MOST_MANIFESTS = 50  # that are looked into for a [pack] table
_TOML_NAME = r"[A-Za-z0-9._-]+\.toml"
_FILE_NAME = r"(?:[A-Za-z0-9._-]+/)*[A-Za-z0-9._-]+"


class _Place(NamedTuple):
    """The folder of a pack: in the commit, and its copy on the disk."""

    address: Address
    commit: Commit
    folder: str  # '' for the top of the repository

    def path_in_repository(self, name: str) -> str:
        """The path of a file of the pack in the commit."""
        return f"{self.folder}/{name}" if self.folder else name

    def error(self, name: str, problem: str, hint: str) -> HookctlError:
        """A fault of something in the commit."""
        path = f"{self.address.text}:{self.path_in_repository(name)}"
        return HookctlError("bad_pack", f"this {problem}", path=path, hint=hint)


def load_from_git(text: str, folders: Folders, tell: Tell) -> Pack:
    """The pack at a git address as it is there now, with the bytes of its files.

    Raises `usage` for what is no address or no pack, `git_missing`, `fetch_failed` and `bad_pack`.
    """
    address = parse(text)
    with fetched(address, folders, tell) as commit:
        place, names = _find_manifests(address, commit)
        try:
            return _read_pack(place, names)
        except HookctlError as error:
            raise _with_address(error, place) from None


def _find_manifests(address: Address, commit: Commit) -> tuple[_Place, list[TreeEntry]]:
    """The pack's folder in the commit, and the files of it that may be the pack's."""
    folder = address.folder.removesuffix("/")
    if folder:
        entry = commit.find([folder]).get(folder)
        if entry is None or not (entry.is_folder or entry.is_file):
            message = f"the repository has no folder {folder}"
            if entry is not None:
                message = f"{folder} is a link or a submodule"
            hint = "Give the path of a folder or a pack file in it, no link on the way."
            raise HookctlError("usage", message, path=address.text, hint=hint, exit_code=USAGE)
        if entry.is_file:
            above, _, name = folder.rpartition("/")
            return _Place(address, commit, above), [entry._replace(name=name)]
    place = _Place(address, commit, folder)
    entries = [entry for entry in commit.list_folder(folder) if entry.name.endswith(".toml")]
    for entry in entries:
        if entry.name == MANIFEST:
            return place, [entry]
    named = [entry for entry in entries if re.fullmatch(_TOML_NAME, entry.name) and entry.is_file]
    return place, named[:_MOST_MANIFESTS]


def _read_pack(place: _Place, manifests: list[TreeEntry]) -> Pack:
    """The checked pack of these files, with the bytes of all that it names."""
    written: dict[str, str] = {}
    for entry in manifests:
        _require_file(place, entry)
        if entry.size <= MANIFEST_LIMIT or len(manifests) == 1:
            _write(place, entry, entry.name, written)
    path = find_pack_file(place.commit.folder)
    _write_files(place, path, written)
    pack = load_file(path)
    contents = read_files(pack)
    return pack._replace(source=place.address.text, commit=place.commit.id, contents=contents)


def _require_file(place: _Place, entry: TreeEntry) -> None:
    if not entry.is_file:
        raise place.error(entry.name, "is a link or a submodule, not a file", "Put a file there.")
    if entry.size > LIMIT:
        raise place.error(entry.name, "is larger than 16 MiB", "Leave it out.")


def _write_files(place: _Place, path: str, written: dict[str, str]) -> None:
    """Put the files that the pack names beside its own; the checks name those that are missing."""
    names = list_files(path)
    safe = [name for name in names if _is_safe(name)]
    paths = {place.path_in_repository(name): name for name in safe}
    found = place.commit.find(list(paths))
    total = 0
    for repository_path, entry in found.items():
        name = paths[repository_path]
        problem, hint = "", "Put a regular file there."
        total += entry.size
        if entry.mode in ("120000", "160000"):
            problem = "is a link or a submodule"
        elif entry.size > LIMIT or total > TOTAL_LIMIT:
            problem, hint = "is too large", "A file has 16 MiB at most, all together have 64."
        elif twin := _find_twin(name, written):
            problem = f"differs from {twin!r} only in case"
            hint = "Give it another name: many systems have one file of both."
        if problem:
            raise file_error(path, names.index(name), problem, hint)
        if name.casefold() not in written:
            _write(place, entry, name, written)


def _find_twin(name: str, written: Mapping[str, str]) -> str:
    """What a file system that ignores case takes for the file, or for a folder of it; or ''."""
    for part in _with_folders(name):
        known = written.get(part.casefold(), part)
        if known != part:
            return known
    return ""


def _with_folders(name: str) -> list[str]:
    """A path, and those of its folders."""
    parts = name.split("/")
    return ["/".join(parts[:length]) for length in range(1, len(parts) + 1)]


def _is_safe(name: str) -> bool:
    """Whether a name leads to a place in the folder; others are refused by the pack's checks."""
    parts = {part.casefold() for part in name.split("/")}
    return bool(re.fullmatch(_FILE_NAME, name)) and {".", "..", ".git"}.isdisjoint(parts)


def _write(place: _Place, entry: TreeEntry, name: str, written: dict[str, str]) -> None:
    """Put a file, or an empty folder in its place, into the copy."""
    target = os.path.join(place.commit.folder, name)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if entry.is_folder:
        os.makedirs(target, exist_ok=True)
    else:
        place.commit.write(entry, target)
    for part in _with_folders(name):
        written[part.casefold()] = part


def _with_address(error: HookctlError, place: _Place) -> HookctlError:
    """The error of a pack by path, at the place in the repository."""
    folder = place.commit.folder
    if error.path == folder:
        error.path = place.address.text
    elif error.path.startswith(f"{folder}/"):
        name = os.path.relpath(error.path, folder)
        error.path = f"{place.address.text}:{place.path_in_repository(name)}"
    return error
