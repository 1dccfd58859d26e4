"""The real Qwen Code, headless; stdout has the replies one after the other, stderr what hooks say."""

import json
from pathlib import Path
from typing import Any

from . import agent
from .agent import Driver, Start
from .clients import Client
from .dialects import Call, chat

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
    @property
    def settings(self) -> Path:
        return self.home / ".qwen" / "settings.json"

    def lay_out(self) -> None:
        """A home with settings that let the client start."""
        super().lay_out()
        self.settings.write_text(json.dumps(BASE, indent=2) + "\n")


def _call(client: Client, place: Place, url: str, prompt: str) -> Start:
    environment = {
        "OPENAI_API_KEY": "made-up",
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_MODEL": "mock",
        "QWEN_CODE_SYSTEM_SETTINGS_PATH": str(place.root / "no-system-settings.json"),
        "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
    }
    return Start([*client.command, "-p", prompt], environment)


DRIVER = Driver(chat, _call, agent.Run)
play, start = DRIVER.play, DRIVER.start


def shell(command: str) -> Call:
    """Return a call of the shell tool; needs YOLO."""
    return Call("run_shell_command", {"command": command, "is_background": False})
