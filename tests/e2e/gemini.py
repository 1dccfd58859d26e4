"""The real Gemini CLI, headless; stdout has the last reply."""

import json
from pathlib import Path
from typing import Any

from . import agent
from .agent import Driver, Start
from .clients import Client
from .dialects import Call, gemini

TRUST = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}  # without it, or SKIP, nothing runs
SKIP = "--skip-trust"  # leaves the project's own settings out
YOLO = "-y"  # lets the agent's tools run
# What a user has who has logged in with a key; everything else is on the command line or in the environment.
BASE: dict[str, Any] = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "model": {"name": "gemini-2.5-flash"},
}


class Place(agent.Place):
    @property
    def settings(self) -> Path:
        return self.home / ".gemini" / "settings.json"

    def lay_out(self) -> None:
        """A home with settings that let the client start."""
        super().lay_out()
        self.settings.write_text(json.dumps(BASE, indent=2) + "\n")


def _call(client: Client, place: Place, url: str, prompt: str) -> Start:
    environment = {
        "GEMINI_API_KEY": "made-up",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_CLI_NO_RELAUNCH": "true",
        "GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(place.root / "no-system-settings.json"),
        "GEMINI_TELEMETRY_ENABLED": "false",
        **TRUST,
    }
    return Start([*client.command, "-p", prompt], environment)


DRIVER = Driver(gemini, _call, agent.Run)
play, start = DRIVER.play, DRIVER.start


def shell(command: str) -> Call:
    """Return a call of the shell tool; needs YOLO."""
    return Call("run_shell_command", {"command": command})
