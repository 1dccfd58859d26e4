"""The real Hermes agent, headless; stdout has the replies, stderr the session's id."""

import json
from pathlib import Path
from typing import Any

from . import agent
from .agent import Driver, Start
from .clients import Client
from .dialects import Call, chat, shell_of

YOLO = "--yolo"  # lets the agent's tools run
ACCEPT = "--accept-hooks"  # agrees to every hook of the settings file
# Nothing listens there: what is not for the model server stays on this machine.
_NOWHERE = "http://127.0.0.1:9"
# What a user has who has a model of their own; the rest keeps the client from fetching programs and packages.
BASE = """\
model:
  default: mock
  provider: custom
  base_url: ${MODEL_URL}/v1
  api_key: made-up
  context_length: 200000
security:
  tirith_enabled: false
  allow_lazy_installs: false
lsp:
  enabled: false
"""


class Place(agent.Place):
    FILE, CONFIG, BASE = ".hermes/config.yaml", ".hermes", BASE

    @property
    def consent(self) -> Path:
        """Where the client keeps what its user agreed to."""
        return self.config / "shell-hooks-allowlist.json"

    def approvals(self) -> list[dict[str, Any]]:
        return json.loads(self.consent.read_text())["approvals"] if self.consent.exists() else []

    def log(self) -> str:
        """The client's own log."""
        return "".join(path.read_text("utf-8", "replace") for path in sorted(self.config.glob("logs/agent.log")))


def environment(place: Place) -> dict[str, str]:
    """Return what keeps the client to itself, beside the place's own environment."""
    managed = {"HERMES_MANAGED_DIR": str(place.root / "no-managed-settings")}
    return {"HTTP_PROXY": _NOWHERE, "HTTPS_PROXY": _NOWHERE, **managed}


def _call(client: Client, place: Place, url: str, prompt: str) -> Start:
    # The settings file names the address by a variable, so that it has the same bytes in every run.
    return Start([*client.command, "chat", "-Q", "--cli", "-q", prompt], {**environment(place), "MODEL_URL": url})


DRIVER = Driver(chat, _call)
play = DRIVER.play
shell = shell_of("terminal")  # needs YOLO


def write_file(place: Place, name: str = "made.py") -> Call:
    """Return a call of the tool that writes a file; only a turn with one has an end that hooks hear of."""
    return Call("write_file", {"path": str(place.project / name), "content": "made = 1\n"})
