"""Approvals of our hooks, where a host runs none without: written on --trust only, kept up, and taken out again.

What we approved is remembered in the state folder, so that an approval of the operator's own always stays.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from hookctl import files, gates, ledger
from hookctl.documents import Document, formats
from hookctl.errors import HookctlError
from hookctl.folders import Folders
from hookctl.hosts import codex, config_folder, shapes
from hookctl.live import read_document
from hookctl.model import Action, Change, Decision, Element, Entry, Path, Record
from hookctl.places import Place
from hookctl.planner import FilePlan

_FORMAT = "toml"  # of the only file that has such approvals


class _Config(NamedTuple):
    """A file with approvals while a plan is made."""

    place: Place
    path: str  # its real path
    old: bytes | None
    before: Document
    document: Document
    actions: tuple[Action, ...] = ()


class Approvals:
    """The approvals that one run writes and takes out, beside its plans of settings files."""

    def __init__(self, folders: Folders, records: Mapping[str, Record], plans: Iterable[FilePlan]) -> None:
        self.folders = folders
        self._records = records
        self._plans = {plan.path: plan for plan in plans}
        self._memory = files.read(folders.approvals)
        self._ours, self._made = _parse(self._memory)
        self._configs: dict[str, _Config] = {}

    def install(self, plan: FilePlan, pack: str, *, ask: bool) -> FilePlan:
        """Approve a pack's hooks if it is asked for, or was before; else say what the operator has to do."""
        gate = plan.place.host.data.get("trust")
        if gate is None or plan.place.scope not in gate.get("scopes", [plan.place.scope]):
            said = [f"{plan.place.host.title} asks for no approval of hooks here, so --trust does nothing"]
            return plan._replace(messages=(*plan.messages, *(said if ask else ())))
        step = f"{gate['gate']}: {gate['action']}"
        if "config" not in gate:
            said = [step] if ask or self._is_shut(plan) else []
            return plan._replace(messages=(*plan.messages, *said))
        config = self._config(plan, must=ask)
        if config is None:
            return plan._replace(messages=(*plan.messages, step))
        needed, others = self._needed(plan, pack)
        if ask or self._keeps(config, plan, pack):
            self._edit(plan, config, pack, needed)
        now = self._configs[config.path].document
        missing = any(codex.approved(now, path) != digest for path, digest in needed.items())
        edited = [f"{element.id} is not as {pack} wants it, so it is not approved" for element in others if ask]
        return plan._replace(messages=(*plan.messages, *edited, *([step] if missing or edited else ())))

    def _is_shut(self, plan: FilePlan) -> bool:
        """Whether somebody has to open a gate that only the host can open; where nobody can tell, after every edit."""
        host, environ, gate = plan.place.host, self.folders.environ, plan.place.host.data["trust"]
        if "memory" in gate:
            root = formats.parse(host.format, plan.after or b"", where=plan.path).value or {}
            return bool(gates.closed(host, plan.place.path, root, environ))
        folder = plan.place.project or self.folders.cwd
        return bool(plan.settings) or gates.is_untrusted(host, plan.place.scope, folder, environ)

    def follow(self, plan: FilePlan, pack: str) -> None:
        """Keep up what we approved for a pack whose hooks another one's install has put into other places."""
        config = self._config(plan, must=False) if "config" in plan.place.host.data.get("trust", {}) else None
        if config and self._keeps(config, plan, pack):
            needed = self._needed(plan, pack)[0]
            if needed:
                self._edit(plan, config, pack, needed)

    def uninstall(self, plan: FilePlan, packs: Iterable[str]) -> None:
        """Take out what we approved for these packs, wherever the host's own folder is now.

        A file that cannot be read keeps it, which does no harm.
        """
        packs = tuple(packs)
        for path in [path for path, pages in self._ours.items() if plan.path in pages]:
            for pack in packs:
                config = self._config_at(plan, path, must=False)
                if config and self._of(config, plan, pack):
                    self._edit(plan, config, pack, {})

    def finish(self, plans: list[FilePlan]) -> list[FilePlan]:
        """The plans, with the files that approvals stand in; one that is planned already gets them on top."""
        by_path = {plan.path: n for n, plan in enumerate(plans)}
        for config in [config for config in self._configs.values() if config.actions]:
            if config.path in by_path:
                n = by_path[config.path]
                plans[n] = _on_top(plans[n], config)
            else:
                plans.append(self._plan(config))
        value = {"approved": self._ours, "made": sorted(self._made)}
        new = (json.dumps(value, indent=1, sort_keys=True) + "\n").encode() if self._ours else None
        if plans and new != self._memory.data and (new or self._memory.data):
            memory = Change(self._memory.path, self._memory.data, new)
            plans[0] = plans[0]._replace(runtime=(*plans[0].runtime, memory))
        return plans

    def _plan(self, config: _Config) -> FilePlan:
        """The plan of a file that only approvals change; what is installed in it stays so."""
        key, record = ledger.page_of(self._records, config.path)
        after = self._bytes(config)
        if record:
            record = record._replace(sha256_after=files.digest(after))
        return FilePlan(config.place, config.before, after, config.path, config.old, record,
                        Decision(actions=config.actions), key=key)  # fmt: skip

    def _bytes(self, config: _Config) -> bytes | None:
        """The file's bytes to come; none where we have made it and nothing is left in it."""
        if config.old is None:
            self._made.add(config.path)
        if config.path in self._made and not config.document.data.strip():
            self._made.discard(config.path)
            return None
        return config.document.data

    def _needed(self, plan: FilePlan, pack: str) -> tuple[dict[Path, str], list[Element]]:
        """The approvals that a pack's hooks need, and those of its hooks that somebody else wrote: they get none."""
        shape = plan.place.host.shape
        root = formats.parse(plan.place.host.format, plan.after or b"", where=plan.path).value or {}
        ours = [element for element in shapes.elements(shape, root) if element.pack == pack]
        fitting = {e.path for e in ours if (shapes.event_of(shape, e.path), e.fields["command"]) in plan.commands}
        others = [element for element in ours if element.path not in fitting]
        return dict(codex.approvals(shape, plan.place.path, root, fitting)), others

    def _config(self, plan: FilePlan, *, must: bool) -> _Config | None:
        """The file with the approvals; None, or a refusal where it must be edited, if it cannot be read."""
        folder = config_folder(plan.place.host, self.folders.environ)
        return self._config_at(plan, plan.place.host.data["trust"]["config"].format(config=folder), must=must)

    def _config_at(self, plan: FilePlan, path: str, *, must: bool) -> _Config | None:
        with contextlib.suppress(HookctlError) if not must else contextlib.nullcontext():
            real = files.real(path)
            if real not in self._configs and real in self._plans:
                its = self._plans[real]
                document = formats.parse(_FORMAT, its.after or b"", where=path)
                self._configs[real] = _Config(its.place, real, its.old, its.before, document)
            if real not in self._configs:
                there, document = read_document(path, _FORMAT)
                host = plan.place.host._replace(format=_FORMAT)
                place = Place(host, "user", path)
                self._configs[real] = _Config(place, real, there.data, document, document)
            return self._configs[real]
        return None

    def _of(self, config: _Config, plan: FilePlan, pack: str) -> dict[str, str]:
        """What we approved in a file for one pack in one settings file: the hook's key to its hash."""
        return self._ours.get(config.path, {}).get(plan.path, {}).get(pack, {})

    def _keeps(self, config: _Config, plan: FilePlan, pack: str) -> bool:
        """Whether we approved hooks here, and the operator has taken none of that back."""
        ours = self._of(config, plan, pack)
        state = ("hooks", "state")
        # As it was before this run: what is approved for one pack may have taken the place of another's.
        return bool(ours) and all(codex.approved(config.before, (*state, key)) == ours[key] for key in ours)

    def _edit(self, plan: FilePlan, config: _Config, pack: str, needed: dict[Path, str]) -> None:
        """Make the approvals of a pack those that are needed."""
        ours, document, actions = self._of(config, plan, pack), config.document, []
        kept = {}
        for path, digest in needed.items():
            if codex.approved(document, path) != digest:
                document = document.set((*path, "trusted_hash"), digest)
                actions.append(Action("write", path, "leaf", reason=f"approves {pack}'s hook", owners=(pack,)))
                kept[path[-1]] = digest
            elif path[-1] in ours:
                kept[path[-1]] = digest
        for key in sorted(ours.keys() - kept.keys()):
            path: Path = ("hooks", "state", key)
            if codex.approved(document, path) == ours[key]:
                document = _without(document, path)
                actions.append(Action("remove", path, "leaf", owners=(pack,)))
        self._remember(config.path, plan.path, pack, kept)
        self._configs[config.path] = config._replace(document=document, actions=(*config.actions, *actions))

    def _remember(self, config: str, settings: str, pack: str, kept: dict[Any, str]) -> None:
        self._ours.setdefault(config, {}).setdefault(settings, {})[pack] = kept
        self._ours = {
            name: pages
            for name, found in self._ours.items()
            if (pages := {path: some for path, packs in found.items()
                          if (some := {one: keys for one, keys in packs.items() if keys})})
        }  # fmt: skip


def written(place: Place, entries: Iterable[Entry]) -> frozenset[tuple[str, str]]:
    """What approvals are kept up for: what this machine wrote, and not what a committed ledger says."""
    elements = [entry for entry in entries if entry.kind == "element" and not place.shared]
    return frozenset((shapes.event_of(place.host.shape, one.path), one.written["command"]) for one in elements)


def _parse(there: files.Snapshot) -> tuple[dict[str, dict[str, dict[str, dict[str, str]]]], set[str]]:
    """What we approved so far, and the files that we made for it; nothing where that cannot be read.

    Then every approval counts as the operator's.
    """
    try:
        value = json.loads(there.data or b'{"approved": {}, "made": []}')
        levels, made = [value["approved"]], {path for path in value["made"] if isinstance(path, str)}
        for _ in range(3):
            levels = [inner for level in levels for inner in level.values()]
        return (value["approved"], made) if all(isinstance(inner, dict) for inner in levels) else ({}, set())
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}, set()


def _without(document: Document, path: Path) -> Document:
    """Without our approval, and without what held nothing else."""
    document = document.remove((*path, "trusted_hash"))
    for length in range(len(path), 0, -1):
        if document.get(path[:length]) == {}:
            document = document.remove(path[:length])
    return document


def _on_top(plan: FilePlan, config: _Config) -> FilePlan:
    after = config.document.data
    record = plan.record._replace(sha256_after=files.digest(after)) if plan.record else None
    decision = plan.decision._replace(actions=(*plan.decision.actions, *config.actions))
    return plan._replace(after=after, record=record, decision=decision)
