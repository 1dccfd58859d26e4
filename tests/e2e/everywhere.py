"""What the tests with every real client have in common: how each is driven, and what a run left."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest

from . import claude, codex, copilot, droid, gemini, grok, hermes, kimi, opencode, openhands, pi, qwen, tables, vibe
from .agent import Place, Run
from .clients import Client
from .dialects import Call, Reply
from .model_server import Script
from .product import state_folder


@dataclass(frozen=True)
class Case:
    """One client: how its agent writes a file, what lets its tools run, and what it cannot do."""

    driver: ModuleType
    write: Sequence[Any]  # a tool and its input
    options: Sequence[str] = ()
    changes: bool = True  # a changed input is used
    contexts: Sequence[str] = ("SessionStart", "UserPromptSubmit")
    asks_starts: bool = True  # hooks hear of a session's start
    asks_prompts: bool = True  # hooks hear of a prompt
    answers: bool = True  # what a hook says after a call reaches the model
    serial: bool = False  # after a refusal it asks no further hook
    passes_change: bool = True  # a hook behind one that changes the input is asked about the new one, if serial
    environment: Mapping[str, str] = field(default_factory=dict)
    subagent: Any = ""  # the reply that starts one, which begins with MARKER
    resume: Sequence[str] = ()  # goes on with the last session
    turn: str = ""  # the field of a payload that tells a new prompt
    moved_file: str = ""  # the settings file in the folder that the variable names

    @property
    def host(self) -> str:
        return tables.name_of(self.driver)

    def shell(self, command: str) -> Call:
        return self.driver.shell(command)

    def starts_a_subagent(self) -> Reply:
        return tables.reply(self.driver, self.subagent)

    def writes(self, place: Place, name: str = "made.txt", text: str = "text") -> Call:
        """A call that writes a file in the project."""
        tool, input = self.write
        path = str(place.project / name)
        return Call(tool, {key: value.replace("PATH", path).replace("TEXT", text) for key, value in input.items()})


DRIVERS = (claude, codex, gemini, qwen, copilot, grok, opencode, pi, openhands, droid, hermes, kimi, vibe)
CASES = [Case(driver, **tables.read(driver, "agent")) for driver in DRIVERS]
EVERY = [pytest.param(case, id=case.host) for case in CASES]


def play(case: Case, client: Client, place: Place, *calls: Call) -> Run:
    """Let the agent make these calls, and end."""
    script = Script([*calls, "done"], limit=20)
    return case.driver.play(client, place, script, *case.options, timeout=300, environment=case.environment)


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
