"""One settings file on its way through a plan.

A `Draft` is opened once, changed by what the verb decides, and finished by `plan_jobs`.
"""

import contextlib
from collections import Counter
from collections.abc import Iterable

from hookctl.documents import Document, formats
from hookctl.errors import HookctlError
from hookctl.hosts import Host, load, shapes
from hookctl.hosts.model import APPROVALS
from hookctl.model import (
    WRAP,
    Action,
    AddHook,
    Change,
    CloseGap,
    Decision,
    DropHook,
    DropValue,
    Edit,
    Entry,
    Message,
    PackRecord,
    Path,
    Record,
)
from hookctl.ownership.engine import list_above
from hookctl.ownership.sources import Sources
from hookctl.ownership.store import DisabledFile, DisabledHook, Records, is_back, list_taken
from hookctl.settings.targets import Target
from hookctl.system import files


def file_action(action: str, path: str, reason: str = "") -> Action:
    """A line about one of our files."""
    return Action(action, (path,), "file", reason=reason)


class Draft:
    """A settings file as it is, and step by step as it will be."""

    def __init__(
        self,
        sources: Sources,
        records: Records,
        target: Target,
        snapshot: files.Snapshot,
        document: Document,
        key: str,
        record: Record | None,
    ) -> None:
        # As it is now:
        self.sources, self.folders, self.records = sources, sources.folders, records
        self.target, self.host = target, target.host
        self.snapshot, self.before = snapshot, document
        self.key, self.known = key, record
        self.path, self.old = snapshot.path, snapshot.data
        # Another program has written the file since our last write:
        self.was_written_since = record is not None and snapshot.sha != record.sha256_after
        # None has since our first write, so the first backup is exact:
        self.is_exact = bool(record and record.sha256_before) and not self.was_written_since
        # As it will be:
        self.document = document
        self.entries: tuple[Entry, ...] = record.entries if record else ()
        # The ids and paths of the entries that `hookctl disable` took out of the file:
        known = records.disabled.get(snapshot.path) if record else None
        hooks = known.hooks if known else ()
        away = [hook for hook in hooks if not is_back(self.host, document, hook)]
        self.taken = list_taken(away) if away else set[str | Path]()
        # What is disabled in the file after the run, if that changes:
        self.disabled_after: DisabledFile | None = None
        # The hooks of other tools in whose place a pack comes:
        self.replaced: list[DisabledHook] = []
        self.packs: dict[str, PackRecord] = dict(record.packs) if record else {}
        self.lost: dict[str, PackRecord] = {}  # packs that leave, and that no record knows
        self.placeholders: tuple[Path, ...] = ()
        if record and record.gaps:
            ours = Counter(record.gaps) & _count_placeholders(self.host, document)
            self.placeholders = tuple(sorted(ours.elements()))
        self.is_recreated = False  # the file was made again, without our entries
        # An earlier text to put back, and the record that matches it:
        self.restored: tuple[bytes | None, Record | None] | None = None
        # Edits and reports so far:
        self.edits: list[Edit] = []
        self.actions: list[Action] = []
        self.messages: list[Message] = []
        self.changes: list[Change] = []  # of hookctl's own files
        self.rmdirs: list[str] = []
        # When it is finished:
        self.after, self.record = snapshot.data, record

    def warn(self, code: str, *texts: str, level: str = "warning") -> None:
        """Add a warning or a note for the operator."""
        path, host = self.target.path, self.host.name
        self.messages += [Message(text, code, level, host, path) for text in texts]

    def pack_entries(self) -> tuple[Entry, ...]:
        """The entries of packs' hooks and values: neither approvals nor other tools' hooks.

        What is disabled is not among them.
        """
        here = [entry for entry in self.entries if (entry.id or entry.path) not in self.taken]
        own = [entry for entry in here if not entry.id.startswith(WRAP)]
        return tuple(entry for entry in own if entry.path[:2] != APPROVALS)

    def show_disabled(self, packs: Iterable[str]) -> None:
        """Let what is disabled of these packs count again: as entries that are missing."""
        entries = [entry for entry in self.entries if not entry.owners.keys().isdisjoint(packs)]
        self.taken -= {entry.id or entry.path for entry in entries}

    def apply_decision(self, decision: Decision, visible: tuple[Entry, ...]) -> None:
        """Make the edits of a decision on the `visible` entries, and keep its lines."""
        hidden = [entry for entry in self.entries if entry not in visible]
        if not self.is_exact and self.host.registration.top:
            decision = self._keep_top_keys(decision)
        if self.host.shape.positions and (decision.edits or self.placeholders):
            decision = self._settle(decision, visible)
        # In their known order; a container that only hidden entries are in stays.
        used = list_above([entry.path for entry in hidden if entry.kind != "container"])
        containers = [entry for entry in self.entries if entry.kind == "container"]
        kept = [entry for entry in containers if entry.path in used]
        known = [(entry.kind, entry.id or entry.path) for entry in self.entries]
        after = (*kept, *decision.entries, *hidden)
        entries = {(entry.kind, entry.id or entry.path): entry for entry in after}
        self.entries = tuple(entries.pop(name) for name in known if name in entries)
        self.entries += tuple(entries.values())
        if decision.edits:
            self.document = shapes.apply(self.host.shape, self.document, decision.edits)
        self.edits += decision.edits
        self.actions += decision.actions

    def _settle(self, decision: Decision, visible: Iterable[Entry]) -> Decision:
        """The decision, with our placeholders filled by its hooks, or gone if none needs them."""
        shape, before = self.host.shape, self.document
        gaps, known = shapes.gaps(shape, before.value), Counter(self.placeholders)
        free = {  # ours were appended, so other tools' come first
            path: [gap for gap in gaps if gap[:-1] == path][-count:]
            for path, count in known.items()
        }
        edits: list[Edit] = []
        for edit in decision.edits:
            if isinstance(edit, AddHook) and free.get(edit.path):
                edit = edit._replace(placeholder=free[edit.path].pop(0)[-1])
            edits.append(edit)
        edited, actions = shapes.apply(shape, before, tuple(edits)), list(decision.actions)
        left = _count_placeholders(self.host, edited)
        # With those that it makes:
        ours = (known + left - _count_placeholders(self.host, before)) & left
        for path in sorted(ours):
            removable = min(ours[path], shapes.gaps_at_the_end(edited, path))
            edits += [CloseGap(path)] * removable
            ours[path] -= removable
            if removable:
                reason = "our placeholder, with no hook after it"
                actions.append(Action("remove", path, "placeholder", reason=reason))
        self.placeholders = tuple(sorted(ours.elements()))
        above = list_above(self.placeholders)
        containers = [entry for entry in visible if entry.kind == "container"]
        kept = [one for one in containers if one not in decision.entries and one.path in above]
        entries = (*decision.entries, *kept)
        return decision._replace(edits=tuple(edits), entries=entries, actions=tuple(actions))

    def _keep_top_keys(self, decision: Decision) -> Decision:
        """The decision, but keys that the host demands stay while other tools' hooks need them."""
        shape, top = self.host.shape, [(key,) for key in self.host.registration.top]
        drops = [
            each for each in decision.edits if isinstance(each, DropValue) and each.path in top
        ]
        removed = {edit.element.path for edit in decision.edits if isinstance(edit, DropHook)}
        hooks = {path for path, *_ in shapes.handlers(shape, self.document.value)}
        if not drops or hooks <= removed:
            return decision
        before = self.read_first_backup()
        # Hooks that stood there without such a key before us did not need it from us.
        if before and shapes.handlers(shape, before.value):
            return decision
        paths = sorted(edit.path for edit in drops)
        reason = f"without it {self.host.title} may load no hook of this file, and hooks of yours"
        reason += " are left"
        lines = [line for line in decision.actions if line.path not in paths]
        lines += [Action("keep", path, "leaf", "", "owned", "free", reason) for path in paths]
        edits = tuple(edit for edit in decision.edits if edit not in drops)
        return decision._replace(edits=edits, actions=tuple(lines))

    def read_first_backup(self) -> Document | None:
        """The file as it was before our first write, if that is known and can be read."""
        sha = self.known.sha256_before if self.known else ""
        backup = files.find_backup(self.folders.state, sha) if sha else None
        with contextlib.suppress(HookctlError):
            if self.known and backup is not None:
                return formats.parse(self.known.format, backup, where=self.path)
        return None

    def drop_stranded_hooks(self, pack: str) -> None:
        """Take out a pack's hooks that the host no longer reads, since the file's layout changed.

        An operator may add a key that makes the host look for its hooks elsewhere in the file.
        """
        reason = f"{self.host.title} reads its hooks elsewhere in this file now"
        for layout in load(self.host.name).layouts() if self.host.variants else ():
            if layout.shape == self.host.shape or layout.files != self.host.files:
                continue
            hooks = shapes.elements(layout.shape, self.document.value)
            stranded = [hook for hook in hooks if hook.pack == pack]
            edits, ids = tuple(map(DropHook, stranded)), {hook.id for hook in stranded}
            self.document = shapes.apply(layout.shape, self.document, edits)
            self.edits += edits
            self.entries = tuple(entry for entry in self.entries if entry.id not in ids)
            for hook in stranded:
                path = layout.shape.event_path(shapes.event_of(layout.shape, hook.path), pack)
                action = Action("remove", path, "element", hook.id, "owned", "free", reason)
                self.actions.append(action)

    @property
    def is_edited(self) -> bool:
        """Whether the document changes."""
        return self.document is not self.before

    @property
    def kept(self) -> list[Action]:
        """The lines about what is left alone."""
        return [line for line in self.actions if line.action == "keep"]

    @property
    def is_decided(self) -> bool:
        """Whether anything is decided on the file, be it to keep something."""
        known = self.known.entries if self.known else ()
        has_others = self.entries != known or self.disabled_after is not None
        return self.is_edited or has_others or bool(self.kept)


def _count_placeholders(host: Host, document: Document) -> Counter[Path]:
    return Counter(group[:-1] for group in shapes.gaps(host.shape, document.value))
