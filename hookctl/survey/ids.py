"""The ID of a hook, and the hooks that an ID means.

An ID is the start of the digest of host, scope, event, matcher and command, so it stays the same
when the hook moves in its file. Where several hooks have the same, the second one ends with `#2`.
"""

from __future__ import annotations

from collections.abc import Sequence

from hookctl.errors import USAGE, HookctlError, nearest
from hookctl.hosts.hook_id import digest
from hookctl.survey.model import Hook

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
