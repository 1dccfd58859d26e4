"""What an install of a pack does, and what a plan of it shows."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from hookctl import engine, interpreter, project_ledger, runtime_files
from hookctl.documents import MISSING, Document, formats
from hookctl.errors import FAILED, USAGE, HookctlError
from hookctl.folders import Folders
from hookctl.hosts import load, reading, settings_path, shapes
from hookctl.live import look, read_document
from hookctl.model import AddElement, Entry, PackRecord, Record, Want
from hookctl.packs import guard
from hookctl.packs.abilities import remarks_for
from hookctl.packs.model import Pack
from hookctl.packs.settings import LIMIT_KEY, Request, Settings, choose, remarks, require_portable, settings_from
from hookctl.places import GUARD, Place, all_files, in_sh, pack_folder, require_inside, top
from hookctl.planner import FilePlan, Plan, assemble, gaps, is_exact, next_record, page_for, with_own_folders, with_top
from hookctl.planner.trust import Approvals, written
from hookctl.planner.wraps import Asked, Wrapped, wrap
from hookctl.runtime_files import CONFIG, File


class Choice(NamedTuple):
    """What the operator asked of an install."""

    settings: Request = Request()
    reset: bool = False
    force: bool = False
    trust: bool = False


class Content(NamedTuple):
    """What a pack puts at one place, and the settings with which it does."""

    wants: list[Want]
    files: dict[str, File]
    settings: dict[str, Any]
    messages: tuple[str, ...] = ()
    wrapped: Wrapped | None = None


class _Desk(NamedTuple):
    """What is known of one place while its plan is being made."""

    folders: Folders
    pack: Pack
    place: Place
    choice: Choice
    document: Document
    entries: tuple[Entry, ...]
    known: PackRecord | None
    folder: str


def plan_install(
    folders: Folders, pack: Pack, places: Iterable[Place], choice: Choice,
    looking: Callable[[Place], None] | None = None,
) -> Plan:  # fmt: skip
    """What an install of the pack at these places would do; `looking` hears of each place before it is read."""
    places = tuple(places)
    check(pack, choice.settings)
    records = project_ledger.read(folders, [place.project for place in places if place.shared])
    plans = []
    for place in places:
        if looking:
            looking(place)
        plans.append(_one(folders, records, pack, place, choice))
    approvals = Approvals(folders, records, plans)
    for n, plan in enumerate(plans):
        if not plan.decision.conflicts:
            plans[n] = approvals.install(plan, pack.name, ask=choice.trust)
            for other in plan.record.packs if plan.record else ():
                if other != pack.name:
                    approvals.follow(plan, other)
    return assemble(folders, records, approvals.finish(plans), install=True)


def check(pack: Pack, request: Request) -> None:
    """Refuse what this pack cannot be told: a slip on the command line is said before anything that a file has."""
    if pack.name == GUARD:
        choose(Settings(), request)
    elif request.option:
        message = f"{request.option} is for the guard, not for {pack.name}"
        hint = f"Change {pack.source}, or leave {request.option} out."
        raise HookctlError("usage", message, hint=hint, exit_code=USAGE)


def _require_the_others_readable(folders: Folders, place: Place) -> None:
    """Refuse where another file of the scope is broken: what it says decides which of them our hooks go into."""
    host = load(place.host.name) if place.host.data.get("variants") else place.host
    for other, path in all_files(host, place.scope, folders.environ, place.project):
        if path != place.path and os.path.lexists(path):
            read_document(path, other.format)


def _one(folders: Folders, records: Mapping[str, Record], pack: Pack, place: Place, choice: Choice) -> FilePlan:
    _require_the_others_readable(folders, place)
    snapshot, document = read_document(place.path, place.host.format)
    reading.require(place.host, document)
    key, record, orphaned = page_for(folders, records, place, document)
    known = record.packs.get(pack.name) if record else None
    folder = (known.folder if known else "") or (orphaned if pack.name == GUARD else "")
    folder = folder or pack_folder(folders, place, pack.name, records, key)
    if place.shared:
        require_inside(place.project, os.path.join(folder, CONFIG))
    entries = record.entries if record else ()
    desk = _Desk(folders, pack, place, choice, document, entries, known, folder)
    content = _guard(desk) if pack.name == GUARD else _pack(desk)
    wrapped = content.wrapped or Wrapped(entries)
    entries = wrapped.others
    live = look(place.host, document, content.wants, entries)
    # Of other packs, only what this machine has written before is written again: a committed ledger is a stranger's.
    own = not place.shared or (record is not None and bool(record.sha256_after))
    decision = engine.install(entries, live, pack.name, pack.version, content.wants, force=choice.force, others=own)
    if decision.conflicts:
        return FilePlan(place, document, snapshot.data, snapshot.path, snapshot.data, record, decision, key=key)
    if record is not None and not is_exact(record, snapshot):
        decision = with_top(place.host, document, decision)
    decision = wrapped.beside(decision)
    decision = gaps.closing(place.host, document, decision, record.gaps) if record and decision.edits else decision
    edited = formats.renewed(shapes.apply(place.host.shape, document, decision.edits) if decision.edits else document)
    upgrade = known is not None and known.version != pack.version
    runtime = runtime_files.install(folders, place, folder, known, content.files, choice.force, upgrade=upgrade)
    adds = wrapped.edits or any(isinstance(edit, AddElement) for edit in decision.edits)
    if place.shared and (adds or choice.trust):
        _require_own_programs(pack, runtime)
    page = PackRecord(pack.version, content.settings, folder, runtime.written)
    after = snapshot.data if edited is document else edited.data
    packs_now = {**(record.packs if record else {}), pack.name: page}
    anew = record is not None and snapshot.sha != record.sha256_after and engine.wiped(entries, live)
    result = next_record(record, place, snapshot, after, decision, packs_now, anew=anew)
    result = result._replace(gaps=gaps.left(record.gaps if record else (), place.host, document, edited))
    if record is None and result.created_file:
        made = dict.fromkeys((*result.created_dirs, *_also_made(folders, records, place, snapshot.path)))
        result = result._replace(created_dirs=tuple(made))
    lost = any(action.action == "take-back" for action in decision.actions)
    if runtime.changes or lost or (place.shared and record is None):
        result = with_own_folders(folders, records, place, result, lost=lost)
    others = tuple(entry for entry in decision.entries if pack.name not in entry.owners)
    if edited is not document and not decision.edits:
        action = runtime_files.file_action("replace-file", snapshot.path, "its code was an earlier version's")
        runtime = runtime._replace(actions=(*runtime.actions, (snapshot.path, action)))
    makes = snapshot.data is None and after is not None
    new = (*_hidden(folders, place), *_behind_a_link(place, snapshot.path)) if makes else ()
    messages = (*_switched_off(place, document), *new, *_where_it_holds(place, pack), *content.messages)
    return FilePlan(place, document, after, snapshot.path, snapshot.data, result,
                    decision._replace(kept=(*decision.kept, *runtime.kept)), runtime.changes, runtime.actions, key,
                    runtime.rmdirs, messages, _commands(place, content.wants) | written(place, others))  # fmt: skip


def _commands(place: Place, wants: list[Want]) -> frozenset[tuple[str, str]]:
    shape = place.host.shape
    return frozenset((shapes.event_of(shape, want.path), want.value["command"]) for want in wants if want.id)


def _require_own_programs(pack: Pack, runtime: runtime_files.Runtime) -> None:
    """A repository must not bring the program that a registration of ours, new or approved now, runs."""
    if runtime.foreign:
        message = f"{pack.name} would run this file, which hookctl has not written"
        hint = "Look at it, then remove it, or install with --force: either puts ours there."
        raise HookctlError("conflict", message, path=runtime.foreign[0], hint=hint, exit_code=FAILED)


def _also_made(folders: Folders, records: Mapping[str, Record], place: Place, path: str) -> list[str]:
    """The folders above a settings file that another install has made: the last to leave removes them."""
    pages, inside = list(records.values()), top(place.project)
    if place.project and not place.shared:
        with contextlib.suppress(HookctlError):  # a stranger's ledger is no reason to stop
            pages += project_ledger.read(folders, [place.project]).values()
    made = [folder for page in pages for folder in page.created_dirs]
    return [folder for folder in made if folder.startswith(inside) and path.startswith(f"{folder}/")]


def _switched_off(place: Place, document: Document) -> tuple[str, ...]:
    switches = place.host.data["switches"]
    key = tuple(switches.get("disable", ()))
    if key and document.get(key) is switches["disabled_by"]:
        value = json.dumps(switches["disabled_by"])
        return (f"{'.'.join(key)} is {value} in {document.where}, so no hook runs until that is removed",)
    return ()


def _hidden(folders: Folders, place: Place) -> tuple[str, ...]:
    """A new project file makes a host that reads only the first one pass over the user's."""
    if not place.project or not place.host.data["scopes"].get("first_only"):
        return ()
    users = settings_path(place.host, "user", folders.environ)
    if not os.path.exists(users):
        return ()
    return (f"{place.host.title} then reads no hook of {users} in this project: it reads only the first file there is",)


def _behind_a_link(place: Place, path: str) -> tuple[str, ...]:
    """A file that is made where a link leads to: perhaps its disk is not there yet."""
    if not os.path.islink(place.path):
        return ()
    return (f"{place.path} is a link to {path}, which does not exist, so it is made there",)


def _where_it_holds(place: Place, pack: Pack) -> tuple[str, ...]:
    """A host that knows only the folder it is started in must be started there."""
    title, data = place.host.title, place.host.data
    if place.scope != "user" and data["scopes"]["start_folder_only"]:
        why = f"{title} reads {place.scope} settings only where it is started"
    elif place.shared and data["environment"].get("project_is_start"):
        why = f"{title} tells a hook where it was started, and not where the project is"
    else:
        return ()
    return (f"{why}: {pack.name} works in {place.project}, not in the folders below it",)


def _pack(desk: _Desk) -> Content:
    """A pack by path: what its file says, with its files in the folder."""
    from hookctl.packs.pack import read_files
    from hookctl.packs.wants import wants as pack_wants

    wants, messages = pack_wants(desk.pack, desk.place.host, in_sh(desk.place, desk.folder))
    wanted = {name: File(data, executable) for name, (data, executable) in read_files(desk.pack).items()}
    before = desk.known.settings.get("source", desk.pack.source) if desk.known else desk.pack.source
    if before != desk.pack.source:
        messages.append(f"{desk.pack.name} came from {before} so far")
    # In a committed ledger no path of this machine has a place.
    settings = {} if desk.place.shared else {"source": desk.pack.source}
    return Content(wants, wanted, settings, tuple(messages))


def _guard(desk: _Desk) -> Content:
    """The guard, with the settings that were recorded or are chosen now."""
    choice, known, place = desk.choice, desk.known, desk.place
    recorded = settings_from(known.settings if known else {})
    base = Settings(python=recorded.python) if choice.reset else recorded
    settings = choose(base, choice.settings)
    messages = (*remarks(settings, choice.settings), *remarks_for(place.host, settings, _own_cap(desk)))
    if place.shared:
        require_portable(settings)
        settings = settings._replace(python="")
        messages = (*messages, *interpreter.on_path(desk.folders.environ))
    elif not _runs(settings.python):
        python, warning = interpreter.choose(desk.folders.environ)
        settings, messages = settings._replace(python=python), (*messages, *((warning,) if warning else ()))
    wanted = guard.configuration(settings, "" if place.shared else desk.folders.state, place.host)
    text = "" if choice.reset and choice.settings.wrap is None else choice.settings.wrap
    asked = Asked(text, desk.pack.version, desk.folder, settings.python, choice.force)
    wrapped = wrap(desk.document, desk.entries, place, asked)
    wants, contents = [], {}
    if settings.events or wrapped.entries:
        before = known.settings.get("config", {}) if known else {}
        path = os.path.join(desk.folder, CONFIG)
        config = runtime_files.configuration(path, before, wanted, place.host, choice.force)
        contents = runtime_files.guards_files(config, wrapper=bool(wrapped.entries))
        wants = _guard_wants(desk, settings, json.loads(config.data))
    page = {**settings._asdict(), "config": wanted}
    page = page if settings.preset else {name: value for name, value in page.items() if name != "preset"}
    return Content(wants, contents, page, messages, wrapped)


def _guard_wants(desk: _Desk, settings: Settings, config: Mapping[str, Any]) -> list[Want]:
    """The guard's wants, with the cap derived from the limit that will be in effect in this file."""
    host, own = desk.place.host, _own_cap(desk)
    wants = guard.wants(settings, desk.place, desk.pack, desk.folder, guard.wanted_limit(settings), own)
    limit = host.env_leaf(LIMIT_KEY)
    if limit is None:
        configured = config.get("max_stop_blocks")
        effective = str(configured) if type(configured) is int else ""
    else:
        live = look(host, desk.document, wants, desk.entries)
        trial = engine.install(desk.entries, live, GUARD, "", wants, force=desk.choice.force)
        written = {edit.path: edit.value for edit in trial.edits if hasattr(edit, "value")}
        value = written.get(limit, desk.document.get(limit))
        effective = "" if value is MISSING else value if isinstance(value, str) else json.dumps(value)
    return guard.wants(settings, desk.place, desk.pack, desk.folder, effective, own)


def _own_cap(desk: _Desk) -> str:
    """The operator's cap, where it stands in a setting; a variable of ours would beat that."""
    path = tuple(desk.place.host.cap.get("setting", ()))
    value = desk.document.get(path) if path else MISSING
    return str(value) if type(value) is int else ""


def _runs(python: str) -> bool:
    return bool(python) and os.path.isfile(python) and os.access(python, os.X_OK)
