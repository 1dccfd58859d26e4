"""Blocks of rules in the files with instructions for an agent, beside the drafts of settings files.

A block is an entry like any other, of a file with a record of its own, so what people change stays.
Hosts that read the same file share one block: it is removed with the last of them.
"""

from collections.abc import Mapping

from hookctl.model import Action, Claim, Decision, Entry, PackRecord, Wanted
from hookctl.ownership import engine, store
from hookctl.ownership.draft import Draft
from hookctl.ownership.plan import Drafts
from hookctl.ownership.sources import current_of
from hookctl.ownership.store import rules_path
from hookctl.packs import Pack
from hookctl.packs.choices import Choice
from hookctl.settings.targets import GUARD, rules_target
from hookctl.system import files

_YOURS = {
    "foreign": "a block with another text, which hookctl has not written",
    "adopted": "a block with another text, which hookctl has not written",
    "overridden": "you edited it",
    "missing": "you removed it",
}


def install(draft: Draft, drafts: Drafts, pack: Pack, choice: Choice) -> None:
    """Write a pack's block for a host where the pack is installed, or take it out again."""
    if not _wants_rules(pack.name, draft.packs) or not pack.rules:
        leave(draft, drafts, pack.name)
        return
    target = rules_target(draft.target)
    if target is None:
        draft.warn(
            "no_rules_file",
            f"{draft.host.title}: hookctl knows no file with instructions of "
            f"{draft.target.scope} scope, so no rules are written for it",
        )
        return
    _write(drafts.open(target), pack, choice)


def leave(draft: Draft, drafts: Drafts, name: str, pack: Pack | None = None) -> None:
    """Take out a pack's block, unless another host of the record reads it in the same file.

    With `pack`, a block with exactly its text is removed without a record, too.
    """
    target = rules_target(draft.target)
    if target is None:
        return
    key, record = store.find_record(drafts.records, target.path)
    is_recorded = record is not None and any(name in entry.owners for entry in record.entries)
    has_mark = f"<!-- hookctl={name} begin".encode() in (files.read_or_none(target.path) or b"")
    if not is_recorded and (pack is None or not has_mark):
        return
    # Another host may have the pack's rules, and read them in the same file.
    asked = [other for other in drafts.asked if other is not draft]
    targets = [rules_target(other.target) for other in asked if _wants_rules(name, other.packs)]
    paths = [other.path for other in targets if other]
    records, keys = drafts.records, {each.key for each in drafts.asked}
    others = [other for other in records if _wants_rules(name, records[other].packs)]
    paths += [rules_path(records, other) for other in others if other not in keys]
    if key in map(store.real_path, paths):
        return
    file = drafts.open(target)
    if pack is not None and not is_recorded:
        _take_back(file, pack)
    visible = _entries_of(file, name)
    if visible:
        decision = engine.uninstall(
            visible, current_of(file.host, file.document, (), visible), name
        )
        file.apply_decision(_in_plain_words(file, decision), visible)


def _take_back(file: Draft, pack: Pack) -> bool:
    """Record a block without a record that has exactly a pack's text; whether there is one."""
    if file.document.get((pack.name,)) != pack.rules:
        return False
    owners = {pack.name: Claim(pack.rules)}
    file.entries += (Entry((pack.name,), "leaf", written=pack.rules, owners=owners),)
    return True


def _write(file: Draft, pack: Pack, choice: Choice) -> None:
    want = Wanted((pack.name,), "leaf", pack.rules)
    visible = _entries_of(file, pack.name)
    if not visible and _take_back(file, pack):
        reason = "hookctl's record of it is missing"
        action = Action("take-back", want.path, from_state="orphan", to_state="owned")
        file.actions.append(action._replace(reason=reason, owners=(pack.name,)))
        return
    current = current_of(file.host, file.document, [want], visible)
    is_gone = bool(visible) and engine.is_wiped(visible, current)
    is_asked = choice.force or choice.settings.rules
    if is_gone and file.document.data.strip() and not is_asked:
        # In a file that still exists, the operator removed it: it does not come back by itself.
        reason = f"{_YOURS['missing']}; --force writes it again"
        line = Action("keep", want.path, "leaf", "", "missing", "missing", reason, (pack.name,))
        file.actions.append(line)
        return
    file.is_recreated = file.was_written_since and is_gone
    force = choice.force and file.document.is_clear(pack.name)
    decision = engine.install(visible, current, pack.name, [want], force=force)
    decision = _in_plain_words(file, decision, "; --force writes hookctl's")
    file.apply_decision(decision, visible)


def _entries_of(file: Draft, pack: str) -> tuple[Entry, ...]:
    return tuple(entry for entry in file.entries if pack in entry.owners)


def _in_plain_words(file: Draft, decision: Decision, hint: str = "") -> Decision:
    """The decision, with reasons that contain no text of the file."""
    lines = []
    for action in decision.actions:
        reason = action.reason
        if action.action == "keep" and not file.document.is_clear(action.path[0]):
            reason = "its marker lines do not make one block"
        elif action.action == "keep":
            reason = _YOURS.get(action.from_state, reason) + hint
        elif action.action == "replace" and action.to_state == "foreign":
            reason = "back to your text"
        elif action.action == "replace" and action.from_state != "owned":
            reason = "took over your text"
        lines.append(action._replace(reason=reason))
    return decision._replace(actions=tuple(lines))


def _wants_rules(name: str, packs: Mapping[str, PackRecord]) -> bool:
    """Whether an installed pack may have a block: the guard only where that was asked for."""
    if name not in packs:
        return False
    return name != GUARD or packs[name].settings.get("rules") is True
