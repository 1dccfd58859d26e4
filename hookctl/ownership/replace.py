"""A pack in the place of other tools' hooks, which it names by a part of their commands.

An install disables them in the file that it writes, and an uninstall puts them back.
"""

from collections.abc import Iterable, Iterator

from hookctl import clock
from hookctl.hosts import Host, codex, shapes
from hookctl.model import PackRecord
from hookctl.ownership import disable, store
from hookctl.ownership.draft import Draft
from hookctl.ownership.plan import Drafts
from hookctl.ownership.store import HOOK, NAME, SWITCH, DisabledHook, Step
from hookctl.packs import REPLACES, Pack


def take_out(
    draft: Draft, drafts: Drafts, pack: Pack, record: PackRecord, *, force: bool
) -> PackRecord:
    """Disable the hooks that a pack replaces; returns its record with what it names.

    Without `force` a hook that an earlier install named stays, since somebody has put it back.
    While the pack is disabled, all of them stay. Hooks in a project's own file are only named.
    """
    target, known, names = draft.target, draft.packs.get(pack.name), pack.replaces
    former, why = (), "it came back since"
    if known and not (force or target.shared):
        former = known.settings.get(REPLACES, ())
        away = [hook for file in draft.records.disabled.values() for hook in file.hooks]
        if any((hook.pack, hook.file) == (pack.name, target.path) for hook in away):
            names, why = former, f"{pack.name} is disabled"
    job = disable.Disable(disable.place_of(draft.folders, target))
    for hook in _find(draft, pack):
        command = disable.describe(hook)
        if target.shared:
            text = f"{pack.name} replaces `{command}` ({hook.event}), and both run: "
            draft.warn("replaces", f"{text}remove it from {target.path}")
        elif _is_named({*names} - {*former}, draft.host, hook):
            job.chosen.append((target, hook))
        else:
            reason = f"{command}; {pack.name} replaces it, but {why}; --force disables it"
            line = disable.line_about("keep", hook, reason)
            draft.actions.append(line._replace(from_state="foreign"))
    if job.chosen:
        job.decide(drafts)
        draft.replaced += [hook for _, hook in job.chosen]
    settings = {} if target.shared else {REPLACES: [*names]}
    return record._replace(settings={**record.settings, **settings})


def _find(draft: Draft, pack: Pack) -> Iterator[DisabledHook]:
    """The hooks of other tools that a pack names, and that are not off already."""
    host, target, document = draft.host, draft.target, draft.document
    place, now = disable.place_of(draft.folders, target), clock.now(draft.folders.environ)
    switches = draft.sources.read(place.path, place.host.format)[1]
    names = host.list_key("names")
    for path, handler, group in shapes.handlers(host.shape, document.value):
        step, command = Step(HOOK, path), store.text_of(host, handler)
        if names and "name" not in handler:  # else another hook may have the same one
            step = Step(NAME, names, command)
        event, matcher = shapes.event_of(host.shape, path), group.get("matcher")
        matcher = matcher if isinstance(matcher, str) else ""
        digest = shapes.hook_digest(host.name, target.scope, event, matcher, command)
        hook = DisabledHook(
            host=host.name,
            scope=target.scope,
            file=target.path,
            steps=(step,),
            event=event,
            matcher=matcher,
            fields=store.plain_fields(handler),
            id=digest[: shapes.ID_LENGTH],
            since=now,
            by=pack.name,
        )
        if host.trust.config:
            step = Step(SWITCH, (*codex.state_path(target.path, path), "enabled"))
        is_on = store.is_back(host, switches, hook._replace(steps=(step,)))
        is_ours = shapes.element(host.shape, path, handler, group)
        if is_on and not is_ours and _is_named(pack.replaces, host, hook):
            yield hook


def _is_named(texts: Iterable[str], host: Host, hook: DisabledHook) -> bool:
    return any(text in store.text_of(host, hook.fields) for text in texts)


def give_back(draft: Draft, drafts: Drafts) -> None:
    """Put back the hooks that no pack of a settings file replaces any more."""
    for path, file in draft.records.disabled.items():
        if all(_find_owner(draft, hook) == hook.by for hook in file.hooks):
            continue
        beside = draft if path == draft.path else drafts.open(disable.target_of(file, path))
        known = beside.disabled_after or file
        if beside.snapshot.data is not None:  # else only `hookctl enable` can say that it is gone
            back = [hook for hook in known.hooks if hook.by and not _find_owner(draft, hook)]
            disable.enable_in(beside, known, back)
            known = beside.disabled_after or known
        beside.disabled_after = known.change(
            lambda hook: hook._replace(by=_find_owner(draft, hook))
        )


def _find_owner(draft: Draft, hook: DisabledHook) -> str:
    """The pack that replaces a hook from now on; empty for none."""
    if hook.by in ("", *draft.packs) or hook.file != draft.target.path:
        return hook.by
    for name, known in draft.packs.items():
        if _is_named(known.settings.get(REPLACES, ()), draft.host, hook):
            return name
    return ""
