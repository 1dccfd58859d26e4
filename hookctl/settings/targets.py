"""Where a pack goes: the settings file of one host and scope, and the folder that the pack's own files lie in."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from hookctl.documents import Document, formats
from hookctl.errors import USAGE, HookctlError
from hookctl.hosts import SCOPES as SCOPES
from hookctl.hosts import Host, settings_path, shapes, variants
from hookctl.model import Record
from hookctl.system import files
from hookctl.system.folders import Folders

OWN = ".hookctl"  # the folder of ours in a project
GUARD = "guard"

Read = Callable[
    [str, str], tuple[files.Snapshot, Document]
]  # a settings file by its path and format


class Target:
    """A settings file that a pack is installed in; a value, which nobody changes."""

    def __init__(self, host: Host, scope: str, path: str, project: str = "") -> None:
        self.host = host
        self.scope = scope
        self.path = path  # as the host has it, links not resolved
        self.project = project  # its real path; empty at user scope
        # Whether it is in version control, for everyone who clones the project.
        self.shared = scope == "project"
        # Of a file that we make there: private, but if shared as everybody's.
        self.new_file_mode = 0o666 & ~files.umask() if self.shared else files.PRIVATE


def find(host: Host, scope: str, folders: Folders, project: str = "") -> Target:
    """The place of a host's scope; refuses one whose links lead out of its project."""
    require_scope(host, scope)
    host, path = standing(host, scope, folders.environ, project)
    if scope == "user":
        return Target(host, scope, path)
    target = Target(host, scope, path, project)
    require_inside(target.project, target.path)
    users = settings_path(host, "user", folders.environ)
    if files.real(target.path) == files.real(users):
        message = f"the {scope} settings of {project} are your user settings"
        raise HookctlError(
            "usage", message, path=users, hint="Install with --scope user.", exit_code=USAGE
        )
    return target


def require_scope(host: Host, scope: str) -> None:
    """Refuse (usage) a scope that a host has no settings file for."""
    if scope not in host.scopes:
        message, hint = (
            f"{host.title} has no {scope} settings",
            f"Its scopes: {', '.join(host.scopes)}.",
        )
        raise HookctlError("usage", message, hint=hint, exit_code=USAGE)


def read_settings(path: str, format: str) -> tuple[files.Snapshot, Document]:
    """A settings file and what it says; refuses one that cannot be read."""
    snapshot = files.read(path)
    return snapshot, formats.parse(format, snapshot.data or b"", where=path)


def standing(
    host: Host,
    scope: str,
    environ: Mapping[str, str],
    project: str = "",
    read: Read = read_settings,
) -> tuple[Host, str]:
    """The settings file of a scope that counts now, and the host in the variant that its settings stand in."""
    usual = settings_path(host, scope, environ, project)
    for where, variant in variants(host):
        path = settings_path(variant, scope, environ, project)
        if _stands(where, variant, path, usual, read):
            return variant, path
    return host, usual


def all_files(
    host: Host,
    scope: str,
    environ: Mapping[str, str],
    project: str = "",
    read: Read = read_settings,
) -> list[tuple[Host, str]]:
    """Every settings file of a scope in which the host's settings may stand, the one that counts now first."""
    now = standing(host, scope, environ, project, read)
    every = [host, *(variant for _, variant in variants(host))]
    found = {settings_path(one, scope, environ, project): one for one in reversed(every)}
    return [now, *((one, path) for path, one in found.items() if path != now[1])]


def of_file(host: Host, path: str, read: Read = read_settings) -> Host:
    """The host in the variant that a settings file stands in, by its name and what is in it."""
    for where, variant in variants(host):
        names = {os.path.basename(name) for name in variant.files.values()}
        if os.path.basename(path) in names and (
            where != "wrapped" or "hooks" in _value(variant, path, read)
        ):
            return variant
    return host


def _stands(where: str, variant: Host, path: str, usual: str, read: Read) -> bool:
    value = _value(variant, path, read)
    if where == "overlays":
        beside = _value(variant, usual, read).get("hooks")
        hidden = (
            {name for name, groups in beside.items() if groups}
            if isinstance(beside, dict)
            else set()
        )
        return os.path.lexists(path) and (hidden <= value.keys() or variant.events["stop"] in value)
    if where == "wrapped":
        return "hooks" in value
    hooks = value.get("hooks")
    registers = isinstance(hooks, dict) and any(isinstance(one, list) for one in hooks.values())
    return registers and (not os.path.lexists(usual) or bool(shapes.elements(variant.shape, value)))


def _value(host: Host, path: str, read: Read) -> dict[str, Any]:
    document = readable(path, host.format, read)
    return document.value if document and isinstance(document.value, dict) else {}


def readable(path: str, format: str, read: Read = read_settings) -> Document | None:
    """What a settings file says; None where it cannot be read: whoever edits it says why."""
    try:
        return read(path, format)[1]
    except HookctlError:
        return None


def of_page(host: Host, record: Record, path: str) -> Target:
    """The place that a page of the ledger speaks of; `path` is where its file is now."""
    host = of_file(host, path)
    project = files.real(record.project) if record.project else ""  # it may lie behind a link since
    if project:
        require_inside(project, path)
    return Target(host, record.scope, path, project)


def top(project: str) -> str:
    """What the path of everything in a project begins with; the root of all may be one."""
    return project.rstrip("/") + "/"


def require_inside(project: str, path: str) -> None:
    """Refuse a path that a link leads out of the project: a repository could bring it (design, section 5)."""
    target = files.real(path)
    # What lies in .git is not the repository's: no clone brings it along.
    if not target.startswith(top(project)) or ".git" in target.removeprefix(top(project)).split(
        "/"
    ):
        message = f"a link leads out of the project, to {target}"
        raise HookctlError(
            "link_leaves_project", message, path=path, hint="Remove the link, or use --scope user."
        )


def read_inside(project: str, path: str) -> files.Snapshot:
    """A file in a project; refused if a link leads out of it, also one that comes this moment."""
    require_inside(project, path)
    there = files.read(path)
    require_inside(project, there.path)
    return there


def pack_folder(
    folders: Folders, target: Target, pack: str, records: Mapping[str, Record], key: str
) -> str:
    """The folder of a pack's files, one a registration; `key` is that of the settings file's own page.

    A second settings file of the same host at user scope gets a folder with its hash.
    """
    own = (GUARD,) if pack == GUARD else ("packs", pack)
    if target.scope == "project":
        inner = (*own, target.host.name) if pack == GUARD else own
        return os.path.join(target.project, OWN, *inner)
    folder = os.path.join(folders.data, *own, f"{target.host.name}-{target.scope}")
    if target.scope == "local":
        return f"{folder}-{short_hash(target.project)}"
    taken = {
        page.folder
        for path, record in records.items()
        if path != key
        for page in record.packs.values()
    }
    return f"{folder}-{short_hash(key)}" if folder in taken else folder


def short_hash(path: str) -> str:
    """What stands for a path in a folder's name."""
    return files.digest(os.fsencode(path))[:16]


def in_sh(target: Target, path: str) -> str:
    """A file or folder of ours as it stands in a command; at project scope it must hold in every clone."""
    if not target.shared:
        if "\n" in path or any("\ud800" <= char <= "\udfff" for char in path):
            message, hint = (
                "no command can name this path",
                "Let HOOKCTL_DATA_DIR be one in UTF-8 and on one line.",
            )
            raise HookctlError("usage", message, path=path, hint=hint, exit_code=USAGE)
        return shlex.quote(path)
    return f"{target.host.environment.in_command}/{os.path.relpath(path, target.project)}"
