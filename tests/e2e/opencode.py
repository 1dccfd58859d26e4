"""The real OpenCode, headless: served, since only then can anything go on after a turn, or run for one turn."""

import json
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from . import agent
from .agent import Driver, Start
from .clients import Client
from .dialects import Call, chat, shell_of

_SESSION = Path(__file__).parent / "opencode_session.py"
_QUIET = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")


class Place(agent.Place):
    FILE = ".config/opencode/plugin/operators.js"  # every file in its folder is a plugin
    CONFIG = ".config/opencode/opencode.json"


@dataclass(frozen=True)
class Run(agent.Run):
    """What one run left; of a served session, stdout has the messages."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Every message of the session with its parts, as the client has it on disk."""
        return json.loads(self.out)

    @property
    def prompts(self) -> list[dict[str, Any]]:
        """What the model was asked by the user or in the user's place: text, agent and model."""
        return [
            {"text": part["text"], "agent": message["info"]["agent"], "model": message["info"]["model"]}
            for message in self.messages
            if message["info"]["role"] == "user"
            for part in message["parts"]
            if part["type"] == "text" and not part.get("synthetic")
        ]


def _environment(place: Place, url: str) -> dict[str, str]:
    model = {"name": "mock", "tool_call": True, "limit": {"context": 100_000, "output": 4_000}}
    options = {"baseURL": f"{url}/v1", "apiKey": "made-up"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "mock", "options": options, "models": {"mock": model}}
    config = {
        "autoupdate": False,
        "share": "disabled",
        "model": "mock/mock",
        "small_model": "mock/mock",
        "provider": {"mock": provider},
        "permission": {"bash": "allow", "edit": "allow"},
    }
    return {
        "OPENCODE_CONFIG_CONTENT": json.dumps(config),
        **{f"OPENCODE_DISABLE_{name}": "1" for name in _QUIET},
        # It fetches its plugin package into every folder of plugins, and does without where it cannot.
        "npm_config_registry": "http://127.0.0.1:9/",
        "npm_config_fetch_retries": "0",
    }


def _serve(client: Client, place: Place, url: str, prompt: str) -> Start:
    return Start([sys.executable, "-I", str(_SESSION), str(client.program), prompt], _environment(place, url))


def _run(client: Client, place: Place, url: str, prompt: str) -> Start:
    return Start([*client.command, "run", prompt], _environment(place, url))


SERVED, ONE_TURN = Driver(chat, _serve, Run), Driver(chat, _run, Run)
play, play_one_turn = partial(SERVED.play, timeout=180), ONE_TURN.play  # a session waits after each of its steps
shell = shell_of("bash", description="a step")


def step(kind: str, **more: Any) -> str:
    """A further step of a served session, to be given behind the prompt: prompt, abort, shell or compact."""
    return json.dumps({"kind": kind, **more})


def subagent(marker: str) -> Call:
    """Return a call that starts a subagent and waits for it; its prompt carries the marker."""
    return Call("task", {"description": "look", "prompt": f"{marker}: look", "subagent_type": "general"})
