"""What `hookctl doctor --fix` does: put right what is ours, and nothing that the operator has.

A file that cannot be read or written is passed over: doctor says why, and the others are mended all the same.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from hookctl import engine, files, interpreter, packs, project_ledger, runtime_files
from hookctl.documents import MISSING, Document
from hookctl.errors import HookctlError
from hookctl.folders import Folders
from hookctl.hosts import reading, shapes
from hookctl.live import look, read_document
from hookctl.model import Action, Decision, DropElement, EditElement, Element, Entry, Live, PackRecord, Record, Want
from hookctl.packs import guard, wrapping
from hookctl.packs.pack import load_file, read_files
from hookctl.packs.programs import HOOK, launchers, package_files, package_of
from hookctl.packs.settings import LIMIT_KEY, MODES, Settings, settings_from
from hookctl.packs.wrapping import wraps
from hookctl.places import GUARD, Place, pack_folder, require_inside
from hookctl.planner import FilePlan, Plan, assemble, gaps, next_record, page_for, with_own_folders
from hookctl.planner.trust import Approvals, written
from hookctl.runtime_files import CONFIG, File, Runtime


class _Desk(NamedTuple):
    """One settings file while its repair is planned."""

    folders: Folders
    place: Place
    snapshot: files.Snapshot
    document: Document
    key: str
    record: Record | None
    pages: dict[str, PackRecord]  # as they will be

    @property
    def entries(self) -> tuple[Entry, ...]:
        return self.record.entries if self.record else ()


def plan_repair(folders: Folders, places: Iterable[Place]) -> Plan:
    """What mending these settings files, their ledger pages and the files that they run would do."""
    places = [place for place in places if not place.project or os.path.isdir(place.project)]
    records, readable = _records(folders, places)
    plans = []
    for place in readable:
        with contextlib.suppress(HookctlError):
            plans += _one(folders, records, place)
    approvals = Approvals(folders, records, plans)
    for n, plan in enumerate(plans):
        for pack in plan.record.packs if plan.record and plan.commands else ():
            plans[n] = approvals.install(plans[n], pack, ask=False)
    return assemble(folders, records, approvals.finish(plans), install=True)


def _records(folders: Folders, places: list[Place]) -> tuple[dict[str, Record], list[Place]]:
    """The pages of all ledgers that can be read, and the places whose ledger is among them."""
    records, hopeless = project_ledger.read(folders), set()
    for project in dict.fromkeys(place.project for place in places if place.shared):
        try:
            records |= project_ledger.read(folders, [project])
        except HookctlError:
            hopeless.add(project)
    return records, [place for place in places if not (place.shared and place.project in hopeless)]


def _one(folders: Folders, records: Mapping[str, Record], place: Place) -> Iterator[FilePlan]:
    """The plan for one settings file; none where there is nothing to mend."""
    if place.project:
        require_inside(place.project, place.path)
    snapshot, document = read_document(place.path, place.host.format)
    reading.require(place.host, document)
    key, record, _ = page_for(folders, records, place, document)
    if record is not None and record.scope != place.scope:
        return
    desk = _Desk(folders, place, snapshot, document, key, record, dict(record.packs) if record else {})
    orphan = _orphan(desk, records)
    wants = [want for _, wants in orphan.values() for want in wants]
    live = look(place.host, document, wants, desk.entries)
    decision = _decide(desk, live, orphan)
    runtime = _runtime(desk)
    if not decision.actions and not runtime.actions:
        return
    edited = shapes.apply(place.host.shape, document, decision.edits) if decision.edits else document
    after = edited.data if decision.edits else snapshot.data
    anew = record is not None and snapshot.sha != record.sha256_after and engine.wiped(desk.entries, live)
    result = next_record(record, place, snapshot, after, decision, desk.pages, anew=anew)
    result = result._replace(gaps=gaps.left(record.gaps if record else (), place.host, document, edited))
    if runtime.changes or record is None:
        result = with_own_folders(folders, records, place, result, lost=record is None)
    yield FilePlan(place, document, after, snapshot.path, snapshot.data, result, decision,
                   runtime.changes, runtime.actions, key, commands=written(place, result.entries))  # fmt: skip


# Entries


def _decide(desk: _Desk, live: Live, orphan: Mapping[str, tuple[str, list[Want]]]) -> Decision:
    """What is to be edited: wiped entries, doubled ones, a Python that is gone; nothing in a read-only file."""
    python, commands = _new_commands(desk)
    entries = desk.entries
    if engine.wiped(entries, live):
        entries = tuple(_wishing(entry, commands) for entry in entries)
        if desk.place.shared and not _all_ours(desk):
            return Decision(entries=desk.entries)
    decision = _recalled(engine.repair(entries, live, orphan), live, commands)
    if decision.edits and desk.snapshot.data is not None and files.is_read_only(desk.snapshot.path):
        desk.pages.clear()
        desk.pages.update(desk.record.packs if desk.record else {})
        return Decision(entries=desk.entries)
    if commands and any(_calls(entry, commands) for entry in decision.entries):
        page = desk.pages[GUARD]
        desk.pages[GUARD] = page._replace(settings={**page.settings, "python": python})
    return decision


def _all_ours(desk: _Desk) -> bool:
    """Whether a committed ledger, a stranger's word, wants nothing but the guard's own entries and program again."""
    page = desk.pages.get(GUARD)
    if page is None or set(desk.pages) != {GUARD}:
        return False
    programs = {**package_files(), **launchers(wrapper=False)}
    current = [(files.read(os.path.join(page.folder, name)).data, data) for name, data in programs.items()]
    settings = settings_from(page.settings)
    limit = guard.wanted_limit(settings)
    wants = guard.wants(settings, desk.place, packs.load(GUARD), page.folder, limit)
    good = [(want.path, want.value) for want in wants]
    ours = [entry for entry in desk.entries if entry.kind != "container" and not wraps(entry.id)]
    wishes = [(e.path, wish.value) for e in ours for wish in e.owners.values()]
    return all(now in (None, ours) for now, ours in current) and all(wish in good for wish in wishes)


def _new_commands(desk: _Desk) -> tuple[str, dict[str, str]]:
    """Another Python and the guard's commands with it, by their id; none where the one that they name is there."""
    page = desk.pages.get(GUARD)
    settings = settings_from(page.settings) if page else Settings(mode="off")
    wrapped = {entry.id: wrapping.original_of(entry.written["command"]) for entry in desk.entries if wraps(entry.id)}
    if page is None or not (settings.events or wrapped) or desk.place.shared or _runs(settings.python):
        return "", {}
    python, _ = interpreter.choose(desk.folders.environ)
    wants = guard.wants(settings._replace(python=python), desk.place, packs.load(GUARD), page.folder, "")
    found = {want.id: want.value["command"] for want in wants if want.id}
    for id, original in wrapped.items():
        if original is not None:
            found[id] = wrapping.command(original, desk.place, page.folder, python)
    return python, found


def _runs(python: str) -> bool:
    return bool(python) and os.path.isfile(python) and os.access(python, os.X_OK)


def _wishing(entry: Entry, commands: Mapping[str, str]) -> Entry:
    if entry.id not in commands:
        return entry
    wish = entry.owners[GUARD]
    wish = wish._replace(value={**wish.value, "command": commands[entry.id]})
    return entry._replace(owners={**entry.owners, GUARD: wish})


def _recalled(decision: Decision, live: Live, commands: Mapping[str, str]) -> Decision:
    """The decision with new commands in the elements of ours that still have the old one, word for word."""
    going = [edit.element for edit in decision.edits if isinstance(edit, DropElement)]
    edits, entries, actions = list(decision.edits), [], list(decision.actions)
    for entry in decision.entries:
        element = _still_ours(entry, live, going) if entry.id in commands else None
        if element:
            command = {"command": commands[entry.id]}
            edits.append(EditElement(element, command))
            entry = _wishing(entry, commands)._replace(written={**entry.written, **command})
            states = ("owned", "owned", "its Python was gone")
            actions.append(Action("replace", entry.path, "element", entry.id, *states, tuple(entry.owners)))
        entries.append(entry)
    return decision._replace(edits=tuple(edits), entries=tuple(entries), actions=tuple(actions))


def _still_ours(entry: Entry, live: Live, going: list[Element]) -> Element | None:
    command = entry.written["command"]
    same = (e for e in live.elements if e.id == entry.id and e.fields.get("command") == command and e not in going)
    return next(same, None)


def _calls(entry: Entry, commands: Mapping[str, str]) -> bool:
    return entry.id in commands and entry.written["command"] == commands[entry.id]


def _python_of(command: str, place: Place) -> str:
    """The interpreter that a command of the guard's names."""
    for hook in packs.load(GUARD).hooks:
        match = re.fullmatch(guard.command_forms(f"{GUARD}/{hook.id}", hook.event, place.host), command)
        if match:
            return "".join(shlex.split(match["python"] or ""))
    return ""


def _orphan(desk: _Desk, records: Mapping[str, Record]) -> dict[str, tuple[str, list[Want]]]:
    """The guard, where one of its hooks stands in the file and the ledger has no page of it (row 15)."""
    if GUARD in desk.pages:
        return {}
    root = {} if desk.document.value is MISSING else desk.document.value
    pack = packs.load(GUARD)
    events = {f"{GUARD}/{hook.id}": hook.event for hook in pack.hooks}
    for element in shapes.elements(desk.place.host.shape, root):
        command = str(element.fields.get("command"))
        hook = guard.hook_path(command, element.id, events[element.id], desk.place) if element.id in events else ""
        if hook and _is_own_folder(desk, records, os.path.dirname(hook)):
            page = _new_page(desk, os.path.dirname(hook), _python_of(command, desk.place), pack.version)
            settings, limit = settings_from(page.settings), _limit(desk)
            desk.pages[GUARD] = page
            return {GUARD: (pack.version, guard.wants(settings, desk.place, pack, page.folder, limit))}
    return {}


def _is_own_folder(desk: _Desk, records: Mapping[str, Record], folder: str) -> bool:
    """Whether a registration's folder is one that hookctl makes, and no other registration's."""
    if desk.place.shared:
        return folder == pack_folder(desk.folders, desk.place, GUARD, {}, "")
    taken = {page.folder for record in records.values() for page in record.packs.values()}
    return os.path.dirname(folder) == os.path.join(desk.folders.data, GUARD) and folder not in taken


def _new_page(desk: _Desk, folder: str, python: str, version: str) -> PackRecord:
    """A page from what is there; the knobs that were chosen are not known any more, and stay in config.json."""
    found = guard.live_configuration(PackRecord("", {}, folder)).get("mode")
    chosen = found if found in MODES and found != "off" else Settings().mode
    return PackRecord(version, {"mode": chosen, "knobs": {}, "python": python, "config": {}}, folder)


def _limit(desk: _Desk) -> str:
    path = desk.place.host.env_leaf(LIMIT_KEY)
    value = desk.document.get(path) if path else ""
    return value if isinstance(value, str) else ""


# Files


def _runtime(desk: _Desk) -> Runtime:
    """The files that are missing put back; `desk.pages` then say so."""
    found = Runtime()
    for name, page in list(desk.pages.items()):
        one, known = Runtime(), dict(page.files)
        with contextlib.suppress(HookctlError):  # a folder where a file should be, a link that leads out
            one, known = _guards_runtime(desk, page) if name == GUARD else _packs_runtime(desk, name, page)
        if one.actions or (name == GUARD and not page.files):
            desk.pages[name] = page._replace(files=known)
        found = Runtime((*found.changes, *one.changes), (*found.actions, *one.actions))
    return found


def _packs_runtime(desk: _Desk, name: str, page: PackRecord) -> tuple[Runtime, dict[str, str]]:
    """What becomes of a pack's files, and the files that are recorded then."""
    wanted = _packs_files(desk, name, page)
    one = _put_back(desk, page, wanted)
    return one, {**dict.fromkeys(wanted, ""), **page.files, **one.written}


def _guards_runtime(desk: _Desk, page: PackRecord) -> tuple[Runtime, dict[str, str]]:
    """The same of the guard's: where one is missing, unedited ones of an earlier version give way to this one's."""
    wanted = _guards_files(desk, page)
    if not wanted:
        return Runtime(), dict(page.files)
    hook = files.read(os.path.join(page.folder, HOOK))
    current = hook.data in (None, wanted[HOOK].data)
    ours = current or runtime_files.is_ours(hook, page.files.get(HOOK, ""))
    if ours and not desk.place.shared:
        names = {*page.files, *(wanted if current else ())}
        if page.files and not _is_one_file(page) and not _misses(page, names):
            return Runtime(), dict(page.files)
        config = _live_config(desk, page)
        known = page if config else page._replace(files=_without(page.files, CONFIG))
        wanted = {**wanted, CONFIG: config} if config else _without(wanted, CONFIG)
        one = runtime_files.install(desk.folders, desk.place, page.folder, known, wanted, False)
        return one, {CONFIG: page.files.get(CONFIG, ""), **one.written}
    fitting = {name: file for name, file in wanted.items() if _belongs(name, hook.data)}
    one = _put_back(desk, page, fitting)
    return one, {**dict.fromkeys(fitting, ""), **page.files, **one.written}


def _is_one_file(page: PackRecord) -> bool:
    """Whether the hook is one of 0.1.0, without a package."""
    return HOOK in page.files and not any(map(package_of, page.files))


def _misses(page: PackRecord, names: Iterable[str]) -> bool:
    return any(not os.path.lexists(os.path.join(page.folder, name)) for name in names)


def _belongs(name: str, hook: bytes | None) -> bool:
    """Whether a file is of use to the hook that is there: a package is to one that names it."""
    package = package_of(name)
    return not package or hook is None or package.encode() in hook


def _live_config(desk: _Desk, page: PackRecord) -> File | None:
    """config.json with what the operator changed in it; None where it cannot be read."""
    with contextlib.suppress(HookctlError):
        path = os.path.join(page.folder, CONFIG)
        before = page.settings.get("config", {})
        return runtime_files.configuration(path, before, _configuration(desk, page), desk.place.host, False)
    return None


def _without(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != name}


def _configuration(desk: _Desk, page: PackRecord) -> dict[str, Any]:
    settings = settings_from(page.settings)
    return guard.configuration(settings, "" if desk.place.shared else desk.folders.state, desk.place.host)


def _put_back(desk: _Desk, page: PackRecord, wanted: Mapping[str, File]) -> Runtime:
    """Those that are missing; one that is there is noted as ours if it has our bytes, and else left alone."""
    fitting = {}
    for name, file in wanted.items():
        with contextlib.suppress(HookctlError):
            if files.read(os.path.join(page.folder, name)).data in (None, file.data):
                fitting[name] = file
    return runtime_files.install(desk.folders, desk.place, page.folder, page._replace(files={}), fitting, False)


def _guards_files(desk: _Desk, page: PackRecord) -> dict[str, File]:
    settings = settings_from(page.settings)
    root = {} if desk.document.value is MISSING else desk.document.value
    wrapped = any(wraps(element.id) for element in shapes.elements(desk.place.host.shape, root))
    if not settings.events and not wrapped:
        return {}
    path = os.path.join(page.folder, CONFIG)
    config = runtime_files.configuration(path, {}, _configuration(desk, page), desk.place.host, False, fresh=True)
    return runtime_files.guards_files(config, wrapper=wrapped)


def _packs_files(desk: _Desk, name: str, page: PackRecord) -> dict[str, File]:
    """A pack's files as they were installed, if its own file is still where it was and says the same version."""
    source = page.settings.get("source")
    if desk.place.shared or not isinstance(source, str) or not source or not _misses(page, page.files):
        return {}
    pack = load_file(source)
    if (pack.name, pack.version) != (name, page.version):
        return {}
    found = {file: File(*content) for file, content in read_files(pack).items()}
    return {file: one for file, one in found.items() if files.digest(one.data) == page.files.get(file)}
