"""hookctl uninstall: remove exactly what is ours, and keep the operator's changes."""

import contextlib
import os
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from hookctl import errors
from hookctl import hosts as known
from hookctl.errors import HookctlError
from hookctl.hosts import shapes
from hookctl.model import OURS, Line, Message, Record, Result
from hookctl.output.lines import amount, can_ask, confirm, say, tilde
from hookctl.output.plans import plan_result
from hookctl.ownership import store
from hookctl.ownership.install import Uninstall
from hookctl.ownership.plan import Plan, plan_jobs
from hookctl.ownership.run import apply_plan, changed_meanwhile, finish_pending, locked_run
from hookctl.packs import Pack, programs
from hookctl.settings.targets import GUARD, Target, all_files, readable
from hookctl.system.folders import Folders
from hookctl.verbs import choosing

# What leaves which settings file, every record, and why something stays.
_Selected = tuple[list[Uninstall], dict[str, Record], list[HookctlError]]

HELP = """
pack  A pack's name or file; default: guard, with --all every pack.
--scope S  user, project or local; default: user, with --all every one.
everywhere --all  Uninstall everywhere, after a question; with --scope project and --project, there.
--yes -y  Do not ask; --all needs it without a terminal, and with --json.

Examples:
  hookctl uninstall --all --yes    do not ask
  hookctl uninstall --all --scope project --project .
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
    is_source = programs.is_path(pack) or pack.startswith(OURS)
    content = programs.load_pack(pack) if is_source else None
    name = content.name if content else pack or ("" if everywhere else GUARD)
    scope_of_targets = scope or "user"
    host = () if "all" in host else host
    named = host or [n for n in known.names() if scope_of_targets in known.load(n).scopes]
    hosts = choosing.choose_hosts(named, scope_of_targets, json)
    only = [chosen.name for chosen in hosts] if host else []
    is_asked = can_ask() and not (dry_run or yes or json)
    if everywhere and not (is_asked or dry_run or yes):
        message = "--all needs confirmation, but no question is possible"
        raise errors.usage_error(message, "Add --yes; with --dry-run it shows what would go.")
    recovers = folders.has_unfinished_run()  # maybe the install of this pack, or its end
    finish_pending(folders, say, dry_run=dry_run)
    targets = choosing.find_targets(folders, hosts, scope_of_targets, project, recorded=True)
    loaded = {}
    if name in ("", *programs.list_built_in()):
        loaded = {one: programs.load_pack(one) for one in programs.list_built_in()}
    elif content:
        loaded[name] = content
    elif not recovers:
        _require_known(folders, name, targets)

    def select() -> _Selected:
        if everywhere:
            place = choosing.in_project(folders, project)
            roots = {store.real_path(target.project) for target in targets if project}
            return _list_everywhere(place, name, only, scope, roots, targets, loaded)
        return _list_here(folders, name, only, targets, loaded)

    if is_asked:
        question = _question(name, *select(), everywhere=everywhere)
        confirm(question)
    puts_back = False
    if everywhere and not (name or host or scope) and store.load(folders).disabled:
        from hookctl.verbs import enable  # late: few have any disabled

        with contextlib.suppress(HookctlError):  # a no
            puts_back = yes or dry_run or confirm(enable.others_question(folders))
    with locked_run(folders, say, dry_run=dry_run):
        if is_asked and _question(name, *select(), everywhere=everywhere) != question:
            raise changed_meanwhile()
        if puts_back:
            others = enable.put_back_others(folders, dry_run=dry_run)
        leavings, records, problems = select()
        projects = [leaving.target.project for leaving in leavings if leaving.target.shared]
        # What is refused does not stop the rest, where several files are meant.
        stops = bool(only) or (len(leavings) == 1 and not everywhere)
        make_plan = partial(plan_jobs, jobs=leavings, projects=projects, stops=stops)
        plan = apply_plan(folders, make_plan, say, projects=projects, dry_run=dry_run)
    messages = _name_remaining(name, plan, records)
    if everywhere:
        messages += _name_unreached(folders, plan)
    is_whole = not (messages or problems or plan.unread)
    result = plan_result(plan, _describe(folders, name, plan, is_whole=is_whole), dry_run=dry_run)
    messages += _name_disabled(folders, name, dry_run=dry_run)
    problems += plan.unread
    result = result._replace(
        messages=(*result.messages, *messages),
        errors=tuple(problem.as_dict() for problem in problems),
        exit_code=errors.FAILED if problems else errors.OK,
    )
    if plan.empty and problems:
        result = result._replace(text=(), exit_code=problems[0].exit_code)
    return enable.join(others, result) if puts_back else result


def _question(
    name: str,
    leavings: Sequence[Uninstall],
    records: Mapping[str, Record],
    unreadable: Sequence[HookctlError],
    *,
    everywhere: bool,
) -> str:
    lines, names = [], set()
    for leaving in leavings:
        record, target = records.get(leaving.key), leaving.target
        if record is not None and record.packs.keys() & {*leaving.packs}:
            names.add(target.host.name)
            lines.append(f"{target.host.title}  {tilde(target.path)}: {', '.join(leaving.packs)}")
    if not lines or (len(names) < 2 and not everywhere):
        return ""
    lines += [f"stays in {error.path}: {error.message}" for error in unreadable]
    return "\n".join([*lines, f"Uninstall {name or 'every pack'} from all of these?"])


# Which settings files. Any pack may leave a file that only has placeholders: that removes them.


def _require_known(folders: Folders, name: str, targets: Sequence[Target]) -> None:
    stored = store.load(folders).files  # with what is known of projects that are away
    seen = store.read_known(folders)[0]
    seen |= store.read(folders, [target.project for target in targets if target.shared])
    installed = {one for record in (*stored.values(), *seen.values()) for one in record.packs}
    if name not in installed:
        names = ", ".join(sorted(installed)) or "none"
        hint = f"Installed are: {names}. A pack file is given by its path."
        raise errors.usage_error(f"unknown pack {name!r}", hint)


def _list_everywhere(
    folders: Folders,
    name: str,
    hosts: Sequence[str],
    scope: str,
    roots: Collection[str],
    targets: Sequence[Target],
    loaded: Mapping[str, Pack],
) -> _Selected:
    known_records, unreadable = store.read_known(folders)
    records = dict[str, Record]()
    for key, record in known_records.items():
        if not roots or store.real_path(record.project or "/") in roots:
            records[key] = record
    away, leavings = store.away(folders, records), []
    for key, record in records.items():
        if key not in away and choosing.is_meant(record, hosts, scope) and _has(record, name):
            try:
                target = choosing.recorded_target(record, store.current_path(records, key))
            except HookctlError as error:
                unreadable.append(error)
                continue
            names = (name,) if name else tuple(record.packs) or (GUARD,)
            leavings.append(Uninstall(target, names, key, loaded))
    here = _list_here(folders, GUARD, (), targets, loaded)[0] if name in ("", GUARD) else ()
    for leaving in here:
        host = leaving.target.host
        document = None if leaving.key else readable(leaving.target.path, host.format)
        if document and shapes.elements(host.shape, document.value):  # the record was lost
            leavings.append(leaving)
    return leavings, records, unreadable


def _list_here(
    folders: Folders,
    name: str,
    hosts: Sequence[str],
    targets: Sequence[Target],
    loaded: Mapping[str, Pack],
) -> _Selected:
    """What leaves the targets, and other files of their hosts and scopes that have the pack.

    An unreadable target is left out if its host was not named and nothing of ours is known there.
    """
    records = store.read_known(folders)[0]
    records |= store.read(folders, [target.project for target in targets if target.shared])
    leavings = []
    for target in targets:
        base = known.load(target.host.name)
        for host, path in all_files(base, target.scope, folders.environ, target.project):
            key, record = store.find_record(records, path)
            if record is not None and record.host != base.name:
                continue  # two hosts share the file, and we are in it for the other one
            is_meant = record is not None and _has(record, name)
            if not is_meant and path == target.path:
                is_readable = os.path.lexists(path) and readable(path, target.host.format)
                is_meant = base.name in hosts or bool(is_readable)
            if is_meant:
                leaving = Target(host, target.scope, path, target.project)
                leavings.append(Uninstall(leaving, (name,), key if record else "", loaded))
    return leavings, records, []


def _has(record: Record, name: str) -> bool:
    """Whether a pack is in a settings file, or any without a name; or nothing but placeholders."""
    return name in record.packs if name and record.packs else bool(record.packs or record.gaps)


# What is said.


def _describe(folders: Folders, name: str, plan: Plan, *, is_whole: bool) -> list[Line]:
    titles: dict[str, None] = {}
    projects: dict[str, None] = {}
    for file in plan.files:
        if len(file.actions) > len(file.kept):
            titles[file.target.host.title] = None
        if file.target.shared and (file.known or file.actions):
            projects[tilde(file.target.project)] = None
    text = f"{name or ('everything' if is_whole else 'what could be reached')} is uninstalled"
    if titles:
        text += f" for {', '.join(titles)}"
    lines = [Line(f"{text}. Backups of your settings stay in {tilde(folders.state)}.")]
    if projects:
        text = f"Next: commit the settings and .hookctl, where git has them: {', '.join(projects)}"
        lines.append(Line(text))
    return lines


def _name_remaining(name: str, plan: Plan, records: Mapping[str, Record]) -> list[Message]:
    """The settings files that still have the pack; or any pack where there is nothing to do."""
    wanted, names, count = "" if plan.empty else name, set[str](), 0
    for record in filter(None, {**records, **plan.records}.values()):
        left = [one for one in record.packs if wanted in ("", one)]
        names.update(left)
        count += bool(left)
    if not names:
        return []
    where, listed = amount(count, "settings file"), ", ".join(sorted(names))
    text = f"still installed: {listed} in {where}; `hookctl status --all` says more"
    return [Message(text, "stays_installed", "info")]


def _name_unreached(folders: Folders, plan: Plan) -> Iterator[Message]:
    """What is not there, and stays on record; then hooks that no record has any more."""
    records, texts = store.load(folders).files, dict[str, str]()
    for key, folder in store.away(folders, records).items():
        text = f"{tilde(folder)} is not there, so what is installed in it stays on record"
        if records[key].scope == "local":
            command = f"hookctl uninstall --scope local --project {shlex.quote(folder)}"
            texts[folder] = f"{text}; if it is gone for good: `{command}`"
        texts.setdefault(folder, text)
    for folder, text in texts.items():
        yield Message(text, "project_away", path=folder)
    for file in plan.files:
        is_known = file.record is not None
        for hook in () if is_known else shapes.elements(file.host.shape, file.document.value):
            text = f"{hook.id} stays in {tilde(file.path)}: no record has it any more"
            source = f"{OURS}{hook.pack}" if programs.find_along(hook.pack) else "PACKFILE"
            yield Message(f"{text}; `hookctl uninstall {source}` takes it out", "orphan_hook")


def _name_disabled(folders: Folders, name: str, *, dry_run: bool) -> Iterator[Message]:
    """What stays disabled: nothing but hookctl's state folder has it any more."""
    from hookctl.survey.machine import read_disabled  # late, too

    for hook in read_disabled(folders):
        is_leaving = dry_run and name in ("", hook.pack, hook.by)
        if not (hook.is_values or is_leaving):
            text = (
                f"{hook.shown} of {tilde(hook.file)} stays disabled{hook.because}, kept in "
                f"hookctl's state folder alone: `hookctl enable {hook.shown}` puts it back"
            )
            yield Message(text, "stays_disabled", host=hook.host, path=hook.file)
