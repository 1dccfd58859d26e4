"""Dispatch across processes: a call that several registrations ask about, and one that waited for the lock."""

import fcntl
import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from .lab import Lab, name_of

ONE: dict[str, Any] = {"dispatch_tools": ["Task"], "dispatch_max": 1}
CALL: dict[str, Any] = {"tool_name": "Task", "tool_input": {"prompt": "a"}}


def ask(lab: Lab, folders: list[Path], **fields: object) -> str:
    return "".join("D" if lab.call("pre-tool", folder, **{**CALL, **fields}) else "A" for folder in folders)


def stored(lab: Lab) -> dict[str, Any]:
    return json.loads((lab.folder / "dispatch.json").read_text())


def test_a_call_is_counted_once_however_many_registrations_ask(lab: Lab) -> None:
    lab.config(**ONE)
    folders = [lab.hook.parent, lab.second(), lab.second()]
    assert [ask(lab, folders), ask(lab, folders[::-1]), ask(lab, folders)] == ["AAA", "DDD", "DDD"]
    assert [count for _, count in stored(lab)["w"].values()] == [3]


def test_a_registration_that_has_asked_begins_a_new_call(lab: Lab) -> None:
    lab.config(**{**ONE, "dispatch_max": 2})
    first, other = lab.hook.parent, lab.second()
    assert ask(lab, [first, other, other, first, first]) == "AAAAD"


def test_another_payload_is_another_call_and_two_at_once_are_two(lab: Lab) -> None:
    lab.config(**ONE)
    first, other = lab.hook.parent, lab.second()
    assert ask(lab, [first], tool_use_id="1") + ask(lab, [other], tool_use_id="2") == "AD"
    for folder in (first, other):
        for key in ("3", "4"):  # two calls at once
            ask(lab, [folder], tool_use_id=key)
    assert [count for _, count in stored(lab)["w"].values()] == [4]


@pytest.mark.parametrize("asked", [5, None, {"x": 1}, [5, None, ["x"]], "text"])
def test_answers_of_another_kind_start_over(lab: Lab, asked: object) -> None:
    lab.config(**ONE)
    assert ask(lab, [lab.hook.parent]) == "A"
    (lab.folder / "dispatch.json").write_text(json.dumps({**stored(lab), "asked": asked}))
    assert ask(lab, [lab.hook.parent]) == "D"


def test_the_last_32_answers_are_kept(lab: Lab) -> None:
    lab.config(**ONE)
    key = name_of(json.dumps({**lab.payload, **CALL}))
    asked = [f"{key}{number:016x}" for number in range(40)]
    assert ask(lab, [lab.hook.parent]) == "A"
    (lab.folder / "dispatch.json").write_text(json.dumps({**stored(lab), "asked": asked}))
    ask(lab, [lab.hook.parent])
    assert len(stored(lab)["asked"]) == 32


def test_a_window_that_began_while_a_call_waited_is_not_over(lab: Lab) -> None:
    lab.config(**ONE, lock_ms=10_000)
    assert ask(lab, [lab.hook.parent]) == "A"
    with open(lab.folder / "dispatch.json.lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = subprocess.Popen(
            lab.command("pre-tool"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=lab.environment
        )
        assert waiting.stdin and waiting.stdout
        waiting.stdin.write(json.dumps({**lab.payload, **CALL}).encode())
        waiting.stdin.close()
        time.sleep(0.3)
        state = stored(lab)
        windows = {name: [time.time(), 1] for name in state["w"]}
        (lab.folder / "dispatch.json").write_text(json.dumps({**state, "w": windows}))
        fcntl.flock(lock, fcntl.LOCK_UN)
    assert b"deny" in waiting.stdout.read()
    waiting.stdout.close()
    assert waiting.wait() == 0
