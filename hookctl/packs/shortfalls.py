"""What a host cannot do for a hook of Claude Code's protocol, in words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from hookctl.hosts import Host
from hookctl.packs.model import Pack, PackHook
from hookctl.packs.protocol import EVENTS, FAILURE_EVENT, TOOL_EVENTS, Fit

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


class Note(NamedTuple):
    """Something that a host lacks for a pack."""

    text: str  # without the host's name, for several hosts at once
    is_assumed: bool = False  # of an answer that the hook may give, and perhaps never does


def describe(pack: Pack, host: Host, notes: Iterable[Note]) -> tuple[list[str], list[str]]:
    """What the host lacks, and what it lacks for answers that may never come, in sentences."""
    start, surely, perhaps = f"{pack.name} on {host.title}", [], []
    for text, is_assumed in dict.fromkeys(notes):
        if is_assumed:
            perhaps.append(text)
        else:
            surely.append(f"{start}: {text}")
    return surely, [f"{start}, of what it may answer: {'; '.join(perhaps)}"] if perhaps else []


def no_event(hook: PackHook, host: Host) -> Note:
    """The host has no event for the hook."""
    lack = f"it has no event {EVENTS.get(hook.event, hook.event)}"
    if hook.event == FAILURE_EVENT and host.events.get("post-tool"):
        lack = "it does not say which calls failed"
    return Note(f"{hook.id}: {lack}: not registered")


def notes_on_tools(hook: PackHook, host: Host, matching: Fit) -> Iterator[Note]:
    """The tools that the hook is for, and that the host lacks or never names so."""
    if matching.lacking:
        end = ": not registered" if matching.never else ""
        yield Note(f"{hook.id}: it has no {', '.join(matching.lacking)}{end}")
    names = ", ".join(re.findall(_MCP_NAME, hook.matcher or ""))
    if matching.never or not names or hook.event not in TOOL_EVENTS:
        return
    forms = host.tools.get("mcp", ())
    if not forms:
        text = f"how it names the tools of MCP servers is not known: {names} may never fit"
        yield Note(f"{hook.id}: {text}")
    elif "{server}" not in forms[0] and "mcp_server" not in host.runner.get("fields", {}):
        text = f"it does not tell the server of an MCP tool: {names} never fits"
        yield Note(f"{hook.id}: {text}")


def possible_answers(hook: PackHook) -> set[str]:
    """What a hook may answer as far as its pack says."""
    return {*_POSSIBLE.get(hook.event, ()), *declared_answers(hook)}


def declared_answers(hook: PackHook) -> set[str]:
    """What a hook answers by the words of its pack."""
    answers = {"allow"} if hook.may_allow else set()
    return answers | ({"refuse"} if hook.on_failure == "deny" else set())


def notes_on_answers(hook: PackHook, host: Host, answers: Collection[str]) -> Iterator[Note]:
    """What becomes of answers on the host: of those that the pack declares, and of others."""
    forms = host.runner.get("answers", {}).get(EVENTS[hook.event], {})
    declared = declared_answers(hook)
    is_own = host.runner.get("own_protocol")
    for answer in () if is_own else ("refuse", "change", "ask", "allow", "context", "end"):
        if answer in answers:
            text = _find_loss(hook, answer, forms)
            if text:
                yield Note(f"{hook.id}: {text}", is_assumed=answer not in declared)
    if forms.get("silence"):
        text = "no opinion is told as an `allow`, since silence refuses there"
        yield Note(f"{hook.id}: {text}", is_assumed=True)


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
