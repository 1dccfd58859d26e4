"""hookctl demo: a scripted agent and the real hook, in a temporary folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from hookctl import events, hosts, report
from hookctl.model import Line, Result
from hookctl.packs import guard
from hookctl.packs.choices import Settings
from hookctl.packs.programs import load_programs
from hookctl.system import files, interpreter
from hookctl.system.files import private_folder
from hookctl.system.folders import Folders
from hookctl.system.packages import CONFIGS, HOOK

_PAUSE = 2.0  # seconds before each step at a terminal
_LIMIT = 2


# Who does what, the work that is left then (None: as before), and whether the agent stops.
# Where nothing is left to say and no stop comes, a person sends a prompt.
_STORY = (
    ("you", "`hookctl run remaining 3`: three pieces of work are left", 3, False),
    ("agent", 'works a little, and says: "Shall I go on?"', None, True),
    ("agent", "finishes one piece: progress; stops again", 2, True),
    ("agent", "stops again, and has done nothing", None, True),
    ("agent", "stops once more, and has done nothing", None, True),
    ("you", "send a new prompt: the guard counts from the start", None, False),
    ("agent", "finishes all of it, and stops", 0, True),
)

HELP = """
--fast  Without pauses.

Examples:
  hookctl demo
  hookctl demo --fast
"""


def demo(folders: Folders, fast: bool = False, json: bool = False) -> Result:
    """Play the story with the real hook, in a temporary folder."""
    tell = (lambda line: True) if json else report.emit
    is_watched = sys.stdout is not None and sys.stdout.isatty()
    pause = _PAUSE if is_watched and not (fast or json) else 0.0
    tell(Line("A small scripted agent in a temporary folder, and the real guard."))
    tell(Line(f"MAX_STOP_BLOCKS is {_LIMIT} here. Nothing of yours is touched."))
    tell("")
    with private_folder("demo", folders.state) as top:
        stage = _Stage(top, interpreter.choose(folders.environ)[0])
        steps = list(_play(stage, tell, pause))
    end = (
        Line("Work that remains keeps the agent going; without progress it may stop."),
        "Next:",
        "  hookctl install --host claude",
    )
    return Result({"steps": steps}, () if json else ("", *end))


def _play(
    stage: _Stage, tell: Callable[[str | Line], bool], pause: float
) -> Iterator[dict[str, Any]]:
    """Play each step of the story and tell it."""
    prompts, is_forced = 1, False
    is_told = False  # the same words once
    for who, text, remaining, stops in _STORY:
        time.sleep(pause)
        if remaining is not None:
            stage.leave_work(remaining)
        elif not stops:
            prompts, is_forced = prompts + 1, False
        tell(Line(text, label=f"{who:5}"))
        step = {"who": who, "text": text, "decision": None, "code": None, "said": None}
        if stops:
            payload = {"stop_hook_active": is_forced, "prompt_id": f"p{prompts}"}
            answer, log_line = stage.stop(payload)
            decision = log_line.get("decision", "allow")
            values = json.loads(answer) if answer else {}  # to the agent, or to the person
            said = str(values.get("reason") or values.get("systemMessage") or "")
            said = said.replace(f"{stage.project}/", "")
            time.sleep(pause / 2)
            is_forced = decision == "block"
            told = "lets it stop"
            if is_forced:
                told = f"asks it to go on (block {log_line.get('blocks')} of {_LIMIT})"
            is_shown = said and not (is_forced and is_told)
            tell(Line(f'{told}: "{said}"' if is_shown else told, label="guard"))
            is_told = is_told or is_forced
            step = {**step, "decision": decision, "code": log_line.get("code"), "said": said}
        yield step


class _Stage:
    """A temporary project with a copy of the hook, and the hook's state in a folder beside it."""

    def __init__(self, top: str, python: str) -> None:
        self.top, self.python = top, python
        self.project, self.state = os.path.join(top, "project"), os.path.join(top, "state")
        for name, data in load_programs().all.items():
            files.write_own(os.path.join(top, name), data)
        settings = Settings(options={"max_stop_blocks": _LIMIT})
        host = hosts.load("claude")
        config = guard.configuration(settings, self.state, host)
        config |= {"max_stop_blocks": _LIMIT, guard.HOSTS: guard.host_table(host)}
        files.write_own(os.path.join(top, CONFIGS, "claude.json"), json.dumps(config).encode())

    def leave_work(self, remaining: int) -> None:
        """Say how much work is left, as `hookctl run remaining` does."""
        task = os.path.join(self.project, ".hookctl", "run", "task.json")
        files.write_own(task, json.dumps({"remaining": remaining}).encode())

    def stop(self, payload: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """What the hook answers to a stop, and its line in the log."""
        hook = os.path.join(self.top, HOOK)
        process = subprocess.run(
            [self.python, "-I", "-S", hook, "stop", "--host", "claude"],
            input=json.dumps({"session_id": "demo", "cwd": self.project, **payload}).encode(),
            capture_output=True,
            env={"HOME": self.top},
            cwd=self.project,
            check=False,
        )
        lines = events.read(self.state)
        return process.stdout.decode(), lines[-1] if lines else {}
