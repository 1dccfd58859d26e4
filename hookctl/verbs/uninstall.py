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
from hookctl.hosts import shapes
from hookctl.model import Line, Message, Record, Result
from hookctl.output.lines import amount, tilde
from hookctl.output.plans import plan_result
from hookctl.ownership import store
from hookctl.ownership.install import Uninstall
from hookctl.ownership.plan import Plan, plan_jobs
from hookctl.ownership.run import carry_out, changed_meanwhile, finish_pending, locked_run
from hookctl.ownership.sources import Sources
from hookctl.packs.model import Pack
from hookctl.settings.targets import GUARD, Target, all_files, readable
from hookctl.system.folders import Folders
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
        if not choosing.is_meant(record, self.hosts, self.scope):
            return False
        is_installed = self.name in record.packs if self.name else bool(record.packs)
        # Without a pack it has only placeholders, which keep the position of other hooks.
        return is_installed or bool(record.gaps and not record.packs)


HELP = """
pack  A pack's name or file; default: guard, with --all every pack.
--scope S  user, project or local; default: user, with --all every one.
everywhere --all  Uninstall everywhere, after a question.
--yes -y  Do not ask; --all with --json needs it.

Examples:
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
    json: bool = False,
) -> Result:
    """Take a pack out of the settings files that are meant, after a question where there is one."""
    content = packs.load(pack) if packs.is_path(pack) else None
    scope_of_targets = scope or "user"
    host = () if "all" in host else host
    named = host or [n for n in known.names() if scope_of_targets in known.load(n).scopes]
    hosts = choosing.choose_hosts(named, scope_of_targets, json)
    name = content.name if content else pack or ("" if everywhere else GUARD)
    named_hosts = tuple(chosen.name for chosen in hosts) if host else ()
    recovered = folders.has_unfinished_run()
    request = Request(name, everywhere, content, named_hosts, scope, recovered)
    asks = not (dry_run or yes)
    if asks and everywhere and (json or not can_ask()):
        message = "--all needs confirmation, but no question is possible"
        raise errors.usage_error(message, "Add --yes; with --dry-run it shows what would go.")
    asked = ""
    if not dry_run:
        finish_pending(folders, report.say)
    targets = choosing.find_targets(folders, hosts, scope_of_targets, project, recorded=True)
    if asks and can_ask() and not json:
        asked = question(folders, request, targets)
        confirm(asked)
    others = None
    takes_all = everywhere and not (name or host or scope) and os.path.lexists(folders.disabled)
    puts_back = takes_all and (yes or dry_run or _may_put_back(folders))
    with locked_run(folders, report.say, dry_run=dry_run):
        if asked and question(folders, request, targets) != asked:
            raise changed_meanwhile()
        if puts_back:
            from hookctl.verbs.enable import put_back_others  # late: few have any disabled

            others = put_back_others(folders, dry_run=dry_run)
        result = take_out(folders, request, targets, dry_run=dry_run)
    if others:
        from hookctl.verbs.enable import join  # late, too

        return join(others, result)
    return result


def _may_put_back(folders: Folders) -> bool:
    from hookctl.verbs.enable import others_question  # late: few have any disabled

    try:
        return confirm(others_question(folders))
    except HookctlError:
        return False


def question(folders: Folders, request: Request, targets: list[Target]) -> str:
    """What is asked before packs leave several hosts, or with --all any; else nothing."""
    leavings, records, unreadable = _select(Sources(folders), request, targets)
    lines, names = [], set()
    for leaving in leavings:
        record, target = records.get(leaving.key), leaving.target
        if record is not None and record.packs and request.means(record):
            names.add(target.host.name)
            lines.append(f"{target.host.title}  {tilde(target.path)}: {', '.join(leaving.packs)}")
    if not lines or (len(names) < 2 and not request.everywhere):
        return ""
    lines += [f"stays in {error.path}: {error.message}" for error in unreadable]
    return "\n".join([*lines, f"Uninstall {request.name or 'every pack'} from all of these?"])


def take_out(folders: Folders, request: Request, targets: list[Target], *, dry_run: bool) -> Result:
    """Take a pack out of these targets, or out of every settings file that the ledgers know.

    What is refused does not stop the rest.
    """
    sources = Sources(folders)
    leavings, records, problems = _select(sources, request, targets)
    projects = [leaving.target.project for leaving in leavings if leaving.target.shared]
    stops = bool(request.hosts) or (len(leavings) == 1 and not request.everywhere)
    make_plan = partial(plan_jobs, sources, leavings, projects, stops=stops)
    plan = carry_out(sources, make_plan, report.say, projects=projects, dry_run=dry_run)
    problems += plan.unread
    remaining = [*_name_remaining(request, plan, records), *_name_away(folders, request)]
    remaining += _name_orphans(plan) if request.everywhere else ()
    is_whole = not (problems or remaining)
    outcome = _describe_done(folders, request, plan, is_whole=is_whole)
    result = plan_result(plan, outcome, dry_run=dry_run)
    messages = [*remaining, *_name_disabled(folders, request, dry_run=dry_run)]
    error_list = tuple(problem.as_dict() for problem in problems)
    result = result._replace(messages=(*result.messages, *messages), errors=error_list)
    if plan.empty and problems:
        return result._replace(text=(), exit_code=problems[0].exit_code)
    return result._replace(exit_code=errors.FAILED if problems else errors.OK)


# Which settings files.


def _select(
    sources: Sources, request: Request, targets: list[Target]
) -> tuple[list[Uninstall], dict[str, Record], list[HookctlError]]:
    """What leaves which settings file, every record, and why something stays."""
    records, unreadable = store.read_known(sources.folders)
    if not request.everywhere:
        projects = [target.project for target in targets if target.shared]
        records |= sources.records(projects)
    _require_known(sources.folders, request, records)
    loaded = {}
    if not request.name or request.name in packs.names():
        loaded = {name: packs.load(name) for name in packs.names()}
    if request.pack:
        loaded.setdefault(request.pack.name, request.pack)
    if not request.everywhere:
        return list(_list_here(sources.folders, request, targets, records, loaded)), records, []
    leavings = []
    away = store.away(sources.folders, records)
    for key, record in records.items():
        if request.means(record) and key not in away:
            try:
                target = choosing.recorded_target(record, store.current_path(records, key))
            except HookctlError as error:
                unreadable.append(error)
                continue
            # Any pack may leave a file that only has placeholders: that removes them.
            names = (request.name,) if request.name else tuple(record.packs) or (GUARD,)
            leavings.append(Uninstall(target, names, key, loaded))
    if request.name in ("", GUARD):
        lost = [target for target in targets if _has_lost_hooks(records, target)]
        leavings += [Uninstall(target, (GUARD,), "", loaded) for target in lost]
    return leavings, records, unreadable


def _require_known(folders: Folders, request: Request, records: Mapping[str, Record]) -> None:
    """Refuse a pack that is not built in, not given as a file, and installed nowhere."""
    if not request.name or request.pack or request.recovered or request.name in packs.names():
        return
    stored = store.load(folders)  # with what is known of projects that are away
    both = (*stored.values(), *records.values())
    installed = {name for record in both for name in record.packs}
    if request.name not in installed:
        names = ", ".join(sorted(installed)) or "none"
        hint = f"Installed are: {names}. A pack file is given by its path."
        raise errors.usage_error(f"unknown pack {request.name!r}", hint)


def _list_here(
    folders: Folders,
    request: Request,
    targets: list[Target],
    records: Mapping[str, Record],
    loaded: Mapping[str, Pack],
) -> Iterator[Uninstall]:
    """What leaves the targets, and other files of their hosts and scopes that have the pack.

    An unreadable target is left out if its host was not named and nothing of ours is known there.
    """
    for target in targets:
        base = known.load(target.host.name)
        for host, path in all_files(base, target.scope, folders.environ, target.project):
            key, record = store.find_record(records, path)
            if record is not None and record.host != base.name:
                continue  # two hosts share the file, and we are in it for the other one
            has_ours = record is not None and request.means(record)
            is_named = path == target.path and base.name in request.hosts
            is_there = path == target.path and os.path.lexists(path)
            if has_ours or is_named or (is_there and readable(path, target.host.format)):
                leaving = Target(host, target.scope, path, target.project)
                yield Uninstall(leaving, (request.name,), key if record else "", loaded)


def _has_lost_hooks(records: Mapping[str, Record], target: Target) -> bool:
    """Whether a settings file without a record has hooks of hookctl: the record was lost."""
    document = readable(target.path, target.host.format)
    root = document.value if document is not None else None
    if not isinstance(root, dict) or store.find_record(records, target.path)[1] is not None:
        return False
    return bool(shapes.elements(target.host.shape, root))


# What is said.


def _describe_done(folders: Folders, request: Request, plan: Plan, *, is_whole: bool) -> list[Line]:
    """What is removed, and the steps left to do by hand in shared projects."""
    titles: dict[str, None] = {}
    commits: dict[str, list[str]] = {}
    for file in plan.files:
        target = file.target
        if file.actions:
            titles[target.host.title] = None
        if target.shared:
            name = os.path.relpath(target.path, target.project)
            commits.setdefault(target.project, []).append(name)
    name = request.name or ("everything" if is_whole else "what could be reached")
    text = f"{name} is uninstalled"
    if titles:
        text += f" for {', '.join(titles)}"
    lines = [Line(f"{text}. Backups of your settings stay in {tilde(folders.state)}.")]
    lines += [Line("Next:")] if commits else []
    for project, names in commits.items():
        text = f"in {tilde(project)}: commit {' '.join(names)} .hookctl where git has them"
        lines.append(Line(text, indent=2))
    return lines


def _name_remaining(
    request: Request, plan: Plan, records: Mapping[str, Record]
) -> Iterator[Message]:
    """The settings files that still have the pack; or any pack where there is nothing to do."""
    left = {key: record for key, record in {**records, **plan.records}.items() if record}
    wanted = "" if plan.empty else request.name
    names = {name for record in left.values() for name in record.packs if wanted in ("", name)}
    keys = [key for key, record in left.items() if names & record.packs.keys()]
    if keys:
        where = tilde(store.current_path(left, keys[0]))
        if len(keys) > 1:
            where = amount(len(keys), "settings file")
        listed = ", ".join(sorted(names))
        text = f"still installed: {listed} in {where}; `hookctl status --all` says more"
        yield Message(text, "stays_installed", "info")


def _name_orphans(plan: Plan) -> Iterator[Message]:
    """The hooks of packs that no record has any more: only their own file says what they are."""
    for file in plan.files:
        is_known = file.record is not None or not isinstance(file.document.value, dict)
        for hook in () if is_known else shapes.elements(file.host.shape, file.document.value):
            text = f"{hook.id} stays in {tilde(file.path)}: no record has it any more"
            yield Message(f"{text}; `hookctl uninstall PACKFILE` takes it out", "orphan_hook")


def _name_away(folders: Folders, request: Request) -> Iterator[Message]:
    """The projects and folders that are not there: what is installed in them stays on record."""
    if not request.everywhere:
        return
    records, texts = store.load(folders), dict[str, str]()
    for key, folder in store.away(folders, records).items():
        text = f"{tilde(folder)} is not there, so what is installed in it stays on record"
        if records[key].scope == "local":
            command = f"hookctl uninstall --scope local --project {shlex.quote(folder)}"
            texts[folder] = f"{text}; if it is gone for good: `{command}`"
        texts.setdefault(folder, text)
    for folder, text in texts.items():
        yield Message(text, "project_away", path=folder)


def _name_disabled(folders: Folders, request: Request, *, dry_run: bool) -> Iterator[Message]:
    """What stays disabled: nothing but hookctl's state folder has it any more."""
    if not os.path.lexists(folders.disabled):
        return
    from hookctl.survey.machine import read_disabled  # late, too

    for hook in read_disabled(folders).hooks:
        is_leaving = dry_run and request.name in ("", hook.pack)
        if not (hook.is_values or is_leaving):
            text = (
                f"{hook.shown} of {tilde(hook.file)} stays disabled, kept in hookctl's state "
                f"folder alone: `hookctl enable {hook.shown}` puts it back"
            )
            yield Message(text, "stays_disabled", host=hook.host, path=hook.file)
