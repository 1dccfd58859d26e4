"""The denials of a wrapped hook: how to recognize one, and how many to pass on."""

from .call import CEILING
from .log import UNCOUNTED
from .policies import apply_limits, settle
from .progress import observe, read_task
from .state import answer_once, open_session
from .values import digest, parse

DENIED = 2  # the exit status that blocks on most hosts


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
    line, saved = answer_once(call, path, state, lambda: judge_anew(call, state))
    decision, code, number = state.said
    if decision == "block" and not saved:
        decision, code = "release", "state_error"
    return Judgement(decision, code, number, line)


def judge_anew(call, state):
    """Count this denial and judge it in `state.said`; the line for the log."""
    progress = observe(call, state, *read_task(call))
    tripped = 0 < call.settings.max_stop_blocks <= state.blocks + 1
    decision, code, number = apply_limits(call, state, tripped, CEILING)
    if code == "tripped":
        number += 1  # this denial, which is not passed on
    line = {
        "blocks": state.blocks + (decision == "block"),
        "attempts": state.attempts,
        "progress": progress,
    }
    settle(call, state, decision, code)
    state.said = [decision, code, number]
    return line
