"""What disabling hooks does to their settings files, and enabling them again.

A host's own switch for one hook comes first; where it has none, the hook leaves the file. What was
taken out goes into the state folder before it leaves, and stays there until it is back.
"""

import contextlib
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from hookctl import hosts
from hookctl.documents import MISSING, Document, formats
from hookctl.errors import FAILED, HookctlError
from hookctl.hosts import Host, codex, config_folder, loading, shapes
from hookctl.masking import masked_text
from hookctl.model import (
    Action,
    DropHook,
    DropValue,
    Edit,
    Entry,
    HookEntry,
    Path,
    Prune,
    Put,
)
from hookctl.ownership import engine, store
from hookctl.ownership.draft import Draft
from hookctl.ownership.engine import same
from hookctl.ownership.plan import Drafts, Job, Plan, plan_jobs
from hookctl.ownership.sources import Sources, current_of
from hookctl.ownership.store import (
    CONTAINER,
    HOOK,
    NAME,
    SWITCH,
    VALUE,
    DisabledFile,
    DisabledHook,
    Layer,
    Step,
    count_equal,
)
from hookctl.settings.targets import Target, variant_of_file
from hookctl.system import files
from hookctl.system.folders import Folders

DISABLED = "disabled"  # the state of what is taken out
_LONGEST = 60  # characters of a command
_OWN = (SWITCH, NAME)  # the hosts' own means


def plan_disable(sources: Sources, chosen: Sequence[tuple[Target, DisabledHook]]) -> Plan:
    """Plan to switch hooks off, or to take them and values of packs out of their files.

    The path in a hook's step is that in the file as it is.
    """
    jobs: dict[str, Disable] = {}
    for target, hook in chosen:
        place = target if hook.is_values else place_of(sources.folders, target)
        jobs.setdefault(store.real_path(place.path), Disable(place)).chosen.append((target, hook))
    return plan_jobs(sources, jobs.values(), sorted({target.project for target, _ in chosen}))


def place_of(folders: Folders, target: Target) -> Target:
    """The file that changes where a hook of this one is disabled: its host's own switches first."""
    config = target.host.trust.config
    if not config:
        return target
    path = config.format(config=config_folder(target.host, folders.environ))
    return Target(target.host._replace(format="toml"), "user", path)


class Disable(Job):
    """Hooks and values leave a file, or are switched off in it."""

    def __init__(self, target: Target) -> None:
        self.target, self.chosen = target, list[tuple[Target, DisabledHook]]()

    def decide(self, drafts: Drafts) -> Draft:
        """Make a layer of what is chosen; the newest one goes on where nobody else has written."""
        draft = drafts.open(self.target)
        self.draft, self.host, self.text = draft, draft.host, draft.document
        self.hooks, self.new = list[DisabledHook](), list[DisabledHook]()
        self.known = self._read_known()
        if self.known.layers:
            *layers, newest = self.known.layers
            text = formats.parse(self.host.format, newest.text.encode(), where=self.text.where)
            if without(self.host, text, newest.hooks).data == self.text.data:
                self.text, self.hooks = text, list(newest.hooks)
                self.known = self.known._replace(layers=tuple(layers))
        for target, hook in self.chosen:
            own = drafts.open(target)
            loading.require(target.host, own.document)
            if hook.is_values:
                self._take_values(hook)
                continue
            hook = _find(own, hook)
            at = hook.steps[0].path
            if target.host.trust.config:
                switch = (*codex.state_path(hook.file, at), "enabled")
                hook = hook._replace(steps=(Step(SWITCH, switch),))
            self._take_hook(hook, at)
        if self.new:
            hooks = [*self.hooks, *self.new]
            document = without(self.host, self.text, hooks)
            if document.data != draft.document.data:
                draft.document = document
            layer = make_layer(self.host, self.text.data.decode(), hooks)
            draft.disabled_after = self.known._replace(layers=(*self.known.layers, layer))
        return draft

    def _read_known(self) -> DisabledFile:
        """What is disabled in the file so far, and is not back."""
        draft, target = self.draft, self.draft.target
        known = draft.records.disabled.get(draft.path)
        if known is None:
            format = target.host.format
            known = DisabledFile(
                target.host.name, target.scope, format, target.path, target.project
            )
        if draft.snapshot.data is None:
            made = files.missing_folders(os.path.dirname(draft.path))
            known = known._replace(made=(draft.path, *made))
        return known.keep(lambda hook: not store.is_back(self.host, draft.document, hook))

    def _take_hook(self, hook: DisabledHook, path: Path) -> None:
        """Take out a hook, or switch it off; `path` is where it stands in its file."""
        (step,), reason = hook.steps, describe(hook)
        if step.kind == HOOK:
            # Its path in the text before the hooks of this layer were disabled.
            steps = [step for one in self.hooks for step in one.steps if step.kind == HOOK]
            dropped = {step.path for step in steps}
            left = [one for one in _list_by_event(self.host, self.text) if one not in dropped]
            after = _list_by_event(self.host, without(self.host, self.text, self.hooks))
            before = dict(zip(after, left, strict=True))[path]
            own = [entry for entry in self.draft.entries if hook.name and entry.id == hook.name]
            hook = hook._replace(steps=(Step(HOOK, before), *self._take_entries(own)))
        else:
            reason = f"{reason}; {self.host.title}'s own switch".removeprefix("; ")
            path = path if step.kind == SWITCH else _list_path(hook)
        if hook.by:
            reason = f"{hook.by} replaces it; {reason}"
        self.new.append(hook)
        action = Action("remove", path, "element", hook.shown, "", DISABLED, reason)
        self.draft.actions.append(action)

    def _take_values(self, values: DisabledHook) -> None:
        """Take out the values of a pack that are as it wrote them."""
        leaves = [entry for entry in self.draft.entries if entry.kind == "leaf"]
        own = [entry for entry in leaves if entry.owners.keys() == {values.name}]
        now = current_of(self.host, self.draft.before, (), own)
        states = {entry.path: engine.state(entry, now, entry.path) for entry in own}
        steps = self._take_entries([entry for entry in own if states[entry.path] == "owned"])
        if steps:
            self.new.append(values._replace(steps=tuple(steps)))
        for path in [step.path for step in steps if step.kind == VALUE]:
            self.draft.actions.append(Action("remove", path, "leaf", "", "owned", DISABLED))

    def _take_entries(self, own: Sequence[Entry]) -> list[Step]:
        """The steps that take entries of ours out, with the containers that this leaves empty."""
        draft = self.draft
        taken = [entry for entry in own if (entry.id or entry.path) not in draft.taken]
        draft.taken |= {entry.id or entry.path for entry in taken}
        steps = [Step(VALUE, entry.path, entry.before) for entry in taken if not entry.id]
        gone = (*self.known.hooks, *self.hooks, *self.new)  # they take their containers along
        used = {step.path for hook in gone for step in hook.steps if step.kind == CONTAINER}
        left = [each for each in draft.entries if (each.id or each.path) not in draft.taken]
        used |= engine.list_above([each.path for each in left if each.kind != "container"])
        for entry in draft.entries if taken else ():
            if entry.kind == "container" and entry.path not in used:
                steps.append(Step(CONTAINER, entry.path, entry.before))
        return steps


def _find(draft: Draft, hook: DisabledHook) -> DisabledHook:
    """A hook as it stands in its file; one with our mark that no record has is anybody's."""
    (step,), document, shape = hook.steps, draft.document, draft.host.shape
    at = step.path
    if hook.name:
        ours = shapes.elements(shape, document.value)
        is_there = (at, hook.name) in [(element.path, element.id) for element in ours]
    else:
        found = {one: handler for one, handler, _ in shapes.handlers(shape, document.value)}
        is_there = store.plain_fields(found.get(at, {})) == hook.fields
    if step.kind == HOOK and not is_there:
        message = f"{draft.host.title} takes no hook from here, or it has just changed"
        hint = "`hookctl hooks` lists what is there now."
        raise document.error_at("wrong_shape", document.offset(at), message, hint)
    is_ours = any(entry.id == hook.name for entry in draft.entries if entry.id)
    return hook if is_ours else hook._replace(name="")


# Enabling.


def find_away(known: Mapping[str, DisabledFile], reader: Sources) -> Iterator[DisabledHook]:
    """What of these files is not back in them."""
    for path, file in known.items():
        if file.host not in hosts.names():  # of a newer hookctl
            yield from file.hooks
            continue
        target, document = target_of(file, path), None
        with contextlib.suppress(HookctlError):
            document = reader.read(target.path, target.host.format)[1]
        for hook in file.hooks:
            if document is None or not store.is_back(target.host, document, hook):
                yield hook


def plan_enable(sources: Sources, wanted: Sequence[DisabledHook]) -> Plan:
    """Plan to put hooks and values back; a file that is gone is an error."""
    jobs, projects = [], set[str]()
    for path, file in sources.records().disabled.items():
        hooks = [hook for hook in file.hooks if hook in wanted]
        if hooks:
            jobs.append(Enable(target_of(file, path), file, hooks))
            projects.add(file.project)
    return plan_jobs(sources, jobs, sorted(projects))


class Enable(Job):
    """Hooks and values come back into a file."""

    def __init__(self, target: Target, known: DisabledFile, hooks: Sequence[DisabledHook]) -> None:
        self.target, self.known, self.hooks = target, known, hooks

    def decide(self, drafts: Drafts) -> Draft:
        """Put them back; a file that is gone is an error."""
        draft = drafts.open(self.target)
        if draft.snapshot.data is None:
            path = draft.target.path
            message = "the file is gone, so there is no place for what was disabled in it"
            hint = f"Put back a backup first: `hookctl restore {shlex.quote(path)} --list`."
            raise HookctlError("file_gone", message, path=path, hint=hint, exit_code=FAILED)
        read = draft.sources.read
        for hook in self.hooks:  # a switch of the host's may stand in another file
            host = variant_of_file(hosts.load(hook.host), hook.file, read)
            loading.require(host, read(hook.file, host.format)[1])
        enable_in(draft, self.known, self.hooks)
        return draft


def enable_in(draft: Draft, known: DisabledFile, hooks: Iterable[DisabledHook]) -> None:
    """Put hooks and values back into the document of a draft, the newest layer's first.

    A line says which return, and why one does not.
    """
    chosen, host = list(hooks), draft.host
    # The host switches all hooks of a name on together.
    names = [hook.steps[0] for hook in chosen if hook.steps[0].kind == NAME]
    chosen += [hook for hook in known.hooks if hook.steps[0] in names and hook not in chosen]
    back = [hook for hook in known.hooks if store.is_back(host, draft.document, hook)]
    layers: list[Layer] = []
    known_ids = {entry.id for entry in draft.entries}
    for layer in reversed(known.layers):
        returning = []
        for hook in [hook for hook in layer.hooks if hook in chosen]:
            is_out = hook.steps[0].kind == HOOK and hook.pack in draft.packs
            if hook in back and not hook.is_values:
                draft.actions.append(line_about("keep", hook, "it is back in the file already"))
            elif is_out and hook.name not in known_ids:
                draft.actions.append(line_about("drop", hook, "the pack does not have it any more"))
            elif hook not in back:
                returning.append(hook)
                if not hook.is_values:
                    draft.actions.append(line_about("write", hook, describe(hook)))
                for path in [step.path for step in hook.steps if step.kind == VALUE]:
                    draft.actions.append(Action("write", path, "leaf", "", DISABLED, "owned"))
        if returning:
            draft.document = put_back(host, draft.document, layer, returning)
        rest = [hook for hook in layer.hooks if hook not in (*chosen, *back)]
        if rest:
            layers.insert(0, make_layer(host, layer.text, rest))
    draft.disabled_after = known._replace(layers=tuple(layers))
    if known.made and not (layers or draft.record or draft.document.data.strip()):
        draft.restored = None, None
        draft.rmdirs += known.made[1:]


def line_about(action: str, hook: DisabledHook, reason: str) -> Action:
    """A line of a plan about a disabled hook."""
    return Action(action, _list_path(hook), "element", hook.shown, DISABLED, "", reason)


def _list_path(hook: DisabledHook) -> Path:
    return (*shapes.Shape().root, hook.event)


def describe(hook: DisabledHook) -> str:
    """What a hook of another tool runs, on one short line, masked; nothing of one of ours."""
    command = "" if hook.name else store.text_of(hosts.load(hook.host), hook.fields)
    text = " ".join(masked_text(command).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


# What other verbs do with it.


def forget(draft: Draft, drafts: Drafts, packs: Sequence[str]) -> None:
    """Keep nothing of some packs any more, and take back the hosts' own switches of their hooks."""
    for path, known in draft.records.disabled.items():
        hooks = [one for one in known.hooks if _is_of(one, packs, draft)]
        if not hooks:
            continue
        beside = draft if path == draft.path else drafts.open(target_of(known, path))
        known = beside.disabled_after or known
        switches = [hook for hook in hooks if hook.steps[0].kind in _OWN]
        if beside.snapshot.data is not None and switches:
            lines = [line_about("drop", hook, "it was disabled") for hook in switches]
            actions = [*beside.actions, *lines]
            enable_in(beside, known, switches)
            beside.actions, known = actions, beside.disabled_after or known
        beside.disabled_after = known.keep(lambda hook, gone=hooks: hook not in gone)


def _is_of(hook: DisabledHook, packs: Sequence[str], draft: Draft) -> bool:
    return hook.pack in packs and hook.file == draft.target.path


def list_switched_off(draft: Draft, pack: str) -> Iterator[Action]:
    """A line for each hook of a pack that stands in the file, and that its host's switch is off."""
    known = {}
    for path, file in draft.records.disabled.items():
        file = file.keep(lambda hook: _is_of(hook, [pack], draft) and hook.steps[0].kind in _OWN)
        if file.hooks:
            known[path] = file
    for hook in find_away(known, draft.sources):
        line = line_about("keep", hook, f"disabled; `hookctl enable {pack}` puts it back")
        yield line._replace(id=hook.name, owners=(pack,))


# What both have in common.


def target_of(file: DisabledFile, path: str) -> Target:
    """The settings file of a record of what is disabled; `path` is its real path."""
    host = hosts.load(file.host)
    if file.format == host.format:  # else it is one with the host's own switches
        before = formats.parse(host.format, file.layers[-1].text.encode(), where=path)
        host = variant_of_file(host, file.known_as, lambda *_: (files.Snapshot(path, None), before))
    known_as = file.known_as if store.real_path(file.known_as) == path else path
    return Target(host._replace(format=file.format), file.scope, known_as, file.project)


def without(host: Host, before: Document, hooks: Iterable[DisabledHook]) -> Document:
    """The document after the steps of these hooks, whose paths are those before all of them."""
    steps = [step for hook in hooks for step in hook.steps]
    edits: list[Edit] = []
    for step in steps:
        if step.kind == HOOK:
            edits.append(DropHook(HookEntry(step.path, "", {})))
        elif step.kind == VALUE:
            edits.append(DropValue(step.path) if step.raw is None else Put(step.path, raw=step.raw))
    containers = [Prune(step.path, step.raw) for step in steps if step.kind == CONTAINER]
    edits += sorted(containers, key=lambda edit: len(edit.path), reverse=True)
    document = shapes.apply(host.shape, before, tuple(edits))
    for step in steps:
        if step.kind == SWITCH:
            document = document.set(step.path, False)
        elif step.kind == NAME and step.raw not in (document.get(step.path) or []):
            document = document.append(step.path, step.raw)
    return document


def _list_by_event(host: Host, document: Document) -> list[Path]:
    """The paths of all hooks, event by event: of a list, the events come in another order later."""
    paths = [path for path, *_ in shapes.handlers(host.shape, document.value)]
    events = len(host.shape.root) + 1
    return sorted(paths, key=lambda path: [*map(str, path[:events])])


def make_layer(host: Host, text: str, hooks: Sequence[DisabledHook]) -> Layer:
    """A layer whose hooks know how many equal ones are left of its text."""
    after = without(host, formats.parse(host.format, text.encode()), hooks)
    counted = [hook._replace(left=count_equal(host, after, hook)) for hook in hooks]
    return Layer(text, tuple(counted))


def put_back(
    host: Host, current: Document, layer: Layer, chosen: Sequence[DisabledHook]
) -> Document:
    """The current document with some of a layer's hooks as they were in its text."""
    before = formats.parse(host.format, layer.text.encode(), where=current.where)
    if current.data == without(host, before, layer.hooks).data:
        return without(host, before, [hook for hook in layer.hooks if hook not in chosen])
    for step in [step for hook in chosen for step in hook.steps]:
        current = _undo(host, before, current, step)
    return current


def _undo(host: Host, before: Document, current: Document, step: Step) -> Document:
    """The current document without one step; what somebody has set since stays."""
    path, is_there = step.path, current.get(step.path) is not MISSING
    if step.kind == HOOK:
        return _insert_hook(host, before, current, path)
    if step.kind == NAME:
        return _remove(before, current, (*path, str(step.raw)))
    if step.kind == SWITCH and before.get(path) is MISSING:
        return _remove(before, current, path) if current.get(path) is False else current
    is_as_left = not is_there if step.raw is None else is_there and current.raw(path) == step.raw
    if current.get(path) is False if step.kind == SWITCH else is_as_left:
        return shapes.apply(host.shape, current, (Put(path, raw=before.raw(path)),))
    return current


def _remove(before: Document, current: Document, path: Path) -> Document:
    """The document without a value, and without the containers of ours that this leaves empty."""
    current = current.remove(path)
    while (path := path[:-1]) and current.get(path) in ({}, []) and before.get(path) is MISSING:
        current = current.remove(path)
    return current


# A hook behind its former predecessor.


def _insert_hook(host: Host, before: Document, current: Document, path: Path) -> Document:
    """The document with a hook of the text before, in its group or in one of its own."""
    above = len(host.shape.root) + 1
    listed, item = path[:above], path[: above + 1]
    if path == item:
        return _insert(before, current, path, listed, same)
    group, groups = before.get(item), current.get(listed)
    mates = [number for number in range(len(group["hooks"])) if number != path[-1]]
    groups = groups if isinstance(groups, list) else []
    likeness = [_compare_groups(other, group, path[-1]) for other in groups]
    best = max(likeness, default=(0, 0, 0))
    if best[0]:
        number = likeness.index(best)
        return _insert(before, current, path, (*listed, number, "hooks"), same)
    for mate in reversed(mates):
        before = before.remove((*item, "hooks", mate))

    def share_hooks(group: Any, other: Any) -> bool:
        return any(same(one, two) for one in _hooks_in(group) for two in _hooks_in(other))

    return _insert(before, current, item, listed, share_hooks)


def _insert(
    before: Document,
    current: Document,
    path: Path,
    listed: Path,
    is_same: Callable[[Any, Any], bool],
) -> Document:
    """The document with an item of the text before in a list, behind its nearest predecessor."""
    items, position = current.get(listed), 0
    items = items if isinstance(items, list) else []
    formers = before.get(path[:-1])[: path[-1]]
    for index, former in enumerate(formers, 1):
        places = [number for number, item in enumerate(items, 1) if is_same(item, former)]
        rank = sum(is_same(other, former) for other in formers[:index])  # among its equals
        position = places[:rank][-1] if places else position
    try:
        return current.insert_raw((*listed, position), before.block(path))
    except (HookctlError, KeyError):
        return current.append(listed, before.get(path))  # its text cannot stand alone


def _compare_groups(other: Any, group: dict[str, Any], number: int) -> tuple[int, int, int]:
    """How like a group with its matcher is to the one that a hook was in: the more, the likelier.

    By how many of its mates it has, how few others, and that the hook itself is missing. What is
    left of the group without any hook has one mate, where it has more than a matcher.
    """
    if not isinstance(other, dict) or not same(other.get("matcher"), group.get("matcher")):
        return 0, 0, 0
    if other.get("hooks") == [] and set(group) - {"hooks", "matcher"}:
        return int(same({**other, **group, "hooks": []}, other)), 0, 1
    hooks, others = group["hooks"], _hooks_in(other)
    has = [any(same(hook, one) for one in others) for hook in hooks]
    known = sum(any(same(hook, one) for hook in hooks) for one in others)
    return sum(has) - has[number], known - len(others), int(not has[number])


def _hooks_in(group: Any) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []
