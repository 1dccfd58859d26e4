"""Who owns what: from the ledger's entries, the live values and a pack's wants to a decision.

Pure: it opens nothing, asks no clock and reads no environment. The numbers in the comments are the
rows of the transition table in docs/ownership.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from hookctl.masking import MASK, is_secret, masked
from hookctl.model import (
    Action,
    AddElement,
    Conflict,
    Decision,
    Drop,
    DropElement,
    Edit,
    EditElement,
    Element,
    Entry,
    Live,
    Path,
    Prune,
    Put,
    Want,
    Wish,
)

_ABSENT = object()
_Key = tuple[Path, str]


def same(a: Any, b: Any) -> bool:
    """Whether two values mean the same in JSON: the order of keys does not count, 1, 1.0 and true differ."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def install(
    entries: Sequence[Entry], live: Live, pack: str, version: str, wants: Sequence[Want], *, force: bool = False
) -> Decision:
    """What an install of `pack` does to one file; with conflicts, nothing else is in the decision."""
    conflicts = () if force else tuple(_conflicts(entries, live, pack, wants))
    if conflicts:
        return Decision(entries=tuple(entries), conflicts=conflicts)
    desk = _Desk(entries, live)
    wanted = {(want.path, want.id) for want in wants}
    for entry in desk.of(pack):
        if (entry.path, entry.id) not in wanted:
            desk.leave(pack, entry)  # 8
    # Over all packs and after the pruning, else a second install would differ from the first.
    wiped = desk.wiped()
    for want in wants:
        step = _install_element if want.kind == "element" else _install_leaf
        step(desk, want, pack, version, force=force, wiped=wiped)
    if wiped:
        desk.write_back(wanted)  # 12: one pack alone would turn the others' entries into single removals
    return desk.decision()


def uninstall(entries: Sequence[Entry], live: Live, pack: str, wants: Sequence[Want] = ()) -> Decision:
    """What an uninstall of `pack` does to one file; `wants` recognises elements whose ledger is lost."""
    desk = _Desk(entries, live)
    for entry in desk.of(pack):
        desk.leave(pack, entry)
    _leave_orphans(desk, pack, {entry.id or entry.path for entry in entries}, wants)
    return desk.decision()


def state(entry: Entry | None, live: Live, path: Path, id: str = "") -> str:
    """The state of one place as the table names it; `missing` is not yet split into partial and total."""
    if id:
        element = _first(live, id)
        if entry is None:
            return "free" if element is None else "orphan"
        if element is None:
            return "missing"
        return "owned" if same(element.fields, entry.written) else "overridden"
    current = live.values.get(path, _ABSENT)
    if entry is None:
        return "free" if current is _ABSENT else "foreign"
    if entry.mode == "adopted":
        return "adopted"
    if current is _ABSENT:
        return "missing"
    return "owned" if same(current, entry.written) else "overridden"


def wiped(entries: Iterable[Entry], live: Live) -> bool:
    """Whether every entry that we wrote in the file is gone: reset, wiped by a host, or removed as a whole."""
    ours = [entry for entry in entries if entry.kind != "container" and entry.mode == "owned"]
    return bool(ours) and all(state(entry, live, entry.path, entry.id) == "missing" for entry in ours)


class _Desk:
    """The entries and edits while one decision is being made."""

    def __init__(self, entries: Sequence[Entry], live: Live) -> None:
        self.live = live
        self.entries: dict[_Key, Entry] = {(e.path, e.id): e for e in entries if e.kind != "container"}
        self.containers: dict[Path, Entry] = {e.path: e for e in entries if e.kind == "container"}
        self.edits: list[Edit] = []
        self.actions: list[Action] = []
        self.kept: list[Action] = []

    def of(self, pack: str) -> list[Entry]:
        return [entry for entry in self.entries.values() if pack in entry.owners]

    def wiped(self) -> bool:
        return wiped(self.entries.values(), self.live)

    def standing(self, id: str) -> list[Element]:
        """The elements of this id that stay so far: a hook that changes its event has just been dropped."""
        return [element for element in _all(self.live, id) if DropElement(element) not in self.edits]

    def act(self, action: str, entry: Entry | Want, states: tuple[str, str], reason: str = "") -> None:
        owners = tuple(entry.owners) if isinstance(entry, Entry) else ()
        self.actions.append(Action(action, entry.path, entry.kind, entry.id, *states, reason, owners))

    def keep(self, entry: Entry | Want, at: str, reason: str) -> None:
        owners = tuple(entry.owners) if isinstance(entry, Entry) else ()
        self.kept.append(Action("keep", entry.path, entry.kind, entry.id, at, at, reason, owners))

    def write(self, entry: Entry, value: Any, from_state: str, *, reason: str = "") -> None:
        """Write a leaf or a new element; `entry` carries before and owners already."""
        self.entries[entry.path, entry.id] = entry._replace(mode="owned", written=value)
        if entry.kind == "element":
            self.edits.append(AddElement(entry.path, value))
            self._contain(entry.path, itself=True)
        else:
            self.edits.append(Put(entry.path, value))
            self._contain(entry.path, itself=False)
        word = "write" if from_state in ("free", "missing", "adopted-gone") else "replace"
        self.act(word, self.entries[entry.path, entry.id], (from_state, "owned"), reason)

    def _contain(self, path: Path, *, itself: bool) -> None:
        for length in range(1, len(path) + itself):
            above = path[:length]
            if above not in self.live.values:
                self.containers.setdefault(above, Entry(above, "container"))

    def write_back(self, but: set[_Key]) -> None:
        """After a wipe: every other entry of the file again, as its owners want it."""
        for key, entry in list(self.entries.items()):
            if key not in but and entry.mode == "owned":
                self.write(entry._replace(before=None), _wish(entry), "missing", reason="all our entries were gone")

    def leave(self, pack: str, entry: Entry) -> None:
        """Take `pack` out of the owners; the last one to leave puts back what was there before."""
        owners = {name: wish for name, wish in entry.owners.items() if name != pack}
        at = state(entry, self.live, entry.path, entry.id)
        if owners:
            self._leave_shared(entry._replace(owners=owners), at)
            return
        del self.entries[entry.path, entry.id]
        if at == "missing":
            self.act("drop", entry, ("missing", "free"), "it was gone already")  # 11, 12
        elif entry.mode == "adopted":
            self.act("drop", entry, ("adopted", "foreign"), "it was there before us and stays")  # 4, 6
        elif entry.kind == "element":
            self._remove_elements(entry)
        elif at == "overridden":
            self.keep(entry, "overridden", f"your value stays: {_text(self.live, entry.path)}")  # 9
        elif entry.before is None:
            self.edits.append(Drop(entry.path))
            self.act("remove", entry, ("owned", "free"))  # 7
        else:
            self.edits.append(Put(entry.path, raw=entry.before))
            self.act("replace", entry, ("owned", "foreign"), f"back to {entry.before}")  # 7

    def _leave_shared(self, entry: Entry, at: str) -> None:
        wish = _wish(entry)
        self.entries[entry.path, entry.id] = entry
        if at == "owned" and entry.mode == "owned" and not same(wish, entry.written):
            self.write(entry, wish, "owned", reason="the remaining pack's value")
        else:
            self.act("drop", entry, (at, at), "another pack still wants it")  # 14

    def _remove_elements(self, entry: Entry) -> None:
        """Remove every copy whose command is ours word for word, with the edits of its other fields."""
        for element in _all(self.live, entry.id):
            if element.fields.get("command") != entry.written.get("command"):
                self.keep(entry, "edited copy", "its command was edited, so it stays; without its file it does nothing")
                continue
            edited = _edited(element.fields, entry.written)
            if entry.before is not None and element is _first(self.live, entry.id):
                # A command of the operator's that --force took over; its mark made it ours to find.
                self.edits.append(Put(element.path, raw=entry.before))
                self.act("replace", entry, ("owned", "edited copy"), "back to the command of yours")
                continue
            self.edits.append(DropElement(element))
            self.act("remove", entry, ("overridden" if edited else "owned", "free"))
            if edited:
                self.keep(entry, "overridden", f"your {_fields(element.fields, edited)} went with the hook")  # 9a

    def decision(self) -> Decision:
        empty = [path for path in self.containers if not self._used(path)]
        for path in sorted(empty, key=len, reverse=True):
            del self.containers[path]
            if path in self.live.values:
                self.edits.append(Prune(path))
        entries = (*self.entries.values(), *self.containers.values())
        return Decision(tuple(self.edits), entries, tuple(self.actions), tuple(self.kept))

    def _used(self, container: Path) -> bool:
        return any(entry.path[: len(container)] == container for entry in self.entries.values())


def _conflicts(entries: Sequence[Entry], live: Live, pack: str, wants: Sequence[Want]) -> Iterable[Conflict]:
    """13: an owned value that another pack wants otherwise, unless a merge rule decides."""
    index = {(entry.path, entry.id): entry for entry in entries}
    for want in wants:
        entry = index.get((want.path, want.id))
        if entry is None or state(entry, live, want.path) != "owned":
            continue
        others = {name: wish for name, wish in entry.owners.items() if name != pack}
        if want.merge and all(wish.merge == want.merge for wish in others.values()):
            continue
        # A wish that is in the file already was forced there: it is the other pack's turn to ask.
        if any(not same(wish.value, want.value) for wish in others.values()) and not same(want.value, entry.written):
            yield Conflict(want.path, want.id, {name: wish.value for name, wish in others.items()} | {pack: want.value})


def _install_leaf(desk: _Desk, want: Want, pack: str, version: str, *, force: bool, wiped: bool) -> None:
    entry = desk.entries.get((want.path, want.id))
    current = desk.live.values.get(want.path, _ABSENT)
    at = state(entry, desk.live, want.path)
    if entry is None:
        fresh = Entry(want.path, "leaf", owners={pack: Wish(want.value, version, want.merge)})
        if at == "free":
            desk.write(fresh, want.value, "free")  # 1
        elif same(current, want.value):
            _adopt(desk, fresh, current)  # 3
        else:
            _take_or_keep(desk, fresh, want, want.value, "foreign", force)  # 2
        return
    joined = entry._replace(owners={**entry.owners, pack: Wish(want.value, version, want.merge)})
    desk.entries[want.path, want.id] = joined
    value = _wish(joined, pack)
    if at == "adopted" and current is _ABSENT:
        desk.write(joined._replace(before=None), value, "adopted-gone")  # 5
    elif at == "adopted" and same(current, value):
        desk.entries[want.path, want.id] = joined._replace(written=current)  # 4
    elif at == "adopted":
        _take_or_keep(desk, joined, want, value, "adopted", force)  # 4, 6
    elif at == "missing":
        if wiped or force:
            desk.write(joined._replace(before=None), value, "missing")  # 11, 12
        else:
            desk.keep(joined, "missing", "you removed it; --force writes it again")  # 11
    elif at == "overridden":
        if force or not same(current, value):
            _take_or_keep(desk, joined, want, value, "overridden", force)  # 9; 10 says nothing
    elif not same(current, value):
        desk.write(joined, value, "owned")  # 7, upgrade
    elif pack not in entry.owners:
        desk.act("share", joined, ("owned", "owned"))  # 14


def _adopt(desk: _Desk, entry: Entry, current: Any) -> None:
    entry = entry._replace(mode="adopted", written=current)
    desk.entries[entry.path, entry.id] = entry
    desk.act("adopt", entry, ("foreign", "adopted"), "your value is the wanted one already")


def _take_or_keep(desk: _Desk, entry: Entry, want: Want, value: Any, at: str, force: bool) -> None:
    """A value that is not ours: kept with a line, or taken over with `before` captured anew."""
    shown = _text(desk.live, want.path)
    if force:
        entry = entry._replace(before=desk.live.raw[want.path])
        desk.write(entry, value, at, reason=f"took over your {shown}")
        return
    ours = f"wanted {_show(value)}"
    if at == "overridden" and not same(entry.written, value):
        ours = f"ours was {_show(entry.written)}, now {_show(value)}"
    desk.keep(entry, at, f"kept your {shown} ({ours}); --force takes it over")


def _wish(entry: Entry, pack: str = "") -> Any:
    """The value for all owners: by the merge rule that all of them have, else what `pack` or the last one wants."""
    wishes = list(entry.owners.values())
    rules = {wish.merge for wish in wishes}
    if rules == {"first"}:
        return wishes[0].value
    if rules in ({"max"}, {"min"}):
        return (max if rules == {"max"} else min)((wish.value for wish in wishes), key=int)
    return entry.owners[pack].value if pack else wishes[-1].value


def _install_element(desk: _Desk, want: Want, pack: str, version: str, *, force: bool, wiped: bool) -> None:
    entry = desk.entries.get((want.path, want.id))
    found = sorted(desk.standing(want.id), key=lambda element: not _is_ours(element, want))
    owners = {pack: Wish(want.value, version)}  # alone: the pack's name is in the id
    if not found:
        fresh = (entry or Entry(want.path, "element", id=want.id))._replace(owners=owners, before=None)
        if entry is None or wiped or force:
            desk.write(fresh, want.value, "missing" if entry else "free")  # 1, 12
        else:
            desk.entries[want.path, want.id] = fresh
            desk.keep(fresh, "missing", "you removed it; --force writes it again")  # 11
        return
    element = found[0]
    if entry is None:
        entry = _taken_back(desk, want, element, force)
        if entry is None:
            return
    entry = entry._replace(owners=owners)
    _update_element(desk, entry, want, element, force)
    if len(found) > 1:
        desk.keep(entry, "doubled", "it is registered twice and runs twice; remove one of the two")  # 17


def _is_ours(element: Element, want: Want) -> bool:
    """Whether a command is one that we write now or wrote once."""
    command = element.fields.get("command")
    return command == want.value["command"] or bool(want.forms and re.fullmatch(want.forms, str(command)))


def _taken_back(desk: _Desk, want: Want, element: Element, force: bool) -> Entry | None:
    """15: an element of a known form is ours again, without a second one; an edited copy (15a) is not."""
    entry = Entry(want.path, "element", id=want.id, written=want.value)
    if _is_ours(element, want):
        desk.act("take-back", entry, ("orphan", "owned"), "the ledger did not know it")
        return entry._replace(written={**want.value, "command": element.fields["command"]})
    if force:
        return entry
    desk.keep(want, "edited copy", "an edited copy of our hook, left alone; --force replaces it")
    return None


def _update_element(desk: _Desk, entry: Entry, want: Want, element: Element, force: bool) -> None:
    """Bring an element that is there to what is wanted, field by field, except what the operator changed."""
    live, written = element.fields, entry.written
    if not force and live.get("command") not in (written["command"], want.value["command"]):
        desk.entries[want.path, want.id] = entry
        changed = "" if same(written, want.value) else "; the new command was not applied"
        desk.keep(entry, "edited copy", f"you edited its command{changed}; --force puts ours back")  # 9b
        return
    edited = [] if force else _edited(live, written)
    target = {name: want.value.get(name) for name in {**live, **want.value} if name not in edited}
    # What we wrote into an edited field stays on record: the field stays theirs, also while it is as wanted (10).
    record = {name: (written if name in edited else want.value).get(name) for name in {**written, **want.value}}
    done = entry._replace(written={name: value for name, value in record.items() if value is not None})
    if force and not _is_ours(element, want) and live.get("command") != written["command"]:
        done = done._replace(before=desk.live.raw[element.path])  # 9b, 15a
        if "matcher" not in want.value:
            target.pop("matcher", None)  # it stands in the group, where the text put back would not bring it again
    desk.entries[want.path, want.id] = done
    other = [name for name in edited if not same(live.get(name), want.value.get(name))]
    if other:
        desk.keep(done, "overridden", f"kept your {_fields(live, other)} (ours: {_fields(want.value, other)})")  # 9a
    if any(not same(live.get(name), value) for name, value in target.items()):
        desk.edits.append(EditElement(element, target))
        lost = [name for name in {**written, **live} if force and not same(live.get(name), written.get(name))]
        states = "owned" if same(live, written) else "overridden", "overridden" if edited else "owned"
        desk.act("replace", done, states, f"took over your {_fields(live, lost)}" if lost else "")


def _leave_orphans(desk: _Desk, pack: str, known: set[Path | str], wants: Sequence[Want]) -> None:
    """15, 15a, 16: what an uninstall finds of ours although the ledger does not know it."""
    lost = False
    for want in wants:
        if want.kind != "element" or want.id in known:
            continue
        for element in _all(desk.live, want.id):
            if not _is_ours(element, want):
                desk.keep(want, "edited copy", "an edited copy of our hook; it stays")
                continue
            lost = True
            desk.edits.append(DropElement(element))
            desk.act("remove", want, ("orphan", "free"), "the ledger did not know it")
    for want in wants:
        here = desk.live.values.get(want.path, _ABSENT)
        if lost and want.kind == "leaf" and want.path not in known and here is not _ABSENT:
            desk.keep(want, "foreign", f"the ledger does not know it and cannot prove that it is {pack}'s, so it stays")


def _all(live: Live, id: str) -> list[Element]:
    return [element for element in live.elements if element.id == id]


def _first(live: Live, id: str) -> Element | None:
    return next(iter(_all(live, id)), None)


def _edited(live: dict[str, Any], written: dict[str, Any]) -> list[str]:
    """The fields, the command apart, in which an element is not as we wrote it."""
    return [name for name in {**written, **live} if name != "command" and not same(live.get(name), written.get(name))]


def _fields(fields: dict[str, Any], names: list[str]) -> str:
    return ", ".join(f"{name}={_show(fields[name], name)}" if name in fields else f"no {name}" for name in names)


def _text(live: Live, path: Path) -> str:
    return f"{path[-1]}={MASK if is_secret(str(path[-1])) else live.raw.get(path, '?')}"


def _show(value: Any, key: str = "") -> str:
    return json.dumps(masked(value, key), ensure_ascii=False)
