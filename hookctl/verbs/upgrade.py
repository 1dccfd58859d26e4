"""hookctl upgrade: every installed pack again, from where it came, wherever the records know it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from hookctl import engine, errors, packs, report
from hookctl import hosts as known
from hookctl.errors import HookctlError
from hookctl.ledger import store
from hookctl.masking import OwnText
from hookctl.model import GIT, Line, Message, Record, Result
from hookctl.output.lines import ERROR, SKIP, program, tilde
from hookctl.output.plans import plan_data, plan_text
from hookctl.packs.choices import Choice, Permission
from hookctl.packs.guard import is_newer
from hookctl.packs.model import Pack
from hookctl.planner.consent import Review
from hookctl.planner.install import agree, plan_agreed, plan_install, review_of
from hookctl.planner.plan import Plan
from hookctl.planner.run import carry_out, changed_meanwhile, finish_pending, locked_run
from hookctl.planner.sources import Sources, look
from hookctl.settings.targets import GUARD, Target, target_of_record
from hookctl.system import project
from hookctl.system.folders import Folders
from hookctl.verbs import choosing


class Request(NamedTuple):
    """What to upgrade, and how."""

    pack: str = ""  # a name; empty: every pack
    dry_run: bool = False
    hosts: tuple[str, ...] = ()  # names; none: every host
    scope: str = ""  # empty: every one
    project: str = ""  # its real path; empty: user scope and every known project
    diff: bool = False  # show the unified diff of it
    keep_removed: bool = False  # also where every entry of one pack alone was taken out


class _Installed(NamedTuple):
    """A pack from one source, and its settings files on record."""

    name: str
    source: str  # empty for a built-in pack
    records: list[tuple[str, Record]]  # by the path of the settings file

    @property
    def is_from_git(self) -> bool:
        """Whether its source is an address, and not a path."""
        return self.source.startswith(GIT)


class _Upgraded(NamedTuple):
    """The outcome for one pack: its plan, or why there is none."""

    installed: _Installed
    pack: Pack | None
    plan: Plan | None
    problems: tuple[HookctlError, ...] = ()
    review: Review | None = None  # of a pack that is not built in


# The packs by name and source, each with what was agreed to of it; or why there is none.
_Brought = dict[tuple[str, str], tuple[Pack, Review | None] | HookctlError]


HELP = """
pack <pack>  Only this pack, by its name; default: every installed one.

Examples:
  hookctl upgrade                  after an update of it or of a pack
  hookctl upgrade --project .      only what this project has
  hookctl upgrade notify --dry-run
  hookctl upgrade --yes --accept-changed
"""


def upgrade(
    folders: Folders,
    pack: str = "",
    host: Sequence[str] = (),
    any_scope: str = "",
    only_project: str = "",
    yes: bool = False,
    accept_changed: bool = False,
    dry_run: bool = False,
    diff: bool = False,
    json: bool = False,
) -> Result:
    """Upgrade what is meant, here or in the named project alone."""
    hosts = tuple(one.name for one in choosing.load_hosts(host))
    scope = choosing.known_scope(any_scope)
    place = choosing.in_project(folders, only_project)
    root = project.find(place.cwd, place.environ) if only_project else ""
    request = Request(pack, dry_run, hosts, scope, root, diff)
    return upgrade_meant(place, request, choosing.permission(yes, accept_changed, json))


def upgrade_meant(folders: Folders, request: Request, permission: Permission) -> Result:
    """Install each pack again with its recorded settings; what the operator changed or took out
    stays, and a pack whose entries all vanished is put back.

    All packs are shown and agreed to before the first one is written. A pack with a problem is
    named and left as it is, and does not stop the others.
    """
    finish_pending(folders, report.say, dry_run=request.dry_run)
    sources = Sources(folders)
    brought = _bring(sources, request, permission)
    with locked_run(folders, report.say, dry_run=request.dry_run):
        installed, records, unreadable = _find_installed(folders, request)
        unreadable = _keep_own(folders, unreadable, request)
        if request.pack and not installed and not unreadable:
            meant = [record for record in records.values() if _is_meant(record, request)]
            names = sorted({name for record in meant for name in record.packs})
            hint = f"Use one of: {', '.join(names) or 'none is installed'}."
            raise errors.usage_error(f"{request.pack!r} is not installed here", hint)
        outcomes = [*_leave_newer(installed)]
        for item in installed:
            outcomes += _upgrade_pack(sources, item, brought, request)
    return _make_result(outcomes, unreadable, request)


def _bring(sources: Sources, request: Request, permission: Permission) -> _Brought:
    """The packs that are not built in, as their sources have them now, shown and agreed to."""
    installed, records, _ = _find_installed(sources.folders, request)
    installed = [item for item in installed if item.name not in packs.names()]
    brought = _Brought()
    for item, error in _refuse_unknown_addresses(installed, records, request, permission):
        brought[item.name, item.source] = error
    for item in installed:
        key = item.name, item.source
        if key in brought:
            continue
        try:
            pack, review = _load(sources.folders, item), None
            command = f"{program()} upgrade {item.name} --dry-run"
            for choice, targets in _find_targets(sources, item, request):
                if not request.dry_run:
                    review = agree(sources, pack, targets, choice, permission, command) or review
            brought[key] = pack, review
        except HookctlError as error:
            if error.exit_code == errors.USAGE:  # no consent, so nothing is written at all
                raise
            brought[key] = error
    return brought


def _upgrade_pack(
    sources: Sources, item: _Installed, brought: _Brought, request: Request
) -> Iterator[_Upgraded]:
    """Install a pack again in its settings files; where its entries vanished, in a run apart."""
    try:
        pack, review = _find_brought(item, brought)
        sources.forget()
        steps = [*_find_targets(sources, item, request)]
    except HookctlError as error:
        yield _Upgraded(item, None, None, (error,))
        return
    for choice, targets in steps:
        sources.forget()  # the step before has written
        make_plan = partial(plan_install, sources, pack, targets, choice)
        if pack.source and not request.dry_run:
            make_plan = partial(plan_agreed, make_plan, pack, review)
        projects = [target.project for target in targets if target.shared]
        try:
            plan = carry_out(
                sources, make_plan, report.say, projects=projects, dry_run=request.dry_run
            )
        except HookctlError as error:
            yield _Upgraded(item, pack, None, (error,))
            continue
        if pack.source and request.dry_run:
            review = review_of(sources, pack, plan)
        yield _Upgraded(item, pack, plan, tuple(_conflicts(plan)), review)


def _find_brought(item: _Installed, brought: _Brought) -> tuple[Pack, Review | None]:
    """The pack to install, and what was agreed to of it; raises why there is none."""
    if item.name in packs.names():
        return packs.load(item.name), None
    found = brought.get((item.name, item.source))
    if found is None:  # it was installed since, and nobody has agreed to it here
        raise changed_meanwhile()
    if isinstance(found, HookctlError):
        raise found
    return found


def _find_installed(
    folders: Folders, request: Request
) -> tuple[list[_Installed], dict[str, Record], list[HookctlError]]:
    """The packs that are asked for, every record, and what cannot be read."""
    records, unreadable = store.read_known(folders)
    away = store.away(folders, records)
    present = {key: record for key, record in records.items() if key not in away}
    chosen = {key: record for key, record in present.items() if _is_meant(record, request)}
    return _list_installed(chosen, request.pack), records, unreadable


def _is_meant(record: Record, request: Request) -> bool:
    """Whether a record is of the project, the scope and the hosts that are asked for."""
    if request.project and store.real_path(record.project or "/") != request.project:
        return False
    if request.hosts and record.host not in request.hosts:
        return False
    return request.scope in ("", record.scope)


def _keep_own(
    folders: Folders, unreadable: list[HookctlError], request: Request
) -> list[HookctlError]:
    """The records that cannot be read and that may have something that is asked for.

    Faults in other projects are reported, but are no failure here.
    """
    if request.scope not in ("", "project"):
        return []
    here = request.project or project.look(folders.cwd, folders.environ)
    own = [error for error in unreadable if error.path.startswith(f"{here}/")]
    for error in unreadable:
        if error not in own and not request.project:
            text = f"left out, another project's record: {error.path}: {error.message}"
            report.say(Message(text, "left_out", path=error.path))
    return own


def _list_installed(records: dict[str, Record], wanted: str) -> list[_Installed]:
    """Each pack of the records with its source; the same name may have come from two."""
    found: dict[tuple[str, str], list[tuple[str, Record]]] = {}
    for key, record in records.items():
        for name, pack_record in record.packs.items():
            if wanted in ("", name):
                path = store.current_path(records, key)
                found.setdefault((name, pack_record.source), []).append((path, record))
    return [_Installed(name, source, found[name, source]) for name, source in sorted(found)]


def _refuse_unknown_addresses(
    installed: list[_Installed],
    records: dict[str, Record],
    request: Request,
    permission: Permission,
) -> list[tuple[_Installed, HookctlError]]:
    """The packs from git that are known only from a project's record, and may not be fetched."""
    from_git = [item for item in installed if item.is_from_git]
    if not from_git:
        return []
    from hookctl.planner import addresses  # late: few packs come from git

    refused = []
    for item in from_git:
        try:
            is_named = request.pack == item.name
            command = f"{program()} upgrade {item.name} --yes"
            addresses.require_agreement(
                item.name, item.source, records, permission, command, is_named=is_named
            )
        except HookctlError as error:
            if error.code == "declined" or not (permission.yes or request.dry_run):
                raise
            refused.append((item, error))
    return refused


def _load(folders: Folders, item: _Installed) -> Pack:
    """The pack as its source has it now."""
    if not item.source:
        message = f"{item.name}: where this pack came from is not on record"
        records = [record for _, record in item.records]
        options = "".join(f" --host {record.host}" for record in records)
        example = f"{program()} install ./{item.name}.toml{options} --scope {records[0].scope}"
        hint = f"Install it once more from its file, as in `{example}`."
        raise _gone(message, item.records[0][0], hint)
    try:
        pack = _read_source(folders, item)
    except HookctlError as error:
        if error.code in ("fetch_failed", "git_missing"):
            error.exit_code = errors.FAILED
        if error.code not in ("usage", "unreadable"):
            raise
        message = f"{item.name}: its source is gone: {error.message}"
        hint = "Put it back, or install the pack from where it is now."
        raise _gone(message, item.source, hint) from None
    if pack.name != item.name:
        message = f"this pack is called {pack.name} now, and was installed as {item.name}"
        hint = f"Uninstall {item.name}, then install {pack.name}."
        raise _gone(message, item.source, hint)
    return pack


def _read_source(folders: Folders, item: _Installed) -> Pack:
    if item.is_from_git:
        from hookctl.packs.git_source import load_from_git  # late: few packs come from git

        return load_from_git(item.source, folders, report.progress)
    from hookctl.packs.pack import load_file  # late: most records are the guard's

    return load_file(item.source)


def _gone(message: str, path: str, hint: str) -> HookctlError:
    return HookctlError("source_gone", message, path=path, hint=hint, exit_code=errors.FAILED)


def _find_targets(
    sources: Sources, item: _Installed, request: Request
) -> Iterator[tuple[Choice, list[Target]]]:
    """Where a pack is installed; apart, and with --force, where all of its entries vanished."""
    present: list[Target] = []
    vanished: list[Target] = []
    for path, record in item.records:
        if record.host not in known.names():
            message = (
                f"{item.name} is installed for {record.host}, which this hookctl does not know"
            )
            hint = "Use the newer hookctl that wrote it."
            raise HookctlError("ledger_newer", message, path=path, hint=hint)
        target = target_of_record(known.load(record.host), record, path)
        has_vanished = not request.keep_removed and _has_vanished(
            sources, target, record, item.name
        )
        (vanished if has_vanished else present).append(target)
    if present:
        yield Choice(), present
    if vanished:
        yield Choice(force=True), vanished


def _leave_newer(installed: list[_Installed]) -> Iterator[_Upgraded]:
    """Take the guards of a newer hookctl out of the list, with an error for each."""
    for number, item in enumerate(installed):
        older = []
        for path, record in item.records:
            version = record.packs[item.name].version
            if item.name != GUARD or not is_newer(version):
                older.append((path, record))
                continue
            message = f"guard {version} is installed, and this older hookctl does not replace it"
            hint = f"Upgrade hookctl to {version} or later."
            error = HookctlError(
                "hook_newer", message, path=path, hint=hint, exit_code=errors.FAILED
            )
            yield _Upgraded(item, None, None, (error,))
        installed[number] = item._replace(records=older)


def _has_vanished(sources: Sources, target: Target, record: Record, name: str) -> bool:
    """Whether a pack has entries on record there, and every one of them is gone."""
    document = sources.read(target.path, target.host.format)[1]
    current = look(target.host, document, (), record.entries)
    states = set()
    for entry in record.entries:
        if entry.kind != "container" and name in entry.owners:
            states.add(engine.state(entry, current, entry.path, entry.id))
    return states == {"missing"}


def _conflicts(plan: Plan) -> Iterator[HookctlError]:
    """An error for each value that another pack wants differently."""
    for file in plan.files:
        for conflict in file.conflicts:
            name = ".".join(map(str, conflict.path))
            message = f"{name}: {' and '.join(conflict.claims)} want different values"
            hint = "Give both the same value, or uninstall one of them."
            yield HookctlError(
                "conflict", message, path=file.path, hint=hint, exit_code=errors.FAILED
            )


def _make_result(
    outcomes: list[_Upgraded], unreadable: list[HookctlError], request: Request
) -> Result:
    text: list[str | Line] = []
    messages: list[Message] = []
    problems = list(unreadable)
    data: dict[str, Any] = {"actions": [], "kept": [], "files": [], "dry_run": request.dry_run}
    data["changed"] = False
    if request.diff:
        data["diff"] = OwnText("")
    for outcome in sorted(outcomes, key=lambda outcome: outcome.installed[:2]):
        problems += outcome.problems
        text += _describe(outcome, request)
        if outcome.plan is None or outcome.problems:
            continue
        part = plan_data(outcome.plan, dry_run=request.dry_run, diff=request.diff)
        for key in ("actions", "kept", "files"):
            data[key] += part[key]
        data["changed"] |= part["changed"]
        if request.diff:
            data["diff"] = OwnText(data["diff"] + part["diff"])
        messages += [message for file in outcome.plan.files for message in file.messages]
        if request.dry_run and outcome.installed.is_from_git:
            messages += _describe_outdated(outcome)
        if request.dry_run and outcome.review:
            messages += outcome.review.messages
    if not outcomes and not problems:
        text.append("nothing is installed, so there is nothing to upgrade")
    has_written = any(outcome.plan and not outcome.plan.empty for outcome in outcomes)
    is_unreadable = any(problem.exit_code == errors.UNREADABLE for problem in problems)
    exit_code = errors.FAILED if problems else errors.OK
    if is_unreadable and not has_written:
        exit_code = errors.UNREADABLE
    if exit_code == errors.UNREADABLE:
        text = []  # the errors say it all
    said = {message.text: message for message in _shorten(messages)}
    error_list = tuple(problem.as_dict() for problem in problems)
    return Result(data, tuple(text), tuple(said.values()), error_list, exit_code)


def _describe_outdated(outcome: _Upgraded) -> Iterator[Message]:
    """What is installed of a pack from git, where there is another commit of it now."""
    from hookctl.planner.consent import changed_commit  # late: few packs come from git

    for file in outcome.plan.files if outcome.plan else ():
        commits = changed_commit(file, outcome.installed.name)
        if commits:
            old, new = (commit[:12] for commit in commits)
            text = f"{outcome.installed.name} is outdated: commit {old} is installed, {new} is new"
            yield Message(text, "outdated", "info", host=file.target.host.name, path=file.path)


def _shorten(messages: list[Message]) -> Iterator[Message]:
    """The messages, with one message instead of the same one for each project."""
    paths: dict[str, set[str]] = {}
    for message in messages:
        paths.setdefault(message.text.partition(": ")[0], set()).add(message.path)
    for message in messages:
        reason = message.text.partition(": ")[0]
        if message.code == "start_folder" and len(paths[reason]) > 1:
            message = message._replace(text=f"{reason}, not in the folders below a project")
        yield message


def _describe(outcome: _Upgraded, request: Request) -> list[str | Line]:
    """The lines about one pack."""
    item = outcome.installed
    source = tilde(item.source)
    if outcome.pack is None or outcome.plan is None or outcome.problems:
        return [Line(f"{item.name}: left as it is", ERROR, path=source)]
    title = f"{item.name} {outcome.pack.version}"
    if outcome.plan.empty:
        return [Line(f"{title}: nothing to do", SKIP, path=source)]
    done = [Line(f"{title} is up to date.")]
    text = plan_text(outcome.plan, dry_run=request.dry_run, done=done, diff=request.diff)
    if not request.dry_run or outcome.review is None:
        return text
    return [*outcome.review.text, *text]
