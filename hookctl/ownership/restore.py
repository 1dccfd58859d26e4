"""An earlier text put back, and the end of the traces that 0.2.0 made."""

import contextlib
import os
from collections.abc import Mapping

from hookctl import hosts
from hookctl.documents import formats
from hookctl.errors import HookctlError
from hookctl.hosts import shapes
from hookctl.model import Action, Decision, Put, Record
from hookctl.ownership import store
from hookctl.ownership.codec import parse_object, refusals
from hookctl.ownership.draft import Draft
from hookctl.ownership.plan import Drafts, Job, Plan, plan_jobs
from hookctl.ownership.sources import Sources, current_of
from hookctl.settings.targets import Target, active_file, find, target_of_record, variant_of_file
from hookctl.system import files, project
from hookctl.system.files import Backup
from hookctl.system.folders import Folders


class EndTraces(Job):
    """The hooks that 0.2.0 traced get their own commands again; one that somebody edited stays."""

    def __init__(self, target: Target, own: Mapping[str, str]) -> None:
        # The source text of each hook's own command, by the command of 0.2.0.
        self.target, self.own = target, own

    def decide(self, drafts: Drafts) -> Draft:
        """Put the commands back."""
        draft = drafts.open(self.target)
        edits, actions = [], []
        for path, fields, _ in shapes.handlers(draft.host.shape, draft.document.value):
            for key in draft.host.registration.commands:
                command = fields.get(key)
                if isinstance(command, str) and command in self.own:
                    edits.append(Put((*path, key), raw=self.own[command]))
                    reason = "traced until now: its own command again"
                    actions.append(Action("replace", path, "element", reason=reason))
        draft.apply_decision(Decision(tuple(edits), draft.entries, tuple(actions)), draft.entries)
        return draft


def read_traced(folders: Folders) -> list[EndTraces]:
    """The files with traced hooks; refuses a record that hookctl did not write."""
    path, traced = folders.traces, []
    hint = "Move it away: the traced hooks run by themselves."
    with refusals("hookctl's record of traced hooks", path, hint):
        stored = parse_object(files.read(path).data or b"", "traces_version", path)
        for file in stored["files"].values():
            known_as, project = folders.resolve(file["known_as"]), file.get("project", "")
            host = variant_of_file(hosts.load(file["host"]), known_as)
            target = Target(host, file["scope"], known_as, project and folders.resolve(project))
            own = {hook["command"]: hook["before"] for hook in file["hooks"]}
            traced.append(EndTraces(target, own))
    return traced


def plan_restore(sources: Sources, path: str, backup: Backup) -> Plan:
    """Plan to put a backup back, with its record, and without files of packs that it has not."""
    record_then = None
    with contextlib.suppress(HookctlError):  # of one that cannot be read
        record_then = store.parse(backup.page, "", sources.folders.resolve).files.get("")
    projects = [project.find(os.path.dirname(path), sources.folders.environ)]
    try:
        records = sources.records(projects)
    except HookctlError:
        # A broken ledger of a project must not prevent a restore.
        records, record_then, projects = sources.records(), None, []
    key, record = store.find_record(records, path)
    target = _find_target(sources, records, key, record or record_then, path)
    return plan_jobs(sources, [Restore(target, backup.data, record_then)], projects)


class Restore(Job):
    """An earlier text comes back, with the record that was made with it."""

    def __init__(self, target: Target, data: bytes, then: Record | None) -> None:
        self.target, self.data, self.then = target, data, then

    def decide(self, drafts: Drafts) -> Draft:
        """Record what was ours in the restored text; the file as it is may be broken."""
        target = self.target
        key, record = store.find_record(drafts.records, target.path)
        snapshot = files.read_settled(target.path)
        document = formats.parse(target.host.format, b"", where=target.path)
        with contextlib.suppress(HookctlError):
            document = formats.parse(target.host.format, snapshot.data or b"", where=target.path)
        draft = Draft(drafts.sources, drafts.records, target, snapshot, document, key, record)
        result = _with_todays_facts(draft, self.then) if self.then else None
        known = (*(record.entries if record else ()), *(result.entries if result else ()))
        ids = set[str]()
        with contextlib.suppress(HookctlError):
            restored = formats.parse(target.host.format, self.data, where=target.path)
            ids = set(current_of(draft.host, restored, (), known).hooks)
        if result is None and record and any(entry.id in ids for entry in known):
            # The author of this text is unknown: an uninstall must not restore earlier bytes.
            result = record._replace(sha256_before="", sha256_after=files.digest(self.data))
        if record and result is None:
            draft.rmdirs += record.created_dirs
        draft.entries = result.entries if result else ()
        left = ids - {entry.id for entry in draft.entries}
        left |= set(result.packs if result else ()) - set(record.packs if record else ())
        if left:
            text = f"the restored text has {', '.join(sorted(left))}, which is not installed"
            draft.warn("orphan_hook", f"{text} any more; `hookctl doctor` says more")
        draft.restored = self.data, result
        return draft


def _find_target(
    sources: Sources, records: Mapping[str, Record], key: str, record: Record | None, path: str
) -> Target:
    """The target that a settings file is: by its record, or else by its path."""
    if record is not None:
        now = store.current_path(records, key) if key in records else path
        return target_of_record(hosts.load(record.host), record, now)
    folders, root = sources.folders, project.find(os.path.dirname(path), sources.folders.environ)
    for host in map(hosts.load, hosts.names()):
        for scope in host.scopes:
            _, settings = active_file(host, scope, folders.environ, root)
            if store.real_path(settings) == key:
                return find(host, scope, folders, "" if scope == "user" else root)
    # Nothing of ours is installed there, so any host will do.
    return Target(hosts.load(hosts.names()[0]), "user", path)


def _with_todays_facts(draft: Draft, then: Record) -> Record:
    """The earlier record with today's facts: current paths, and packs as chosen now."""
    now, is_there = draft.known, os.path.isdir
    if now is None:
        # It was uninstalled since: what exists now is not ours.
        created_dirs = [folder for folder in then.created_dirs if not is_there(folder)]
        created_file = then.created_file and draft.snapshot.data is None
        return then._replace(created_file=created_file, created_dirs=tuple(created_dirs))
    return then._replace(
        packs={name: now.packs.get(name, then.packs[name]) for name in then.packs},
        created_file=now.created_file,
        created_dirs=now.created_dirs,
        known_as=now.known_as,
        project=now.project,
    )
