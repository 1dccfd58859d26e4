"""Carry out a plan: lock, journal, compare and replace, ledger. A kill between any two steps is mended by the next run.

The journal is written before the first file and removed after the ledger. It names each file's bytes before and
after by their SHA-256, and the bytes to come lie beside it, so a pending run can always be carried on.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from hookctl.documents import MISSING, Document, formats
from hookctl.errors import FAILED, HookctlError
from hookctl.ledger import committed, store, version1
from hookctl.ledger.codec import from_json, to_json
from hookctl.model import Change, Entry, Record
from hookctl.system import backups, files
from hookctl.system.files import Changed
from hookctl.system.folders import Folders

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
    records: dict[str, Record | None]  # the ledger's pages after the run; None: the page goes
    folders: tuple[str, ...]  # to be removed at the end, if they are empty
    unswept: tuple[
        str, ...
    ] = ()  # folders that a temporary file of the run could not be removed from
    before: dict[str, Record] = {}  # noqa: RUF012 (the pages of project scope before the run)


@contextlib.contextmanager
def locked(folders: Folders, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold hookctl's lock; calls `waiting` once if another hookctl has it. exit 1 `lock_timeout` after 30 seconds."""
    import filelock

    try:
        os.makedirs(folders.state, mode=0o700, exist_ok=True)
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
    """Make the changes in their order, then the ledger; raises Changed, with everything put back, where
    somebody else wrote meanwhile."""
    done: list[Change] = []
    made: list[str] = []
    try:
        _begin(folders, changes, records, rmdirs)
        for change in changes:
            made += files.make_parent_folders(change.path, change.mode)
            done.append(files.apply_change(change))
        _save(folders, records)
    except (Changed, HookctlError) as error:
        _roll_back(folders, changes, done, made, error)
        raise
    _forget(folders, changes, files.remove_folders(rmdirs))


def pending(folders: Folders) -> Journal | None:
    """The run that was interrupted, if there is one."""
    data = files.read(folders.journal).data
    if data is None:
        return None
    hint = "Move it away and run `hookctl doctor`."
    with store.refusals("the journal of an interrupted run", folders.journal, hint):
        version, page = store.open_page(data, _KEY, folders.journal)
        journal = from_json(
            Journal, version1.journal_page(page) if version == 1 else page, "the journal"
        )
        for record in filter(None, (*journal.records.values(), *journal.before.values())):
            store.check(record)
        return journal


def recover(folders: Folders) -> list[str]:
    """Carry an interrupted run to its end (under the lock); what was found, a line a file."""
    for folder in (folders.state, *backups.backup_folders(folders.state)):
        files.sweep(folder)
    journal = pending(folders)
    if journal is None:
        _drop_blobs(folders)
        return []
    for folder in journal.unswept:
        files.sweep(folder)
    lines, records = [], dict(journal.records)
    before = _pages_before(folders, records)
    ledgers = _changed_ledgers(folders, journal)
    stay: set[str] = set()  # ledgers of projects whose settings are as before the run
    gone = tuple(f"{project}/" for project in _gone(before, records))
    records = {path: page for path, page in records.items() if not f"{path}/".startswith(gone)}
    for step in journal.steps:
        files.sweep(os.path.dirname(step.path))
        if step.path in stay or step.path.startswith(gone):
            continue
        if step.path in ledgers:
            records |= _merge(folders, step, ledgers[step.path], journal.before, records)
            lines.append(
                f"{step.path}: changed after an interrupted run, whose entries were put into it"
            )
            continue
        old, new = before.get(step.path), records.get(step.path)
        found, carried_on = _carry_on(folders, step, new or old)
        if carried_on and step.settings:  # of the files that its hooks run nobody needs a line
            lines.append(f"{step.path}: an interrupted run was carried to its end")
        elif step.settings and found.sha != step.sha_after:
            if (
                step.path in records
            ):  # else it has no page of its own in this run, as a file with approvals
                records[step.path] = likelier = _likelier(found, old, new)
                stay |= {
                    committed.path(page.project)
                    for page in (old, new)
                    if page and likelier is not new
                }
            lines.append(
                f"{step.path}: changed by another program after an interrupted run; its bytes stay"
            )
    if journal.steps or records:
        _save(folders, records)
    files.remove_folders(journal.folders)
    _forget(folders)
    return lines or ["an interrupted run was completed"]


def _pages_before(folders: Folders, records: Mapping[str, Record | None]) -> dict[str, Record]:
    """The pages as they were before the run; its projects' ledgers, which are written last, still have theirs."""
    known = store.load(folders.ledger)
    pages = {key: page for key, page in known.items() if page.scope != "project"}
    about = (page for key in records for page in (known.get(key), records[key]))
    for project in {page.project for page in about if page and page.scope == "project"}:
        with contextlib.suppress(
            HookctlError
        ):  # a stranger's file, or none: then nothing is known of it
            pages |= committed.read(folders, [project])
    return pages


def _changed_ledgers(folders: Folders, journal: Journal) -> dict[str, str]:
    """The ledgers of projects that somebody wrote since, as a `git pull` does, and the projects.

    Raises, with nothing done yet, where one cannot be read: the run's own part would be lost.
    """
    found = {}
    pages = [page for page in (*journal.before.values(), *journal.records.values()) if page]
    for project in {
        page.project for page in pages if page.scope == "project" and os.path.isdir(page.project)
    }:
        try:
            there = files.read(committed.path(project))
        except (
            HookctlError
        ):  # a link leads out of the project now: nothing was meant for where it leads
            continue
        step = next((step for step in journal.steps if step.path == there.path), None)
        if (
            step is not None
            and there.data is not None
            and there.sha not in (step.sha_before, step.sha_after)
        ):
            try:
                committed.read(folders, [project])
            except HookctlError as error:
                error.hint = f"An interrupted run has entries to put into it. {error.hint}"
                raise
            found[there.path] = project
    return found


def _merge(
    folders: Folders,
    step: Step,
    project: str,
    before: Mapping[str, Record],
    after: Mapping[str, Record | None],
) -> dict[str, Record | None]:
    """Put a run's part of a project's ledger into the one that is there now; the pages that the run is about."""
    about = {
        key for key, page in (*before.items(), *after.items()) if page and _is_shared(page, project)
    }
    while True:
        there = files.read(step.path)
        theirs = {
            k: page
            for k, page in committed.read(folders, [project]).items()
            if _is_shared(page, project)
        }
        pages = {
            key: committed.merged(before.get(key), after.get(key), theirs.get(key)) for key in about
        }
        pages = {key: committed.with_digests(page) if page else None for key, page in pages.items()}
        whole = {key: page for key, page in {**theirs, **pages}.items() if page}
        with contextlib.suppress(Changed):  # by somebody else, just now: look again
            files.replace(there, committed.dump(project, whole), mode=step.mode)
            return pages


def _is_shared(page: Record, project: str) -> bool:
    return (page.scope, page.project) == ("project", project)


def _gone(before: Mapping[str, Record], records: Mapping[str, Record | None]) -> set[str]:
    """The projects that were removed since: an interrupted run must not bring one back."""
    projects = {
        page.project for page in (*before.values(), *records.values()) if page and page.project
    }
    return {project for project in projects if not os.path.isdir(project)}


def _carry_on(folders: Folders, step: Step, page: Record | None) -> tuple[files.Snapshot, bool]:
    """Write what a step was to write, unless it is there, or other bytes than before are; what was found."""
    while True:
        found = files.read(step.path)
        if found.path != step.path:  # a link has come meanwhile: what it leads to was never meant
            return found, False
        if found.sha == step.sha_after and step.chmod is not None:
            files.set_mode(found.path, step.chmod)
        if found.sha == step.sha_after or not (
            found.sha == step.sha_before or _is_torn(folders, found, step, page)
        ):
            return found, False
        with contextlib.suppress(Changed):  # by somebody else, just now: look again
            files.make_parent_folders(step.path, step.mode)
            files.replace(found, _blob(folders, step.sha_after), mode=step.mode, chmod=step.chmod)
            return found, True


def _back_up(
    folders: Folders,
    changes: tuple[Change, ...],
    records: Mapping[str, Record | None],
    pages: Mapping[str, Record],
) -> None:
    for change in changes:
        if change.settings and change.before is not None:
            record, page = records.get(change.path), store.page_of(pages, change.path)[1]
            first = record is not None and record.sha256_before == files.digest(change.before)
            data = store.dump_page(page) if page else None
            backups.back_up(folders.state, change.path, change.before, first=first, record=data)


def _begin(
    folders: Folders,
    changes: tuple[Change, ...],
    records: Mapping[str, Record | None],
    rmdirs: tuple[str, ...],
) -> None:
    # The folder of pending bytes comes first and goes last: as long as it is there, the next run clears up.
    try:
        os.makedirs(folders.pending, mode=0o700, exist_ok=True)
    except OSError as error:
        raise files.cannot_write(folders.pending, error) from None
    for change in changes:
        if change.after is not None:
            files.write_own(os.path.join(folders.pending, files.digest(change.after)), change.after)
    pages = _pages_before(folders, records)
    _back_up(folders, changes, records, pages)
    before = {
        key: page for key, page in pages.items() if page.scope == "project" and key in records
    }
    steps = (
        Step(c.path, files.digest(c.before), files.digest(c.after), c.mode, c.settings, c.chmod)
        for c in changes
    )
    _note(folders, Journal(tuple(steps), dict(records), rmdirs, before=before))


def _note(folders: Folders, journal: Journal) -> None:
    """Write the journal."""
    page = {_KEY: store.VERSION, "needs": store.NEEDS, **to_json(Journal, journal)}
    files.write_own(folders.journal, store.own_bytes(page))


def _save(folders: Folders, records: Mapping[str, Record | None]) -> None:
    known = store.read(folders.ledger)
    pages = dict(known.files)
    for path, record in records.items():
        if record is None:
            pages.pop(path, None)
        else:
            pages[path] = store.stub(record) if record.scope == "project" else record
    home = folders.home if pages else ""
    if pages and known.files and known.home:
        home = known.home  # where HOME has moved, the pages are still those of the old one
    files.write_own(folders.ledger, store.dump(pages, home))
    approvals = store.approvals_of_0_1_0(folders.ledger)
    if os.path.lexists(approvals):
        with contextlib.suppress(OSError):  # the next write tries again
            os.unlink(approvals)
    for path in [path for path, record in records.items() if record is None]:
        backups.restart_expiry(folders.state, path)
    backups.remove_expired(
        folders.state, pages, [record.sha256_before for record in pages.values()]
    )


def _forget(folders: Folders, changes: tuple[Change, ...] = (), left: Iterable[str] = ()) -> None:
    """The journal goes, or says only what could not be cleared away: the next run tries that once more."""
    near = dict.fromkeys(os.path.dirname(change.path) for change in changes)
    rest = Journal((), {}, tuple(left), tuple(filter(files.is_unswept, near)))
    try:
        if rest.folders or rest.unswept:
            _note(folders, rest)
        else:
            os.unlink(folders.journal)
    except FileNotFoundError:
        pass
    except OSError:
        _note(folders, rest)  # what is done, or was put back, must not be carried out once more
    _drop_blobs(folders)


def _drop_blobs(folders: Folders) -> None:
    with contextlib.suppress(OSError):
        for name in os.listdir(folders.pending):
            os.unlink(os.path.join(folders.pending, name))
        os.rmdir(folders.pending)


def _roll_back(
    folders: Folders,
    changes: tuple[Change, ...],
    done: list[Change],
    made: list[str],
    error: Exception,
) -> None:
    stuck = [error.path] if isinstance(error, HookctlError) and error.code == "torn" else []
    for change in reversed(done):
        try:
            files.undo_change(change)
        except (Changed, HookctlError):
            stuck.append(change.path)
    left = files.remove_folders(sorted(made, key=len, reverse=True))
    if stuck:
        # The journal stays: the next run carries this one to its end.
        names = "\n".join(f"  written, not put back: {path}" for path in stuck)
        message = f"only a part was written, because of another file ({error})\n{names}"
        hint = "Mend the cause and run the command again."
        raise HookctlError("partial", message, hint=hint, exit_code=FAILED) from None
    _forget(folders, changes, left)


def _blob(folders: Folders, sha: str) -> bytes | None:
    if not sha:
        return None
    data = files.read(os.path.join(folders.pending, sha)).data
    if files.digest(data) != sha:
        message, hint = "the bytes of an interrupted run are gone", "Run `hookctl doctor`."
        raise HookctlError("ledger_unreadable", message, path=folders.pending, hint=hint)
    return data


def _is_torn(folders: Folders, found: files.Snapshot, step: Step, page: Record | None) -> bool:
    """Only a write in place, of a file with several names, can be torn: the new bytes, then the old.

    Where the old ones could not be put back whole either, they stand before the new ones once more.
    """
    if found.links == 1 or found.data is None or not step.settings:
        return False
    old, new = backups.find_backup(folders.state, step.sha_before), _blob(folders, step.sha_after)
    if old is None or new is None:
        return page is not None and _document(found, page.format) is None
    start = _common(found.data, old)
    written = start + _common(found.data[start:], new[start:])
    return found.data[written:] == old[written:]


def _common(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    unequal = (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(unequal, min(len(one), len(other)))


def _document(found: files.Snapshot, format: str) -> Document | None:
    try:
        document = formats.parse(format, found.data or b"", where=found.path)
    except HookctlError:
        return None
    return document


def _likelier(found: files.Snapshot, old: Record | None, new: Record | None) -> Record | None:
    """The page of which more entries stand in the file; where both have as many the new one, or none at all."""
    page = new or old
    document = _document(found, page.format) if page else None
    olds, news = _matches(old, document), _matches(new, document)
    return old if olds > news or (old is None and not news) else new


def _matches(record: Record | None, document: Document | None) -> int:
    if record is None or document is None:
        return 0
    text = json.dumps(None if document.value is MISSING else document.value)
    return sum(
        any(json.dumps(form) in text for form in _forms(entry))
        if entry.id
        else document.get(entry.path) == entry.written
        for entry in record.entries
        if entry.kind != "container"
    )


def _forms(entry: Entry) -> tuple[str, str]:
    """An element's command as it may stand in a file: by itself, or in the words for a host without a shell."""
    command = entry.written["command"]
    return command, f"sh -c {shlex.quote(command)}"
