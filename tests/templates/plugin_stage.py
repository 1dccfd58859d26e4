"""A stage for the plugins of ours: each is played in node by a host that only writes down what it is asked."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookctl.documents.plugin import PluginDocument

NODE = shutil.which("node")
BLOCK = json.dumps({"decision": "block", "reason": "go on"})
DENY = json.dumps({"decision": "deny", "reason": "not this one"})
NEEDS_NODE = pytest.mark.skipif(not NODE, reason="needs node")


def nested(event: str = "PreToolUse", **answer: Any) -> str:
    """What a hook for Claude Code answers."""
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, **answer}})


class Stage:
    """A folder with a plugin file and a log of what its hooks were given."""

    host = program = ""
    before_call = stop = ""  # the host's names of these events
    project_variable = "PROJECT"
    given: Callable[[], dict[str, Any]]  # what else the host's program is given
    call: Callable[..., list[Any]]  # the step of a tool call
    refusals: Callable[..., list[str]]  # plays calls; why each is refused, or ""
    inputs: Callable[..., list[Any]]  # plays calls; the input that each runs with
    prompts: Callable[[], list[str]]  # plays a stop; what the agent is prompted with
    writes_errors = False  # whether it may write to stderr, where the host leaves it to its plugins

    def __init__(self, root: Path, users: str, projects: str) -> None:
        self.root = root
        self.project = root / "project"
        self.files = [root / users / "hookctl.js"]
        self.project_file = self.project / projects / "hookctl.js"
        self.log = root / "log.jsonl"
        self.document = PluginDocument.parse(b"", host=self.host)
        self.project.mkdir(parents=True)
        (root / "package.json").write_text('{"type": "module"}')

    def hook(self, event: str, answer: str = "", *, command: str = "", **fields: Any) -> Stage:
        """Register a hook that writes down its payload and project, and answers."""
        log = shlex.quote(str(self.log))
        note = f'printf "%s\\t%s\\n" "${self.project_variable}" "$(cat)" >> {log}; '
        command = command or note + f"printf %s {shlex.quote(answer)}"
        self.document = self.document.append(("hooks", event), {"command": command, **fields})
        return self

    def play(self, *steps: Any) -> dict[str, Any]:
        """Load the files and play these steps: a hook's name and what it is given; nobody waits for "later" ones."""
        for file in self.files:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(self.document.data)
        result = self.root / "result.json"
        given = {"files": [str(file) for file in self.files], "steps": steps, "result": str(result), **self.given()}
        host = self.root / "host.mjs"
        host.write_text(self.program)
        done = subprocess.run(
            [str(NODE), str(host)],
            cwd=self.project,
            input=json.dumps(given),
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, done.stdout) == (0, ""), done
        assert self.writes_errors or not done.stderr
        return {"errors": done.stderr, **json.loads(result.read_text())}

    def heard(self) -> list[dict[str, Any]]:
        return [json.loads(line.partition("\t")[2]) for line in self.lines()]

    def lines(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []
