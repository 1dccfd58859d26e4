"""Nothing that lies in the state, and no interpreter or caller, makes the hook block without end or hang."""

import signal
import subprocess
import time

import pytest

from .lab import Lab


@pytest.mark.parametrize("name", ["blocks", "attempts", "total", "nudges", "soft", "streak", "host", "acts"])
def test_no_counter_on_file_is_a_credit(lab: Lab, name: str) -> None:
    lab.task(remaining=2)
    assert lab.stop() == "B"
    lab.edit(**{name: -1_000_000})
    assert lab.stops("1111111") == "BBBBBRA"


def test_a_blocked_alarm_is_no_way_to_hang(lab: Lab) -> None:
    def block() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])

    begin = time.monotonic()
    command, environ = lab.command("stop"), lab.environment
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environ, preexec_fn=block, cwd=lab.root) as child:
        assert child.wait(20) == 0
    assert time.monotonic() - begin < 15


def test_a_notice_during_a_persons_turn_does_not_make_it_a_wake_up(lab: Lab) -> None:
    lab.task(remaining=2)
    lab.asks("begin", promptId="p1")
    assert lab.stops("0111111", prompt_id="p1") == "BBBBBRA"
    lab.asks("go on", promptId="p2")
    lab.asks("<task-notification>\n</task-notification>", promptId="p2", origin={"kind": "task-notification"})
    assert lab.stop(prompt_id="p2") == "B"
