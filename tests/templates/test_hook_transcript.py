"""A transcript that is still being written while the hook reads it."""

import pytest

from .lab import Lab

# In front of the hook: what the host writes while the hook sleeps for the first time.
LATE = """
import time
slept = []
def late(_):
    slept or open({path!r}, "a").write({text!r})
    slept.append(1)
time.sleep = late
"""


def written_late(lab: Lab, name: str) -> None:
    before = lab.transcript.read_text()
    lab.calls("late", name=name)
    lab.says("the very last words")
    text = lab.transcript.read_text()[len(before) :]
    lab.transcript.write_text(before)
    lab.hook.write_text(LATE.format(path=str(lab.transcript), text=text) + lab.hook.read_text())


def test_a_call_that_is_written_late_in_a_chain_is_progress(lab: Lab) -> None:
    lab.config(max_stop_blocks=1).task(remaining=2)
    lab.says("first")
    assert lab.stop() == "B"
    written_late(lab, "Bash")
    assert lab.stop(True, last_assistant_message="the very last words") == "B"


def test_a_required_call_that_is_written_late_is_seen_at_the_first_stop(lab: Lab) -> None:
    lab.config(required_tools=["finish"])
    lab.says("first")
    written_late(lab, "finish")
    assert lab.stop(last_assistant_message="the very last words") == "A"


@pytest.mark.parametrize(("before", "active"), [("", False), ("", True), ("B", False)])
def test_nobody_waits_at_the_first_stop_of_a_chain(lab: Lab, before: str, active: bool) -> None:
    """There is nothing to compare with: what was called before is the baseline."""
    lab.task(remaining=2)
    lab.says("first")
    assert lab.stops("0" * len(before)) == before
    size = lab.transcript.stat().st_size
    written_late(lab, "Bash")
    assert lab.stop(active, last_assistant_message="the very last words") == "B"
    assert lab.transcript.stat().st_size == size
