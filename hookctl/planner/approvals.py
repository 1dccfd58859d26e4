"""Approvals of our hooks, where a host runs none without: written on --trust only, kept up, and taken out again.

An approval is an entry as any other, of the file that the host keeps it in; so one of the operator's own always stays.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping

from hookctl import engine
from hookctl.errors import HookctlError
from hookctl.hosts import codex, config_folder, shapes
from hookctl.ledger import store
from hookctl.model import Decision, Entry, HookEntry, Path, Record, Wanted
from hookctl.planner.draft import Draft
from hookctl.settings import approval
from hookctl.settings.sources import Sources
from hookctl.settings.targets import Target

_FORMAT = "toml"  # of the only file that has such approvals
_WRITTEN = ("write", "replace", "remove")


class Approvals:
    """The approvals that one run writes and takes out, beside its drafts of settings files."""

    def __init__(
        self, sources: Sources, records: Mapping[str, Record], drafts: Iterable[Draft]
    ) -> None:
        self.sources = sources
        self._records = records
        self._drafts = list(drafts)
        self._opened: list[Draft] = []  # files that only hold approvals

    @property
    def drafts(self) -> list[Draft]:
        """The drafts of the run, and those of other files whose approvals change."""
        changed = [draft for draft in self._opened if draft.is_edited or draft.has_other_entries]
        return [*self._drafts, *changed]

    def install(self, draft: Draft, pack: str, *, ask: bool) -> None:
        """Approve a pack's hooks if it is asked for, or was before; else say what the operator has to do."""
        about = draft.host.trust
        if not about.covers(draft.target.scope):
            if ask:
                draft.messages.append(
                    f"{draft.host.title} asks for no approval of hooks here, so --trust does nothing"
                )
            return
        step = f"{about.gate}: {about.action}"
        if not about.config:
            if ask or self._waits_for_the_host(draft):
                draft.messages.append(step)
            return
        config = self._config_of(draft, must=ask)
        if config is None:
            draft.messages.append(step)
            return
        needed, others = _needed(draft, pack)
        if ask or _keeps_up(config, draft, pack):
            _approve(config, draft, pack, needed)
        if ask:
            draft.messages += [
                f"{other.id} is not as {pack} wants it, so it is not approved" for other in others
            ]
        is_missing = any(
            codex.approved(config.document, path) != digest for path, digest in needed.items()
        )
        if is_missing or (ask and others):
            draft.messages.append(step)

    def follow(self, draft: Draft, pack: str) -> None:
        """Keep up what we approved for a pack whose hooks another one's install has put into other places."""
        if not draft.host.trust.config:
            return
        config = self._config_of(draft, must=False)
        if config and _keeps_up(config, draft, pack):
            needed, _ = _needed(draft, pack)
            if needed:
                _approve(config, draft, pack, needed)

    def uninstall(self, draft: Draft, packs: Iterable[str]) -> None:
        """Take out what we approved for these packs, wherever the host's own folder is now.

        A file that cannot be read keeps it, which does no harm.
        """
        for key, record in self._records.items():
            for pack in packs:
                if _approvals_of(record.entries, draft, pack):
                    config = self._config_at(draft, store.place_of(self._records, key), must=False)
                    if config:
                        _withdraw(config, draft, pack)

    def _waits_for_the_host(self, draft: Draft) -> bool:
        """Whether an approval that only the host takes is missing; where nobody can tell, after every edit."""
        host, environ = draft.host, self.sources.folders.environ
        if host.trust.memory:
            return bool(
                approval.closed(host, draft.target.path, draft.document.value or {}, environ)
            )
        folder = draft.target.project or self.sources.folders.cwd
        return draft.is_edited or approval.is_untrusted(host, draft.target.scope, folder, environ)

    def _config_of(self, draft: Draft, *, must: bool) -> Draft | None:
        """The file with the approvals; None, or a refusal where it must be edited, if it cannot be read."""
        folder = config_folder(draft.host, self.sources.folders.environ)
        return self._config_at(draft, draft.host.trust.config.format(config=folder), must=must)

    def _config_at(self, draft: Draft, path: str, *, must: bool) -> Draft | None:
        ignored = () if must else (HookctlError,)
        with contextlib.suppress(*ignored):
            real = store.real_path(path)
            for known in (*self._drafts, *self._opened):
                if known.snapshot.path == real:
                    return known
            snapshot, document = self.sources.read(path, _FORMAT)
            key, record = store.page_of(self._records, path)
            target = Target(draft.host._replace(format=_FORMAT), "user", path)
            config = Draft(self.sources, target, snapshot, document, key, record)
            self._opened.append(config)
            return config
        return None


def written_hooks(target: Target, entries: Iterable[Entry]) -> frozenset[tuple[str, str]]:
    """What approvals are kept up for: what this machine wrote, and not what a committed ledger says."""
    elements = [entry for entry in entries if entry.kind == "element" and not target.shared]
    return frozenset(
        (shapes.event_of(target.host.shape, entry.path), entry.written["command"])
        for entry in elements
    )


def _needed(draft: Draft, pack: str) -> tuple[dict[Path, str], list[HookEntry]]:
    """The approvals that a pack's hooks need, and those of its hooks that somebody else wrote: they get none."""
    shape, root = draft.host.shape, draft.document.value or {}
    ours = [element for element in shapes.elements(shape, root) if element.pack == pack]
    fitting, others = set(), []
    for element in ours:
        if (shapes.event_of(shape, element.path), element.fields["command"]) in draft.commands:
            fitting.add(element.path)
        else:
            others.append(element)
    return dict(codex.approvals(shape, draft.target.path, root, fitting)), others


def _approvals_of(entries: Iterable[Entry], draft: Draft, pack: str) -> list[Entry]:
    """Our entries that approve a pack's hooks in one settings file."""
    known_as = draft.record.known_as if draft.record else ""
    names = {draft.target.path, draft.snapshot.path, draft.key, known_as} - {""}
    prefixes = tuple(f"{name}:" for name in names)
    approvals = [
        entry for entry in entries if entry.path[:2] == codex.APPROVALS and pack in entry.owners
    ]
    return [entry for entry in approvals if str(entry.path[2]).startswith(prefixes)]


def _keeps_up(config: Draft, draft: Draft, pack: str) -> bool:
    """Whether we approved hooks here, and the operator has taken none of that back."""
    known = config.record.entries if config.record else ()
    ours = [entry for entry in _approvals_of(known, draft, pack) if entry.mode == "owned"]
    # As it was before this run: what is approved for one pack may have taken the place of another's.
    return bool(ours) and all(config.before.get(entry.path) == entry.written for entry in ours)


def _approve(config: Draft, draft: Draft, pack: str, needed: dict[Path, str]) -> None:
    """Make the approvals of a pack in one settings file those that are needed."""
    wants = [Wanted((*path, "trusted_hash"), "leaf", digest) for path, digest in needed.items()]
    _take_over_places(config, pack, {want.path for want in wants})
    visible = _with_containers(config, _approvals_of(config.entries, draft, pack))
    version = draft.packs[pack].version
    # The operator was asked, or agreed before: nobody else's word stands in the place of a hook of ours.
    decision = engine.install(
        visible, config.look(wants, visible), pack, version, wants, force=True
    )
    config.take(_for_people(decision, pack), visible)


def _take_over_places(config: Draft, pack: str, paths: set[Path]) -> None:
    """An approval is of the hook that stands in a place: where that is this pack's now, so is the entry, alone."""
    entries = []
    for entry in config.entries:
        if entry.path in paths and entry.owners.keys() != {pack}:
            claim = next(iter(entry.owners.values()))
            entry = entry._replace(owners={pack: claim})
        entries.append(entry)
    config.entries = tuple(entries)


def _withdraw(config: Draft, draft: Draft, pack: str) -> None:
    visible = _with_containers(config, _approvals_of(config.entries, draft, pack))
    decision = engine.uninstall(visible, config.look((), visible), pack)
    config.take(_for_people(decision, pack), visible)


def _with_containers(config: Draft, approvals: list[Entry]) -> tuple[Entry, ...]:
    containers = [entry for entry in config.entries if entry.kind == "container"]
    return config.visible_entries([*approvals, *containers])


def _for_people(decision: Decision, pack: str) -> Decision:
    """The decision with a line for each approval that is written or taken out, and no other."""
    actions = []
    for action in decision.actions:
        if action.action in ("write", "replace") and action.to_state == "owned":
            reason = "; ".join(filter(None, [f"approves {pack}'s hook", action.reason]))
            actions.append(action._replace(reason=reason))
        elif action.action in _WRITTEN:
            actions.append(action)
    return decision._replace(actions=tuple(actions), kept=())
