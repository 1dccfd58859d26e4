"""Carry out a plan: lock, journal, compare and replace, ledger.

After a kill between any two steps, the next run completes this one. The journal is written before
the first file and removed after the ledger. It names each file's bytes before and after by their
SHA-256, and the bytes to write lie beside it, so an interrupted run can always be completed.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping

from hookctl.documents import MISSING, Document, formats
from hookctl.errors import FAILED, HookctlError
from hookctl.ledger import committed, store
from hookctl.ledger.codec import from_json, to_json
from hookctl.ledger.evidence import read_or_none
from hookctl.model import INTERRUPTED, Change, Entry, Record
from hookctl.settings.targets import OWN
from hookctl.system import backups, files
from hookctl.system.files import Changed
from hookctl.system.folders import Folders
from hookctl.values import NamedTuple

LOCK_SECONDS = 30
_KEY = "journal_version"


class Step(NamedTuple):
    """One file of a pending run, as the journal has it."""

    path: str
    sha_before: str
    sha_after: str
    mode: int
    settings: bool
    chmod: int | None = None


class Journal(NamedTuple):
    """A run that was begun and not finished."""

    steps: tuple[Step, ...]
    records: dict[str, Record | None]  # the ledger's records after the run; None: to be removed
    folders: tuple[str, ...]  # to be removed at the end, if they are empty
    unswept: tuple[str, ...] = ()  # folders in which a temporary file of the run is left


@contextlib.contextmanager
def locked(folders: Folders, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold hookctl's lock, and call `waiting` once if another hookctl has it.

    Raises `lock_timeout` (exit 1) after 30 seconds.
    """
    import filelock

    try:
        files.make_private_folder(folders.state)
        lock = filelock.FileLock(os.path.join(folders.state, "lock"), mode=0o600)
        try:
            lock.acquire(timeout=0.2)
        except filelock.Timeout:
            waiting()
            lock.acquire(timeout=LOCK_SECONDS)
    except filelock.Timeout:
        message = f"another hookctl has held the lock for {LOCK_SECONDS} seconds"
        hint = "Wait for it to end, then run the command again."
        raise HookctlError(
            "lock_timeout", message, path=folders.state, hint=hint, exit_code=FAILED
        ) from None
    except OSError as error:
        raise files.cannot_write(folders.state, error) from None
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # the end of the process releases it too
            lock.release()


def execute(
    folders: Folders,
    changes: tuple[Change, ...],
    records: Mapping[str, Record | None],
    rmdirs: tuple[str, ...] = (),
) -> None:
    """Make the changes in their order, then update the ledger.

    Raises Changed, with everything rolled back, where another program wrote meanwhile.
    """
    done: list[Change] = []
    created: list[str] = []
    try:
        _begin(folders, changes, records, rmdirs)
        for change in changes:
            created += files.make_parent_folders(change.path, change.mode)
            done.append(files.apply_change(change))
        _save_records(folders, records)
    except (Changed, HookctlError) as error:
        _roll_back(folders, changes, done, created, error)
        raise
    _close_journal(folders, changes, files.remove_folders(rmdirs))


def pending(folders: Folders) -> Journal | None:
    """The run that was interrupted, if there is one."""
    data = files.read(folders.journal).data
    if data is None:
        return None
    hint = "Move it away and run `hookctl doctor`."
    with store.refusals("the journal of an interrupted run", folders.journal, hint):
        json_object = store.parse_object(data, _KEY, folders.journal)
        journal = from_json(Journal, json_object, "the journal")
        for record in journal.records.values():
            if record is not None:
                store.check_record(record)
    return _rename_paths(journal, folders.resolve)


def _rename_paths(journal: Journal, change: Callable[[str], str]) -> Journal:
    """The journal with every path of its changed from or to its form on disk."""
    return Journal(
        tuple(step._replace(path=change(step.path)) for step in journal.steps),
        store.rename(journal.records, change),
        tuple(map(change, journal.folders)),
        tuple(map(change, journal.unswept)),
    )


def recover(folders: Folders) -> list[str]:
    """Complete an interrupted run, under the lock; returns a line for each settings file."""
    for folder in (folders.state, *backups.backup_folders(folders.state)):
        files.sweep(folder)
    journal = pending(folders)
    if journal is None:
        _remove_pending_bytes(folders)
        return []
    for folder in journal.unswept:
        files.sweep(folder)
    _require_own_ledgers(folders, journal)
    recovery = _Recovery(folders, journal)
    for step in journal.steps:
        recovery.complete_step(step)
    recovery.undo_programs()
    if journal.steps or recovery.records:
        _save_records(folders, recovery.records)
    files.remove_folders(journal.folders)
    _close_journal(folders)
    return recovery.lines or ["an interrupted run was completed"]


def list_unwritten(folders: Folders) -> tuple[str, ...]:
    """The files that an interrupted run is still to write; none where there was no such run."""
    journal = pending(folders)
    if journal is None:
        return ()
    unwritten = [step.path for step in journal.steps if not _has_digest(step, step.sha_after)]
    if journal.records and not unwritten:
        return (folders.ledger,)
    return tuple(unwritten)


def _has_digest(step: Step, *digests: str) -> bool:
    return files.digest(read_or_none(step.path)) in digests


def _require_own_ledgers(folders: Folders, journal: Journal) -> None:
    """Refuse to go on where a project's ledger was changed since, as by `git pull`.

    What the run still has to record belongs into the ledger that it has read. Where its settings
    came with the pull too, there is nothing to record: both stay as they are.
    """
    for step in journal.steps:
        if os.path.basename(step.path) != "ledger.json" or not _is_changed(step):
            continue
        project = os.path.dirname(os.path.dirname(step.path))
        settings = [
            other
            for other in journal.steps
            if other.settings and other.path.startswith(f"{project}/")
        ]
        if settings and all(map(_is_changed, settings)):
            continue
        message = "an interrupted run was to write this record, which was changed since"
        hint = (
            "Put back what was there (`git checkout ORIG_HEAD -- .hookctl/ledger.json` after a "
            "pull), run `hookctl doctor --fix`, commit, then pull again. "
            f"Or give the run up: move {folders.journal} away, then install again."
        )
        raise HookctlError(INTERRUPTED, message, path=step.path, hint=hint, exit_code=FAILED)


def _is_changed(step: Step) -> bool:
    """Whether a step's file is there, and neither as before the step nor as after it."""
    return os.path.isfile(step.path) and not (
        os.path.islink(step.path) or _has_digest(step, step.sha_before, step.sha_after)
    )


class _Recovery:
    """An interrupted run while it is being completed, step by step."""

    def __init__(self, folders: Folders, journal: Journal) -> None:
        self.folders = folders
        self.journal = journal
        self.lines: list[str] = []
        self.before = _records_before(folders, journal.records)
        removed = _removed_folders(folders, self.before, journal.records)
        self.removed = tuple(f"{folder}/" for folder in removed)
        # The ledgers of projects whose settings are as before the run.
        self.unchanged_ledgers: set[str] = set()
        self.given_up: list[Record] = []  # what the run wanted where another program wrote
        self.records: dict[str, Record | None] = {}
        for path, record in journal.records.items():
            if not path.startswith(self.removed):
                self.records[path] = record
            elif record is not None:
                self.given_up.append(record)

    def complete_step(self, step: Step) -> None:
        """Write what the step was to write, unless another program wrote the file meanwhile."""
        files.sweep(os.path.dirname(step.path))
        if step.path in self.unchanged_ledgers or step.path.startswith(self.removed):
            return
        old, new = self.before.get(step.path), self.records.get(step.path)
        snapshot, is_written = _write_step(self.folders, step, new or old)
        if not step.settings:  # nobody needs a line about the files that hooks run
            return
        if is_written:
            self.lines.append(f"{step.path}: an interrupted run was carried to its end")
        elif snapshot.sha != step.sha_after:
            self._choose_record(step, snapshot, old, new)
            self.lines.append(
                f"{step.path}: changed by another program after an interrupted run; its bytes stay"
            )

    def _choose_record(
        self, step: Step, snapshot: files.Snapshot, old: Record | None, new: Record | None
    ) -> None:
        """Keep the record that fits the bytes which another program wrote."""
        if step.path not in self.records:  # a file with approvals only has none in this run
            return
        record = _likelier_record(snapshot, old, new)
        self.records[step.path] = record
        if record is new:
            return
        if new is not None:
            self.given_up.append(new)
        if (
            record is not None and new is not None
        ):  # the programs are the run's, whoever starts them
            programs = {name: new.packs.get(name, pack) for name, pack in record.packs.items()}
            self.records[step.path] = record._replace(packs=programs)
        for known in (old, new):
            if known is not None:
                self.unchanged_ledgers.add(committed.ledger_path(known.project))

    def undo_programs(self) -> None:
        """Remove the programs that the run made for packs that are registered nowhere after all."""
        records = [record for record in {**self.before, **self.records}.values() if record]
        used = {pack.folder for record in records for pack in record.packs.values()}
        projects = {record.project for record in records if record.scope == "project"}
        unused = set()
        for record in self.given_up:
            unused |= {pack.folder for pack in record.packs.values()} - used
            if record.scope == "project" and record.project not in projects:
                unused.add(os.path.join(record.project, OWN))
        folders = set()
        for step in self.journal.steps:
            for folder in unused:
                is_made = not step.settings and not step.sha_before
                if not is_made or not step.path.startswith(f"{folder}/"):
                    continue
                if files.digest(read_or_none(step.path)) == step.sha_after:
                    os.unlink(step.path)
                above = os.path.dirname(step.path)
                while above.startswith(folder):
                    folders.add(above)
                    above = os.path.dirname(above)
        files.remove_folders(sorted(folders, key=len, reverse=True))


def _records_before(folders: Folders, records: Mapping[str, Record | None]) -> dict[str, Record]:
    """The records before the run; a project's ledger is written last, so it still has its own."""
    stored = store.load(folders)
    before = {key: record for key, record in stored.items() if record.scope != "project"}
    projects = set()
    for key in records:
        for record in (stored.get(key), records[key]):
            if record is not None and record.scope == "project":
                projects.add(record.project)
    for project in projects:
        # Where its ledger is missing or cannot be trusted, nothing is known of the project.
        with contextlib.suppress(HookctlError):
            before |= committed.read(folders, [project])
    return before


def _removed_folders(
    folders: Folders, before: Mapping[str, Record], records: Mapping[str, Record | None]
) -> set[str]:
    """The projects and other folders that were removed since: a run must not bring one back."""
    removed = set()
    for key, record in (*before.items(), *records.items()):
        if record is None:
            continue
        if record.project:
            removed.add(record.project)
        else:
            removed.add(store.missing_folder(folders, key, record))
    return {folder for folder in removed if folder and not os.path.isdir(folder)}


def _write_step(folders: Folders, step: Step, record: Record | None) -> tuple[files.Snapshot, bool]:
    """Write a step's bytes if the file is as before; returns the file as read, and if it wrote."""
    while True:
        snapshot = files.read(step.path)
        if snapshot.path != step.path:  # a new link leads to a file that was never meant
            return snapshot, False
        if snapshot.sha == step.sha_after:
            if step.chmod is not None:
                files.set_mode(snapshot.path, step.chmod)
            return snapshot, False
        if snapshot.sha != step.sha_before and not _is_torn(folders, snapshot, step, record):
            return snapshot, False
        with contextlib.suppress(Changed):  # by another program, just now: read it again
            files.make_parent_folders(step.path, step.mode)
            data = _pending_bytes(folders, step.sha_after)
            files.replace(snapshot, data, mode=step.mode, chmod=step.chmod)
            return snapshot, True


def _back_up_settings(
    folders: Folders,
    changes: tuple[Change, ...],
    records: Mapping[str, Record | None],
    before: Mapping[str, Record],
) -> None:
    for change in changes:
        if not change.settings or change.before is None:
            continue
        new = records.get(change.path)
        first = new is not None and new.sha256_before == files.digest(change.before)
        _, old = store.find_record(before, change.path)
        data = None
        if old is not None:
            data = store.dump_record(folders, old)
        backups.back_up(folders, change.path, change.before, first=first, record=data)


def _begin(
    folders: Folders,
    changes: tuple[Change, ...],
    records: Mapping[str, Record | None],
    rmdirs: tuple[str, ...],
) -> None:
    """Write the bytes to come, the backups and the journal."""
    # The folder of pending bytes is made first and removed last: it tells the next run to clear up.
    try:
        os.makedirs(folders.pending, mode=0o700, exist_ok=True)
    except OSError as error:
        raise files.cannot_write(folders.pending, error) from None
    for change in changes:
        if change.after is not None:
            sha = files.digest(change.after)
            files.write_own(os.path.join(folders.pending, sha), change.after)
    before = _records_before(folders, records)
    _back_up_settings(folders, changes, records, before)
    old_digests = [files.digest(change.before) for change in changes]
    new_digests = [files.digest(change.after) for change in changes]
    steps = tuple(
        Step(change.path, old, new, change.mode, change.settings, change.chmod)
        for change, old, new in zip(changes, old_digests, new_digests, strict=True)
    )
    journal = Journal(steps, dict(records), rmdirs)
    _write_journal(folders, journal)


def _write_journal(folders: Folders, journal: Journal) -> None:
    stored = _rename_paths(journal, folders.shorten)
    json_object = {_KEY: store.VERSION, "needs": store.NEEDS, **to_json(Journal, stored)}
    files.write_own(folders.journal, store.dump_object(json_object))


def _save_records(folders: Folders, records: Mapping[str, Record | None]) -> None:
    """Update the ledger of the state folder, and the backups that depend on it."""
    saved = _join_records(store.load(folders), records)
    files.write_own(folders.ledger, store.dump(store.rename(saved, folders.shorten)))
    for path, record in records.items():
        if record is None:
            backups.restart_expiry(folders, path)
    needed = [record.sha256_before for record in saved.values()]
    backups.remove_expired(folders, saved, needed)


def _join_records(
    known: Mapping[str, Record], records: Mapping[str, Record | None]
) -> dict[str, Record]:
    """The records of the state folder's ledger after a run."""
    saved = dict(known)
    for path, record in records.items():
        if record is None:
            saved.pop(path, None)
        elif record.scope == "project":
            saved[path] = store.make_stub(record)
        else:
            saved[path] = record
    return saved


def _close_journal(
    folders: Folders, changes: tuple[Change, ...] = (), remaining: Iterable[str] = ()
) -> None:
    """Remove the journal, or keep in it only what the next run must try to clear away again."""
    parents = dict.fromkeys(os.path.dirname(change.path) for change in changes)
    unswept = tuple(folder for folder in parents if files.is_unswept(folder))
    rest = Journal((), {}, tuple(remaining), unswept)
    try:
        if rest.folders or rest.unswept:
            _write_journal(folders, rest)
        else:
            os.unlink(folders.journal)
    except FileNotFoundError:
        pass
    except OSError:
        _write_journal(folders, rest)  # so that the next run does not repeat the steps
    _remove_pending_bytes(folders)


def _remove_pending_bytes(folders: Folders) -> None:
    with contextlib.suppress(OSError):
        for name in os.listdir(folders.pending):
            os.unlink(os.path.join(folders.pending, name))
        os.rmdir(folders.pending)


def _roll_back(
    folders: Folders,
    changes: tuple[Change, ...],
    done: list[Change],
    created: list[str],
    error: Exception,
) -> None:
    """Undo the changes done; raises `partial` where one cannot be undone."""
    stuck = []
    if isinstance(error, HookctlError) and error.code == "torn":
        stuck.append(error.path)
    for change in reversed(done):
        try:
            files.undo_change(change)
        except (Changed, HookctlError):
            stuck.append(change.path)
    remaining = files.remove_folders(sorted(created, key=len, reverse=True))
    if stuck:
        # The journal stays: the next run completes this one.
        names = "\n".join(f"  written, not put back: {path}" for path in stuck)
        message = f"only a part was written, because of another file ({error})\n{names}"
        hint = "Fix the cause and run the command again."
        raise HookctlError("partial", message, hint=hint, exit_code=FAILED) from None
    _close_journal(folders, changes, remaining)


def _pending_bytes(folders: Folders, sha: str) -> bytes | None:
    """The bytes that an interrupted run was to write; None where it was to remove the file."""
    if not sha:
        return None
    data = files.read(os.path.join(folders.pending, sha)).data
    if files.digest(data) != sha:
        message, hint = "the bytes of an interrupted run are missing", "Run `hookctl doctor`."
        raise HookctlError("ledger_unreadable", message, path=folders.pending, hint=hint)
    return data


def _is_torn(folders: Folders, snapshot: files.Snapshot, step: Step, record: Record | None) -> bool:
    """Whether a kill interrupted our own write in place, of a file with several names.

    Such a file has a part of the new bytes, then the old ones. Where putting the old ones back was
    interrupted too, a part of them stands before the new ones.
    """
    if snapshot.links == 1 or snapshot.data is None or not step.settings:
        return False
    old = backups.find_backup(folders.state, step.sha_before)
    new = _pending_bytes(folders, step.sha_after)
    if old is None or new is None:
        return record is not None and _parse_document(snapshot, record.format) is None
    start = _common_length(snapshot.data, old)
    end = start + _common_length(snapshot.data[start:], new[start:])
    return snapshot.data[end:] == old[end:]


def _common_length(first: bytes, second: bytes) -> int:
    """How many bytes both begin with."""
    length = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        length += 1
    return length


def _parse_document(snapshot: files.Snapshot, format: str) -> Document | None:
    try:
        return formats.parse(format, snapshot.data or b"", where=snapshot.path)
    except HookctlError:
        return None


def _likelier_record(
    snapshot: files.Snapshot, old: Record | None, new: Record | None
) -> Record | None:
    """The record with more entries in the file; the new one where both have equally many."""
    known = new or old
    if known is None:
        return None
    document = _parse_document(snapshot, known.format)
    old_count = _count_entries(old, document)
    new_count = _count_entries(new, document)
    if old is None and new_count == 0:
        return None
    if old_count > new_count:
        return old
    return new


def _count_entries(record: Record | None, document: Document | None) -> int:
    """How many entries of a record stand in the document."""
    if record is None or document is None:
        return 0
    value = document.value
    if value is MISSING:
        value = None
    text = json.dumps(value)
    count = 0
    for entry in record.entries:
        if entry.kind == "container":
            continue
        if entry.id:
            count += _has_command(text, entry)
        else:
            count += document.get(entry.path) == entry.written
    return count


def _has_command(text: str, entry: Entry) -> bool:
    """Whether JSON text has a hook's command, plain or as a host without a shell needs it."""
    command = entry.written["command"]
    in_shell = f"sh -c {shlex.quote(command)}"
    return json.dumps(command) in text or json.dumps(in_shell) in text
