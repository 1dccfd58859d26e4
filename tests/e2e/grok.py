"""The real Grok Build, headless; stdout has the replies one after the other."""

import subprocess
from pathlib import Path
from typing import Any

from . import agent
from .agent import Driver, Start
from .clients import Client
from .dialects import chat, shell_of

YOLO = "--yolo"  # lets the agent's tools run

# What a user has who has chosen a model of their own; without it the client asks for a login.
BASE = """\
[cli]
auto_update = false

[features]
telemetry = false
session_recap = false
title_refresh = false
turn_summary = false

[models]
default = "mock"

[model.mock]
model = "mock"
base_url = "URL/v1"
api_key = "made-up"
api_backend = "chat_completions"
"""
MORE = "\n# A test's own.\n"


class Place(agent.Place):
    FILE, CONFIG = ".grok/hooks/hookctl.json", ".grok/config.toml"

    def configure(self, text: str) -> None:
        """Add to the client's own settings."""
        self.config.write_text(MORE + text)

    def lay_out(self) -> None:
        """A project that is a git repository: in no other has it hooks."""
        super().lay_out()
        subprocess.run(["git", "init", "-q", str(self.project)], check=True, env=self.environment())


def _call(client: Client, place: Place, url: str, prompt: str) -> Start:
    more = place.config.read_text().partition(MORE)[2] if place.config.exists() else ""
    place.config.write_text(BASE.replace("URL", url) + MORE + more)
    return Start([*client.command, "-p", prompt], {})


def trust_project(place: Place, project: Path) -> None:
    """Write down what the client does when it is started with --trust: the folder is trusted for good."""
    with (place.home / ".grok" / "trusted_folders.toml").open("a") as file:
        file.write(f'[folders."{project}"]\ntrusted = true\ndecided_at = 1795534042\n')


def ends_turn(payload: dict[str, Any]) -> bool:
    """Whether a stop is one of a turn, and not that of the session's end."""
    return bool(payload["reason"] == "end_turn")


DRIVER = Driver(chat, _call)
shell = shell_of("run_terminal_command", description="a test")  # needs YOLO
play = DRIVER.play
