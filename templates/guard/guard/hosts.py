"""What differs between hosts: who runs this call, the cap, the payloads, and the answers.

It comes from the table in config.json, which hookctl writes from the hosts' data files. The default
of a missing field is the careful guess. To allow is to say nothing.
"""

import posix

from .files import KIND, REGULAR, dump, env, leading_number

NO_CAP = float("inf")
# The table without config.json, or if config.json has none: the entry of Claude Code.
USUAL = {
    "claude": {
        "block": '{"decision":"block","reason":%s}',
        "release": '{"systemMessage":%s}',
        "end": '{"continue":false,"stopReason":%s,"systemMessage":%s}',
        "refuse": '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",'
        '"permissionDecisionReason":%s}}',
        "refuse_end": '{"hookSpecificOutput":{"hookEventName":"PreToolUse",'
        '"permissionDecision":"deny","permissionDecisionReason":%s},'
        '"continue":false,"stopReason":%s,"systemMessage":%s}',
        "context": '{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":%s}}',
        "goal": "/goal clear",
        "project": "CLAUDE_PROJECT_DIR",
        "session": "CLAUDE_CODE_SESSION_ID",
        "process": "CLAUDE_PID",
        "cap": {"key": "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "default": 8, "counts_anew": True},
        "payload": {"transcript": True, "tells_forced": True},
    }
}

NEXT = (
    "Continue with the next step. "
    "To wait for something, run one command that blocks until it is there; do not poll."
)
WORK_REMAINS = "Work remains ({remaining}). " + NEXT + " If less remains, {less}."
RUN_GOES_ON = "This run goes on until the person who started it ends it. " + NEXT
NOT_YOURS = " If this work is not yours, {decline}."
RELEASED = "hookctl guard: stopped blocking {why}; %s. Send a prompt to go on; {%s} ends %s."
# For each mode: the text of a block, for the agent, and of a release, for a person.
TEXTS = {
    "breaker": (WORK_REMAINS, RELEASED % ("work remains ({remaining})", "conclude", "the work")),
    "keepalive": (RUN_GOES_ON, RELEASED % ("the run has not ended", "stop", "it")),
}
# What these texts name: the commands where they can be found, else the files alone.
COMMANDS = {
    "{less}": "run `hookctl run remaining N` or set `remaining` in {task}",
    "{decline}": "run `hookctl run release`",
    "{conclude}": "`hookctl run conclude`",
    "{stop}": "`hookctl run stop`",
    "{wait}": "To wait for something, run `hookctl run wait --stall 15m` or one command that "
    "blocks until it is there; do not poll.",
}
FILES = {
    "{less}": "set `remaining` in {task}",
    "{decline}": "make the file {run}/STOP: then no session here is held",
    "{conclude}": "the file {run}/CONCLUDE",
    "{stop}": "the file {run}/STOP",
    "{wait}": "To wait for something, run one command that blocks until it is there; do not poll.",
}
# Where another system writes the task, nothing of ours changes it.
THEIR_LESS = "`{field}` in {task} has to say so, which its own system writes"
WHY = {
    "tripped": "after %s without progress",
    "host_cap": "after %s in a row, since the host would override the next one",
    "ceiling": "after %s since the last prompt",
    "stop_loop": "without progress",
    "lock_timeout": "because another process holds its state",
    "state_error": "because its state cannot be saved",
}
UNSAVED = "hookctl guard: its state cannot be saved, so it counts and blocks nothing: "
ENDED = (
    "hookctl guard: ended a turn that another hook or a goal forces on {why}. "
    "Send a prompt to go on."
)
GOAL = " A goal is not cleared: your next prompt goes on with it, and `%s` ends it."


class Host:
    """The agent that runs this call."""

    def __init__(self, name, entry):
        self.name, self.table = name, entry
        # The forms of its answers, with %s for the text; "" if it has no such answer.
        self.block = read_field(entry, "block", "")
        self.release = read_field(entry, "release", "")
        self.end = read_field(entry, "end", "")
        self.refuse = read_field(entry, "refuse", "")
        self.refuse_end = read_field(entry, "refuse_end", "")  # the same, and the turn ends
        self.context = read_field(entry, "context", "")  # at a session's start
        self.goal = read_field(entry, "goal", "")  # what a person types to end a goal
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
        # A field of its stop, and the word there if a turn ends; with another one a session does.
        self.turn_end = read_field(payload, "turn_end", [])
        self.reasons_as_prompts = read_field(payload, "reasons_as_prompts", False)
        # How a subagent that is a session of its own is told: by a field in the payload or in the
        # first line of the transcript, or by a path in the payload and the word that stands there.
        self.called_by = read_field(payload, "called_by", [])
        self.subagent = read_field(payload, "subagent", [])
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
    if "variable" in marks and not env(marks["variable"]):
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


def answer(call, decision, code, blocks, remaining):
    """Answer with a decision, if the host has a form for it; a person learns of a failure."""
    host, texts = call.host, []
    if host is None:
        return
    form = {"block": host.block, "release": host.release, "end": host.end}.get(decision)
    if form:
        texts.append(word_answer(call, decision, code, blocks, remaining))
    failure = word_failure(call)
    if failure and failure not in "".join(texts):
        texts.append(UNSAVED + failure)
    form = form or host.release
    if form and texts:
        say(form, " ".join(texts))


def say(form, text):
    """Write the host's JSON form to stdout, with the text in its place."""
    posix.write(1, form.replace("%s", dump(text)).encode())


def word_answer(call, decision, code, blocks, remaining):
    """The text of a decision, for the agent or for a person."""
    settings = call.settings
    block, release = TEXTS.get(settings.mode, TEXTS["breaker"])
    chosen, own = "", ENDED + (GOAL % call.host.goal if call.host.goal else "")
    if decision == "block":
        chosen, own = settings.reason, block + NOT_YOURS * settings.claim
    elif decision == "release":
        chosen, own = settings.release_reason, release
    text = settings.nudge_reason if code == "nudged" else chosen or own
    values = list_values(call, blocks, remaining)
    if decision != "block":
        values["why"] = describe_reason(call, code, blocks)
    if chosen or code == "nudged":
        return fill(text, values)
    return fill_own(call, text, values)


def fill_own(call, text, values):
    """One of our texts, filled with the commands and files that this call can find."""
    if call.task_names:
        text = text.replace("{less}", THEIR_LESS)
    for name, way in (COMMANDS if has_command() else FILES).items():
        text = text.replace(name, way)
    values["field"] = printable(call.task_names.get("remaining", "remaining"))
    values["run"] = show_path(call, call.settings.run_dir)
    values["task"] = show_path(call, call.task_path)
    return fill(text, values)


def list_values(call, blocks, remaining):
    """What a text may show, by its name."""
    values = {
        "remaining": str(remaining) if remaining >= 0 else "unknown",
        "blocks": str(blocks),
        "limit": str(call.limit) if call.limit > 0 else "no limit",
        "tools": " or ".join(call.settings.required_tools),
    }
    scope = call.settings.required_scope_env
    is_shown = scope and scope in call.settings.show_env
    values["scope"] = " " + printable(env(scope)) if is_shown else ""
    for name in call.settings.show_env:
        values["env:" + name] = printable(env(name))
    return values


def fill(text, values):
    """The text with each {name} replaced by its value; a value is not looked at again."""
    first, *parts = text.split("{")
    filled = [first]
    for part in parts:
        name, brace, rest = part.partition("}")
        filled.append(values[name] + rest if brace and name in values else "{" + part)
    return "".join(filled)


def show_path(call, path):
    """A path of the project, absolute and without control characters; empty if there is none."""
    if path and path[0] != "/":
        path = call.project + "/" + path
    return printable(path)


def printable(text):
    """The text without control characters."""
    return "".join(filter(str.isprintable, text))


def has_command():
    """Is hookctl on the PATH of this call?"""
    for folder in env("PATH").split(":"):
        path = folder + "/hookctl"
        try:
            is_file = folder[:1] == "/" and posix.stat(path).st_mode & KIND == REGULAR
        except (OSError, ValueError):
            continue
        if is_file and posix.access(path, posix.X_OK):
            return True
    return False


def describe_reason(call, code, blocks):
    """Why the guard lets the agent stop, in words."""
    text = WHY[code].replace("%s", "1 block" if blocks == 1 else str(blocks) + " blocks")
    if code == "state_error" and call.failure:
        text += " (" + word_failure(call) + ")"
    return text


def word_failure(call):
    """Where and why the state cannot be saved, in words; empty if it can."""
    return "{path}: {error}".format(**describe_failure(call)) if call.failure else ""


def describe_failure(call):
    """Where and why the state cannot be saved."""
    error = call.failure
    path = getattr(error, "filename", None)
    path = path if type(path) is str else call.folder
    return {"path": printable(path), "error": getattr(error, "strerror", None) or repr(error)}
