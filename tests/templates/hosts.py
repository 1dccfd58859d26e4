"""Every host as the hook meets it: a payload of each event (payloads/HOST.json), and what changes from stop to stop.

A payload file is one object: the hook's event, and what the host sends for it, with made-up values.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

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


STEPS: dict[str, Callable[[Now], dict[str, Any]]] = {
    "claude": lambda now: {"prompt_id": f"p{now.prompt}", "stop_hook_active": now.stop > 0},
    "codex": lambda now: {"turn_id": f"t{now.prompt}", "stop_hook_active": now.stop > 0},
    # false again after a tool call
    "gemini": lambda now: {"prompt": now.text, "stop_hook_active": now.stop > 0 and now.stop % 2 == 0},
    "grok": lambda now: {"promptId": f"p{now.prompt}", "stopHookActive": now.stop > 0},
    "qwen": lambda now: {"prompt_id": f"S########{now.prompt}", "stop_hook_active": now.stop > 0},
    "copilot": lambda now: {"timestamp": 1795334400000 + 1000 * now.total, "stop_hook_active": now.stop > 0},
    "openhands": lambda now: {},
    # how often it has gone on for a hook, in the whole conversation
    "cursor": lambda now: {"generation_id": f"g{now.total}", "loop_count": now.total - max(now.prompt - 1, 0)},
    "antigravity": lambda now: {"executionNum": now.total},
    "droid": lambda now: {"message_id": f"m{now.total}", "stop_hook_active": now.stop > 0},
    "kimi": lambda now: {},
    "pi": lambda now: {"prompt_id": f"p{now.prompt}", "stop_hook_active": now.stop > 0},
    "kiro": lambda now: {},
    "vscode": lambda now: {"timestamp": f"2026-11-24T10:30:{now.total:02}.000Z", "stop_hook_active": now.stop > 0},
    "hermes": lambda now: {"extra": {**PAYLOADS["hermes"]["stop"]["extra"], "attempt": now.stop}},
    "vibe": lambda now: {},
}
STEPS["claude-run-by-copilot"] = lambda now: {
    "timestamp": f"2026-11-22T08:00:{now.total:02}.000Z",
    "stop_hook_active": now.stop > 0,
}
STEPS["vscode-run-by-copilot"] = STEPS["claude-run-by-copilot"]
STEPS |= {name: STEPS[host] for name, host in BORROWED.items() if name not in STEPS}

# They give a block's reason to the agent as a prompt, and tell of it or write it down as of one.
REPEATS = ("gemini", "qwen", "copilot", "cursor", "droid")
PROMPTS: dict[str, Callable[[Now, str], dict[str, Any]]] = {
    "claude": lambda now, text: {"prompt_id": f"p{now.prompt}", "prompt": text},
    "codex": lambda now, text: {"turn_id": f"t{now.prompt}", "prompt": text},
    "gemini": lambda now, text: {"prompt": text},
    "grok": lambda now, text: {"promptId": f"p{now.prompt}", "prompt": text},
    "qwen": lambda now, text: {"prompt_id": f"S########{now.prompt}", "prompt": text},
    "copilot": lambda now, text: {"prompt": text},
    "openhands": lambda now, text: {"message": text},
    "kimi": lambda now, text: {"prompt": [{"type": "text", "text": text}]},
    "kiro": lambda now, text: {"prompt": text},
    "vscode": lambda now, text: {"prompt": text},
    "cursor": lambda now, text: {"generation_id": f"g{now.total}", "prompt": text},
    "pi": lambda now, text: {"prompt_id": f"p{now.prompt}", "prompt": text},
    "hermes": lambda now, text: {"extra": {"task_id": "1", "turn_id": f"t{now.prompt}", "user_message": text}},
}

BLOCK = {"decision": "block", "reason": ...}
REFUSAL = {"permissionDecision": "deny", "permissionDecisionReason": ...}
NESTED = {"hookSpecificOutput": {"hookEventName": "PreToolUse", **REFUSAL}}
DENY = {"decision": "deny", "reason": ...}
BLOCKS = {name: BLOCK for name in NAMES} | {
    **{name: DENY for name in ("gemini", "openhands", "vibe")},
    "kimi": {"hookSpecificOutput": {"hookEventName": "Stop", **REFUSAL}},
    "cursor": {"followup_message": ...},
    "antigravity": {"decision": "continue", "reason": ...},
    "vscode": {"hookSpecificOutput": {"hookEventName": "Stop", **BLOCK}},
}
REFUSALS: dict[str, dict[str, Any]] = {
    **{name: NESTED for name in ("claude", "codex", "grok", "qwen", "droid", "kimi", "vscode")},
    **{name: DENY for name in ("gemini", "openhands", "antigravity", "pi", "vibe")},
    "copilot": REFUSAL,
    "cursor": {"permission": "deny", "user_message": ..., "agent_message": ...},
    "hermes": {"decision": "block", "reason": ...},
}
# Those that show or record why the agent may stop.
TALKATIVE = ("claude", "codex", "gemini", "qwen", "openhands", "pi", "vibe", "vscode")


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
            payload = self.payload("prompt", **PROMPTS[self.name](self.now, text))
            assert self.lab.raw("prompt", payload, self.config) == ""

    def tool(self, tool: str, argument: str) -> None:
        """The agent has called a tool, and the host tells of it."""
        if self.name == "droid":
            return self._write("assistant", {"type": "tool_use", "name": tool, "input": {"command": argument}})
        sample = PAYLOADS[self.name]["post-tool"]
        names = {name: tool for name in ("tool_name", "toolName") if name in sample}
        calls = {name: {"command": argument} for name in ("tool_input", "toolArgs") if name in sample}
        ids = PROMPTS[self.name](self.now, "") if self.name in PROMPTS and self.name != "hermes" else {}
        calls |= {name: value for name, value in ids.items() if name in sample}
        nested = {"toolCall": {"name": tool, "args": {"CommandLine": argument}}} if "toolCall" in sample else {}
        assert self.lab.raw("post-tool", self.payload("post-tool", **names, **calls, **nested), self.config) == ""

    def refusal(self, **fields: Any) -> str:
        """What the hook says to a tool call."""
        return self.lab.raw("pre-tool", self.payload("pre-tool", **fields), self.config)

    def stop(self, **fields: Any) -> str:
        """The agent stops: Block, Release with words, Allow in silence; the host goes on if it is told to."""
        said = self.lab.raw("stop", self.payload("stop", **{**STEPS[self.name](self.now), **fields}), self.config)
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
        forms = {"openhands": {"decision": "allow", "reason": ...}, "vibe": {"system_message": ...}}
        form = forms.get(self.host, {"systemMessage": ...})
        assert self.host in TALKATIVE and same_form(answer, form), said
        return "R"


def same_form(answer: Any, form: Any) -> bool:
    """Has an answer exactly these keys and values? `...` is a text that is not empty."""
    if form is ...:
        return isinstance(answer, str) and answer.strip() != ""
    if isinstance(form, dict):
        return (
            isinstance(answer, dict) and set(answer) == set(form) and all(same_form(answer[k], form[k]) for k in form)
        )
    return answer == form
