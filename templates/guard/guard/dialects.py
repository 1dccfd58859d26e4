"""What is a host's own, out of the table in config.json: who runs this call, its words, its cap, its payloads.

hookctl writes the table from the hosts' data files. What an entry does not say is taken as the careful guess.
"""

from .files import env
from .values import is_true, leading_number

NO_CAP = float("inf")
# What the table has of Claude Code, the usual host: without config.json, or a table in it, the defaults hold.
USUAL = {
    "claude": {
        "block": '{"decision":"block","reason":%s}',
        "release": '{"systemMessage":%s}',
        "end": '{"continue":false,"stopReason":%s}',
        "refuse": '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",'
        '"permissionDecisionReason":%s}}',
        "project": "CLAUDE_PROJECT_DIR",
        "session": "CLAUDE_CODE_SESSION_ID",
        "cap": {"key": "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "default": 8, "counts_anew": True},
        "payload": {"transcript": True, "tells_forced": True},
    }
}


class Host:
    """The agent that runs this call."""

    def __init__(self, name, entry):
        self.name = name
        # What it is answered with, %s for a text; "" where it has no such answer.
        self.block = entry.get("block", "")
        self.release = entry.get("release", "")
        self.end = entry.get("end", "")
        self.refuse = entry.get("refuse", "")
        # The variables with the project's folder and the session.
        self.project_variable = entry.get("project", "")
        self.session_variable = entry.get("session", "")
        self.cap, self.counts_anew = blocks_in_a_row(entry.get("cap"))
        payload = entry.get("payload", {})
        self.tells_forced = payload.get("tells_forced", False)
        self.attempts = payload.get("attempts", [])
        self.has_transcript = payload.get("transcript", False)
        self.same_event = payload.get("same_event", "")
        self.given_up = payload.get("given_up", [])
        self.reasons_as_prompts = payload.get("reasons_as_prompts", False)
        self.turn_of_each_call = payload.get("turn_of_each_call", False)
        self.denials = entry.get("denials", {})


def find_host(table, name, payload):
    """The host that runs this call, of those that may; None where the table does not have it."""
    if type(table) is not dict or type(table.get(name)) is not dict:
        return None
    for other, marks in table[name].get("also_run_by", {}).items():
        if is_told_by(marks, payload):
            return Host(other, table[other])
    return Host(name, table[name])


def is_told_by(marks, payload):
    """Whether variable and fields say that it is this host which runs another one's registration."""
    if "variable" in marks and not is_true(env(marks["variable"])):
        return False
    if any(name in payload for name in marks.get("without", ())):
        return False
    if not all(name in payload for name in marks.get("with", ())):
        return False
    return "with_any" not in marks or any(name in payload for name in marks["with_any"])


def blocks_in_a_row(cap):
    """How many blocks the host takes before it overrides one, and whether a tool call starts its count anew."""
    if not cap:
        return NO_CAP, True
    counts_anew = cap.get("counts_anew", False)
    number = int(leading_number(env(cap.get("key", "")), cap["default"]))
    if "most" in cap:  # 0 stands for the default there
        number = max(1, min(number or cap["default"], cap["most"]))
    if cap.get("overrides_last"):
        number -= 1
    elif number <= 0:
        return NO_CAP, counts_anew
    return number, counts_anew
