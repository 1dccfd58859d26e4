"""hookctl status: what is installed where, what changed since, and what the guard will do."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from hookctl import clock, engine, errors, hosts, report
from hookctl.checks import effect
from hookctl.checks.facts import FileFacts
from hookctl.checks.gather_file import add_approvals, bare_facts
from hookctl.checks.gather_guard import add_programs
from hookctl.checks.programs import CHANGED, NEWER, UNREADABLE, ProgramFault
from hookctl.checks.records import state_of_block
from hookctl.documents import Document
from hookctl.errors import HookctlError
from hookctl.hosts import Host
from hookctl.hosts.loading import timeout_seconds
from hookctl.ledger import store
from hookctl.ledger.store import rules_entries
from hookctl.masking import OwnText, masked, masked_text
from hookctl.model import WRAP, Current, Entry, Line, Record, Result
from hookctl.output.lines import OK, SKIP, WARN, amount, fix, other_projects, tilde
from hookctl.output.status import file_lines, say_once
from hookctl.packs import whose_work, wrapping
from hookctl.packs.choices import options_of
from hookctl.packs.reports import how_to_renew
from hookctl.packs.run_files import find as find_run_files
from hookctl.planner.run import name_pending
from hookctl.planner.sources import look, read_document
from hookctl.settings import effective
from hookctl.settings.effective import Source
from hookctl.settings.targets import GUARD, RULES, Target, variant_of_file
from hookctl.survey.machine import Machine
from hookctl.survey.records import read_records
from hookctl.system import project
from hookctl.system.folders import Folders
from hookctl.system.packages import HOOK

if TYPE_CHECKING:  # late: few have anything disabled
    from hookctl.ledger.disabled import DisabledHook


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
    found = read_records(folders, everywhere=wanted.everywhere)
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
    disabled = _list_disabled(folders)
    if not problems:  # else nothing can be said of what has no record
        chosen = [machine.load(name) for name in wanted.hosts or hosts.names()]
        lines += _describe_unrecorded(machine, chosen, names_empty=not disabled)
    lines += _describe_disabled(disabled, files_shown)
    if not lines and problems:
        lines.append(Line("what is installed is not known", SKIP))
    elif not lines:
        text = (
            "nothing is installed, and no host is detected here; "
            "`hookctl hosts` shows those there are"
        )
        lines.append(Line(text))
    faults = [problem.as_dict() for problem in problems]
    faults += [file["error"] for file in files_shown if file["error"]]
    exit_code = errors.UNREADABLE if faults else errors.OK
    is_idle = not (wanted.hosts or wanted.scope) and _is_guard_idle(folders, files_shown)
    work, work_lines = _describe_work(folders, is_idle=is_idle)
    lines += work_lines + other_projects(found.others, found.others_gone, "status")
    data = {
        "files": files_shown,
        "pending": list(pending),
        "away": away,
        "work": work,
        "other_projects": len(found.others),
    }
    return Result(data, tuple(lines), errors=tuple(faults), exit_code=exit_code)


_IDLE = ("does nothing", "only watches")  # how a sentence on such a guard begins


def _is_guard_idle(folders: Folders, files_shown: Iterable[dict[str, Any]]) -> bool:
    """Whether none of the guards that are installed here keeps an agent at its work."""
    here = project.look(folders.cwd, folders.environ)
    guards = []
    for file in files_shown:
        if file["project"] in (None, here) and GUARD in file["packs"]:
            guards.append(file["guard"] or "")
    return bool(guards) and all(text.startswith(_IDLE) for text in guards)


def _describe_work(folders: Folders, *, is_idle: bool) -> tuple[dict[str, Any] | None, list[Line]]:
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
    elif is_idle:
        text += ", but no guard here blocks a stop: agents may stop"
        lines = [Line(text, SKIP, path=tilde(run_files.project))]
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
    return say_once([*lines, *others])


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


def _describe_unrecorded(
    machine: Machine, chosen: Sequence[Host], *, names_empty: bool
) -> list[Line]:
    """The lines about hooks of ours without a record, and one on the hosts here without any."""
    lines: list[Line] = []
    empty = []
    installed = {record.host for record in machine.records.values() if record.packs}
    for host in chosen:
        unrecorded = _lines_on_unrecorded(machine, host)
        lines += unrecorded
        is_here = bool(hosts.detected(host, machine.environ, machine.made))
        if is_here and not unrecorded and host.name not in installed:
            empty.append(host)
    if not (empty and names_empty):
        return lines
    if len(empty) == 1:
        text, name = f"{empty[0].title}: nothing is installed", empty[0].name
    else:
        titles = ", ".join(host.title for host in empty)
        text, name = f"nothing is installed for {titles}", "NAME"
    return [*lines, Line(f"{text}; `hookctl install --host {name}` does it", SKIP)]


def _lines_on_unrecorded(machine: Machine, host: Host) -> list[Line]:
    """The lines about a host's hooks of ours without a record."""
    unrecorded = []
    for scope in host.scopes:
        variant, path = machine.active_file(host, scope, machine.cwd_project)
        target = Target(variant, scope, path, machine.cwd_project)
        _, record = store.find_record(machine.records, target.path)
        if not (record and record.packs) and machine.has_ours(target):
            unrecorded.append(target.path)
    if not unrecorded:
        return []
    text = f"{host.title}: a hook of hookctl's that its record does not know"
    lines = [Line(text, WARN, path=tilde(path)) for path in unrecorded]
    return [*lines, fix("see what `hookctl doctor` says")]


def _describe_file(machine: Machine, path: str, record: Record) -> dict[str, Any]:
    """A settings file as `--json` shows it."""
    shown: dict[str, Any] = {
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
        "disabled": [],
        "run_packs": [],
        "runner": "",
        "installs": {},
    }
    is_known = record.host in hosts.names()
    try:
        host = machine.load(record.host if is_known else hosts.names()[0])
        if is_known:
            host = variant_of_file(host, path, machine.read)
        document = machine.reader.patient_document(path, record.format)[1]
        record = _with_returned(host, record, document)
        current = look(host, document, (), record.entries)
    except HookctlError as error:
        return {**shown, "error": error.as_dict()}
    if not is_known:
        return {**shown, "entries": _describe_entries(host, record, current, [])}
    target = Target(host, record.scope, path, record.project)
    facts = bare_facts(machine, target, record, document, None)._replace(current=current)
    facts = add_approvals(machine, facts, document)
    sources = [layer.source for layer in facts.layers]
    obstacles = effect.find_obstacles(facts)
    shown["entries"] = _describe_entries(host, record, current, sources)
    shown["disabled"] = sorted(facts.disabled_ids)
    shown["installs"] = {name: _install_again(facts, name) for name in record.packs}
    shown["idle"] = next(filter(None, obstacles), "")
    shown["unapproved"] = sorted({closed.element.id for closed in facts.closed})
    facts = add_programs(machine, facts)
    shown["run_packs"] = facts.run_packs
    shown["runner"] = effect.describe_runner(facts)
    if facts.guard:
        shown["program"] = facts.fault.kind if facts.fault else "released"
        states = {entry["id"]: entry["state"] for entry in shown["entries"]}
        shown["guard"] = _describe_foreign_program(facts.fault)
        shown["guard"] = shown["guard"] or effect.describe_guard(facts, states, obstacles)
    return shown


def _install_again(facts: FileFacts, pack: str) -> str:
    """The command that installs a pack as it is on record, with its options."""
    options: list[str] = []
    if pack == GUARD and facts.settings:
        options = options_of(facts.settings)
        if facts.settings.allow_run and facts.host.permission.texts:
            options.append("--allow-run")
    if facts.packs[pack].settings.get("rules"):
        options.append("--rules")
    return " ".join([facts.install_of(pack), *map(shlex.quote, options)])


def _describe_rules(records: dict[str, Record], key: str) -> list[dict[str, Any]]:
    """The blocks of rules of the packs in a settings file, and their states."""
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


def _describe_foreign_program(fault: ProgramFault | None) -> str:
    """The sentence instead of the guard's effect, if its program is unknown."""
    if fault is not None and fault.kind in (CHANGED, UNREADABLE):
        return f"{tilde(fault.path)} is not as hookctl wrote it; `hookctl doctor` says more"
    if fault is not None and fault.kind == NEWER:
        return f"is of hookctl {fault.version}; this hookctl does not know it"
    return ""


def _mark_command(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a hook that we wrote, with a command that no mask touches."""
    return {**fields, "command": OwnText(fields["command"])}


def _describe_entries(
    host: Host, record: Record, current: Current, sources: list[Source]
) -> list[dict[str, Any]]:
    """The hooks and values on record as `--json` shows them."""
    shown = []
    for entry in (*record.entries, *record.disabled):
        if entry.kind != "container":
            stronger = None
            if entry.kind == "leaf":
                stronger = effective.stronger(sources, record.scope, entry.path)
            row = _describe_entry(host, entry, current, stronger)
            if entry in record.disabled:
                row |= {"state": "disabled"}
            shown.append(row)
    return shown


def _with_returned(host: Host, record: Record, document: Document) -> Record:
    """The record with those of its disabled entries that are back in the file."""
    if not record.disabled:
        return record
    from hookctl.ledger.disabled import with_returned  # late: few have anything disabled

    return with_returned(host, record, document)


def _list_disabled(folders: Folders) -> list[DisabledHook]:
    """The hooks that are disabled, anybody's and anywhere."""
    if not os.path.lexists(folders.disabled):
        return []
    from hookctl.survey.disabled import read_disabled  # late, too

    return [one.hook for one in read_disabled(folders).hooks if not one.hook.is_values]


def _describe_disabled(
    disabled: Iterable[DisabledHook], files_shown: Iterable[dict[str, Any]]
) -> list[Line]:
    """A line about disabled hooks that no line about a file names."""
    paths = {file["file"] for file in files_shown}
    others = [hook for hook in disabled if not hook.name or hook.file not in paths]
    if not others:
        return []
    ids = " ".join(dict.fromkeys(hook.shown for hook in others))
    text = f"{amount(len(others), 'hook')} disabled; to put back: `hookctl enable {ids}`"
    return [Line(text, SKIP)]


def _describe_entry(
    host: Host, entry: Entry, current: Current, stronger: Source | None
) -> dict[str, Any]:
    """An entry as `--json` shows it."""
    key = str(entry.path[-1])
    value = current.values.get(entry.path) if entry.kind == "leaf" else entry.written
    is_own = entry.kind == "element" and not entry.id.startswith(WRAP)
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
        "note": "but the pack ends it earlier" if _has_vain_timeout(host, entry, current) else "",
    }


def _has_vain_timeout(host: Host, entry: Entry, current: Current) -> bool:
    """Whether a pack's hook has more time in the file than its command gives it."""
    hooks = current.elements.by_id.get(entry.id, []) if entry.id else []
    if not hooks or f"/{HOOK} run " not in hooks[0].fields.get("command", ""):
        return False
    given, written = (timeout_seconds(host, of) for of in (hooks[0].fields, entry.written))
    return given is not None and written is not None and given > written


def _wrapped_command(entry: Entry) -> str | None:
    """The command of the hook that an entry wraps; None for every other entry."""
    if not entry.id.startswith(WRAP):
        return None
    return masked_text(wrapping.original_of(entry.written["command"]) or "an unknown command")
