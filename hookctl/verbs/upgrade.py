"""hookctl upgrade: every installed pack again, from where it came, wherever the records know it."""

from collections.abc import Mapping, Sequence
from functools import reduce

from hookctl import errors
from hookctl.errors import HookctlError
from hookctl.model import GIT, Line, Message, Record, Result
from hookctl.output.lines import say, tilde
from hookctl.output.plans import plan_result
from hookctl.ownership import store
from hookctl.ownership.consent import Review, agree, require_agreement
from hookctl.ownership.run import changed_meanwhile, finish_pending, locked_run
from hookctl.ownership.sources import Sources
from hookctl.packs import Pack, programs
from hookctl.packs.choices import Choice, Permission
from hookctl.packs.guard import is_newer
from hookctl.settings.targets import GUARD, Target
from hookctl.system import project
from hookctl.system.folders import Folders
from hookctl.verbs import choosing
from hookctl.verbs.enable import join
from hookctl.verbs.install import install_agreed, load_source, with_review

# A pack's name, its source (empty for a built-in one), and its settings files on record.
_Installed = tuple[str, str, list[Target]]
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
    full: bool = False,
    dry_run: bool = False,
    json: bool = False,
) -> Result:
    """Upgrade what is meant, here or in the named project alone."""
    names = [chosen.name for chosen in choosing.load_hosts(host)]
    scope = choosing.known_scope(any_scope)
    place = choosing.in_project(folders, only_project)
    root = project.find(place.cwd, place.environ) if only_project else ""
    permission, choice = choosing.permission(yes, accept_changed, full, json), Choice(restores=True)
    return upgrade_meant(place, pack, names, scope, root, permission, choice, dry_run=dry_run)


def upgrade_meant(
    folders: Folders,
    pack: str,
    hosts: Sequence[str],
    scope: str,
    root: str,
    permission: Permission,
    choice: Choice,
    *,
    dry_run: bool = False,
) -> Result:
    """Install each pack again with its recorded settings; what the operator changed or took out
    stays, and a pack whose entries all vanished is put back.

    Empty names, scope or root mean all. All packs are shown and agreed to before the first one is
    written. A pack with a problem is named and left as it is, and does not stop the others.
    """
    finish_pending(folders, say, dry_run=dry_run)
    found = _find_installed(folders, pack, hosts, scope, root)
    brought = _bring(Sources(folders), *found[:2], pack, permission, choice, dry_run=dry_run)
    with locked_run(folders, say, dry_run=dry_run):
        installed, _, problems, left = _find_installed(folders, pack, hosts, scope, root)
        if pack and not (installed or problems or left):
            others = _find_installed(folders, "", hosts, scope, root)[0]
            names = ", ".join(sorted({name for name, *_ in others})) or "none"
            raise errors.usage_error(f"{pack!r} is not installed here", f"Installed are: {names}.")
        results = [
            _upgrade_pack(folders, item, brought, permission, choice, dry_run=dry_run)
            for item in installed
        ]
    here = root or project.find_quietly(folders.cwd, folders.environ)
    for error in problems:
        if error.path.startswith(f"{here}/"):
            left.append(error)
        elif not root:  # no failure here
            text = f"left out, another project's record: {error.path}: {error.message}"
            say(Message(text, "left_out", path=error.path))
    for error in left:
        results.append(Result({}, errors=(error.as_dict(),), exit_code=error.exit_code))
    return _join(results, dry_run=dry_run)


def _bring(
    sources: Sources,
    installed: Sequence[_Installed],
    records: Mapping[str, Record],
    named: str,
    permission: Permission,
    choice: Choice,
    *,
    dry_run: bool,
) -> _Brought:
    """The packs that are not built in, as their sources have them now, shown and agreed to."""
    brought = _Brought()
    for name, source, targets in installed:
        if name in programs.list_built_in():
            continue
        command = f"hookctl upgrade {name}"
        try:
            if source.startswith(GIT):
                require_agreement(
                    name, source, records, permission, f"{command} --yes", is_named=named == name
                )
            pack, review = _load(sources.folders, name, source, targets[0].path), None
            if pack.source and not dry_run:
                review = agree(sources, pack, targets, choice, permission, f"{command} --dry-run")
            brought[name, source] = pack, review
        except HookctlError as error:
            is_left_out = error.code == "consent_needed" and (permission.yes or dry_run)
            if error.exit_code == errors.USAGE and not is_left_out:
                raise  # no consent, so nothing is written at all
            brought[name, source] = error
    return brought


def _upgrade_pack(
    folders: Folders,
    item: _Installed,
    brought: _Brought,
    permission: Permission,
    choice: Choice,
    *,
    dry_run: bool,
) -> Result:
    name, source, targets = item
    found = brought.get((name, source), changed_meanwhile())  # or it came just now
    if name in programs.list_built_in():
        found = programs.load_pack(name), None
    try:
        if isinstance(found, HookctlError):
            raise found
        pack, review = found
        plan, review = install_agreed(folders, pack, targets, choice, review, dry_run=dry_run)
    except HookctlError as error:
        line = Line(f"{name}: left as it is", "error", path=tilde(source))
        code = error.exit_code if error.exit_code == errors.UNREADABLE else errors.FAILED
        return Result({}, (line,), errors=(error.as_dict(),), exit_code=code)
    title, moves = f"{name} {pack.version}", f" ({review.moves})" if review and review.moves else ""
    result = plan_result(plan, [Line(f"{title} is up to date{moves}.")], dry_run=dry_run)
    if plan.empty:
        line = Line(f"{title}: nothing to do{moves}", "skip", path=tilde(source))
        result = result._replace(text=(line, *result.text[:-1]))  # what of yours is kept
    elif dry_run:
        line = Line(f"{name} would change{moves}", "warn", path=tilde(source))
        result = result._replace(text=(line, *result.text))
    return with_review(result, review, verbose=permission.verbose) if review and dry_run else result


def _find_installed(
    folders: Folders, pack: str, hosts: Sequence[str], scope: str, root: str
) -> tuple[list[_Installed], dict[str, Record], list[HookctlError], list[HookctlError]]:
    """The packs that are asked for, every record, which cannot be read, and which packs stay."""
    records, problems = store.read_known(folders)
    if scope not in ("", "project"):
        problems = []
    away = store.away(folders, records)
    found: dict[tuple[str, str], list[Target]] = {}
    left = []
    for key, record in records.items():
        is_of_project = store.real_path(record.project or "/") == root or not root
        if key in away or not is_of_project or not choosing.is_meant(record, hosts, scope):
            continue
        path = store.current_path(records, key)
        for name, known in record.packs.items():
            if pack not in ("", name):
                continue
            try:
                target = choosing.recorded_target(record, path)
                if name == GUARD and is_newer(known.version):
                    message = f"guard {known.version} is newer than this hookctl, which leaves it"
                    hint = f"Upgrade hookctl to {known.version} or later."
                    code = errors.FAILED
                    raise HookctlError("hook_newer", message, path=path, hint=hint, exit_code=code)
                found.setdefault((name, known.source), []).append(target)
            except HookctlError as error:
                left.append(error)
    return [(*key, found[key]) for key in sorted(found)], records, problems, left


def _load(folders: Folders, name: str, source: str, path: str) -> Pack:
    try:
        pack = load_source(folders, source) if source else None
        if pack and pack.name == name:
            return pack
    except HookctlError as error:
        if error.code in ("fetch_failed", "git_missing"):
            error.exit_code = errors.FAILED
        if error.code not in ("usage", "unreadable"):
            raise
    message = f"{name}: its source is not there any more, or not on record"
    hint, path = "Put it back, or install the pack from where it is now.", source or path
    raise HookctlError("source_gone", message, path=path, hint=hint, exit_code=errors.FAILED)


def _join(results: list[Result], *, dry_run: bool) -> Result:
    nothing = "nothing is installed, so there is nothing to upgrade"
    data = {"actions": [], "kept": [], "files": [], "dry_run": dry_run, "changed": False}
    joined = reduce(join, results, Result(data, () if results else (nothing,)))
    code = max([errors.OK, *(part.exit_code for part in results)])
    if code and joined.data["changed"]:
        code = errors.FAILED
    if code == errors.UNREADABLE:
        joined = joined._replace(text=())  # the errors say it all
    return joined._replace(messages=tuple(dict.fromkeys(joined.messages)), exit_code=code)
