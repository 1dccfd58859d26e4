"""What a pack wants in a host's settings file: its commands in full, and its env values."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Iterator

from hookctl.hosts import Host
from hookctl.hosts.matchers import FOR_ALL, explain_mismatch
from hookctl.hosts.shapes import FAILS_OPEN, head
from hookctl.model import Wanted
from hookctl.packs.abilities import Note, no_event, possible_answers
from hookctl.packs.guard import files_form
from hookctl.packs.model import EnvClaim, Pack, PackHook
from hookctl.packs.runner import Programs, is_run_by_runner, runner_wants
from hookctl.packs.slots import fill, top_wants, wanted_hook

_EXEC = re.compile(r"(?:^|[;&|({])\s*exec\s")  # it replaces the shell, and with it the trap


def wants(
    pack: Pack,
    host: Host,
    programs: Programs,
    answers_of: Callable[[PackHook], Collection[str]] = possible_answers,
) -> tuple[list[Wanted], list[Note]]:
    """The pack's entries for this host, and notes on what the host lacks.

    `answers_of` is what a hook answers.
    """
    env = {**pack.env, **(pack.hosts[host.name].env if host.name in pack.hosts else {})}
    found: list[Wanted] = []
    notes: list[Note] = []
    hooks = hooks_of(pack, host.name)
    if pack.has_hooks and not hooks:
        hosts = sorted({name for own, hook in pack.all_hooks for name in (own, *hook.hosts)} - {""})
        notes.append(Note(f"no hook is for it, only for {', '.join(hosts)}"))
    for hook in hooks:
        if is_run_by_runner(pack, hook):
            answers = answers_of(hook)
            found += runner_wants(pack, hook, host, programs, env, notes, answers)
            continue
        event = hook.event if hook.native else host.events.get(hook.event, "")
        if event:
            found.append(_element(pack, hook, host, event, programs, env))
            notes += _shortfalls(hook, host, event)
        else:
            notes.append(no_event(hook, host))
    found = [*top_wants(host), *found] if found else []
    if host.env_path:
        found += [
            Wanted((*host.env_path, key), "leaf", claim.value, merge=claim.merge)
            for key, claim in env.items()
        ]
    elif env and not host.env_field:
        has_runner = bool(hooks) and all(is_run_by_runner(pack, hook) for hook in hooks)
        if not has_runner:  # which gives every hook its variables
            notes.append(Note(f"it has no env channel: {', '.join(env)} is not set"))
    return found, notes


def _shortfalls(hook: PackHook, host: Host, event: str) -> Iterator[Note]:
    """What prevents a hook of the host's own protocol from running as it is meant to."""
    if is_refused_by_failure(host, event) and _EXEC.search(hook.command):
        why = "exec in its command hides the status from sh"
        yield Note(f"it refuses what the hook {hook.id} is asked about if it fails: {why}")
    reason = explain_mismatch(host, event, _matcher(hook))
    if reason:
        yield Note(f"the hook {hook.id} never runs there: {reason}")


def hooks_of(pack: Pack, host: str) -> list[PackHook]:
    """A host's hooks: its own replace those with the same id in place, and the others follow."""
    own = {hook.id: hook for hook in pack.hosts[host].hooks} if host in pack.hosts else {}
    common = [hook for hook in pack.hooks if not hook.hosts or host in hook.hosts]
    replaced = [own.pop(hook.id, hook) for hook in common]
    return [*replaced, *own.values()]


def _element(
    pack: Pack,
    hook: PackHook,
    host: Host,
    event: str,
    programs: Programs,
    env: dict[str, EnvClaim],
) -> Wanted:
    return wanted_hook(
        host,
        f"{pack.name}/{hook.id}",
        event,
        "".join(_command(pack, hook, host, event, programs)),
        _forms(pack, hook, host, event),
        hook.timeout,
        matcher=_matcher(hook),
        env={key: claim.value for key, claim in env.items()},
    )


def _matcher(hook: PackHook) -> str | None:
    """The matcher to write: none for all tools, as `*` and "" match none on some hosts."""
    return None if hook.matcher in FOR_ALL else hook.matcher


def _command(
    pack: Pack, hook: PackHook, host: Host, event: str, programs: Programs
) -> Iterator[str]:
    """Yields the command's parts; {files} as its own part."""
    files_text = programs.files
    yield head(f"{pack.name}/{hook.id}")
    if is_refused_by_failure(host, event):
        yield FAILS_OPEN
    if pack.files:
        first = pack.files[0]
        yield from (programs.lead, "[ -f ", files_text, f"/{first} ] && [ -r ")
        yield from (files_text, f"/{first} ] || exit 0; ")
    values = {"files": files_text, "host": shlex.quote(host.name), "event": shlex.quote(hook.event)}
    yield from fill(hook.command, values)


def is_refused_by_failure(host: Host, event: str) -> bool:
    """Whether the host refuses what it asks about on this event of its own if a hook fails."""
    closed = host.registration.fails_closed
    return any(host.events.get(name) == event for name in closed)


def _forms(pack: Pack, hook: PackHook, host: Host, event: str) -> str:
    """A pattern for every command that this pack writes for this hook, with any path."""
    marks = Programs("\0", lead="\1")  # these stand in no command
    files_text = f"(?P<files>{files_form(host)})"
    lead = f"(?:{re.escape(host.environment.finds_project)})?"  # 0.2.0 had none
    patterns = {marks.files: files_text, marks.lead: lead}
    pieces = _command(pack, hook, host, event, marks)
    text = "".join(patterns.get(piece) or re.escape(piece) for piece in pieces)
    first, found, rest = text.partition(files_text)
    return first + found + rest.replace(files_text, "(?P=files)")
