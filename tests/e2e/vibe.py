"""The real Mistral Vibe, headless; stdout has the last reply alone."""

import json
from pathlib import Path

from . import agent
from .agent import Driver, Start
from .clients import Client
from .dialects import Call, chat

YOLO = "--yolo"  # lets the agent's tools run
TRUST = "--trust"  # trusts the folder that it is started in, for this run
# Nothing listens there: what is not for the model server stays on this machine.
_NOWHERE = "http://127.0.0.1:9"
_ENVIRONMENT = {
    "MADE_UP_KEY": "made-up",
    "VIBE_TEST_DISABLE_KEYRING": "1",
    "HTTP_PROXY": _NOWHERE,
    "HTTPS_PROXY": _NOWHERE,
}
BASE = """\
active_model = "mock"
enable_telemetry = false
enable_update_checks = false

[[providers]]
name = "local"
api_base = "{url}/v1"
api_key_env_var = "MADE_UP_KEY"

[[models]]
name = "mock"
provider = "local"
alias = "mock"
"""


class Place(agent.Place):
    @property
    def config(self) -> Path:
        """The client's own folder."""
        return self.home / ".vibe"

    @property
    def settings(self) -> Path:
        return self.config / "hooks.toml"


def _call(client: Client, place: Place, url: str, prompt: str) -> Start:
    (place.config / "config.toml").write_text(BASE.format(url=url))
    return Start([*client.command, "-p", prompt], _ENVIRONMENT)


DRIVER = Driver(chat, _call, agent.Run)
play, start = DRIVER.play, DRIVER.start


def shell(command: str) -> Call:
    """Return a call of the shell tool; needs YOLO."""
    return Call("bash", {"command": command})


def within(code: str) -> Call:
    """Return a call of the tool that runs a program, from within which other tools are called."""
    return Call("run_typescript", {"code": f"async function main() {{ return await {code}; }}"})


def subagent(prompt: str) -> Call:
    """Return a call that starts a subagent in the background; needs YOLO."""
    return within(f"tools.agents.spawn({json.dumps({'name': 'looker', 'message': prompt})})")
