"""hookctl uninstall: take out exactly what is ours, and keep what the operator changed."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from hookctl import errors, packs, report
from hookctl import hosts as known
from hookctl.errors import HookctlError
from hookctl.ledger import committed, store
from hookctl.model import Record, Result
from hookctl.packs.model import Pack
from hookctl.planner.plan import Plan
from hookctl.planner.run import carry_out
from hookctl.planner.uninstall import Leaving, plan_uninstall
from hookctl.settings.sources import Sources, read_document
from hookctl.settings.targets import GUARD, Target, all_files, target_of_record
from hookctl.system.folders import Folders


class What(NamedTuple):
    """What is to go: a pack's name, empty for all with `everywhere`, and the pack itself where its file is at hand."""

    name: str
    everywhere: bool = False
    pack: Pack | None = None
    hosts: tuple[str, ...] = ()  # with `everywhere` only these; empty: all
    scope: str = ""


def uninstall(folders: Folders, what: What, targets: list[Target], *, dry_run: bool) -> Result:
    """Take a pack out of these places, or of everywhere that the ledgers know of."""
    loaded = {what.pack.name: what.pack} if what.pack else {}
    if not what.name or what.name in packs.names():
        loaded |= {name: packs.load(name) for name in packs.names()}
    projects = [target.project for target in targets if target.shared]
    problems: list[HookctlError] = []
    sources = Sources(folders)
    if what.everywhere:
        projects, problems = committed.readable(folders)

    def meant() -> list[Callable[[], Leaving]]:
        if not what.everywhere:
            return [partial(Leaving, target, (what.name,)) for target in targets]
        pages = committed.read(folders, projects)
        return [partial(_leaving, pages, key, what) for key in _meant(pages, what)]

    def make(*some: Callable[[], Leaving]) -> Plan:
        return plan_uninstall(sources, [leaving() for leaving in some or meant()], loaded, projects)

    _require_known(folders, what, projects)
    if not what.everywhere:
        records = committed.read(folders, projects)
        targets = [
            one for target in targets for one in _with_others(folders, what, target, records)
        ]
    try:
        plan = make() if dry_run else carry_out(sources, make, report.say)
    except HookctlError as error:
        problems = errors.problems_of(error, [partial(make, leaving) for leaving in meant()])
        return Result(
            {}, errors=tuple(problem.as_dict() for problem in problems), exit_code=error.exit_code
        )
    name = what.name or "everything"
    gone = ", ".join(
        dict.fromkeys(file.target.host.title for file in plan.files if file.decision.actions)
    )
    name += f" is uninstalled for {gone}" if what.hosts and gone else " is uninstalled"
    done = f"{name}. Backups of your settings and the log stay in {report.tilde(folders.state)}."
    text = report.plan_text(plan, dry_run=dry_run, done=done)
    if what.everywhere and not plan.files:
        there = " there" if what.hosts or what.scope else ""
        text = [
            f"nothing to do: {f'{what.name} is not' if what.name else 'nothing is'} installed{there}"
        ]
    data, messages = report.plan_data(plan, dry_run=dry_run), tuple(_elsewhere(folders, what, plan))
    if problems:  # one project's ledger keeps nobody from taking out the rest
        code = errors.UNREADABLE if plan.empty else errors.FAILED
        return Result(
            data,
            () if plan.empty else tuple(text),
            messages,
            tuple(p.as_dict() for p in problems),
            code,
        )
    return Result(data, tuple(text), messages)


def _with_others(
    folders: Folders, what: What, target: Target, records: Mapping[str, Record]
) -> list[Target]:
    """The place, and other files of the same host and scope that the ledger has the pack in.

    Of a host that nobody named, a file that cannot be read is none of our business where nothing of ours is known.
    """
    found = []
    for host, path in all_files(
        known.load(target.host.name), target.scope, folders.environ, target.project
    ):
        _, record = store.page_of(records, path)
        installed = record is not None and what.name in record.packs
        if installed or (
            path == target.path and (target.host.name in what.hosts or _is_readable(target))
        ):
            found.append(Target(host, target.scope, path, target.project))
    return found


def _is_readable(target: Target) -> bool:
    try:
        return os.path.lexists(target.path) and bool(read_document(target.path, target.host.format))
    except HookctlError:
        return False


def question(folders: Folders, what: What) -> str:
    """What `--all` asks first, naming every settings file that would be looked at; empty where there is none."""
    projects, _ = committed.readable(folders)
    _require_known(folders, what, projects)
    records = committed.read(folders, projects)
    targets = [_named(records, key) for key in _meant(records, what)]
    return f"Uninstall {what.name or 'every pack'} from {', '.join(targets)}?" if targets else ""


def _require_known(folders: Folders, what: What, projects: list[str]) -> None:
    """A pack that is neither built in nor at hand must at least be installed somewhere."""
    if not what.name or what.pack or what.name in packs.names():
        return
    pages = {**committed.read_known(folders)[0], **committed.read(folders, projects)}
    installed = {name for page in pages.values() for name in page.packs}
    if what.name not in installed:
        hint = f"Installed are: {', '.join(sorted(installed)) or 'none'}. A pack file is given by its path."
        raise HookctlError(
            "usage", f"unknown pack {what.name!r}", hint=hint, exit_code=errors.USAGE
        )


def _elsewhere(folders: Folders, what: What, plan: Plan) -> list[str]:
    """Where the pack is installed besides: another scope, or another value of a variable such as CLAUDE_CONFIG_DIR."""
    looked_at = {file.key for file in plan.files}
    records, _ = committed.read_known(folders)
    others = [
        _named(records, key)
        for key, record in records.items()
        if key not in looked_at
        and (what.name or GUARD) in record.packs
        and (not what.hosts or record.host in what.hosts)
    ]
    if not others:
        return []
    name = what.name or GUARD
    pages = [
        record for key, record in records.items() if key not in looked_at and name in record.packs
    ]
    how = "--all"
    if len(pages) == 1 and pages[0].project:
        how = f"--scope {pages[0].scope} --project {shlex.quote(pages[0].project)}"
    return [
        f"{name} stays installed in {', '.join(others)}; `hookctl uninstall {name} {how}` takes it out there too"
    ]


def _named(records: Mapping[str, Record], key: str) -> str:
    scope = records[key].scope
    return store.place_of(records, key) + ("" if scope == "user" else f" ({scope} scope)")


def _meant(records: Mapping[str, Record], what: What) -> list[str]:
    """The pages of every settings file that something is to leave."""
    return [
        key
        for key, record in records.items()
        if what.scope in ("", record.scope)
        and (not what.hosts or record.host in what.hosts)
        and (what.name in record.packs if what.name else record.packs)
    ]


def _leaving(records: Mapping[str, Record], key: str, what: What) -> Leaving:
    record, path = records[key], store.place_of(records, key)
    if record.host not in known.names():
        message = (
            f"something is installed here for {record.host}, a host that this hookctl does not know"
        )
        raise HookctlError(
            "ledger_newer", message, path=path, hint="Use the newer hookctl that wrote it."
        )
    target = target_of_record(known.load(record.host), record, path)
    return Leaving(target, (what.name,) if what.name else tuple(record.packs), key)
