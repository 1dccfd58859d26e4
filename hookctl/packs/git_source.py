"""Packs from git: one commit is fetched, the pack in it is read and checked."""

from __future__ import annotations

import os

from hookctl.errors import HookctlError, usage_error
from hookctl.model import LIMIT
from hookctl.packs.model import Pack
from hookctl.packs.pack import Unfit, choose_manifest, parse
from hookctl.system.fetch import Address, Commit, Tell, TreeEntry, fetched, parse_address
from hookctl.system.folders import Folders


def load_from_git(text: str, folders: Folders, tell: Tell) -> Pack:
    """The pack at a git address as it is there now, with the bytes of its files."""
    address = parse_address(text)
    with fetched(address, folders, tell) as commit:
        path, entry = _find_manifest(address, commit)
        folder, where = os.path.dirname(path), f"{address.text}:{path}"

        def read_file(name: str) -> tuple[bytes, bool]:
            path = os.path.join(folder, name)
            file = commit.find(path)
            if file is None:
                raise Unfit("does not exist")
            return _read(commit, file), file.mode == "100755"

        try:
            data = _read(commit, entry)
        except Unfit as problem:
            hint = "Put a file there."
            raise HookctlError("bad_pack", f"this {problem}", path=where, hint=hint) from None
        pack = parse(data, where, read_file)
        return pack._replace(source=address.text, commit=commit.id)


def _find_manifest(address: Address, commit: Commit) -> tuple[str, TreeEntry]:
    """The pack's file in the commit, by its path there."""
    folder = address.folder.removesuffix("/")
    if folder:
        entry = commit.find(folder)
        if entry is None or not (entry.is_folder or entry.is_file):
            message = f"{folder} is no folder or file of the repository"
            hint = "Give the path of a folder or a pack file in it, no link on the way."
            raise usage_error(message, hint, address.text)
        if entry.is_file:
            return folder, entry
    entries = {entry.name: entry for entry in commit.list_folder(folder)}
    name = choose_manifest(address.text, entries)
    return os.path.join(folder, name), entries[name]


def _read(commit: Commit, entry: TreeEntry) -> bytes:
    """The bytes of a regular file in a commit."""
    if not entry.is_file:
        raise Unfit("is a folder" if entry.is_folder else "is a link or a submodule")
    if entry.size > LIMIT:
        raise Unfit("is larger than 16 MiB")
    return commit.read(entry)
