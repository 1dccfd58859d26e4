"""The ownership table: decides what to change in one settings file.

It has three states of a file: `entries`, what hookctl last wrote; `current`, what stands there now;
`wants`, what a pack wants to stand there. It is pure: it opens nothing, asks no clock and reads no
environment. The numbers in the comments are the rows of the table in docs/ownership.md.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hookctl.masking import MASK, is_secret, masked, masked_text
from hookctl.model import (
    WRAP,
    Action,
    AddHook,
    Claim,
    Current,
    Decision,
    DropHook,
    DropValue,
    Edit,
    EditHook,
    Entry,
    HookEntry,
    Path,
    Prune,
    Put,
    Wanted,
)

_ABSENT = object()
_NO_RECORD = "hookctl's record of it is missing; it is known by its name"
_REMOVED_BY_YOU = "you removed it; --force writes it again"


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal: key order does not count; 1, 1.0 and true differ."""
    first, second = (json.dumps(value, sort_keys=True, default=repr) for value in (a, b))
    return first == second


def install(
    entries: Sequence[Entry],
    current: Current,
    pack: str,
    wants: Sequence[Wanted],
    *,
    force: bool = False,
    others: bool = True,
    restores: bool = False,
) -> Decision:
    """What an install of `pack` does to one file; if there are conflicts, only these.

    Without `others`, a wipe brings back no entry of another pack: the ledger is not trusted. With
    `restores`, the pack comes back where it alone was wiped.
    """
    builder = _DecisionBuilder(entries, current, pack, force=force)
    names = {want.id or want.path for want in wants}
    for name, entry in list(builder.entries.items()):
        if pack in entry.owners and name not in names:  # 8
            builder.leave(entry)
    # Asked after that, else a second install would differ from the first.
    builder.wiped = is_wiped(builder.entries.values(), current)
    others = others and builder.wiped
    if restores:
        own = [entry for entry in builder.entries.values() if pack in entry.owners]
        builder.wiped = builder.wiped or is_wiped(own, current)
    for want in wants:
        if want.value_after is not None:
            decider = current.values.get(want.follows)
            for edit in builder.edits:
                if isinstance(edit, Put) and edit.path == want.follows:
                    decider = edit.value
            if decider is not None:
                want = want._replace(value=want.value_after(decider))
        if want.kind == "element":
            _install_element(builder, want)
        else:
            _install_leaf(builder, want)
    if builder.conflicts:
        return Decision(entries=tuple(entries), conflicts=builder.conflicts)
    if others:
        # 12: with one pack written alone, the others' entries would look removed one by one.
        for name, entry in list(builder.entries.items()):
            if name in names or entry.mode != "owned" or entry.id.startswith(WRAP):
                continue
            value = claimed_value(entry.owners, written=entry.written)
            reason = "all our entries were gone"
            builder.write(entry._replace(before=None), value, "missing", reason=reason)
    return builder.decision()


def uninstall(
    entries: Sequence[Entry], current: Current, pack: str, wants: Sequence[Wanted] = ()
) -> Decision:
    """What an uninstall of `pack` does to one file; `wants` finds hooks without a record."""
    builder = _DecisionBuilder(entries, current, pack)
    for entry in [one for one in builder.entries.values() if pack in one.owners]:
        builder.leave(entry)
    # 15, 15a, 16: our hooks that the ledger does not know go, and the keys are named.
    known = {entry.id or entry.path for entry in entries}
    unknown = [want for want in wants if (want.id or want.path) not in known]
    has_orphan = False
    for want in unknown:
        for hook in current.hooks.get(want.id, []):
            if _is_ours(hook, want):
                has_orphan = True
                builder.edits.append(DropHook(hook))
                builder.act("remove", want, ("orphan", "free"), _NO_RECORD)
            else:
                builder.keep(want, "edited copy", "an edited copy of our hook; it stays")
    for want in unknown if has_orphan else ():
        if want.kind == "leaf" and want.path in current.values:
            reason = f"hookctl has no record of it and cannot prove that it is {pack}'s"
            builder.keep(want, "foreign", f"{reason}, so it stays")
    return builder.decision()


def state(entry: Entry | None, current: Current, path: Path, id: str = "") -> str:
    """The state of one entry in the table's words; `missing` may mean that alone or a wipe."""
    hooks = current.hooks.get(id, []) if id else []
    is_absent = not hooks if id else path not in current.values
    if entry is None and is_absent:
        return "free"
    if entry is None:
        return "orphan" if id else "foreign"
    if entry.mode == "adopted":
        return "adopted"
    if is_absent:
        return "missing"
    if not id:
        is_owned = same(current.values[path], entry.written)
    else:
        copies = _copies(hooks, entry)
        hook = copies[0] if copies else hooks[0]
        if id.startswith(WRAP):
            is_owned = hook.fields["command"] == entry.written["command"]
        else:
            is_owned = same(hook.fields, entry.written)
    return "owned" if is_owned else "overridden"


def list_above(paths: Iterable[Path]) -> set[Path]:
    """These paths, and those of all that contains them."""
    return {path[:length] for path in paths for length in range(1, len(path) + 1)}


def is_wiped(entries: Iterable[Entry], current: Current) -> bool:
    """Whether every entry that we wrote is missing: a host or a person reset the file.

    Hooks that we only wrap do not count: they come and go with their tools.
    """
    ours = [entry for entry in entries if entry.kind != "container" and entry.mode == "owned"]
    ours = [entry for entry in ours if not entry.id.startswith(WRAP)]
    missing = [one for one in ours if state(one, current, one.path, one.id) == "missing"]
    return bool(ours) and missing == ours


class _DecisionBuilder:
    """A decision in the making: the entries, edits and lines of the report so far."""

    def __init__(
        self,
        entries: Sequence[Entry],
        current: Current,
        pack: str = "",
        *,
        force: bool = False,
    ) -> None:
        self.current = current
        self.pack, self.force = pack, force
        self.wiped = False  # whether all entries that the pack still wants are gone
        containers = [entry for entry in entries if entry.kind == "container"]
        self.containers = {entry.path: entry for entry in containers}
        # By a leaf's path, or by a hook's id under whatever event it stands.
        self.entries: dict[Path | str, Entry] = {
            entry.id or entry.path: entry for entry in entries if entry.kind != "container"
        }
        self.edits: list[Edit] = []
        self.actions: list[Action] = []
        self.conflicts: dict[Path, dict[str, Any]] = {}

    def act(
        self, action: str, entry: Entry | Wanted, states: tuple[str, str], reason: str = ""
    ) -> None:
        """Report an action that takes an entry from one state to another, or leaves it."""
        owners = tuple(entry.owners) if isinstance(entry, Entry) else ()
        line = Action(action, entry.path, entry.kind, entry.id, *states, reason, owners)
        self.actions.append(line)

    def keep(self, entry: Entry | Wanted, entry_state: str, reason: str) -> None:
        """Report that an entry is left as it is."""
        self.act("keep", entry, (entry_state, entry_state), reason)

    def write(self, entry: Entry, value: Any, from_state: str, *, reason: str = "") -> None:
        """Write a leaf or a new element; `entry` has its `before` and owners already."""
        written = entry._replace(mode="owned", written=value)
        self.entries[entry.id or entry.path] = written
        above = entry.path
        if entry.kind == "element":
            self.edits.append(AddHook(entry.path, value))
        else:
            self.edits.append(Put(entry.path, value))
            above = entry.path[:-1]
        for length in range(1, len(above) + 1):  # what of them is missing in the file, or null
            container = above[:length]
            null = self.current.raw.get(container)
            if container not in self.current.values or null is not None:
                self.containers[container] = Entry(container, "container", before=null)
        action = "write" if from_state in ("free", "missing", "adopted-gone") else "replace"
        others = []  # that want another value, and no common rule decides
        if entry.kind == "leaf" and not common_rule(entry.owners):
            others = [pack for pack, one in entry.owners.items() if not same(one.value, value)]
        over = f"over {' and '.join(others)}" if others else ""
        self.act(action, written, (from_state, "owned"), "; ".join(filter(None, (reason, over))))

    def leave(self, entry: Entry) -> None:
        """Take the pack out of the owners; without owners, put back what was there before."""
        owners = {name: claim for name, claim in entry.owners.items() if name != self.pack}
        entry_state = state(entry, self.current, entry.path, entry.id)
        if owners:
            entry = entry._replace(owners=owners)
            self.entries[entry.id or entry.path] = entry
            value = claimed_value(owners, written=entry.written)
            if entry_state == "owned" and not same(value, entry.written):
                self.write(entry, value, "owned", reason="the remaining pack's value")
            else:
                reason = "another pack still wants it"
                self.act("drop", entry, (entry_state, entry_state), reason)  # 14
            return
        del self.entries[entry.id or entry.path]
        if entry_state == "missing":
            self.act("drop", entry, ("missing", "free"), "it was gone already")  # 11, 12
        elif entry.mode == "adopted":
            self.act("drop", entry, ("adopted", "foreign"), "it counts as yours and stays")  # 4, 6
        elif entry.kind == "element":
            self._remove_elements(entry)
        elif entry_state == "overridden":
            shown = _mask_text(entry.path, self.current.raw[entry.path])
            self.keep(entry, "overridden", f"your value is {shown}")  # 9
        elif entry.before is None:
            self.edits.append(DropValue(entry.path))
            self.act("remove", entry, ("owned", "free"))  # 7
        else:
            self.edits.append(Put(entry.path, raw=entry.before))
            reason = f"back to {_mask_text(entry.path, entry.before)}"
            self.act("replace", entry, ("owned", "foreign"), reason)  # 7

    def _remove_elements(self, entry: Entry) -> None:
        """Remove every hook with exactly our command, whatever was edited in its other fields."""
        hooks = self.current.hooks.get(entry.id, [])
        copies = _copies(hooks, entry)
        for hook in hooks:
            if hook not in copies:
                self.keep(entry, "edited copy", "its command was edited, so it stays")
            elif entry.before is not None and hook == copies[0]:
                # --force took over a command of the operator's.
                self.edits.append(Put(hook.path, raw=entry.before))
                self.act("replace", entry, ("owned", "edited copy"), "back to your command")
            else:
                self.remove_copy(entry, hook)  # 7, 17, 18

    def remove_copy(self, entry: Entry, hook: HookEntry, reason: str = "") -> None:
        edited = _edited_fields(hook.fields, entry.written)
        self.edits.append(DropHook(hook))
        from_state, reasons = "owned", [reason] if reason else []
        if edited:  # 9a
            from_state = "overridden"
            reasons.append(f"removed with the hook: your {_show_fields(hook.fields, edited)}")
        self.act("remove", entry, (from_state, "free"), "; ".join(reasons))

    def decision(self) -> Decision:
        """The decision; our containers that nothing needs any more are pruned."""
        used = list_above(entry.path for entry in self.entries.values())
        unused = [path for path in self.containers if path not in used]
        for path in sorted(unused, key=len, reverse=True):  # only an empty one goes
            container = self.containers.pop(path)
            if path in self.current.values:
                self.edits.append(Prune(path, container.before))
        entries = (*self.entries.values(), *self.containers.values())
        return Decision(tuple(self.edits), entries, tuple(self.actions))


def _is_conflict(entry: Entry, pack: str, want: Wanted, others: Mapping[str, Claim]) -> bool:
    """13: whether packs want a value of ours differently, and have no common merge rule."""
    if want.merge and all(claim.merge == want.merge for claim in others.values()):
        return False
    claim = entry.owners.get(pack)
    is_claimed = claim and claim.merge == want.merge and same(claim.value, want.value)
    if is_claimed and same(want.value, entry.written):
        return False  # written before, with --force: the other pack must ask now
    return not all(same(claim.value, want.value) for claim in others.values())


def _install_leaf(builder: _DecisionBuilder, want: Wanted) -> None:
    entry, pack = builder.entries.get(want.path), builder.pack
    claim = Claim(want.value, want.merge)
    current = builder.current.values.get(want.path, _ABSENT)
    leaf_state = state(entry, builder.current, want.path)
    if entry is None:
        joined = Entry(want.path, "leaf", owners={pack: claim})
        if leaf_state == "free":
            builder.write(joined, want.value, "free")  # 1
        elif same(current, want.value):
            joined = joined._replace(mode="adopted", written=current)  # 3
            builder.entries[want.path] = joined
            reason = "your value is the wanted one already"  # 16: ours, too, without a record
            builder.act("adopt", joined, ("foreign", "adopted"), reason)
        else:
            _take_or_keep(builder, joined, want.value, "foreign")  # 2
        return
    is_gone = leaf_state == "adopted" and current is _ABSENT
    is_writable = is_gone or leaf_state == "owned" or (leaf_state == "missing" and builder.wiped)
    others = {name: other for name, other in entry.owners.items() if name != pack}
    if others and is_writable and not builder.force and _is_conflict(entry, pack, want, others):
        values = {name: other.value for name, other in others.items()}
        builder.conflicts[want.path] = {**values, pack: want.value}
        return
    joined = entry._replace(owners={**entry.owners, pack: claim})
    builder.entries[want.path] = joined
    value = claimed_value(joined.owners, pack)
    if is_gone:
        builder.write(joined, value, "adopted-gone")  # 5
    elif leaf_state == "adopted" and same(current, value):
        builder.entries[want.path] = joined._replace(written=current)  # 4
    elif leaf_state == "adopted":
        _take_or_keep(builder, joined, value, "adopted")  # 4, 6
    elif leaf_state == "missing":
        if builder.wiped or builder.force:
            builder.write(joined._replace(before=None), value, "missing")  # 11, 12
        else:
            builder.keep(joined, "missing", _REMOVED_BY_YOU)  # 11
    elif leaf_state == "overridden":
        if builder.force or not same(current, value):
            _take_or_keep(builder, joined, value, "overridden")  # 9; 10 says nothing
    elif not same(current, value):
        builder.write(joined, value, "owned")  # 7, upgrade
    elif pack not in entry.owners:
        builder.act("share", joined, ("owned", "owned"))  # 14


def _take_or_keep(builder: _DecisionBuilder, entry: Entry, value: Any, leaf_state: str) -> None:
    """Keep a value that is not ours, or with --force replace it and remember it as `before`."""
    key = str(entry.path[-1])
    shown = f"{key}={_mask_text(entry.path, builder.current.raw[entry.path])}"
    if builder.force:
        entry = entry._replace(before=builder.current.raw[entry.path])
        builder.write(entry, value, leaf_state, reason=f"took over your {shown}")
        return
    reason = f"kept your {shown}; --force sets {show(value, key)}"
    if leaf_state == "overridden" and not same(entry.written, value):
        reason += f", hookctl had set {show(entry.written, key)}"
    builder.keep(entry, leaf_state, reason)


def common_rule(claims: Mapping[str, Claim]) -> str:
    """The merge rule that all of these claims have; empty if they have none in common."""
    rules = {claim.merge for claim in claims.values()}
    return rules.pop() if len(rules) == 1 else ""


def claimed_value(claims: Mapping[str, Claim], pack: str = "", written: Any = None) -> Any:
    """What packs get of a value that they claim: by their common rule, else what `pack` wants.

    Without a pack it is the written value if one of them wants that, else what the last one wants.
    """
    values = [claim.value for claim in claims.values()]
    rule = common_rule(claims)
    if rule == "first":
        return values[0]
    if rule == "max":
        return max(values, key=int)
    if rule == "min":
        return min(values, key=int)
    if pack:
        return claims[pack].value
    return next((value for value in values if same(value, written)), values[-1])


def _install_element(builder: _DecisionBuilder, want: Wanted) -> None:
    entry = builder.entries.get(want.id)
    # One owner: the pack's name is in the id.
    owners = {builder.pack: Claim(want.value)}
    new = Entry(want.path, "element", written=want.value, owners=owners, id=want.id)
    hooks = builder.current.hooks.get(want.id, [])
    ours = [hook for hook in hooks if _is_ours(hook, want, entry)]
    if not hooks and (entry is None or builder.wiped or builder.force):
        builder.write(new, want.value, "free" if entry is None else "missing")  # 1, 11, 12
        return
    if entry is not None and not hooks:
        builder.entries[want.id] = kept = new._replace(written=entry.written)
        builder.keep(kept, "missing", _REMOVED_BY_YOU)  # 11
        return
    if entry is None and ours:
        # 15: recorded as ours again, instead of adding a second one.
        entry = new._replace(written={**want.value, "command": ours[0].fields["command"]})
        builder.act("take-back", entry, ("orphan", "owned"), _NO_RECORD)
    elif entry is None and builder.force:
        entry = new
    elif entry is None:
        reason = "an edited copy of our hook, left alone; --force replaces it"
        builder.keep(want, "edited copy", reason)  # 15a
        return
    hook = ours[0] if ours else hooks[0]
    _update_element(builder, entry._replace(owners=owners), want, hook, ours[1:])
    if ours and len(hooks) > len(ours):
        reason = "an edited copy of it runs too; remove one of the two"
        builder.keep(builder.entries[want.id], "doubled", reason)  # 17


def _is_ours(hook: HookEntry, want: Wanted, entry: Entry | None = None) -> bool:
    """Whether a hook has our command; without a record, one of a form that we once wrote."""
    command = hook.fields.get("command")
    if entry is not None:
        return command in (entry.written["command"], want.value["command"])
    return command == want.value["command"] or bool(re.fullmatch(want.forms(), str(command)))


def _update_element(
    builder: _DecisionBuilder,
    entry: Entry,
    want: Wanted,
    hook: HookEntry,
    duplicates: list[HookEntry],
) -> None:
    """Change a hook to what is wanted, field by field, except what the operator edited."""
    if not _is_ours(hook, want, entry):
        if not builder.force:  # 9b
            builder.entries[want.id] = entry
            reason = "you edited its command"
            if not same(entry.written, want.value):
                reason += "; the new command was not applied"
            builder.keep(entry, "edited copy", f"{reason}; --force puts ours back")
            return
        entry = entry._replace(before=builder.current.raw[hook.path])  # 9b, 15a
    written = entry.written
    moves = want.path not in (entry.path, hook.path[: len(want.path)])
    theirs = [] if builder.force else _edited_fields(hook.fields, written)
    if moves:
        # It moves to a group of its own. Among other hooks it may have had no matcher, which
        # does not mean that the operator took it away.
        theirs = [name for name in theirs if name in hook.fields or name != "matcher"]
    elif entry.before is not None:
        # The matcher stands in the group, where `before` would not bring it back.
        theirs = [*(name for name in theirs if name != "matcher"), "matcher"]
    ours = {name: value for name, value in want.value.items() if name not in theirs}
    kept = {name: written[name] for name in theirs if name in written}
    # What we wrote into an edited field stays on record, so that the field stays theirs even while
    # it has the wanted value (10).
    entry = entry._replace(path=want.path, written=ours | kept)
    builder.entries[want.id] = entry
    different = [name for name in theirs if not _is_same_field(hook.fields, want.value, name)]
    if different:
        yours, wanted = (_show_fields(each, different) for each in (hook.fields, want.value))
        builder.keep(entry, "overridden", f"kept your {yours} (ours: {wanted})")  # 9a
    if moves:
        fields = ours | {name: hook.fields[name] for name in theirs if name in hook.fields}
        if entry.before is None:
            builder.edits.append(DropHook(hook))
        else:
            builder.edits.append(Put(hook.path, raw=entry.before))
        builder.write(entry, fields, "owned", reason="it moves to another event")
        builder.entries[entry.id] = entry._replace(before=None)
    else:
        _edit_element(builder, entry, hook, written, theirs)
    for duplicate in duplicates:  # 17
        builder.remove_copy(entry, duplicate, "it was registered twice")


def _edit_element(
    builder: _DecisionBuilder,
    entry: Entry,
    hook: HookEntry,
    written: dict[str, Any],
    theirs: list[str],
) -> None:
    """Change every field that is not theirs to what the pack wants, without moving the hook."""
    current, wanted = hook.fields, claimed_value(entry.owners, written=entry.written)
    ours = [name for name in {**current, **wanted} if name not in theirs]
    changed = [name for name in ours if not _is_same_field(current, wanted, name)]
    if not changed:
        return
    builder.edits.append(EditHook(hook, {name: wanted.get(name) for name in changed}))
    from_state = "owned" if same(current, written) else "overridden"
    is_edited = any(not _is_same_field(current, entry.written, name) for name in theirs)
    to_state = "overridden" if is_edited else "owned"
    taken = [name for name in changed if not _is_same_field(current, written, name)]
    # Only with --force:
    reason = f"took over your {_show_fields(current, taken)}" if taken else ""
    builder.act("replace", entry, (from_state, to_state), reason)


def _copies(hooks: list[HookEntry], entry: Entry) -> list[HookEntry]:
    """The hooks with exactly our command, of those with an entry's id."""
    return [hook for hook in hooks if hook.fields.get("command") == entry.written["command"]]


def _is_same_field(a: dict[str, Any], b: dict[str, Any], name: str) -> bool:
    """Whether two hooks agree in a field; a null field differs from an absent one."""
    return (name in a) == (name in b) and same(a.get(name), b.get(name))


def _edited_fields(current: dict[str, Any], written: dict[str, Any]) -> list[str]:
    names = [name for name in {**written, **current} if name != "command"]
    return [name for name in names if not _is_same_field(current, written, name)]


def _show_fields(fields: dict[str, Any], names: list[str]) -> str:
    there = {name: f"{name}={show(fields[name], name)}" for name in names if name in fields}
    return ", ".join(there.get(name, f"no {name}") for name in names)


def _mask_text(path: Path, text: str) -> str:
    return MASK if is_secret(str(path[-1])) else masked_text(text)


def show(value: Any, key: str = "") -> str:
    """A value as JSON; a secret one is masked."""
    return json.dumps(masked(value, key), ensure_ascii=False)
