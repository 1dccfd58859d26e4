"""The real Mistral Vibe, headless; stdout has the last reply alone."""

import json

from . import agent
from .agent import Driver, Start
from .clients import Client
from .dialects import Call, chat, shell_of

YOLO = "--yolo"  # lets the agent's tools run
TRUST = "--trust"  # trusts the folder that it is started in, for this run
# Nothing listens there: what is not for the model server stays on this machine.
_NOWHERE = "http://127.0.0.1:9"
_KEYS = {"MADE_UP_KEY": "made-up", "VIBE_TEST_DISABLE_KEYRING": "1"}
_ENVIRONMENT = {**_KEYS, "HTTP_PROXY": _NOWHERE, "HTTPS_PROXY": _NOWHERE}
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
    FILE, CONFIG = ".vibe/hooks.toml", ".vibe"


def _call(client: Client, place: Place, url: str, prompt: str) -> Start:
    (place.config / "config.toml").write_text(BASE.format(url=url))
    return Start([*client.command, "-p", prompt], _ENVIRONMENT)


DRIVER = Driver(chat, _call)
play = DRIVER.play
shell = shell_of("bash")  # needs YOLO


def within(code: str) -> Call:
    """Return a call of the tool that runs a program, from within which other tools are called."""
    return Call("run_typescript", {"code": f"async function main() {{ return await {code}; }}"})


def subagent(prompt: str) -> Call:
    """Return a call that starts a subagent in the background; needs YOLO."""
    return within(f"tools.agents.spawn({json.dumps({'name': 'looker', 'message': prompt})})")
