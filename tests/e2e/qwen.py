"""The real Qwen Code, headless; stdout has the replies one after the other, stderr what hooks say."""

import json
from typing import Any

from . import agent
from .agent import Driver, starts
from .dialects import chat, shell_of

YOLO = "-y"  # lets the agent's tools run
# What a user has who has chosen a model of their own; without it there is side traffic, or the client asks for a login.
BASE: dict[str, Any] = {
    "$version": 4,
    "security": {"auth": {"selectedType": "openai"}},
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "memory": {"enableManagedAutoMemory": False},
}


class Place(agent.Place):
    FILE, BASE = ".qwen/settings.json", json.dumps(BASE, indent=2) + "\n"


_KEYS = {"OPENAI_API_KEY": "made-up", "OPENAI_BASE_URL": "URL/v1", "OPENAI_MODEL": "mock"}
_QUIET = {"SYSTEM_SETTINGS_PATH": "ROOT/no-system-settings.json", "SUPPRESS_YOLO_WARNING": "1"}
DRIVER = Driver(chat, starts("-p", "PROMPT", **_KEYS, **{f"QWEN_CODE_{name}": text for name, text in _QUIET.items()}))
shell = shell_of("run_shell_command", is_background=False)  # needs YOLO
play = DRIVER.play
