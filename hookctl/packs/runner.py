"""What a pack's command of Claude Code's protocol becomes: a call of the runner around it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from hookctl.hosts import Host, load
from hookctl.hosts.matchers import FOR_ALL, explain_mismatch
from hookctl.hosts.shapes import FAILS_OPEN, head
from hookctl.model import Wanted
from hookctl.packs import guard
from hookctl.packs.model import DEFAULT_TIMEOUT, Pack, PackHook, Part
from hookctl.packs.protocol import (
    ALL,
    EVENTS,
    FAILURE_EVENT,
    MATCHED_EVENTS,
    TOOL_EVENTS,
    fit,
    native_event,
    native_events,
)
from hookctl.packs.slots import fill, list_named_files
from hookctl.settings.targets import OWN, Target, in_sh, quote
from hookctl.system.packages import HOOK, PACKAGES

REFUSES = 42  # the runner's status for it
MARGIN = 2  # seconds that the host's limit is longer than the runner's
# The end of a registered command.
END = rf"(?: 2>/dev/null)?; (?:\[ \$\? -eq {REFUSES} \] && exit 2; )?exit 0"
# What stands in a command for the fields of Programs, by their numbers.
_FILES, _CALL, _LEAD, _QUIET = "\0", "\1", "\2", "\3"
Note = tuple[str, bool]  # what a host lacks for a pack, and whether that is certain
# What a hook may answer, by its event; at the others nobody waits for an answer.
_POSSIBLE = {
    "pre-tool": ("refuse", "ask", "change", "context"),
    "post-tool": ("refuse", "context"),
    FAILURE_EVENT: ("context",),
    "prompt": ("refuse", "context"),
    "session-start": ("context",),
    "stop": ("refuse",),
    "subagent-stop": ("refuse",),
}
_LOST = {  # what becomes of an answer that the host has no form for
    "refuse": "it cannot refuse there, so the call runs",
    "change": "a changed input becomes a refusal that names it",
    "replace": "what it puts in place of a result is dropped",
    "ask": "`ask` becomes a refusal",
    "allow": "`allow` lifts no permission",
    "context": "context for the model is dropped",
}
_MCP_NAME = r"mcp__[^|,()$\s]*"


class Programs(NamedTuple):
    """Where a pack's files and the runner lie, as text for sh in a host's settings."""

    files: str  # what {files} becomes
    call: str = ""  # the runner without arguments
    lead: str = ""  # what stands before a command that names either
    quiet: str = ""  # where the host takes what the shell says for an answer


def find_programs(target: Target, folder: str, top: str, python: str) -> Programs:
    """The programs of a pack with its files in `folder`; the launcher lies in `top`."""
    call = guard.call(target, f"{top}/{HOOK}", python)
    lead = target.host.environment.finds_project * target.shared
    return Programs(in_sh(target, folder), call, lead, guard.QUIET * target.host.registration.quiet)


def find_event(command: str) -> str:
    """The event of Claude Code that a registered command is run for; '' if it is no such one."""
    match = re.search(r" run ([A-Za-z]+) --host ", command)
    return match[1] if match else ""


def needs_runner(pack: Pack, host: Host) -> bool:
    """Whether any hook of a pack is run by the runner on a host."""
    return any(one.is_run and native_event(host, one.event) for one in hooks_of(pack, host.name))


def _runner_command(pack: Pack, hook: PackHook, host: Host, env: dict[str, str]) -> str:
    words = ["run", EVENTS[hook.event], "--host", shlex.quote(host.name)]
    words += ["--id", f"{pack.name}/{hook.id}"]
    limit = hook.timeout or DEFAULT_TIMEOUT
    if host.registration.longest:  # the host would end the runner, which then could not refuse
        limit = min(limit, host.registration.longest - MARGIN)
    if limit != DEFAULT_TIMEOUT:
        words += ["--timeout", str(limit)]
    if hook.event in MATCHED_EVENTS and hook.matcher not in ALL:
        words += ["--matcher", quote(host, hook.matcher)]
    if hook.on_failure == "deny":
        words += ["--on-failure", "deny"]
    if hook.may_allow:
        words += ["--may-allow"]
    if not host.env_path and not host.env_field:
        for key, value in env.items():
            words += ["--env", quote(host, f"{key}={value}")]
    if pack.files:
        words += ["--files", _FILES]
        for name in dict.fromkeys(list_named_files(hook.command)):
            if name in pack.files:
                words += ["--file", name]
    words.append(quote(host, hook.command))
    # Python itself ends with 2 where it finds no file, which would refuse.
    refuses = any("exit 2" in forms.values() for forms in host.runner.get("answers", {}).values())
    end = f"{_QUIET}; " + f"[ $? -eq {REFUSES} ] && exit 2; " * refuses + "exit 0"
    return f"{_LEAD}{_CALL} {' '.join(words)}{end}"


def _texts(host: Host, id: str, programs: Programs, command: str) -> tuple[str, str]:
    """A command, and a pattern for every one that this pack writes for this hook, with any path."""
    command = head(id) + command
    text = re.escape(command).replace(_LEAD + _CALL, guard.start_forms(host, PACKAGES))
    # 0.2.0 had neither a lead nor this end.
    text = text.replace(_LEAD, f"(?:{re.escape(host.environment.finds_project)})?")
    text = text.replace(_QUIET, f"(?:{guard.QUIET})?")
    files = guard.FILES_FORM
    old = re.escape(host.environment.in_command_0_2_0)
    if old:
        files = f"(?:{files}|{old}/{OWN}/packs/[a-z0-9-]+)"
    text = text.replace(_FILES, f"(?P<files>{files})", 1)
    return command.translate(dict(enumerate(programs))), text.replace(_FILES, "(?P=files)")


def hosts_file(packs: Mapping[str, list[str]], state: str) -> bytes:
    """What the runner has to know: the packs registered for each host, and of these hosts."""
    table: dict[str, Any] = {}
    for name in packs:
        facts = guard.host_table(load(name))
        table = {**facts, **table, name: facts[name]}  # its own row says who else runs its file
    lines = [f' "packs": {_dump(dict(packs))},']
    if state:
        lines.append(f' "state_dir": {_dump(state)},')
    for name, facts in table.items():
        table[name] = {**facts, **load(name).runner, "tools": load(name).tools}
    rows = [f"  {_dump(name)}: {_dump(facts)}" for name, facts in table.items()]
    text = "\n".join(["{", *lines, ' "hosts": {', ",\n".join(rows), " }", "}", ""])
    return text.encode("utf-8", "backslashreplace")


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def possible_answers(hook: PackHook) -> set[str]:
    """What a hook may answer as far as its pack says."""
    return {*_POSSIBLE.get(hook.event, ()), *declared_answers(hook)}


def declared_answers(hook: PackHook) -> set[str]:
    """What a hook answers by the words of its pack."""
    answers = {"allow"} if hook.may_allow else set()
    return answers | ({"refuse"} if hook.on_failure == "deny" else set())


def wants(
    pack: Pack,
    host: Host,
    programs: Programs,
    answers_of: Callable[[PackHook], Collection[str]] = possible_answers,
) -> tuple[list[Wanted], list[Note]]:
    """The pack's entries for this host, and what it lacks: each with whether that is certain.

    It is not, of an answer that may never come.
    """
    env = pack.parts[""].env | pack.parts.get(host.name, Part()).env
    values = {key: claim.value for key, claim in env.items()}
    found: list[Wanted] = []
    notes: list[Note] = []
    hooks = hooks_of(pack, host.name)
    if pack.all_hooks and not hooks:
        hosts = sorted({name for own, hook in pack.all_hooks for name in (own, *hook.hosts)} - {""})
        notes.append((f"no hook is for it, only for {', '.join(hosts)}", True))
    for hook in hooks:
        event = hook.event if hook.native else host.events.get(hook.event, "")
        if not (native_event(host, hook.event) if hook.is_run else event):
            lack = f"it has no event {EVENTS.get(hook.event, hook.event)}"
            if hook.event == FAILURE_EVENT and host.events.get("post-tool"):
                lack = "it does not say which calls failed"
            notes.append((f"{hook.id}: {lack}: not registered", True))
        elif hook.is_run:
            run, more = _runner_wants(pack, hook, host, programs, values, answers_of(hook))
            found += run
            notes += more
        else:
            # None for all tools, as `*` and "" match none on some hosts.
            matcher = None if hook.matcher in FOR_ALL else hook.matcher
            id, command = f"{pack.name}/{hook.id}", _host_command(pack, hook, host, event)
            texts, seconds = _texts(host, id, programs, command), hook.timeout
            found.append(
                guard.wanted_hook(host, id, event, *texts, seconds, matcher=matcher, env=values)
            )
            if reason := explain_mismatch(host, event, matcher):
                notes.append((f"the hook {hook.id} never runs there: {reason}", True))
    found = [*guard.top_wants(host), *found] if found else []
    if host.env_path:
        found += [
            Wanted((*host.env_path, key), "leaf", claim.value, merge=claim.merge)
            for key, claim in env.items()
        ]
    elif env and not host.env_field:
        has_runner = bool(hooks) and all(hook.is_run for hook in hooks)
        if not has_runner:  # which gives every hook its variables
            notes.append((f"it has no env channel: {', '.join(env)} is not set", True))
    return found, notes


def _runner_wants(
    pack: Pack,
    hook: PackHook,
    host: Host,
    programs: Programs,
    env: dict[str, str],
    answers: Collection[str],
) -> tuple[list[Wanted], list[Note]]:
    """The entries of a hook that the runner runs: several where the host has several events."""
    matcher, lost = fit(host, hook.event, hook.matcher)
    lack = f"{hook.id}: it has no {', '.join(lost)}"
    if lost and not matcher:
        return [], [(f"{lack}: not registered", True)]
    notes = [(lack, True)] if lost else []
    is_about_tools, forms = hook.event in TOOL_EVENTS, host.tools.get("mcp")
    names = ", ".join(re.findall(_MCP_NAME, hook.matcher or "")) if is_about_tools else ""
    if names and not forms:
        text = f"{hook.id}: how it names MCP tools is not known: {names} may never fit"
        notes.append((text, True))
    elif names and "{server}" not in forms[0] and "mcp_server" not in host.runner.get("fields", {}):
        text = f"{hook.id}: it does not tell the server of an MCP tool: {names} never fits"
        notes.append((text, True))
    wanted, seconds = [], (hook.timeout or DEFAULT_TIMEOUT) + MARGIN
    for number, event in enumerate(native_events(host, hook.event, matcher)):
        # An ID for each entry.
        own = hook._replace(id=f"{hook.id}.{event}") if number else hook
        id = f"{pack.name}/{own.id}"
        texts = _texts(host, id, programs, _runner_command(pack, own, host, env))
        wanted.append(guard.wanted_hook(host, id, event, *texts, seconds, matcher=matcher, env=env))
    return wanted, [*notes, *_notes_on_answers(hook, host, answers)]


def hooks_of(pack: Pack, host: str) -> list[PackHook]:
    """A host's hooks: its own replace those with the same id in place, and the others follow."""
    own = {hook.id: hook for hook in pack.parts.get(host, Part()).hooks}
    common = [hook for hook in pack.hooks if not hook.hosts or host in hook.hosts]
    replaced = [own.pop(hook.id, hook) for hook in common]
    return [*replaced, *own.values()]


def _host_command(pack: Pack, hook: PackHook, host: Host, event: str) -> str:
    """A hook's command, which does nothing where the pack's files are gone."""
    closed = host.registration.fails_closed
    text = FAILS_OPEN * any(host.events.get(name) == event for name in closed)
    if pack.files:
        first = f"{_FILES}/{pack.files[0]}"
        text += f"{_LEAD}[ -f {first} ] && [ -r {first} ] || exit 0; "
    values = {"files": _FILES, "host": shlex.quote(host.name), "event": shlex.quote(hook.event)}
    return text + "".join(fill(hook.command, values))


# What a host lacks for a pack


def describe(pack: Pack, host: Host, notes: Iterable[Note]) -> tuple[list[str], list[str]]:
    """What the host lacks, and what it lacks for answers that may never come, in sentences."""
    start, certainties = f"{pack.name} on {host.title}", dict(notes)
    surely = [f"{start}: {text}" for text, is_sure in certainties.items() if is_sure]
    assumed = "; ".join(text for text, is_sure in certainties.items() if not is_sure)
    return surely, [f"{start}, of what it may answer: {assumed}"] if assumed else []


def _notes_on_answers(hook: PackHook, host: Host, answers: Collection[str]) -> Iterator[Note]:
    """What becomes of answers on the host; that the pack declares one is certain."""
    forms = host.runner.get("answers", {}).get(EVENTS[hook.event], {})
    is_own = host.runner.get("own_protocol")
    for answer in () if is_own else ("refuse", "change", "ask", "allow", "context", "end"):
        text = _find_loss(hook, answer, forms) if answer in answers else ""
        if text:
            yield f"{hook.id}: {text}", answer in declared_answers(hook)
    if forms.get("silence"):
        yield f"{hook.id}: no opinion is told as an `allow`, since silence refuses there", False


def _find_loss(hook: PackHook, answer: str, forms: dict[str, str]) -> str:
    """What becomes of an answer with the host's forms; '' where nothing is lost."""
    if answer == "change" and hook.event == "post-tool":
        answer = "replace"
    if answer == "change" and forms.get("change_allows") and not hook.may_allow:
        return f"{_LOST['change']} (may_allow = false)"
    if forms.get(answer):
        return ""
    if answer == "refuse" and hook.event in TOOL_EVENTS[1:]:
        return "nobody reads a refusal"
    if answer == "end" and hook.event in ("stop", "subagent-stop"):
        return "`continue: false` lets the agent stop"
    if answer == "end":
        fate = "becomes a refusal" if forms.get("on_end") == "refuse" else "is dropped"
        return f"`continue: false` {fate}"
    return _LOST[answer]
