"""The pack notify, asked as its hooks are: what is said once, and what is not said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from hookctl.system import guard_module
from tests.conftest import Hookctl, put

IDLE = {"hook_event_name": "Notification", "message": "Claude is waiting for your input"}


def test_what_an_agent_does_is_said_once(hookctl: Hookctl, isolated: Path) -> None:
    put(isolated / "bin" / "notify-send", f'#!/bin/sh\nprintf "%s|" "$@" >> {isolated}/said\n').chmod(0o755)
    hookctl("install", "notify", "--host", "claude")
    log = put(isolated / "state" / "guard" / "x" / "events.jsonl", "")
    variables = {**os.environ, "PATH": f"{isolated / 'bin'}:{os.environ['PATH']}", "HOOKCTL_HOST": "claude"}

    def tell(session: str, *decisions: str, config: Path = isolated, **fields: str) -> None:
        asked = {"hook_event_name": "Stop", "session_id": session, "cwd": f"/{session}", **fields}
        for decision in decisions:
            line = {"t": int(time.time()), "session": guard_module("files").digest(session), "decision": decision}
            log.write_text(f"{log.read_text()}{json.dumps(line)}\n")
        words = [sys.executable, str(isolated / "data" / "packs" / "notify" / "notify.py")]
        environ = {**variables, "XDG_CONFIG_HOME": str(config)}
        done = subprocess.run(words, input=json.dumps(asked).encode(), env=environ, capture_output=True, timeout=2)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    hour = time.localtime().tm_hour
    put(isolated / "night" / "hookctl" / "notify", f"{hour}-{(hour + 2) % 24}\n")
    tell("plain")
    tell("twice")
    tell("twice", **IDLE)
    tell("blocked", "block")
    tell("goes-on", "block", "allow")
    tell("ended", "end")
    tell("night", config=isolated / "night")
    tell("asks", hook_event_name="Notification", message="\033[1m<b>May I?\n" + "x" * 200)
    time.sleep(5)
    said = (isolated / "said").read_text().split("--|")[1:]
    assert sorted(said) == [
        f"claude in asks| [1m b May I? {'x' * 86}|",
        "claude in ended|was ended by the guard|",
        "claude in goes-on|has stopped|",
        "claude in plain|has stopped|",
        "claude in twice|has stopped|",
    ]
    tell("plain", **IDLE)
    tell("ended", "end", **IDLE)
    time.sleep(5)
    assert (isolated / "said").read_text().split("--|")[6:] == ["claude in ended|was ended by the guard|"]
