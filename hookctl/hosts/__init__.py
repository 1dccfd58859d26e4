"""The hosts: one data file each, checked by schemas/host.schema.json. A new host is a new file and nothing else."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from typing import Any, NamedTuple

from hookctl.errors import USAGE, HookctlError, nearest
from hookctl.hosts import shapes
from hookctl.hosts.shapes import Shape
from hookctl.model import Path

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

_FOLDER = os.path.dirname(__file__)
_HUGE = 1e300  # no number any more, for the hook neither


class Host(NamedTuple):
    """One coding agent: what every host's file says, and the rest of the file as it stands in `data`."""

    name: str
    title: str
    format: str
    comments: bool
    trailing_commas: bool
    events: dict[str, str]  # canonical to the host's own name
    shape: Shape
    data: dict[str, Any]
    stands: str  # the variant of its settings that this is; empty: as its file says
    scopes: tuple[str, ...]  # those that it has a settings file for, in hookctl's own order
    env_path: Path  # the map in a settings file that reaches every hook as its environment; empty if it has none
    env_field: str  # the field of a hook element with the environment of that hook alone; empty if there is none
    cap: dict[str, Any]  # what it does about blocks in a row; empty if it never overrides a hook
    cap_key: str  # the variable that sets its cap; empty if none does

    def env_leaf(self, name: str) -> Path | None:
        """Where a settings file has a variable for every hook; None if this host has no such place."""
        return (*self.env_path, name) if self.env_path else None

    def event_path(self, event: str, pack: str) -> Path:
        """Where a pack's hooks of one of the host's own events go."""
        return shapes.event_path(self.shape, event, pack)


def names() -> list[str]:
    """Every host that hookctl knows, in alphabetical order."""
    return sorted(name[:-5] for name in os.listdir(_FOLDER) if name.endswith(".toml"))


def path_of(name: str) -> str:
    """Where the file of a host lies."""
    return os.path.join(_FOLDER, f"{name}.toml")


def load(name: str) -> Host:
    """The host of this name; an unknown one is a usage error that names those there are."""
    if name not in names():
        meant = "Give --host once for each host. " if "," in name else nearest(name, names())
        hint = f"{meant}Known hosts: {', '.join(names())}."
        raise HookctlError("usage", f"unknown host {name!r}", hint=hint, exit_code=USAGE)
    import tomllib

    with open(path_of(name), "rb") as stream:
        data = tomllib.load(stream)
    return _host(data, "")


def _host(data: dict[str, Any], stands: str) -> Host:
    channel = data["environment"]["channel"]
    env_path = data["environment"].get("path", ())
    cap = data.get("cap", {})
    return Host(
        name=data["name"],
        title=data["title"],
        format=data["format"],
        comments=data["comments"],
        trailing_commas=data["trailing_commas"],
        events=data["events"],
        shape=_shape(data["registration"]),
        data=data,
        stands=stands,
        scopes=tuple(scope for scope in SCOPES if scope in data["files"]),
        env_path=tuple(env_path) if channel == "settings" else (),
        env_field=str(env_path[0]) if channel == "hook" else "",
        cap=cap,
        cap_key=cap.get("key", ""),
    )


def _shape(registration: dict[str, Any]) -> Shape:
    said = {name: registration[name] for name in Shape._fields if name in registration}
    return Shape(
        **{name: tuple(value) if isinstance(value, list) else value for name, value in said.items()}
    )


def variants(host: Host) -> list[tuple[str, Host]]:
    """The host with each other way in which its settings may stand, and where they do, in the words of the schema."""
    found = []
    for variant in host.data.get("variants", ()):
        merged = {
            key: {**host.data.get(key, {}), **value}
            if isinstance(value, dict) and key != "events"
            else value
            for key, value in variant.items()
            if key not in ("stands", "where")
        }
        found.append((variant["where"], _host({**host.data, **merged}, variant["stands"])))
    return found


def config_folder(host: Host, environ: Mapping[str, str]) -> str:
    """The host's own settings folder for this user; its variable wins over the one in HOME."""
    config = host.data["config"]
    named = environ.get(config.get("variable", ""), "")
    return os.path.abspath(
        os.path.join(named, config.get("inside", ""))
        if named
        else os.path.join(home(environ), config["home"])
    )


def home(environ: Mapping[str, str]) -> str:
    """The user's home folder."""
    return environ.get("HOME") or os.path.expanduser("~")


def settings_path(host: Host, scope: str, environ: Mapping[str, str], project: str = "") -> str:
    """The settings file of a scope, links not yet followed."""
    return host.data["files"][scope].format(
        config=config_folder(host, environ), project=project.rstrip("/")
    )


def client(host: Host, environ: Mapping[str, str]) -> str:
    """The client's program on PATH; empty if there is none. A project must not be able to bring one: no "." there."""
    path = [
        folder
        for folder in environ.get("PATH", os.defpath).split(os.pathsep)
        if os.path.isabs(folder)
    ]
    found = (shutil.which(name, path=os.pathsep.join(path)) for name in commands(host))
    return next(filter(None, found), "")


def commands(host: Host) -> list[str]:
    """The names that the client's program goes by."""
    return [host.data["client"]["command"], *host.data["client"].get("other_commands", ())]


def detected(host: Host, environ: Mapping[str, str]) -> str:
    """What shows that the host is in use here: its program or its settings folder; empty if neither is there."""
    folder = config_folder(host, environ)
    return client(host, environ) or (folder if os.path.isdir(folder) else "")


def read_cap(host: Host, text: str) -> float:
    """How many blocks in a row the host takes, by the text of its variable; 0 or less: as many as come.

    As Claude Code reads it: the number that the text begins with, whole; else the host's default.
    """
    cap = host.cap
    if not cap or ("field" in cap and text == cap["off"]):
        return 0.0
    match = re.match(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)", text)
    number = float(match[1]) if match else cap["default"]
    number = float(int(number)) if abs(number) < _HUGE else float(cap["default"])
    if "most" not in cap:
        return number
    return float(
        max(1, min(number or cap["default"], cap["most"])) - cap.get("overrides_last", False)
    )


def timeout(host: Host, seconds: int) -> int:
    """A timeout in the host's unit."""
    return seconds * 1000 if host.data["timeout_unit"] == "milliseconds" else seconds


def seconds(host: Host, timeout: float) -> float:
    """What a timeout in a settings file means to the host."""
    from_here = host.data.get("handlers", {}).get("milliseconds_from", float("inf"))
    thousandths = host.data["timeout_unit"] == "milliseconds" or timeout >= from_here
    return timeout / 1000 if thousandths else timeout
