"""hookctl uninstall: remove exactly what is ours, and keep the operator's changes."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from hookctl import errors, packs, report
from hookctl import hosts as known
from hookctl.errors import HookctlError
from hookctl.hosts import readers
from hookctl.ledger import store
from hookctl.model import Line, Message, Record, Result
from hookctl.output import removals
from hookctl.output.lines import amount, tilde
from hookctl.output.plans import hints, plan_data, plan_text
from hookctl.packs.model import Pack
from hookctl.planner.plan import Plan
from hookctl.planner.run import carry_out, changed_meanwhile, finish_pending, locked_run
from hookctl.planner.sources import Sources, has_files, look, read_document
from hookctl.planner.uninstall import Leaving, plan_uninstall
from hookctl.settings import switches
from hookctl.settings.targets import GUARD, OWN, RULES, Target, all_files, target_of_record
from hookctl.system import git
from hookctl.system.folders import Folders
from hookctl.system.project import look as look_up
from hookctl.verbs import choosing
from hookctl.verbs.options import can_ask, confirm


class Request(NamedTuple):
    """What was asked on the command line."""

    name: str  # of the pack; empty with `everywhere`: every pack
    everywhere: bool = False
    pack: Pack | None = None  # where its file was given
    hosts: tuple[str, ...] = ()  # only these; empty: all
    scope: str = ""
    recovered: bool = False  # an interrupted run came first, maybe the install of this pack

    def means(self, record: Record) -> bool:
        """Whether the request is about the settings file of a record."""
        if self.scope not in ("", record.scope):
            return False
        if self.hosts and record.host not in self.hosts:
            return False
        is_installed = self.name in record.packs if self.name else bool(record.packs)
        return is_installed or _has_only_gaps(record)


class _Done(NamedTuple):
    """What an uninstall has done, and what it has left."""

    plan: Plan
    targets: list[Target]
    records: dict[str, Record]  # every known one, as it was before
    refused: list[HookctlError]  # of settings files
    unreadable: list[HookctlError]  # the same, and of ledgers
    away: dict[str, str]  # the projects that are not there, each with a line about it

    @property
    def left(self) -> dict[str, Record]:
        """The records as they are now."""
        records = {**self.records, **self.plan.records}
        return {key: record for key, record in records.items() if record}


HELP = """
pack <pack>  A pack's name or file; default: guard, with --all every pack.
--scope S <scope>  user, project or local; default: user, with --all every one.
everywhere --all  Uninstall everywhere, after a question.
--yes -y  Do not ask; --all with --json needs it.

Examples:
  hookctl uninstall
  hookctl uninstall --all
  hookctl uninstall --all --yes    do not ask
"""


def uninstall(
    folders: Folders,
    pack: str = "",
    host: Sequence[str] = (),
    scope: str = "",
    project: str = "",
    everywhere: bool = False,
    yes: bool = False,
    dry_run: bool = False,
    diff: bool = False,
    json: bool = False,
) -> Result:
    """Take a pack out of the settings files that are meant, after a question where there is one."""
    content = packs.load(pack) if packs.is_path(pack) or packs.is_folder(pack) else None
    scope_of_targets = scope or "user"
    named = host or [n for n in known.names() if scope_of_targets in known.load(n).scopes]
    hosts = choosing.choose_hosts("uninstall", named, scope_of_targets, json)
    name = content.name if content else pack or ("" if everywhere else GUARD)
    named_hosts = tuple(chosen.name for chosen in hosts) if host else ()
    recovered = folders.has_unfinished_run()
    request = Request(name, everywhere, content, named_hosts, scope, recovered)
    find = partial(choosing.find_targets, folders, hosts, scope_of_targets, project, recorded=True)
    asked = ""
    if not (dry_run or yes) and (everywhere or (can_ask() and not json)):
        finish_pending(folders, report.say)
        asked = question(folders, request, find())
        is_agreed = not json and confirm(asked)
        if everywhere and not is_agreed:
            if asked and not json:
                report.say(asked)
            message = "--all needs confirmation, but no question is possible"
            raise errors.usage_error(message, "Add --yes.")
    others = None
    takes_all = everywhere and not (name or host or scope) and os.path.lexists(folders.disabled)
    puts_back = takes_all and (yes or dry_run or _may_put_back(folders))
    with locked_run(folders, report.say, dry_run=dry_run):
        targets = find()
        if asked and question(folders, request, targets) != asked:
            raise changed_meanwhile()
        if puts_back:
            from hookctl.verbs.enable import put_back_others  # late: few have any disabled

            others = put_back_others(folders, dry_run=dry_run)
        result = take_out(folders, request, targets, dry_run=dry_run, diff=diff)
    if others:
        from hookctl.verbs.enable import join  # late, too

        return join(others, result)
    return result


def _may_put_back(folders: Folders) -> bool:
    """Whether a person wants other tools' hooks that are disabled to come back."""
    from hookctl.verbs.enable import others_question  # late: few have any disabled

    try:
        return confirm(others_question(folders))
    except HookctlError as error:
        if error.code != "declined":
            raise
    return False


def take_out(
    folders: Folders,
    request: Request,
    targets: list[Target],
    *,
    dry_run: bool,
    diff: bool = False,
) -> Result:
    """Take a pack out of these targets, or out of every settings file that the ledgers know."""
    sources, loaded = Sources(folders), {}
    if not request.name or request.name in packs.names():
        loaded = {name: packs.load(name) for name in packs.names()}
    if request.pack:
        loaded.setdefault(request.pack.name, request.pack)
    records, unreadable = store.read_known(folders)
    if request.everywhere:
        projects = [record.project for record in records.values() if record.scope == "project"]
    else:
        projects, unreadable = [target.project for target in targets if target.shared], []
        records |= sources.records(projects)
    _require_known(folders, request, records)
    if not request.everywhere:
        targets = _add_other_files(folders, request, targets, records)
    leavings, refused = _list_leavings(sources, request, targets, projects)
    stops = bool(request.hosts) or (len(leavings) == 1 and not request.everywhere)
    make_plan = partial(plan_uninstall, sources, leavings, loaded, projects, stops=stops)
    plan = carry_out(sources, make_plan, report.say, projects=projects, dry_run=dry_run)
    refused += plan.unread
    away = _find_away(folders, request) if request.everywhere else {}
    done = _Done(plan, targets, records, refused, [*unreadable, *refused], away)
    return _make_result(folders, request, done, dry_run=dry_run, diff=diff)


def _require_known(folders: Folders, request: Request, records: Mapping[str, Record]) -> None:
    """Refuse a pack that is not built in, not given as a file, and installed nowhere."""
    if not request.name or request.pack or request.recovered or request.name in packs.names():
        return
    stored = store.load(folders)  # with what is known of projects that are away
    installed: set[str] = set()
    for record in (*stored.values(), *records.values()):
        installed.update(record.packs)
    if request.name not in installed:
        names = ", ".join(sorted(installed)) or "none"
        hint = f"Installed are: {names}. A pack file is given by its path."
        raise errors.usage_error(f"unknown pack {request.name!r}", hint)


def _add_other_files(
    folders: Folders, request: Request, targets: list[Target], records: Mapping[str, Record]
) -> list[Target]:
    """The targets, and other files of their hosts and scopes where the ledger has the pack.

    An unreadable target is left out if its host was not named and nothing of ours is known there.
    """
    found = []
    for target in targets:
        base = known.load(target.host.name)
        for host, path in all_files(base, target.scope, folders.environ, target.project):
            _, record = store.find_record(records, path)
            if record is not None and record.host != base.name:
                continue  # two hosts share the file, and we are in it for the other one
            has_ours = record is not None and request.means(record)
            is_named = path == target.path and base.name in request.hosts
            if has_ours or is_named or (path == target.path and _is_readable(target)):
                found.append(Target(host, target.scope, path, target.project))
    return found


def _is_readable(target: Target) -> bool:
    try:
        return os.path.lexists(target.path) and bool(read_document(target.path, target.host.format))
    except HookctlError:
        return False


def _list_leavings(
    sources: Sources, request: Request, targets: list[Target], projects: list[str]
) -> tuple[list[Leaving], list[HookctlError]]:
    """What leaves which settings file, and the errors of files of hosts that are unknown here."""
    if not request.everywhere:
        return [Leaving(target, (request.name,)) for target in targets], []
    records = sources.records(projects)
    leavings, refused = [], []
    for key in _select_keys(sources.folders, records, request):
        try:
            leavings.append(_make_leaving(records, key, request))
        except HookctlError as error:
            refused.append(error)
    if request.name in ("", GUARD):
        lost = [target for target in targets if _has_lost_guard(records, target)]
        leavings += [Leaving(target, (GUARD,)) for target in lost]
    return leavings, refused


def _select_keys(folders: Folders, records: Mapping[str, Record], request: Request) -> list[str]:
    """The ledger's keys of all settings files that something leaves; projects away stay."""
    away = store.away(folders, records)
    return [key for key, record in records.items() if request.means(record) and key not in away]


def _has_only_gaps(record: Record) -> bool:
    """Whether a record has no pack, only placeholders that keep the position of other hooks."""
    return bool(record.gaps) and not record.packs


def _make_leaving(records: Mapping[str, Record], key: str, request: Request) -> Leaving:
    record, path = records[key], store.current_path(records, key)
    if record.host not in known.names():
        message = (
            f"something is installed here for {record.host}, a host that this hookctl does not know"
        )
        hint = "Use the newer hookctl that wrote it."
        raise HookctlError("ledger_newer", message, path=path, hint=hint)
    target = target_of_record(known.load(record.host), record, path)
    # Any pack may be removed from a file that only has placeholders: that removes them.
    names = (request.name,) if request.name else tuple(record.packs) or (GUARD,)
    return Leaving(target, names, key)


def _has_lost_guard(records: Mapping[str, Record], target: Target) -> bool:
    """Whether a settings file without a record has hooks of the guard: the record was lost."""
    if store.find_record(records, target.path)[1] is not None:
        return False
    try:
        document = read_document(target.path, target.host.format)[1]
        hooks = look(target.host, document, (), ()).elements
    except HookctlError:
        return False
    return any(hook.pack == GUARD for hook in hooks)


def question(folders: Folders, request: Request, targets: list[Target]) -> str:
    """What `--all` asks, with every settings file in it, or what is asked before a pack leaves
    several hosts; empty where there is nothing to ask.
    """
    records, unreadable = store.read_known(folders)
    if request.everywhere:
        _require_known(folders, request, records)
        keys = _select_keys(folders, records, request)
        files = _list_installed(records, keys, request)
        return removals.question_text(request.name or "every pack", files, unreadable)
    records |= store.read(folders, [target.project for target in targets if target.shared])
    keys = []
    for target in _add_other_files(folders, request, targets, records):
        key, record = store.find_record(records, target.path)
        if record is not None and request.means(record):
            keys.append(key)
    files = _list_installed(records, keys, request)
    if len({records[key].host for key in keys}) < 2:
        return ""
    return removals.question_text(request.name, files, [])


def _list_installed(
    records: Mapping[str, Record], keys: list[str], request: Request
) -> list[removals.Installed]:
    """The settings files of these records, each with the packs that leave it."""
    files = []
    for key in keys:
        record = records[key]
        if not _has_only_gaps(record):
            names = (request.name,) if request.name else tuple(record.packs)
            path, title = store.current_path(records, key), record.host
            if title in known.names():
                title = known.load(title).title
            files.append(removals.Installed(title, path, record.scope, record.project, names))
    return files


def _make_result(
    folders: Folders, request: Request, done: _Done, *, dry_run: bool, diff: bool
) -> Result:
    plan, problems = done.plan, done.unreadable
    here = look_up(folders.cwd, folders.environ)
    outcome = [
        *_describe_done(folders, request, done),
        *_kept_lines(plan),
        *_next_steps(done, here),
    ]
    text = plan_text(plan, dry_run=dry_run, done=outcome, diff=diff)
    if request.everywhere and not plan.files:
        text = [_describe_nothing(request, done.away)]
    elif plan.empty:
        names = sorted({name for record in done.records.values() for name in record.packs})
        if names and request.name not in names:
            text.append(f"{request.name} is not installed. Installed are: {', '.join(names)}")
    data = plan_data(plan, dry_run=dry_run, diff=diff)
    messages = []
    for line in (*_name_remaining(folders, request, done), *_name_borrowed(folders, request, done)):
        messages.append(Message(line, "stays_installed", "info"))
    messages += [Message(line, "project_away", "info") for line in done.away.values()]
    messages += _name_disabled(folders, request, dry_run=dry_run)
    below = () if plan.empty else hints(outcome)
    if not problems:
        return Result(data, tuple(text), tuple(messages), hints=below)
    # What is refused does not stop the rest.
    code = problems[0].exit_code if plan.empty else errors.FAILED
    error_list = tuple(problem.as_dict() for problem in problems)
    shown = () if plan.empty else tuple(text)
    return Result(data, shown, tuple(messages), error_list, code, below)


def _name_disabled(folders: Folders, request: Request, *, dry_run: bool) -> Iterator[Message]:
    """What stays disabled: nothing but hookctl's state folder has it any more."""
    if not os.path.lexists(folders.disabled):
        return
    from hookctl.planner.disable import describe  # late, too
    from hookctl.survey.disabled import read_disabled  # late: few have anything disabled

    for hook in read_disabled(folders).hooks:
        is_leaving = dry_run and request.name in ("", hook.pack)
        if hook.is_values or is_leaving:
            continue
        command = describe(hook)
        name = f"{hook.shown} ({command})" if command else hook.shown
        text = (
            f"{name} of {tilde(hook.file)} stays disabled, and is kept in hookctl's state "
            f"folder alone ({tilde(folders.state)}): `hookctl enable {hook.shown}` puts it back"
        )
        yield Message(text, "stays_disabled", host=hook.host, path=hook.file)


def _describe_nothing(request: Request, away: Mapping[str, str]) -> str:
    if away:
        subject = f"{request.name} is" if request.name else "what hookctl installed is"
        return f"nothing to do: {subject} only in projects that are not there"
    subject = f"{request.name} is not" if request.name else "nothing is"
    suffix = " there" if request.hosts or request.scope else ""
    return f"nothing to do: {subject} installed{suffix}"


def _describe_done(folders: Folders, request: Request, done: _Done) -> list[Line]:
    """What is removed; after `--all` also what is left, and why."""
    targets = [file.target for file in done.plan.files if file.decision.actions]
    backups = _describe_kept_state(folders)
    working = []  # the folders with work in hand, which nobody but a person or an agent clears
    for root in dict.fromkeys(target.project for target in targets if target.project):
        folder = os.path.join(root, OWN, "run")
        if has_files(folder):
            working.append(Line(f"{tilde(folder)} stays: work in hand"))
    if not request.everywhere or not (done.unreadable or done.away):
        text = f"{request.name or 'everything'} is uninstalled"
        if targets and (request.hosts or done.unreadable):
            titles = dict.fromkeys(target.host.title for target in targets)
            text += f" for {', '.join(titles)}"
        return [Line(f"{text}. {backups}"), *working]
    left = [_find_project(done.records, error) for error in done.unreadable]
    projects = [target.project for target in targets]
    lines = [Line(removals.removed_text(request.name, projects, [*left, *done.away]))]
    lines += [Line(removals.describe_left(error), indent=2) for error in done.unreadable]
    lines += [Line(f"{tilde(folder)}: it is not there", indent=2) for folder in done.away]
    return [*lines, *working, Line(backups)]


def _describe_kept_state(folders: Folders) -> str:
    """What of hookctl stays on this machine; there is a log only where a hook ran."""
    kept = ["Backups of your settings"]
    if has_files(os.path.join(folders.state, GUARD)):
        kept.append("the log")
    if os.path.lexists(folders.disabled):
        kept.append("the hooks that stay disabled")
    last = kept.pop()
    names = f"{', '.join(kept)} and {last}" if kept else last
    return f"{names} stay in {tilde(folders.state)}."


def _find_project(records: Mapping[str, Record], error: HookctlError) -> str:
    """The project that a refused file or ledger belongs to; '' for one of the user's files."""
    above, own, _ = error.path.partition(f"/{OWN}")
    if own:
        return above
    for record in records.values():
        if record.project and error.path.startswith(f"{record.project}/"):
            return record.project
    return ""


def _kept_lines(plan: Plan) -> list[Line]:
    """The operator's own values that stay, and how to remove them."""
    lines = []
    for file in plan.files:
        names = [str(action.path[-1]) for action in file.decision.kept if action.kind == "leaf"]
        if names and file.target.host.format != RULES:
            text = f"To remove {' and '.join(names)} too, delete it by hand:"
            lines.append(Line(text, path=tilde(file.target.path)))
    return lines


def _next_steps(done: _Done, here: str) -> list[Line]:
    """The steps left to do by hand in shared projects; others have those of a repository alone."""
    names: dict[str, list[str]] = {}
    for target in (file.target for file in done.plan.files if file.target.shared):
        root = target.project
        if git.find_top(root):
            names.setdefault(root, []).append(os.path.relpath(target.path, root))
    if not names:
        return []
    lines = [Line("Next:"), *removals.commit_lines(names, here)]
    staying = set()
    for record in done.left.values():
        if record.scope == "project" and not _has_only_gaps(record):
            staying.add(record.project)
    if not staying.issuperset(names):
        text = "take `hookctl check` out of CI and the pre-commit hook, where it is there"
        lines.append(Line(text, indent=2))
    return lines


def _name_remaining(folders: Folders, request: Request, done: _Done) -> list[str]:
    """Where else the pack stays installed: in another scope, or under another CLAUDE_CONFIG_DIR.

    After an uninstall in a project, several files elsewhere are only counted.
    """
    name, records = request.name or GUARD, done.records
    projects = {target.project for target in done.targets if target.project}
    away = store.away(folders, records)
    planned = {file.key for file in done.plan.files}
    named = {error.path for error in done.refused}
    remaining, elsewhere = {}, {}
    for key, record in records.items():
        is_named = key in away or store.current_path(records, key) in named
        if key in planned or is_named or name not in record.packs:
            continue
        is_elsewhere = projects and record.project not in projects
        (elsewhere if is_elsewhere else remaining)[key] = record
    lines = [_describe_remaining(request, name, remaining, leaves_project=bool(projects))]
    if len(elsewhere) > 1:
        places = amount(len(elsewhere), "other settings file")
        lines.append(f"{name} stays installed in {places}; `hookctl status` shows where")
    else:
        lines.append(_describe_remaining(request, name, elsewhere, leaves_project=True))
    return [line for line in lines if line]


def _name_borrowed(folders: Folders, request: Request, done: _Done) -> list[str]:
    """The hosts that still run the pack, from a file of another host that they read too."""
    name, lines = request.name or GUARD, []
    projects = {"", *(target.project for target in done.targets)}
    left = {key: record for key, record in done.left.items() if name in record.packs}
    for host in map(known.load, dict.fromkeys(request.hosts if left else ())):
        for owner, agent in readers.find_read_by(host.name):
            if not agent.runs_ours or switches.leaves_alone(agent, folders.environ):
                continue
            for key, record in left.items():
                is_read = record.host == owner.name and record.scope in agent.scopes
                if is_read and record.project in projects:
                    path = tilde(store.current_path(done.records, key))
                    read = f"which it reads too {readers.condition(agent)}".rstrip()
                    lines.append(f"{name} still runs in {host.title} from {path}, {read}")
    return lines


def _describe_remaining(
    request: Request, name: str, records: dict[str, Record], *, leaves_project: bool
) -> str:
    """Where a pack stays installed, with the command that takes it out there; '' if nowhere."""
    names = []
    for key, record in records.items():
        if not request.hosts or record.host in request.hosts:
            path = store.current_path(records, key)
            names.append(path if record.scope == "user" else f"{path} ({record.scope} scope)")
    if not names:
        return ""
    first = next(iter(records.values()))
    places = {(record.scope, record.project) for record in records.values()}
    options = "--all"
    if len(places) == 1 and first.project:
        options = f"--scope {first.scope} --project {shlex.quote(first.project)}"
    elif len(places) == 1 and leaves_project:
        options = f"--scope {first.scope}"
    command = f"hookctl uninstall {name} {options}"
    return f"{name} stays installed in {', '.join(names)}; `{command}` takes it out there too"


def _find_away(folders: Folders, request: Request) -> dict[str, str]:
    """The missing projects, whose records stay; each with its line."""
    records = store.load(folders)
    away = store.away(folders, records)
    lines = {}
    for key, record in records.items():
        if key not in away or not request.means(record):
            continue
        line = f"{away[key]} is not there, so what is installed in it stays on record"
        if record.scope == "local":
            options = f"--scope local --project {shlex.quote(record.project)}"
            command = f"hookctl uninstall {request.name or GUARD} {options}"
            line += f"; if it is gone for good: `{command}`"
        if record.scope == "local" or away[key] not in lines:
            lines[away[key]] = line
    return lines
