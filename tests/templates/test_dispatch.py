"""Dispatch: refuses an identical tool call that is made too often in a window, across processes and sessions."""

import fcntl
import json
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from .lab import WAKE_TEXT, Lab

DIS: dict[str, Any] = {"dispatch_tools": ["Task", "spawn"], "dispatch_max": 3, "dispatch_window_s": 300}
ONE: dict[str, Any] = {**DIS, "dispatch_max": 1}
END: dict[str, Any] = {**ONE, "dispatch_end": 3}
CALL: dict[str, Any] = {"tool_name": "Task", "tool_input": {"prompt": "a"}}
REASON = (
    "This exact call was already made too many times in a short period. It was not run. Change the request or finish."
)


@pytest.mark.parametrize(("host", "decision"), [("claude", "end"), ("codex", "counted")])
def test_the_end_of_a_turn_is_one_line_and_a_line_for_the_refusals_before_it(
    lab: Lab, host: str, decision: str
) -> None:
    lab.config(**END)
    lab.host = host
    lab.attempts("a", 6)
    assert [(line["decision"], line.get("refusals")) for line in lab.log()] == [
        ("refuse", 1), ("refuse", 2), (decision, None),
    ]  # fmt: skip


def counts(lab: Lab) -> dict[str, Any]:
    return json.loads((lab.folder / "dispatch.json").read_text())


# What the transcript has behind the reply with the call that asked for the end, and what the log says then.
REPLY = {"type": "tool_use", "id": "again", "name": "Task", "input": {}}
AGAIN = {"message": {"id": "R2", "role": "assistant", "content": [REPLY]}}
AFTERWARDS: dict[str, tuple[list[dict[str, Any]], int]] = {
    "nothing yet": ([], 0),
    "a call beside it": ([{"message": {**AGAIN["message"], "id": "R1"}}], 0),
    "another reply": ([AGAIN], 1),
    "a subagent's": ([{**AGAIN, "isSidechain": True}], 0),
    "a prompt first": ([{"type": "user", "message": {"role": "user", "content": "go on"}}, AGAIN], 0),
    "a wake-up first": ([{"type": "user", "message": {"role": "user", "content": WAKE_TEXT}}, AGAIN], 0),
}


@pytest.mark.parametrize("afterwards", AFTERWARDS)
def test_a_host_that_replies_again_after_the_end_of_its_turn_has_gone_on(lab: Lab, afterwards: str) -> None:
    lab.config(**END)
    lines, times = AFTERWARDS[afterwards]
    asking = {**REPLY, "id": "asking"}
    lab.append({"message": {"id": "R1", "role": "assistant", "content": [asking]}})
    assert lab.attempts("a", 3) + lab.attempt("a", tool_use_id="asking") == "ADDE"
    for line in lines:
        lab.append(line)
    lab.attempt("a", tool_use_id="again")
    lab.attempt("b", tool_use_id="later")
    assert lab.codes() == ["dispatch_refused"] * 3 + ["went_on"] * times
    assert [line["decision"] for line in lab.log()][3:] == ["counted"] * times


def test_h7_a_refusal_is_the_same_bytes_every_time(lab: Lab) -> None:
    """The form of every host: test_every_host.py."""
    lab.config(**DIS)
    first, *_, refused, again = [lab.call("pre-tool", **CALL) for _ in range(5)]
    assert (first, refused) == ("", again)
    told = json.loads(refused)["hookSpecificOutput"]
    assert (told["permissionDecision"], told["permissionDecisionReason"]) == ("deny", REASON)


def refusals(lab: Lab) -> list[int]:
    """How many refused calls each line of the log stands for."""
    return [line["refusals"] for line in lab.log() if line["code"] == "dispatch_refused"]


def test_a_hundred_refusals_share_a_line_and_the_rest_comes_when_the_window_is_over(lab: Lab) -> None:
    lab.config(**{**DIS, "dispatch_max": 1, "dispatch_window_s": 10})
    lab.environment["HOOKCTL_NOW"] = "100"
    lab.attempts("a", 2)
    assert refusals(lab) == [1]
    stored = json.loads((lab.folder / "dispatch.json").read_text())
    (lab.folder / "dispatch.json").write_text(json.dumps({**stored, "trips": 99}))
    lab.attempts("a", 1)
    assert refusals(lab) == [1], "99 of them are not told yet"
    lab.attempts("a", 1)
    assert refusals(lab) == [1, 100]
    lab.attempts("a", 3)
    lab.environment["HOOKCTL_NOW"] = "110"
    lab.attempts("b", 1)
    assert refusals(lab) == [1, 100, 3], "the window of `a` is over"
    lab.attempts("b", 1)
    assert (refusals(lab), counts(lab)["trips"], counts(lab)["told"]) == ([1, 100, 3, 1], 105, 105)


def test_a_thousand_live_keys_are_bounded_and_counted(lab: Lab) -> None:
    lab.config(**DIS)
    lab.environment["HOOKCTL_NOW"] = "1000"
    assert lab.attempts("a", 1) == "A"
    stored = counts(lab)
    stored["w"].update({f"{number:016x}": [999, 1] for number in range(2000)})
    (lab.folder / "dispatch.json").write_text(json.dumps(stored))
    assert lab.attempts("b", 4) == "AAAD"
    assert len(counts(lab)["w"]) <= 1024
    assert lab.attempts("a", 3) == "AAD"


# Under load: a call that would be refused is refused and counted, or the log says that it was let go.
def let_go(lab: Lab) -> list[str]:
    return [line["code"] for line in lab.log() if line["decision"] == "allow"]


def test_calls_at_once_are_refused_or_let_go_with_a_line(lab: Lab) -> None:
    lab.config(**ONE, lock_ms=20)
    assert lab.attempt("a") == "A"
    with open(lab.folder / "dispatch.json.lock") as lock, ThreadPoolExecutor(12) as pool:
        fcntl.flock(lock, fcntl.LOCK_EX)
        answers = [pool.submit(lab.attempt, "a") for _ in range(80)]
        time.sleep(0.5)
        fcntl.flock(lock, fcntl.LOCK_UN)
        letters = "".join(answer.result() for answer in answers)
    assert letters.count("D") == counts(lab)["trips"] > 0
    assert letters.count("A") == len(let_go(lab)) > 0
    assert set(let_go(lab)) == {"lock_timeout"}


# Runs the hook once for each of its lines, with a state folder of its own each, and lets its time be up there.
STRIKE = """
import os, posix, shutil, signal, sys
hook, state, payload = sys.argv[1:4]
sys.argv = [hook]
launcher = {"__name__": "launcher", "__file__": hook}
exec(compile(open(hook).read(), hook, "exec"), launcher)
run = launcher["load"](["pre-tool", "--host", "claude"])
Expired = next(m for n, m in sys.modules.items() if n.endswith(".call")).Expired
left = 0
def trace(frame, event, _):
    global left
    if event == "line" and "/runtime/" in frame.f_code.co_filename and signal.getitimer(signal.ITIMER_REAL)[0]:
        left -= 1
        if left == 0:
            raise Expired
    return trace
for number in range(1, 2000):
    shutil.copytree(state, f"{state}-{number}")
    child = os.fork()
    if not child:
        posix.environ[b"HOOKCTL_STATE_DIR"] = f"{state}-{number}".encode()
        for fd, path, flags in ((0, payload, os.O_RDONLY), (1, f"{state}-{number}/said", os.O_CREAT | os.O_WRONLY)):
            os.dup2(os.open(path, flags), fd)
        left = number
        sys.settrace(trace)
        run()
    os.waitpid(child, 0)
    if os.path.getsize(f"{state}-{number}/said"):  # not struck any more
        break
"""


def test_a_call_whose_time_is_up_at_any_line_is_refused_or_let_go_with_a_line(lab: Lab) -> None:
    lab.config(**END)
    assert lab.attempts("a", 2) == "AD"
    payload = lab.root / "payload"
    payload.write_text(json.dumps({**lab.payload, "tool_name": "Task", "tool_input": {"prompt": "a"}}))
    done = subprocess.run(
        [lab.python, "-I", "-S", "-c", STRIKE, lab.hook, lab.state, payload], env=lab.environment, capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")
    outcomes = []
    for state in sorted(lab.root.glob("state-*"), key=lambda path: int(path.name[6:])):
        log = "".join(path.read_text() for path in state.glob("guard/**/events.jsonl"))
        trips = json.loads((state / "guard" / lab.folder.name / "dispatch.json").read_text())["trips"]
        outcomes.append((bool((state / "said").read_text()), trips, log.count('"decision":"allow"')))
    assert outcomes[-1] == (True, 2, 0)
    assert set(outcomes[:-1]) == {(False, 1, 1)}
    assert len(outcomes) > 100


# A call that several registrations ask about, and one that waited for the lock
def ask(lab: Lab, configs: Sequence[str] = ("",), **fields: object) -> str:
    return "".join("D" if lab.call("pre-tool", config, **{**CALL, **fields}) else "A" for config in configs)


def test_a_call_is_counted_once_however_many_registrations_ask(lab: Lab) -> None:
    lab.config(**ONE)
    configs = ["", lab.second(), lab.second()]
    assert [ask(lab, configs), ask(lab, configs[::-1]), ask(lab, configs)] == ["AAA", "DDD", "DDD"]
    assert [count for _, count in counts(lab)["w"].values()] == [3]


def test_another_payload_is_another_call_and_two_at_once_are_two(lab: Lab) -> None:
    lab.config(**ONE)
    other = lab.second()
    assert ask(lab, tool_use_id="1") + ask(lab, [other], tool_use_id="2") == "AD"
    for config in ("", other):
        for key in ("3", "4"):  # two calls at once
            ask(lab, [config], tool_use_id=key)
    assert [count for _, count in counts(lab)["w"].values()] == [4]


def test_a_window_that_began_while_a_call_waited_is_not_over(lab: Lab) -> None:
    lab.config(**ONE, lock_ms=10_000)
    assert ask(lab) == "A"
    with open(lab.folder / "dispatch.json.lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = subprocess.Popen(
            lab.command("pre-tool"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=lab.environment
        )
        assert waiting.stdin and waiting.stdout
        waiting.stdin.write(json.dumps({**lab.payload, **CALL}).encode())
        waiting.stdin.close()
        time.sleep(0.3)
        state = counts(lab)
        windows = {name: [time.time(), 1] for name in state["w"]}
        (lab.folder / "dispatch.json").write_text(json.dumps({**state, "w": windows}))
        fcntl.flock(lock, fcntl.LOCK_UN)
    assert b"deny" in waiting.stdout.read()
    waiting.stdout.close()
    assert waiting.wait() == 0
