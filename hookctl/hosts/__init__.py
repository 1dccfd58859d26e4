"""The hosts: one data file each, checked by schemas/host.schema.json. A new host is a new file and nothing else."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from typing import Any, NamedTuple

from hookctl.errors import USAGE, HookctlError

_FOLDER = os.path.dirname(__file__)
_HUGE = 1e300  # no number any more, for the hook neither


class Host(NamedTuple):
    """One coding agent: what every host's file says, and the rest of the file as it stands in `data`."""

    name: str
    title: str
    format: str
    comments: bool
    trailing_commas: bool
    shape: str
    events: dict[str, str]  # canonical to the host's own name
    data: dict[str, Any]


def names() -> list[str]:
    """Every host that hookctl knows, in alphabetical order."""
    return sorted(name[:-5] for name in os.listdir(_FOLDER) if name.endswith(".toml"))


def load(name: str) -> Host:
    """The host of this name; an unknown one is a usage error that names those there are."""
    if name not in names():
        known = ", ".join(names())
        raise HookctlError("usage", f"unknown host {name!r}", hint=f"Known hosts: {known}.", exit_code=USAGE)
    import tomllib

    with open(os.path.join(_FOLDER, f"{name}.toml"), "rb") as stream:
        data = tomllib.load(stream)
    return Host(**{field: data[field] for field in Host._fields if field != "data"}, data=data)


def config_folder(host: Host, environ: Mapping[str, str]) -> str:
    """The host's own settings folder for this user; its variable wins over the one in HOME."""
    config = host.data["config"]
    named = environ.get(config["variable"], "")
    return os.path.abspath(named) if named else os.path.join(home(environ), config["home"])


def home(environ: Mapping[str, str]) -> str:
    """The user's home folder."""
    return environ.get("HOME") or os.path.expanduser("~")


def settings_path(host: Host, scope: str, environ: Mapping[str, str], project: str = "") -> str:
    """The settings file of a scope, links not yet followed."""
    return host.data["files"][scope].format(config=config_folder(host, environ), project=project.rstrip("/"))


def client(host: Host, environ: Mapping[str, str]) -> str:
    """The client's program on PATH; empty if there is none. A project must not be able to bring one: no "." there."""
    path = [folder for folder in environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)]
    return shutil.which(host.data["client"]["command"], path=os.pathsep.join(path)) or ""


def detected(host: Host, environ: Mapping[str, str]) -> str:
    """What shows that the host is in use here: its program or its settings folder; empty if neither is there."""
    folder = config_folder(host, environ)
    return client(host, environ) or (folder if os.path.isdir(folder) else "")


def read_cap(host: Host, text: str) -> float:
    """The cap as Claude Code reads it: the number that the text begins with, whole; else the host's default."""
    match = re.match(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)", text)
    number = float(match[1]) if match else host.data["cap"]["default"]
    return float(int(number)) if abs(number) < _HUGE else float(host.data["cap"]["default"])


def timeout(host: Host, seconds: int) -> int:
    """A timeout in the host's unit."""
    return seconds * 1000 if host.data["timeout_unit"] == "milliseconds" else seconds
