"""What a host can do, and what it cannot, in sentences for install and `hookctl hosts`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from hookctl.documents import Document
from hookctl.hosts import Host, loading, parse_version, read_cap
from hookctl.packs.choices import DEFAULT_LIMIT, Settings
from hookctl.packs.guard import (
    UNLIMITED_CAP,
    can_refuse,
    ends_refused,
    leaves_reminders,
    matcher_of,
    wanted_limit,
)
from hookctl.packs.model import Pack, PackHook
from hookctl.packs.protocol import EVENTS, FAILURE_EVENT, TOOL_EVENTS, Fit

_BLOCKING = ("breaker", "keepalive")  # the modes that block stops
_LEVELS = {"refuse_end": "warning", "message": "info"}  # of what only some settings need
_BLOCKS_NOTHING = "a hook cannot keep it working at a stop"


def list_abilities(host: Host) -> dict[str, bool]:
    """What a hook can do there at a stop and at a tool call."""
    answers = host.runner.get("answers", {})
    tool, stop = answers.get("PreToolUse", {}), answers.get("Stop", {})
    dialect = host.dialect  # a host without a runner has these only
    at_stop = bool(dialect.end or stop.get("end"))
    at_call = bool(dialect.refuse_end or tool.get("end"))
    return {
        "block": bool(dialect.block or stop.get("refuse")),
        "refuse": bool(dialect.refuse or tool.get("refuse")),
        "ask": bool(tool.get("ask")),
        "change": bool(tool.get("change")),
        "end": at_stop or at_call,
        "end_at_stop": at_stop,
        "end_at_call": at_call,
    }


def shortcomings(host: Host) -> list[str]:
    """Everything that a host cannot do, with any settings."""
    older = [f"before {since} it {does}" for since, does in host.client.since.values()]
    return [*_unproven(host), *_cap(host), *_unanswered(host), *host.cannot, *older]


def lacks(
    host: Host, version: str, settings: Settings | None, document: Document | None
) -> Iterator[tuple[str, str, str]]:
    """What of the installed setup a version of the client lacks: level, what it does, since when.

    `settings` are those of the guard, `document` is the settings file.
    """
    for feature, (since, does) in host.client.since.items():
        is_older = parse_version(version) < parse_version(since)
        if is_older and _is_needed(feature, host, settings, document):
            yield _LEVELS.get(feature, "error"), does, since


def _is_needed(
    feature: str, host: Host, settings: Settings | None, document: Document | None
) -> bool:
    if feature == "entries":
        faults = loading.read(host, document).faults if document else ()
        return any(fault.reach in (loading.ITEM, loading.EVENT) for fault in faults)
    if feature == "refuse_end":
        is_asked = settings is not None and "pre-tool" in settings.events
        return is_asked and ends_refused(settings, host)
    return feature != "message" or (settings is not None and settings.mode != "off")


def limits_for(host: Host, settings: Settings, cap: str = "") -> tuple[list[str], list[str]]:
    """Where the host does not do what the person asks the guard for; and what else limits it.

    `cap` is the person's own setting of the host's cap.
    """
    mode, limit, options = settings.mode, wanted_limit(settings), settings.effective
    missed: list[str] = []
    others = [*_unproven(host), *(host.cannot if settings.events else ())]
    # Nobody chose the default limit, so a cap below it takes nothing from anybody.
    is_chosen = mode == "keepalive" or limit != str(DEFAULT_LIMIT)
    most = _fixed_cap(host, cap)
    own = int(UNLIMITED_CAP) if mode == "keepalive" else int(limit)
    if mode in _BLOCKING and 0 < most < own:
        blocks = f"the host grants no more than {count_blocks(host, most)}"
        text = f"{blocks}, so the guard stops blocking after {most} and not {own}"
        (missed if is_chosen else others).append(text)
    is_ended = options.get("dispatch_tools") and options.get("dispatch_end", 0) > 0
    if is_ended and can_refuse(host) and not host.dialect.refuse_end:
        others.append("a refused tool call cannot end the turn, so --dispatch only refuses")
    if settings.events:
        if not host.dialect.block and mode in _BLOCKING:
            missed.append(f"{_BLOCKS_NOTHING}, so the guard only watches there")
        if not host.dialect.end and mode == "guard":
            other = "; `--wrap` limits such a hook" if host.registration.wraps else ""
            reason = f"no hook can end a turn there{other}"
            missed.append(f"mode guard only counts the stops that other hooks force: {reason}")
        missed += _lost_options(host, mode, options)
    if "pre-tool" in settings.events and can_refuse(host):
        from hookctl.hosts.matchers import explain_mismatch  # late: few guards count calls

        reason = explain_mismatch(host, host.events["pre-tool"], matcher_of(settings, host))
        missed += [f"--dispatch does nothing: {reason}"] if reason else []
    title = host.title
    return [f"{title}: {line}" for line in missed], [f"{title}: {line}" for line in others]


def _lost_options(host: Host, mode: str, options: Mapping[str, Any]) -> Iterator[str]:
    """Options that have no effect on the host."""
    if options.get("dispatch_tools") and not can_refuse(host):
        yield "a hook cannot refuse a tool call, so --dispatch does nothing"
    if mode != "off" and leaves_reminders(host, options):
        where = host.guard.reminds_where
        yield f"it reminds its own workers, where {where} is set, so the guard does not"
    if options.get("guidance") is True and not host.dialect.context:
        yield "a session's start takes no text from a hook, so --guidance does nothing"


def count_blocks(host: Host, number: int) -> str:
    """A number of blocks in words, as the host counts them."""
    blocks = "1 block" if number == 1 else f"{number} blocks"
    return f"{blocks} in a turn" if host.cap.get("per_turn") else f"{blocks} in a row"


def _unproven(host: Host) -> Iterator[str]:
    if host.sure == "proven":
        return
    source = {"read": "the source of the client", "docs": "documents"}[host.sure]
    yield f"not proven: what hookctl knows of it is from {source}, and no client was run"


def _fixed_cap(host: Host, text: str = "") -> int:
    """The cap on blocks in a row that hookctl cannot lift; 0 if there is none.

    `text` is the person's own cap setting.
    """
    cap = host.cap
    if not cap or "field" in cap or ("key" in cap and "most" not in cap):
        return 0
    if "key" not in cap:
        return int(read_cap(host, text))
    return cap.get("most", cap["default"]) - cap.get("overrides_last", False)


def _cap(host: Host) -> Iterator[str]:
    most = _fixed_cap(host)
    if not most:
        return
    unless = "whatever is set"
    if "setting" in host.cap and "key" not in host.cap:
        unless = f"if {'.'.join(host.cap['setting'])} does not say otherwise"
    yield f"grants at most {count_blocks(host, most)}, {unless}"


def _unanswered(host: Host) -> Iterator[str]:
    dialect = host.dialect
    if not dialect.block:
        yield _BLOCKS_NOTHING
    if not dialect.release:
        yield ("shows no message of a hook that lets the agent stop; `hookctl log` has it")
    if not dialect.end:
        yield "a hook cannot end a turn that other hooks force on"
    if not can_refuse(host):
        packs = "; a pack's hook can" if list_abilities(host)["refuse"] else ""
        yield f"the guard cannot refuse a tool call{packs}"
    elif not dialect.refuse_end:
        yield "a refused tool call cannot end the turn"


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


def describe(
    pack: Pack, host: Host, lacking: Iterable[str], perhaps: Iterable[str]
) -> tuple[list[str], list[str]]:
    """What the host lacks, and what it lacks for answers that may never come, in sentences."""
    start, assumed = f"{pack.name} on {host.title}", "; ".join(dict.fromkeys(perhaps))
    surely = [f"{start}: {text}" for text in dict.fromkeys(lacking)]
    return surely, [f"{start}, of what it may answer: {assumed}"] if assumed else []


def no_event(hook: PackHook, host: Host) -> str:
    """The host has no event for the hook."""
    lack = f"it has no event {EVENTS.get(hook.event, hook.event)}"
    if hook.event == FAILURE_EVENT and host.events.get("post-tool"):
        lack = "it does not say which calls failed"
    return f"{hook.id}: {lack}: not registered"


def notes_on_tools(hook: PackHook, host: Host, matching: Fit) -> Iterator[str]:
    """The tools that the hook is for, and that the host lacks or never names so."""
    if matching.lacking:
        end = ": not registered" if matching.never else ""
        yield f"{hook.id}: it has no {', '.join(matching.lacking)}{end}"
    names = ", ".join(re.findall(_MCP_NAME, hook.matcher or ""))
    if matching.never or not names or hook.event not in TOOL_EVENTS:
        return
    forms = host.tools.get("mcp", ())
    if not forms:
        yield f"{hook.id}: how it names MCP tools is not known: {names} may never fit"
    elif "{server}" not in forms[0] and "mcp_server" not in host.runner.get("fields", {}):
        yield f"{hook.id}: it does not tell the server of an MCP tool: {names} never fits"


def possible_answers(hook: PackHook) -> set[str]:
    """What a hook may answer as far as its pack says."""
    return {*_POSSIBLE.get(hook.event, ()), *declared_answers(hook)}


def declared_answers(hook: PackHook) -> set[str]:
    """What a hook answers by the words of its pack."""
    answers = {"allow"} if hook.may_allow else set()
    return answers | ({"refuse"} if hook.on_failure == "deny" else set())


def notes_on_answers(
    hook: PackHook, host: Host, answers: Collection[str]
) -> tuple[list[str], list[str]]:
    """What becomes of answers on the host: of those that the pack declares, and of others."""
    forms, declared = host.runner.get("answers", {}).get(EVENTS[hook.event], {}), []
    perhaps = []
    is_own = host.runner.get("own_protocol")
    for answer in () if is_own else ("refuse", "change", "ask", "allow", "context", "end"):
        text = _find_loss(hook, answer, forms) if answer in answers else ""
        if text:
            texts = declared if answer in declared_answers(hook) else perhaps
            texts.append(f"{hook.id}: {text}")
    if forms.get("silence"):
        text = "no opinion is told as an `allow`, since silence refuses there"
        perhaps.append(f"{hook.id}: {text}")
    return declared, perhaps


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
