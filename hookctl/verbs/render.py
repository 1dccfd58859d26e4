"""hookctl render: the settings text alone, for those who ship settings by other means; it writes nothing."""

from __future__ import annotations

import json
import os
import sys
from typing import NamedTuple

from hookctl import engine
from hookctl import hosts as known
from hookctl.documents import formats
from hookctl.errors import USAGE, HookctlError
from hookctl.hosts import Host, shapes
from hookctl.model import Current, Result, Wanted
from hookctl.packs import guard
from hookctl.packs.choices import Request as Chosen
from hookctl.packs.choices import Settings, choose, require_portable
from hookctl.packs.model import Pack
from hookctl.packs.programs import template_files
from hookctl.packs.wants import wants as pack_wants
from hookctl.planner.guard_files import new_config
from hookctl.planner.install import check_request
from hookctl.planner.runtime_files import CONFIG
from hookctl.settings.targets import GUARD, SCOPES, Target, in_sh, pack_folder, require_scope
from hookctl.system import interpreter
from hookctl.system.folders import Folders, asset

# For everybody on a machine: no user's own folder, where that user could change what runs.
_SHARED = "/usr/local/lib/hookctl"


class Request(NamedTuple):
    """What was asked on the command line."""

    scope: str
    hook_dir: str = ""
    python: str = ""
    settings: Chosen = Chosen()


def only(names: list[str], scope: str) -> str:
    """The one host that was named; none, several and `all` are refused, with the names of those that can be."""
    if len(names) == 1 and names[0] != "all":
        return names[0]
    _require_known(scope)
    can = [name for name in known.names() if known.load(name).has_files(scope)]
    hint = f"Name it with --host; those that have {scope} settings are: {', '.join(can)}."
    raise HookctlError(
        "usage", "which host? render prints the text of one", hint=hint, exit_code=USAGE
    )


def _require_known(scope: str) -> None:
    if scope not in (*SCOPES, "managed"):
        hint = f"Scopes: {', '.join((*SCOPES, 'managed'))}."
        raise HookctlError("usage", f"unknown scope {scope!r}", hint=hint, exit_code=USAGE)


def render(folders: Folders, pack: Pack, host: Host, request: Request) -> Result:
    """The text that an install into an empty settings file of this scope would write."""
    _require_known(request.scope)
    if request.scope != "managed":
        require_scope(host, request.scope)
    target = Target(host, request.scope, "", "/" if request.scope == "project" else "")
    folder = _folder(folders, target, pack, request)
    if request.python and not os.path.isabs(request.python):
        hint = "Give its absolute path: the command must hold wherever the agent is started."
        raise HookctlError(
            "usage", f"--python {request.python} is relative", hint=hint, exit_code=USAGE
        )
    settings = _settings(pack, target, request)
    wants, messages = _wants(folders, target, pack, folder, settings)
    decision = engine.install((), Current({}, {}, ()), pack.name, pack.version, wants)
    document = shapes.apply(host.shape, formats.parse(host.format, b""), decision.edits)
    text = document.data.decode()
    names = template_files() if pack.name == GUARD else pack.files
    sources = {os.path.join(folder, name): _source(pack, name) for name in names}
    notes = [*messages, _where(folders, host, request.scope)]
    notes += [
        f"put {source} at {_shown(target, copy)}" for copy, source in _told(pack, sources).items()
    ]
    copies = [{"from": source, "to": _shown(target, copy)} for copy, source in sources.items()]
    if pack.name == GUARD:
        config = _configuration(settings, host)
        config_path = _shown(target, os.path.join(folder, CONFIG))
        notes.append(
            f"put this at {config_path}: {json.dumps(json.loads(config), ensure_ascii=False)}"
        )
        copies.append({"text": config, "to": config_path})
    data = {"text": text, "settings": document.value, "files": copies}
    return Result(data, tuple(text.removesuffix("\n").split("\n")), tuple(notes))


def _folder(folders: Folders, target: Target, pack: Pack, request: Request) -> str:
    if request.hook_dir:
        if not os.path.isabs(request.hook_dir):
            hint = "Give an absolute folder: the command must hold wherever the agent is started."
            raise HookctlError(
                "usage", f"--hook-dir {request.hook_dir} is relative", hint=hint, exit_code=USAGE
            )
        return os.path.normpath(request.hook_dir)
    if target.scope == "managed":
        return os.path.join(
            _SHARED, *((GUARD,) if pack.name == GUARD else ("packs", pack.name)), target.host.name
        )
    if target.scope == "local":
        hint = "At local scope each project has its own: name the folder."
        raise HookctlError("usage", "--hook-dir is missing", hint=hint, exit_code=USAGE)
    return pack_folder(folders, target, pack.name, {}, "")


def _settings(pack: Pack, target: Target, request: Request) -> Settings:
    """The guard's settings as they were chosen, read as install reads them."""
    check_request(pack, request.settings)
    settings = choose(Settings(python=request.python), request.settings)
    if not settings.events:
        hint = "Leave it out; where the guard is registered already, remove that."
        raise HookctlError(
            "usage", "--mode off registers nothing, so there is no text", hint=hint, exit_code=USAGE
        )
    if target.shared:
        require_portable(settings)
    return settings


def _wants(
    folders: Folders, target: Target, pack: Pack, folder: str, settings: Settings
) -> tuple[list[Wanted], list[str]]:
    # A folder that was named for a project lies outside of it, and is the same for everyone.
    if target.shared and not folder.startswith("/.hookctl/"):
        target = Target(target.host, "managed", target.path, target.project)
    if pack.name != GUARD:
        return pack_wants(pack, target.host, in_sh(target, folder))
    warning = ""
    if not settings.python and not target.shared:
        python, warning = interpreter.choose(folders.environ)
        settings = settings.with_python(python)
    return guard.wants(settings, target, pack, folder, guard.wanted_limit(settings)), [
        warning
    ] if warning else []


def _configuration(settings: Settings, host: Host) -> str:
    """The text of config.json."""
    wanted = guard.configuration(settings, "", host)
    return new_config(wanted, host).data.decode()


def _told(pack: Pack, sources: dict[str, str]) -> dict[str, str]:
    """What is to be copied to where, the guard's package as one folder."""
    if pack.name != GUARD:
        return sources
    told = {}
    top = min(map(os.path.dirname, sources), key=len)  # where the launcher lies
    for copy, source in sources.items():
        if os.path.dirname(copy) == top:
            told[copy] = source
        else:
            told[os.path.dirname(copy)] = os.path.dirname(source)
    return told


def _where(folders: Folders, host: Host, scope: str) -> str:
    if scope != "managed":
        return f"{host.title} reads it from {known.settings_path(host, scope, folders.environ, '<project>')}"
    managed = host.managed_files.get(sys.platform, [])
    if not managed:
        return f"hookctl knows of no managed settings of {host.title} on this system, so nothing may read it"
    return f"{host.title} reads it from {managed[0]}"


def _source(pack: Pack, name: str) -> str:
    return (
        os.path.join(os.path.dirname(pack.source), name)
        if pack.source
        else asset("templates", pack.name, name)
    )


def _shown(target: Target, path: str) -> str:
    return os.path.relpath(path, "/") if target.shared and path.startswith("/.hookctl/") else path
