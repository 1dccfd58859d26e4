"""What a pack's command of Claude Code's protocol becomes: a call of the runner around it.

`templates/runner/runner.py` has the runner's options.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

from hookctl.hosts import Host, load
from hookctl.hosts.matchers import FOR_ALL, explain_mismatch
from hookctl.hosts.shapes import FAILS_OPEN, head
from hookctl.model import Wanted
from hookctl.packs import guard
from hookctl.packs.abilities import (
    Note,
    no_event,
    notes_on_answers,
    notes_on_tools,
    possible_answers,
)
from hookctl.packs.guard import END_FORM, QUIET, files_form
from hookctl.packs.model import CLAUDE, EnvClaim, Pack, PackHook
from hookctl.packs.protocol import ALL, EVENTS, MATCHED_EVENTS, fit, native_event, native_events
from hookctl.packs.slots import fill, list_named_files, top_wants, wanted_hook
from hookctl.settings.targets import Target, in_sh, quote
from hookctl.system.packages import HOOK, PACKAGES

BY_STATUS = "exit 2"  # the form of an answer that an exit status gives
REFUSES = 42  # the runner's status for it
DEFAULT_TIMEOUT = 10  # seconds
MARGIN = 2  # seconds that the host's limit is longer than the runner's
# The end of a registered command.
END = rf"(?: 2>/dev/null)?; (?:\[ \$\? -eq {REFUSES} \] && exit 2; )?exit 0"


class Programs(NamedTuple):
    """Where a pack's files and the runner lie, as text for sh in a host's settings."""

    files: str  # what {files} becomes
    call: str = ""  # the runner without arguments
    lead: str = ""  # what stands before a command that names either


def find_programs(target: Target, folder: str, top: str, python: str) -> Programs:
    """The programs of a pack with its files in `folder`; the launcher lies in `top`."""
    call = guard.call(target, f"{top}/{HOOK}", python)
    lead = target.host.environment.finds_project * target.shared
    return Programs(in_sh(target, folder), call, lead)


def find_event(command: str) -> str:
    """The event of Claude Code that a registered command is run for; '' if it is no such one."""
    match = re.search(r" run ([A-Za-z]+) --host ", command)
    return match[1] if match else ""


def is_run_by_runner(pack: Pack, hook: PackHook) -> bool:
    """Whether a hook speaks Claude Code's protocol; a host's own hook speaks the host's."""
    return pack.protocol == CLAUDE and not hook.native


def needs_runner(pack: Pack, host: Host) -> bool:
    """Whether any hook of a pack is run by the runner on a host."""
    for hook in pack.hooks:
        is_there = not hook.hosts or host.name in hook.hosts
        if is_there and is_run_by_runner(pack, hook) and native_event(host, hook.event):
            return True
    return False


def runner_wants(
    pack: Pack,
    hook: PackHook,
    host: Host,
    programs: Programs,
    env: dict[str, EnvClaim],
    notes: list[Note],
    answers: Collection[str],
) -> list[Wanted]:
    """The entries of one hook, where anything of the host fits it; what it lacks goes to the notes.

    There are several where the host has several events for it. `answers` are those that the hook
    gives, as far as anybody knows.
    """
    if not native_event(host, hook.event):
        notes.append(no_event(hook, host))
        return []
    matching = fit(host, hook.event, hook.matcher)
    notes += notes_on_tools(hook, host, matching)
    if matching.never:
        return []
    notes += notes_on_answers(hook, host, answers)
    options = _options(hook, host, env)
    seconds = (hook.timeout or DEFAULT_TIMEOUT) + MARGIN
    values = {key: claim.value for key, claim in env.items()}
    end = f"{QUIET * host.registration.quiet}; {_status(host)}"
    wanted: list[Wanted] = []
    for event in native_events(host, hook.event, matching.matcher):
        own = hook._replace(id=f"{hook.id}.{event}") if wanted else hook  # an ID for each entry
        forms, id = _forms(pack, own, host, options), f"{pack.name}/{own.id}"
        words = " ".join(_words(pack, own, host, programs.files, options))
        command = f"{head(id)}{programs.lead}{programs.call} {words}{end}"
        wanted.append(
            wanted_hook(
                host, id, event, command, forms, seconds, matcher=matching.matcher, env=values
            )
        )
    return wanted


def _options(hook: PackHook, host: Host, env: dict[str, EnvClaim]) -> list[str]:
    """The runner's options for a hook, but for its files."""
    options = []
    limit = hook.timeout or DEFAULT_TIMEOUT
    if host.registration.longest:  # the host would end the runner, which then could not refuse
        limit = min(limit, host.registration.longest - MARGIN)
    if limit != DEFAULT_TIMEOUT:
        options += ["--timeout", str(limit)]
    if hook.event in MATCHED_EVENTS and hook.matcher not in ALL:
        options += ["--matcher", quote(host, hook.matcher)]
    if hook.on_failure == "deny":
        options += ["--on-failure", "deny"]
    if hook.may_allow:
        options += ["--may-allow"]
    if not host.env_path and not host.env_field:
        for key, claim in env.items():
            options += ["--env", quote(host, f"{key}={claim.value}")]
    return options


def _status(host: Host) -> str:
    """The end of a registered command; Python itself ends with 2 where it finds no file."""
    answers = host.runner.get("answers", {}).values()
    is_by_status = any(BY_STATUS in forms.values() for forms in answers)
    return f"[ $? -eq {REFUSES} ] && exit 2; exit 0" if is_by_status else "exit 0"


def _words(
    pack: Pack, hook: PackHook, host: Host, files_text: str, options: list[str]
) -> list[str]:
    words = ["run", EVENTS[hook.event], "--host", shlex.quote(host.name)]
    words += ["--id", f"{pack.name}/{hook.id}", *options]
    if pack.files:
        words += ["--files", files_text]
        for name in dict.fromkeys(list_named_files(hook.command)):
            if name in pack.files:
                words += ["--file", name]
    return [*words, quote(host, hook.command)]


def _forms(pack: Pack, hook: PackHook, host: Host, options: list[str]) -> str:
    """A pattern for every command that this pack writes for this hook, with any path."""
    mark = "\0"  # stands in no command
    words = re.escape(" ".join(_words(pack, hook, host, mark, options)))
    id = re.escape(head(f"{pack.name}/{hook.id}"))
    started = guard.start_forms(host, PACKAGES)
    end = END_FORM + re.escape(_status(host))
    return f"{id}{started} {words.replace(re.escape(mark), guard.files_form(host))}{end}"


# The table of hosts


def hosts_file(packs: Mapping[str, list[str]], state: str) -> bytes:
    """What the runner has to know: the packs that are registered for each host, and of these hosts.

    `state` is the state folder, or '' for the caller's own.
    """
    table: dict[str, Any] = {}
    for name in packs:
        facts = guard.host_table(load(name))
        table = {**facts, **table, name: facts[name]}  # its own row says who else runs its file
    lines = [f' "packs": {_dump(dict(packs))},']
    if state:
        lines.append(f' "state_dir": {_dump(state)},')
    rows = []
    for name, facts in table.items():
        host = load(name)
        rows.append(f"  {_dump(name)}: {_dump({**facts, **host.runner, 'tools': host.tools})}")
    text = "\n".join(["{", *lines, ' "hosts": {', ",\n".join(rows), " }", "}", ""])
    return text.encode("utf-8", "backslashreplace")


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


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
        _host_forms(pack, hook, host, event),
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


def _host_forms(pack: Pack, hook: PackHook, host: Host, event: str) -> str:
    """A pattern for every command that this pack writes for this hook, with any path."""
    marks = Programs("\0", lead="\1")  # these stand in no command
    files_text = f"(?P<files>{files_form(host)})"
    lead = f"(?:{re.escape(host.environment.finds_project)})?"  # 0.2.0 had none
    patterns = {marks.files: files_text, marks.lead: lead}
    pieces = _command(pack, hook, host, event, marks)
    text = "".join(patterns.get(piece) or re.escape(piece) for piece in pieces)
    first, found, rest = text.partition(files_text)
    return first + found + rest.replace(files_text, "(?P=files)")
