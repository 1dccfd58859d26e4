"""Guidance at the start of a session: what waits, for a session that may be kept at it."""

from .answers import fill, fill_own, list_values, say
from .call import read_call, read_input
from .files import exists
from .policies import is_concluded, reason_to_allow, reason_to_ignore
from .progress import read_task

LONGEST = 1200  # characters
CRUMB = "/RESPAWN_REQUESTED"  # lies there while the guard keeps an agent going
SAME_RUN = ("compact", "clear")  # the agent itself has not ended
CUT_OFF = "The last run here was cut off, so first look at what is done and what is half done. "
TEXTS = {
    "breaker": "Work remains in this project ({remaining}), and you are kept at it until it is "
    "done. Continue with the next step. As it gets less, {less}. {wait}",
    "keepalive": "A run is going on in this project until the person who started it ends it "
    "({conclude}). Continue with the next step. {wait}",
}


def on_session_start(event, host):
    """Tell the agent what waits; not a word if nothing does, or if it is somebody else's."""
    call = read_call(event, host, read_input)
    settings = call.settings
    if reason_to_ignore(call) or not settings.guidance or settings.mode not in TEXTS:
        return
    _, remaining = read_task(call)
    if not call.host.context or not (call.keepalive or remaining > 0):
        return
    if reason_to_allow(call, remaining) or is_concluded(call):
        return
    values = list_values(call, 0, remaining)
    if settings.guidance_text:
        text = fill(settings.guidance_text, values)
    else:
        text = fill_own(call, TEXTS[settings.mode], values)
    if was_cut_off(call):
        text = CUT_OFF + text
    say(call.host.context, text[:LONGEST])


def was_cut_off(call):
    """Did the agent before this one end while the guard kept it going?"""
    is_same = call.payload.get("source") in SAME_RUN
    return call.keepalive and not is_same and exists(call.project_folder + CRUMB)
