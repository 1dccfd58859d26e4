"""What a host cannot do for a hook of Claude Code's protocol, in words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from hookctl.hosts import Host
from hookctl.packs.model import Pack, PackHook
from hookctl.packs.protocol import EVENTS, FAILURE_EVENT, TOOL_EVENTS

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
_GOES_NOWHERE = "nobody reads a refusal"
_LETS_IT_GO = "it cannot refuse there, so the call runs"
_MCP_NAME = r"mcp__[^|,()$\s]*"


class Note(NamedTuple):
    """Something that a host lacks for a pack."""

    message: str  # a whole sentence, with the names of pack and host
    text: str  # the same without the host's name, for several hosts at once
    is_assumed: bool = False  # of an answer that the hook may give, and perhaps never does


def no_event(pack: Pack, hook: PackHook, host: Host) -> Note:
    """The host has no event for the hook."""
    lack = f"has no event {EVENTS[hook.event]}"
    if hook.event == FAILURE_EVENT and host.events.get("post-tool"):
        lack = "does not say which calls failed"
    end = f", so the hook {hook.id} is not registered there"
    return Note(f"{pack.name}: {host.title} {lack}{end}", f"{hook.id}: it {lack}: not registered")


def no_tools(
    pack: Pack, hook: PackHook, host: Host, tools: Collection[str], *, never: bool
) -> Note:
    """The host has none of some tools, or of all (`never`), that the hook is for."""
    names = ", ".join(tools)
    end = ", so the hook is not registered there" if never else ""
    text = f"{hook.id}: it has no {names}" + (": not registered" if never else "")
    return Note(f"{pack.name}: {host.title} has no {names} for {hook.id}{end}", text)


def unknown_mcp_names(pack: Pack, hook: PackHook, host: Host) -> Iterator[Note]:
    """The matcher has names of MCP tools, which this host does not tell, or nobody knows how."""
    names = ", ".join(re.findall(_MCP_NAME, hook.matcher or ""))
    if not names or hook.event not in TOOL_EVENTS:
        return
    forms = host.tools.get("mcp", ())
    if not forms:
        text = f"how it names the tools of MCP servers is not known: {names} may never fit"
    elif "{server}" not in forms[0] and "mcp_server" not in host.runner.get("fields", {}):
        text = f"it does not tell the server of an MCP tool: {names} never fits"
    else:
        return
    yield Note(f"{pack.name}: {host.title}, {hook.id}: {text}", f"{hook.id}: {text}")


def possible_answers(hook: PackHook) -> set[str]:
    """What a hook may answer as far as its pack says."""
    return {*_POSSIBLE.get(hook.event, ()), *declared_answers(hook)}


def declared_answers(hook: PackHook) -> set[str]:
    """What a hook answers by the words of its pack."""
    answers = {"allow"} if hook.may_allow else set()
    return answers | ({"refuse"} if hook.on_failure == "deny" else set())


def lost_answers(hook: PackHook, host: Host, answers: Collection[str]) -> list[str]:
    """What becomes of those answers of a hook that the host has no form for."""
    forms = host.runner.get("answers", {}).get(EVENTS[hook.event], {})
    if host.runner.get("own_protocol"):
        return []
    lost = []
    if "refuse" in answers and not forms.get("refuse"):
        lost.append(_GOES_NOWHERE if hook.event in TOOL_EVENTS[1:] else _LETS_IT_GO)
    if "change" in answers and hook.event == "post-tool":
        if not forms.get("replace"):
            lost.append("what it puts in place of a result is dropped")
    elif "change" in answers and not forms.get("change"):
        lost.append("a changed input becomes a refusal that names it")
    elif "change" in answers and forms.get("change_allows") and not hook.may_allow:
        lost.append("a changed input becomes a refusal that names it (may_allow = false)")
    if "ask" in answers and not forms.get("ask"):
        lost.append("`ask` becomes a refusal")
    if "allow" in answers and not forms.get("allow"):
        lost.append("`allow` lifts no permission")
    if "context" in answers and not forms.get("context"):
        lost.append("context for the model is dropped")
    if "end" in answers and not forms.get("end"):
        lost.append(_without_end(hook, forms.get("on_end") == "refuse"))
    return lost


def notes_on_answers(
    pack: Pack, hook: PackHook, host: Host, answers: Collection[str]
) -> Iterator[Note]:
    """What becomes of answers on the host: of those that the pack declares, and of others."""
    lost = lost_answers(hook, host, answers)
    declared = lost_answers(hook, host, declared_answers(hook))
    certain = [text for text in lost if text in declared]
    assumed = [text for text in lost if text not in declared]
    if host.runner.get("answers", {}).get(EVENTS[hook.event], {}).get("silence"):
        assumed.append("no opinion is told as an `allow`, since silence refuses there")
    start = f"{pack.name}: {host.title}, {hook.id}:"
    message = f"{start} {'; '.join(certain)}"
    yield from (Note(message, f"{hook.id}: {text}") for text in certain)
    message = f"{start} of what it may answer, {'; '.join(assumed)}"
    yield from (Note(message, f"{hook.id}: {text}", is_assumed=True) for text in assumed)


def _without_end(hook: PackHook, is_refused: bool) -> str:
    """What becomes of `continue: false`."""
    if hook.event in ("stop", "subagent-stop"):
        return "`continue: false` lets the agent stop"
    return f"`continue: false` {'becomes a refusal' if is_refused else 'is dropped'}"
