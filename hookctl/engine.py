"""Who owns what: from the ledger's entries, the live values and a pack's wants to a decision.

Pure: it opens nothing, asks no clock and reads no environment. The numbers in the comments are the
rows of the transition table in docs/ownership.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hookctl.masking import MASK, is_secret, masked, masked_text
from hookctl.model import (
    WRAP,
    Action,
    AddElement,
    Claim,
    Conflict,
    Current,
    Decision,
    Drop,
    DropElement,
    Edit,
    EditElement,
    Entry,
    HookEntry,
    Path,
    Prune,
    Put,
    Wanted,
)

_ABSENT = object()
_LOST = "hookctl's record of it is missing; it is known by its name"
_Name = Path | str  # of an entry: a key's is its path, a hook's its id, whatever event it is under


def same(a: Any, b: Any) -> bool:
    """Whether two values mean the same in JSON: the order of keys does not count, 1, 1.0 and true differ."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def install(
    entries: Sequence[Entry],
    current: Current,
    pack: str,
    version: str,
    wants: Sequence[Wanted],
    *,
    force: bool = False,
    others: bool = True,
) -> Decision:
    """What an install of `pack` does to one file; with conflicts, nothing else is in the decision.

    Without `others`, it writes back nothing of another pack after a wipe: what a stranger's ledger names.
    """
    desk, names = _Desk(entries, current), {_name(want) for want in wants}
    wiped = _leave_unwanted(desk, pack, names)
    conflicts = () if force else tuple(_conflicts(desk, pack, wants, wiped))
    if conflicts:
        return Decision(entries=tuple(entries), conflicts=conflicts)
    for want in wants:
        step = _install_element if want.kind == "element" else _install_leaf
        step(desk, want, pack, version, force=force, wiped=wiped)
    if wiped and others:
        desk.write_back(
            names
        )  # 12: one pack alone would turn the others' entries into single removals
    return desk.decision()


def leaf_after_install(
    entries: Sequence[Entry],
    current: Current,
    pack: str,
    wants: Sequence[Wanted],
    path: Path,
    *,
    force: bool = False,
) -> Any:
    """The value that the leaf at `path`, one of the wants, has after such an install; None if it has none."""
    desk = _Desk(entries, current)
    wiped = _leave_unwanted(desk, pack, {_name(want) for want in wants})
    want = next(want for want in wants if want.path == path)
    _install_leaf(desk, want, pack, "", force=force, wiped=wiped)
    put = [edit for edit in desk.edits if isinstance(edit, Put) and edit.path == path]
    return put[-1].value if put else current.values.get(path)


def uninstall(
    entries: Sequence[Entry], current: Current, pack: str, wants: Sequence[Wanted] = ()
) -> Decision:
    """What an uninstall of `pack` does to one file; `wants` recognises elements whose ledger is lost."""
    desk = _Desk(entries, current)
    for entry in desk.of(pack):
        desk.leave(pack, entry)
    _leave_orphans(desk, pack, {_name(entry) for entry in entries}, wants)
    return desk.decision()


def repair(
    entries: Sequence[Entry], current: Current, orphans: Mapping[str, tuple[str, Sequence[Wanted]]]
) -> Decision:
    """What `doctor --fix` mends in one file, and nothing that the operator has.

    `orphans` are packs without a page in the ledger: the version that they have, and what it wants.
    """
    desk = _Desk(entries, current)
    if desk.wiped():
        desk.write_back(set())  # 12
    for pack, (version, wants) in orphans.items():
        _rebuild(desk, pack, version, wants)
    for entry in list(desk.entries.values()):
        mend = desk.remove_doubles if entry.kind == "element" else desk.merge
        mend(entry)
    return desk.decision()


def state(entry: Entry | None, current: Current, path: Path, id: str = "") -> str:
    """The state of one place as the table names it; `missing` is not yet split into partial and total."""
    return _state_of_element(entry, current, id) if id else _state_of_leaf(entry, current, path)


def _state_of_element(entry: Entry | None, current: Current, id: str) -> str:
    found = _all(current, id)
    if entry is None:
        return "orphan" if found else "free"
    if not found:
        return "missing"
    counts = (_copies(current, entry) or found)[0]
    if id.startswith(WRAP):
        return "owned" if counts.fields["command"] == entry.written["command"] else "overridden"
    return "owned" if same(counts.fields, entry.written) else "overridden"


def _state_of_leaf(entry: Entry | None, current: Current, path: Path) -> str:
    value = current.values.get(path, _ABSENT)
    if entry is None:
        return "free" if value is _ABSENT else "foreign"
    if entry.mode == "adopted":
        return "adopted"
    if value is _ABSENT:
        return "missing"
    return "owned" if same(value, entry.written) else "overridden"


def wiped(entries: Iterable[Entry], current: Current) -> bool:
    """Whether every entry that we wrote in the file is gone: reset, wiped by a host, or removed as a whole.

    The hooks of others that we are around say nothing of that: they come and go with their tools.
    """
    ours = [entry for entry in entries if entry.kind != "container" and entry.mode == "owned"]
    ours = [entry for entry in ours if not entry.id.startswith(WRAP)]
    return bool(ours) and all(
        state(entry, current, entry.path, entry.id) == "missing" for entry in ours
    )


class _Desk:
    """The entries and edits while one decision is being made."""

    def __init__(self, entries: Sequence[Entry], current: Current) -> None:
        self.current = current
        self.entries: dict[_Name, Entry] = {_name(e): e for e in entries if e.kind != "container"}
        self.containers: dict[Path, Entry] = {e.path: e for e in entries if e.kind == "container"}
        self.edits: list[Edit] = []
        self.actions: list[Action] = []
        self.kept: list[Action] = []

    def of(self, pack: str) -> list[Entry]:
        return [entry for entry in self.entries.values() if pack in entry.owners]

    def wiped(self) -> bool:
        return wiped(self.entries.values(), self.current)

    def act(
        self, action: str, entry: Entry | Wanted, states: tuple[str, str], reason: str = ""
    ) -> None:
        owners = tuple(entry.owners) if isinstance(entry, Entry) else ()
        self.actions.append(
            Action(action, entry.path, entry.kind, entry.id, *states, reason, owners)
        )

    def keep(self, entry: Entry | Wanted, at: str, reason: str) -> None:
        owners = tuple(entry.owners) if isinstance(entry, Entry) else ()
        self.kept.append(Action("keep", entry.path, entry.kind, entry.id, at, at, reason, owners))

    def write(self, entry: Entry, value: Any, from_state: str, *, reason: str = "") -> None:
        """Write a leaf or a new element; `entry` carries before and owners already."""
        written = entry._replace(mode="owned", written=value)
        self.entries[_name(entry)] = written
        if entry.kind == "element":
            self.edits.append(AddElement(entry.path, value))
            self._contain(entry.path, itself=True)
        else:
            self.edits.append(Put(entry.path, value))
            self._contain(entry.path, itself=False)
        word = "write" if from_state in ("free", "missing", "adopted-gone") else "replace"
        self.act(
            word, written, (from_state, "owned"), "; ".join(filter(None, [reason, _over(written)]))
        )

    def _contain(self, path: Path, *, itself: bool) -> None:
        for length in range(1, len(path) + itself):
            above = path[:length]
            if above not in self.current.values:
                self.containers.setdefault(above, Entry(above, "container"))

    def write_back(self, but: set[_Name]) -> None:
        """After a wipe: every other entry of the file again, as its owners want it."""
        for name, entry in list(self.entries.items()):
            if name not in but and entry.mode == "owned" and not entry.id.startswith(WRAP):
                self.write(
                    entry._replace(before=None),
                    _wish(entry),
                    "missing",
                    reason="all our entries were gone",
                )

    def leave(self, pack: str, entry: Entry) -> None:
        """Take `pack` out of the owners; the last one to leave puts back what was there before."""
        owners = {name: claim for name, claim in entry.owners.items() if name != pack}
        at = state(entry, self.current, entry.path, entry.id)
        if owners:
            self._leave_shared(entry._replace(owners=owners), at)
            return
        del self.entries[_name(entry)]
        if at == "missing":
            self.act("drop", entry, ("missing", "free"), "it was gone already")  # 11, 12
        elif entry.mode == "adopted":
            self.act("drop", entry, ("adopted", "foreign"), "it counts as yours and stays")  # 4, 6
        elif entry.kind == "element":
            self._remove_elements(entry)
        elif at == "overridden":
            self.keep(
                entry, "overridden", f"your value stays: {_text(self.current, entry.path)}"
            )  # 9
        elif entry.before is None:
            self.edits.append(Drop(entry.path))
            self.act("remove", entry, ("owned", "free"))  # 7
        else:
            self.edits.append(Put(entry.path, raw=entry.before))
            self.act(
                "replace",
                entry,
                ("owned", "foreign"),
                f"back to {_masked(entry.path, entry.before)}",
            )  # 7

    def _leave_shared(self, entry: Entry, at: str) -> None:
        self.entries[_name(entry)] = entry
        if at == "owned" and not same(_wish(entry), entry.written):
            self.write(entry, _wish(entry), "owned", reason="the remaining pack's value")
        else:
            self.act("drop", entry, (at, at), "another pack still wants it")  # 14

    def _remove_elements(self, entry: Entry) -> None:
        """Remove every copy whose command is ours word for word, with the edits of its other fields."""
        copies = _copies(self.current, entry)
        for element in _all(self.current, entry.id):
            if element not in copies:
                self.keep(entry, "edited copy", "its command was edited, so it stays")
            elif entry.before is not None and element == copies[0]:
                # A command of the operator's that --force took over; its mark made it ours to find.
                self.edits.append(Put(element.path, raw=entry.before))
                self.act("replace", entry, ("owned", "edited copy"), "back to the command of yours")
            else:
                self.remove_copy(entry, element)  # 7, 17, 18

    def remove_copy(self, entry: Entry, element: HookEntry, reason: str = "") -> None:
        edited = _edited(element.fields, entry.written)
        self.edits.append(DropElement(element))
        self.act("remove", entry, ("overridden" if edited else "owned", "free"), reason)
        if edited:
            self.keep(
                entry, "overridden", f"your {_fields(element.fields, edited)} went with the hook"
            )  # 9a

    def remove_doubles(self, entry: Entry) -> None:
        """17: of the elements whose command is ours word for word, the first stays; all of those that we only wrap."""
        for element in () if entry.id.startswith(WRAP) else _copies(self.current, entry)[1:]:
            self.remove_copy(entry, element, "it was registered more than once")

    def merge(self, entry: Entry) -> None:
        """13: wishes that differ, where all packs have the same rule for them; else it is the operator's to say."""
        value = _wish(entry)
        agreed = all(same(claim.value, value) for claim in entry.owners.values()) or same(
            value, entry.written
        )
        if state(entry, self.current, entry.path) == "owned" and _rule(entry) and not agreed:
            self.write(entry, value, "owned", reason="what the packs' common rule gives")

    def decision(self) -> Decision:
        used = {
            entry.path[:length]
            for entry in self.entries.values()
            for length, _ in enumerate(entry.path, 1)
        }
        empty = [path for path in self.containers if path not in used]
        for path in sorted(empty, key=len, reverse=True):
            del self.containers[path]
            if path in self.current.values:
                self.edits.append(Prune(path))
        entries = (*self.entries.values(), *self.containers.values())
        return Decision(tuple(self.edits), entries, tuple(self.actions), tuple(self.kept))


def _leave_unwanted(desk: _Desk, pack: str, wanted: set[_Name]) -> bool:
    """Take out what the pack does not want any more (8); whether the rest of ours was wiped, over all packs."""
    for entry in desk.of(pack):
        if _name(entry) not in wanted:
            desk.leave(pack, entry)
    # After the pruning, else a second install would differ from the first.
    return desk.wiped()


def _conflicts(desk: _Desk, pack: str, wants: Sequence[Wanted], wiped: bool) -> Iterable[Conflict]:
    """13: a value of ours that another pack wants otherwise, unless a merge rule decides."""
    for want in wants:
        entry = desk.entries.get(_name(want))
        if entry is None or not _is_written(entry, desk.current, wiped):
            continue
        others = {name: claim for name, claim in entry.owners.items() if name != pack}
        if want.merge and all(claim.merge == want.merge for claim in others.values()):
            continue
        # What this pack has written with --force before, it may write again: it is the other pack's turn to ask.
        mine = entry.owners.get(pack)
        settled = mine is not None and mine.merge == want.merge and same(mine.value, want.value)
        if settled and same(want.value, entry.written):
            continue
        if any(not same(claim.value, want.value) for claim in others.values()):
            yield Conflict(
                want.path,
                want.id,
                {name: claim.value for name, claim in others.items()} | {pack: want.value},
            )


def _is_written(entry: Entry, current: Current, wiped: bool) -> bool:
    """Whether an install writes an entry that is on record already, or has written what is there."""
    at = state(entry, current, entry.path, entry.id)
    gone = entry.path not in current.values
    return at == "owned" or (at == "missing" and wiped) or (at == "adopted" and gone)


def _install_leaf(
    desk: _Desk, want: Wanted, pack: str, version: str, *, force: bool, wiped: bool
) -> None:
    entry = desk.entries.get(want.path)
    current = desk.current.values.get(want.path, _ABSENT)
    at = state(entry, desk.current, want.path)
    if entry is None:
        fresh = Entry(want.path, "leaf", owners={pack: Claim(want.value, version, want.merge)})
        if at == "free":
            desk.write(fresh, want.value, "free")  # 1
        elif same(current, want.value):
            _adopt(desk, fresh, current)  # 3
        else:
            _take_or_keep(desk, fresh, want, want.value, "foreign", force)  # 2
        return
    joined = entry._replace(owners={**entry.owners, pack: Claim(want.value, version, want.merge)})
    desk.entries[want.path] = joined
    value = _wish(joined, pack)
    if at == "adopted" and current is _ABSENT:
        desk.write(joined, value, "adopted-gone")  # 5
    elif at == "adopted" and same(current, value):
        desk.entries[want.path] = joined._replace(written=current)  # 4
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
    desk.entries[entry.path] = entry
    reason = "your value is the wanted one already"
    if any(
        action.action == "take-back" for action in desk.actions
    ):  # 16: most likely ours, which nobody can prove
        reason = "hookctl's record of it is missing, so it counts as yours: uninstall leaves it"
    desk.act("adopt", entry, ("foreign", "adopted"), reason)


def _take_or_keep(
    desk: _Desk, entry: Entry, want: Wanted, value: Any, at: str, force: bool
) -> None:
    """A value that is not ours: kept with a line, or taken over with `before` captured anew."""
    shown = _text(desk.current, want.path)
    if force:
        entry = entry._replace(before=desk.current.raw[want.path])
        desk.write(entry, value, at, reason=f"took over your {shown}")
        return
    key = str(want.path[-1])
    ours = f"wanted {_show(value, key)}"
    if at == "overridden" and not same(entry.written, value):
        ours = f"ours was {_show(entry.written, key)}, now {_show(value, key)}"
    desk.keep(entry, at, f"kept your {shown} ({ours}); --force takes it over")


def _rule(entry: Entry) -> str:
    """The merge rule that all owners have; empty if they have none in common."""
    rules = {claim.merge for claim in entry.owners.values()}
    return rules.pop() if len(rules) == 1 else ""


def _wish(entry: Entry, pack: str = "") -> Any:
    """The value for all owners: by their common rule, else what `pack` wants, else what stays or the last one wants."""
    claims, rule = [claim.value for claim in entry.owners.values()], _rule(entry)
    if rule == "first":
        return claims[0]
    if rule:
        return (max if rule == "max" else min)(claims, key=int)
    if pack:
        return entry.owners[pack].value
    return next((value for value in claims if same(value, entry.written)), claims[-1])


def _over(entry: Entry) -> str:
    """The packs whose wish a value goes against; none where a rule that all have in common decides."""
    if entry.kind != "leaf" or _rule(entry):
        return ""
    lost = {
        pack: claim.value
        for pack, claim in entry.owners.items()
        if not same(claim.value, entry.written)
    }
    named = [
        f"{pack}, which wants {_show(value, str(entry.path[-1]))}" for pack, value in lost.items()
    ]
    return f"over {', and '.join(named)}" if named else ""


def _install_element(
    desk: _Desk, want: Wanted, pack: str, version: str, *, force: bool, wiped: bool
) -> None:
    entry = desk.entries.get(want.id)
    owners = {pack: Claim(want.value, version)}  # alone: the pack's name is in the id
    found = _all(desk.current, want.id)
    if not found:
        fresh = Entry(
            want.path, "element", written=entry and entry.written, owners=owners, id=want.id
        )
        if entry is None or wiped or force:
            desk.write(fresh, want.value, "missing" if entry else "free")  # 1, 12
        else:
            desk.entries[want.id] = fresh
            desk.keep(fresh, "missing", "you removed it; --force writes it again")  # 11
        return
    ours = [element for element in found if _is_ours(element, want, entry)]
    if entry is None and ours:
        entry = _taken_back(desk, want, owners, ours[0])
    elif entry is None and force:
        entry = Entry(want.path, "element", written=want.value, id=want.id)
    elif entry is None:
        desk.keep(
            want, "edited copy", "an edited copy of our hook, left alone; --force replaces it"
        )  # 15a
        return
    _update_element(
        desk, entry._replace(owners=owners), want, (ours or found)[0], ours[1:], force=force
    )
    if len(found) > len(ours) > 0:
        desk.keep(
            desk.entries[want.id], "doubled", "an edited copy of it runs too; remove one of the two"
        )  # 17


def _is_ours(element: HookEntry, want: Wanted, entry: Entry | None = None) -> bool:
    """Whether a command is ours: word for word, or, where the ledger is lost, of a form that we wrote once."""
    command = element.fields.get("command")
    if entry is not None:
        return command in (entry.written["command"], want.value["command"])
    return command == want.value["command"] or bool(re.fullmatch(want.forms, str(command)))


def _taken_back(desk: _Desk, want: Wanted, owners: dict[str, Claim], element: HookEntry) -> Entry:
    """15: an element of a known form is ours again, without a second one."""
    written = {**want.value, "command": element.fields["command"]}
    entry = Entry(want.path, "element", written=written, owners=owners, id=want.id)
    desk.entries[want.id] = entry
    desk.act("take-back", entry, ("orphan", "owned"), _LOST)
    return entry


def _update_element(
    desk: _Desk,
    entry: Entry,
    want: Wanted,
    element: HookEntry,
    further: list[HookEntry],
    *,
    force: bool,
) -> None:
    """Bring an element that is there to what is wanted, field by field, except what the operator changed."""
    current, written, wished = element.fields, entry.written, want.value
    ours = _is_ours(element, want, entry)
    if not ours and not force:
        desk.entries[want.id] = entry
        changed = "" if same(written, wished) else "; the new command was not applied"
        desk.keep(
            entry, "edited copy", f"you edited its command{changed}; --force puts ours back"
        )  # 9b
        return
    if not ours:
        entry = entry._replace(before=desk.current.raw[element.path])  # 9b, 15a
    moves = want.path not in (entry.path, element.path[: len(want.path)])
    edited = _theirs(current, written, moves=moves, force=force, taken=entry.before is not None)
    fields = {name: wished[name] for name in wished if name not in edited}
    # What we wrote into an edited field stays on record: the field stays theirs, also while it is as wanted (10).
    record = fields | {name: written[name] for name in edited if name in written}
    entry = entry._replace(path=want.path, written=record)
    desk.entries[want.id] = entry
    other = [name for name in edited if not _alike(current, wished, name)]
    if other:
        desk.keep(
            entry,
            "overridden",
            f"kept your {_fields(current, other)} (ours: {_fields(wished, other)})",
        )  # 9a
    if moves:
        _move_element(
            desk,
            entry,
            element,
            further,
            fields | {name: current[name] for name in edited if name in current},
        )
    else:
        _edit_element(desk, entry, element, written, edited)
        _follow(desk, entry, further, wished["command"])


def _edit_element(
    desk: _Desk, entry: Entry, element: HookEntry, written: dict[str, Any], edited: list[str]
) -> None:
    """In its place: every field but the edited ones as the pack wants it."""
    current, wished = element.fields, _wish(entry)
    change = [
        name
        for name in {**current, **wished}
        if name not in edited and not _alike(current, wished, name)
    ]
    if change:
        desk.edits.append(EditElement(element, {name: wished.get(name) for name in change}))
        taken = [
            name for name in change if not _alike(current, written, name)
        ]  # none without --force
        left = any(not _alike(current, entry.written, name) for name in edited)
        states = (
            "owned" if same(current, written) else "overridden",
            "overridden" if left else "owned",
        )
        desk.act(
            "replace", entry, states, f"took over your {_fields(current, taken)}" if taken else ""
        )


def _theirs(
    current: dict[str, Any], written: dict[str, Any], *, moves: bool, force: bool, taken: bool
) -> list[str]:
    """The fields that an update leaves to the operator."""
    edited = [] if force else _edited(current, written)
    if (
        taken and not moves
    ):  # the matcher stands in the group, where a text put back would not bring it again
        return [*(name for name in edited if name != "matcher"), "matcher"]
    if (
        moves
    ):  # to a group of its own: a matcher that it had not among hooks of theirs was not taken away
        return [name for name in edited if name in current or name != "matcher"]
    return edited


def _move_element(
    desk: _Desk, entry: Entry, element: HookEntry, further: list[HookEntry], fields: dict[str, Any]
) -> None:
    """To another event: out here and in there, with the fields that the operator changed."""
    if entry.before is None:
        desk.edits.append(DropElement(element))
    else:
        desk.edits.append(Put(element.path, raw=entry.before))
    for double in further:
        desk.remove_copy(entry, double, "it was registered twice")
    desk.write(entry, fields, "owned", reason="it goes to another event")
    desk.entries[entry.id] = entry._replace(before=None)


def _follow(desk: _Desk, entry: Entry, further: list[HookEntry], command: str) -> None:
    """17: no third one; further ones of ours get the command too, else nobody could tell them as ours later."""
    for element in further:
        if element.fields["command"] != command:
            desk.edits.append(EditElement(element, {"command": command}))
            desk.act("replace", entry, ("doubled", "doubled"))
    if further:
        desk.keep(
            entry,
            "doubled",
            "it is registered twice and runs twice; `hookctl doctor --fix` leaves one",
        )


def _rebuild(desk: _Desk, pack: str, version: str, wants: Sequence[Wanted]) -> None:
    """15, 16: the entries of a pack whose page is lost, if a hook shows that it was installed; without any edit."""
    found = False
    for want in wants:
        ours = [element for element in _all(desk.current, want.id) if _is_ours(element, want)]
        if want.id not in desk.entries and ours:
            _taken_back(desk, want, {pack: Claim(want.value, version)}, ours[0])
            found = True
    for want in wants if found else ():
        if want.kind == "leaf":
            _rebuild_leaf(desk, pack, version, want)


def _rebuild_leaf(desk: _Desk, pack: str, version: str, want: Wanted) -> None:
    if want.path not in desk.current.values or not same(desk.current.values[want.path], want.value):
        return
    entry = desk.entries.get(want.path)
    owners = {pack: Claim(want.value, version, want.merge)}
    if entry is None:
        _adopt(desk, Entry(want.path, "leaf", owners=owners), want.value)
    elif pack not in entry.owners:
        joined = entry._replace(owners={**entry.owners, **owners})
        desk.entries[want.path] = joined
        desk.act("share", joined, ("owned", "owned"))


def _leave_orphans(desk: _Desk, pack: str, known: set[Path | str], wants: Sequence[Wanted]) -> None:
    """15, 15a, 16: what an uninstall finds of ours although the ledger does not know it."""
    lost = False
    for want in wants:
        for element in _all(desk.current, want.id) if want.id not in known else ():
            if not _is_ours(element, want):
                desk.keep(want, "edited copy", "an edited copy of our hook; it stays")
                continue
            lost = True
            desk.edits.append(DropElement(element))
            desk.act("remove", want, ("orphan", "free"), _LOST)
    for want in wants:
        here = desk.current.values.get(want.path, _ABSENT)
        if lost and want.kind == "leaf" and want.path not in known and here is not _ABSENT:
            desk.keep(
                want,
                "foreign",
                f"the ledger does not know it and cannot prove that it is {pack}'s, so it stays",
            )


def _name(place: Entry | Wanted) -> _Name:
    return place.id or place.path


def _all(current: Current, id: str) -> list[HookEntry]:
    return [element for element in current.elements if element.id == id]


def _copies(current: Current, entry: Entry) -> list[HookEntry]:
    """The elements of an entry's id whose command is ours word for word."""
    return [
        element
        for element in _all(current, entry.id)
        if element.fields.get("command") == entry.written["command"]
    ]


def _alike(a: dict[str, Any], b: dict[str, Any], name: str) -> bool:
    """Whether two elements agree in a field; one that is null is not one that is absent."""
    return (name in a) == (name in b) and same(a.get(name), b.get(name))


def _edited(current: dict[str, Any], written: dict[str, Any]) -> list[str]:
    """The fields, the command apart, in which an element is not as we wrote it."""
    return [
        name
        for name in {**written, **current}
        if name != "command" and not _alike(current, written, name)
    ]


def _fields(fields: dict[str, Any], names: list[str]) -> str:
    return ", ".join(
        f"{name}={_show(fields[name], name)}" if name in fields else f"no {name}" for name in names
    )


def _text(current: Current, path: Path) -> str:
    return f"{path[-1]}={_masked(path, current.raw[path])}"


def _masked(path: Path, text: str) -> str:
    return MASK if is_secret(str(path[-1])) else masked_text(text)


def _show(value: Any, key: str = "") -> str:
    return json.dumps(masked(value, key), ensure_ascii=False)
