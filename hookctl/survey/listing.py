"""Makes the list of hooks from those that stand in files: IDs, and those that stand there twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from hookctl.errors import USAGE, HookctlError, nearest
from hookctl.hosts import hook_id
from hookctl.hosts.hook_id import digest
from hookctl.survey.model import (
    DISABLED,
    FOLDER_UNTRUSTED,
    IGNORED,
    OFF,
    RUNS,
    TWICE,
    UNKNOWN_EVENT,
    Hook,
    Obstacle,
)

_NOT_LOADED = (IGNORED, UNKNOWN_EVENT, OFF, FOLDER_UNTRUSTED, DISABLED)


def list_hooks(found: Iterable[Hook]) -> list[Hook]:
    """Every hook, in the order in which the hosts read them, with its ID; equal ones run once."""
    found = list(found)
    hooks = list(_judge_repeats(_judge_namesakes(found)))
    names = [
        hook_id.digest(hook.host, hook.scope, hook.event, hook.matcher, hook.command)
        for hook in hooks
    ]
    return [hook._replace(id=id) for hook, id in zip(hooks, hook_id.number(names), strict=True)]


def _judge_namesakes(hooks: Sequence[Hook]) -> list[Hook]:
    """The hooks; one is lost whose name another one before it has, where only one may."""
    judged = list(hooks)
    firsts: dict[tuple[str, str], Hook] = {}
    for _, items in groupby(enumerate(hooks), key=lambda item: item[1].file):
        for number, hook in sorted(items, key=lambda item: item[1].line):
            name = hook.fields.get("name")
            if not hook.within.host.scope_rules.same_name_once or not isinstance(name, str):
                continue
            obstacles = (*hook.obstacles, *hook.shared)
            if any(obstacle.state in _NOT_LOADED for obstacle in obstacles):
                continue
            first = firsts.setdefault((hook.host, name), hook)
            if first is not hook:
                lost = _judge_namesake(hook, first)
                judged[number] = hook._replace(obstacles=(lost, *hook.obstacles))
    return judged


def _judge_namesake(hook: Hook, first: Hook) -> Obstacle:
    """State and reason of a hook that has the name of one before it."""
    title = hook.within.host.title
    if hook.own_id and hook.own_id == first.own_id:
        return Obstacle(TWICE, f"the same hook is on {first.place}, and {title} runs it once")
    reason = f"the hook on {first.place} has the same name, and {title} runs only that one"
    return Obstacle(IGNORED, reason, "give it another name")


def _judge_repeats(hooks: Iterable[Hook]) -> Iterator[Hook]:
    """The hooks; of equal ones in settings only the first runs."""
    firsts: dict[tuple[str, ...], Hook] = {}
    for hook in hooks:
        if hook.state != RUNS:
            yield hook
            continue
        run = hook.within.expand(hook.command)  # two plugins may have one name
        name = str(hook.fields.get("name", ""))  # some hosts tell hooks apart by it
        first = firsts.setdefault((hook.host, hook.event, hook.matcher, run, name), hook)
        yield hook if first is hook else _judge_repeat(hook, first)


def _judge_repeat(hook: Hook, first: Hook) -> Hook:
    """A hook that is equal to one before it; the copy of a plugin runs."""
    host = hook.within.host
    if hook.plugin or first.plugin:
        return hook._replace(note=f"the same hook is on {first.place}, and both run")
    reason, fix = f"the same hook is on {first.place}", "remove one of the two"
    if host.scope_rules.same_command_once:
        reason, fix = f"{reason}, and {host.title} runs it once", ""
    else:
        reason = f"{reason}, so {host.title} may run it twice"
    return hook._replace(obstacles=(Obstacle(TWICE, reason, fix),))


_MOST = 5  # hooks that an error names
_LEAST = 4  # characters of an ID


def find(hooks: Sequence[Hook], text: str) -> list[Hook]:
    """The hooks of a PACK, those with the name PACK/ID, or the one whose ID begins with the text.

    Refuses (usage) what is no hook here, and a beginning that several hooks have.
    """
    named = [hook for hook in hooks if text in (hook.own_id, _pack_of(hook)) and hook.is_ours]
    if named:
        return named
    beginning, _, repeat = text.lower().partition("#")
    digests: dict[str, Hook] = {}
    for hook in hooks:
        name, _, count = hook.id.partition("#")
        is_long_enough = len(beginning) >= _LEAST
        if is_long_enough and (count or "1") == (repeat or "1") and _begins(hook, beginning):
            digests[name] = hook
    if len(digests) == 1:
        return list(digests.values())
    if digests:
        message = f"{text} is the beginning of several IDs"
        hint = "Give more of it: " + "; ".join(map(_describe, list(digests.values())[:_MOST]))
        raise HookctlError("usage", message, hint=hint, exit_code=USAGE)
    hint = "`hookctl hooks` lists every hook with its ID; give 4 characters or more."
    hint = suggest(hooks, text) or hint
    raise HookctlError("usage", f"no hook here has the ID {text}", hint=hint, exit_code=USAGE)


def suggest(hooks: Sequence[Hook], text: str) -> str:
    """The nearest name of one of our hooks or packs, as a question; or ''."""
    names = {name for hook in hooks if hook.is_ours for name in (hook.own_id, _pack_of(hook))}
    return nearest(text, names).strip()


def _begins(hook: Hook, beginning: str) -> bool:
    """Whether the digest of a hook, of which its ID is the beginning, begins so."""
    whole = digest(hook.host, hook.scope, hook.event, hook.matcher, hook.command)
    return whole.startswith(beginning)


def _pack_of(hook: Hook) -> str:
    return hook.own_id.partition("/")[0]


def _describe(hook: Hook) -> str:
    return f"{hook.id} ({hook.host} {hook.event}, line {hook.line} of {hook.file})"
