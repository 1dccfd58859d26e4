"""Where a pack goes: the settings file of one host and scope, and the folder that the pack's own files lie in."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from typing import NamedTuple

from hookctl import files
from hookctl.errors import USAGE, HookctlError
from hookctl.folders import Folders
from hookctl.hosts import Host, settings_path
from hookctl.model import Record

SCOPES = ("user", "project", "local")
OWN = ".hookctl"  # the folder of ours in a project
GUARD = "guard"


class Place(NamedTuple):
    """A settings file that a pack is installed in."""

    host: Host
    scope: str
    path: str  # as the host has it, links not resolved
    project: str = ""  # its real path; empty at user scope

    @property
    def shared(self) -> bool:
        """Whether it is in version control, for everyone who clones the project."""
        return self.scope == "project"


def find(host: Host, scope: str, folders: Folders, project: str = "") -> Place:
    """The place of a host's scope; refuses one whose links lead out of its project."""
    if scope == "user":
        return Place(host, scope, settings_path(host, scope, folders.environ))
    place = Place(host, scope, settings_path(host, scope, folders.environ, project), project)
    require_inside(place.project, place.path)
    users = settings_path(host, "user", folders.environ)
    if files.real(place.path) == files.real(users):
        message = f"the {scope} settings of {project} are your user settings"
        raise HookctlError("usage", message, path=users, hint="Install with --scope user.", exit_code=USAGE)
    return place


def of_page(host: Host, record: Record, path: str) -> Place:
    """The place that a page of the ledger speaks of; `path` is where its file is now."""
    project = files.real(record.project) if record.project else ""  # it may lie behind a link since
    if project:
        require_inside(project, path)
    return Place(host, record.scope, path, project)


def top(project: str) -> str:
    """What the path of everything in a project begins with; the root of all may be one."""
    return project.rstrip("/") + "/"


def require_inside(project: str, path: str) -> None:
    """Refuse a path that a link leads out of the project: a repository could bring it (design, section 5)."""
    target = files.real(path)
    # What lies in .git is not the repository's: no clone brings it along.
    if not target.startswith(top(project)) or ".git" in target.removeprefix(top(project)).split("/"):
        message = f"a link leads out of the project, to {target}"
        raise HookctlError("link_leaves_project", message, path=path, hint="Remove the link, or use --scope user.")


def read_inside(project: str, path: str) -> files.Snapshot:
    """A file in a project; refused if a link leads out of it, also one that comes this moment."""
    require_inside(project, path)
    there = files.read(path)
    require_inside(project, there.path)
    return there


def pack_folder(folders: Folders, place: Place, pack: str, records: Mapping[str, Record], key: str) -> str:
    """The folder of a pack's files, one a registration; `key` is that of the settings file's own page.

    A second settings file of the same host at user scope gets a folder with its hash.
    """
    own = (GUARD,) if pack == GUARD else ("packs", pack)
    if place.scope == "project":
        inner = (*own, place.host.name) if pack == GUARD else own
        return os.path.join(place.project, OWN, *inner)
    folder = os.path.join(folders.data, *own, f"{place.host.name}-{place.scope}")
    if place.scope == "local":
        return f"{folder}-{short_hash(place.project)}"
    taken = {page.folder for path, record in records.items() if path != key for page in record.packs.values()}
    return f"{folder}-{short_hash(key)}" if folder in taken else folder


def short_hash(path: str) -> str:
    """What stands for a path in a folder's name."""
    return files.digest(os.fsencode(path))[:16]


def in_sh(place: Place, path: str) -> str:
    """A file or folder of ours as it stands in a command; at project scope it must hold in every clone."""
    if not place.shared:
        if "\n" in path or any("\ud800" <= char <= "\udfff" for char in path):
            message, hint = "no command can name this path", "Let HOOKCTL_DATA_DIR be one in UTF-8 and on one line."
            raise HookctlError("usage", message, path=path, hint=hint, exit_code=USAGE)
        return shlex.quote(path)
    variable = place.host.data["environment"]["project"]
    return f'"${variable}"/{os.path.relpath(path, place.project)}'


def new_file_mode(place: Place) -> int:
    """The mode of a file that we make there: private, but at project scope as everybody's."""
    return 0o666 & ~files.umask() if place.shared else files.PRIVATE

