"""Approvals of our hooks, for hosts that run only approved hooks: the person's own, only read.

What 0.2.0 approved where it was asked to is on record, an entry like any other, in the file that
the host keeps it in. An upgrade or uninstall takes it out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hookctl.errors import HookctlError
from hookctl.hosts import codex
from hookctl.hosts.model import APPROVALS
from hookctl.model import Entry, Record
from hookctl.ownership import engine, store
from hookctl.ownership.draft import Draft
from hookctl.ownership.sources import Sources, look
from hookctl.settings import approval
from hookctl.settings.targets import Target

_FORMAT = "toml"  # of the only file that has such approvals


class Approvals:
    """The approvals that hooks wait for, and those of 0.2.0 that one run takes out."""

    def __init__(
        self, sources: Sources, records: Mapping[str, Record], drafts: Iterable[Draft]
    ) -> None:
        self.sources = sources
        self._records = records
        self._drafts = list(drafts)
        self._opened: list[Draft] = []  # files that only hold approvals
        self.unread: list[HookctlError] = []  # why approvals of 0.2.0 stay where they are

    @property
    def drafts(self) -> list[Draft]:
        """The drafts of the run, and those of other files whose approvals change."""
        return [*self._drafts, *(draft for draft in self._opened if draft.is_decided)]

    def install(self, draft: Draft, pack: str) -> None:
        """Tell the person where a pack's hooks wait for an approval; those of 0.2.0 go."""
        trust = draft.host.trust
        if not trust.covers(draft.target.scope):
            return
        if not self.sources.has_disabled:  # beside the switch of a disabled hook they wait for it
            self.uninstall(draft, [pack])
        if self._waits(draft, pack):
            draft.tell("not_approved", f"{trust.gate}: {trust.action}")

    def uninstall(self, draft: Draft, packs: Iterable[str]) -> None:
        """Take out the approvals of these packs that 0.2.0 wrote.

        A file that cannot be read keeps them, and is named in `unread`.
        """
        for key, record in self._records.items():
            for pack in packs:
                if not self._list_approvals(record.entries, draft, pack):
                    continue
                try:
                    config = self.open_beside(draft, store.current_path(self._records, key))
                except HookctlError as error:
                    message = f"{error.message}; the approvals of {pack} stay in it"
                    self.unread.append(
                        error.reworded(message, f"Fix it, then uninstall {pack} again.")
                    )
                    continue
                approvals = self._list_approvals(config.entries, draft, pack)
                containers = [entry for entry in config.entries if entry.kind == "container"]
                visible = (*approvals, *containers)
                current = look(config.host, config.document, (), visible)
                decision = engine.uninstall(visible, current, pack)
                config.apply_decision(decision._replace(kept=()), visible)

    def _list_approvals(self, entries: Iterable[Entry], draft: Draft, pack: str) -> list[Entry]:
        """The entries that approve a pack's hooks in one settings file.

        So are those for a file that is on no record: its HOME was moved.
        """
        own = {draft.target.path, draft.snapshot.path, draft.key}
        own |= {draft.known.known_as} if draft.known else set()
        known = {*self._records, *(record.known_as for record in self._records.values())} - own
        approvals = []
        for entry in entries:
            if entry.path[:2] != APPROVALS or len(entry.path) == 2 or pack not in entry.owners:
                continue
            if codex.file_of_state(entry.path) not in known:
                approvals.append(entry)
        return approvals

    def _waits(self, draft: Draft, pack: str) -> bool:
        """Whether an approval of a pack's hooks is missing, or may be after an edit."""
        host, target, environ = draft.host, draft.target, self.sources.folders.environ
        if host.trust.memory or host.trust.config:
            values, read = draft.document.value or {}, self.sources.read
            closed = approval.closed(host, target.path, values, environ, read)
            return any(hook.element.pack == pack for hook in closed)
        folder = target.project or self.sources.folders.cwd
        is_untrusted = approval.is_untrusted(host, target.scope, folder, environ, self.sources.read)
        return draft.is_edited or is_untrusted

    def open_beside(self, draft: Draft, path: str) -> Draft:
        """The draft of another file of a draft's host: its approvals stand there."""
        real = store.real_path(path)
        for known in (*self._drafts, *self._opened):
            if known.snapshot.path == real:
                return known
        snapshot, document = self.sources.read(path, _FORMAT)
        key, record = store.find_record(self._records, path)
        target = Target(draft.host._replace(format=_FORMAT), "user", path)
        config = Draft(self.sources, target, snapshot, document, key, record)
        self._opened.append(config)
        return config
