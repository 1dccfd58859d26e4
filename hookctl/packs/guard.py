"""The guard's own settings: from mode and knobs to its command, its env values and its configuration file."""

from __future__ import annotations

import json
import os
import re
import shlex
from typing import Any, NamedTuple

from hookctl import files
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import USAGE, HookctlError
from hookctl.folders import asset
from hookctl.hosts import Host, timeout
from hookctl.hosts.shapes import event_path, head
from hookctl.model import PackRecord, Path, Want
from hookctl.packs.model import Pack
from hookctl.places import GUARD, OWN, Place, in_sh

MODES = ("breaker", "off")
LIMIT_KEY = "MAX_STOP_BLOCKS"
DEFAULT_LIMIT = 5
CEILING = 200  # blocks a prompt, whatever settings and progress say
UNLIMITED_CAP = "5000"  # a limit of 0 or less never lets go by itself; the host's cap then ends the run
_QUOTED = r"""(?:'[^'\n]*'|"'"|[\w@%+=:,./-])+"""


class Settings(NamedTuple):
    """What the operator chose at install, as the ledger records it."""

    mode: str = "breaker"
    knobs: dict[str, Any] = {}  # noqa: RUF012 (never changed in place)
    python: str = ""


def settings_from(recorded: dict[str, Any]) -> Settings:
    """The settings that a ledger page has; ledger_unreadable where they are of a wrong kind."""
    found = Settings(recorded.get("mode", "breaker"), recorded.get("knobs", {}), recorded.get("python", ""))
    kinds = (isinstance(found.mode, str), isinstance(found.knobs, dict), isinstance(found.python, str))
    config = isinstance(recorded.get("config", {}), dict)
    limit = type(found.knobs.get("max_stop_blocks", 0)) is int if kinds[1] else False
    if not (all(kinds) and config and limit and found.mode in MODES):
        hint = "Move the ledger away; `hookctl install` then takes back the hooks that it finds."
        raise HookctlError("ledger_unreadable", "the guard's settings in the ledger are of a wrong kind", hint=hint)
    return found


def choose(settings: Settings, mode: str, assignments: list[str]) -> Settings:
    """The settings with this mode (if not empty) and these KEY=VALUE on top; usage errors for unknown ones."""
    if mode and mode not in MODES:
        hint = f"Modes: {', '.join(MODES)}."
        raise HookctlError("usage", f"unknown mode {mode!r}", hint=hint, exit_code=USAGE)
    knobs = dict(settings.knobs)
    known = _knobs() if assignments else {}
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        name = "max_stop_blocks" if key == LIMIT_KEY else key
        if name == "mode":
            message, hint = "the mode is no --set", f"Say --mode {text or 'breaker'}."
            raise HookctlError("usage", message, hint=hint, exit_code=USAGE)
        if not equals or name not in known:
            message = f"unknown setting {assignment!r}" if name not in known else f"{assignment} needs a value"
            hint = f"Give KEY=VALUE with one of: {', '.join(sorted(known))}."
            raise HookctlError("usage", message, hint=hint, exit_code=USAGE)
        knobs[name] = _parse(name, text.strip(), known[name])
    return settings._replace(mode=mode or settings.mode, knobs=knobs)


def require_portable(settings: Settings) -> None:
    """Refuses knobs with a path of this machine: what is committed must hold in every clone."""
    for name in ("run_dir", "task_file"):
        path = str(settings.knobs.get(name, ""))
        if os.path.isabs(path) or ".." in path.split("/"):
            hint = "Give a path within the project."
            message = f"{name}={path} leaves the project, which at project scope it must not"
            raise HookctlError("usage", message, hint=hint, exit_code=USAGE)


def _knobs() -> dict[str, Any]:
    """The knobs that --set takes; the mode has an option of its own, and the state folder is hookctl's."""
    with open(asset("schemas", "guard-config.schema.json"), encoding="utf-8") as stream:
        known = json.load(stream)["properties"]
    return {name: known[name] for name in known if name not in ("mode", "state_dir", "$schema")}


_WORDS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


def _parse(name: str, text: str, schema: dict[str, Any]) -> Any:
    """A knob's value from the command line, in the type that the schema gives it and as the schema wants it."""
    import jsonschema

    kind, value = schema.get("type", "string"), text if text.isprintable() else None
    if kind == "integer":
        value = int(text) if re.fullmatch(r"[+-]?[0-9]{1,9}", text) else None
    elif kind == "boolean":
        value = _WORDS.get(text.lower())
    elif kind == "array":
        value = [part.strip() for part in text.split(",") if part.strip()]
    if not jsonschema.Draft202012Validator(schema).is_valid(value):
        kinds = {"integer": "A whole number. ", "boolean": "true or false. "}
        hint = kinds.get(kind, "") + schema.get("description", "")
        raise HookctlError("usage", f"{name} cannot be {text!r}", hint=hint, exit_code=USAGE)
    return value


def command(id: str, place: Place, folder: str, python: str, event: str) -> str:
    """The guarded command (design, section 4): whatever is missing or crashes, the host sees 0."""
    file, host = in_sh(place, f"{folder}/hook.py"), place.host.name
    program = "python3" if place.shared else shlex.quote(python)
    there = "command -v python3 >/dev/null 2>&1" if place.shared else f"[ -x {program} ]"
    guards = f"[ -f {file} ] && [ -r {file} ] && {there}"
    return f"{head(id)}{guards} && {program} -I -S {file} {event} --host {host}; exit 0"


def command_forms(id: str, event: str, host: Host) -> str:
    """A regular expression for every command that a released version wrote for this hook, with any paths."""
    shared = re.escape(f'"${host.data["environment"]["project"]}"/{OWN}/{GUARD}/{host.name}/hook.py')
    call = rf"-I -S (?P=hook) {re.escape(event)} --host {re.escape(host.name)}; exit 0"
    hook = rf"\[ -f (?P<hook>{_QUOTED}|{shared}) \] && \[ -r (?P=hook) \]"
    python = rf"(?:\[ -x (?P<python>{_QUOTED}) \] && (?P=python)|command -v python3 >/dev/null 2>&1 && python3)"
    return f"{re.escape(head(id))}{hook} && {python} {call}"


def hook_path(text: str, id: str, event: str, place: Place) -> str:
    """The hook file that a registered command runs; empty if the command is not of a form of ours."""
    match = re.fullmatch(command_forms(id, event, place.host), text)
    if not match:
        return ""
    if match["python"] is None:
        return os.path.join(place.project, OWN, GUARD, place.host.name, "hook.py") if place.project else ""
    return "".join(shlex.split(match["hook"]))


def wants(settings: Settings, place: Place, pack: Pack, folder: str, limit: str) -> list[Want]:
    """The guard's entries in a host's settings file; `limit` is the one in effect there, which the cap follows."""
    if settings.mode == "off":
        return []
    found, host = [], place.host
    for hook in pack.hooks:
        id = f"guard/{hook.id}"
        fields = {
            "type": "command",
            "command": command(id, place, folder, settings.python, hook.event),
            "timeout": timeout(host, hook.timeout or 10),
        }
        path = event_path(host.events[hook.event])
        found.append(Want(path, "element", fields, id, command_forms(id, hook.event, host)))
    env = tuple(host.data["environment"]["path"])
    found.append(Want((*env, LIMIT_KEY), "leaf", wanted_limit(settings)))
    found.append(Want((*env, host.data["cap"]["key"]), "leaf", cap_for(limit)))
    return found


def limit_path(host: Host) -> Path:
    """Where the limit stands in a host's settings file."""
    return (*host.data["environment"]["path"], LIMIT_KEY)


def wanted_limit(settings: Settings) -> str:
    """The limit as an env value."""
    return str(settings.knobs.get("max_stop_blocks", DEFAULT_LIMIT))


def cap_for(limit: str) -> str:
    """The host's cap that lets the guard let go first, with its message (design, section 4)."""
    blocks = limit_of(limit)
    return str(max(8, blocks + 3)) if blocks > 0 else UNLIMITED_CAP


def limit_of(text: str, configured: Any = None) -> int:
    """The limit that the hook takes: the env value if it is a decimal, else that of config.json, else the default."""
    if is_limit(text):
        return int(text)
    return configured if type(configured) is int else DEFAULT_LIMIT


def live_configuration(page: PackRecord) -> dict[str, Any]:
    """What config.json beside an installed hook says now; nothing where it cannot be read."""
    path = os.path.join(page.folder, "config.json")
    try:
        value = JsonDocument.parse(files.read(path).data or b"", comments=False, trailing_commas=False).value
    except HookctlError:
        return {}
    return value if isinstance(value, dict) else {}


def is_limit(text: str) -> bool:
    """Whether the hook can read an env value as a limit."""
    return bool(re.fullmatch(r"-?[0-9]{1,18}", text.strip()))


def switches_off(name: str, value: str) -> bool:
    """Whether a variable in the hook's environment makes it do nothing."""
    text = value.strip().lower()
    return (name == "HOOKCTL_DISABLE" and _WORDS.get(text, False)) or (name == "HOOKCTL_MODE" and text == "off")


def configuration(settings: Settings, state: str) -> dict[str, Any]:
    """The knobs for config.json; the limit is in the host's env instead.

    Without a state folder, as at project scope, the hook finds it by itself wherever it runs.
    """
    with open(asset("templates", "guard", "config.json"), encoding="utf-8") as stream:
        base = json.load(stream)
    knobs = {name: value for name, value in settings.knobs.items() if name != "max_stop_blocks"}
    return {**base, "mode": settings.mode, **knobs, **({"state_dir": state} if state else {})}
