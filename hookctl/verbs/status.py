"""hookctl status: what is installed where, whether it is active here, and what work waits."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from hookctl import clock, errors, hosts
from hookctl import work as work_files
from hookctl.checks.file import MISSING, OLD, File
from hookctl.errors import HookctlError
from hookctl.hosts import Host
from hookctl.masking import OwnText, masked, masked_text
from hookctl.model import WRAP, Current, Entry, Line, Record, Result
from hookctl.output.lines import amount, fix, other_projects, say, tilde
from hookctl.output.plans import event_of
from hookctl.ownership import engine, store
from hookctl.ownership.run import name_pending
from hookctl.packs import choices, guard
from hookctl.settings import switches
from hookctl.settings.targets import GUARD, Target, variant_of_file
from hookctl.survey.listing import add_disabled
from hookctl.survey.machine import (
    Machine,
    read_records,
    read_settings,
)
from hookctl.survey.model import DISABLED, RUNS, Hook, Obstacle
from hookctl.survey.programs import Programs
from hookctl.system.folders import Folders
from hookctl.verbs.choosing import in_project, is_meant, known_scope, load_hosts

_STATES = {
    "owned": "",
    "overridden": "your change, kept",
    "adopted": "already there, left alone",
    "missing": "gone from the file",
}
_SIGNS = {"owned": "+", "missing": "-", "overridden": "~"}
_LOOK = "see what `hookctl doctor` says"


HELP = """
Examples:
  hookctl status
"""


def status(
    folders: Folders,
    host: Sequence[str] = (),
    any_scope: str = "",
    project: str = "",
    everywhere: bool = False,
    verbose: bool = False,
) -> Result:
    """The settings files on record, and the hosts without any."""
    names, scope = [one.name for one in load_hosts(host)], known_scope(any_scope)
    folders = in_project(folders, project)
    pending: tuple[str, ...] = ()
    found = read_records(folders, everywhere=everywhere)
    # Another user's project has nothing of ours.
    problems = [error for error in found.errors if error.code != "foreign_project"]
    try:
        pending = name_pending(folders, say)
    except HookctlError as error:
        problems.append(error)
    machine = Machine(folders, found.records)
    used = {record.host for record in found.records.values() if record.packs}
    every = map(hosts.load, names or hosts.names())
    chosen = [host for host in every if host.name in used or machine.detects(host)]
    ours = _list_ours(machine, chosen)
    files_shown = []
    for key, record in found.records.items():
        # Records without packs only have approvals or an empty place.
        if record.packs and is_meant(record, names, scope):
            path = store.current_path(found.records, key)
            file = _describe_file(machine, path, record, ours.get(store.real_path(path), []))
            rules_file = store.rules_path(found.records, key)
            known = store.find_record(found.records, rules_file)[1] if rules_file else None
            blocks = [str(entry.path[0]) for entry in known.entries] if known else ()
            rules = [{"pack": one, "file": rules_file} for one in blocks if one in record.packs]
            files_shown.append({**file, "rules": rules})
    files_shown.sort(key=lambda file: (not file["here"], file["host"], file["file"]))
    away = sorted({*found.gone.values()})
    lines = [line for file in files_shown for line in _file_lines(file, verbose=verbose)]
    text = "is not there; what is installed in it stays on record, and counts once it is back"
    lines += [Line(f"{tilde(folder)} {text}", "skip") for folder in away]
    for path, (hook, *_) in ours.items() if not problems else ():
        record = store.find_record(machine.records, path)[1]
        if not (record and record.packs) and not hook.is_disabled:
            used.add(hook.host)
            text = f"{hook.within.host.title}: a hook of hookctl's that its record does not know"
            lines += [Line(text, "warn", path=tilde(hook.file)), fix(_LOOK)]
    empty = [host for host in chosen if host.name not in used]
    if empty and not (problems or machine.disabled):  # else nothing can be said of them
        name = empty[0].name if len(empty) == 1 else "NAME"
        text = f"nothing is installed for {', '.join(host.title for host in empty)}"
        lines.append(Line(f"{text}; `hookctl install --host {name}` does it", "skip"))
    paths = {file["file"] for file in files_shown if file["here"]}
    hooks = [hook for hook in machine.disabled if not hook.is_values]
    others = [hook for hook in hooks if not (hook.name and hook.file in paths)]
    for because in sorted({hook.because for hook in others}):  # no line about a file names them
        ids = [hook.shown for hook in others if hook.because == because]
        text = f"{amount(len(ids), 'hook')} disabled{because}; to put back: "
        text += f"`hookctl enable {' '.join(dict.fromkeys(ids))}`"
        lines.append(Line(text, "skip"))
    if not lines:
        text = "nothing is installed, and no host is detected here; see `hookctl hosts`"
        lines.append(Line("what is installed is not known" if problems else text, "skip"))
    faults = [problem.as_dict() for problem in problems]
    faults += [file["error"] for file in files_shown if file["error"]]
    guards = [file for file in files_shown if file["here"] and GUARD in file["packs"]]
    is_idle = all(file["keeps_at_work"] is False for file in guards)
    is_all = not (names or scope)
    work, work_lines = _describe_work(folders, machine.cwd_project, is_idle=is_idle and is_all)
    lines += work_lines + other_projects(found.others, "status")
    data = {
        "files": files_shown,
        "pending": list(pending),
        "away": away,
        "work": work,
        "other_projects": len(found.others),
    }
    exit_code = errors.UNREADABLE if faults else errors.OK
    return Result(data, tuple(lines), errors=tuple(faults), exit_code=exit_code)


def _list_ours(machine: Machine, chosen: Sequence[Host]) -> dict[str, list[Hook]]:
    """The hooks of hookctl that these hosts have here, by the real path of their file."""
    look_for = Programs(machine)
    every = [hook for host in chosen for hook in read_settings(machine, host)[0]]
    found = [hook for hook in every if hook.own_id]
    names = {host.name for host in chosen}
    hooks: dict[str, list[Hook]] = {}
    for hook in add_disabled(map(look_for.add_fault, found), machine, names):
        if hook.own_id:
            hooks.setdefault(store.real_path(hook.file), []).append(hook)
    return hooks


# One settings file.


def _describe_file(
    machine: Machine, path: str, record: Record, ours: Sequence[Hook]
) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "file": path,
        "host": record.host,
        "scope": record.scope,
        "project": record.project or None,
        "here": record.project in ("", machine.cwd_project),
        "packs": {name: pack.version for name, pack in record.packs.items()},
        "entries": [],
        "error": None,
        "obstacles": [],
        "guard": None,
        "keeps_at_work": None,
        "installs": {},
    }
    try:
        host = variant_of_file(hosts.load(record.host), path, machine.read)
        file = File(machine, Target(host, record.scope, path, record.project), record)
    except HookctlError as error:
        return {**shown, "error": error.as_dict()}
    if not file.current:
        return {**shown, "error": file.error and file.error.as_dict()}
    for entry in record.entries:
        if entry.kind != "container":
            row = _describe_entry(host, entry, file.current)
            shown["entries"].append(row if entry in file.entries else {**row, "state": "disabled"})
    for name, pack in record.packs.items():
        options = choices.options_of(file.settings) if name == GUARD and file.settings else []
        if name == GUARD and file.settings and file.settings.allow_run and host.permission.texts:
            options.append("--allow-run")
        options += ["--rules"] if pack.settings.get("rules") else []
        shown["installs"][name] = " ".join([file.install_of(name), *map(shlex.quote, options)])
    if not shown["here"]:
        return shown
    reason = ""
    if file.fault and file.fault.code != OLD:
        kind, _, state = file.fault.code.partition("_")
        state = state if kind == "hook" else "unreadable"
        reason = f"{tilde(file.fault.path)} is {state}"
        shown["keeps_at_work"] = False if file.fault.code == MISSING else None
    elif file.settings:
        hooks = [hook for hook in ours if hook.owner == GUARD]
        shown["guard"], shown["keeps_at_work"], reason = _describe_guard(file, hooks)
    unnamed = {"names": [], "state": "", "reason": reason, "fix": _LOOK}
    shown["obstacles"] = _describe_obstacles(ours) or [unnamed] * bool(reason)
    return shown


def _describe_obstacles(ours: Iterable[Hook]) -> list[dict[str, Any]]:
    """What keeps hooks from running: each reason once, with their names."""
    first: dict[str, Obstacle | None] = {}
    for hook in ours:
        obstacle = next(iter(hook.obstacles), None)
        first[hook.own_id] = Obstacle(DISABLED, "disabled") if hook.is_disabled else obstacle
    stopped: dict[Obstacle, dict[str, Any]] = {}
    for id, obstacle in first.items():
        if obstacle is None:
            continue
        pack = id.partition("/")[0]
        is_whole = len({first[other] for other in first if other.startswith(f"{pack}/")}) == 1
        new = {"names": [], "state": obstacle.state, "reason": obstacle.reason}
        row = stopped.setdefault(obstacle, new)
        row["names"] += {pack if is_whole else id} - {*row["names"]}
        back = f"`hookctl enable {' '.join(row['names'])}` puts it back"
        row["fix"] = back if obstacle.state == DISABLED else obstacle.fix
    return [*stopped.values()]


def _describe_entry(host: Host, entry: Entry, current: Current) -> dict[str, Any]:
    value, env, wraps = entry.written, None, None
    state = engine.state(entry, current, entry.path, entry.id)
    if entry.kind == "leaf":
        value = current.values.get(entry.path)
    elif entry.id.startswith(WRAP):
        wraps = masked_text(guard.original_of(value["command"]) or "an unknown command")
    else:
        env = masked(value.get(host.env_field)) if host.env_field else None
        value = {**value, "command": OwnText(value["command"])}  # which no mask touches
    return {
        "path": list(entry.path),
        "kind": entry.kind,
        "id": entry.id,
        "state": state,
        "mode": entry.mode,
        "value": masked(value, str(entry.path[-1])),
        "env": env,
        "owners": list(entry.owners),
        "wraps": wraps,
    }


def _describe_work(
    folders: Folders, project: str, *, is_idle: bool
) -> tuple[dict[str, Any] | None, list[Line]]:
    try:
        run_files = work_files.find(folders, project)
        work = work_files.find_work(run_files)
    except HookctlError:  # another user's project has no work for us
        work = None
    if not (work and work.remaining):
        return None, []
    text = f"{work.remaining} remaining, touched {clock.age(run_files.now - work.touched)} ago"
    why = ""
    if run_files.mark:
        why = f"{run_files.mark} is set: agents may stop"
    elif is_idle:
        why = "no guard here blocks a stop: agents may stop"
    elif work.is_stale:
        why = f"the guard ignores it; {run_files.reported_by} renews it, 0 ends it"
    text += f", but {why}" if why else ""
    lines = [Line(text, "warn" if why else "ok", path=tilde(run_files.project))]
    if not why:
        lines.append(Line(f"for {work_files.describe_owner(run_files, work)}", indent=4))
    return work_files.as_data(run_files, work), lines


# One settings file in lines.


def _file_lines(file: dict[str, Any], *, verbose: bool) -> Iterator[Line]:
    name, path = file["host"], tilde(file["file"])
    title = hosts.load(name).title if name in hosts.names() else name
    if file["scope"] != "user":
        title += f" ({file['scope']})"
    versions = dict(file["packs"])
    if file["guard"]:
        versions[GUARD] += f" ({file['guard']})"
    packs = ", ".join(f"{pack} {version}" for pack, version in versions.items())
    if file["error"]:
        text = f"{title}: it cannot be read, so what is in it is not known"
        yield from (Line(text, "error", path=path), fix(_LOOK))
    elif not file["here"] and not verbose:
        yield Line(f"{title}: {packs}, in another project", "skip", path=path)
    else:
        states = {obstacle["state"] for obstacle in file["obstacles"]}
        mark = "ok" if not states else "skip" if states == {DISABLED} else "warn"
        if any(entry["state"] == "missing" for entry in file["entries"]):
            mark = "warn"
        yield Line(f"{title}: {packs}", mark, path=path)
        for obstacle in file["obstacles"]:
            names, text = obstacle["names"], obstacle["reason"]
            verb = "does" if len(names) == 1 else "do"
            yield Line(f"{', '.join(names)} {verb} nothing: {text}" if names else text, indent=4)
            if obstacle["fix"]:
                yield fix(obstacle["fix"])
        for command in file["installs"].values() if verbose else ():
            yield Line(command, indent=6)
        for rules in file["rules"] if verbose else ():
            yield Line(f"rules ({rules['pack']})", indent=4, sign="+", path=tilde(rules["file"]))
        for entry in file["entries"]:
            is_ours = entry["state"] in ("owned", "disabled")
            text = str(entry["path"][-1])
            if entry["id"]:
                text = f"{event_of(tuple(entry['path']))} hook ({entry['id']})"
            elif entry["value"] not in (None, text):  # in a list of texts each is its own key
                text += f"={entry['value']}"
            wraps = f"wraps {entry['wraps']}" if entry["wraps"] else ""
            remarks = [_STATES.get(entry["state"], entry["state"]), wraps]
            text = ": ".join(filter(None, [text, ", ".join(filter(None, remarks))]))
            if verbose or not is_ours or entry["wraps"]:
                yield Line(text, indent=4, sign=_SIGNS.get(entry["state"], "="))
            for key, value in (entry["env"] or {}).items() if verbose else ():
                yield Line(f"{key}={value}", indent=6, sign="+")


def _describe_guard(file: File, hooks: Sequence[Hook]) -> tuple[str, bool, str]:
    """The mode of a guard that runs, whether it keeps an agent at work, and why it does nothing."""
    has_events = file.settings is not None and file.settings.events
    if not hooks:
        why = "its hook is not registered" if has_events else "its mode is off"
        return "", False, f"guard does nothing: {why}"
    variables, error = switches.variables(file.reaching), file.config_error
    options = choices.read_settings(file.config, variables)
    is_off = options.mode == "off" and not options.dispatch_tools
    is_off = is_off or choices.is_true(variables.get("HOOKCTL_DISABLE", ""))
    is_off = is_off or (error is not None and error.code != "config_missing")
    if is_off and has_events:
        return "", False, "guard does nothing: its configuration or a variable switches it off"
    if not any((hook.own_id, hook.state) == (switches.STOP, RUNS) for hook in hooks):
        return "", False, ""
    if options.mode not in ("breaker", "keepalive"):
        return options.mode, False, ""
    keeps = bool(file.host.dialect.block)
    return options.mode + ("" if keeps else ", only watches"), keeps, ""
