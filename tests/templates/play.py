"""A small language for what a host, an agent and an operator do around the hook, and what it must answer.

Steps are separated by `; `. `01=BR` is two stops, the first fresh, the second active (`-`: the host sends no flag),
answered by a block and a release (A allow, H end of the turn); `[code]` behind it is the last reason in the log;
`S2:` in front is another session. `try a=AAD` asks three times for a call with the argument a (D: refused,
E: and the turn ends). The other words are in `do`.
"""

import os
import time
from typing import Any

import pytest

from .lab import WAKE_TEXT, Lab

NO_CAP = "env CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0"
HIGH_CAP = "env CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=5000"

Row = tuple[str, dict[str, Any], str]


def rows(scenarios: list[Row]) -> pytest.MarkDecorator:
    """Run a test once a row (name, configuration, script)."""
    return pytest.mark.parametrize(
        ("config", "script"), [row[1:] for row in scenarios], ids=[row[0] for row in scenarios]
    )


def play(lab: Lab, config: dict[str, Any], script: str) -> None:
    """Play a script; AssertionError names the first step that was answered differently."""
    if config:
        lab.config(**config)
    for step in script.split("; "):
        word, _, rest = step.partition(" ")
        if not do(lab, word, rest):
            demand(lab, step)


def demand(lab: Lab, step: str) -> None:
    who, _, rest = step.removeprefix("try ").rpartition(":")
    what, _, expected = rest.partition("=")
    letters, _, code = expected.partition("[")
    session = who or "S1"
    if step.startswith("try "):
        assert lab.attempts(what, len(letters), session_id=session) == letters, step
    else:
        assert lab.stops(what, session_id=session) == letters, step
    if code:
        assert lab.codes()[-1] == code.rstrip("]"), step


def do(lab: Lab, word: str, rest: str) -> bool:
    """Do what a word says; whether it is one."""
    task = lab.run / "task.json"
    match word:
        case "work":
            number, _, heartbeat = rest.partition(" ") if '"' not in rest else (rest, "", "")
            beat = f', "heartbeat": "{heartbeat}"' if heartbeat else ""
            task.write_text(f'{{"remaining": {number}{beat}}}')
        case "text":
            task.write_text(rest)
        case "bytes":
            task.write_bytes(bytes.fromhex(rest))
        case "env":
            name, _, value = rest.partition("=")
            lab.environment[name] = value
        case "at":
            lab.environment["HOOKCTL_NOW"] = rest
        case "old":
            then = float(lab.environment.get("HOOKCTL_NOW", time.time())) - float(rest) * 3600
            os.utime(task, (then, then))
        case "owner":
            lab.mark("OWNER", rest)
        case "mark":
            lab.mark(rest)
        case "armed":
            lab.arm(rest)
        case "no":
            remove(lab, rest)
        case "host":
            lab.host = rest
        case "turn":
            lab.payload["prompt_id"] = rest
        case "waits":
            lab.payload["background_tasks"] = [{"id": "b1"}]
        case "asks":
            lab.asks(rest)
        case "woken":
            lab.asks(WAKE_TEXT)
        case "says":
            lab.says(rest)
        case "calls":
            lab.calls(rest)
        case "uses":
            lab.calls("x", name=rest)
        case "prompt":
            assert lab.call("prompt", prompt=rest) == ""
        case "tool":
            assert lab.call("post-tool", tool_name="Bash", tool_input={"command": rest}) == ""
        case "done":
            assert lab.call("post-tool", tool_name=rest, tool_input={"id": 1}) == ""
        case "state":
            name, _, value = rest.partition(" ")
            assert lab.session()[name] == int(value), rest
        case "crumb":
            assert lab.breadcrumb.exists() == (rest == "yes"), rest
        case _:
            return False
    return True


def remove(lab: Lab, what: str) -> None:
    if what == "transcript":
        lab.payload["transcript_path"] = str(lab.root / "gone.jsonl")
    elif what == "waits":
        lab.payload["background_tasks"] = []
    elif what == "ACTIVE":
        (lab.folder / "ACTIVE").unlink()
    elif what in lab.environment:
        del lab.environment[what]
    else:
        (lab.run / what).unlink()
