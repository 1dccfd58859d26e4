"""hookctl upgrade: every installed pack again, from where it came, wherever the records know it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

from hookctl import errors, packs, report
from hookctl.errors import HookctlError
from hookctl.model import GIT, Line, Message, Record, Result
from hookctl.output.lines import ERROR, SKIP, tilde
from hookctl.output.plans import plan_result
from hookctl.ownership import store
from hookctl.ownership.consent import Review, agree
from hookctl.ownership.run import changed_meanwhile, finish_pending, locked_run
from hookctl.ownership.sources import Sources
from hookctl.packs.choices import Choice, Permission
from hookctl.packs.guard import is_newer
from hookctl.packs.model import Pack
from hookctl.settings.targets import GUARD, Target
from hookctl.system import project
from hookctl.system.folders import Folders
from hookctl.verbs import choosing
from hookctl.verbs.enable import join
from hookctl.verbs.install import install_agreed, load_source, with_review


class Request(NamedTuple):
    """What to upgrade, and how."""

    pack: str = ""  # a name; empty: every pack
    dry_run: bool = False
    hosts: tuple[str, ...] = ()  # names; none: every host
    scope: str = ""  # empty: every one
    project: str = ""  # its real path; empty: user scope and every known project
    choice: Choice = Choice(restores=True)


class _Installed(NamedTuple):
    """A pack from one source, and its settings files on record."""

    name: str
    source: str  # empty for a built-in pack
    records: list[tuple[str, Record]]  # by the path of the settings file

    @property
    def targets(self) -> list[Target]:
        """The settings files; refuses one of a host that this hookctl does not know."""
        return [choosing.recorded_target(record, path) for path, record in self.records]


# The packs by name and source, each with what was agreed to of it; or why there is none.
_Brought = dict[tuple[str, str], tuple[Pack, Review | None] | HookctlError]


HELP = """
pack  Only this pack, by its name; default: every installed one.

Examples:
  hookctl upgrade                  after an update of it or of a pack
  hookctl upgrade --project .      only what this project has
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
    json: bool = False,
) -> Result:
    """Upgrade what is meant, here or in the named project alone."""
    hosts = tuple(chosen.name for chosen in choosing.load_hosts(host))
    scope = choosing.known_scope(any_scope)
    place = choosing.in_project(folders, only_project)
    root = project.find(place.cwd, place.environ) if only_project else ""
    request = Request(pack, dry_run, hosts, scope, root)
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
        installed, records, problems = _find_installed(folders, request)
        if request.pack and not installed and not problems:
            meant = [record for record in records.values() if _is_meant(record, request)]
            names = sorted({name for record in meant for name in record.packs})
            hint = f"Use one of: {', '.join(names) or 'none is installed'}."
            raise errors.usage_error(f"{request.pack!r} is not installed here", hint)
        results = [_upgrade_pack(sources, item, brought, request) for item in installed]
    here = request.project or project.look(folders.cwd, folders.environ)
    for error in problems:
        if error.code == "hook_newer" or error.path.startswith(f"{here}/"):
            results.append(Result({}, errors=(error.as_dict(),), exit_code=error.exit_code))
        elif not request.project:  # no failure here
            text = f"left out, another project's record: {error.path}: {error.message}"
            report.say(Message(text, "left_out", path=error.path))
    return _join(results, request)


def _bring(sources: Sources, request: Request, permission: Permission) -> _Brought:
    """The packs that are not built in, as their sources have them now, shown and agreed to."""
    installed, records, _ = _find_installed(sources.folders, request)
    brought = _Brought()
    for item in installed:
        if item.name in packs.names():
            continue
        try:
            if item.source.startswith(GIT):
                from hookctl.ownership import consent  # late: few packs come from git

                command = f"hookctl upgrade {item.name} --yes"
                is_named = request.pack == item.name
                consent.require_agreement(
                    item.name, item.source, records, permission, command, is_named=is_named
                )
            pack, review = _load(sources.folders, item), None
            command = f"hookctl upgrade {item.name} --dry-run"
            if not request.dry_run:
                targets = item.targets
                review = agree(sources, pack, targets, request.choice, permission, command)
            brought[item.name, item.source] = pack, review
        except HookctlError as error:
            is_left_out = error.code == "consent_needed" and (permission.yes or request.dry_run)
            if error.exit_code == errors.USAGE and not is_left_out:
                raise  # no consent, so nothing is written at all
            brought[item.name, item.source] = error
    return brought


def _upgrade_pack(
    sources: Sources, item: _Installed, brought: _Brought, request: Request
) -> Result:
    """Install a pack again in its settings files."""
    found = brought.get((item.name, item.source), changed_meanwhile())  # or it came just now
    if item.name in packs.names():
        found = packs.load(item.name), None
    if isinstance(found, HookctlError):
        return _leave(item, found)
    pack, review = found
    sources.forget()  # the one before has written
    try:
        plan, review = install_agreed(
            sources, pack, item.targets, request.choice, review, dry_run=request.dry_run
        )
    except HookctlError as error:
        return _leave(item, error)
    title = f"{item.name} {pack.version}"
    done = [Line(f"{title} is up to date.")]
    result = plan_result(plan, done, dry_run=request.dry_run)
    if plan.empty:
        line = Line(f"{title}: nothing to do", SKIP, path=tilde(item.source))
        result = result._replace(text=(line,))
    return with_review(result, review, dry_run=request.dry_run)


def _find_installed(
    folders: Folders, request: Request
) -> tuple[list[_Installed], dict[str, Record], list[HookctlError]]:
    """The packs that are asked for, every record, and what cannot be read or upgraded.

    The same name may have come from two sources.
    """
    records, problems = store.read_known(folders)
    if request.scope not in ("", "project"):
        problems = []
    away = store.away(folders, records)
    found: dict[tuple[str, str], list[tuple[str, Record]]] = {}
    for key, record in records.items():
        for name, pack in record.packs.items():
            if key in away or request.pack not in ("", name) or not _is_meant(record, request):
                continue
            path = store.current_path(records, key)
            if name == GUARD and is_newer(pack.version):
                message = f"guard {pack.version} is newer than this hookctl, which leaves it"
                hint = f"Upgrade hookctl to {pack.version} or later."
                code = errors.FAILED
                problems.append(
                    HookctlError("hook_newer", message, path=path, hint=hint, exit_code=code)
                )
            else:
                found.setdefault((name, pack.source), []).append((path, record))
    return [_Installed(*key, found[key]) for key in sorted(found)], records, problems


def _is_meant(record: Record, request: Request) -> bool:
    is_of_project = store.real_path(record.project or "/") == request.project
    is_meant = choosing.is_meant(record, request.hosts, request.scope)
    return is_meant and (is_of_project or not request.project)


def _load(folders: Folders, item: _Installed) -> Pack:
    why, path = "it is not on record", item.source or item.records[0][0]
    if item.source:
        try:
            pack = load_source(folders, item.source)
            if pack.name == item.name:
                return pack
            why = f"the pack there is called {pack.name}"
        except HookctlError as error:
            if error.code in ("fetch_failed", "git_missing"):
                error.exit_code = errors.FAILED
            if error.code not in ("usage", "unreadable"):
                raise
            why = error.message
    message = f"{item.name}: its source is gone: {why}"
    hint = "Put it back, or install the pack from where it is now."
    raise HookctlError("source_gone", message, path=path, hint=hint, exit_code=errors.FAILED)


# What is said.


def _leave(item: _Installed, problem: HookctlError) -> Result:
    line = Line(f"{item.name}: left as it is", ERROR, path=tilde(item.source))
    code = errors.UNREADABLE if problem.exit_code == errors.UNREADABLE else errors.FAILED
    return Result({}, (line,), errors=(problem.as_dict(),), exit_code=code)


def _join(results: list[Result], request: Request) -> Result:
    nothing = "nothing is installed, so there is nothing to upgrade"
    data = {"actions": [], "kept": [], "files": [], "dry_run": request.dry_run, "changed": False}
    joined = reduce(join, results, Result(data, () if results else (nothing,)))
    code = max([errors.OK, *(part.exit_code for part in results)])
    if code and joined.data["changed"]:
        code = errors.FAILED
    if code == errors.UNREADABLE:
        joined = joined._replace(text=())  # the errors say it all
    messages = tuple(dict.fromkeys(joined.messages))
    return joined._replace(messages=messages, exit_code=code)
