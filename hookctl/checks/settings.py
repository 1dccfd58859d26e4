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
from hookctl.hosts import Host
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
    document = scene.document
    if document is None or not isinstance(document.value, dict):
        return
    yield from _writable(scene)
    yield from _links(scene)
    yield from content(scene)


def content(scene: Scene) -> Iterator[Finding]:
    """What in a file makes the host ignore it, or a part of it."""
    if scene.document is None or not isinstance(scene.document.value, dict):
        return
    yield from _strictness(scene)
    yield from _known_keys(scene)
    yield from _guarding_events(scene)
    yield from _other_events(scene)
    yield from _env_names(scene)


def _writable(scene: Scene) -> Iterator[Finding]:
    read_only = False
    with contextlib.suppress(OSError):  # it went just now
        read_only = files.is_read_only(scene.path)
    if read_only:
        message = "the file is read-only, so neither install nor uninstall can change it"
        yield scene.find("read_only", "error", message, "Make it writable, or change it where it is generated.")


def _strictness(scene: Scene) -> Iterator[Finding]:
    document, host = scene.document, scene.host
    fault = document.fault if document else None
    if fault is None or (host.comments and host.trailing_commas):
        return
    kind, line, column = fault
    message = f"line {line}, column {column}: a {kind}; {host.title} ignores the whole file because of it, silently"
    yield scene.find("strict_host", "error", message, f"Remove the {kind}.")


def _known_keys(scene: Scene) -> Iterator[Finding]:
    """A known key of a wrong type costs the whole file, hooks and env with it."""
    for name, wrong, (line, column) in wrong_keys(scene.host, scene.document) if scene.document else ():
        message = f"line {line}, column {column}: {name} {wrong}; {scene.host.title} ignores the whole file for that"
        yield scene.find("wrong_type", "error", message, _mend(scene, name))


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


def _guarding_events(scene: Scene) -> Iterator[Finding]:
    """An entry that cannot be loaded under one of these events costs the whole file too."""
    for event in guarding(scene.host):
        for place, wrong in handlers.faults(scene.host, event, _groups(scene, event)):
            message = f"{_dotted(event, place)} {wrong}; {scene.host.title} ignores the whole file for that"
            yield scene.find("invalid_hook", "error", message, _mend(scene, "that entry"))


def guarding(host: Host) -> list[str]:
    """The events under which one entry that cannot be loaded costs the whole file."""
    return host.data.get("guarding", {}).get("events", [])


def _other_events(scene: Scene) -> Iterator[Finding]:
    """Elsewhere only the entry, the group or the event is lost."""
    root = scene.host.shape.root
    hooks = scene.document.get(root) if scene.document and root == ("hooks",) else MISSING
    known = handlers.knowledge(scene.host)["events"]
    if hooks is not MISSING and not isinstance(hooks, dict) and scene.record is None:
        message = f"hooks is not an object; {scene.host.title} reads no hook of this file"
        yield scene.find("lost_hook", "warning", message, _mend(scene, "it"))
    for event in hooks if isinstance(hooks, dict) else ():
        if known and event not in known:
            message = f"hooks.{event}: {scene.host.title} {scene.host.data['client']['seen']} has no such event"
            yield scene.find("unknown_event", "warning", message, "Mend the name: it is case-sensitive.")
        elif event not in guarding(scene.host) and (known or event in scene.host.events.values()):
            for place, wrong in handlers.faults(scene.host, event, hooks[event]):
                message = f"{_dotted(event, place)} {wrong}; {scene.host.title} drops it without a word"
                yield scene.find("lost_hook", "warning", message, _mend(scene, "that entry"))


def _groups(scene: Scene, event: str) -> Any:
    return scene.document.get(("hooks", event)) if scene.document else MISSING


def _dotted(event: str, place: tuple[Any, ...]) -> str:
    return ".".join(map(str, ("hooks", event, *place)))


def _mend(scene: Scene, what: str) -> str:
    """What to do about something that the host does not take; its own check says whether that helped."""
    doctor = scene.host.data["client"].get("doctor")
    return f"Mend {what}, or remove it" + (f"; `{doctor}` says whether it is right then." if doctor else ".")


def _env_names(scene: Scene) -> Iterator[Finding]:
    env = scene.document.get(scene.host.env_path) if scene.document and scene.host.env_path else MISSING
    for name in env if isinstance(env, dict) else ():
        if not name or "=" in name:
            quoted = json.dumps(masked_text(name), ensure_ascii=False)
            message = f"env has the name {quoted}, which no variable can have; {scene.host.title} drops it"
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
