"""The hook's own words, for agents and for people, in each mode."""

import json

from .lab import Lab

NEXT = "Continue with the next step. To wait for something, run one command that blocks until it is there; do not poll."
GOES_ON = f"This run goes on until the person who started it ends it (%s). {NEXT} If this work is not yours, %s."


def test_keepalives_block_says_who_ends_the_run(lab: Lab) -> None:
    lab.config(mode="keepalive").arm()
    ends, declines = f"the file {lab.run}/CONCLUDE", f"make the file {lab.run}/STOP: then no session here is held"
    assert json.loads(lab.call("stop"))["reason"] == GOES_ON % (ends, declines)


def test_keepalives_release_says_that_the_run_is_still_armed(lab: Lab) -> None:
    lab.config(mode="keepalive", keepalive_cap=2).arm()
    assert lab.stops("01") == "BB"
    assert json.loads(lab.call("stop", stop_hook_active=True))["systemMessage"] == (
        "hookctl guard: stopped blocking after 2 blocks without progress; the run has not ended. "
        f"Send a prompt to go on; the file {lab.run}/STOP ends it."
    )


def test_the_reminder_is_the_default_words_or_the_operators(lab: Lab) -> None:
    lab.config(required_tools=["a", "b"])
    assert json.loads(lab.call("stop"))["reason"] == "Before you finish, call a, b. Then stop."
    lab.config(required_tools=["a", "b"], nudge_reason="{tools}! {remaining} {x}", reason="of a block")
    lab.task(remaining=0)
    assert json.loads(lab.call("stop", session_id="S2"))["reason"] == "a, b! 0 {x}"


def test_the_release_may_be_in_the_operators_words(lab: Lab) -> None:
    lab.config(max_stop_blocks=1, release_reason="{why}: {remaining}").task(remaining=2)
    assert lab.stops("0") == "B"
    assert json.loads(lab.call("stop", stop_hook_active=True))["systemMessage"] == "after 1 block without progress: 2"


def test_a_number_that_nobody_knows_is_called_unknown(lab: Lab) -> None:
    lab.config(mode="keepalive", reason="{remaining}").arm()
    assert json.loads(lab.call("stop"))["reason"] == "unknown"
    lab.task(remaining=0)
    assert json.loads(lab.call("stop", stop_hook_active=True))["reason"] == "0"
