"""The real Pi, headless: one prompt in print mode, or a session in RPC mode."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import agent
from .agent import Driver, Run, Start
from .clients import Client
from .dialects import Reply, chat, shell_of
from .model_server import Script

_SESSION = Path(__file__).parent / "pi_session.py"
_OFFLINE = {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"}
TRUST = "--approve"  # loads the project's own extensions, for this run


class Place(agent.Place):
    FILE = ".pi/agent/extensions/operators.js"  # every file in its folder is an extension

    @property
    def agent_folder(self) -> Path:
        return self.settings.parents[1]


def _command(client: Client, place: Place, url: str, *mode: str) -> list[str]:
    model = {"id": "mock", "contextWindow": 100_000, "maxTokens": 4_000}
    provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "made-up", "models": [model]}
    (place.agent_folder / "models.json").write_text(json.dumps({"providers": {"mock": provider}}))
    return [*client.command, *mode, "--provider", "mock", "--model", "mock"]


def _print(client: Client, place: Place, url: str, prompt: str) -> Start:
    return Start([*_command(client, place, url, "-p"), prompt], _OFFLINE)


def _rpc(client: Client, place: Place, url: str, steps: str) -> Start:
    """`steps` is a list of RPC commands as JSON."""
    command = _command(client, place, url, "--mode", "rpc")
    return Start([sys.executable, "-I", str(_SESSION), steps, *command], _OFFLINE)


PRINT, RPC = Driver(chat, _print), Driver(chat, _rpc)
play = PRINT.play
shell = shell_of("bash")


def play_session(client: Client, place: Place, replies: Sequence[Reply] | Script, *steps: Any, **options: Any) -> Run:
    """Run one session in RPC mode; a step is a prompt, or an RPC command (see pi_session.py)."""
    commands = [{"type": "prompt", "message": step} if isinstance(step, str) else step for step in steps]
    return RPC.play(client, place, replies, prompt=json.dumps(commands), timeout=120, **options)
