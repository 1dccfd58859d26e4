"""What disabling hooks does to their settings files, and enabling them again.

A host's own switch for one hook comes first; where it has none, the hook leaves the file. What was
taken out goes into the state folder before it leaves, and stays there until it is back.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any, NamedTuple

from hookctl import engine, hosts
from hookctl.documents import Document, formats
from hookctl.errors import FAILED, HookctlError
from hookctl.hosts import Host, codex, config_folder, loading, shapes
from hookctl.ledger import disabled as book
from hookctl.ledger import store
from hookctl.ledger.disabled import (
    CONTAINER,
    HOOK,
    NAME,
    SWITCH,
    VALUE,
    DisabledFile,
    DisabledHook,
    Layer,
    Step,
)
from hookctl.ledger.store import Records
from hookctl.masking import masked_text
from hookctl.model import Action, Change, Entry, Path
from hookctl.planner.draft import Draft
from hookctl.planner.plan import Plan, changed_records
from hookctl.planner.records import plan_file
from hookctl.planner.sources import Sources, look
from hookctl.planner.taken_out import path_before, put_back, steps_of, without
from hookctl.settings.targets import Target, require_inside, variant_of_file
from hookctl.system import files

DISABLED = "disabled"  # the state of what is taken out
_LONGEST = 60  # characters of a command


class Chosen(NamedTuple):
    """A hook to disable, as it stands in its settings file."""

    host: Host  # in the variant of its file
    scope: str
    file: str  # as people know it
    project: str  # that it belongs to; empty at user scope
    path: Path
    event: str
    matcher: str
    fields: Mapping[str, Any]
    name: str  # PACK/ID of one of ours
    id: str  # as `hookctl hooks` shows it, without the number of a repeat
    is_named_alone: bool = True  # whether the host's list of names would mean no other hook


class ChosenValues(NamedTuple):
    """The values of a pack, to be disabled with it in one settings file."""

    host: Host
    scope: str
    file: str
    project: str
    pack: str


def plan_disable(
    sources: Sources, chosen: Iterable[Chosen], values: Iterable[ChosenValues], now: float
) -> Plan:
    """Plan to switch hooks off, or to take them out of their files, and values of packs out."""
    chosen, values = list(chosen), list(values)
    for one in (*chosen, *values):
        loading.require(one.host, sources.read(one.file, one.host.format)[1])
    disabling = _Disabling(sources, [one.project for one in (*chosen, *values)], now)
    for hook in chosen:
        disabling.add_hook(hook)
    for pack_values in values:
        disabling.add_values(pack_values)
    return disabling.plan()


class _File:
    """A file whose text changes, on its way through a disable."""

    def __init__(self, draft: Draft, known: DisabledFile | None) -> None:
        self.draft = draft
        host, snapshot, document = draft.host, draft.snapshot, draft.before
        self.layers: list[Layer] = []
        for layer in known.layers if known else ():
            hooks = tuple(hook for hook in layer.hooks if not book.is_back(host, document, hook))
            if hooks != layer.hooks:
                layer = Layer(layer.text, "", hooks)
            if hooks:
                self.layers.append(layer)
        # The newest layer goes on where nobody else has written since.
        self.text = document
        self.hooks: list[DisabledHook] = []
        if self.layers and self.layers[-1].after == snapshot.sha:
            newest = self.layers.pop()
            self.text = formats.parse(host.format, newest.text.encode(), where=snapshot.path)
            self.hooks = list(newest.hooks)
        self.new: list[DisabledHook] = []
        self.made = known.made if known else ()
        if snapshot.data is None:
            folder = os.path.dirname(snapshot.path)
            folders = files.missing_folders(folder)
            self.made = (snapshot.path, *folders)

    def path_before(self, path: Path) -> Path:
        """The path of a hook in the text of the layer, by its path in the file."""
        return path_before(self.draft.host, self.text, steps_of(self.hooks), path)

    def finish(self) -> DisabledFile:
        """Make the changes in the draft; returns what is disabled in the file afterwards."""
        draft, host = self.draft, self.draft.host
        hooks = [*self.hooks, *self.new]
        document = without(host, self.text, steps_of(hooks))
        if document.data != draft.before.data:
            draft.document = document
        layer = make_layer(draft, self.text.data.decode(), tuple(hooks))
        return make_file(draft, [*self.layers, layer])._replace(made=self.made)


class _Disabling:
    """The files and records of one disable while it is planned."""

    def __init__(self, sources: Sources, projects: Iterable[str], now: float) -> None:
        self.sources, self.now = sources, now
        self.records = sources.records(sorted(set(filter(None, projects))))
        self.known = sources.disabled()
        self.files: dict[str, _File] = {}

    def open(self, target: Target) -> _File:
        """The file of a target; the same for every hook in it."""
        draft = open_draft(self.sources, self.records, target)
        path = draft.snapshot.path
        if path not in self.files:
            self.files[path] = _File(draft, self.known.get(path))
        return self.files[path]

    def add_hook(self, chosen: Chosen) -> None:
        """Switch one hook off by its host's own means, or take it out."""
        settings = self.open(target_of(chosen))
        path = _find_again(settings.draft, chosen)
        is_ours = any(entry.id == chosen.name for entry in settings.draft.entries if entry.id)
        if not is_ours:  # one with our mark that no record has is anybody's
            handler = settings.draft.before.get(path)
            chosen = chosen._replace(name="", fields=handler)
        file, step = self._own_switch(chosen, settings, path)
        if step is None:
            file, step = settings, Step(HOOK, settings.path_before(path))
        hook = DisabledHook(
            host=chosen.host.name,
            scope=chosen.scope,
            file=chosen.file,
            steps=(step,),
            event=chosen.event,
            matcher=chosen.matcher,
            fields=book.plain_fields(chosen.fields),
            id=chosen.id,
            name=chosen.name,
            since=self.now,
        )
        if step.kind == HOOK and chosen.name:
            hook = hook._replace(steps=(step, *_move_entries(settings, [chosen.name], "")))
        file.new.append(hook)
        reason = describe(hook)
        if step.kind != HOOK:
            reason = f"{reason}; {chosen.host.title}'s own switch".removeprefix("; ")
        action = Action("remove", path, "element", hook.shown, "", DISABLED, reason)
        file.draft.actions.append(action)

    def _own_switch(self, chosen: Chosen, settings: _File, path: Path) -> tuple[_File, Step | None]:
        """The host's own switch for this hook alone, and the file that it belongs in."""
        host = chosen.host
        if host.trust.config:
            folder = config_folder(host, self.sources.folders.environ)
            name = host.trust.config.format(config=folder)
            target = Target(host._replace(format="toml"), "user", name)
            state = codex.state_path(chosen.file, path)
            return self.open(target), Step(SWITCH, (*state, "enabled"))
        names = host.list_key("names")
        if names and chosen.is_named_alone:
            name = str(chosen.fields.get("name", chosen.fields.get("command")))
            return settings, Step(NAME, names, name)
        return settings, None

    def add_values(self, chosen: ChosenValues) -> None:
        """Take out the values of a pack that are as it wrote them."""
        file = self.open(target_of(chosen))
        steps = _move_entries(file, [], chosen.pack)
        if not steps:
            return
        host, scope, path = chosen.host.name, chosen.scope, chosen.file
        values = DisabledHook(host, scope, path, tuple(steps), name=chosen.pack, since=self.now)
        file.new.append(values)

    def plan(self) -> Plan:
        """The plan; what is taken out is kept before it leaves."""
        finished = {path: file.finish() for path, file in self.files.items() if file.new}
        drafts = [self.files[path].draft for path in finished]
        changed = {path: with_counts(file, drafts) for path, file in finished.items()}
        return make_plan(self.sources, self.records, drafts, changed, keeps_first=True)


def _find_again(draft: Draft, chosen: Chosen) -> Path:
    """Where a hook stands now; it may have moved since it was listed."""
    hook = DisabledHook(
        host=chosen.host.name,
        scope=chosen.scope,
        file=chosen.file,
        steps=(),
        event=chosen.event,
        matcher=chosen.matcher,
        fields=dict(chosen.fields),
        name=chosen.name,
    )
    paths = list(book.find_equal(draft.host, draft.before, hook))
    if chosen.path in paths:
        return chosen.path
    if paths:
        return paths[0]
    if draft.before.get(chosen.path) == dict(chosen.fields):
        title = draft.host.title
        message = f"it stands where {title} takes no hook from, so it does not run as it is"
        hint = "Take it out by hand."
        line, column = draft.before.position(chosen.path)
        path = draft.target.path
        raise HookctlError("wrong_shape", message, path=path, line=line, column=column, hint=hint)
    message = f"{chosen.name or chosen.id} is not in the file any more"
    hint = "`hookctl hooks` lists what is there now."
    raise HookctlError("changed_meanwhile", message, path=draft.target.path, hint=hint)


def _move_entries(file: _File, names: list[str], pack: str) -> list[Step]:
    """Take entries of ours out of the record: these hooks, and the values of a pack.

    Returns the steps for the values and for the containers that nothing of ours is in any more.
    """
    draft = file.draft
    if draft.known is None:
        return []
    moved = [entry for entry in draft.entries if entry.id and entry.id in names]
    steps = []
    for entry in draft.entries if pack else ():
        if entry.kind == "leaf" and set(entry.owners) == {pack} and _is_as_written(draft, entry):
            moved.append(entry)
            steps.append(Step(VALUE, entry.path, entry.before))
            action = Action("remove", entry.path, "leaf", "", "owned", DISABLED)
            draft.actions.append(action)
    rest = [entry for entry in draft.entries if entry not in moved]
    used = set()
    for entry in rest:
        if entry.kind != "container":
            used |= {entry.path[:length] for length in range(1, len(entry.path) + 1)}
    for entry in rest if moved else ():
        if entry.kind == "container" and entry.path not in used:
            moved.append(entry)
            steps.append(Step(CONTAINER, entry.path, entry.before))
    draft.entries = tuple(entry for entry in draft.entries if entry not in moved)
    draft.disabled = book.join(draft.disabled, moved)
    return steps


def _is_as_written(draft: Draft, entry: Entry) -> bool:
    """Whether a value is ours and unchanged; the operator's stays."""
    current = look(draft.host, draft.before, (), [entry])
    return engine.state(entry, current, entry.path) == "owned"


# Enabling.


class Wanted(NamedTuple):
    """What to put back: a hook, or values, that are disabled by a change to this file."""

    path: str  # the real path of the changed file
    hook: DisabledHook


def plan_enable(sources: Sources, wanted: Iterable[Wanted]) -> Plan:
    """Plan to put hooks and values back; a file that is gone is an error."""
    by_path: dict[str, list[DisabledHook]] = {}
    for one in wanted:
        by_path.setdefault(one.path, []).append(one.hook)
    known = sources.disabled()
    projects = {known[path].project for path in by_path if path in known}
    records = sources.records(sorted(filter(None, projects)))
    drafts, changed = [], {}
    for path, hooks in by_path.items():
        if path not in known:
            continue
        names = [hook.steps[0] for hook in hooks if hook.steps[0].kind == NAME]
        for other in known[path].hooks:  # the host switches all hooks of a name on together
            if other not in hooks and other.steps[0] in names:
                hooks.append(other)
        for hook in hooks:  # a switch of the host's may stand in another file
            host = variant_of_file(hosts.load(hook.host), hook.file, sources.read)
            loading.require(host, sources.read(hook.file, host.format)[1])
        draft = open_draft(sources, records, target_of_file(known[path], path))
        if draft.snapshot.data is None:
            raise _file_gone(draft)
        enable_in(draft, known[path], hooks)
        drafts.append(draft)
        changed[path] = draft.disabled_after or known[path]._replace(layers=())
    return make_plan(sources, records, drafts, changed, keeps_first=False)


def _file_gone(draft: Draft) -> HookctlError:
    message = "the file is gone, so there is no place for what was disabled in it"
    path = draft.target.path
    hint = (
        f"Put it back (`hookctl restore {shlex.quote(path)} --list` shows its backups) and run the "
        "command again. Until then hookctl keeps what was disabled."
    )
    return HookctlError("file_gone", message, path=path, hint=hint, exit_code=FAILED)


def put_back_packs(draft: Draft, packs: Iterable[str], *, tells: bool = False) -> None:
    """Put back what is disabled of some packs in the file of a draft; `tells` adds the lines."""
    known = draft.sources.disabled().get(draft.snapshot.path)
    packs = set(packs)
    if known is not None:
        hooks = [hook for hook in known.hooks if hook.pack in packs]
        if draft.snapshot.data is None:
            draft.disabled_after = _without_hooks(known, hooks)
        elif hooks:
            _enable(draft, known, hooks, tells=tells)
    entries = [entry for entry in draft.disabled if entry.owners.keys() & packs]
    back, draft.disabled = book.split_entries(draft.disabled, entries)
    draft.entries = book.join(draft.entries, back)


def put_back_switches(
    drafts: Iterable[Draft],
    packs: Iterable[str],
    open_beside: Callable[[Draft, str], Draft],
    *,
    tells: bool = False,
) -> None:
    """Take back the host's own switches of packs' hooks, where they stand in another file.

    `open_beside` gives the draft of such a file.
    """
    packs = set(packs)
    for draft in list(drafts):
        for path, known in draft.sources.disabled().items():
            hooks = _hooks_of(known, packs, draft.target.path)
            if hooks and path != draft.snapshot.path:
                _enable(open_beside(draft, known.known_as), known, hooks, tells=tells)


def _hooks_of(known: DisabledFile, packs: Container[str], path: str) -> list[DisabledHook]:
    """The hooks of some packs that belong in the settings file at a path."""
    return [hook for hook in known.hooks if hook.pack in packs and hook.file == path]


def list_switched_off(draft: Draft, pack: str) -> Iterable[Action]:
    """A line for each hook of a pack that stands in the file, and that its host's switch is off."""
    for path, known in draft.sources.disabled().items():
        hooks = _hooks_of(known, {pack}, draft.target.path)
        hooks = [hook for hook in hooks if hook.steps[0].kind in (SWITCH, NAME)]
        if not hooks:
            continue
        host = target_of_file(known, path).host
        document = draft.sources.read(path, host.format)[1]
        for hook in hooks:
            if not book.is_back(host, document, hook):
                line = _line("keep", hook, f"disabled; `hookctl enable {pack}` puts it back")
                yield line._replace(id=hook.name, owners=(pack,))


def _enable(draft: Draft, known: DisabledFile, hooks: list[DisabledHook], *, tells: bool) -> None:
    actions, kept = list(draft.actions), list(draft.kept)
    if draft.disabled_after is not None:
        known = draft.disabled_after
    enable_in(draft, known, hooks)
    if not tells:
        draft.actions, draft.kept = actions, kept


def _without_hooks(known: DisabledFile, hooks: list[DisabledHook]) -> DisabledFile:
    layers = []
    for layer in known.layers:
        rest = tuple(hook for hook in layer.hooks if hook not in hooks)
        layers.append(layer if rest == layer.hooks else Layer(layer.text, "", rest))
    return known._replace(layers=tuple(layer for layer in layers if layer.hooks))


def enable_in(draft: Draft, known: DisabledFile, hooks: Iterable[DisabledHook]) -> None:
    """Put hooks and values back into the document of a draft, the newest layer's first."""
    chosen, host = list(hooks), draft.host
    back = [hook for hook in known.hooks if book.is_back(host, draft.document, hook)]
    layers: list[Layer] = []
    for layer in reversed(known.layers):
        returning = _sort_out(draft, [hook for hook in layer.hooks if hook in chosen], back)
        if returning:
            draft.document = put_back(host, draft.document, layer, returning)
            draft.actions += _describe_return(returning)
        rest = tuple(hook for hook in layer.hooks if hook not in (*chosen, *back))
        if rest:
            layers.insert(0, layer if rest == layer.hooks else make_layer(draft, layer.text, rest))
    if not layers:
        draft.made = known.made
    left = make_file(draft, layers)._replace(made=known.made)
    draft.disabled_after = with_counts(left, [draft])
    names = {hook.name for hook in chosen if hook.name}
    entries = []
    for entry in draft.disabled:
        is_value = entry.kind == "leaf" and bool(entry.owners.keys() & names)
        if entry.id in names or is_value:
            entries.append(entry)
    returned, draft.disabled = book.split_entries(draft.disabled, entries)
    draft.entries = book.join(draft.entries, returned)


def _sort_out(
    draft: Draft, wanted: Iterable[DisabledHook], back: list[DisabledHook]
) -> list[DisabledHook]:
    """Those of the wanted ones that are to return; a line says why another one does not."""
    returning = []
    for hook in wanted:
        if hook in back and hook.is_values:
            continue
        if hook in back:
            draft.kept.append(_line("keep", hook, "it is back in the file already"))
        elif hook.name and not _is_known(draft, hook):
            draft.actions.append(_line("drop", hook, "the pack does not have it any more"))
        else:
            returning.append(hook)
    return returning


def _is_known(draft: Draft, hook: DisabledHook) -> bool:
    """Whether its pack still has one of our hooks; without a record of the pack nobody knows."""
    if hook.steps[0].kind in (SWITCH, NAME) or hook.is_values or hook.pack not in draft.packs:
        return True
    return any(entry.id == hook.name for entry in (*draft.disabled, *draft.entries))


def _describe_return(hooks: Iterable[DisabledHook]) -> list[Action]:
    """A line for each hook and value that comes back."""
    lines = []
    for hook in hooks:
        if not hook.is_values:
            lines.append(_line("write", hook, describe(hook)))
            continue
        for step in hook.steps:
            if step.kind == VALUE:
                lines.append(Action("write", step.path, "leaf", "", DISABLED, "owned"))
    return lines


def describe(hook: DisabledHook) -> str:
    """What a hook of another tool runs, on one short line, masked; nothing of one of ours."""
    command = book.command_of(hosts.load(hook.host), hook.fields)
    if hook.name or not isinstance(command, list):
        return ""
    text = " ".join(masked_text(command[0]).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _line(action: str, hook: DisabledHook, reason: str) -> Action:
    path = (*shapes.Shape().root, hook.event)
    return Action(action, path, "element", hook.shown, DISABLED, "", reason)


# What both have in common.


def open_draft(sources: Sources, records: Records, target: Target) -> Draft:
    """The draft of a settings file of ours or of anybody else."""
    if target.project:
        require_inside(target.project, target.path)
    snapshot, document = sources.read(target.path, target.host.format)
    key, record = store.find_record(records, target.path)
    if record is not None:
        record = book.with_returned(target.host, record, document)
    return Draft(sources, target, snapshot, document, key, record)


def target_of(chosen: Chosen | ChosenValues) -> Target:
    """The settings file of what was chosen."""
    project = chosen.project if chosen.scope != "user" else ""
    return Target(chosen.host, chosen.scope, chosen.file, project)


def target_of_file(file: DisabledFile, path: str) -> Target:
    """The settings file of a record of what is disabled; `path` is its real path."""
    host = hosts.load(file.host)
    newest = file.layers[-1]
    text = formats.parse(file.format, newest.text.encode(), where=path)

    def read(path: str, format: str) -> tuple[files.Snapshot, Document]:
        return files.Snapshot(path, newest.text.encode()), text

    if host.variants and file.format == host.format:
        host = variant_of_file(host, file.known_as, read)
    host = host._replace(format=file.format)
    known_as = file.known_as if store.real_path(file.known_as) == path else path
    return Target(host, file.scope, known_as, file.project)


def make_file(draft: Draft, layers: Iterable[Layer]) -> DisabledFile:
    """What is disabled in the file of a draft."""
    target = draft.target
    return DisabledFile(
        target.host.name,
        target.scope,
        target.host.format,
        target.path,
        target.project,
        tuple(layers),
    )


def make_layer(draft: Draft, text: str, hooks: tuple[DisabledHook, ...]) -> Layer:
    """A layer with the digest of what it leaves of its text."""
    host = draft.host
    before = formats.parse(host.format, text.encode(), where=draft.snapshot.path)
    after = without(host, before, steps_of(hooks)).data
    return Layer(text, files.digest(after), hooks)


def with_counts(file: DisabledFile, drafts: Iterable[Draft]) -> DisabledFile:
    """The file with how many equal hooks are left for each hook that left one of these files."""
    by_path = {draft.target.path: draft for draft in drafts}
    layers = []
    for layer in file.layers:
        hooks = []
        for hook in layer.hooks:
            draft = by_path.get(hook.file)
            if draft is not None and hook.steps[0].kind == HOOK:
                hook = hook._replace(left=book.count_equal(draft.host, draft.document, hook))
            hooks.append(hook)
        layers.append(layer._replace(hooks=tuple(hooks)))
    return file._replace(layers=tuple(layers))


def make_plan(
    sources: Sources,
    records: Records,
    drafts: list[Draft],
    changed: Mapping[str, DisabledFile],
    *,
    keeps_first: bool,
) -> Plan:
    """The plan of these drafts alone: nothing but settings files and our records changes."""
    plans = [plan_file(records, draft) for draft in drafts]
    settings = tuple(_changes_of(plans))
    kept = change_book(sources, changed)
    rmdirs = dict.fromkeys(folder for plan in plans for folder in plan.rmdirs)
    changes = (*kept, *settings) if keeps_first else (*settings, *kept)
    return Plan(tuple(plans), changes, changed_records(records, plans), tuple(rmdirs))


def _changes_of(plans: list[Draft]) -> Iterable[Change]:
    for plan in plans:
        if plan.old != plan.after:
            mode = plan.target.new_file_mode
            yield Change(plan.path, plan.old, plan.after, mode, settings=True)


def with_book(sources: Sources, plan: Plan, drafts: Iterable[Draft]) -> Plan:
    """The plan of another verb with what is disabled in these files after it."""
    changed = {}
    for draft in drafts:
        if draft.disabled_after is not None:
            changed[draft.snapshot.path] = draft.disabled_after
    return plan._replace(changes=(*plan.changes, *change_book(sources, changed)))


def change_book(sources: Sources, changed: Mapping[str, DisabledFile]) -> tuple[Change, ...]:
    """The change of what hookctl keeps of disabled hooks."""
    folders = sources.folders
    path = files.real(folders.disabled)
    old = files.read(path).data
    new = book.dump(folders, {**sources.disabled(), **changed})
    return (Change(path, old, new),) if old != new else ()
