"""Where a pack goes: the settings file of a host and scope, and the folder of the pack's files."""

import os
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from hookctl.documents import Document, formats
from hookctl.errors import HookctlError, usage_error
from hookctl.hosts import RULES, Host, rules_beside, rules_layout, settings_path, shapes
from hookctl.model import Record
from hookctl.system import files
from hookctl.system.folders import Folders
from hookctl.system.packages import CONFIGS, HOOK, PACKAGES, PACKS
from hookctl.system.project import find_repository, require_own

OWN = ".hookctl"  # our folder in a project
GUARD = "guard"

# Reads a settings file by its path and format.
Read = Callable[[str, str], tuple[files.Snapshot, Document]]


class Target:
    """A settings file that a pack is installed in; never changed."""

    def __init__(self, host: Host, scope: str, path: str, project: str = "") -> None:
        self.host = host
        self.scope = scope
        self.path = path  # as the host has it, links not resolved
        self.project = project  # its real path; empty at user scope
        # Whether it is in version control, for everyone who clones the project.
        self.shared = scope == "project"
        self.new_file_mode = files.public_mode() if self.shared else files.PRIVATE


def find(host: Host, scope: str, folders: Folders, project: str = "") -> Target:
    """The target of a host's scope; refuses one whose links lead out of its project."""
    require_scope(host, scope)
    host, path = active_file(host, scope, folders.environ, project)
    target = Target(host, scope, path, project)
    if scope != "user":
        require_inside(project, path)
        require_own_file(target, folders.environ)
    return target


def require_own_file(target: Target, environ: Mapping[str, str]) -> None:
    """Refuse (usage) settings that are those of another scope too: by a link, or in a home."""
    for other in target.host.scopes:
        path = settings_path(target.host, other, environ, target.project)
        if other != target.scope and files.is_same(target.path, path):
            message = (
                f"the {target.scope} settings of {target.project} are the {other} settings too"
            )
            hint = f"Use --scope {other}, or give each a file of its own."
            raise usage_error(message, hint, path)


def require_scope(host: Host, scope: str) -> None:
    """Refuse (usage) a scope that a host has no settings file for."""
    if scope not in host.scopes:
        hint = f"Use one of its scopes: {', '.join(host.scopes)}."
        raise usage_error(f"{host.title} has no {scope} settings", hint)


def read_settings(path: str, format: str) -> tuple[files.Snapshot, Document]:
    """A settings file and its document; refuses one that cannot be read."""
    snapshot = files.read_settled(path)
    return snapshot, formats.parse(format, snapshot.data or b"", where=path)


def active_file(
    host: Host,
    scope: str,
    environ: Mapping[str, str],
    project: str = "",
    read: Read = read_settings,
) -> tuple[Host, str]:
    """The active settings file of a scope, and the host variant that matches its layout."""
    usual = settings_path(host, scope, environ, project)
    for variant in host.variants:
        path = settings_path(variant, scope, environ, project)
        if _is_active(variant, path, usual, read):
            return variant, path
    return host, usual


def all_files(
    host: Host,
    scope: str,
    environ: Mapping[str, str],
    project: str = "",
    read: Read = read_settings,
) -> list[tuple[Host, str]]:
    """Every possible settings file of a scope with its host variant, the active one first."""
    layout, active = active_file(host, scope, environ, project, read)
    layouts = reversed(host.layouts())
    by_path = {settings_path(other, scope, environ, project): other for other in layouts}
    others = [(other, path) for path, other in by_path.items() if path != active]
    return [(layout, active), *others]


def variant_of_file(host: Host, path: str, read: Read = read_settings) -> Host:
    """The host variant of a settings file, by the file's name and layout."""
    for variant in host.variants:
        if os.path.basename(path) not in map(os.path.basename, variant.files.values()):
            continue
        if variant.where != "wrapped" or "hooks" in _read_values(variant, path, read):
            return variant
    return host


def _is_active(variant: Host, path: str, usual: str, read: Read) -> bool:
    """Whether the host takes its hooks from the variant's file and not from the usual one."""
    values = _read_values(variant, path, read)
    if variant.where == "wrapped":
        return "hooks" in values
    if variant.where == "overlays":
        registered = _read_values(variant, usual, read).get("hooks")
        by_event = registered if isinstance(registered, dict) else {}
        overlaid = {event for event, groups in by_event.items() if groups}
        covers_all = overlaid <= values.keys() or variant.events["stop"] in values
        return os.path.lexists(path) and covers_all
    hooks = values.get("hooks")
    if not isinstance(hooks, dict) or not any(
        isinstance(groups, list) for groups in hooks.values()
    ):
        return False
    return not os.path.lexists(usual) or bool(shapes.elements(variant.shape, values))


def _read_values(host: Host, path: str, read: Read) -> dict[str, Any]:
    document = readable(path, host.format, read)
    return document.value if document and isinstance(document.value, dict) else {}


def readable(path: str, format: str, read: Read = read_settings) -> Document | None:
    """The document of a settings file; None if it cannot be read: an edit reports the error."""
    try:
        return read(path, format)[1]
    except HookctlError:
        return None


def variant_of_record(host: Host, record: Record, path: str) -> Host:
    """The host as the file of a record has it."""
    return rules_layout(host) if record.format == RULES else variant_of_file(host, path)


def target_of_record(host: Host, record: Record, path: str) -> Target:
    """The target of a record; `path` is where its file is now."""
    variant = variant_of_record(host, record, path)
    project = ""
    if record.project:
        project = files.real(record.project)  # it may be behind a link by now
        require_own(project)
        require_inside(project, path)
    return Target(variant, record.scope, path, project)


def rules_target(target: Target) -> Target | None:
    """The file with instructions for the agent of a target's scope; None where none is known."""
    path = rules_beside(target.host, target.scope, target.path, target.project)
    return Target(rules_layout(target.host), target.scope, path, target.project) if path else None


def top(project: str) -> str:
    """The prefix of every path in a project; the project may be the root folder."""
    return project.rstrip("/") + "/"


def require_inside(project: str, path: str) -> None:
    """Refuse a path that a link leads out of the project: a repository could bring the link."""
    real, above = files.real(path), top(project)
    # The content of .git does not belong to the repository: no clone contains it.
    if not real.startswith(above) or ".git" in real.removeprefix(above).split("/"):
        message = f"a link leads out of the project, to {real}"
        hint = "Remove the link, or use --scope user."
        raise HookctlError("link_leaves_project", message, path=path, hint=hint)
    own = f"{above}{OWN}"
    if real == path or not path.startswith(f"{own}/"):
        return
    is_linked = real != files.real(own) + path.removeprefix(own)
    # No program of ours is a link, nor a folder of them, and no configuration without the program
    # that reads it.
    room, _, rest = path.removeprefix(f"{own}/").partition("/")
    is_config = room == CONFIGS and rest.endswith(".json") and "/" not in rest
    is_ours = is_config and os.path.isfile(os.path.join(own, HOOK))
    if is_linked and room in (HOOK, CONFIGS, PACKS, PACKAGES) and not is_ours:
        # A repository could bring one from our folder of programs to its own sources.
        message = f"a link inside {OWN} points to other files: {real}"
        raise HookctlError("link_leaves_project", message, path=path, hint="Remove the link.")


def read_inside(project: str, path: str) -> files.Snapshot:
    """A file in a project; refused if a link leads out of it, even one that is made just now."""
    require_inside(project, path)
    snapshot = files.read(path)
    require_inside(project, snapshot.path)
    return snapshot


def own_top(folders: Folders, target: Target) -> str:
    """The folder that all of hookctl's files for a target lie in; others may have made it."""
    return os.path.join(target.project, OWN) if target.shared else folders.data


def pack_folder(folders: Folders, target: Target, pack: str) -> str:
    """The folder of a pack's files, which every host and scope of its data folder or project has.

    The guard's has the configurations.
    """
    inside = (CONFIGS,) if pack == GUARD else (PACKS, pack)
    return os.path.join(own_top(folders, target), *inside)


def config_name(target: Target, records: Mapping[str, Record], key: str) -> str:
    """The name of the guard's configuration for a target; `key` is that of the target's own record.

    A second settings file of the same host at user scope gets one with the hash of its path.
    """
    name = target.host.name
    if target.scope == "local":
        return f"{name}-local-{short_hash(target.project)}.json"
    others = [record.packs for other, record in records.items() if other != key]
    taken = [file for packs in others if GUARD in packs for file in packs[GUARD].files]
    is_taken = target.scope == "user" and f"{name}.json" in taken
    return f"{name}-{short_hash(key)}.json" if is_taken else f"{name}.json"


def short_hash(path: str) -> str:
    """A path's short form for the name of a folder."""
    return files.digest(os.fsencode(path))[:16]


def repository_above(target: Target) -> str:
    """The repository that the host has for the project, where it is another folder; or ''."""
    if not target.shared or not target.host.environment.project_is_repository:
        return ""
    repository = find_repository(target.project)
    return "" if repository == target.project else repository


def in_sh(target: Target, path: str) -> str:
    """The path of one of our files as shell text; at project scope it must work in every clone."""
    if target.shared:
        return f"{target.host.environment.in_command}/{os.path.relpath(path, target.project)}"
    if "\n" in path or any("\ud800" <= char <= "\udfff" for char in path):
        hint = "Set HOOKCTL_DATA_DIR to a path in UTF-8 and on one line."
        raise usage_error("no command can name this path", hint, path)
    return quote(target.host, path)


def quote(host: Host, path: str) -> str:
    """A path quoted for sh, with no variable in it for a host that expands them in its settings."""
    quoted = shlex.quote(path)
    return quoted.replace("$", "$''") if host.registration.expands else quoted
