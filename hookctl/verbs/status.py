"""hookctl status: what is installed where, what changed since, and what the guard will do."""

from __future__ import annotations

import os
from collections.abc import Container, Sequence
from typing import Any

from hookctl import clock, engine, errors, hosts, report
from hookctl.checks import known
from hookctl.checks.machine import Machine
from hookctl.checks.rules import state_of_block
from hookctl.documents import Document
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError
from hookctl.hosts import Host, loading
from hookctl.ledger import store
from hookctl.ledger.rules import rules_entries
from hookctl.masking import OwnText, masked, masked_text
from hookctl.model import Current, Entry, Line, PackRecord, Record, Result
from hookctl.output.lines import OK, SKIP, WARN, fix, other_projects, tilde
from hookctl.output.status import file_lines
from hookctl.packs import guard, whose_work, wrapping
from hookctl.packs.abilities import in_the_way
from hookctl.packs.choices import DEFAULT_LIMIT, settings_from
from hookctl.packs.guard_options import in_effect as settings_in_effect
from hookctl.packs.model import NEWER, UNKNOWN, Origin
from hookctl.packs.released import find_origin
from hookctl.packs.reports import how_to_renew
from hookctl.packs.run_files import find as find_run_files
from hookctl.packs.sentence import sentence as describe_guard
from hookctl.packs.sentence import wraps_only
from hookctl.planner.run import name_pending
from hookctl.planner.sources import look, read_document
from hookctl.settings import approval, effective
from hookctl.settings.effective import Source
from hookctl.settings.targets import GUARD, RULES, Target, variant_of_file
from hookctl.system import files, project
from hookctl.system.folders import Folders
from hookctl.values import NamedTuple


class Filter(NamedTuple):
    """What status is asked about; an empty field filters nothing."""

    hosts: tuple[str, ...] = ()
    scope: str = ""
    verbose: bool = False
    everywhere: bool = False  # also the other projects on record


def status(folders: Folders, wanted: Filter) -> Result:
    """The user's and this project's settings files on record, entry by entry, and the other hosts.

    What cannot be read is an error, and keeps nothing else from being shown.
    """
    pending: tuple[str, ...] = ()
    unreadable = None
    try:
        pending = name_pending(folders, report.say)
    except HookctlError as error:
        unreadable = error
    return _make_status(folders, wanted, pending, unreadable)


def _make_status(
    folders: Folders,
    wanted: Filter,
    pending: tuple[str, ...],
    unreadable: HookctlError | None,
) -> Result:
    """The status, with the files of an interrupted run, or why its journal cannot be read."""
    found = known.read(folders, everywhere=wanted.everywhere)
    records = found.records
    # Another user's project has nothing of ours.
    problems = [error for error in found.errors if error.code != "foreign_project"]
    if unreadable is not None:
        problems.append(unreadable)
    machine = Machine(folders, records)
    files_shown = []
    for key in _sort_installed(records, wanted):
        path = store.current_path(records, key)
        file = _describe_file(machine, path, records[key])
        files_shown.append({**file, "rules": _describe_rules(records, key)})
    lines = _describe_files(folders, files_shown, wanted)
    away = sorted({folder for _, folder, _ in found.gone})
    for project_folder in away:
        text = (
            f"{tilde(project_folder)} is not there; what is installed in it stays on record, "
            "and counts again once it is back"
        )
        lines.append(Line(text, SKIP))
    for name in wanted.hosts or hosts.names():
        lines += _describe_unrecorded(machine, machine.load(name))
    if not lines:
        text = (
            "nothing is installed, and no host is detected here; "
            "`hookctl hosts` shows those there are"
        )
        lines.append(Line(text))
    faults = [problem.as_dict() for problem in problems]
    faults += [file["error"] for file in files_shown if file["error"]]
    exit_code = errors.UNREADABLE if faults else errors.OK
    work, work_lines = _describe_work(folders)
    lines += work_lines + other_projects(found.others, found.others_gone, "status")
    data = {
        "files": files_shown,
        "pending": list(pending),
        "away": away,
        "work": work,
        "other_projects": len(found.others),
    }
    return Result(data, tuple(lines), errors=tuple(faults), exit_code=exit_code)


def _describe_work(folders: Folders) -> tuple[dict[str, Any] | None, list[Line]]:
    """The work that waits in the current project, for machines and for people."""
    try:
        run_files = find_run_files(folders, project.look(folders.cwd, folders.environ))
        work = whose_work.find_work(run_files)
    except HookctlError:  # another user's project has no work for us
        return None, []
    if not work.remaining:
        return None, []
    age = clock.age(run_files.now - work.touched)
    text = f"{work.remaining} remaining, touched {age} ago"
    lines = [
        Line(text, OK, path=tilde(run_files.project)),
        Line(f"for {whose_work.describe_owner(run_files, work)}", indent=4),
    ]
    mark = run_files.mark
    if mark:
        lines = [
            Line(
                f"{text}, but {mark} is set: agents may stop", SKIP, path=tilde(run_files.project)
            ),
            fix("`hookctl run start` clears it"),
        ]
    elif work.is_stale:
        lines = [
            Line(f"{text}: the guard ignores it", WARN, path=tilde(run_files.project)),
            fix(how_to_renew(run_files.task, run_files.fields)),
        ]
    return whose_work.as_data(run_files, work), lines


def _describe_files(
    folders: Folders, files_shown: list[dict[str, Any]], wanted: Filter
) -> list[Line]:
    """The lines about the settings files, those that count in the working folder first."""
    here = project.look(folders.cwd, folders.environ)
    lines: list[Line] = []
    others: list[Line] = []
    for file in files_shown:
        name = file["host"]
        title = hosts.load(name).title if name in hosts.names() else name
        is_here = file["project"] in (None, here)
        new = file_lines(file, title, is_here=is_here, verbose=wanted.verbose)
        (lines if is_here else others).extend(new)
    return [*lines, *others]


def _sort_installed(records: dict[str, Record], wanted: Filter) -> list[str]:
    """The keys of the wanted records with packs, in the hosts' order."""
    order = {name: number for number, name in enumerate(hosts.names())}
    keys = []
    for key, record in records.items():
        if wanted.hosts and record.host not in wanted.hosts:
            continue
        if wanted.scope and record.scope != wanted.scope:
            continue
        if record.packs:  # others only have approvals or an empty place
            keys.append(key)
    return sorted(keys, key=lambda key: (order.get(records[key].host, len(order)), key))


def _describe_unrecorded(machine: Machine, host: Host) -> list[Line]:
    """The lines about a host's hooks of ours without a record, or about a host without any."""
    unrecorded = []
    for scope in host.scopes:
        variant, path = machine.active_file(host, scope, machine.cwd_project)
        target = Target(variant, scope, path, machine.cwd_project)
        _, record = store.find_record(machine.records, target.path)
        if not (record and record.packs) and machine.has_ours(target):
            unrecorded.append(target.path)
    if unrecorded:
        text = f"{host.title}: a hook of hookctl's that its record does not know"
        lines = [Line(text, WARN, path=tilde(path)) for path in unrecorded]
        return [*lines, fix("see what `hookctl doctor` says")]
    evidence = hosts.detected(host, machine.environ, machine.made)
    installed = {record.host for record in machine.records.values() if record.packs}
    if not evidence or host.name in installed:
        return []
    text = f"{host.title}: nothing is installed; `hookctl install --host {host.name}` does it"
    return [Line(text, SKIP)]


def _describe_file(machine: Machine, path: str, record: Record) -> dict[str, Any]:
    """A settings file as `--json` shows it."""
    facts: dict[str, Any] = {
        "file": path,
        "host": record.host,
        "scope": record.scope,
        "project": record.project or None,
        "packs": {name: pack.version for name, pack in record.packs.items()},
        "entries": [],
        "error": None,
        "guard": None,
        "program": None,
        "idle": "",
        "unapproved": [],
    }
    is_known = record.host in hosts.names()
    try:
        host = machine.load(record.host if is_known else hosts.names()[0])
        if is_known:
            host = variant_of_file(host, path, machine.read)
        document = machine.reader.patient_document(path, record.format)[1]
        current = look(host, document, (), record.entries)
    except HookctlError as error:
        return {**facts, "error": error.as_dict()}
    target = Target(host, record.scope, path, record.project)
    layers, switches = machine.surroundings(target) if is_known else ((), ())
    sources = [layer.source for layer in layers]
    for entry in record.entries:
        if entry.kind != "container":
            stronger = None
            if entry.kind == "leaf":
                stronger = effective.stronger(sources, record.scope, entry.path)
            facts["entries"].append(_describe_entry(host, entry, current, stronger))
    if not is_known:
        return facts
    view = _look_at(machine, target, record, document, sources, switches)
    facts["idle"] = view.not_loaded or view.switched_off or view.distrust
    facts["unapproved"] = sorted(view.unapproved)
    if GUARD in record.packs:
        states = {entry["id"]: entry["state"] for entry in facts["entries"]}
        origin = _find_origin(record.packs[GUARD], current)
        facts["program"] = origin.kind if origin else None
        facts["guard"] = _describe_foreign_program(origin)
        if not facts["guard"]:
            facts["guard"] = _describe_guard(view, states)
            if view.distrust:
                facts["guard"] += f"; {view.distrust}, and runs no hook there as long as it is not"
    return facts


class _View(NamedTuple):
    """A settings file as the host has it where it is started, each part looked at once."""

    host: Host
    record: Record
    sources: list[Source]  # those whose variables reach the guard's hook
    not_loaded: str  # why the host loads nothing of the file; '' if it does
    switched_off: str  # what switches all its hooks off; '' if nothing does
    distrust: str  # that the host does not trust the project's folder; '' if it does
    unapproved: frozenset[str]  # the ids of our hooks that wait for an approval


def _look_at(
    machine: Machine,
    target: Target,
    record: Record,
    document: Document,
    sources: list[Source],
    switches: Sequence[Source],
) -> _View:
    host, path, environ = target.host, target.path, machine.environ
    own = [source for source in sources if source.path == path and host.env_field]
    closed = approval.closed(host, path, document.value, environ, machine.read)
    distrust = ""
    if record.project and approval.is_untrusted(
        host, record.scope, record.project, environ, machine.read
    ):
        distrust = f"{host.title} has not been told to trust {record.project}"
    return _View(
        host=host,
        record=record,
        sources=own or sources,
        not_loaded=_why_not_loaded(host, document),
        switched_off=effective.describe_switch(path, switches),
        distrust=distrust,
        unapproved=frozenset(one.element.id for one in closed),
    )


def _why_not_loaded(host: Host, document: Document) -> str:
    """Why the host loads nothing of a settings file; '' if it does."""
    error = loading.refusal(host, document)
    if error:
        return f"{loading.cost(host)}, because in line {error.line} {error.message}"
    reason = loading.reason_not_loaded(host, document)
    return f"{loading.cost(host)}, because {reason}" if reason else ""


def _describe_rules(records: dict[str, Record], key: str) -> list[dict[str, Any]]:
    """The blocks of rules of the packs in a settings file, and what became of them."""
    path, entries = rules_entries(records, key)
    if not entries:
        return []
    try:
        document = read_document(path, RULES)[1]
    except HookctlError:
        return [{"pack": pack, "file": path, "state": "unreadable"} for pack in entries]
    rules = []
    for pack, entry in entries.items():
        state = state_of_block(entry, document)
        rules.append({"pack": pack, "file": path, "state": state})
    return rules


def _find_origin(pack_record: PackRecord, current: Current) -> Origin | None:
    """Where the programs come from that the guard's hooks run; None where they run none."""
    is_wrapping = any(wrapping.is_wrap_id(hook.id) for hook in current.elements)
    if not is_wrapping and not settings_from(pack_record.settings).events:
        return None
    return find_origin(pack_record, wraps=is_wrapping)


def _describe_foreign_program(origin: Origin | None) -> str:
    """What to say instead of what the guard does, where its program is not one that we know."""
    if origin is not None and origin.kind == UNKNOWN:
        return (
            f"{tilde(origin.path)} is no program that hookctl released; `hookctl doctor` says more"
        )
    if origin is not None and origin.kind == NEWER:
        return f"is of hookctl {origin.version}, as its record says; this one does not know it"
    return ""


def _mark_command(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a hook that we wrote, with a command that no mask touches."""
    return {**fields, "command": OwnText(fields["command"])}


def _describe_entry(
    host: Host, entry: Entry, current: Current, stronger: Source | None
) -> dict[str, Any]:
    """An entry as `--json` shows it."""
    key = str(entry.path[-1])
    value = current.values.get(entry.path) if entry.kind == "leaf" else entry.written
    is_own = entry.kind == "element" and not wrapping.is_wrap_id(entry.id)
    in_effect = None
    if stronger:
        stronger_value = masked(stronger.document.get(entry.path), key)
        in_effect = {"scope": stronger.scope, "file": stronger.path, "value": stronger_value}
    return {
        "path": list(entry.path),
        "kind": entry.kind,
        "id": entry.id,
        "state": engine.state(entry, current, entry.path, entry.id),
        "mode": entry.mode,
        "value": masked(_mark_command(value) if is_own else value, key),
        "env": masked(value.get(host.env_field)) if is_own and host.env_field else None,
        "owners": list(entry.owners),
        "in_effect": in_effect,
        "wraps": _wrapped_command(entry),
    }


def _describe_guard(view: _View, states: dict[str, str]) -> str:
    """What the guard will do in this host, in one sentence, from the files as they are now."""
    host, pack_record = view.host, view.record.packs[GUARD]
    variables = effective.variables(view.sources)
    waits = f"{host.title} waits for an approval ({host.trust.step(view.record.scope)})"
    reason = _find_idle_reason(view, states, variables) or _find_lost_program(view.record)
    if not reason and f"{GUARD}/stop" in view.unapproved:
        reason = waits
    wraps = [id for id, state in states.items() if wrapping.is_wrap_id(id) and state == "owned"]
    if wraps and not settings_from(pack_record.settings).events and not view.switched_off:
        if view.unapproved & set(wraps):
            return f"does nothing: {waits}"
        settings = settings_in_effect(guard.current_configuration(pack_record), variables)
        limit = settings.get("max_stop_blocks", DEFAULT_LIMIT)
        return wraps_only(len(wraps), limit, effective.blocks(host, view.sources, {}))
    if reason:
        return f"does nothing: {reason}"
    missing = _missing_events(host, pack_record, states)
    text = _describe_mode(host, pack_record, view.sources, missing, has_wraps=bool(wraps))
    text += _describe_wraps(len(wraps))
    return text + _describe_gaps(host, pack_record, missing, view.unapproved)


def _describe_mode(
    host: Host,
    pack_record: PackRecord,
    sources: list[Source],
    missing: list[str],
    *,
    has_wraps: bool,
) -> str:
    """What the guard does on a stop and on a tool call, and what limits it."""
    variables = effective.variables(sources)
    settings = settings_in_effect(guard.current_configuration(pack_record), variables)
    limit = settings.get("max_stop_blocks", DEFAULT_LIMIT)
    mode = "off" if "stop" in missing else settings.get("mode", "breaker")
    cap = effective.cap(host, sources, {}).text
    obstacles = [f"; {text}" for text in in_the_way(host, mode, limit, settings, cap)]
    if "pre-tool" in missing or not guard.can_refuse(host):
        settings["dispatch_tools"] = []
    if guard.leaves_reminders(host, settings):
        settings["required_tools"] = []
    blocks = effective.blocks(host, sources, {})
    text = describe_guard(
        mode,
        settings,
        limit,
        blocks,
        host.title,
        can_end=bool(host.dialect.end),
        can_wrap=host.registration.wraps and not has_wraps,
        can_end_refused=bool(host.dialect.refuse_end),
    )
    return text + "".join(obstacles)


def _describe_gaps(
    host: Host, pack_record: PackRecord, missing: list[str], unapproved: Container[str]
) -> str:
    """The preset, and the hooks that are not registered or not approved."""
    settings = settings_from(pack_record.settings)
    waiting = [event for event in guard.events(settings, host) if f"{GUARD}/{event}" in unapproved]
    text = ""
    if settings.preset:
        text += f" (preset {settings.preset})"
    if missing:
        text += f" (its hook for {' and '.join(missing)} is not registered)"
    if waiting:
        text += f" (its hook for {' and '.join(waiting)} waits for an approval)"
    return text


def _describe_wraps(count: int) -> str:
    """How many hooks of other tools the guard wraps."""
    if not count:
        return ""
    hooks = "hook" if count == 1 else "hooks"
    return f"; it limits the denials of {count} wrapped {hooks}"


def _missing_events(host: Host, pack_record: PackRecord, states: dict[str, str]) -> list[str]:
    """The events that the guard's settings need and that are not registered."""
    missing = []
    wraps = any(wrapping.is_wrap_id(id) for id in states)
    for event in guard.events(settings_from(pack_record.settings), host, wraps=wraps):
        if states.get(f"guard/{event}") not in ("owned", "overridden"):
            missing.append(event)
    return missing


def _find_idle_reason(view: _View, states: dict[str, str], variables: dict[str, str]) -> str:
    """Why the guard does nothing, or ''."""
    pack_record = view.record.packs[GUARD]
    events = settings_from(pack_record.settings).events
    if not events:
        return "its mode is off"
    if view.not_loaded:
        return view.not_loaded
    if len(_missing_events(view.host, pack_record, states)) == len(events):
        return "its hook is not registered"
    if view.switched_off:
        return view.switched_off
    for name, value in variables.items():
        if guard.switches_off(name, value):
            return f"{name}={value} in the settings' env"
    return _find_fault_in_files(pack_record, variables)


def _find_fault_in_files(pack_record: PackRecord, variables: dict[str, str]) -> str:
    """Why the installed files make the guard do nothing, or ''."""
    try:
        program = files.read(os.path.join(pack_record.folder, "hook.py")).data
        data = files.read(os.path.join(pack_record.folder, "config.json")).data
        config = JsonDocument.parse(data or b"{}").value
    except HookctlError:
        return "its files cannot be read"
    if program is None:
        return "its file is missing"
    settings = settings_in_effect(config if isinstance(config, dict) else {}, variables)
    if settings.get("mode") == "off" and not settings.get("dispatch_tools"):
        return "its configuration says mode off"
    return ""


def _find_lost_program(record: Record) -> str:
    """That a hook of the guard runs a program that is not there, or ''."""
    for entry in record.entries:
        if GUARD in entry.owners and entry.kind == "element":
            path = guard.lost_program(entry.written["command"])
            if path:
                return f"its hook runs {path}, which is not there (`hookctl doctor --fix`)"
    return ""


def _wrapped_command(entry: Entry) -> str | None:
    """The command of the hook that an entry wraps; None for every other entry."""
    if not wrapping.is_wrap_id(entry.id):
        return None
    return masked_text(wrapping.original_of(entry.written["command"]) or "an unknown command")
