"""What came of hooks that were run once: each with its time and answer, and what the host does."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from hookctl.firing.model import (
    ALLOW,
    ASK,
    BLOCK,
    CHANGE,
    CONTEXT,
    DENY,
    END,
    FAILED,
    NONE,
    NOT_RUN,
    TIMEOUT,
    UNKNOWN,
    Call,
    Fired,
    Reading,
    Shot,
    Verdict,
    Volley,
)
from hookctl.hosts.hook_id import shorten
from hookctl.masking import OwnText, masked_text
from hookctl.model import Line
from hookctl.output.hooks import BEHIND_ID
from hookctl.output.lines import ERROR, OK, SKIP, WARN, amount, cut, place, tildes

_LONGEST = 60  # characters of a command in its line
_MOST = 20  # lines of an output that are shown
_WIDEST = 300  # characters of a line of it
_MARKS = {FAILED: ERROR, TIMEOUT: ERROR, NOT_RUN: SKIP, UNKNOWN: WARN, DENY: WARN, BLOCK: WARN}
_READ = {
    NONE: "no opinion",
    ALLOW: "allows the call",
    DENY: "refuses the call",
    ASK: "asks the person",
    BLOCK: "blocks",
    CHANGE: "changes the input",
    CONTEXT: "tells the model something",
    END: "ends the turn",
    FAILED: "counts as failed",
    TIMEOUT: "was ended",
    UNKNOWN: "nobody knows",
}
_WOULD = {
    "PreToolUse": {
        NONE: "would make the call",
        ALLOW: "would make the call, without asking anybody",
        DENY: "would refuse the call",
        ASK: "would ask the person",
        CHANGE: "would make the call with another input",
        CONTEXT: "would make the call, and tell the model more",
        END: "would end the turn",
    },
    "UserPromptSubmit": {
        NONE: "would take the prompt",
        BLOCK: "would refuse the prompt",
        CHANGE: "would take another prompt",
        CONTEXT: "would take the prompt, and tell the model more",
        END: "would end the turn",
    },
    "PostToolUse": {
        BLOCK: "would tell the model what is wrong with the call",
        CHANGE: "would tell the model another result",
        CONTEXT: "would tell the model more",
        END: "would end the turn",
    },
    "Stop": {
        NONE: "would stop",
        BLOCK: "would not stop: the block sends the agent on",
        CONTEXT: "would not stop: what it is told sends the agent on",
        END: "would stop, whatever other hooks say",
    },
}
_WOULD["SubagentStop"] = _WOULD["Stop"]
_GOES_ON = {NONE: "would go on", CONTEXT: "would go on, and tell the model more", END: "would end"}


def volley_lines(volley: Volley) -> Iterator[Line]:
    """The lines about one host: its hooks, and what it would do."""
    call, verdict = volley.call, volley.verdict
    of_tool = f" {call.tool}" if call.tool else ""
    yield Line(f"{call.host.title}  {call.event}{of_tool}")
    for fired in volley.fired:
        yield from _lines_of(fired)
    if not volley.fired:
        yield Line(describe_none("no hook is for this", "", volley.others), indent=2)
    if not volley.fired or not all(each.shot.is_out for each in volley.fired):
        skipped = sum(bool(each.shot.why_not) for each in volley.fired)
        yield Line(_describe_verdict(call, verdict, skipped), _verdict_mark(verdict))
    if volley.if_all is not None:
        yield Line(describe_if_all(volley), WARN)


def describe_none(text: str, tool: str, others: Sequence[str]) -> str:
    """That no hook is for a call, and what the others for the same event are for."""
    named = [matcher for matcher in others if matcher]
    if not named:
        return text
    matchers = " and ".join(cut(matcher, _LONGEST) for matcher in dict.fromkeys(named))
    are = "is" if len(named) == 1 else "are"
    of_tool = f" with {tool}" if tool else ""
    return f"{text}{of_tool} ({len(named)} {are} for {matchers})"


def describe_if_all(volley: Volley) -> str:
    """What the host would do if it ran the hooks that it leaves out; '' where there are none."""
    if volley.if_all is None:
        return ""
    names = [each.shot.name for each in volley.fired if each.shot.is_out]
    they = "it does" if len(names) == 1 else "they do"
    what = "it" if len(volley.fired) == 1 else " and ".join(names)
    would = _describe_verdict(volley.call, volley.if_all).rstrip(".")
    return f"If {what} ran, {would}; as it is, {they} not run."


def _describe_verdict(call: Call, verdict: Verdict, skipped: int = 0) -> str:
    """What the host would do, and why; with how many hooks were not run."""
    would = _WOULD.get(call.protocol, {}).get(verdict.outcome) or _GOES_ON.get(verdict.outcome)
    if verdict.outcome == UNKNOWN:
        would = "may do anything"
    text = f"{call.host.title} {would or 'would go on'}"
    if verdict.outcome == END and verdict.refuses and call.protocol == "PreToolUse":
        text += " and not make the call"
    reason = cut(masked_text(verdict.reason), _WIDEST)
    left_out = f"{amount(skipped, 'hook')} {'was' if skipped == 1 else 'were'} not run"
    if not skipped:
        return f"{text}: {reason}" if reason else text
    return f"{text} ({left_out}): {reason}" if reason else f"{text}; {left_out}"


def _verdict_mark(verdict: Verdict) -> str:
    return WARN if verdict.outcome not in (NONE, ALLOW, CONTEXT, CHANGE) else OK


def _lines_of(fired: Fired) -> Iterator[Line]:
    shot, ran, reading = fired
    where = place(shot.hook.file, shot.hook.line)
    mark = _MARKS.get(reading.outcome, OK)
    label = OwnText(shorten(shot.hook.id))
    name = shot.hook.own_id or cut(masked_text(shot.hook.command), _LONGEST)
    yield Line(name, mark, indent=2, label=label, path=where)
    if reading.outcome == NOT_RUN:
        yield Line(f"not run: {tildes(reading.reason)}", indent=BEHIND_ID)
        return
    if shot.note:
        yield Line(tildes(shot.note), indent=BEHIND_ID)
    yield Line(", ".join(_describe_run(fired)), indent=BEHIND_ID)
    yield from _output_lines("stdout", ran.out)
    yield from _output_lines("stderr", ran.err)


def _describe_run(fired: Fired) -> Iterator[str]:
    """Time, status, and how the host reads the answer."""
    ran, reading = fired.ran, fired.reading
    yield f"{ran.ms} ms"
    if ran.status is not None:
        yield f"exit status {ran.status}"
    text = _READ[reading.outcome]
    # A refusal's reason stands in the output below, and at the end.
    detail = "" if reading.outcome in (BLOCK, DENY) and ran.out + ran.err else _detail_of(reading)
    yield f"{text}: {cut(detail, _WIDEST)}" if detail else text


def _detail_of(reading: Reading) -> str:
    if reading.outcome == CHANGE:
        return masked_text(json.dumps(reading.change, ensure_ascii=False))
    if reading.outcome == CONTEXT:
        return masked_text(reading.context)
    return masked_text(reading.reason)


def _output_lines(name: str, text: str) -> Iterator[Line]:
    """What a hook printed, as far as it is worth a look."""
    lines = masked_text(text).strip("\n").splitlines()
    for line in lines[:_MOST]:
        yield Line(cut(line, _WIDEST), indent=BEHIND_ID, label=f"{name}:")
    if len(lines) > _MOST:
        yield Line(f"... and {len(lines) - _MOST} lines more", indent=BEHIND_ID, label=f"{name}:")


def ask_lines(shots: Sequence[Shot]) -> Iterator[str]:
    """What would run, for the person who is to agree: each command in full, with its place."""
    yield "these hooks would run here, as you:"
    for shot in shots:
        hook = shot.hook
        whose = f"of the plugin {hook.plugin}" if hook.plugin else "of this project"
        yield f"  {shot.host.title} {hook.event}, {whose}: {place(hook.file, hook.line)}"
        yield f"    {masked_text(hook.command)}"
