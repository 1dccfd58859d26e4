"""How each client is brought to offer its tools to the model; one of them is `ping` of the MCP server `probe`."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import codex, copilot, droid, hermes, mcp_server, opencode, vibe
from .agent import Driver, Place, Run
from .clients import Client
from .dialects import Call, Reply, responses
from .everywhere import Case
from .model_server import Script

STDIO = {"command": sys.executable, "args": ["-I", mcp_server.__file__]}
# What the main agent does while a sub-agent is at work that runs behind its back.
WAIT = "timeout 30 sh -c 'until [ -e made ] || [ -e new.txt ]; do sleep 0.1; done; sleep 1'"
IN_TOML = f"[mcp_servers.probe]\ncommand = {json.dumps(STDIO['command'])}\nargs = {json.dumps(STDIO['args'])}\n"


def _read(tool: str, name: str, file: str) -> dict[str, Any]:
    """A call that reads a file of the project."""
    return {"tool": tool, "input": {name: f"/home/u/project/{file}"}}


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


def _prepare_claude(place: Place) -> None:
    write_json(place.home / ".claude.json", {"mcpServers": {"probe": {"type": "stdio", **STDIO}}})
    tools = ["Bash", "Write", "Edit", "Read", "NotebookEdit", "WebFetch", "Agent", "Monitor", "mcp__probe__ping"]
    write_json(place.settings, {"permissions": {"allow": tools}, "skipWebFetchPreflight": True})


def _prepare_hermes(place: Place) -> None:
    with place.settings.open("a") as file:
        file.write(f"mcp_servers:\n  probe: {json.dumps(STDIO)}\n")


def _servers(at: str, **more: Any) -> Callable[[Place], None]:
    """Name the server in a file of the home that has all of them."""
    return lambda place: write_json(place.home / at, {"mcpServers": {"probe": {**STDIO, **more}}})


def _prepare_opencode(place: Place) -> None:
    model = {"name": "gpt-5", "tool_call": True, "limit": {"context": 100_000, "output": 4_000}}
    servers = {"probe": {"type": "local", "command": [STDIO["command"], *STDIO["args"]]}}
    write_json(place.config, {"mcp": servers, "provider": {"mock": {"models": {"gpt-5": model}}}})


_SWITCHES = ("EXPERIMENTAL", "EXPERIMENTAL_CODE_MODE", "EXPERIMENTAL_LSP_TOOL", "ENABLE_QUESTION_TOOL", "ENABLE_EXA")
_prepare_copilot = _servers(".copilot/mcp-config.json", type="local", tools=["*"])

# Of its own presets for models of Google and OpenAI, and of one that plans.
_TOOLS_OF_OPENHANDS = {
    "apply_patch": ["apply_patch"], "gemini": ["read_file", "write_file", "edit", "list_directory"], "grep": ["grep"],
    "planning_file_editor": ["planning_file_editor"], "glob": ["glob"], "task_tracker": ["task_tracker"],
}  # fmt: skip
_OF_VIBE = json.dumps([{"name": "probe", "transport": "stdio", **STDIO}])
_GPT_OF_COPILOT = {"COPILOT_MODEL": "gpt-5.3-codex", "COPILOT_PROVIDER_WIRE_API": "responses"}

SETUPS: dict[str, dict[str, Setup]] = {
    "claude": {
        "": Setup(_prepare_claude),
        "notebook": Setup(_prepare_claude, reads=[_read("Read", "file_path", "book.ipynb")]),
    },
    "codex": {
        "": Setup(lambda place: place.config.write_text(IN_TOML)),
        "unknown model": Setup(lambda place: place.config.write_text(IN_TOML), (codex.YOLO, codex.BYPASS)),
    },
    "opencode": {
        "": Setup(_prepare_opencode, driver=opencode.ONE_TURN),
        # Of each model whose name has `gpt-`, but for `gpt-4` and `oss`.
        "gpt": Setup(_prepare_opencode, ("-m", "mock/gpt-5"), driver=opencode.ONE_TURN),
        "all switches": Setup(_prepare_opencode, environment={f"OPENCODE_{name}": "1" for name in _SWITCHES},
                              driver=opencode.ONE_TURN),
    },
    "droid": {
        "": Setup(_servers(".factory/mcp.json", type="stdio")),
        # By the model's name, unless its settings have a `fileEditToolProfile`.
        "gpt": Setup(options=("--auto", "high", "-m", "custom:gpt-5-1"),
                     reads=[_read("Read", "file_path", name) for name in ("notes.txt", "sub/deep.txt")],
                     driver=Driver(responses, droid.DRIVER.call)),
    },
    "hermes": {"": Setup(_prepare_hermes, environment={"TAVILY_API_KEY": "made-up"}, waits=[hermes.shell(WAIT)])},
    "vibe": {"": Setup(environment={"VIBE_MCP_SERVERS": _OF_VIBE}, waits=[vibe.shell(WAIT)])},
    "kimi": {"": Setup(_servers(".kimi-code/mcp.json"))},
    "pi": {"": Setup(), "all tools": Setup(options=("--tools", "read,bash,edit,write,grep,find,ls"))},
    "openhands": {"": Setup(environment={"TOOLS": json.dumps(_TOOLS_OF_OPENHANDS), "MCP": json.dumps({"probe": STDIO}),
                                         "TASKS": "1"})},
    "grok": {"": Setup(lambda place: place.configure(IN_TOML))},
    "gemini": {"": Setup(_servers(".gemini/settings.json", trust=True),
                         ends=Call("complete_task", {"result": {"response": "looked"}}))},
    "qwen": {
        "": Setup(_servers(".qwen/settings.json", trust=True)),
        "notebook": Setup(reads=[_read("read_file", "file_path", "book.ipynb")]),
    },
    "copilot": {
        "": Setup(_prepare_copilot, waits=[copilot.shell(WAIT)]),
        "gpt": Setup(_prepare_copilot, environment=_GPT_OF_COPILOT, driver=Driver(responses, copilot.DRIVER.call)),
    },
}  # fmt: skip
