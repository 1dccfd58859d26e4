"""Says in one sentence what the guard does in a settings file, or why it does nothing there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from hookctl.checks.facts import FileFacts
from hookctl.checks.programs import CHANGED, MISSING, UNREADABLE
from hookctl.hosts import loading, read_cap
from hookctl.model import WRAP
from hookctl.packs import guard
from hookctl.packs.abilities import in_the_way
from hookctl.packs.choices import DEFAULT_LIMIT, Settings
from hookctl.packs.guard_options import in_effect, switches_off
from hookctl.packs.sentence import sentence, wraps_only
from hookctl.settings import effective, switches
from hookctl.settings.targets import GUARD


class Obstacles(NamedTuple):
    """What keeps a host from running any hook of a file; each is '' if there is no obstacle."""

    not_loaded: str  # why it loads nothing of the file
    switched_off: str  # what switches all hooks off
    distrust: str  # the sentence that it does not trust the project's folder


def find_obstacles(file: FileFacts) -> Obstacles:
    """What keeps the host from running any hook of a file."""
    host, project, document = file.host, file.target.project, file.document
    error = loading.refusal(host, document) if document else None
    reason = loading.reason_not_loaded(host, document) if document else ""
    if error:
        reason = f"in line {error.line} {error.message}; {loading.cost(host)}"
    is_untrusted = bool(project) and file.is_untrusted
    return Obstacles(
        reason,
        switches.describe(file.switches, file.target.scope, file.path),
        f"{host.title} has not been told to trust {project}" if is_untrusted else "",
    )


def describe_guard(file: FileFacts, states: Mapping[str, str], obstacles: Obstacles) -> str:
    """What the guard will do in this host, from the files as they are now.

    `states` has the state of each hook on record, by its id.
    """
    text = _describe_effect(file, states, obstacles)
    if obstacles.distrust:
        text += f"; {obstacles.distrust}, and runs no hook there as long as it is not"
    return text


def _describe_effect(file: FileFacts, states: Mapping[str, str], obstacles: Obstacles) -> str:
    host, options = file.host, _read_options(file)
    settings = file.settings or Settings()
    unapproved = {closed.element.id for closed in file.closed}
    waits = f"{host.title} waits for an approval ({host.trust.action})"
    wraps = _list_wraps(states)
    if wraps and not settings.events and not obstacles.switched_off:
        if unapproved & set(wraps):
            return f"does nothing: {waits}"
        limit = options.get("max_stop_blocks", DEFAULT_LIMIT)
        sources = [layer.source for layer in file.reaching]
        return wraps_only(len(wraps), limit, effective.blocks(host, sources, {}))
    missing = []
    for event in guard.events(settings, host, wraps=any(id.startswith(WRAP) for id in states)):
        if states.get(f"{GUARD}/{event}") not in ("owned", "overridden"):
            missing.append(event)
    reason = _find_idle_reason(file, missing, options, obstacles)
    if not reason and effective.STOP in unapproved:
        reason = waits
    if reason:
        return f"does nothing: {reason}"
    registered = {id for id, state in states.items() if state in ("owned", "overridden")}
    text = _describe_mode(file, registered, options, can_wrap=not wraps)
    if wraps:
        hooks = "hook" if len(wraps) == 1 else "hooks"
        text += f"; it limits the denials of {len(wraps)} wrapped {hooks}"
    if settings.preset:
        text += f" (preset {settings.preset})"
    if missing:
        text += f" (its hook for {' and '.join(missing)} is not registered)"
    waiting = [event for event in guard.events(settings, host) if f"{GUARD}/{event}" in unapproved]
    if waiting:
        text += f" (its hook for {' and '.join(waiting)} waits for an approval)"
    return text


def _list_wraps(states: Mapping[str, str]) -> list[str]:
    """The hooks of other tools that the guard wraps."""
    wrapped = []
    for id, state in states.items():
        if id.startswith(WRAP) and state == "owned":
            wrapped.append(id)
    return wrapped


def _read_options(file: FileFacts) -> dict[str, Any]:
    """The guard's options in effect: a variable of the settings wins over config.json."""
    values = file.config.value if file.config else {}
    return in_effect(values, effective.variables([layer.source for layer in file.reaching]))


def _find_idle_reason(
    file: FileFacts, missing: list[str], options: dict[str, Any], obstacles: Obstacles
) -> str:
    """Why the guard does nothing, or ''."""
    events = file.settings.events if file.settings else ()
    if not events:
        return "its mode is off"
    if obstacles.not_loaded:
        return obstacles.not_loaded
    if len(missing) == len(events):
        is_disabled = effective.STOP in file.disabled_ids
        return "its hook is disabled" if is_disabled else "its hook is not registered"
    if obstacles.switched_off:
        return obstacles.switched_off
    variables = effective.variables([layer.source for layer in file.reaching])
    for name, value in variables.items():
        if switches_off(name, value):
            return f"{name}={value} in the settings' env"
    if file.fault and file.fault.kind == MISSING:
        return "its file is missing"
    if file.config and file.config.error:
        return "its files cannot be read"
    if options.get("mode") == "off" and not options.get("dispatch_tools"):
        return "its configuration says mode off"
    for path in file.lost_programs.values():  # that of a wrapped hook too
        return f"its hook runs {path}, which is not there (`hookctl doctor --fix`)"
    return ""


def _describe_mode(
    file: FileFacts, registered: set[str], options: dict[str, Any], *, can_wrap: bool
) -> str:
    """What the guard does on a stop and on a tool call, and what limits it.

    `registered` has the ids of its hooks: the configuration may ask for more events.
    """
    host, limit = file.host, options.get("max_stop_blocks", DEFAULT_LIMIT)
    mode = options.get("mode", "breaker") if f"{GUARD}/stop" in registered else "off"
    cap = effective.cap(host, [layer.source for layer in file.reaching], {}).text
    obstacles = [f"; {text}" for text in in_the_way(host, mode, limit, options, cap)]
    if f"{GUARD}/pre-tool" not in registered or not guard.can_refuse(host):
        options = {**options, "dispatch_tools": []}
    if f"{GUARD}/session-start" not in registered or not host.dialect.context:
        options = {**options, "guidance": False}
    if guard.leaves_reminders(host, options):
        options = {**options, "required_tools": []}
    text = sentence(
        mode,
        options,
        limit,
        read_cap(host, cap),
        host.title,
        can_block=bool(host.dialect.block),
        can_end=bool(host.dialect.end),
        can_wrap=host.registration.wraps and can_wrap,
        can_end_refused=bool(host.dialect.refuse_end),
    )
    return text + "".join(obstacles)


def describe_runner(file: FileFacts) -> str:
    """Why the commands of packs are not run, or perhaps not as they should be; or ''."""
    fault = file.fault
    if file.lost_programs or (fault is not None and fault.kind == MISSING):
        return "does nothing: what runs it is missing (`hookctl doctor --fix`)"
    if fault is not None and fault.kind in (CHANGED, UNREADABLE):
        return "what runs it was changed: `hookctl doctor` says more"
    return ""
