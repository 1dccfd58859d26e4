"""The hosts: one data file each, and what follows from it. A new host is only a new file.

It may import `documents`, `system`, `clock` and the values at the root.
"""

import functools
import os
import re
import shutil
from collections.abc import Container, Mapping
from typing import NamedTuple

from hookctl.errors import USAGE, HookctlError, nearest
from hookctl.hosts.model import SCOPES as SCOPES
from hookctl.hosts.model import Host as Host
from hookctl.hosts.model import Table
from hookctl.hosts.shapes import Shape
from hookctl.system import asset, list_data, owners, read_data
from hookctl.system.folders import Folders
from hookctl.system.project import find_quietly, is_inside

RULES = "rules"  # the format of a file with instructions for the agent
# Their files are checked by the tests. A file of any other name is checked whenever it is loaded.
SHIPPED = (
    "antigravity", "claude", "codex", "copilot", "cursor", "droid", "gemini", "grok", "hermes",
    "kimi", "kiro", "opencode", "openhands", "pi", "qwen", "vibe", "vscode", "windsurf",
)  # fmt: skip

_SECONDS = 15  # for a client to say its version
_FOLDER = "hosts"  # in the package
_HUGE = 1e300  # the hook takes no larger number either


def names() -> list[str]:
    """Every known host, in alphabetical order."""
    return [name[:-5] for name in list_data(_FOLDER, ending=".toml")]


@functools.cache
def load(name: str) -> Host:
    """The host of this name; a usage error lists the known hosts."""
    if name not in SHIPPED and name not in names():
        meant = "Give --host once for each host. " if "," in name else nearest(name, names())
        meant = meant or "hookctl does not support it (yet). "
        hint = f"{meant}Name one of: {', '.join(names())}."
        raise HookctlError("usage", f"unknown host {name!r}", hint=hint, exit_code=USAGE)
    error = None if name in SHIPPED else find_fault(name)
    if error:
        raise error
    return Host(read_data(_FOLDER, f"{name}.toml").decode())


def reader_title(agent: Table) -> str:
    """Another agent that reads a host's files, as people call it."""
    return agent.name or load(agent.host).title


def reader_condition(agent: Table) -> str:
    """When or how it reads the files, in words; empty if always and as their host does."""
    heeds_none = agent.host and load(agent.host).matchers.none
    return agent.only or ("without the matchers" if heeds_none else "")


def describe_reader(agent: Table) -> str:
    """The other agent, and the condition if it does not always read the files."""
    when = reader_condition(agent)
    return f"{reader_title(agent)} ({when})" if when else reader_title(agent)


def find_fault(name: str) -> HookctlError | None:
    """The first fault of a host's file; None if it has none."""
    import json  # late, as jsonschema: only after a failure, or with a file of one's own

    import jsonschema

    from hookctl.documents import formats

    path, message = asset(_FOLDER, f"{name}.toml"), ""
    try:
        value = formats.parse("toml", read_data(_FOLDER, f"{name}.toml"), where=path).value
    except HookctlError as error:
        return error
    schema = json.loads(read_data("schemas", "host.schema.json"))
    for fault in jsonschema.Draft202012Validator(schema).iter_errors(value):
        key = ".".join(map(str, fault.absolute_path))
        message = message or (f"{key}: {fault.message}" if key else fault.message)
    if not message and value["name"] != name:
        message = f"name: {value['name']!r} is not the name of this file"
    hint = "Fix this file: docs/adding-a-host.md and schemas/host.schema.json describe it."
    return HookctlError("invalid_host", message, path=path, hint=hint) if message else None


def managed_layout(host: Host, path: str) -> Host:
    """The layout of a file that hookctl does not write: the one whose format has its ending.

    Where there is none, the events stand in it as in the host's own file.
    """
    host = host.managed or host
    for layout in host.layouts():
        if path.endswith(f".{layout.syntax}"):
            return layout
    return host._replace(format="toml") if path.endswith(".toml") else host


def config_folder(host: Host, environ: Mapping[str, str]) -> str:
    """The host's settings folder of this user; its variable comes before the folder in HOME."""
    config = host.config
    named = environ.get(config.variable, "")
    parts = (named, config.inside) if named else (environ["HOME"], config.home)
    return os.path.abspath(os.path.join(*parts))


def config_of(host: Host, settings: str) -> str:
    """The host's settings folder that has this settings file of a user."""
    for layout in host.layouts():
        inside = layout.files["user"].removeprefix("{config}")
        if settings.endswith(inside):
            return settings.removesuffix(inside)
    return os.path.dirname(settings)


def settings_path(host: Host, scope: str, environ: Mapping[str, str], project: str = "") -> str:
    """The path of a scope's settings file, before links are resolved."""
    return host.files[scope].format(
        config=config_folder(host, environ), project=project.rstrip("/")
    )


def client(host: Host, environ: Mapping[str, str]) -> str:
    """The client's program on PATH; empty if there is none.

    Relative folders are skipped: a project must not be able to bring the program.
    """
    folders = environ.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(folder for folder in folders if os.path.isabs(folder))
    commands = (host.client.command, *host.client.other_commands)
    found = (shutil.which(name, path=path) for name in commands)
    return next(filter(None, found), "")


class Client(NamedTuple):
    """The host's own program."""

    path: str  # empty if there is none on PATH
    version: str  # empty if it did not say


def ask_client(host: Host, folders: Folders) -> Client:
    """A host's own program, and the version that it prints; one of the project's is not started."""
    from hookctl.system.processes import ask  # late: most commands ask no client

    program = client(host, folders.environ)
    is_asked = program and host.client.asks_version and not owners.find_fault(program)
    here = find_quietly(folders.cwd, folders.environ) if is_asked else ""
    if not is_asked or is_inside(here, program, folders.home):
        return Client(program, "")
    said = ask([os.path.abspath(program), *host.client.version_args], None, _SECONDS)
    version = re.search(r"[0-9]+(?:\.[0-9]+)+", said.out)
    return Client(program, version[0] if version else "")


def parse_version(version: str) -> list[int]:
    """The numbers of a client's version, to compare."""
    return [int(part) for part in version.split(".")]


def detected(host: Host, environ: Mapping[str, str], ours: Container[str] = ()) -> str:
    """The program or the settings folder that shows the host is in use; empty if it is not.

    A folder that an install made (`ours`), with only our files, proves nothing. Nor does one that
    only has another host's files.
    """
    program, folder = client(host, environ), config_folder(host, environ)
    if program or not os.path.isdir(folder):
        return program
    if "*" in host.config.others:
        path = settings_path(host, "user", environ)
        return path if os.path.lexists(path) and os.path.realpath(path) not in ours else ""
    real = os.path.realpath(folder)
    names = os.listdir(real)
    own = [name for name in names if name not in host.config.others]
    is_made = real in ours and all(os.path.join(real, name) in ours for name in own)
    return "" if is_made or (names and not own) else folder


def read_cap(host: Host, text: str) -> float:
    """How many blocks in a row the host takes, from its variable's text; 0 or less is no limit.

    With `overrides_last` it passes over the last one itself, so 0 there is none.
    Like Claude Code it reads the whole number at the start of the text, else the default.
    """
    cap = host.cap
    if not cap or ("field" in cap and text == cap["off"]):
        return 0.0
    match = re.match(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)", text)
    number = float(match[1]) if match else _HUGE
    number = float(cap["default"] if abs(number) >= _HUGE else int(number))
    if "most" not in cap:
        return number
    number = max(1, min(number or cap["default"], cap["most"]))  # 0 is the default there
    if cap.get("overrides_last"):
        number -= 1
    return float(number)


_LONGEST_TIMEOUT = 10**15  # in any unit longer than a life


def seconds(host: Host, timeout: float) -> float:
    """A timeout of a settings file in seconds, as the host reads it."""
    timeout = min(timeout, _LONGEST_TIMEOUT)  # a whole number may be too large for a division
    if host.timeout_unit == "milliseconds" or timeout >= host.handlers.milliseconds_from:
        return timeout / 1000
    return timeout


def rules_layout(host: Host) -> Host:
    """The host as its file with instructions has it: blocks of text, and no hooks.

    As a settings file it has a block for each pack: see `documents/rules.py`.
    """
    return host._replace(
        format=RULES,
        shape=Shape(),
        registration=Table("registration", {}),
        env_path=(),
        variants=[],
    )


def rules_beside(host: Host, scope: str, settings: str, project: str) -> str:
    """The file with instructions of a settings file's scope; '' where none is known.

    A user's file is in the same folder of the host as the settings, also where that was moved.
    """
    config = config_of(host, settings)
    return host.rules.get(scope, "").format(config=config, project=project.rstrip("/"))
