"""The denials of a wrapped hook: what is one, and until when it is passed on."""

from .call import CEILING
from .log import UNCOUNTED
from .policies import apply_limits, settle
from .progress import observe, read_task
from .state import answer_once, open_session
from .values import digest, parse

DENIED = 2  # the exit status that blocks on most hosts


def is_denial(marks, outcome):
    """Does this answer make the agent go on? In doubt it does: a word too many is counted, but no chain is without end.

    `marks` is what the host's own way of reading it is: whether it takes stderr where stdout is empty, and then a text
    with any status above 1 for a denial; whether the end of a turn is none; and its own words for going on.
    """
    said = outcome.out.strip()
    if marks.get("stderr"):
        said = said or outcome.err.strip()
        if said and outcome.status not in (0, 1):
            return True
    if outcome.status == DENIED:
        return True
    try:
        answer = parse(said, "replace")
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
    """Whether a denial is passed on, why, its number, and the line in the log (None: another registration's)."""

    def __init__(self, decision, code, number=0, line=UNCOUNTED):
        self.decision, self.code, self.number, self.line = decision, code, number, line


def judge(call, command):
    """The judgement on a denial, once for a stop."""
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
    """Bring the count up to this denial and judge it, in `state.said`; the line for the log."""
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
