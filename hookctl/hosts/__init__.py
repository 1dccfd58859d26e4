"""The hosts: one data file each, and what follows from it. A new host is only a new file.

It may import `documents`, `system`, `clock` and the values at the root.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import tomllib
from collections.abc import Container, Mapping, Sequence
from typing import Any

from hookctl.errors import USAGE, HookctlError, nearest
from hookctl.hosts import shapes
from hookctl.hosts.model import (
    Client,
    ConfigFolder,
    Dialect,
    Environment,
    Faults,
    FolderTrust,
    Guarding,
    GuardNeeds,
    HookFormat,
    OtherAgent,
    Scopes,
    Switches,
    Trust,
    read_record,
    read_trust,
)
from hookctl.hosts.shapes import Shape
from hookctl.model import Path
from hookctl.system.package_data import asset, list_data, read_data
from hookctl.values import NamedTuple

SCOPES = ("user", "project", "local")
EVENTS = (
    "session-start",
    "prompt",
    "pre-tool",
    "post-tool",
    "stop",
    "subagent-stop",
    "pre-compact",
    "notification",
    "session-end",
)

_FOLDER = "hosts"  # in the package
_NOTHING: dict[str, Any] = {}  # a table that the file leaves out; never changed
_HUGE = 1e300  # the hook takes no larger number either


class Host(NamedTuple):
    """One coding agent, as its file describes it. What the file may leave out has a default."""

    name: str
    title: str
    format: str
    comments: bool
    trailing_commas: bool
    timeout_unit: str  # seconds | milliseconds
    sure: str  # proven | read | docs
    events: dict[str, str]  # canonical to the host's own name
    shape: Shape
    variant: str  # the name of the settings variant; empty for the usual one
    scopes: tuple[str, ...]  # those with a settings file, in hookctl's own order
    scope_rules: Scopes
    files: dict[str, str]  # the settings file of each scope, with placeholders
    files_beside: str  # a pattern for other files in the same folder that it reads too
    managed_files: dict[str, list[str]]  # patterns for each platform
    client: Client
    config: ConfigFolder
    registration: HookFormat
    environment: Environment
    env_path: Path  # the map in a settings file with every hook's environment; empty if none
    env_field: str  # the field of a hook with its own environment; empty if there is none
    dialect: Dialect
    switches: Switches
    faults: Faults
    guarding: Guarding
    trust: Trust
    folder_trust: FolderTrust
    guard: GuardNeeds
    also_read_by: tuple[OtherAgent, ...]
    transcripts: str  # a pattern for the records of its sessions; empty if unknown
    data: dict[str, Any]  # the whole file, for its variants
    byte_order_mark: bool = True  # whether it reads a file that begins with one
    empty: bool = True  # whether it reads an empty file
    plain_comments: bool = False  # whether it reads only comments that its own parser can strip
    null_is_absent: bool = False  # whether a null counts as no hooks and no events
    sure_events: dict[str, str] = _NOTHING  # events that are less sure
    rules: dict[str, str] = _NOTHING  # the file with instructions for the agent, by scope
    cap: dict[str, Any] = _NOTHING  # its limit of blocks in a row; empty: hooks always win
    told_by: dict[str, Any] = _NOTHING  # how another host's registration knows its calls
    payload: dict[str, Any] = _NOTHING  # for the hook: how to read the events
    denials: dict[str, Any] = _NOTHING  # for the hook: what else denies a stop
    cannot: Sequence[str] = ()  # sentences about what it cannot do
    known_keys: dict[str, dict[str, Any]] = _NOTHING  # rules for the types of settings
    handlers: dict[str, Any] = _NOTHING  # what it knows of hook entries
    tools: dict[str, list[str]] = _NOTHING  # the names of its own tools, by what they do

    @property
    def cap_key(self) -> str:
        """The variable that sets its cap; empty if none does."""
        return self.cap.get("key", "")

    @property
    def has_variants(self) -> bool:
        """Whether its settings can have several layouts."""
        return bool(self.data.get("variants"))

    def env_leaf(self, name: str) -> Path | None:
        """The path of a variable for every hook; None if the host has no such setting."""
        return (*self.env_path, name) if self.env_path else None

    def event_path(self, event: str, pack: str) -> Path:
        """The path of the list with a pack's hooks for one of the host's own events."""
        return shapes.event_path(self.shape, event, pack)

    def has_files(self, scope: str) -> bool:
        """Whether the host reads settings of this scope, managed ones included."""
        return bool(self.managed_files) if scope == "managed" else scope in self.files


def names() -> list[str]:
    """Every known host, in alphabetical order."""
    return [name[:-5] for name in list_data(_FOLDER, ending=".toml")]


def path_of(name: str) -> str:
    """The path of a host's file."""
    return asset(_FOLDER, f"{name}.toml")


def read_table(name: str) -> bytes:
    """The text of a host's file."""
    return read_data(_FOLDER, f"{name}.toml")


def load(name: str) -> Host:
    """The host of this name; a usage error lists the known hosts."""
    if name not in names():
        meant = "Give --host once for each host. " if "," in name else nearest(name, names())
        meant = meant or "hookctl does not support it (yet). "
        hint = f"{meant}Name one of: {', '.join(names())}."
        raise HookctlError("usage", f"unknown host {name!r}", hint=hint, exit_code=USAGE)
    return _parse(read_table(name))


@functools.cache
def _parse(text: bytes) -> Host:
    """The host that a file describes; one command asks for the same host up to five times."""
    return _host(tomllib.loads(text.decode()), "")


# The tables of a file that are records of their own; of the second ones each key has a default.
_TABLES = {
    "client": Client,
    "config": ConfigFolder,
    "registration": HookFormat,
    "environment": Environment,
    "dialect": Dialect,
    "switches": Switches,
}
_TABLES_WITH_DEFAULTS = {
    "faults": Faults,
    "guarding": Guarding,
    "folder_trust": FolderTrust,
    "guard": GuardNeeds,
}


def _host(data: dict[str, Any], variant: str) -> Host:
    fields = {name: data[name] for name in Host._fields if name in data}
    for name, kind in _TABLES.items():
        fields[name] = read_record(kind, data[name])
    for name, kind in _TABLES_WITH_DEFAULTS.items():
        fields[name] = read_record(kind, data.get(name, {}))
    files = {scope: data["files"][scope] for scope in SCOPES if scope in data["files"]}
    env_path, env_field = _env_setting(fields["environment"])
    others = tuple(read_record(OtherAgent, table) for table in data.get("also_read_by", ()))
    fields.update(
        shape=_shape(data["registration"]),
        variant=variant,
        scopes=tuple(files),
        scope_rules=read_record(Scopes, data["scopes"]),
        files=files,
        files_beside=data["files"].get("beside", ""),
        managed_files=data["files"].get("managed", {}),
        env_path=env_path,
        env_field=env_field,
        trust=read_trust(data.get("trust", {})),
        also_read_by=others,
        transcripts=data.get("transcripts", {}).get("pattern", ""),
        data=data,
    )
    return Host(**fields)


def _env_setting(environment: Environment) -> tuple[Path, str]:
    """The path of the map for all hooks, and the field of a single hook; one of them or none."""
    if environment.channel == "settings":
        return tuple(environment.path), ""
    if environment.channel == "hook":
        return (), environment.path[0]
    return (), ""


def _shape(registration: dict[str, Any]) -> Shape:
    fields: dict[str, Any] = {}
    for name in Shape._fields:
        if name in registration:
            value = registration[name]
            fields[name] = tuple(value) if isinstance(value, list) else value
    return Shape(**fields)


def variants(host: Host) -> list[tuple[str, Host]]:
    """The host's other settings layouts, each with the schema's word for where it applies."""
    layouts = []
    for table in host.data.get("variants", ()):
        data = {**host.data, **_merge_variant(host.data, table)}
        layouts.append((table["where"], _host(data, table["stands"])))
    return layouts


def managed_layout(host: Host, path: str) -> Host:
    """The layout of a managed settings file: the one whose format has the file's ending."""
    for layout in (host, *(variant for _, variant in variants(host))):
        if path.endswith(f".{layout.format}"):
            return layout
    return host


def other_layouts(host: Host) -> list[Host]:
    """The variants of a host whose hooks stand elsewhere in the very same file."""
    if not host.has_variants:
        return []
    usual = load(host.name)
    layouts = [usual, *(variant for _, variant in variants(usual))]
    return [
        layout for layout in layouts if layout.files == host.files and layout.shape != host.shape
    ]


def _merge_variant(data: dict[str, Any], table: dict[str, Any]) -> dict[str, Any]:
    """The values of a variant; its tables extend the usual ones, its events replace them."""
    merged: dict[str, Any] = {}
    for key, value in table.items():
        if key in ("stands", "where"):
            continue
        if isinstance(value, dict) and key != "events":
            value = {**data.get(key, {}), **value}
        merged[key] = value
    return merged


def config_folder(host: Host, environ: Mapping[str, str]) -> str:
    """The host's settings folder of this user; its variable comes before the folder in HOME."""
    config = host.config
    named = environ.get(config.variable, "")
    if named:
        return os.path.abspath(os.path.join(named, config.inside))
    return os.path.abspath(os.path.join(home(environ), config.home))


def home(environ: Mapping[str, str]) -> str:
    """The user's home folder."""
    return environ["HOME"]


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
    for name in commands(host):
        program = shutil.which(name, path=path)
        if program:
            return program
    return ""


def commands(host: Host) -> list[str]:
    """The names of the client's program."""
    return [host.client.command, *host.client.other_commands]


def detected(host: Host, environ: Mapping[str, str], ours: Container[str] = ()) -> str:
    """The program or the settings folder that shows the host is in use; empty if it is not.

    A folder among `ours` with nothing but `ours` in it shows nothing: an install made it. Nor does
    one that only has what is another host's.
    """
    program, folder = client(host, environ), config_folder(host, environ)
    if program or not os.path.isdir(folder):
        return program
    real = os.path.realpath(folder)
    names = os.listdir(real)
    own = [name for name in names if name not in host.config.others]
    if names and not own:
        return ""
    if real in ours and all(os.path.join(real, name) in ours for name in own):
        return ""
    return folder


def read_cap(host: Host, text: str) -> float:
    """How many blocks in a row the host takes, from its variable's text; 0 or less is no limit.

    Like Claude Code it reads the whole number at the start of the text, else the default.
    """
    cap = host.cap
    if not cap or ("field" in cap and text == cap["off"]):
        return 0.0
    number = _leading_number(text, cap["default"])
    if "most" not in cap:
        return number
    number = max(1, min(number or cap["default"], cap["most"]))
    return float(number - cap.get("overrides_last", False))


def _leading_number(text: str, default: float) -> float:
    """The number that a text begins with, without its fraction."""
    match = re.match(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)", text)
    number = float(match[1]) if match else float(default)
    if abs(number) >= _HUGE:
        return float(default)
    return float(int(number))


def timeout(host: Host, seconds: int) -> int:
    """A timeout in the host's unit."""
    return seconds * 1000 if host.timeout_unit == "milliseconds" else seconds


_LONGEST_TIMEOUT = 10**15  # in any unit longer than a life


def seconds(host: Host, timeout: float) -> float:
    """A timeout of a settings file in seconds, as the host reads it."""
    from_here = host.handlers.get("milliseconds_from", float("inf"))
    timeout = min(timeout, _LONGEST_TIMEOUT)  # a whole number may be too large for a division
    if host.timeout_unit == "milliseconds" or timeout >= from_here:
        return timeout / 1000
    return timeout
