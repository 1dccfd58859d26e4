"""What differs between hosts: who runs this call, the answers, the cap, the payloads.

It comes from the table in config.json, which hookctl writes from the hosts' data files. The default
of a missing field is the careful guess.
"""

from .files import env
from .values import is_true, leading_number

NO_CAP = float("inf")
# The table without config.json, or if config.json has none: the entry of Claude Code.
USUAL = {
    "claude": {
        "block": '{"decision":"block","reason":%s}',
        "release": '{"systemMessage":%s}',
        "end": '{"continue":false,"stopReason":%s}',
        "refuse": '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",'
        '"permissionDecisionReason":%s}}',
        "refuse_end": '{"hookSpecificOutput":{"hookEventName":"PreToolUse",'
        '"permissionDecision":"deny","permissionDecisionReason":%s},'
        '"continue":false,"stopReason":%s}',
        "context": '{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":%s}}',
        "project": "CLAUDE_PROJECT_DIR",
        "session": "CLAUDE_CODE_SESSION_ID",
        "process": "CLAUDE_PID",
        "cap": {"key": "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "default": 8, "counts_anew": True},
        "payload": {"transcript": True, "tells_forced": True},
    }
}


class Host:
    """The agent that runs this call."""

    def __init__(self, name, entry):
        self.name = name
        # The forms of its answers, with %s for the text; "" if it has no such answer.
        self.block = read_field(entry, "block", "")
        self.release = read_field(entry, "release", "")
        self.end = read_field(entry, "end", "")
        self.refuse = read_field(entry, "refuse", "")
        self.refuse_end = read_field(entry, "refuse_end", "")  # the same, and the turn ends
        self.context = read_field(entry, "context", "")  # at a session's start
        # The variables with the project's folder, the session and the agent's process.
        self.project_variable = read_field(entry, "project", "")
        self.session_variable = read_field(entry, "session", "")
        self.process = read_field(entry, "process", "")
        self.reminds_where = read_field(entry, "reminds_where", "")  # itself, by a variable
        self.cap, self.counts_anew = read_cap(read_field(entry, "cap", {}))
        payload = read_field(entry, "payload", {})
        self.tells_forced = read_field(payload, "tells_forced", False)
        self.attempts = read_field(payload, "attempts", [])
        self.has_transcript = read_field(payload, "transcript", False)
        self.same_event = read_field(payload, "same_event", "")
        self.given_up = read_field(payload, "given_up", [])
        self.reasons_as_prompts = read_field(payload, "reasons_as_prompts", False)
        self.turn_of_each_call = read_field(payload, "turn_of_each_call", False)


def read_field(entry, name, default):
    """A field, or the default; TypeError for another type, or a list that has not only texts."""
    value = entry.get(name, default)
    if type(value) is not type(default):
        raise TypeError(name)
    if type(value) is list and any(type(item) is not str for item in value):
        raise TypeError(name)
    return value


def find_host(table, name, payload):
    """The host that runs this call; None if the table lacks it, or has it in a wrong form."""
    try:
        for other, marks in read_field(table[name], "also_run_by", {}).items():
            if is_run_by(marks, payload):
                return Host(other, table[other])
        return Host(name, table[name])
    except Exception:  # the table is not as it should be
        return None


def is_run_by(marks, payload):
    """Do variable and fields show that this host runs another host's registration?"""
    if "variable" in marks and not is_true(env(marks["variable"])):
        return False
    if any(name in payload for name in read_field(marks, "without", [])):
        return False
    if not all(name in payload for name in read_field(marks, "with", [])):
        return False
    return "with_any" not in marks or any(
        name in payload for name in read_field(marks, "with_any", [])
    )


def read_cap(cap):
    """How many blocks in a row the host takes, and whether a tool call resets its count."""
    if not cap:
        return NO_CAP, True
    counts_anew = read_field(cap, "counts_anew", False)
    default, most = cap["default"], read_field(cap, "most", 0)
    if type(default) is not int:
        raise TypeError("default")
    number = int(leading_number(env(read_field(cap, "key", "")), default))
    if most:  # 0 stands for the default there
        number = max(1, min(number or default, most))
    if read_field(cap, "overrides_last", False):
        number -= 1
    elif number <= 0:
        return NO_CAP, counts_anew
    return number, counts_anew
