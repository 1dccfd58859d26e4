"""The settings in effect: which files a host merges, which one wins, and what the guard gets.

That is its hook's variables and the host's cap; see `switches` for what keeps hooks from running.
"""

import glob
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hookctl.documents import MISSING, Document
from hookctl.errors import HookctlError
from hookctl.hosts import Host, config_of, load, loading, managed_layout, shapes
from hookctl.model import HookEntry, Path
from hookctl.settings.targets import (
    GUARD,
    Read,
    active_file,
    all_files,
    read_settings,
    variant_of_file,
)
from hookctl.system import files
from hookctl.system.folders import Folders

STOP = f"{GUARD}/stop"  # the hook that counts


class Source(NamedTuple):
    """A settings file of some scope that the host reads."""

    scope: str
    path: str
    document: Document
    host: Host  # in the variant of this file


def sources(
    folders: Folders, host: Host, user: str, start: str, read: Read = read_settings
) -> list[Source]:
    """The files that the host reads when started in a folder, the winning ones first.

    `user` is the path of the user's settings file.
    """
    readable_files = []
    for scope in host.scope_rules.precedence:
        for variant, path in find_files(folders, host, scope, user, start, read):
            try:
                snapshot, document = read(path, variant.format)
                # In HOME, the project's settings file is the user's own.
                is_users = scope != "user" and snapshot.path == files.real(user)
            except HookctlError:
                continue
            if is_users or snapshot.data is None or loading.refusal(variant, document):
                continue
            if isinstance(document.value, dict):
                readable_files.append(Source(scope, path, document, variant))
    return readable_files[:1] if host.scope_rules.first_only else readable_files


def find_files(
    folders: Folders, host: Host, scope: str, user: str, start: str, read: Read
) -> list[tuple[Host, str]]:
    """The settings files of a scope, each with the host's variant that matches its layout."""
    if scope == "managed":
        paths = []  # of an administrator on this platform, the winning ones first
        for pattern in reversed(host.managed_files.get(sys.platform, [])):
            paths += reversed(_find_matching(os.path.dirname(pattern), os.path.basename(pattern)))
        return [(managed_layout(host, path), path) for path in paths]
    if scope not in host.scopes:
        return []
    variant, path = variant_of_file(host, user, read), user
    if scope != "user":
        variant, path = active_file(host, scope, folders.environ, start, read)
    found = [(variant, path)]
    if variant.variants:
        candidates = all_files(load(host.name), scope, folders.environ, start, read)
        # It reads them together.
        merges = any(layout.where != "wrapped" for layout in variant.variants)
        if merges and path in [other for _, other in candidates]:
            found += [(layout, other) for layout, other in candidates if other != path]
    if variant.files_beside:
        for other in _find_matching(os.path.dirname(path), variant.files_beside):
            if other != path and os.path.basename(other) not in variant.not_beside:
                found.append((variant, other))
    for pattern in host.other_files.get(scope, ()):  # they may have comments, too
        other = pattern.format(config=config_of(host, user), project=start.rstrip("/"))
        layout = host.beside or managed_layout(host, other)
        found.append((layout._replace(comments=True), other))
    return found


def _find_matching(folder: str, pattern: str) -> list[str]:
    return sorted(glob.glob(os.path.join(glob.escape(folder), pattern)))


def text(value: Any) -> str:
    """An env value as the host passes it on."""
    return value if isinstance(value, str) else json.dumps(value)


# What the guard gets


class Value(NamedTuple):
    """A setting as it is in effect, and the file that it comes from, if any."""

    text: str
    source: Source | None
    is_set: bool

    @property
    def path(self) -> str:
        return self.source.path if self.source else ""


def hook_of(source: Source) -> HookEntry | None:
    """The guard's hook on the stop event in a settings file."""
    hooks = shapes.elements(source.host.shape, source.document.value)
    return next((hook for hook in hooks if hook.id == STOP), None)


def env_path(source: Source) -> Path:
    """The map in a settings file that is the environment of the guard's hook; () for none."""
    if not source.host.env_field:
        return source.host.env_path
    hook = hook_of(source)
    return (*hook.path, source.host.env_field) if hook else ()


def variable(found: Sequence[Source], environ: Mapping[str, str], name: str) -> Value:
    """A variable as the hook gets it: from the first of these files that has it, or the shell."""
    for source in found:
        path = env_path(source)
        value = source.document.get((*path, name)) if path else MISSING
        if value is not MISSING:
            return Value(text(value), source, True)
    return Value(environ.get(name, ""), None, name in environ)


def variables(found: Sequence[Source]) -> dict[str, str]:
    """Every variable that settings files give to the hook."""
    texts: dict[str, str] = {}
    for source in reversed(found):
        path = env_path(source)
        values = source.document.get(path) if path else {}
        for name, value in values.items() if isinstance(values, dict) else ():
            texts[name] = text(value)
    return texts


def cap(host: Host, found: Sequence[Source], environ: Mapping[str, str]) -> Value:
    """The host's cap: from its variable, or else its setting, or the field of our hook."""
    if host.cap_key:
        value = variable(found, environ, host.cap_key)
        if value.is_set or "setting" not in host.cap:
            return value
    setting = tuple(host.cap.get("setting", ()))
    for source in found if setting else ():
        said = source.document.get(setting)
        if said is not MISSING:
            return Value(text(said), source, True)
    field = host.cap.get("field", "")
    for source in found if field else ():
        hook = hook_of(source)
        if hook:  # our first one
            is_set = field in hook.fields
            return Value(json.dumps(hook.fields[field]) if is_set else "", source, is_set)
    return Value("", None, False)
