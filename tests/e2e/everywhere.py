"""What the tests with every real client have in common: how each is driven, and what a run left."""

import json
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

from . import claude, codex, copilot, droid, gemini, grok, hermes, kimi, opencode, openhands, pi, qwen, vibe
from .agent import Place, Run
from .clients import Client
from .dialects import Call
from .model_server import Script
from .product import state_folder


@dataclass(frozen=True)
class Case:
    """One client: how its agent writes a file, what lets its tools run, and what it cannot do."""

    driver: ModuleType
    write: tuple[str, dict[str, Any]]
    options: tuple[str, ...] = ()
    changes: bool = True  # a changed input is used
    contexts: tuple[str, ...] = ("SessionStart", "UserPromptSubmit")
    asks_starts: bool = True  # hooks hear of a session's start
    asks_prompts: bool = True  # hooks hear of a prompt
    answers: bool = True  # what a hook says after a call reaches the model
    serial: bool = False  # after a refusal it asks no further hook
    passes_change: bool = True  # a hook behind one that changes the input is asked about the new one, if serial
    environment: tuple[tuple[str, str], ...] = ()

    @property
    def host(self) -> str:
        return self.driver.__name__.rpartition(".")[2]

    def shell(self, command: str) -> Call:
        return self.driver.shell(command)

    def writes(self, place: Place, name: str = "made.txt", text: str = "text") -> Call:
        """A call that writes a file in the project."""
        tool, input = self.write
        path = str(place.project / name)
        return Call(tool, {key: value.replace("PATH", path).replace("TEXT", text) for key, value in input.items()})


SUMMARY = {"security_risk": "LOW", "summary": "a step"}
CASES = [
    Case(claude, ("Write", {"file_path": "PATH", "content": "TEXT"})),
    Case(codex, ("apply_patch", {"input": codex.ADDS}), (codex.YOLO, codex.BYPASS, *codex.PATCHES), changes=False),
    Case(gemini, ("write_file", {"file_path": "PATH", "content": "TEXT"}), (gemini.YOLO,)),
    Case(qwen, ("write_file", {"file_path": "PATH", "content": "TEXT"}), (qwen.YOLO,), changes=False),
    Case(copilot, ("create", {"path": "PATH", "file_text": "TEXT"}), serial=True),
    # What a hook says at a session's start or to a prompt reaches nobody.
    Case(grok, ("write", {"file_path": "PATH", "content": "TEXT"}), (grok.YOLO,), contexts=(), serial=True,
         passes_change=False),
    Case(opencode, ("write", {"filePath": "PATH", "content": "TEXT"})),
    Case(pi, ("write", {"path": "PATH", "content": "TEXT"})),
    Case(openhands, ("file_editor", {"command": "create", "path": "PATH", "file_text": "TEXT", **SUMMARY}),
         changes=False, answers=False, serial=True, environment=(("EDITOR", "1"),)),
    # A changed call has to be allowed anew.
    Case(droid, ("Create", {"file_path": "PATH", "content": "TEXT"}), ("--auto", "high"), contexts=("SessionStart",),
         asks_prompts=False),
    Case(hermes, ("write_file", {"path": "PATH", "content": "TEXT"}), (hermes.YOLO, hermes.ACCEPT), changes=False,
         contexts=("UserPromptSubmit",), answers=False),
    Case(kimi, ("Write", {"path": "PATH", "content": "TEXT"}), changes=False, contexts=("UserPromptSubmit",),
         answers=False),
    # Its hooks hear of tool calls and of the end of a turn, and of nothing else.
    Case(vibe, ("write_file", {"path": "PATH", "content": "TEXT"}), (vibe.YOLO,), contexts=(), asks_starts=False,
         asks_prompts=False, serial=True),
]  # fmt: skip
EVERY = [pytest.param(case, id=case.host) for case in CASES]


def play(case: Case, client: Client, place: Place, *calls: Call) -> Run:
    """Let the agent make these calls, and end."""
    script, environment = Script([*calls, "done"], limit=20), dict(case.environment)
    return case.driver.play(client, place, script, *case.options, timeout=300, environment=environment)


def told(run: Run) -> str:
    """Everything that the model was told."""
    return json.dumps([entry.request.body for entry in run.log], ensure_ascii=False)


def receipts(place: Place) -> list[tuple[str, str]]:
    """Event and outcome of each run of a hook."""
    return [(line["event"], line["outcome"]) for line in receipt_lines(place)]


def receipt_lines(place: Place) -> list[dict[str, Any]]:
    """The receipt of each run of a hook."""
    paths = sorted(state_folder(place).glob("guard/*/runs.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]
