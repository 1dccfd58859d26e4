"""What a host would do after all hooks of a call have answered; nothing is read."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hookctl.firing.model import (
    ALLOW,
    ASK,
    BLOCK,
    CHANGE,
    CONTEXT,
    DENY,
    END,
    NONE,
    NOT_RUN,
    UNKNOWN,
    Call,
    Reading,
    Verdict,
)
from hookctl.firing.reading import STOPS

_STRICTEST_FIRST = (END, DENY, BLOCK, ASK, CHANGE, ALLOW, CONTEXT, UNKNOWN)
_DECIDED = (DENY, ALLOW)


def judge(call: Call, answers: Sequence[Reading]) -> Verdict:
    """What the host would do."""
    readings = [answer for answer in answers if answer.outcome != NOT_RUN]
    winner = _settle_allow(call, readings)
    if winner is not None:
        readings = [each for each in readings if each.outcome not in _DECIDED or each is winner]
    for outcome in _STRICTEST_FIRST:
        found = [reading for reading in readings if reading.outcome == outcome]
        if not found:
            continue
        chosen = found[0]
        if outcome == CHANGE and call.host.reads.get("change_wins") == "last":
            chosen = found[-1]
        refuses = any(reading.refuses for reading in readings)
        return Verdict(outcome, _reason_of(chosen, found), refuses)
    return Verdict(NONE)


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
    allowed = [reading for reading in by_json if reading.outcome == ALLOW]
    return allowed[0] if allowed else decided[0]


def _reason_of(chosen: Reading, found: Sequence[Reading]) -> str:
    """Why, or what: all reasons of a refusal, all contexts, the new input."""
    if chosen.outcome == CONTEXT:
        texts = [reading.context for reading in found]
    elif chosen.outcome == CHANGE:
        texts = [json.dumps(chosen.change, ensure_ascii=False)]
    elif chosen.outcome in (DENY, BLOCK, ASK):
        texts = [reading.reason for reading in found]
    else:
        texts = [chosen.reason]
    return "\n".join(dict.fromkeys(text for text in texts if text))
