"""What an uninstall of packs does."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import partial
from typing import NamedTuple

from hookctl import engine
from hookctl.documents import MISSING, formats
from hookctl.errors import HookctlError
from hookctl.hosts import shapes
from hookctl.ledger import committed, store
from hookctl.ledger.committed import Records
from hookctl.masking import masked, masked_text
from hookctl.model import Action, DropElement, Entry, PackRecord, Wanted
from hookctl.packs import guard
from hookctl.packs.choices import settings_from
from hookctl.packs.model import Pack
from hookctl.packs.wrapping import wraps
from hookctl.planner import runtime_files
from hookctl.planner.approvals import Approvals
from hookctl.planner.draft import Draft, finish, settle
from hookctl.planner.plan import Plan, assemble
from hookctl.planner.wraps import entries_but_wraps, unwrap
from hookctl.settings.sources import Sources
from hookctl.settings.targets import GUARD, Target, in_sh, pack_folder
from hookctl.system import files


class Leaving(NamedTuple):
    """A settings file that packs leave, and the key of its record where it goes by that."""

    target: Target
    packs: tuple[str, ...]
    key: str = ""


def plan_uninstall(
    sources: Sources,
    leaving: Iterable[Leaving],
    loaded: Mapping[str, Pack],
    projects: Iterable[str] = (),
) -> Plan:
    """What taking packs out of these places would do; `loaded` are those whose file is at hand, for orphans of them."""
    folders = sources.folders
    records = committed.read(folders, projects)
    leaving = tuple(leaving)
    drafts = [_draft(sources, records, each, loaded) for each in leaving]
    approvals = Approvals(sources, records, drafts)
    for draft, each in zip(drafts, leaving, strict=True):
        approvals.uninstall(draft, each.packs)
    return assemble(
        folders, records, [finish(records, draft) for draft in approvals.drafts], install=False
    )


def _draft(
    sources: Sources, records: Records, leaving: Leaving, loaded: Mapping[str, Pack]
) -> Draft:
    """The draft of one settings file without the packs; a refusal names what to remove by hand."""
    target = leaving.target
    decide = partial(_decide, records, leaving.packs, loaded)
    key, record = store.find_record(records, target.path)
    if leaving.key and key != leaving.key:
        # The file of another record stands where this one's was: there is nothing left to edit.
        document = formats.parse(target.host.format, b"", where=leaving.key)
        draft = Draft(
            sources,
            target,
            files.Snapshot(leaving.key, None),
            document,
            leaving.key,
            records[leaving.key],
        )
        decide(draft)
        return draft
    try:
        sources.read(target.path, target.host.format)
    except HookctlError as error:
        raise _by_hand(error, record.entries if record else (), leaving.packs) from None
    return settle(sources, records, target, decide)


def _decide(
    records: Records, packs: tuple[str, ...], loaded: Mapping[str, Pack], draft: Draft
) -> None:
    """Take the packs out, the last one in the file first, and then their files."""
    known = dict(draft.packs)
    if GUARD in packs:
        unwrap(draft)
    for name in reversed(packs):
        wants = _wants(records, draft, loaded.get(name))
        try:
            _take_out(draft, name, wants)
        except HookctlError as error:
            raise _by_hand(error, draft.entries, packs) from None
        draft.packs.pop(name, None)
    draft.kept += _places_kept_empty(draft)
    _remove_files(records, packs, known, draft)


def _wants(records: Records, draft: Draft, pack: Pack | None) -> list[Wanted]:
    """What the pack would want here, which tells its hooks where the ledger is lost."""
    if pack is None:
        return []
    known = draft.packs.get(pack.name)
    if pack.name != GUARD:
        from hookctl.packs.wants import wants as pack_wants

        folder = known.folder if known else _usual_folder(records, draft, pack.name)
        return pack_wants(pack, draft.host, in_sh(draft.target, folder))[0]
    folder = known.folder if known else draft.orphaned or _usual_folder(records, draft, GUARD)
    settings = guard.everything(settings_from(known.settings if known else {}))
    return guard.wants(settings, draft.target, pack, folder, guard.wanted_limit(settings))


def _usual_folder(records: Records, draft: Draft, pack: str) -> str:
    return pack_folder(draft.folders, draft.target, pack, records, draft.key)


def _take_out(draft: Draft, pack: str, wants: list[Wanted]) -> None:
    """Decide what one pack leaves behind in the file."""
    # Without a record only a hook of ours can be told; then nothing else must have a shape.
    root = draft.document.value if isinstance(draft.document.value, dict) else {}
    ids = {element.id for element in shapes.elements(draft.host.shape, root)}
    is_orphan = draft.record is None and any(want.id in ids for want in wants)
    visible = entries_but_wraps(draft)
    current = draft.look(wants if is_orphan else (), visible)
    draft.take(engine.uninstall(visible, current, pack, wants), visible)


def _places_kept_empty(draft: Draft) -> list[Action]:
    """A line for each place that stays empty where a hook was, since the host knows those behind it by their places."""
    if not draft.host.shape.positions:
        return []
    gone = [edit.element for edit in draft.edits if isinstance(edit, DropElement)]
    stays = [element for element in gone if draft.document.get(element.path[:-2]) is not MISSING]
    reason = f"an empty place stays, since {draft.host.title} trusts the hooks behind it by their position"
    return [
        Action("keep", element.path, "element", element.id, "owned", "free", reason)
        for element in stays
    ]


def _remove_files(
    records: Records, packs: tuple[str, ...], known: Mapping[str, PackRecord], draft: Draft
) -> None:
    """The packs' files go, unless another registration uses them."""
    in_use = {
        pack.folder
        for key, record in records.items()
        if key != draft.key
        for pack in record.packs.values()
    }
    for name in packs:
        installed = known.get(name)
        if installed is None and name == GUARD and draft.edits:
            folder = draft.orphaned or _usual_folder(records, draft, GUARD)
            installed = runtime_files.unknown_page(draft.folders, draft.target, folder)
            # Nobody knows any more who made the topmost one.
            draft.rmdirs.append(runtime_files.own_top(draft.folders, draft.target))
        if installed is not None:
            draft.use_files(runtime_files.uninstall(draft.folders, draft.target, installed, in_use))


def _by_hand(
    error: HookctlError, entries: tuple[Entry, ...], packs: tuple[str, ...]
) -> HookctlError:
    """The same refusal with what to remove by hand: what nobody but these packs has in the file."""
    going = [
        entry
        for entry in entries
        if entry.kind != "container" and entry.owners.keys() <= set(packs)
    ]
    ours = [
        f"in {'.'.join(map(str, entry.path))}: {json.dumps(masked(entry.written), ensure_ascii=False)}"
        + (f", and put back {masked_text(entry.before or '')}" if wraps(entry.id) else "")
        if entry.id
        else f"in {'.'.join(map(str, entry.path[:-1]))}: {json.dumps(masked({entry.path[-1]: entry.written}))[1:-1]}"
        for entry in going
        if entry.mode == "owned"
    ]
    if ours:
        error.hint = "\n  ".join([f"{error.hint} Or remove by hand:".strip(), *ours])
    return error
