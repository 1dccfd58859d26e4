"""How each client is brought to offer its tools to the model; one of them is `ping` of the MCP server `probe`."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from . import mcp_server, tables
from .agent import Driver, Place, Run
from .clients import Client
from .dialects import Reply, responses
from .everywhere import CASES, Case
from .model_server import Script

STDIO = {"command": sys.executable, "args": ["-I", mcp_server.__file__]}
# What the main agent does while a sub-agent is at work that runs behind its back.
WAIT = "timeout 30 sh -c 'until [ -e made ] || [ -e new.txt ]; do sleep 0.1; done; sleep 1'"
IN_TOML = f"[mcp_servers.probe]\ncommand = {json.dumps(STDIO['command'])}\nargs = {json.dumps(STDIO['args'])}\n"


@dataclass(frozen=True)
class Setup:
    """One way to start a client."""

    prepare: Callable[[Place], Any] = lambda place: None
    options: Sequence[str] | None = None  # in the place of the case's
    environment: Mapping[str, str] = field(default_factory=dict)
    reads: Sequence[Mapping[str, Any]] = ()  # what it has to call before each call, so that it edits these files
    waits: Sequence[Reply] = ()  # what the main agent does while a sub-agent is at work
    ends: Reply = "looked"  # how a sub-agent ends
    driver: Driver[Any, Any] | None = None  # in the place of the case's

    def play(self, case: Case, client: Client, place: Place, script: Script) -> Run:
        options = case.options if self.options is None else self.options
        environment = {**dict(case.environment), **self.environment}
        play = self.driver.play if self.driver else case.driver.play
        return play(client, place, script, *options, timeout=300, environment=environment)


def write_json(path: Path, value: Any) -> None:
    """Write a file of the client's, or add to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    old = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**old, **value}))


def prepare_claude(place: Place) -> None:
    write_json(place.home / ".claude.json", {"mcpServers": {"probe": {"type": "stdio", **STDIO}}})
    tools = ["Bash", "Write", "Edit", "Read", "NotebookEdit", "WebFetch", "Agent", "Monitor", "mcp__probe__ping"]
    write_json(place.settings, {"permissions": {"allow": tools}, "skipWebFetchPreflight": True})


def prepare_hermes(place: Place) -> None:
    with place.settings.open("a") as file:
        file.write(f"mcp_servers:\n  probe: {json.dumps(STDIO)}\n")


def servers(at: str, **more: Any) -> Callable[[Place], None]:
    """Name the server in a file of the home that has all of them."""
    return lambda place: write_json(place.home / at, {"mcpServers": {"probe": {**STDIO, **more}}})


def prepare_opencode(place: Place) -> None:
    model = {"name": "gpt-5", "tool_call": True, "limit": {"context": 100_000, "output": 4_000}}
    servers = {"probe": {"type": "local", "command": [STDIO["command"], *STDIO["args"]]}}
    write_json(place.config, {"mcp": servers, "provider": {"mock": {"models": {"gpt-5": model}}}})


def prepare_codex(place: Place) -> None:
    place.config.write_text(IN_TOML)


def prepare_grok(place: Any) -> None:
    place.configure(IN_TOML)


def speaks_responses(driver: Driver[Any, Any]) -> Driver[Any, Any]:
    """The client with a model of the other API."""
    return Driver(responses, driver.call)


def _setups(driver: ModuleType) -> dict[str, Setup]:
    """The setups of a client by their names."""
    setups = {}
    for name, row in tables.read(driver, "setups", globals()).items():
        replies = {"ends": tables.reply(driver, row.get("ends", "looked"))}
        replies["waits"] = [tables.reply(driver, wait) for wait in row.get("waits", ())]
        setups[name] = Setup(**{**row, **replies})
    return setups


SETUPS = {case.host: _setups(case.driver) for case in CASES}
