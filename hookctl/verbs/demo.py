"""hookctl demo: a scripted agent and the real hook, in a temporary folder."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from hookctl import hosts, receipts
from hookctl.model import Line, Result
from hookctl.output.lines import emit
from hookctl.ownership.own_files import new_config
from hookctl.packs import guard
from hookctl.packs.choices import Settings
from hookctl.packs.programs import load_programs
from hookctl.system import files, interpreter
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
"""


def demo(folders: Folders, fast: bool = False, json: bool = False) -> Result:
    """Play the story with the real hook, in a temporary folder."""
    tell = (lambda line: True) if json else emit
    is_watched = sys.stdout is not None and sys.stdout.isatty()
    pause = _PAUSE if is_watched and not (fast or json) else 0.0
    tell(Line("A small scripted agent in a temporary folder, and the real guard."))
    tell(Line(f"MAX_STOP_BLOCKS is {_LIMIT} here. Nothing of yours is touched."))
    tell("")
    with files.private_folder("demo", folders.state) as top:
        steps = list(_play(top, interpreter.choose(folders.environ)[0], tell, pause))
    end = Line("Work that remains keeps the agent going; without progress it may stop.")
    text = ("", end, "Next:", Line("  hookctl install --host claude"))
    return Result({"steps": steps}, () if json else text)


def _play(
    top: str, python: str, tell: Callable[[str | Line], bool], pause: float
) -> Iterator[dict[str, Any]]:
    for name, data in load_programs().all.items():
        files.write_own(os.path.join(top, name), data)
    host = hosts.load("claude")
    settings = Settings(options={"max_stop_blocks": _LIMIT})
    config = guard.configuration(settings, os.path.join(top, "state"), host)
    config["max_stop_blocks"] = _LIMIT
    files.write_own(os.path.join(top, CONFIGS, "claude.json"), new_config(config, host))
    project = os.path.join(top, "project")
    prompts, is_forced = 1, False
    is_told = False  # the same words once
    for who, text, remaining, stops in _STORY:
        time.sleep(pause)
        if remaining is not None:
            task = os.path.join(project, ".hookctl", "run", "task.json")
            files.write_own(task, json.dumps({"remaining": remaining}).encode())
        elif not stops:
            prompts, is_forced = prompts + 1, False
        tell(Line(text, label=f"{who:5}"))
        step = {"who": who, "text": text, "decision": None, "code": None, "said": None}
        if stops:
            payload = {"session_id": "demo", "cwd": project, "prompt_id": f"p{prompts}"}
            said, logged = _stop(top, python, {**payload, "stop_hook_active": is_forced})
            said = said.replace(f"{project}/", "")
            time.sleep(pause / 2)
            is_forced, told = logged["decision"] == "block", "lets it stop"
            if is_forced:
                told = f"asks it to go on (block {logged['blocks']} of {_LIMIT})"
            is_shown = said and not (is_forced and is_told)
            tell(Line(f'{told}: "{said}"' if is_shown else told, label="guard"))
            is_told = is_told or is_forced
            step |= {"decision": logged["decision"], "code": logged["code"], "said": said}
        yield step


def _stop(top: str, python: str, payload: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """What the hook says at a stop, to the agent or to the person, and its line in the log."""
    process = subprocess.run(
        [python, "-I", "-S", os.path.join(top, HOOK), "stop", "--host", "claude"],
        input=json.dumps(payload).encode(),
        capture_output=True,
        env={"HOME": top},
        cwd=os.path.join(top, "project"),
        check=False,
    )
    answer = json.loads(process.stdout or "{}")
    said = str(answer.get("reason") or answer.get("systemMessage") or "")
    return said, receipts.read(os.path.join(top, "state"))[-1]
