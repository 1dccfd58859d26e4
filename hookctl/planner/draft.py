"""One settings file on its way through a plan.

A `Draft` is opened once, changed by what the verb decides, and finished as a `FilePlan`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from hookctl.documents import MISSING, Document, formats
from hookctl.errors import HookctlError
from hookctl.hosts import Host, other_layouts, shapes
from hookctl.hosts.model import APPROVALS
from hookctl.ledger.store import Records
from hookctl.model import (
    WRAP,
    Action,
    Change,
    Conflict,
    Current,
    Decision,
    DropHook,
    DropValue,
    Edit,
    Entry,
    Message,
    PackRecord,
    Path,
    Record,
    Wanted,
)
from hookctl.planner.own_files import Runtime
from hookctl.planner.plan import FilePlan
from hookctl.planner.records import (
    find_record,
    first_record,
    next_record,
    with_folders_above,
    with_own_folders,
)
from hookctl.planner.sources import Sources, look
from hookctl.settings.targets import Target
from hookctl.system import files

if TYPE_CHECKING:  # late: few files have something disabled
    from hookctl.ledger.disabled import DisabledFile


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
        # As it is now:
        self.sources, self.folders = sources, sources.folders
        self.target, self.host = target, target.host
        self.snapshot, self.before = snapshot, document
        self.key, self.record = key, record
        self.orphaned = orphaned  # the configuration of a guard that the ledger does not know
        # Another program has written the file since our last write:
        self.was_written_since = record is not None and snapshot.sha != record.sha256_after
        # None has since our first write, so the first backup is exact:
        is_first_known = record is not None and bool(record.sha256_before)
        self.is_exact = is_first_known and not self.was_written_since
        # As it will be:
        self.document = document
        self.entries: tuple[Entry, ...] = record.entries if record else ()
        self.disabled: tuple[Entry, ...] = record.disabled if record else ()
        # What is disabled in the file after the run, if that changes:
        self.disabled_after: DisabledFile | None = None
        self.packs: dict[str, PackRecord] = dict(record.packs) if record else {}
        self.placeholders: tuple[Path, ...] = ()
        if record and record.gaps:
            from hookctl.planner.placeholders import placeholders_in  # late: few hosts need any

            self.placeholders = placeholders_in(self.host, document, record.gaps)
        self.not_loaded = ""  # why the host loads nothing of the file
        self.switched_off = ""  # what switches its hooks off, in whichever file
        self.adds_files = False  # whether hookctl's own folders may be made for it
        self.is_recreated = False  # the file was made again, without our entries
        # An earlier text to put back, and the record that matches it:
        self.restored: tuple[bytes | None, Record | None] | None = None
        self.wants: list[Wanted] = []  # what the installed pack has here
        # Edits and reports so far:
        self.edits: list[Edit] = []
        self.actions: list[Action] = []
        self.kept: list[Action] = []
        self.conflicts: list[Conflict] = []
        self.messages: list[Message] = []
        self.changes: list[Change] = []
        self.file_actions: list[Action] = []
        self.rmdirs: list[str] = []
        # The last reading, and its arguments:
        self._current: Current | None = None
        self._current_document: Document | None = None
        self._current_items: list[tuple[Path, str]] = []

    def tell(self, code: str, *texts: str, level: str = "warning") -> None:
        """Add a warning or a note for the operator."""
        path, host = self.target.path, self.host.name
        self.messages += [Message(text, code, level, host, path) for text in texts]

    def pack_entries(self, *, wraps: bool = True) -> tuple[Entry, ...]:
        """The entries of packs' hooks and values, without approvals in the same file.

        With `wraps=False` the wrapped hooks of other tools are left out too.
        """
        entries: list[Entry] = []
        for entry in self.entries:
            if entry.path[:2] != APPROVALS and (wraps or not entry.id.startswith(WRAP)):
                entries.append(entry)
        return self.visible_entries(entries)

    def visible_entries(self, chosen: list[Entry]) -> tuple[Entry, ...]:
        """The chosen entries, without the containers that only other entries are in.

        So no decision removes the record of a container that another entry is in.
        `apply_decision` adds the hidden entries again.
        """
        others = []
        for entry in self.entries:
            if entry not in chosen and entry.kind != "container":
                others.append(entry)
        if not others:
            return tuple(chosen)
        used_here, used_elsewhere = _containers_of(chosen), _containers_of(others)
        visible = []
        for entry in chosen:
            is_hidden = entry.path in used_elsewhere and entry.path not in used_here
            if entry.kind != "container" or not is_hidden:
                visible.append(entry)
        return tuple(visible)

    def read_current(
        self,
        wants: Iterable[Wanted] = (),
        entries: Iterable[Entry] | None = None,
        *,
        null_is_nothing: bool = False,
    ) -> Current:
        """What the file, as edited so far, has where these wants and entries belong."""
        if entries is None:
            entries = self.pack_entries()
        wants, entries = tuple(wants), tuple(entries)
        items = [(want.path, want.kind) for want in wants]
        items += [(entry.path, entry.kind) for entry in entries]
        is_same = self._current_document is self.document and self._current_items == items
        if self._current is None or not is_same:
            self._current = look(
                self.host, self.document, wants, entries, null_is_nothing=null_is_nothing
            )
            self._current_document, self._current_items = self.document, items
        return self._current

    def apply_decision(self, decision: Decision, visible: tuple[Entry, ...]) -> None:
        """Make the edits of a decision on the `visible` entries, and keep its lines."""
        if decision.conflicts:
            self.conflicts += decision.conflicts
            return
        hidden = [entry for entry in self.entries if entry not in visible]
        if not self.is_exact and self.host.registration.top:
            decision = self._keep_top_keys(decision)
        before = self.document
        if self.host.shape.positions and (decision.edits or self.placeholders):
            from hookctl.planner.placeholders import settle_placeholders  # late: few need it

            decision = settle_placeholders(self.host, before, decision, self.placeholders, visible)
        self.entries = _join_entries(decision.entries, hidden, self.entries)
        if decision.edits:
            self.document = shapes.apply(self.host.shape, before, decision.edits)
        if decision.edits and self.host.shape.positions:
            from hookctl.planner.placeholders import placeholders_after  # late: few need it

            self.placeholders = placeholders_after(
                self.placeholders, self.host, before, self.document
            )
        self.edits += decision.edits
        self.actions += decision.actions
        self.kept += decision.kept

    def _keep_top_keys(self, decision: Decision) -> Decision:
        """The decision, but keys that the host demands stay while other tools' hooks need them.

        Hooks that stood there without such a key before us did not need it from us.
        """
        required = {(key,) for key in self.host.registration.top}
        removed_hooks = set()
        kept_paths = set()
        for edit in decision.edits:
            if isinstance(edit, DropHook):
                removed_hooks.add(edit.element.path)
            elif isinstance(edit, DropValue) and edit.path in required:
                kept_paths.add(edit.path)
        hooks = {path for path, *_ in shapes.handlers(self.host.shape, self.document.value)}
        if not kept_paths or hooks <= removed_hooks or self._had_hooks_before_us():
            return decision
        return _without_edits_of(self.host, decision, kept_paths)

    def _had_hooks_before_us(self) -> bool:
        """Whether the file had other tools' hooks before our first write."""
        if self.record is None or not self.record.sha256_before:
            return False
        backup = self.sources.backup(self.record.sha256_before)
        if backup is None:
            return False
        before = formats.parse(self.record.format, backup, where=self.snapshot.path)
        return bool(shapes.handlers(self.host.shape, before.value))

    def drop_stranded_hooks(self, pack: str) -> None:
        """Take out a pack's hooks that the host no longer reads, since the file's layout changed.

        An operator may add a key that makes the host look for its hooks elsewhere in the file.
        """
        if not self.host.variants:
            return
        for layout in other_layouts(self.host):
            stranded = []
            for hook in shapes.elements(layout.shape, self.document.value):
                if hook.pack == pack:
                    stranded.append(hook)
            if not stranded:
                continue
            edits = tuple(DropHook(hook) for hook in stranded)
            self.document = shapes.apply(layout.shape, self.document, edits)
            self.edits += edits
            reason = f"{self.host.title} reads its hooks elsewhere in this file now"
            for hook in stranded:
                event = shapes.event_of(layout.shape, hook.path)
                path = layout.shape.event_path(event, pack)
                action = Action("remove", path, "element", hook.id, "owned", "free", reason)
                self.actions.append(action)
        kept = []
        for entry in self.entries:
            if not (pack in entry.owners and self._is_stranded(entry)):
                kept.append(entry)
        self.entries = tuple(kept)

    def _is_stranded(self, entry: Entry) -> bool:
        """Whether a hook's recorded place is one of another layout of the file."""
        if not entry.id or entry.path[:2] == APPROVALS or not self.host.variants:
            return False
        return not shapes.is_event_path(self.host.shape, entry.path)

    def add_runtime(self, runtime: Runtime) -> None:
        """Add what happens to the files that the hooks run."""
        self.changes += runtime.changes
        self.file_actions += runtime.actions
        self.kept += runtime.kept
        self.rmdirs += runtime.rmdirs

    def restore(self, data: bytes, record: Record | None) -> None:
        """Put back an earlier text of the file; `record` is the one that matches it."""
        self.restored = data, record

    @property
    def is_edited(self) -> bool:
        """Whether the document changes."""
        return self.document is not self.before

    @property
    def has_other_entries(self) -> bool:
        """Whether the entries in the record change."""
        known = self.record.entries if self.record else ()
        return self.entries != known


def make_draft(
    sources: Sources,
    records: Records,
    target: Target,
    decide: Callable[[Draft], None] = lambda draft: None,
) -> Draft:
    """Open a settings file and let a verb decide on it, unless it does so later."""
    snapshot, document = sources.read(target.path, target.host.format)
    key, record, orphaned = find_record(sources, records, target, snapshot, document)
    draft = Draft(sources, target, snapshot, document, key, record, orphaned)
    decide(draft)
    return draft


def plan_file(records: Records, draft: Draft) -> FilePlan:
    """The plan of a finished draft; a file with conflicts stays as it is."""
    unchanged = FilePlan(
        target=draft.target,
        before=draft.before,
        after=draft.snapshot.data,
        path=draft.snapshot.path,
        old=draft.snapshot.data,
        record=draft.record,
        decision=Decision(entries=draft.entries, conflicts=tuple(draft.conflicts)),
        key=draft.key,
        known=draft.record,
    )
    if draft.conflicts:
        return unchanged
    after, record = draft.restored or _bytes_and_record(records, draft)
    is_left = record is None or bool(draft.record and draft.record.packs and not record.packs)
    if draft.record and is_left and not draft.restored:
        draft.rmdirs += sorted(draft.record.created_dirs, key=len, reverse=True)
    return unchanged._replace(
        after=after,
        record=record,
        decision=Decision(
            tuple(draft.edits), draft.entries, tuple(draft.actions), tuple(draft.kept)
        ),
        runtime=tuple(draft.changes),
        runtime_actions=tuple(draft.file_actions),
        rmdirs=tuple(draft.rmdirs),
        messages=tuple(draft.messages),
        not_loaded=draft.not_loaded,
        switched_off=draft.switched_off,
    )


def _bytes_and_record(records: Records, draft: Draft) -> tuple[bytes | None, Record | None]:
    """The file's bytes and its record after the run."""
    has_entries = any(entry.kind != "container" for entry in draft.entries)
    if not (draft.packs or has_entries or draft.placeholders):
        return _bytes_without_us(draft), None
    after = draft.document.data if draft.is_edited else draft.snapshot.data
    if draft.record is None:
        record = first_record(draft.target, draft.snapshot, after, draft.entries, draft.packs)
        if record.created_file and draft.adds_files:
            path = draft.snapshot.path
            record = with_folders_above(draft.sources, records, draft.target, record, path)
    else:
        record = next_record(
            draft.record,
            draft.target,
            draft.snapshot,
            after,
            draft.entries,
            draft.packs,
            is_recreated=draft.is_recreated,
        )
    record = record._replace(gaps=draft.placeholders, disabled=draft.disabled)
    if draft.adds_files:
        # Something was ours that the ledger did not know.
        was_lost = any(action.action == "take-back" for action in draft.actions)
        if draft.changes or was_lost or draft.record is None:
            record = with_own_folders(draft.sources, records, draft.target, record, lost=was_lost)
    return after, record


def _bytes_without_us(draft: Draft) -> bytes | None:
    """The bytes from before us if only we wrote since; else the file without our entries."""
    snapshot, record = draft.snapshot, draft.record
    edited = draft.document.data if draft.is_edited else snapshot.data
    if snapshot.data is None:
        return edited
    if record and draft.is_exact:
        backup = draft.sources.backup(record.sha256_before)
        if backup is not None and _has_same_values(record.format, backup, draft.document):
            return backup
    document = draft.document if draft.is_edited else draft.before
    if not document.has_settings:
        # Only hookctl writes such a file; one that had no settings before us stays.
        before = draft.sources.backup(record.sha256_before) if record else None
        return edited if before and _had_no_settings(draft.host, before) else None
    if record is None:
        return edited
    # Otherwise another program has made the file again.
    is_as_we_left_it = draft.is_edited or snapshot.sha == record.sha256_after
    if record.created_file and is_as_we_left_it and draft.document.data.strip() in (b"", b"{}"):
        return None
    return edited


def _had_no_settings(host: Host, backup: bytes) -> bool:
    try:
        return not formats.parse(host.format, backup).has_settings
    except HookctlError:
        return False


def _has_same_values(format: str, backup: bytes, document: Document) -> bool:
    """Whether a backup has the values of a document; null and what is empty are the same."""
    try:
        value = formats.parse(format, backup).value
    except HookctlError:
        return False
    return _without_empty(value) == _without_empty(document.value)


def _without_empty(value: Any) -> Any:
    """The value with None for every container that is empty, or missing."""
    if isinstance(value, dict):
        return {key: _without_empty(inner) for key, inner in value.items()} or None
    if isinstance(value, list):
        return [_without_empty(inner) for inner in value] or None
    return None if value is MISSING else value


def _without_edits_of(host: Host, decision: Decision, kept_paths: set[Path]) -> Decision:
    """The decision without the removal of these keys, which are reported as kept."""
    edits = []
    for edit in decision.edits:
        if not (isinstance(edit, DropValue) and edit.path in kept_paths):
            edits.append(edit)
    actions = tuple(action for action in decision.actions if action.path not in kept_paths)
    reason = f"without it {host.title} may load no hook of this file, and hooks of yours are left"
    kept = list(decision.kept)
    for path in sorted(kept_paths):
        kept.append(Action("keep", path, from_state="owned", to_state="free", reason=reason))
    return decision._replace(edits=tuple(edits), actions=actions, kept=tuple(kept))


def _join_entries(
    decided: tuple[Entry, ...], hidden: list[Entry], known: tuple[Entry, ...]
) -> tuple[Entry, ...]:
    """All entries in their known order; a container that only hidden entries are in stays."""
    used_by_hidden = _containers_of(hidden) if hidden else set()
    used = [entry for entry in known if entry.kind == "container" and entry.path in used_by_hidden]
    entries = {}
    for entry in (*used, *decided, *hidden):
        entries[entry.kind == "container", entry.id or entry.path] = entry
    places = {}
    for place, entry in enumerate(known):
        places[entry.kind == "container", entry.id or entry.path] = place
    order = sorted(entries, key=lambda name: places.get(name, len(places)))
    return tuple(entries[name] for name in order)


def _containers_of(entries: Iterable[Entry]) -> set[Path]:
    """The paths of everything that these entries are in, and of a hook's own array."""
    paths = set()
    for entry in entries:
        if entry.kind != "container":
            for length in range(1, len(entry.path) + 1):
                paths.add(entry.path[:length])
    return paths
