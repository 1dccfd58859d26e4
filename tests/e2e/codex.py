"""The real Codex, headless."""

import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from . import agent
from .agent import Driver, starts
from .clients import Client
from .dialects import responses, shell_of

KEY = "MOCK_API_KEY"
BYPASS = "--dangerously-bypass-hook-trust"  # runs hooks that nobody has approved
YOLO = "--dangerously-bypass-approvals-and-sandbox"  # lets the agent's tools run
PATCHES = ("-c", 'model="gpt-5.5"')  # a model whose tools the client knows: it is offered the one for patches
ADDS = "*** Begin Patch\n*** Add File: PATH\n+TEXT\n*** End Patch\n"


class Place(agent.Place):
    FILE, CONFIG = ".codex/hooks.json", ".codex/config.toml"

    def lay_out(self) -> None:
        super().lay_out()
        self.make_repository()


@dataclass(frozen=True)
class Run(agent.Run):
    """What one run left; stderr says how each hook ended, stdout has the last reply."""

    def hooks(self, event: str) -> list[str]:
        """How each call of a hook on this event ended, as the user was told."""
        return re.findall(rf"(?m)^hook: {event} (\w+)$", self.errors)


_PROVIDER = {"name": "mock", "base_url": "URL/v1", "env_key": KEY, "wire_api": "responses", "request_max_retries": 0,
             "stream_max_retries": 0}  # fmt: skip
_SETTINGS = {"model": "gpt-5.2-codex", "model_provider": "mock", "check_for_update_on_startup": False,
             "analytics.enabled": False,
             **{f"model_providers.mock.{name}": value for name, value in _PROVIDER.items()}}  # fmt: skip
_OPTIONS = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={json.dumps(value)}")]
DRIVER = Driver(responses, starts("exec", "--skip-git-repo-check", *_OPTIONS, "PROMPT", **{KEY: "made-up"}), Run)
play = DRIVER.play
shell = shell_of("exec_command", "cmd")  # needs YOLO


class Hook(NamedTuple):
    """What Codex says about one hook: its key, the hash of its definition, and whether it is approved."""

    key: str
    hash: str
    trust: str


def list_hooks(client: Client, place: Place, folder: Path | None = None) -> list[Hook]:
    """Ask Codex which hooks it would run in a folder; no model is needed."""
    with subprocess.Popen(
        [*client.command, "app-server"],
        cwd=place.project,
        env=place.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            _ask(process, 0, "initialize", {"clientInfo": {"name": "tests", "version": "1"}})
            found = _ask(process, 1, "hooks/list", {"cwds": [str(folder or place.project)]})
            process.stdin.close()
            process.wait(10)
        finally:
            agent.end_group(process)
    return [Hook(hook["key"], hook["currentHash"], hook["trustStatus"]) for hook in found["data"][0]["hooks"]]


def _ask(process: subprocess.Popen[str], id: int, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
    process.stdin.write(json.dumps({"id": id, "method": method, "params": parameters}) + "\n")
    process.stdin.flush()
    for line in process.stdout:
        answer = json.loads(line)
        if answer.get("id") == id:
            return answer["result"]
    raise AssertionError(f"codex app-server did not answer {method}")


def approve(place: Place, hooks: Mapping[str, str]) -> None:
    """Write approvals into the user's config.toml, as Codex itself writes them: the hash of each key."""
    with place.config.open("a") as file:
        for key, hash in hooks.items():
            file.write(f'[hooks.state.{json.dumps(key)}]\ntrusted_hash = "{hash}"\n')


def trust_project(place: Place, folder: Path) -> None:
    """Accept a project in the user's config.toml: its own settings count, its hooks still have to be approved."""
    with place.config.open("a") as file:
        file.write(f'[projects.{json.dumps(str(folder))}]\ntrust_level = "trusted"\n')
