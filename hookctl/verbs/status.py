"""hookctl status: what is installed where, what was changed since, and what the guard will do."""

from __future__ import annotations

import os
from typing import Any

from hookctl import engine, errors, report
from hookctl import hosts as known
from hookctl.documents import Document
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError
from hookctl.hosts import Host, reading
from hookctl.ledger import committed, store
from hookctl.masking import masked, masked_text
from hookctl.model import Current, Entry, PackRecord, Record, Result
from hookctl.packs import guard, wrapping
from hookctl.packs.abilities import in_the_way
from hookctl.packs.choices import LIMIT_KEY, settings_from
from hookctl.packs.knobs import in_effect
from hookctl.packs.sentence import sentence as describe
from hookctl.settings import approval, effective, precedence
from hookctl.settings.precedence import Source
from hookctl.settings.sources import look, read_document
from hookctl.settings.targets import GUARD, active_file, variant_of_file
from hookctl.system import files, project
from hookctl.system.folders import Folders


def status(folders: Folders) -> Result:
    """Every settings file that the ledger knows, entry by entry, and the hosts that have nothing of ours.

    What cannot be read is an error, and keeps nothing else from being shown.
    """
    records, problems = committed.read_known(folders)
    order = {name: n for n, name in enumerate(known.names())}
    installed = [
        (path, record) for path, record in records.items() if record.packs
    ]  # not where only approvals stand
    found = sorted(installed, key=lambda page: (order.get(page[1].host, len(order)), page[0]))
    pages = [_page(folders, store.place_of(records, path), record) for path, record in found]
    lines = [line for page in pages for line in _lines(page)]
    for name in known.names():
        host = known.load(name)
        unknown = [
            path
            for variant, path in _own_paths(folders, host)
            if _stands_unknown(records, variant, path)
        ]
        for path in unknown:
            said = f"a hook of ours that the ledger does not know stands in {report.tilde(path)}"
            lines.append(f"{host.title}: {said}; `hookctl doctor` says more")
        where = known.detected(host, folders.environ)
        if where and not unknown and all(record.host != name for record in records.values()):
            seen = f"detected: {report.tilde(where)}"
            lines.append(
                f"{host.title}: nothing is installed ({seen}); `hookctl install --host {name}` does it"
            )
    if not lines:
        lines.append(
            "nothing is installed, and no host is detected here; `hookctl hosts` shows those there are"
        )
    faults = (
        *(problem.as_dict() for problem in problems),
        *(page["error"] for page in pages if page["error"]),
    )
    return Result(
        {"files": pages},
        tuple(lines),
        errors=faults,
        exit_code=errors.UNREADABLE if faults else errors.OK,
    )


def _own_paths(folders: Folders, host: Host) -> list[tuple[Host, str]]:
    """The settings files of a host that count where we are."""
    here = project.find(folders.cwd, folders.environ)
    return [active_file(host, scope, folders.environ, here) for scope in host.scopes]


def _stands_unknown(records: dict[str, Record], host: Host, path: str) -> bool:
    """Whether a hook of ours is registered in a settings file that the ledger has no page for."""
    try:
        _, record = store.page_of(records, path)
        if record is not None or not os.path.lexists(path):
            return False
        return bool(look(host, read_document(path, host.format)[1], (), ()).elements)
    except HookctlError:
        return False


def _page(folders: Folders, path: str, record: Record) -> dict[str, Any]:
    page: dict[str, Any] = {
        "file": path,
        "host": record.host,
        "scope": record.scope,
        "project": record.project or None,
        "packs": {name: pack.version for name, pack in record.packs.items()},
        "entries": [],
        "error": None,
        "guard": None,
    }
    try:
        host = (
            variant_of_file(known.load(record.host), path) if record.host in known.names() else None
        )
        _, document = read_document(path, record.format)
        current = look(host or known.load(known.names()[0]), document, (), record.entries)
    except HookctlError as error:
        return {**page, "error": error.as_dict()}
    if host is None:
        return {**page, "entries": [_entry(entry, current, None) for entry in _shown(record)]}
    user = path if record.scope == "user" else active_file(host, "user", folders.environ)[1]
    found = precedence.sources(folders, host, user, record.project or folders.cwd)
    page["entries"] = [
        _entry(entry, current, _stronger(host, record, found, entry, current))
        for entry in _shown(record)
    ]
    if GUARD in record.packs:
        states = {entry["id"]: entry["state"] for entry in page["entries"]}
        off = effective.disabling(
            effective.with_switches(folders, host, found, record.project or folders.cwd)
        )
        own = [source for source in found if source.path == path] if host.env_field else []
        shut = _switched_off(off, path, found)
        waiting = {
            one.element.id for one in approval.closed(host, path, document.value, folders.environ)
        }
        said = sentence(host, record.packs[GUARD], document, states, own or found, shut, waiting)
        page["guard"] = said + _limited(page["entries"]) + _untrusted(folders, host, record)
    return page


def _shown(record: Record) -> list[Entry]:
    return [entry for entry in record.entries if entry.kind != "container"]


def _stronger(
    host: Host, record: Record, found: list[Source], entry: Entry, current: Current
) -> Source | None:
    """The file of another scope whose other value of an env key is in effect instead of this one's."""
    if entry.kind != "leaf":
        return None
    order = host.data["scopes"]["precedence"]
    source = precedence.winner(found, entry.path)
    if source is None or order.index(source.scope) >= order.index(record.scope):
        return None
    return (
        None
        if engine.same(source.document.get(entry.path), current.values.get(entry.path))
        else source
    )


def _entry(entry: Entry, current: Current, stronger: Source | None) -> dict[str, Any]:
    key = str(entry.path[-1])
    value = current.values.get(entry.path) if entry.kind == "leaf" else entry.written
    page = {
        "path": list(entry.path),
        "kind": entry.kind,
        "id": entry.id,
        "state": engine.state(entry, current, entry.path, entry.id),
        "mode": entry.mode,
        "value": masked(value, key),
        "owners": list(entry.owners),
        "in_effect": None,
        "wraps": _wrapped_by(entry),
    }
    if stronger:
        here = masked(stronger.document.get(entry.path), key)
        page["in_effect"] = {"scope": stronger.scope, "file": stronger.path, "value": here}
    return page


def sentence(
    host: Host,
    pack: PackRecord,
    document: Document,
    states: dict[str, str],
    found: list[Source],
    off: str,
    waiting: set[str],
) -> str:
    """What the guard will do in this host, in one sentence, from what is really there and in effect.

    `off` says what switches all hooks off, empty if nothing does; `waiting` are the hooks that nobody has approved.
    """
    texts = effective.variables(found)
    idle = _idle(host, pack, document, states, texts, off)
    if not idle and f"{GUARD}/stop" in waiting:
        idle = f"{host.title} waits for an approval ({host.data['trust']['action']})"
    if idle:
        return f"does nothing: {idle}"
    knobs = in_effect(guard.live_configuration(pack), texts)
    mode, limit = (
        guard.mode_of(knobs, texts),
        guard.limit_of(texts.get(LIMIT_KEY, ""), knobs.get("max_stop_blocks")),
    )
    missing = _missing(host, pack, states)
    mode = "off" if "stop" in missing else mode
    short = [
        f"; {said}"
        for said in in_the_way(host, mode, limit, knobs, effective.cap(host, found, {}).text)
    ]
    knobs |= {"dispatch_tools": []} if "pre-tool" in missing or not guard.can_refuse(host) else {}
    said = describe(mode, knobs, limit, effective.blocks(host, found, {}), host.title) + "".join(
        short
    )
    preset = settings_from(pack.settings).preset
    said += f" (preset {preset})" if preset else ""
    said += f" (its hook for {' and '.join(missing)} is not registered)" if missing else ""
    mute = [
        event
        for event in guard.events(settings_from(pack.settings), host)
        if f"{GUARD}/{event}" in waiting
    ]
    return said + (f" (its hook for {' and '.join(mute)} waits for an approval)" if mute else "")


def _limited(entries: list[dict[str, Any]]) -> str:
    """What is said of the hooks that the guard wraps."""
    count = sum(entry["state"] == "owned" for entry in entries if entry["wraps"])
    return f"; it limits the denials of {count} wrapped hook{'s' * (count > 1)}" if count else ""


def _missing(host: Host, pack: PackRecord, states: dict[str, str]) -> list[str]:
    """The events that the guard's settings need and that are not registered."""
    events = guard.events(settings_from(pack.settings), host)
    return [
        event for event in events if states.get(f"guard/{event}") not in ("owned", "overridden")
    ]


def _idle(
    host: Host,
    pack: PackRecord,
    document: Document,
    states: dict[str, str],
    env: dict[str, str],
    off: str,
) -> str:
    """Why the guard does nothing; empty if it works."""
    events = settings_from(pack.settings).events
    if not events:
        return "its mode is off"
    error = reading.refusal(host, document)
    if error:
        return f"{host.title} {reading.cost(host)}, because in line {error.line} {error.message}"
    if len(_missing(host, pack, states)) == len(events):
        return "its hook is not registered"
    if off:
        return off
    variable = next((name for name, value in env.items() if guard.switches_off(name, value)), "")
    if variable:
        return f"{variable}={env[variable]} in the settings' env"
    try:
        program = files.read(os.path.join(pack.folder, "hook.py")).data
        config = JsonDocument.parse(
            files.read(os.path.join(pack.folder, "config.json")).data or b"{}"
        ).value
    except HookctlError:
        return "its files cannot be read"
    if program is None:
        return "its file is missing"
    knobs = in_effect(config if isinstance(config, dict) else {}, env)
    off = knobs.get("mode") == "off" and not knobs.get("dispatch_tools")
    return "its configuration says mode off" if off else ""


def _switched_off(switch: effective.Switch | None, path: str, found: list[Source]) -> str:
    """What switches all hooks off, or all that are not managed; empty if nothing does."""
    if switch:
        return switch.said + (f" in {switch.source.path}" if switch.source.path != path else "")
    for source in found:
        key = source.host.data["switches"].get("managed_only")
        if key and source.scope == "managed" and source.document.get((key,)) is True:
            return f"{key} is true in {source.path}"
    return ""


def _untrusted(folders: Folders, host: Host, record: Record) -> str:
    """What is said of a folder that the host has not been told to trust."""
    if not record.project or not approval.is_untrusted(
        host, record.scope, record.project, folders.environ
    ):
        return ""
    return f"; {host.title} has not been told to trust {record.project}, and runs no hook there as long as it is not"


def _instead(entry: dict[str, Any]) -> str:
    here = entry["in_effect"]
    return f" (in effect here: {here['value']}, of {here['scope']} scope)" if here else ""


def _wrapped_by(entry: Entry) -> str | None:
    """The command of the hook that an entry wraps; None for every other entry."""
    if not wrapping.wraps(entry.id):
        return None
    return masked_text(wrapping.original_of(entry.written["command"]) or "an unknown command")


def _around(entry: dict[str, Any]) -> str:
    return f" (wraps {entry['wraps']})" if entry["wraps"] else ""


def _lines(page: dict[str, Any]) -> list[str]:
    packs = ", ".join(f"{name} {version}" for name, version in page["packs"].items())
    title = known.load(page["host"]).title if page["host"] in known.names() else page["host"]
    lines = [f"{title} ({page['scope']}): {report.tilde(page['file'])}", f"  installed  {packs}"]
    if page["error"]:
        return [
            *lines,
            "  what is in it is not known: it cannot be read; `hookctl doctor` says more",
        ]
    for entry in page["entries"]:
        name = f"{entry['id']} at {'.'.join(entry['path'])}" if entry["id"] else entry["path"][-1]
        value = (
            f"={entry['value']}" if entry["kind"] == "leaf" and entry["value"] is not None else ""
        )
        lines.append(f"  {entry['state']:10} {name}{value}{_instead(entry)}{_around(entry)}")
    return [*lines, f"  the guard  {page['guard']}"] if page["guard"] else lines
