"""hookctl demo: a scripted agent and the real hook, in a temporary folder."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from hookctl import report
from hookctl.model import Line, Result
from hookctl.packs.choices import Request, Settings, choose
from hookctl.packs.stage import Event, Stage
from hookctl.system import interpreter
from hookctl.system.folders import Folders
from hookctl.system.temporary import private_folder
from hookctl.values import NamedTuple

_PAUSE = 2.0  # seconds before each step at a terminal
_LIMIT = "2"


class Scene(NamedTuple):
    """A step of the story: what is told, what changes in the project, and whether a turn ends."""

    who: str
    text: str
    run: dict[str, Any]
    asks: bool = False
    is_prompt: bool = False  # a person sends a prompt first


_STORY = (
    Scene("you", "`hookctl run remaining 3`: three pieces of work are left", {"remaining": 3}),
    Scene("agent", 'works a little, and says: "Shall I go on?"', {}, asks=True),
    Scene("agent", "finishes one piece: progress; stops again", {"remaining": 2}, asks=True),
    Scene("agent", "stops again, and has done nothing", {}, asks=True),
    Scene("agent", "stops once more, and has done nothing", {}, asks=True),
    Scene("you", "send a new prompt: the guard counts from the start", {}, is_prompt=True),
    Scene("agent", "finishes all of it, and stops", {"remaining": 0}, asks=True),
)
_SAID = {
    "block": "asks it to go on",
    "release": "lets it stop",
    "allow": "lets it stop",
    "end": "ends the turn",
}


def demo(folders: Folders, *, fast: bool, as_json: bool) -> Result:
    """Play the story with the real hook, in a temporary folder."""
    tell = (lambda line: True) if as_json else report.emit
    is_watched = sys.stdout is not None and sys.stdout.isatty()
    pause = _PAUSE if is_watched and not (fast or as_json) else 0.0
    settings = choose(Settings(), Request(assignments=(f"MAX_STOP_BLOCKS={_LIMIT}",)))
    tell(Line("A small scripted agent in a temporary folder, and the real guard."))
    tell(Line(f"MAX_STOP_BLOCKS is {_LIMIT} here. Nothing of yours is touched."))
    tell("")
    with private_folder("demo", folders.state) as top:
        stage = Stage(top, interpreter.choose(folders.environ)[0], settings)
        steps = list(_play(stage, tell, pause))
    end = (
        Line("Work that remains keeps the agent going; without progress it may stop."),
        "Next:",
        "  hookctl install --host claude",
    )
    return Result({"steps": steps}, () if as_json else ("", *end))


def _play(
    stage: Stage, tell: Callable[[str | Line], bool], pause: float
) -> Iterator[dict[str, Any]]:
    """Play each step of the story and tell it."""
    prompts, is_forced = 1, False
    is_told = False  # the same words once
    for number, scene in enumerate(_STORY, 1):
        time.sleep(pause)
        stage.now += 60
        stage.arrange(scene.run)
        tell(Line(scene.text, label=f"{scene.who:5}"))
        prompts += scene.is_prompt
        is_forced = is_forced and not scene.is_prompt
        step = {"who": scene.who, "text": scene.text, "decision": None, "code": None, "said": None}
        if scene.asks:
            payload = {"stop_hook_active": is_forced, "prompt_id": f"p{prompts}"}
            event = Event(number, "stop", "claude", None, {}, {}, payload)
            answer, log_line = stage.ask(event)
            decision = log_line.get("decision", "allow")
            said = _read_answer(answer).replace(f"{stage.project}/", "")
            time.sleep(pause / 2)
            if decision == "block":
                blocks = f" (block {log_line.get('blocks')} of {_LIMIT})"
                tell(_describe(decision, "" if is_told else said, blocks))
            else:
                tell(_describe(decision, said))
            is_forced = decision == "block"
            is_told = is_told or is_forced
            step = {**step, "decision": decision, "code": log_line.get("code"), "said": said}
        yield step


def _read_answer(answer: str) -> str:
    """What the guard says to the agent, or to the person; '' if nothing."""
    values = json.loads(answer) if answer else {}
    return str(values.get("reason") or values.get("systemMessage") or "")


def _describe(decision: str, said: str, blocks: str = "") -> Line:
    text = _SAID.get(decision, decision) + blocks
    return Line(f'{text}: "{said}"' if said else text, label="guard")
