"""Does the host read the settings file at all, and all that is in it?"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from typing import Any

from hookctl import files
from hookctl.checks import Finding, Scene, handlers
from hookctl.documents import MISSING, Document
from hookctl.hosts import Host, reading, shapes
from hookctl.masking import masked_text

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}
_MOST_HOPS = 40


def check(scene: Scene) -> Iterator[Finding]:
    """Faults that make the host ignore the file or parts of it, or that keep us from changing it."""
    if scene.document is not None and isinstance(scene.document.value, dict):
        yield from _writable(scene)
        yield from _links(scene)
    yield from content(scene)


def content(scene: Scene) -> Iterator[Finding]:
    """What in a file makes the host ignore it, or a part of it."""
    if scene.document is None or not isinstance(scene.document.value, dict):
        yield from _empty(scene)
        return
    yield from _strictness(scene)
    yield from _known_keys(scene)
    yield from _root_keys(scene)
    yield from _hooks(scene)
    yield from _env_names(scene)


def _writable(scene: Scene) -> Iterator[Finding]:
    read_only = False
    with contextlib.suppress(OSError):  # it went just now
        read_only = files.is_read_only(scene.path)
    if read_only:
        message = "the file is read-only, so neither install nor uninstall can change it"
        yield scene.find("read_only", "error", message, "Make it writable, or change it where it is generated.")


def _strictness(scene: Scene) -> Iterator[Finding]:
    error = reading.refusal(scene.host, scene.document) if scene.document else None
    if error:
        message = f"line {error.line}, column {error.column}: {error.message}; {costs(scene.host)}"
        yield scene.find("strict_host", "error", message, "Remove it.")


def _empty(scene: Scene) -> Iterator[Finding]:
    if scene.document and reading.is_refused_as_empty(scene.host, scene.document) and os.path.isfile(scene.path):
        message = f"the file is empty; {costs(scene.host)}"
        yield scene.find("strict_host", "error", message, "Remove it, or write {} into it.")


def costs(host: Host) -> str:
    """What the host makes of a file that it cannot read, as a sentence."""
    return f"{host.title} {reading.cost(host)}"


def _known_keys(scene: Scene) -> Iterator[Finding]:
    """A known key of a wrong type costs the whole file, hooks and env with it."""
    for name, wrong, (line, column) in wrong_keys(scene.host, scene.document) if scene.document else ():
        message = f"line {line}, column {column}: {name} {wrong}; {costs(scene.host)}"
        yield scene.find("wrong_type", "error", message, _mend(scene, name))


def _root_keys(scene: Scene) -> Iterator[Finding]:
    """Keys at the root that the host does not bear, or misses."""
    root, about = scene.document.value if scene.document else {}, _about(scene.host)
    allowed, refused = about.get("root_keys", []), about.get("refused_keys", [])
    for name in root:
        if (allowed and name not in allowed) or name in refused:
            message = f"{_quoted(name)} must not stand at the root of this file; {costs(scene.host)}"
            yield scene.find("wrong_key", "error", message, f"Remove {_quoted(name)}.")
    needed = about.get("top") and shapes.handlers(scene.host.shape, root)
    for name, value in scene.host.data["registration"]["top"].items() if needed else ():
        if json.dumps(root.get(name)) != json.dumps(value):
            message = f"{name} at the root of this file must be {json.dumps(value)}; {costs(scene.host)}"
            yield scene.find("wrong_key", "error", message, f"Set {name} to {json.dumps(value)}.")


def wrong_keys(host: Host, document: Document) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """The known keys that are not as the host wants them: name, what is wrong, line and column."""
    for name, rule in host.data.get("known_keys", {}).items():
        path = tuple(name.split("."))
        value = document.get(path)
        wrong = "" if value is MISSING else _wrong(value, rule)
        if wrong:
            yield name, wrong, document.position(path)


def _wrong(value: Any, rule: dict[str, Any]) -> str:
    kinds = _KINDS[rule["type"]]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        return f"must be of type {rule['type']}"
    if "one_of" in rule and value not in rule["one_of"]:
        return f"must be one of {', '.join(rule['one_of'])}"
    if "above" in rule and value <= rule["above"]:
        return f"must be above {rule['above']}"
    return ""


def _about(host: Host) -> dict[str, Any]:
    """What costs the whole file although its text can be read."""
    return host.data.get("guarding", {})


def _hooks(scene: Scene) -> Iterator[Finding]:
    root = scene.document.value if scene.document else {}
    named = scene.host.shape.root[:1]
    if named and scene.record is None and not isinstance(root.get(*named, {}), dict):
        message = f"{named[0]} is not an object; {scene.host.title} reads no hook of this file"
        yield scene.find("lost_hook", "warning", message, _mend(scene, "it"))
    for above, events in shapes.event_maps(scene.host.shape, root):
        for event in events:
            yield from _event(scene, (*above, event), event, events[event])


def _event(scene: Scene, path: tuple[Any, ...], event: str, groups: Any) -> Iterator[Finding]:
    """One event: does the host know it, and what of it does it load?"""
    host, about = scene.host, handlers.knowledge(scene.host)
    dotted = ".".join(map(str, path))
    if event in about.get("no_events", ()) or (len(path) == 1 and event in _about(host).get("refused_keys", ())):
        return
    if about["events"] and event not in about["events"]:
        message = f"{dotted}: {host.title} {host.data['client']['seen']} has no such event"
        if _about(host).get("unknown_events"):
            yield scene.find("unknown_event", "error", f"{message}; {costs(host)}", _mend(scene, "the name"))
        elif host.shape.root or isinstance(groups, list):
            yield scene.find("unknown_event", "warning", message, "Mend the name: it is case-sensitive.")
        return
    if about["events"] or event in host.events.values() or _is_guarding(host, event):
        for fault in handlers.faults(host, event, groups):
            yield _lost(scene, event, ".".join(map(str, (*path, *fault.place))), fault)
        yield from _timeouts(scene, path, event, groups)


def _is_guarding(host: Host, event: str) -> bool:
    """Whether one entry of an event that cannot be loaded costs the whole file."""
    events = _about(host).get("events", [])
    return event in events or "*" in events


def _lost(scene: Scene, event: str, name: str, fault: handlers.Fault) -> Finding:
    host = scene.host
    if _is_guarding(host, event) and (not fault.is_group or _about(host).get("groups", True)):
        return scene.find(
            "invalid_hook", "error", f"{name} {fault.wrong}; {costs(host)}", _mend(scene, "that entry")
        )
    does = host.data.get("faults", {}).get("entry", "may drop it")
    message = f"{name} {fault.wrong}; {host.title} {does}"
    return scene.find("lost_hook", "warning", message, _mend(scene, "that entry"))


def _timeouts(scene: Scene, path: tuple[Any, ...], event: str, groups: Any) -> Iterator[Finding]:
    """Hooks of others with a timeout that is hardly meant as the host takes it; of ours entries.py says more."""
    host = scene.host
    for place, fields, _ in shapes.handlers(host.shape._replace(root=()), {event: groups}):
        given, command = handlers.patience(host, fields), fields.get("command")
        if given is None or (isinstance(command, str) and shapes.is_ours(command)):
            continue
        name, value = ".".join(map(str, (*path, *place[1:]))), fields.get("timeout")
        if host.data["timeout_unit"] == "milliseconds" and given < 1:
            message = f"{name} has a timeout of {value}, which {host.title} takes for {given * 1000:g} milliseconds"
            message += ": the hook may be killed before it answers"
            yield scene.find("timeout_unit", "warning", message, "Write it in milliseconds, and as a number.")
        elif "milliseconds_from" in handlers.knowledge(host) and given != value:
            message = f"{name} has a timeout of {value}, which {host.title} takes for {given:g} seconds"
            yield scene.find("timeout_unit", "info", message)


def _quoted(name: str) -> str:
    return json.dumps(masked_text(name), ensure_ascii=False)


def _mend(scene: Scene, what: str) -> str:
    """What to do about something that the host does not take; its own check says whether that helped."""
    doctor = scene.host.data["client"].get("doctor")
    return f"Mend {what}, or remove it" + (f"; `{doctor}` says whether it is right then." if doctor else ".")


def _env_names(scene: Scene) -> Iterator[Finding]:
    env = scene.document.get(scene.host.env_path) if scene.document and scene.host.env_path else MISSING
    for name in env if isinstance(env, dict) else ():
        if not name or "=" in name:
            message = f"env has the name {_quoted(name)}, which no variable can have; {scene.host.title} drops it"
            yield scene.find("lost_env", "warning", message, "Mend the name, or remove it.")


def _links(scene: Scene) -> Iterator[Finding]:
    """A client may follow one link and replace the next (docs of Claude Code, issue 78162)."""
    hops, path = 0, scene.path
    while os.path.islink(path) and hops < _MOST_HOPS:
        path = os.path.join(os.path.dirname(path), os.readlink(path))
        hops += 1
    if hops > 1:
        message = f"it is a link to a link; a version of {scene.host.title} may replace the second one by a file"
        yield scene.find("link_chain", "info", message, f"Link it to {path} itself.")
