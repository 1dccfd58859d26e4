"""The real Codex, headless."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from . import agent
from .agent import Driver, Start
from .clients import Client
from .dialects import Call, responses

KEY = "MOCK_API_KEY"
BYPASS = "--dangerously-bypass-hook-trust"  # runs hooks that nobody has approved


class Place(agent.Place):
    @property
    def settings(self) -> Path:
        return self.home / ".codex" / "hooks.json"

    @property
    def config(self) -> Path:
        return self.home / ".codex" / "config.toml"


@dataclass(frozen=True)
class Run(agent.Run):
    """What one run left; stderr says how each hook ended, stdout has the last reply."""

    def hooks(self, event: str) -> list[str]:
        """How each call of a hook on this event ended, as the user was told."""
        return re.findall(rf"(?m)^hook: {event} (\w+)$", self.errors)


def make_place(root: Path, *, own_folders: bool = False) -> Place:
    """Make a home where Codex never ran, and an empty project that is a repository."""
    place = Place(root, own_folders)
    place.make_folders()
    (place.project / ".git").mkdir()
    return place


def _call(client: Client, place: Place, url: str, prompt: str) -> Start:
    provider = {
        "name": "mock",
        "base_url": f"{url}/v1",
        "env_key": KEY,
        "wire_api": "responses",
        "request_max_retries": 0,
        "stream_max_retries": 0,
    }
    settings = {
        "model": "gpt-5.2-codex",
        "model_provider": "mock",
        "check_for_update_on_startup": False,
        "analytics.enabled": False,
        **{f"model_providers.mock.{name}": value for name, value in provider.items()},
    }
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={json.dumps(value)}")]
    command = [*client.command, "exec", "--skip-git-repo-check", *options, prompt]
    return Start(command, {KEY: "made-up"})


DRIVER = Driver(responses, _call, Run)
play, start = DRIVER.play, DRIVER.start


def shell(command: str) -> Call:
    """Return a call of the shell tool; needs --dangerously-bypass-approvals-and-sandbox."""
    return Call("exec_command", {"cmd": command})
