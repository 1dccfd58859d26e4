"""What an uninstall of packs does."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hookctl import engine, files, ledger, project_ledger, runtime_files
from hookctl.documents import MISSING, Document, formats
from hookctl.errors import HookctlError
from hookctl.folders import Folders
from hookctl.hosts import Host, shapes
from hookctl.live import look, read_document
from hookctl.masking import masked, masked_text
from hookctl.model import Action, Decision, DropElement, Entry, PackRecord, Path, Record, Want
from hookctl.packs import guard
from hookctl.packs.model import Pack
from hookctl.packs.settings import settings_from
from hookctl.packs.wrapping import wraps
from hookctl.places import GUARD, Place, in_sh, pack_folder
from hookctl.planner import FilePlan, Plan, assemble, gaps, is_exact, next_record, page_for, with_top
from hookctl.planner.trust import Approvals
from hookctl.planner.wraps import unwrap


class Leaving(NamedTuple):
    """A place that packs leave, and the key of its page where it goes by that."""

    place: Place
    packs: tuple[str, ...]
    key: str = ""


def plan_uninstall(
    folders: Folders, leaving: Iterable[Leaving], loaded: Mapping[str, Pack], projects: Iterable[str] = ()
) -> Plan:
    """What taking packs out of these places would do; `loaded` are those whose file is at hand, for orphans of them."""
    records = project_ledger.read(folders, projects)
    leaving = tuple(leaving)
    plans = [_one(folders, records, one, loaded) for one in leaving]
    approvals = Approvals(folders, records, plans)
    for plan, one in zip(plans, leaving, strict=True):
        approvals.uninstall(plan, one.packs)
    return assemble(folders, records, approvals.finish(plans), install=False)


def _one(folders: Folders, records: Mapping[str, Record], leaving: Leaving, loaded: Mapping[str, Pack]) -> FilePlan:
    place = leaving.place
    key, record = ledger.page_of(records, place.path)
    if leaving.key and key != leaving.key:
        # The file of another page stands where this one's was: there is nothing left to edit.
        key, record, orphaned = leaving.key, records[leaving.key], ""
        snapshot, document = files.Snapshot(key, None), formats.parse(place.host.format, b"", where=key)
    else:
        try:
            snapshot, document = read_document(place.path, place.host.format)
        except HookctlError as error:
            raise _by_hand(error, record.entries if record else (), leaving.packs) from None
        key, record, orphaned = page_for(folders, records, place, document)
    edited, decision = document, Decision(entries=record.entries if record else ())
    if GUARD in leaving.packs:
        wrapped = unwrap(place.host, document, decision.entries)
        edited = shapes.apply(place.host.shape, document, wrapped.edits)
        decision = wrapped.beside(Decision(entries=wrapped.others))
    exact = record is not None and is_exact(record, snapshot)
    known = record.gaps if record else ()
    for pack in reversed(leaving.packs):
        wants = _wants(folders, records, place, record, loaded.get(pack), orphaned, key)
        ours = gaps.left(known, place.host, document, edited)
        try:
            edited, step = _leave(place.host, edited, decision.entries, pack, wants, record is not None, exact, ours)
        except HookctlError as error:
            raise _by_hand(error, decision.entries, leaving.packs) from None
        decision = _then(decision, step)
    decision = decision._replace(kept=(*decision.kept, *_placeholders(place.host, decision, edited)))
    left = {name: page for name, page in (record.packs if record else {}).items() if name not in leaving.packs}
    after = _bytes_after(folders, snapshot, edited, decision, record, left)
    if record is None and not after and place.host.format == "plugin":
        after = None  # nobody but us writes such a file
    result = next_record(record, place, snapshot, after, decision, left) if record and left else None
    result = result._replace(gaps=gaps.left(known, place.host, document, edited)) if result else None
    runtime = _files(folders, records, leaving, key, record, orphaned, bool(decision.edits))
    dirs = sorted(record.created_dirs, key=len, reverse=True) if record and not left else ()
    return FilePlan(place, document, after, snapshot.path, snapshot.data, result,
                    decision._replace(kept=(*decision.kept, *runtime.kept)), runtime.changes, runtime.actions, key,
                    (*runtime.rmdirs, *dirs))  # fmt: skip


def _wants(
    folders: Folders, records: Mapping[str, Record], place: Place, record: Record | None, pack: Pack | None,
    orphaned: str, key: str,
) -> list[Want]:  # fmt: skip
    """What the pack would want here, which tells its elements where the ledger is lost."""
    if pack is None:
        return []
    known = record.packs.get(pack.name) if record else None
    if pack.name != GUARD:
        from hookctl.packs.wants import wants as pack_wants

        folder = known.folder if known else pack_folder(folders, place, pack.name, records, key)
        return pack_wants(pack, place.host, in_sh(place, folder))[0]
    folder = known.folder if known else orphaned or pack_folder(folders, place, GUARD, records, key)
    settings = guard.everything(settings_from(known.settings if known else {}))
    return guard.wants(settings, place, pack, folder, guard.wanted_limit(settings))


def _leave(
    host: Host, document: Document, entries: tuple[Entry, ...], pack: str, wants: list[Want], known: bool,
    exact: bool, ours: tuple[Path, ...],
) -> tuple[Document, Decision]:  # fmt: skip
    """The document without one pack."""
    # Without a page in the ledger only an element of ours can be told; then nothing else must have a shape.
    root = document.value if isinstance(document.value, dict) else {}
    there = {element.id for element in shapes.elements(host.shape, root)}
    strict = wants if not known and any(want.id in there for want in wants) else ()
    decision = engine.uninstall(entries, look(host, document, strict, entries), pack, wants)
    decision = decision if exact else with_top(host, document, decision)
    if decision.edits or decision.entries != entries:
        decision = gaps.closing(host, document, decision, ours)
    return shapes.apply(host.shape, document, decision.edits) if decision.edits else document, decision


def _placeholders(host: Host, decision: Decision, edited: Document) -> list[Action]:
    """What stays empty where ours were, since the host knows the hooks behind them by their places."""
    gone = [edit.element for edit in decision.edits if isinstance(edit, DropElement)] if host.shape.positions else []
    stays = [element for element in gone if edited.get(element.path[:-2]) is not MISSING]
    reason = f"an empty place stays, since {host.title} trusts the hooks behind it by their position"
    return [Action("keep", element.path, "element", element.id, "owned", "free", reason) for element in stays]


def _then(first: Decision, second: Decision) -> Decision:
    return Decision((*first.edits, *second.edits), second.entries, (*first.actions, *second.actions),
                    (*first.kept, *second.kept))  # fmt: skip


def _files(
    folders: Folders, records: Mapping[str, Record], leaving: Leaving, key: str, record: Record | None, orphaned: str,
    edited: bool,
) -> runtime_files.Runtime:  # fmt: skip
    """The packs' files go, unless another registration uses them."""
    others = {page.folder for name, other in records.items() if name != key for page in other.packs.values()}
    found = runtime_files.Runtime()
    for pack in leaving.packs:
        known: PackRecord | None = record.packs.get(pack) if record else None
        if known is None and pack == GUARD and edited:
            folder = orphaned or pack_folder(folders, leaving.place, GUARD, records, key)
            known = runtime_files.unknown_page(folders, leaving.place, folder)
            # Nobody knows any more who made the topmost one.
            found = found._replace(rmdirs=(runtime_files.own_top(folders, leaving.place),))
        if known is not None:
            one = runtime_files.uninstall(folders, leaving.place, known, others)
            found = runtime_files.Runtime(
                (*found.changes, *one.changes), (*found.actions, *one.actions), (*found.kept, *one.kept),
                rmdirs=(*found.rmdirs, *one.rmdirs),
            )  # fmt: skip
    return found


def _bytes_after(
    folders: Folders, snapshot: files.Snapshot, edited: Document, decision: Decision, record: Record | None,
    packs_left: dict[str, PackRecord],
) -> bytes | None:  # fmt: skip
    """The very bytes from before us where nobody else wrote since; else the file without exactly our entries."""
    if snapshot.data is None or record is None or packs_left:
        return edited.data if decision.edits else snapshot.data
    if is_exact(record, snapshot):
        backup = files.find_backup(folders.state, record.sha256_before)
        if backup is not None and _means(record.format, backup, edited):
            return backup
    ours = bool(decision.edits) or snapshot.sha == record.sha256_after  # else somebody has made it anew
    if record.created_file and ours and edited.data.strip() in (b"", b"{}"):
        return None
    return edited.data if decision.edits else snapshot.data


def _means(format: str, backup: bytes, edited: Document) -> bool:
    """Whether the backup says the same as the structural removal: an empty file and {} do."""
    try:
        value = formats.parse(format, backup).value
    except HookctlError:
        return False
    return (value or {}) == (edited.value or {})


def _by_hand(error: HookctlError, entries: tuple[Entry, ...], packs: tuple[str, ...]) -> HookctlError:
    """The same refusal with what to remove by hand: what nobody but these packs has in the file."""
    going = [entry for entry in entries if entry.kind != "container" and entry.owners.keys() <= set(packs)]
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
