"""Every host as the hook meets it: a payload of each event (payloads/HOST.json), and what changes from stop to stop.

A payload file is one object: the hook's event, and what the host sends for it, with made-up values.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests.documents.table import read_table

from .lab import Lab

_FOLDER = Path(__file__).parent / "payloads"
PAYLOADS = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(_FOLDER.glob("*.json"))}
NAMES = [name for name in PAYLOADS if "-" not in name]
# These send the same to a hook of another host's file as to one of their own.
PAYLOADS["claude-run-by-grok"] = PAYLOADS["grok"]
# VS Code tells a hook of its folder where the hook names one, so the bytes may differ.
PAYLOADS["claude-run-by-vscode"] = {event: dict(reversed(sent.items())) for event, sent in PAYLOADS["vscode"].items()}
PAYLOADS["copilot-run-by-vscode"] = PAYLOADS["claude-run-by-vscode"]
PAYLOADS["vscode-run-by-copilot"] = PAYLOADS["claude-run-by-copilot"]
# Another host's file, and who reads it
BORROWED = {name: name.rpartition("-")[2] for name in PAYLOADS if "-run-by-" in name}
# What a host's hooks have in their environment, and so has whatever is started in one of its shells.
VARIABLES = {"copilot": {"COPILOT_CLI": "1"}, "grok": {"GROK_HOOK_EVENT": "stop"}}


class Now(NamedTuple):
    """Where a session is: what the person said last, as which prompt, and the stops since then and in all."""

    text: str
    prompt: int
    stop: int
    total: int

    def put_in(self, form: str) -> dict[str, Any]:
        """What a host tells, with the numbers of now."""
        known: dict[str, Any] = {
            **self._asdict(), "forced": self.stop > 0, "second": self.stop > 0 and self.stop % 2 == 0,
            "milliseconds": 1795334400000 + 1000 * self.total, "loops": self.total - max(self.prompt - 1, 0),
        }  # fmt: skip
        form = form.replace("<seconds>", f"{self.total:02}")
        return json.loads(re.sub("<([a-z]+)>", lambda found: json.dumps(known[found[1]]), form))


TABLE = {row[0]: row[1:] for row in read_table("hosts", _FOLDER.parent / "rows")}


def forms(column: int) -> dict[str, Any]:
    return {name: json.loads(row[column]) for name, row in TABLE.items() if row[column] != "-"}


STEPS = {name: row[0] for name, row in TABLE.items()}
STEPS["vscode-run-by-copilot"] = STEPS["claude-run-by-copilot"]
STEPS |= {name: STEPS[host] for name, host in BORROWED.items() if name not in STEPS}
PROMPTS = {name: row[1] for name, row in TABLE.items() if row[1] != "-"}
BLOCKS, REFUSALS, WORDS = map(forms, (2, 3, 4))
TALKATIVE = tuple(WORDS)  # those that show or record why the agent may stop
# They give a block's reason to the agent as a prompt, and tell of it or write it down as of one.
REPEATS = ("gemini", "qwen", "copilot", "cursor", "droid")


@dataclass
class Session:
    """A session of a host that plays on: a person prompts, the agent stops, tools are called in between.

    `events` are those that the host calls the hook for beside the stop.
    """

    lab: Lab
    name: str
    events: tuple[str, ...] = ()
    now: Now = field(default=Now("", 0, 0, 0))
    config: str = ""  # of its registration

    def __post_init__(self) -> None:
        self.lab.host = self.name.partition("-")[0]
        if self.name in BORROWED:
            self.lab.environment |= VARIABLES.get(self.host, {})

    @property
    def transcript(self) -> Path:
        """Where Droid writes down what is said, reasons like prompts."""
        return self.lab.root / "droid.jsonl"

    def _write(self, role: str, *content: dict[str, Any]) -> None:
        mode = {"interactionMode": "auto"} if role == "user" else {}
        entry = {"type": "message", "id": f"m{self.now.total}", "message": {"role": role, "content": content, **mode}}
        with self.transcript.open("a") as file:
            file.write(json.dumps(entry) + "\n")

    @property
    def host(self) -> str:
        """Who runs the hook."""
        return BORROWED.get(self.name, self.name)

    def payload(self, event: str, **fields: Any) -> bytes:
        """What the host sends, in the lab's project."""
        sample, project = PAYLOADS[self.name][event], str(self.lab.project)
        places = {"cwd": project, "working_dir": project, "workspace_roots": [project], "workspacePaths": [project]}
        ours = {name: place for name, place in places.items() if sample.get(name)}
        if self.name == "droid":
            ours["transcript_path"] = str(self.transcript)
        return json.dumps({**sample, **ours, **fields}).encode()

    def prompt(self, text: str = "begin") -> None:
        """A person says something."""
        self.now = self.now._replace(text=text, prompt=self.now.prompt + 1, stop=0)
        self._tell_of_prompt(text)

    def _tell_of_prompt(self, text: str) -> None:
        if self.name == "droid":
            self._write("user", {"type": "text", "text": text})
        if "prompt" in self.events and self.name in PROMPTS:
            payload = self.payload("prompt", **self.now._replace(text=text).put_in(PROMPTS[self.name]))
            assert self.lab.raw("prompt", payload, self.config) == ""

    def tool(self, tool: str, argument: str) -> None:
        """The agent has called a tool, and the host tells of it."""
        if self.name == "droid":
            return self._write("assistant", {"type": "tool_use", "name": tool, "input": {"command": argument}})
        sample = PAYLOADS[self.name]["post-tool"]
        names = {name: tool for name in ("tool_name", "toolName") if name in sample}
        calls = {name: {"command": argument} for name in ("tool_input", "toolArgs") if name in sample}
        ids = self.now.put_in(PROMPTS[self.name]) if self.name in PROMPTS and self.name != "hermes" else {}
        calls |= {name: value for name, value in ids.items() if name in sample}
        nested = {"toolCall": {"name": tool, "args": {"CommandLine": argument}}} if "toolCall" in sample else {}
        assert self.lab.raw("post-tool", self.payload("post-tool", **names, **calls, **nested), self.config) == ""

    def refusal(self, **fields: Any) -> str:
        """What the hook says to a tool call."""
        return self.lab.raw("pre-tool", self.payload("pre-tool", **fields), self.config)

    def stop(self, **fields: Any) -> str:
        """The agent stops: Block, Release with words, Allow in silence; the host goes on if it is told to."""
        said = self.lab.raw(
            "stop", self.payload("stop", **{**self.now.put_in(STEPS[self.name]), **fields}), self.config
        )
        letter = self.letter(said)
        self.now = self.now._replace(stop=self.now.stop + 1, total=self.now.total + 1)
        if letter == "B" and self.name in REPEATS:
            answer = json.loads(said)
            self._tell_of_prompt(answer.get("reason") or answer["followup_message"])
        return letter

    def stops(self, times: int) -> str:
        return "".join(self.stop() for _ in range(times))

    def letter(self, said: str) -> str:
        if not said:
            return "A"
        answer = json.loads(said)
        if same_form(answer, BLOCKS[self.host]):
            return "B"
        assert self.host in WORDS and same_form(answer, WORDS[self.host]), said
        return "R"


def same_form(answer: Any, form: Any) -> bool:
    """Has an answer exactly these keys and values? `...` is a text that is not empty."""
    if form == "...":
        return isinstance(answer, str) and answer.strip() != ""
    if isinstance(form, dict) and isinstance(answer, dict):
        return set(answer) == set(form) and all(same_form(answer[key], form[key]) for key in form)
    return bool(answer == form)
