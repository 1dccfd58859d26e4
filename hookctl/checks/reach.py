"""Hooks in files that the host does not read, started in the working folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from hookctl import hosts
from hookctl.checks import Finding, Here
from hookctl.checks.registered import Hook, guards, hooks
from hookctl.checks.shadowed import hidden_by
from hookctl.errors import HookctlError
from hookctl.ledger import target_of
from hookctl.live import read_document
from hookctl.places import of_file
from hookctl.scopes import Source

_SUBFOLDERS = 100  # that are looked at


class _Unread(NamedTuple):
    """A settings file that the host passes over, and why."""

    path: str
    scope: str
    why: str
    ours_only: bool = False  # whether hooks of others there are nobody's surprise


def check(here: Here) -> Iterator[Finding]:
    """Stop hooks, and any hook of ours, that will not run although they look as if."""
    read = {target_of(source.path) for source in here.sources}
    covered = bool(guards(here))
    for file in {target_of(file.path): file for file in _unread(here)}.values():
        if target_of(file.path) not in read and os.path.isfile(file.path):
            yield from _one(here, file, covered)


def _one(here: Here, file: _Unread, covered: bool) -> Iterator[Finding]:
    try:
        host = of_file(here.host, file.path)
        document = read_document(file.path, host.format)[1]
    except HookctlError:
        return
    found = hooks(Source(file.scope, file.path, document, host))
    ours = sorted({hook.id for hook in found if hook.id})
    stops = [hook for hook in found if not hook.id and _is_stop(here, hook)]
    if ours:
        alone = "guard/stop" in ours and not covered
        message = f"{', '.join(ours)} in this file does not run here: {file.why}"
        yield here.find("not_read", "warning" if alone else "info", message, _fix(here, file), file.path)
    elif stops and not file.ours_only:
        message = f"a hook on {stops[0].event} in this file ({stops[0].title}) does not run here: {file.why}"
        yield here.find("not_read", "info", message, _fix(here, file), file.path)


def _is_stop(here: Here, hook: Hook) -> bool:
    return hook.event in (here.host.events.get("stop"), here.host.events.get("subagent-stop"))


def _fix(here: Here, file: _Unread) -> str:
    if file.scope == "user":
        return f"Install with the same {here.host.data['config'].get('variable', 'HOME')} as the agent is started with."
    return "Start the agent in that folder, or install at user scope."


def _unread(here: Here) -> Iterator[_Unread]:
    """Where people put settings that the host does not read here."""
    title, environ, cwd = here.host.title, here.folders.environ, here.folders.cwd
    config = hosts.config_folder(here.host, environ)
    if "local" in here.host.scopes:
        local = os.path.basename(here.host.data["files"]["local"])
        yield _Unread(os.path.join(config, local), "local", f"{title} reads {local} in projects only")
    variable = here.host.data["config"].get("variable", "")
    if environ.get(variable):
        plain = {name: value for name, value in environ.items() if name != variable}
        yield _Unread(hosts.settings_path(here.host, "user", plain), "user", f"{variable} leads to {config}")
    for scene in here.scenes:
        if scene.place.scope == "user" and not hidden_by(here, scene):
            where = f"{variable} leads there" if environ.get(variable) else "nothing leads there"
            yield _Unread(scene.path, "user", f"{title} reads {config}, and {where}")
    if here.host.data["scopes"]["start_folder_only"]:
        for folder in _above(here):
            yield from _of_folder(here, folder, f"{title} reads project settings of its start folder only")
        for folder in _below(cwd):
            yield from _of_folder(here, folder, f"{title} reads it only when it is started there", ours_only=True)


def _of_folder(here: Here, folder: str, why: str, *, ours_only: bool = False) -> Iterator[_Unread]:
    for scope in here.host.scopes[1:]:
        yield _Unread(hosts.settings_path(here.host, scope, here.folders.environ, folder), scope, why, ours_only)


def _above(here: Here) -> Iterator[str]:
    """The folders above the working folder, up to HOME."""
    home, folder = target_of(hosts.home(here.folders.environ)), os.path.dirname(here.folders.cwd)
    while folder != os.path.dirname(folder) and not f"{home}/".startswith(f"{folder}/"):
        yield folder
        folder = os.path.dirname(folder)


def _below(folder: str) -> Iterator[str]:
    try:
        names = sorted(os.listdir(folder))[:_SUBFOLDERS]
    except OSError:
        return
    yield from (os.path.join(folder, name) for name in names if not name.startswith("."))
