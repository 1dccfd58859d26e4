"""A run: make the changes of a plan and record them, or undo them all."""

import base64
import contextlib
import os
import shutil
import stat
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hookctl.documents import formats
from hookctl.errors import FAILED, HookctlError
from hookctl.model import INTERRUPTED, Change, Record
from hookctl.ownership import committed, store
from hookctl.ownership.codec import (
    dump_object,
    from_json,
    parse_object,
    refusals,
)
from hookctl.ownership.plan import Plan
from hookctl.ownership.store import DisabledFile
from hookctl.system import files, packages
from hookctl.system.files import Changed
from hookctl.system.folders import Folders
from hookctl.system.packages import provide, sweep


def execute(folders: Folders, plan: Plan) -> None:
    """Make a plan's changes in their order, between new packages and old ones; update the ledger.

    Raises Changed, with everything rolled back, where another program wrote meanwhile.
    """
    changes, records, rmdirs = plan.changes, plan.records, plan.rmdirs
    undoing: list[Change] = []  # what puts each changed file back
    created: list[str] = []
    failure: Exception | None = None
    kept: dict[str, list[str]] = {}
    with contextlib.ExitStack() as locks:
        try:
            paths = tuple(package.path for package in plan.packages)
            made = tuple(folder for path in paths for folder in files.missing_folders(path))
            # Said before anything is there: then the next run clears up.
            write_journal(folders, Journal((), {}, made, packages=paths))
            for one in plan.packages:
                kept[one.path] = provide(one, locks, created)
            known = {file.path: file.known for file in plan.files}
            for change in changes:
                if change.settings and change.before is not None:
                    new, old = records.get(change.path), known.get(change.path)
                    first = new is not None and new.sha256_before == files.digest(change.before)
                    record = store.dump({"": old}, folders.shorten) if old else None
                    files.back_up(folders, change.path, change.before, first=first, record=record)
            steps = [
                Step(
                    one.path,
                    files.digest(one.before),
                    files.digest(one.after),
                    one.mode,
                    one.settings,
                    one.chmod,
                    base64.b64encode(one.after or b"").decode(),
                )
                for one in changes
            ]
            run = Journal(tuple(steps), dict(records), rmdirs, (), tuple(kept), plan.disabled)
            write_journal(folders, run)
            for change in changes:
                created += files.make_parent_folders(change.path, change.mode)
                undoing.append(apply_change(change))
            save_records(folders, records, plan.disabled)
        except (Changed, HookctlError) as error:
            _undo(undoing, error)
            failure, rmdirs = error, tuple(sorted(created, key=len, reverse=True))
        unswept = [folder for folder, names in kept.items() if not sweep(folder, names)]
        remaining = rmdirs if unswept else files.remove_folders(rmdirs)
        close_journal(folders, changes, remaining, unswept)
    if failure is not None:
        raise failure


def apply_change(change: Change) -> Change:
    """Write one file of a run; returns the change that undoes it."""
    back = change._replace(before=change.after, after=change.before)
    with contextlib.suppress(OSError):
        back = back._replace(mode=stat.S_IMODE(os.stat(change.path).st_mode))
        if change.chmod is not None:
            back = back._replace(chmod=back.mode)
    old = files.Snapshot(change.path, change.before)
    files.replace(old, change.after, mode=change.mode, chmod=change.chmod)
    return back


def _undo(undoing: list[Change], error: Exception) -> None:
    """Put the files back; raises `partial` where one cannot be: the next run completes it."""
    stuck = []
    for change in reversed(undoing):
        try:
            apply_change(change)
        except (Changed, HookctlError):
            stuck.append(change.path)
    if stuck:
        names = "\n".join(f"  written, not put back: {path}" for path in stuck)
        message = f"only a part was written, because of another file ({error})\n{names}"
        hint = "Fix the cause and run the command again."
        raise HookctlError("partial", message, hint=hint, exit_code=FAILED) from None


def save_records(
    folders: Folders, records: Mapping[str, Record | None], disabled: Mapping[str, DisabledFile]
) -> None:
    """Update the ledger of the state folder, and the backups that depend on it."""
    saved, disabled_before = store.load(folders)
    for path, record in records.items():
        if record is None:
            saved.pop(path, None)
        elif record.scope == "project":  # what holds on this machine: hashes, paths, consent
            known = record.packs.items()
            packs = {name: pack._replace(settings={}, folder="") for name, pack in known}
            stub = record._replace(packs=packs, entries=(), gaps=())
            saved[path] = stub._replace(created_file=False, created_dirs=())
        else:
            saved[path] = record
    away = {**disabled_before, **disabled}
    files.write_own(folders.ledger, store.dump(saved, folders.shorten, away))
    with contextlib.suppress(OSError):
        os.unlink(folders.former_disabled)
    ended = [path for path, record in records.items() if record is None]
    needed = [record.sha256_before for record in saved.values()]
    files.remove_expired(folders, saved, ended, needed)


_KEY = "journal_version"


class Step(NamedTuple):
    """One file of a pending run, as the journal has it."""

    path: str
    sha_before: str
    sha_after: str
    mode: int
    settings: bool
    chmod: int | None = None
    after: str | None = None  # the bytes to come, in base64; 0.2.0 had them in a folder

    def has_digest(self, *digests: str) -> bool:
        """Whether the file as it is has one of these."""
        return files.digest(files.read_or_none(self.path)) in digests

    def read_bytes(self, folders: Folders) -> bytes | None:
        """The bytes to come; None where the run would remove the file."""
        if not self.sha_after:
            return None
        former = os.path.join(folders.pending, self.sha_after)
        data = files.read(former).data if self.after is None else base64.b64decode(self.after)
        if files.digest(data) != self.sha_after:
            message, hint = "the bytes of an interrupted run are missing", "Run `hookctl doctor`."
            raise HookctlError("ledger_unreadable", message, path=folders.journal, hint=hint)
        return data


class Journal(NamedTuple):
    """A run that was begun and not finished."""

    steps: tuple[Step, ...]
    records: dict[str, Record | None]  # the ledger's records after the run; None: to be removed
    folders: tuple[str, ...]  # to be removed at the end, if they are empty
    unswept: tuple[str, ...] = ()  # folders in which a temporary file of the run is left
    packages: tuple[str, ...] = ()  # folders in which packages come or go
    disabled: dict[str, DisabledFile] = {}  # noqa: RUF012 (what is disabled after the run)


def read_journal(folders: Folders) -> Journal | None:
    """The run that was interrupted, if there is one."""
    data = files.read(folders.journal).data
    if data is None:
        return None
    hint = "Move it away and run `hookctl doctor`."
    with refusals("the journal of an interrupted run", folders.journal, hint):
        json_object = parse_object(data, _KEY, folders.journal)
        journal = from_json(Journal, json_object, "the journal", folders.resolve)
        for step in journal.steps:
            base64.b64decode(step.after or "")
    return journal


def write_journal(folders: Folders, journal: Journal) -> None:
    files.write_own(folders.journal, dump_object(_KEY, journal, folders.shorten))


def close_journal(
    folders: Folders,
    changes: tuple[Change, ...] = (),
    remaining: Iterable[str] = (),
    packages: Iterable[str] = (),
) -> None:
    """Remove the journal, or keep only what the next run must try again to remove.

    Where not even that can be written the journal stays whole, and the next run completes it.
    """
    parents = dict.fromkeys(os.path.dirname(change.path) for change in changes)
    unswept = tuple(folder for folder in parents if not files.sweep(folder))
    rest = Journal((), {}, tuple(remaining), unswept, tuple(packages))
    is_left = bool(rest.folders or rest.unswept or rest.packages)
    try:
        if not is_left:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(folders.journal)
    except OSError:
        is_left = True  # so that the next run does not repeat the steps
    try:
        if is_left:
            write_journal(folders, rest)
    except HookctlError:
        return
    shutil.rmtree(folders.pending, ignore_errors=True)


def recover(folders: Folders) -> list[str]:
    """Complete an interrupted run, under the lock; returns a line for each settings file."""
    for folder in files.backup_folders(folders.state):
        files.sweep(folder)
    journal = read_journal(folders)
    if journal is None:
        close_journal(folders)
        return []
    for folder in journal.unswept:
        files.sweep(folder)
    _require_own_ledgers(folders, journal)
    # A project's ledger is written last, so it still has its own. Where it is missing or cannot be
    # trusted, nothing is known of the project.
    projects = [record.project for record in journal.records.values() if record and record.project]
    before = store.read(folders, projects, [], known=True)
    removed = _removed_folders(folders, before, journal.records)
    records = {
        path: record for path, record in journal.records.items() if not path.startswith(removed)
    }
    lines = list[str]()
    unchanged = set[str]()  # the ledgers of projects whose settings are as before the run
    for step in journal.steps:
        files.sweep(os.path.dirname(step.path))
        if step.path in unchanged or step.path.startswith(removed):
            continue
        snapshot, is_written = _write_step(folders, step)
        if not step.settings:  # files that hooks run need no line
            continue
        if is_written:
            lines.append(f"{step.path}: an interrupted run was carried to its end")
        elif snapshot.sha != step.sha_after:
            lines.append(
                f"{step.path}: changed by another program after an interrupted run; its bytes stay"
            )
            if step.path in records:  # a file with approvals only has none in this run
                unchanged |= _choose_record(step, snapshot, before.get(step.path), records)
    unswept = []
    for folder in journal.packages:
        with packages.locked(folder):
            if not packages.sweep(folder):
                unswept.append(folder)
    if journal.steps or records:
        save_records(folders, records, journal.disabled)
    remaining = journal.folders if unswept else files.remove_folders(journal.folders)
    close_journal(folders, (), remaining, unswept)
    if not (journal.steps or journal.records):
        return ["what an interrupted run left behind is cleared away"]
    return lines or ["an interrupted run was completed"]


def _require_own_ledgers(folders: Folders, journal: Journal) -> None:
    """Refuse to go on where a project's ledger was changed since, as by `git pull`."""
    for step in journal.steps:
        is_file = os.path.isfile(step.path) and not os.path.islink(step.path)
        is_as_known = not is_file or step.has_digest(step.sha_before, step.sha_after)
        if os.path.basename(step.path) != "ledger.json" or is_as_known:
            continue
        message = "an interrupted run was to write this record, which was changed since"
        hint = (
            "Put back what was there (`git checkout ORIG_HEAD -- .hookctl/ledger.json` after a "
            "pull), run `hookctl doctor --fix`, commit, then pull again. "
            f"Or give the run up: move {folders.journal} away, then install again."
        )
        raise HookctlError(INTERRUPTED, message, path=step.path, hint=hint, exit_code=FAILED)


def _choose_record(
    step: Step, snapshot: files.Snapshot, old: Record | None, records: dict[str, Record | None]
) -> set[str]:
    """Keep the record that fits the bytes which another program wrote."""
    new = records[step.path]
    record = new
    old_count, new_count = _count_entries(old, snapshot), _count_entries(new, snapshot)
    if old is None and new_count == 0:
        record = None
    elif old_count > new_count:
        record = old
    if record is new:
        return set()
    # The programs are the run's, even if the settings are not.
    if record is not None and new is not None:
        programs = {name: new.packs.get(name, pack) for name, pack in record.packs.items()}
        record = record._replace(packs=programs)
    records[step.path] = record
    return {committed.ledger_path(known.project) for known in (old, new) if known is not None}


def _removed_folders(
    folders: Folders, before: Mapping[str, Record], records: Mapping[str, Record | None]
) -> tuple[str, ...]:
    """The beginnings of paths in projects and other folders that were removed since."""
    known = [(key, record) for key, record in (*before.items(), *records.items()) if record]
    removed = {each.project or store.missing_folder(folders, key, each) for key, each in known}
    return tuple(f"{folder}/" for folder in removed if folder and not os.path.isdir(folder))


def _write_step(folders: Folders, step: Step) -> tuple[files.Snapshot, bool]:
    """Write a step's bytes if the file is as before; returns the file as read, and if it wrote."""
    while True:
        snapshot = files.read(step.path)
        if snapshot.path != step.path:  # a new link leads to a file that was never meant
            return snapshot, False
        if snapshot.sha == step.sha_after:
            if step.chmod is not None:
                files.set_mode(snapshot.path, step.chmod)
            return snapshot, False
        if snapshot.sha != step.sha_before:
            return snapshot, False
        with contextlib.suppress(Changed):  # by another program, just now: read it again
            files.make_parent_folders(step.path, step.mode)
            files.replace(snapshot, step.read_bytes(folders), mode=step.mode, chmod=step.chmod)
            return snapshot, True


def _count_entries(record: Record | None, snapshot: files.Snapshot) -> int:
    """How many entries of a record a file has; of a broken one only the commands count."""
    if record is None:
        return 0
    count = store.count_commands(snapshot.data, record)
    with contextlib.suppress(HookctlError):
        document = formats.parse(record.format, snapshot.data or b"", where=snapshot.path)
        leaves = [entry for entry in record.entries if entry.kind == "leaf"]
        count += sum(document.get(entry.path) == entry.written for entry in leaves)
    return count
