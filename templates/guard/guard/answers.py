"""The hook's answers to the agent or a person, in the host's form; to allow is to say nothing."""

import posix

from .values import dump

NEXT = (
    "Continue with the next step. "
    "To wait for something, run one command that blocks until it is there; do not poll."
)
WORK_REMAINS = (
    "Work remains ({remaining}). " + NEXT + " If less remains, run `hookctl run remaining N`."
)
RUN_GOES_ON = (
    "This run goes on until the person who started it ends it (`hookctl run conclude`). " + NEXT
)
LET_GO = "hookctl guard: let go {why}; %s. Send a prompt to go on; `hookctl run %s` ends %s."
# For each mode: the text of a block, for the agent, and of a release, for a person.
TEXTS = {
    "breaker": (WORK_REMAINS, LET_GO % ("work remains ({remaining})", "conclude", "the work")),
    "keepalive": (RUN_GOES_ON, LET_GO % ("the run is still armed", "stop", "it")),
}
WHY = {
    "tripped": "after %s without progress",
    "host_cap": "after %s in a row, since the host would override the next one",
    "ceiling": "after %s since the last prompt",
    "lock_timeout": "because another process holds its state",
    "state_error": "because its state cannot be saved",
}
STOP_LOOP = (
    "hookctl guard: ended a turn that another stop hook forces on without progress. "
    "Send a prompt to go on."
)


def answer(call, decision, code, blocks, remaining):
    """Answer with a decision, if the host has a form for it."""
    if decision == "allow" or call.host is None:
        return
    forms = {"block": call.host.block, "release": call.host.release, "end": call.host.end}
    if forms[decision]:
        say(forms[decision], word_answer(call, decision, code, blocks, remaining))


def say(form, text):
    """Write the host's JSON form to stdout, with the text in its place."""
    posix.write(1, form.replace("%s", dump(text)).encode())


def word_answer(call, decision, code, blocks, remaining):
    """The text of a decision, for the agent or for a person."""
    settings = call.settings
    text, release = TEXTS.get(settings.mode, TEXTS["breaker"])
    if decision == "block":
        text = settings.nudge_reason if code == "nudged" else settings.reason or text
    elif decision == "release":
        text = (settings.release_reason or release).replace("{why}", describe_reason(code, blocks))
    else:
        text = STOP_LOOP
    text = text.replace("{remaining}", str(remaining) if remaining >= 0 else "unknown")
    return text.replace("{tools}", ", ".join(settings.required_tools))


def describe_reason(code, blocks):
    """Why the guard lets the agent stop, in words."""
    return WHY[code].replace("%s", "1 block" if blocks == 1 else str(blocks) + " blocks")
