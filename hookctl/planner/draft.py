"""One settings file on its way through a plan: opened once, decided on by the verb, finished as a `FilePlan`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hookctl.documents import Document, formats
from hookctl.errors import HookctlError
from hookctl.hosts import Host, shapes
from hookctl.hosts.codex import APPROVALS
from hookctl.ledger.committed import Records
from hookctl.model import (
    Action,
    AddElement,
    Change,
    Conflict,
    Current,
    Decision,
    Drop,
    DropElement,
    Edit,
    Entry,
    PackRecord,
    Path,
    Record,
    Wanted,
)
from hookctl.planner import gaps, runtime_files
from hookctl.planner.plan import FilePlan
from hookctl.planner.records import (
    find_record,
    first_record,
    next_record,
    with_folders_above,
    with_own_folders,
)
from hookctl.settings.sources import Sources, look
from hookctl.settings.targets import Target
from hookctl.system import files


class Draft:
    """A settings file as it is, and step by step as it will be."""

    def __init__(
        self,
        sources: Sources,
        target: Target,
        snapshot: files.Snapshot,
        document: Document,
        key: str,
        record: Record | None,
        orphaned: str = "",
    ) -> None:
        self.sources, self.folders = sources, sources.folders
        self.target, self.host = target, target.host
        self.snapshot, self.before = snapshot, document
        self.key, self.record = key, record
        self.orphaned = orphaned  # the folder of a guard that the ledger does not know
        # Nobody else has written the file since our first write, so its first backup is what was there.
        self.is_exact = (
            record is not None
            and bool(record.sha256_before)
            and snapshot.sha == record.sha256_after
        )
        # As they will be:
        self.document = document
        self.entries: tuple[Entry, ...] = record.entries if record else ()
        self.packs: dict[str, PackRecord] = dict(record.packs) if record else {}
        self.placeholders: tuple[Path, ...] = record.gaps if record else ()
        self.adds_files = False  # whether hookctl's own folders may be made for it
        self.made_anew = False  # somebody made the file again, without anything of ours
        self.restored: tuple[bytes, Record | None] | None = (
            None  # an earlier text, and the record that is true of it
        )
        # What is done and said on the way:
        self.edits: list[Edit] = []
        self.actions: list[Action] = []
        self.kept: list[Action] = []
        self.conflicts: list[Conflict] = []
        self.messages: list[str] = []
        self.changes: list[Change] = []
        self.file_actions: list[tuple[str, Action]] = []
        self.rmdirs: list[str] = []
        self._looked: tuple[Document, list[tuple[Path, str]], Current] | None = (
            None  # the last look, and what it was for
        )
        self.commands: frozenset[tuple[str, str]] = (
            frozenset()
        )  # event and command of each hook that we want here

    def own_entries(self) -> tuple[Entry, ...]:
        """The entries of packs' hooks and values; approvals in the same file are decided by themselves."""
        return self.visible_entries(
            [entry for entry in self.entries if entry.path[:2] != APPROVALS]
        )

    def visible_entries(self, chosen: list[Entry]) -> tuple[Entry, ...]:
        """The chosen entries as a decision may see them: without the containers that only other entries are in.

        So no decision takes a container out of the record that an entry it does not see is still in; `take` puts the
        hidden ones back beside what was decided.
        """
        others = [
            entry for entry in self.entries if entry not in chosen and entry.kind != "container"
        ]
        if not others:
            return tuple(chosen)
        inside, elsewhere = _containers_of(chosen), _containers_of(others)
        visible = []
        for entry in chosen:
            if entry.kind != "container" or entry.path in inside or entry.path not in elsewhere:
                visible.append(entry)
        return tuple(visible)

    def look(self, wants: Iterable[Wanted] = (), entries: Iterable[Entry] | None = None) -> Current:
        """What the file, as edited so far, has at the places of these wants and entries."""
        listed = (*wants, *(self.own_entries() if entries is None else entries))
        asked = self.document, [(each.path, each.kind) for each in listed]
        if self._looked is None or self._looked[0] is not asked[0] or self._looked[1] != asked[1]:
            self._looked = (*asked, look(self.host, self.document, listed, ()))
        return self._looked[2]

    def take(self, decision: Decision, visible: tuple[Entry, ...]) -> None:
        """Make the edits of a decision on the `visible` entries, and keep what it says."""
        if decision.conflicts:
            self.conflicts += decision.conflicts
            return
        hidden = [entry for entry in self.entries if entry not in visible]
        if not self.is_exact:
            decision = _keep_top_keys(self.host, self.document, decision)
        if self.host.shape.positions and (decision.edits or decision.entries != visible):
            decision = gaps.closing(self.host, self.document, decision, self.placeholders)
        self.entries = _join(decision.entries, hidden, self.entries)
        self.edit(decision.edits)
        self.actions += decision.actions
        self.kept += decision.kept

    def edit(self, edits: tuple[Edit, ...]) -> None:
        """Make edits whose entries are known already."""
        if edits:
            edited = self.sources.edit(self.host.shape, self.document, edits)
            if self.host.shape.positions:
                self.placeholders = gaps.left(self.placeholders, self.host, self.document, edited)
            self.document = edited
            self.edits += edits

    def use_files(self, runtime: runtime_files.Runtime) -> None:
        """Take up what happens to the files that the registrations point to."""
        self.changes += runtime.changes
        self.file_actions += runtime.actions
        self.kept += runtime.kept
        self.rmdirs += runtime.rmdirs

    def restore(self, data: bytes, record: Record | None) -> None:
        """Put an earlier text of the file in place, of which this record is true."""
        self.restored = data, record

    @property
    def is_edited(self) -> bool:
        """Whether the text will be another one."""
        return self.document is not self.before

    @property
    def has_other_entries(self) -> bool:
        """Whether the ledger's entries will be others."""
        return self.entries != (self.record.entries if self.record else ())

    @property
    def was_written_since(self) -> bool:
        """Whether somebody else has written the file since our last write."""
        return self.record is not None and self.snapshot.sha != self.record.sha256_after

    @property
    def adds_hooks(self) -> bool:
        """Whether a hook of ours comes that was not there."""
        return any(isinstance(edit, AddElement) for edit in self.edits)

    @property
    def is_left(self) -> bool:
        """Whether nothing of ours will be in the file."""
        return not self.packs and all(entry.kind == "container" for entry in self.entries)

    @property
    def was_lost(self) -> bool:
        """Whether something was ours that the ledger did not know."""
        return any(action.action == "take-back" for action in self.actions)


def settle(
    sources: Sources, records: Records, target: Target, decide: Callable[[Draft], None]
) -> Draft:
    """Open a settings file and let a verb decide on it; errors name the file, and nothing is written."""
    snapshot, document = sources.read(target.path, target.host.format)
    key, record, orphaned = find_record(sources.folders, records, target, snapshot, document)
    draft = Draft(sources, target, snapshot, document, key, record, orphaned)
    decide(draft)
    return draft


def finish(records: Records, draft: Draft) -> FilePlan:
    """What becomes of the file and of its record; of a file with conflicts, nothing."""
    if draft.conflicts:
        decision = Decision(entries=draft.entries, conflicts=tuple(draft.conflicts))
        return FilePlan(
            draft.target,
            draft.before,
            draft.snapshot.data,
            draft.snapshot.path,
            draft.snapshot.data,
            draft.record,
            decision,
            key=draft.key,
        )
    after, record = draft.restored or _result(records, draft)
    if draft.record and record is None and not draft.restored:
        draft.rmdirs += sorted(draft.record.created_dirs, key=len, reverse=True)
    decision = Decision(tuple(draft.edits), draft.entries, tuple(draft.actions), tuple(draft.kept))
    return FilePlan(
        draft.target,
        draft.before,
        after,
        draft.snapshot.path,
        draft.snapshot.data,
        record,
        decision,
        tuple(draft.changes),
        tuple(draft.file_actions),
        draft.key,
        tuple(draft.rmdirs),
        tuple(draft.messages),
    )


def _result(records: Records, draft: Draft) -> tuple[bytes | None, Record | None]:
    """The file's bytes and its record after the run."""
    if draft.is_left:
        return _bytes_without_us(draft), None
    was_lost = draft.was_lost
    after = draft.document.data if draft.is_edited else draft.snapshot.data
    if draft.record is None:
        record = first_record(draft.target, draft.snapshot, after, draft.entries, draft.packs)
        if record.created_file and draft.adds_files:
            record = with_folders_above(
                draft.folders, records, draft.target, record, draft.snapshot.path
            )
    else:
        record = next_record(
            draft.record,
            draft.target,
            draft.snapshot,
            after,
            draft.entries,
            draft.packs,
            anew=draft.made_anew,
        )
    record = record._replace(gaps=draft.placeholders)
    is_new_project = draft.target.shared and draft.record is None
    if draft.adds_files and (draft.changes or was_lost or is_new_project):
        record = with_own_folders(draft.folders, records, draft.target, record, lost=was_lost)
    return after, record


def _bytes_without_us(draft: Draft) -> bytes | None:
    """The very bytes from before us where nobody else wrote since; else the file without exactly our entries."""
    snapshot, record = draft.snapshot, draft.record
    edited = draft.document.data if draft.is_edited else snapshot.data
    if snapshot.data is None:
        return edited
    if record is None:
        is_ours_alone = (
            not edited and draft.host.format == "plugin"
        )  # nobody but us writes such a file
        return None if is_ours_alone else edited
    if draft.is_exact:
        backup = files.find_backup(draft.folders.state, record.sha256_before)
        if backup is not None and _says_the_same(record.format, backup, draft.document):
            return backup
    is_as_we_left_it = (
        draft.is_edited or snapshot.sha == record.sha256_after
    )  # else somebody has made it anew
    if record.created_file and is_as_we_left_it and draft.document.data.strip() in (b"", b"{}"):
        return None
    return edited


def _says_the_same(format: str, backup: bytes, document: Document) -> bool:
    """Whether a backup has the values of a document; an empty file and {} say the same."""
    try:
        value = formats.parse(format, backup).value
    except HookctlError:
        return False
    return (value or {}) == (document.value or {})


def _keep_top_keys(host: Host, document: Document, decision: Decision) -> Decision:
    """The same, but the keys that the file must have stay with hooks of others: without them the host loads none."""
    top = {(key,) for key in host.registration.top}
    going = {edit.element.path for edit in decision.edits if isinstance(edit, DropElement)}
    stays = {edit.path for edit in decision.edits if isinstance(edit, Drop) and edit.path in top}
    root = document.value if isinstance(document.value, dict) else {}
    if not stays or all(path in going for path, *_ in shapes.handlers(host.shape, root)):
        return decision
    edits = tuple(
        edit for edit in decision.edits if not (isinstance(edit, Drop) and edit.path in stays)
    )
    actions = tuple(action for action in decision.actions if action.path not in stays)
    reason = f"without it {host.title} may load no hook of this file, and hooks of yours are left"
    kept = [
        Action("keep", path, from_state="owned", to_state="free", reason=reason)
        for path in sorted(stays)
    ]
    return decision._replace(edits=edits, actions=actions, kept=(*decision.kept, *kept))


def _join(
    decided: tuple[Entry, ...], hidden: list[Entry], known: tuple[Entry, ...]
) -> tuple[Entry, ...]:
    """All entries again, in the order in which they were known; a container that only hidden ones are in stays."""
    entries = {_name_of(entry): entry for entry in (*decided, *hidden)}
    used_by_hidden = _containers_of(hidden)
    for entry in known:
        if entry.kind == "container" and entry.path in used_by_hidden:
            entries.setdefault(_name_of(entry), entry)
    order = {_name_of(entry): number for number, entry in enumerate(known)}
    return tuple(sorted(entries.values(), key=lambda entry: order.get(_name_of(entry), len(order))))


def _name_of(entry: Entry) -> tuple[bool, str | Path]:
    return entry.kind == "container", entry.id or entry.path


def _containers_of(entries: Iterable[Entry]) -> set[Path]:
    """The paths of everything that these entries are in, and of an element's own array."""
    paths = set()
    for entry in entries:
        if entry.kind != "container":
            paths |= {entry.path[:length] for length in range(1, len(entry.path) + 1)}
    return paths
