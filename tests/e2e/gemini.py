"""The real Gemini CLI, headless; stdout has the last reply."""

import json
from typing import Any

from . import agent
from .agent import Driver, starts
from .dialects import gemini, shell_of

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
    FILE, BASE = ".gemini/settings.json", json.dumps(BASE, indent=2) + "\n"


_KEYS = {"GEMINI_API_KEY": "made-up", "GOOGLE_GEMINI_BASE_URL": "URL", "GEMINI_CLI_NO_RELAUNCH": "true"}
_QUIET = {"GEMINI_CLI_SYSTEM_SETTINGS_PATH": "ROOT/no-system-settings.json", "GEMINI_TELEMETRY_ENABLED": "false"}
DRIVER = Driver(gemini, starts("-p", "PROMPT", **_KEYS, **_QUIET, **TRUST))
shell = shell_of("run_shell_command")  # needs YOLO
play = DRIVER.play
