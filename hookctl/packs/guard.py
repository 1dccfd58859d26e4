"""The guard's own settings: from mode and knobs to its command, its env values and its configuration file."""

from __future__ import annotations

import os
import re
import shlex
from typing import Any

from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError
from hookctl.hosts import Host, load
from hookctl.hosts.shapes import head
from hookctl.model import PackRecord, Wanted
from hookctl.packs.choices import DEFAULT_LIMIT, LIMIT_KEY, MODES, Settings
from hookctl.packs.fields import fields_of, top_wants
from hookctl.packs.model import Pack
from hookctl.settings.targets import GUARD, OWN, Target, in_sh
from hookctl.settings.words import is_true
from hookctl.system import files

HOSTS = "hosts"  # the key of config.json with what hookctl knows of hosts; the others are settings
CEILING = 200  # blocks a prompt, whatever settings and progress say
ARMED_CEILING = 5000  # the same while keepalive is armed
UNLIMITED_CAP = "5000"  # where the guard's own limit is as high, or there is none
_CAP = (
    "key",
    "default",
    "most",
    "overrides_last",
    "counts_anew",
)  # of a host's cap, what the hook counts by
_QUOTED = r"""(?:'[^'\n]*'|"'"|[\w@%+=:,./-])+"""


def command(id: str, target: Target, folder: str, python: str, event: str) -> str:
    """The guarded command (design, section 4): whatever is missing or crashes, the host sees 0."""
    file, host = in_sh(target, f"{folder}/hook.py"), target.host.name
    program = "python3" if target.shared else shlex.quote(python)
    there = "command -v python3 >/dev/null 2>&1" if target.shared else f"[ -x {program} ]"
    guards = f"[ -f {file} ] && [ -r {file} ] && {there}"
    return f"{head(id)}{guards} && {program} -I -S {file} {event} --host {host}; exit 0"


def command_forms(id: str, event: str, host: Host) -> str:
    """A regular expression for every command that a released version wrote for this hook, with any paths."""
    shared = re.escape(f"{host.environment.in_command}/{OWN}/{GUARD}/{host.name}/hook.py")
    call = rf"-I -S (?P=hook) {re.escape(event)} --host {re.escape(host.name)}; exit 0"
    hook = rf"\[ -f (?P<hook>{_QUOTED}|{shared}) \] && \[ -r (?P=hook) \]"
    python = rf"(?:\[ -x (?P<python>{_QUOTED}) \] && (?P=python)|command -v python3 >/dev/null 2>&1 && python3)"
    return f"{re.escape(head(id))}{hook} && {python} {call}"


def hook_path(text: str, id: str, event: str, target: Target) -> str:
    """The hook file that a registered command runs; empty if the command is not of a form of ours."""
    match = re.fullmatch(command_forms(id, event, target.host), text)
    if not match:
        return ""
    if match["python"] is None:
        return (
            os.path.join(target.project, OWN, GUARD, target.host.name, "hook.py")
            if target.project
            else ""
        )
    return "".join(shlex.split(match["hook"]))


def wants(
    settings: Settings, target: Target, pack: Pack, folder: str, limit: str, cap: str = ""
) -> list[Wanted]:
    """The guard's entries in a host's settings file; `limit` is the one in effect there, which the cap follows.

    `cap` is the operator's own cap, where it stands somewhere that ours would beat: then ours says the same.
    """
    found, host = [], target.host
    variables = cap_variables(settings, host, limit)
    shared = {LIMIT_KEY: wanted_limit(settings)} if settings.mode == "breaker" else {}
    needed = events(settings, host)
    for hook in (hook for hook in pack.hooks if hook.event in needed):
        id = f"{GUARD}/{hook.id}"
        stop = hook.event == "stop"
        fields = fields_of(
            host,
            GUARD,
            command(id, target, folder, settings.python, hook.event),
            hook.timeout or 10,
            matcher=_matcher(settings) if hook.event == "pre-tool" else None,
            env=shared if stop else None,
            cap=_cap_of_a_hook(settings, host, limit) if stop else None,
        )
        path = host.event_path(host.events[hook.event], GUARD)
        found.append(Wanted(path, "element", fields, id, command_forms(id, hook.event, host)))
    found = [*top_wants(host), *found] if found else []
    env = {**shared, **{key: cap or value for key, value in variables.items()}}
    return found + [
        Wanted((*host.env_path, key), "leaf", value) for key, value in env.items() if host.env_path
    ]


def events(settings: Settings, host: Host) -> tuple[str, ...]:
    """The events that these settings need on a host, of those that it has and can be answered on."""
    chosen = settings.events
    more = host.guard.events if "stop" in chosen else []
    needed = [event for event in (*chosen, *more) if event != "pre-tool" or can_refuse(host)]
    return tuple(event for event in dict.fromkeys(needed) if event in host.events)


def can_refuse(host: Host) -> bool:
    """Whether a tool call may be left to the guard there: it can refuse one, and its silence lets the others run."""
    return bool(host.dialect.refuse) and "pre-tool" not in host.guard.without


def cap_variables(settings: Settings, host: Host, limit: str = "") -> dict[str, str]:
    """The host's cap as these settings need it; empty where they need none or no variable sets it."""
    if settings.mode not in ("breaker", "keepalive") or not host.cap_key:
        return {}
    return {host.cap_key: _wanted_cap(settings, host, limit)}


def _cap_of_a_hook(settings: Settings, host: Host, limit: str) -> int | None:
    """The same where a hook's own field sets it."""
    if settings.mode not in ("breaker", "keepalive") or "field" not in host.cap:
        return None
    return int(_wanted_cap(settings, host, limit))


def _wanted_cap(settings: Settings, host: Host, limit: str) -> str:
    cap = (
        UNLIMITED_CAP if settings.mode == "keepalive" else cap_for(limit or wanted_limit(settings))
    )
    return str(min(int(cap), host.cap.get("most", int(cap))))


def everything(settings: Settings) -> Settings:
    """The settings under which the guard wants all that it could ever want."""
    return Settings(
        "breaker", {**settings.knobs, "dispatch_tools": ["*"]}, settings.python, settings.preset
    )


def _matcher(settings: Settings) -> str | None:
    """The tools that the host calls the hook for; the hook itself looks at the very names."""
    tools = settings.effective["dispatch_tools"]
    # Hosts take names split at | literally, and anything else for a regular expression.
    names = [tool if tool.isidentifier() else re.escape(tool) for tool in tools]
    return None if "*" in tools else "|".join(names)


def wanted_limit(settings: Settings) -> str:
    """The limit as an env value."""
    return str(settings.effective.get("max_stop_blocks", DEFAULT_LIMIT))


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
        value = JsonDocument.parse(
            files.read(path).data or b"", comments=False, trailing_commas=False
        ).value
    except HookctlError:
        return {}
    return value if isinstance(value, dict) else {}


def is_limit(text: str) -> bool:
    """Whether the hook can read an env value as a limit."""
    return bool(re.fullmatch(r"-?[0-9]{1,18}", text.strip()))


def switches_off(name: str, value: str) -> bool:
    """Whether a variable in the hook's environment makes it do nothing."""
    return name == "HOOKCTL_DISABLE" and is_true(value)


def mode_of(config: dict[str, Any], env: dict[str, str]) -> str:
    """The mode that the hook takes: the variable's if it is one, else that of config.json, else the default."""
    named = env.get("HOOKCTL_MODE", "").strip(), config.get("mode")
    return next((mode for mode in named if mode in MODES), Settings().mode)


def host_table(host: Host) -> dict[str, Any]:
    """What the hook needs to know of every host that may run this one's registration, as config.json has it."""
    others = [load(reader.host) for reader in host.also_read_by]
    marks = {other.name: other.told_by for other in others if other.told_by}
    table = {host.name: _of_host(host)}
    if marks:
        table[host.name]["also_run_by"] = marks
    return table | {other.name: _of_host(other) for other in others if other.name in marks}


def _of_host(host: Host) -> dict[str, Any]:
    """The hook's own part of a host's data file, without what is empty."""
    environment = host.environment
    part = {
        **host.dialect._asdict(),
        "project": environment.project,
        "session": environment.session,
        "cap": _cap_to_count(host),
        "payload": host.payload,
        "denials": host.denials,
    }
    return {name: value for name, value in part.items() if value}


def _cap_to_count(host: Host) -> dict[str, Any]:
    """The cap that the hook has to count towards; nothing where the host asks no more often, or an entry sets it."""
    cap = host.cap
    if "field" in cap or cap.get("asks"):
        return {}
    return {name: cap[name] for name in _CAP if name in cap}


def configuration(settings: Settings, state: str, host: Host) -> dict[str, Any]:
    """The knobs for config.json; in breaker the limit is in the host's env instead, where it has one.

    Without a state folder, as at project scope, the hook finds it by itself wherever it runs.
    """
    in_env = settings.mode == "breaker" and (host.env_path or host.env_field)
    elsewhere = "max_stop_blocks" if in_env else ""
    knobs = {name: value for name, value in settings.effective.items() if name != elsewhere}
    config = {"mode": settings.mode, **knobs}
    if state:
        config["state_dir"] = state
    return config
