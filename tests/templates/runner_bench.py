"""The runner as a host runs it: a pack's command round a payload of the host, and what comes of it."""

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hookctl import hosts
from hookctl.packs.runner import hosts_file
from tests.served import run_served

from .hosts import PAYLOADS
from .lab import PYTHON, link_programs

HOSTS = ("claude", "codex", "gemini", "qwen", "copilot", "opencode", "openhands", "droid", "hermes", "pi", "vibe")
BASES = {
    **PAYLOADS,
    "opencode": {
        "pre-tool": {"session_id": "ses_1", "hook_event_name": "tool.execute.before", "prompt_id": "msg_1"},
        "post-tool": {"session_id": "ses_1", "hook_event_name": "tool.execute.after"},
        "prompt": {"session_id": "ses_1", "hook_event_name": "chat.message", "prompt": "begin", "prompt_id": "msg_1"},
        "stop": {"session_id": "ses_1", "hook_event_name": "session.idle", "stop_hook_active": False},
    },
}
SHORT = {"PreToolUse": "pre-tool", "PostToolUse": "post-tool", "PostToolUseFailure": "post-tool",
         "UserPromptSubmit": "prompt", "Stop": "stop"}  # fmt: skip
SHELLS = {
    "claude": "Bash", "codex": "Bash", "gemini": "run_shell_command", "qwen": "run_shell_command", "copilot": "bash",
    "opencode": "bash", "openhands": "terminal", "droid": "Execute", "hermes": "terminal", "pi": "bash",
    "vibe": "file_system.bash",
}  # fmt: skip


class Ran(NamedTuple):
    """What the host reads, and what the runner wrote down."""

    stdout: bytes
    receipts: list[dict[str, Any]]

    @property
    def answer(self) -> Any:
        return json.loads(self.stdout) if self.stdout else None

    @property
    def outcome(self) -> str:
        (receipt,) = self.receipts
        return str(receipt["outcome"])


class Bench:
    """The runner in a data folder of its own, where every host has the pack `p`, and an empty project."""

    def __init__(self, root: Path) -> None:
        self.root, self.project, self.state = root, root / "project", root / "state"
        (self.project / ".git").mkdir(parents=True)
        self.top = root / "data"
        link_programs(self.top)
        self.hook, self.table = self.top / "hook.py", self.top / "runtime" / "hosts.json"
        self.register({name: ["p"] for name in hosts.names()})
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(root)}
        self.seen = root / "seen"  # what the command read, one line each time

    def register(self, packs: Mapping[str, list[str]]) -> None:
        """Have these packs on these hosts, and none on others."""
        self.table.write_bytes(hosts_file(packs, str(self.state)))

    def payload(self, host: str, event: str, **fields: Any) -> dict[str, Any]:
        """What a host sends at an event, in this project."""
        base = BASES[host].get(SHORT.get(event, ""), {"session_id": "S1"})
        folder = {"working_dir" if host == "openhands" else "cwd": str(self.project)}
        return {**base, **folder, **fields}

    def tool_call(self, host: str, tool: str, input: Any, event: str = "PreToolUse", **fields: Any) -> dict[str, Any]:
        names = ("toolName", "toolArgs") if host == "copilot" else ("tool_name", "tool_input")
        return self.payload(host, event, **{names[0]: tool, names[1]: input}, **fields)

    def command(self, host: str, event: str, command: str, *options: str) -> list[str]:
        words = [PYTHON, "-I", "-S", str(self.hook), "run", event, "--host", host, "--id", "p/x"]
        return [*words, *options, command]

    def run(self, host: str, event: str, payload: Any, command: str, *options: str) -> Ran:
        """Run a command; sure that the status is 0, that stderr is empty, and that one object is said or nothing."""
        before = len(self.receipts())
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        done = run_served(self.command(host, event, command, *options), data, self.environment, self.project)
        assert (done.returncode, done.stderr) == (0, b""), done
        return Ran(done.stdout, self.receipts()[before:])

    def say(self, host: str, event: str, answer: Any, *options: str, **how: Any) -> Ran:
        """Run a command that answers so at a usual call, with a status and stderr if given."""
        text = answer if isinstance(answer, (str, bytes)) else json.dumps(answer)
        path = self.root / "answer"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        command = f"cat {shlex.quote(str(path))}"
        if "stderr" in how:
            command += f"; echo {shlex.quote(how['stderr'])} >&2"
        if "status" in how:
            command += f"; exit {how['status']}"
        payload = self.payload(host, event)
        if "Tool" in event:
            payload = self.tool_call(host, SHELLS[host], {"command": "rm x", "timeout": 9}, event)
        return self.run(host, event, how.get("payload", payload), command, *options)

    def ask(self, host: str, event: str, payload: Any, *options: str) -> list[Any]:
        """What the command was asked, each time that it ran."""
        self.seen.unlink(missing_ok=True)
        seen = shlex.quote(str(self.seen))
        self.run(host, event, payload, f"cat >> {seen}; echo >> {seen}", *options)
        return [json.loads(line) for line in self.seen.read_bytes().splitlines()] if self.seen.exists() else []

    def receipts(self) -> list[dict[str, Any]]:
        files = sorted(self.state.glob("guard/*/runs.jsonl*"), reverse=True)
        return [json.loads(line) for file in files for line in file.read_bytes().splitlines()]

    @property
    def folder(self) -> Path:
        (file,) = self.state.glob("guard/*/runs.jsonl")
        return file.parent


def nested(event: str = "PreToolUse", **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def decide(permission: str, reason: str = "R", **fields: Any) -> dict[str, Any]:
    return nested(permissionDecision=permission, permissionDecisionReason=reason, **fields)


def is_root() -> bool:
    return os.geteuid() == 0
