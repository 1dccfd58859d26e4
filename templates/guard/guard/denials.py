"""The denials of a wrapped hook: how to recognize one, and how many to pass on."""

import contextlib

from .call import CEILING
from .log import UNCOUNTED
from .policies import apply_limits, settle
from .progress import observe, read_task
from .state import answer_once, open_session, read_session
from .values import digest, first_text, parse

DENIED = 2  # the exit status that blocks on most hosts
# Where an answer has its words for the agent, and how many of them a person is shown.
FEEDBACK = ("additionalContext", "reason", "message", "followup_message", "stopReason")
FEEDBACK_BYTES = 4096
FEEDBACK_LENGTH = 500  # characters


def is_denial(marks, outcome):
    """Does this answer make the agent go on? In doubt yes, so that no chain is endless.

    `marks` says how the host reads an answer: whether it reads stderr if stdout is empty, and then
    takes a text with any status above 1 as a denial; whether the end of a turn is a denial too; and
    its own words for going on.
    """
    text = outcome.out.strip()
    if marks.get("stderr"):
        text = text or outcome.err.strip()
        if text and outcome.status not in (0, 1):
            return True
    if outcome.status == DENIED:
        return True
    try:
        answer = parse(text, "replace")
    except ValueError:
        return False
    if marks.get("goes_on_at_end") and answer.get("continue") is False:
        return True
    words = marks.get("words")
    for field in words if type(words) is dict else ():
        if answer.get(field) == words[field]:
            return True
    return answer.get("decision") in ("deny", "block") or bool(answer.get("followup_message"))


def read_feedback(outcome):
    """What a denial says to the agent, on one line without control characters; cut at a length."""
    words = outcome.err.strip() or outcome.out.strip()
    text = words[:FEEDBACK_BYTES].decode("utf-8", "replace")
    with contextlib.suppress(ValueError):
        answer = parse(outcome.out.strip() or outcome.err.strip(), "replace")
        text = first_text(answer, *FEEDBACK) or text
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    line = " ".join(shown.split())
    return line if len(line) <= FEEDBACK_LENGTH else line[: FEEDBACK_LENGTH - 3] + "..."


class Judgement:
    """Whether to pass a denial on, why, its number, and its log line (None: already logged)."""

    def __init__(self, decision, code, number=0, line=UNCOUNTED):
        self.decision, self.code, self.number, self.line = decision, code, number, line


def judge(call, command):
    """Judge a denial, once for each stop."""
    if not call.readable or not call.session:
        return Judgement("release", "no_input")
    try:
        path, state = open_session(call, "." + digest(command) + ".json")
    except BlockingIOError:
        return Judgement("release", "lock_timeout")
    except OSError as error:
        call.failure = error
        return Judgement("release", "state_error")
    line, saved = answer_once(call, path, state, lambda: judge_anew(call, state))
    decision, code, number = state.said
    if not saved:
        decision, code = "release", "state_error"
    return Judgement(decision, code, number, line)


def take_events(call, state):
    """Take over what the host's events have told of prompts and tool calls since the last denial.

    Without such events the transcript tells of them.
    """
    told = read_session(call)
    if told.ledger:
        state.ran = state.ran or told.acts != state.acts
        state.acts, state.ledger = told.acts, True
    if told.asked:
        state.asked = True
    if told.prompts != state.prompts:
        state.prompts, state.prompt = told.prompts, told.latest


def judge_anew(call, state):
    """Count this denial and judge it in `state.said`; the line for the log."""
    take_events(call, state)
    progress = observe(call, state, *read_task(call))
    tripped = 0 < call.settings.max_stop_blocks <= state.blocks + 1
    decision, code, number = apply_limits(call, state, tripped, CEILING)
    if decision == "release":
        number += 1  # this denial, which is not passed on
    line = {
        "blocks": state.blocks + (decision == "block"),
        "attempts": state.attempts,
        "progress": progress,
    }
    settle(call, state, decision, code)
    state.said = [decision, code, number]
    return line
