"""What a host makes of one hook's answer, by the table `reads` of its data file; nothing is read.

A form is a path in the answer's object, with the value that it must have there: `decision=block`,
or any value: `hookSpecificOutput.updatedInput`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hookctl.firing.calls import Call, Reading
from hookctl.hosts.loading import is_within, read_status
from hookctl.system.package_data import guard_module
from hookctl.system.processes import LIMIT, Output

STOPS = ("Stop", "SubagentStop")
_BLOCKING = ("UserPromptSubmit", "PostToolUse", *STOPS)  # a refusal is a block there
_NESTED = "hookSpecificOutput"
_REASONS = (
    f"{_NESTED}.permissionDecisionReason",
    f"{_NESTED}.reason",
    "permissionDecisionReason",
    "reason",
    "agent_message",
    "user_message",
    "followup_message",
    "message",
    "stopReason",
)
_REFUSED = 2  # its text is on stderr; that of other statuses may stand anywhere


def read_answer(call: Call, ran: Output) -> Reading:
    """What the host of a call makes of how a hook ended and what it printed."""
    if ran.is_cut:
        return Reading("failed", f"it printed more than {LIMIT >> 20} MiB")
    if ran.status is None:
        return Reading("timeout", "it took too long")
    table = call.host.reads
    rules = table.get(call.protocol)
    if rules is None:
        said = ran.status or ran.out.strip()
        reason = f"what {call.host.title} makes of an answer to {call.event} is not known"
        return Reading("unknown", reason) if said else Reading("none")
    refusal = "block" if call.protocol in _BLOCKING else "deny"
    return _read(call, {**table, **rules, "refusal": refusal}, ran)


def _read(call: Call, rules: Mapping[str, Any], ran: Output) -> Reading:
    runner = guard_module("answer")
    status, text = ran.status or 0, ran.out.strip(runner.BLANKS)
    told = ran.err.strip()
    if call.host.denials.get("stderr"):
        told = text = text or ran.err.strip(runner.BLANKS)
    values = runner.object_in(text)
    if values is not None and is_within(status, rules.get("json", "0")):
        answer = _read_object(call, rules, values)
        is_text = answer == Reading("none") and rules.get("any_text")
        is_read = status == 0 and not is_text
        if is_read or rules.get("json_first") or answer.refuses:
            return answer
    told = told or text if status > _REFUSED else told
    does = read_status(rules, status, told)  # what a status says by itself
    if does in ("refuse", "end"):
        own_words = rules.get("status_reason")
        reason = own_words.format(status=status) if own_words else told
        outcome = "end" if does == "end" else rules["refusal"]
        return Reading(outcome, reason, source="status", refuses=True)
    if does:
        return Reading("context", context=told) if told else Reading("none")
    if status:
        said = "".join(f": {line[:200]}" for line in ran.err.strip().splitlines()[-1:])
        return Reading("failed", f"exit status {status}{said}")
    if rules.get("closed"):
        return Reading(rules["refusal"], "it printed no decision", refuses=True)
    if text.startswith(("{", "[")) and not rules.get("any_text"):
        return Reading("failed", "its output is not one JSON object")
    if text and rules.get("text") == "context":
        return Reading("context", context=text)
    return Reading("none")


def _read_object(call: Call, rules: Mapping[str, Any], values: dict[str, Any]) -> Reading:
    fault = _find_fault(call, rules, values)
    if fault:
        return Reading("failed", f"{fault}, so {call.host.title} ignores the answer")
    ended, refused = _match(rules, "end", values), _match(rules, "refuse", values)
    reason, stop_reason = _find_reason(values), _text_at(values, "stopReason")
    if refused and not (ended and call.protocol in STOPS):  # the end of a turn beats it at a stop
        outcome = "end" if ended or _match(rules, "end_of_refusal", values) else rules["refusal"]
        reason = stop_reason if refused == "continue=false" else reason
        return Reading(outcome, reason, source=_source_of(refused), refuses=True)
    if ended:
        return Reading("end", stop_reason, refuses=call.protocol in STOPS)
    asked, allowed = _match(rules, "ask", values), _match(rules, "allow", values)
    change = _value_at(values, _match(rules, "change", values))
    if rules.get("change_allows") and not allowed:
        change = None
    context = _text_at(values, _match(rules, "context", values))
    if asked or allowed or change is not None:
        outcome = "ask" if asked else "allow" if change is None else "change"
        return Reading(outcome, reason, change, context, _source_of(asked or allowed))
    return Reading("context", context=context) if context else Reading("none")


def _find_fault(call: Call, rules: Mapping[str, Any], values: dict[str, Any]) -> str:
    """What makes the host pass over the whole object."""
    nested, decision = values.get(_NESTED), values.get("decision")
    decisions = rules.get("decisions")
    if decisions and decision is not None and decision not in decisions:
        return f"it does not know the decision {json.dumps(decision)[:80]}"
    is_named = isinstance(nested, dict) and nested.get("hookEventName") == call.event
    if rules.get("named") and nested is not None and not is_named:
        return f"{_NESTED} is not for {call.event}"
    strange: list[str] = []
    for told, known in ((values, rules.get("keys")), (nested, rules.get("strict"))):
        if known is not None and isinstance(told, dict):
            strange += [key for key in told if key not in known]
    if strange:
        return f"it does not know {', '.join(strange)}"
    needs_reason = rules.get("needs_reason") and _match(rules, "refuse", values)
    if needs_reason and not _find_reason(values).strip():
        return "a refusal without a reason is void"
    return ""


def _match(rules: Mapping[str, Any], name: str, values: dict[str, Any]) -> str:
    """The first of the forms with this name that the object has; '' if none."""
    for form in rules.get(name, ()):
        path, _, word = form.partition("=")
        value = _value_at(values, path)
        is_meant = not word or value == {"true": True, "false": False}.get(word, word)
        if value is not None and is_meant:
            return str(form)
    return ""


def _value_at(values: dict[str, Any], path: str) -> Any:
    inside: Any = values
    for part in path.split("."):
        inside = inside.get(part) if part and isinstance(inside, dict) else None
    return inside


def _text_at(values: dict[str, Any], path: str) -> str:
    value = _value_at(values, path)
    return value if isinstance(value, str) else ""


def _find_reason(values: dict[str, Any]) -> str:
    """The first reason that an object has, in the order in which hosts look."""
    return next(filter(None, (_text_at(values, path) for path in _REASONS)), "")


def _source_of(form: str) -> str:
    return "nested" if form.startswith(_NESTED) else "top" if form else ""


_STRICTEST_FIRST = ("end", "deny", "block", "ask", "change", "allow", "context", "unknown")
_DECIDED = ("deny", "allow")


def combine(call: Call, answers: Sequence[Reading]) -> Reading:
    """What the host would do."""
    readings = [answer for answer in answers if answer.outcome != "not_run"]
    winner = _settle_allow(call, readings)
    if winner is not None:
        readings = [each for each in readings if each.outcome not in _DECIDED or each is winner]
    for outcome in _STRICTEST_FIRST:
        found = [reading for reading in readings if reading.outcome == outcome]
        if not found:
            continue
        texts = [reading.reason for reading in found]
        if outcome == "context":
            texts = [reading.context for reading in found]
        elif outcome == "change":
            index = -1 if call.host.reads.get("change_wins") == "last" else 0
            texts = [json.dumps(found[index].change, ensure_ascii=False)]
        elif outcome not in ("deny", "block", "ask"):
            texts = texts[:1]
        reason = "\n".join(dict.fromkeys(filter(None, texts)))
        return Reading(outcome, reason, refuses=any(reading.refuses for reading in readings))
    return Reading("none")


def _settle_allow(call: Call, readings: Sequence[Reading]) -> Reading | None:
    """The decision that counts where the host lets an `allow` undo a refusal; None elsewhere."""
    rule = call.host.reads.get("allow_wins")
    decided = [reading for reading in readings if reading.outcome in _DECIDED]
    if not rule or not decided or call.protocol in STOPS:
        return None
    by_json = [reading for reading in decided if reading.source != "status"]
    if rule == "first":  # in the file; an exit status beats all
        by_status = [reading for reading in decided if reading.source == "status"]
        return by_status[0] if by_status else by_json[0]
    nested = [reading for reading in by_json if reading.source == "nested"]
    if nested:
        return nested[-1]
    allowed = [reading for reading in by_json if reading.outcome == "allow"]
    return allowed[0] if allowed else decided[0]
