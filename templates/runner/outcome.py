"""The receipt of a hook that is none of hookctl's: what its end and its stdout say, in any form.

Nothing of what it printed is kept.
"""

from .call import (
    Call,
    Expired,
    find_folders,
    read_session,
    read_settings,
    report_error,
    start_timer,
)
from .files import digest, first_text, parse
from .hosts import Host
from .receipts import write_receipt

SECONDS = 2.0  # for the receipt
REFUSED = 2  # the exit status that refuses
TEXT_IS_CONTEXT = ("UserPromptSubmit", "SessionStart")
CAN_REFUSE = ("PreToolUse", "UserPromptSubmit", "PostToolUse", "Stop", "SubagentStop")
REFUSALS = ("deny", "block")
CHANGES = (
    "updatedInput", "updated_input", "modifiedArgs", "tool_input",
    "updatedToolOutput", "updatedMCPToolOutput",
)  # fmt: skip
CONTEXTS = ("additionalContext", "additional_context")


def write_line(event, host, id, status, ms, tap):
    """Write the receipt of a run that has ended; no failure is told to anybody."""
    try:
        start_timer(SECONDS)
        call = Call(event)
        read_settings(call, host + ".json")
        call.payload, call.host = {}, Host(host, (call.table or {}).get(host, {}))
        read_session(call, b"")
        find_folders(call)
        outcome, size = judge(event, status, tap, call.host.table.get("own_protocol"))
        line = {
            "kind": "run",
            "t": int(call.now),
            "host": host,
            "session": digest(call.session) if call.session else None,
            "event": event,
            "id": id,
            "ms": ms,
            "status": status,
            "outcome": outcome,
            "bytes": size,
        }
        write_receipt(call, line)
    except (Exception, Expired) as error:
        report_error(error)


def judge(event, status, tap, text_is_context):
    """The outcome, and the bytes that go into the context."""
    text = bytes(tap.data).strip()
    values = read_values(text) if text.startswith(b"{") and tap.length == len(tap.data) else {}
    outcome, size = judge_values(event, values)
    if outcome in REFUSALS:
        return outcome, 0
    if status == REFUSED and event in CAN_REFUSE:
        return refusal_at(event), 0
    if status:
        return ("none" if status == REFUSED else "failed"), 0
    if text and not values and text_is_context and event in TEXT_IS_CONTEXT:
        blanks = len(tap.data) - len(text)
        return "context", tap.length - blanks
    return outcome, size


def read_values(text):
    try:
        return parse(text, "replace")
    except ValueError:
        return {}


def judge_values(event, values):
    """The outcome of an object in the words of whatever host, and the bytes of its context."""
    nested = values.get("hookSpecificOutput", values.get("hook_specific_output"))
    both = {**values, **nested} if type(nested) is dict else values
    words = [both.get(name) for name in ("permissionDecision", "permission", "decision")]
    size = len(first_text(both, *CONTEXTS).encode("utf-8", "replace"))
    if both.get("continue") is False:
        return "end", 0
    if any(word in REFUSALS for word in words) or both.get("followup_message"):
        return refusal_at(event), 0
    if "ask" in words:
        return "ask", size
    if any(type(both.get(name)) is dict for name in CHANGES):
        return "change", size
    if "allow" in words or "approve" in words:
        return "allow", size
    return ("context" if size else "none"), size


def refusal_at(event):
    return "deny" if event == "PreToolUse" else "block"
