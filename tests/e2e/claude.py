"""The real Claude Code, headless."""

import functools
import json
from dataclasses import dataclass
from typing import Any

from . import agent
from .agent import Driver, starts
from .dialects import Call, anthropic

_KEY = "sk-ant-api03-made-up-for-tests-" + "0" * 24
_QUIET = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER",
          "DISABLE_ERROR_REPORTING", "DISABLE_BUG_COMMAND", "DISABLE_COST_WARNINGS")  # fmt: skip


class Place(agent.Place):
    FILE = ".claude/settings.json"

    def lay_out(self) -> None:
        """A home as it is after Claude Code's own first start."""
        super().lay_out()
        trust = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        state = {
            "hasCompletedOnboarding": True,
            "customApiKeyResponses": {"approved": [_KEY[-20:]]},
            "projects": {str(self.project): trust},
        }
        (self.home / ".claude.json").write_text(json.dumps(state))


@dataclass(frozen=True)
class Run(agent.Run):
    """What one run left; its output is a stream of JSON lines."""

    @functools.cached_property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines() if line.startswith("{")]

    @property
    def result(self) -> str | None:
        """The reply's text as the user gets it; Claude Code throws it away where it overrides a hook."""
        return self.ending.get("result")

    @property
    def session(self) -> str:
        return self.ending["session_id"]

    @property
    def ending(self) -> dict[str, Any]:
        """The stream's last result line."""
        return next((line for line in reversed(self.lines) if line.get("type") == "result"), {})

    @property
    def texts(self) -> list[str]:
        """What the main agent said, as the stream showed it."""
        blocks = [block for line in self.lines if line["type"] == "assistant" for block in line["message"]["content"]]
        return [block["text"] for block in blocks if block["type"] == "text"]

    @property
    def was_overridden(self) -> bool:
        """Whether Claude Code ended the turn against a hook's block."""
        return any(line["key"] == "stop-hook-block-cap" for line in self.system_lines("notification"))

    @property
    def tool_results(self) -> list[dict[str, Any]]:
        """What the model was told about each tool call by the last request."""
        contents = [message["content"] for message in self.last_messages if isinstance(message["content"], list)]
        return [block for content in contents for block in content if block["type"] == "tool_result"]

    def hooks(self, event: str) -> list[dict[str, Any]]:
        """How each call of a hook on this event ended."""
        return [line for line in self.system_lines("hook_response") if line["hook_event"] == event]

    def system_lines(self, subtype: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line.get("type") == "system" and line.get("subtype") == subtype]


OPTIONS = ("-p", "PROMPT", "--output-format", "stream-json", "--verbose", "--include-hook-events")
KEYS = {"ANTHROPIC_API_KEY": _KEY, "ANTHROPIC_BASE_URL": "URL", "CLAUDE_CODE_MAX_RETRIES": "0"}
DRIVER = Driver(anthropic, starts(*OPTIONS, **KEYS, CLAUDE_CODE_TMPDIR="TMP", **dict.fromkeys(_QUIET, "1")), Run)
play = DRIVER.play


def shell(command: str, **more: Any) -> Call:
    """Return a call of the Bash tool; the settings must allow the command."""
    return Call("Bash", {"command": command, "description": "a step", **more})


def subagent(marker: str) -> Call:
    """Return a call that starts a subagent and waits for it; its prompt carries the marker."""
    task = {"description": "look", "prompt": f"{marker}: look", "subagent_type": "general-purpose"}
    return Call("Task", {**task, "run_in_background": False})
