"""An oracle of ownership, written from the words of docs/ownership.md; it shares no code with the package.

A settings file is its parsed document, changed in place. What the ledger knows of it are keys, hooks and containers.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Fields = dict[str, Any]
MERGE: dict[str, Callable[[list[int]], int]] = {"max": max, "min": min, "first": lambda values: values[0]}


@dataclass
class Key:
    """A value in `env` that we wrote, or that was as wanted when we came."""

    owners: dict[str, tuple[int, str]]  # pack to value and merge rule, in the order of joining
    written: int
    before: int | None = None
    adopted: bool = False

    def wanted(self, pack: str = "") -> int:
        """What is to stand there: by the rule of all, else what `pack` wants, else what stays, else the last wish."""
        values = [value for value, _ in self.owners.values()]
        rules = {rule for _, rule in self.owners.values()}
        if len(rules) == 1 and rules <= MERGE.keys():
            return MERGE[rules.pop()](values)
        if pack:
            return self.owners[pack][0]
        return self.written if self.written in values else values[-1]


@dataclass
class Hook:
    """A hook that we registered."""

    owner: str
    event: str
    wish: Fields
    written: Fields
    before: Fields | None = None  # a handler of the operator's whose command --force took over


@dataclass
class WantedHook:
    """A hook as a pack wants it; `known` are the commands that its versions ever wrote."""

    event: str
    fields: Fields
    known: frozenset[str]


@dataclass
class Spot:
    """A handler where it stands."""

    groups: list[Any]
    group: dict[str, Any]
    handler: Fields
    event: str

    @property
    def fields(self) -> Fields:
        """With the matcher, where the group has nothing else."""
        alone = len(self.group["hooks"]) == 1 and "matcher" in self.group
        return {**self.handler, "matcher": self.group["matcher"]} if alone else dict(self.handler)

    def become(self, fields: Fields) -> None:
        for name in {**self.fields, **fields}:
            place = self.group if name == "matcher" else self.handler
            if name == "matcher" and len(self.group["hooks"]) > 1:
                continue
            if name in fields:
                place[name] = fields[name]
            else:
                del place[name]

    def remove(self) -> None:
        self.group["hooks"] = [handler for handler in self.group["hooks"] if handler is not self.handler]
        if not self.group["hooks"]:
            self.groups[:] = [group for group in self.groups if group is not self.group]


class Model:
    """A file, and what the ledger knows of it."""

    def __init__(self) -> None:
        self.file: dict[str, Any] = {}
        self.forget()

    def forget(self) -> None:
        """The ledger is lost."""
        self.keys: dict[str, Key] = {}
        self.hooks: dict[str, Hook] = {}
        self.made: set[tuple[str, ...]] = set()

    # What there is

    @property
    def env(self) -> dict[str, int]:
        return self.file.get("env", {})

    def state(self, name: str) -> str:
        key = self.keys.get(name)
        if key is None:
            return "foreign" if name in self.env else "free"
        if key.adopted:
            return "adopted"
        if name not in self.env:
            return "missing"
        return "owned" if self.env[name] == key.written else "overridden"

    def spots(self, id: str) -> list[Spot]:
        """Every handler with this mark, in the order of the file."""
        return [
            Spot(groups, group, handler, event)
            for event, groups in self.file.get("hooks", {}).items()
            for group in groups
            for handler in group["hooks"]
            if handler["command"].startswith(f": hookctl={id}; ")
        ]

    def wiped(self) -> bool:
        """Whether we wrote something here, and all of it is gone."""
        written = [name in self.env for name, key in self.keys.items() if not key.adopted]
        written += [bool(self.spots(id)) for id in self.hooks]
        return bool(written) and not any(written)

    # What the commands do

    def install(
        self, pack: str, keys: dict[str, tuple[int, str]], hooks: dict[str, WantedHook], *, force: bool = False
    ) -> bool:
        """False: two packs disagree, and nothing was changed."""
        past = copy.deepcopy(vars(self))
        for name in [name for name, key in self.keys.items() if pack in key.owners and name not in keys]:
            self._leave_key(pack, name)
        for id in [id for id, hook in self.hooks.items() if hook.owner == pack and id not in hooks]:
            self._leave_hook(id)
        wiped = self.wiped()
        if not force and any(self._disagree(pack, name, wish, wiped) for name, wish in keys.items()):
            vars(self).update(past)
            return False
        for name, wish in keys.items():
            self._install_key(pack, name, wish, force, wiped)
        for id, want in hooks.items():
            self._install_hook(pack, id, want, force, wiped)
        if wiped:
            self._write_back({*keys, *hooks})
        self._tidy()
        return True

    def uninstall(self, pack: str, hooks: dict[str, WantedHook]) -> None:
        orphans = {id: want for id, want in hooks.items() if id not in self.hooks}
        for name in [name for name, key in self.keys.items() if pack in key.owners]:
            self._leave_key(pack, name)
        for id in [id for id, hook in self.hooks.items() if hook.owner == pack]:
            self._leave_hook(id)
        for id, want in orphans.items():
            for spot in self.spots(id):
                if spot.handler["command"] in want.known:
                    spot.remove()
        self._tidy()

    # Keys

    def _disagree(self, pack: str, name: str, wish: tuple[int, str], wiped: bool) -> bool:
        key = self.keys.get(name)
        at, gone = self.state(name), name not in self.env
        if key is None or not (at == "owned" or (at == "missing" and wiped) or (at == "adopted" and gone)):
            return False
        if key.owners.get(pack) == wish and key.written == wish[0]:
            return False
        others = [other for name, other in key.owners.items() if name != pack]
        common = wish[1] != "" and {rule for _, rule in others} <= {wish[1]}
        return not common and any(value != wish[0] for value, _ in others)

    def _install_key(self, pack: str, name: str, wish: tuple[int, str], force: bool, wiped: bool) -> None:
        at, here = self.state(name), self.env.get(name)
        if at == "foreign" and here != wish[0] and not force:
            return
        key = self.keys.setdefault(name, Key({}, wish[0]))
        key.owners[pack] = wish
        value = key.wanted(pack)
        if at == "foreign" and here == value:
            key.adopted = True
        elif at == "adopted" and here == value:
            key.written = value
        elif at == "owned":
            key.written = self.env[name] = value
        elif force or at == "free" or (at == "missing" and wiped) or (at == "adopted" and here is None):
            self._write_key(name, value, here)

    def _write_key(self, name: str, value: int, before: int | None) -> None:
        key = self.keys[name]
        key.adopted, key.before, key.written = False, before, value
        self._container("env")[name] = value

    def _leave_key(self, pack: str, name: str) -> None:
        at, key = self.state(name), self.keys[name]
        del key.owners[pack]
        if key.owners:
            if at == "owned":
                key.written = self.env[name] = key.wanted()
            return
        del self.keys[name]
        if at == "owned" and key.before is None:
            del self.env[name]
        elif at == "owned":
            self.env[name] = key.before

    # Hooks

    def _copies(self, id: str, command: str) -> list[Spot]:
        return [spot for spot in self.spots(id) if spot.handler["command"] == command]

    def _install_hook(self, pack: str, id: str, want: WantedHook, force: bool, wiped: bool) -> None:
        hook, spots = self.hooks.get(id), self.spots(id)
        if not spots:
            if hook is None or wiped or force:
                self.hooks[id] = Hook(pack, want.event, want.fields, want.fields)
                self._register(want.event, want.fields)
            else:
                self.hooks[id] = Hook(pack, want.event, want.fields, hook.written)
            return
        known = {hook.written["command"], want.fields["command"]} if hook else want.known
        ours = [spot for spot in spots if spot.handler["command"] in known]
        if hook is None and not ours and not force:
            return
        command = ours[0].handler["command"] if ours else want.fields["command"]
        hook = hook or Hook(pack, want.event, {}, {**want.fields, "command": command})
        self.hooks[id] = hook
        hook.wish = want.fields
        if not ours and force:
            hook.before = dict(spots[0].handler)
        if ours or force:
            self._update_hook(hook, want, ours or spots[:1], force)

    def _update_hook(self, hook: Hook, want: WantedHook, spots: list[Spot], force: bool) -> None:
        """The first of these becomes as wanted, but for what the operator changed; the others go."""
        first, live, written = spots[0], spots[0].fields, hook.written
        moves = want.event not in (hook.event, first.event)
        names = {*written, *live, *want.fields}
        theirs = {n for n in names if n != "command" and (n in live, live.get(n)) != (n in written, written.get(n))}
        if force:
            theirs = set()
        if hook.before and not moves:
            theirs |= {"matcher"} & names
        elif moves and "matcher" not in live:
            theirs.discard("matcher")
        target = {n: (live if n in theirs else want.fields).get(n, "-") for n in names}
        record = {n: (written if n in theirs else want.fields).get(n, "-") for n in names}
        target, hook.written = ({n: v for n, v in fields.items() if v != "-"} for fields in (target, record))
        hook.event = want.event
        if not moves:
            first.become(target)
        for spot in spots[1:]:
            spot.remove()
        if not moves:
            return
        self._give_back(first, hook)
        hook.before = None
        self._register(want.event, target)

    def _register(self, event: str, fields: Fields) -> None:
        handler = {name: value for name, value in fields.items() if name != "matcher"}
        matcher = {"matcher": fields["matcher"]} if "matcher" in fields else {}
        self._container("hooks")
        self._container("hooks", event).append({**matcher, "hooks": [handler]})

    def _leave_hook(self, id: str) -> None:
        hook = self.hooks.pop(id)
        copies = self._copies(id, hook.written["command"])
        for spot in copies[1:]:
            spot.remove()
        for spot in copies[:1]:
            self._give_back(spot, hook)

    def _give_back(self, spot: Spot, hook: Hook) -> None:
        if hook.before is None:
            spot.remove()
        else:
            spot.handler.clear()
            spot.handler.update(hook.before)

    # The file

    def _write_back(self, but: set[str]) -> None:
        """After a wipe: what else we wrote in this file, for whatever pack."""
        for name, key in self.keys.items():
            if name not in but and not key.adopted:
                self._write_key(name, key.wanted(), None)
        for id, hook in self.hooks.items():
            if id not in but:
                hook.written, hook.before = hook.wish, None
                self._register(hook.event, hook.wish)

    def _container(self, *path: str) -> Any:
        holder = self.file
        for name in path[:-1]:
            holder = holder[name]
        if path[-1] not in holder:
            holder[path[-1]] = {} if len(path) == 1 else []
            self.made.add(path)
        return holder[path[-1]]

    def _tidy(self) -> None:
        """Containers of ours that hold nothing of ours are ours no more, and go if they are empty."""
        used = {("env",)} if self.keys else set()
        for hook in self.hooks.values():
            used |= {("hooks",), ("hooks", hook.event)}
        for path in sorted(self.made - used, key=len, reverse=True):
            self.made.discard(path)
            holder: Any = self.file
            for name in path[:-1]:
                holder = holder.get(name, {})
            if holder.get(path[-1], True) in ({}, []):
                del holder[path[-1]]
