"""Consent to a pack that is not built in: a person sees it and agrees before it is written.

Consent is recorded on this machine as the digest of the pack's file and its files. A
committed ledger is a stranger's, so nothing in it counts as consent.
"""

import contextlib
import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from hookctl.errors import FAILED, USAGE, HookctlError
from hookctl.masking import OwnText
from hookctl.model import Consent, PackRecord, Record
from hookctl.ownership import store
from hookctl.ownership.disable import describe
from hookctl.ownership.install import plan_install
from hookctl.ownership.own_files import read_own
from hookctl.ownership.plan import Plan
from hookctl.ownership.run import changed_meanwhile
from hookctl.ownership.sources import Sources
from hookctl.ownership.store import DisabledHook
from hookctl.packs import MANIFEST, Pack, listing
from hookctl.packs.choices import Choice, Permission
from hookctl.packs.listing import risky_env
from hookctl.packs.pack import committed_files, load_file
from hookctl.settings.targets import GUARD, Target
from hookctl.system.files import content_digest


class Review(NamedTuple):
    """What a pack brings, and which parts of it still need consent."""

    pack: Pack
    digest: str
    is_agreed: bool  # a person here agreed to this very content, and it replaces nothing more
    is_changed: bool  # other content than was installed under the same version
    refused_env: tuple[str, ...]  # the variables that --allow-env has not let in
    moves: str  # from which release or version to which
    changes: tuple[tuple[str, ...], ...]  # what was, and what is to be: a line, and a difference
    known: dict[str, str]  # the files that need no second look, and why
    replaced: tuple[DisabledHook, ...]  # other tools' hooks in whose place it comes

    def describe(self, *, verbose: bool) -> list[str]:
        """The text to read before consent, what changes first; none if all was agreed to."""
        if self.is_agreed:
            return []
        title, *lines = listing.lines(self.pack, self.digest, self.known, verbose=verbose)
        changes = list[str]()
        for what, *difference in self.changes:
            changes += [what, *listing.fold(difference, verbose=verbose)]
        if changes:
            moves = f"what changes in {self.pack.name}: {self.moves}".removesuffix(" ")
            changes = [moves, *changes, f"all of {self.pack.name}:"]
        if self.replaced:
            lines.append(f"{self.pack.name} disables these hooks until it is uninstalled:")
        for hook in self.replaced:
            lines.append(f"  {hook.event} ({hook.shown}): {describe(hook)}, of {hook.file}")
        return [title, *map(OwnText, changes), *lines]

    def refusals(self) -> Iterator[HookctlError]:
        """What an install refuses without another option."""
        pack, names = self.pack, self.refused_env
        if names:
            message = (
                f"{pack.name} sets {', '.join(names)}: "
                "this can change which programs run, or where the host sends your data"
            )
            options = " ".join(f"--allow-env {name}" for name in names)
            hint = f"If you want that, add {options}. Nothing was written."
            yield HookctlError("env_refused", message, path=pack.source, hint=hint, exit_code=USAGE)
        if self.is_changed:
            name, version = pack.name, pack.version
            message = f"{name} {version} has other content than was installed as {version}"
            hint = "Read what changes, then add --accept-changed. Nothing was written."
            yield HookctlError(
                "pack_changed", message, path=pack.source, hint=hint, exit_code=USAGE
            )

    @property
    def data(self) -> dict[str, Any]:
        """The same for machines."""
        return {
            **listing.data(self.pack, self.digest),
            "refused_env": list(self.refused_env),
            "changes": [OwnText(line) for change in self.changes for line in change],
            "replaces": [
                {
                    "host": hook.host,
                    "file": hook.file,
                    "event": hook.event,
                    "id": hook.shown,
                    "command": describe(hook),
                }
                for hook in self.replaced
            ],
        }


def agree(
    sources: Sources,
    pack: Pack,
    targets: list[Target],
    choice: Choice,
    permission: Permission,
    command: str,
) -> Review | None:
    """What is agreed to of a pack that is not built in; None where nothing of it fits.

    `command` shows what an install would write. Raises a usage error without consent.
    """
    reviewed = review(sources, pack, plan_install(sources, pack, targets, choice))
    if reviewed is None:
        return None
    text = reviewed.describe(verbose=permission.verbose)
    if text and permission.show is not None:
        permission.show(OwnText("\n".join(text)))
    for error in reviewed.refusals():
        if error.code == "env_refused" or not permission.accept_changed:
            raise error
    is_agreed = reviewed.is_agreed or permission.yes
    if not (is_agreed or _says_yes(permission, f"Install {pack.name}?")):
        message = f"{pack.name} is not built into hookctl: it needs your consent to what it runs"
        hint = f"Read what `{command}` shows, then add --yes. Nothing was written."
        raise HookctlError("consent_needed", message, path=pack.source, hint=hint, exit_code=USAGE)
    return reviewed


def review(sources: Sources, pack: Pack, plan: Plan) -> Review | None:
    """What a plan would install of a pack, against what is on record; None where nothing fits."""
    places = [file for file in plan.files if file.record and pack.name in file.record.packs]
    if not places:
        return None
    name, contents = pack.name, {each: data for each, (data, _) in pack.contents.items()}
    digest = content_digest(pack.manifest, contents)
    records = store.load(sources.folders).files.values()
    is_known = any(_consent_of(record, name).digest == digest for record in records)
    replaced = tuple(hook for file in places for hook in file.replaced)
    changes, moves = dict[tuple[str, ...], None](), dict[str, None]()
    read = list[dict[str, str]]()  # for each place
    is_changed, refused = False, set[str]()
    for file in places:
        after = file.packs[name]
        refused.update(set(risky_env(pack)) - set(after.consent.env))
        if file.known is None or name not in file.known.packs:
            continue
        known = file.known.packs[name]
        found, words = _describe_changes(sources, file.target, known, pack, after.commit)
        changes.update(dict.fromkeys(found))
        moves[listing.describe_move(pack, known)] = None
        read.append(words)
        if known.version == pack.version:
            is_changed = is_changed or bool(found) or known.consent.digest not in ("", digest)
    return Review(
        pack=pack,
        digest=digest,
        is_agreed=is_known and not replaced,  # else it has not been shown what goes
        is_changed=is_changed and not is_known,
        refused_env=tuple(each for each in risky_env(pack) if each in refused),
        moves=", ".join(filter(None, moves)),
        changes=tuple(changes),
        known=dict(set.intersection(*(set(words.items()) for words in read)) if read else ()),
        replaced=replaced,
    )


def _says_yes(permission: Permission, question: str) -> bool:
    return permission.confirm is not None and permission.confirm(question)


def plan_agreed(
    sources: Sources, make_plan: Callable[[Sources], Plan], pack: Pack, agreed: Review | None
) -> Plan:
    """The plan of an install; refused where it has other content than was agreed to."""
    plan = make_plan(sources)
    digest = agreed.digest if agreed else ""
    is_other = not pack.commit and load_file(pack.source) != pack
    shown = {(hook.file, hook.id) for hook in agreed.replaced} if agreed else set()
    if {(hook.file, hook.id) for file in plan.files for hook in file.replaced} - shown:
        raise changed_meanwhile()
    digests = {_consent_of(file.record, pack.name).digest for file in plan.files}
    if is_other or digests - {"", digest}:
        message = f"{pack.name} has changed since you agreed to it"
        hint = "Run the command again. Nothing was written."
        raise HookctlError("pack_changed", message, hint=hint, exit_code=FAILED)
    return plan


def _consent_of(record: Record | None, name: str) -> Consent:
    return record.packs[name].consent if record and name in record.packs else Consent()


def _describe_changes(
    sources: Sources, target: Target, known: PackRecord, pack: Pack, commit: str
) -> tuple[list[tuple[str, ...]], dict[str, str]]:
    """What changes, each with its difference; and why a file need not be shown besides."""
    changes: list[tuple[str, ...]] = []
    if known.commit not in ("", commit):
        changes.append((f"  commit: was {known.commit}, now {commit or 'not from git'}",))
    brought, installed = committed_files(pack), dict[str, bytes | None]()
    for name in known.files:
        with contextlib.suppress(HookctlError):
            installed[name] = read_own(sources, target, os.path.join(known.folder, name)).data
    agreed = {name: data for name, data in installed.items() if data is not None}
    manifest = agreed.pop(MANIFEST, b"")
    is_agreed = content_digest(manifest, agreed) == known.consent.digest
    words = {}
    for name in sorted({*known.files, *brought}):
        there, now = installed.get(name), brought.get(name)
        if there == now:
            words[name] = ": as you agreed to it"
        elif there is not None or name != MANIFEST:  # the listing has all of a manifest
            what = "is new" if there is None else "goes" if now is None else "changes"
            difference = listing.file_changes(there, now) if there and now else []
            changes.append((f"  file {name} {what}", *difference))
            if difference and listing.fold(difference, verbose=False) == difference:
                words[name] = ": changes as above, the rest as you agreed to it"
    return changes, words if is_agreed else {}


def require_agreement(
    name: str,
    address: str,
    records: Mapping[str, Record],
    permission: Permission,
    command: str,
    *,
    is_named: bool,
) -> None:
    """Ask about an address that only projects know; `command` is the one that agrees."""
    lines = [f"{name} comes from git, by a project's record alone:", f"  address  {address}"]
    commits: dict[str, None] = {}
    projects: dict[str, None] = {}
    for record in records.values():
        for pack_name, pack in record.packs.items():
            if address in (pack.consent.source, record.scope != "project" and pack.source):
                return
            if pack_name == name and pack.source == address:
                commits[f"  commit   {pack.commit}"] = None
                projects[f"  project  {record.project}"] = None
    if permission.show is not None:
        permission.show(OwnText("\n".join([*lines, *commits, *projects])))
    if is_named if permission.yes else _says_yes(permission, f"Fetch {name} from there?"):
        return
    message = f"{name}: this address is known from a project's record alone"
    hint = f"If you know it, `{command}` fetches it. Nothing was fetched or written."
    raise HookctlError("consent_needed", message, path=address, hint=hint, exit_code=USAGE)


def install_command(target: Target, pack: str, source: str, project: str) -> str:
    """The command that installs a pack in a settings file, for a person who works in `project`."""
    name = "" if pack == GUARD else f" {shlex.quote(source) if source else pack}"
    where = "" if target.scope == "user" else f" --scope {target.scope}"
    if target.project:
        where += project_option(target.project, project)
    return f"hookctl install{name} --host {target.host.name}{where}"


def upgrade_command(target: Target, start_project: str) -> str:
    """The command that puts back every pack of a settings file whose source is known."""
    named = project_option(target.project, start_project) or " --project ."
    return f"hookctl upgrade --host {target.host.name}{named}"


def project_option(project: str, start_project: str) -> str:
    """The option that names a project to a command which is typed in another one."""
    return "" if project == start_project else f" --project {shlex.quote(project)}"
