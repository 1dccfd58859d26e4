"""Hosts that read an exit status instead of JSON: the whole command, as it is registered, says no with status 2."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Hookctl, put

from .hosts import PAYLOADS

PACK = """
[pack]
name = "strict"
version = "1"

[[hooks]]
id = "ask"
event = "{event}"
command = {command}
timeout = 5
{more}
"""
REFUSES = "echo 'not today, ä' >&2; exit 2"
WINDSURF = {
    "pre-tool": {
        "agent_action_name": "pre_run_command", "trajectory_id": "t1", "execution_id": "e1",
        "timestamp": "2026-11-24T10:30:00Z", "tool_info": {"command_line": "make check", "cwd": "/home/u/project"},
    },
    "prompt": {
        "agent_action_name": "pre_user_prompt", "trajectory_id": "t1", "execution_id": "e1",
        "timestamp": "2026-11-24T10:30:00Z", "tool_info": {"user_prompt": "begin"},
    },
}  # fmt: skip
CALLS = json.loads((Path(__file__).parent / "calls/windsurf.json").read_text("utf-8"))["calls"]
SENT = {"kiro": PAYLOADS["kiro"], "windsurf": WINDSURF}
SETTINGS = {"kiro": ".kiro/hooks/hookctl.json", "windsurf": ".codeium/windsurf/hooks.json"}
EACH = pytest.mark.parametrize("host", SENT)


class Installed:
    """A pack with one hook in a host's settings, run as the host does."""

    def __init__(self, isolated: Path, hookctl: Hookctl, host: str) -> None:
        self.isolated, self.hookctl, self.host = isolated, hookctl, host
        self.settings = isolated / "home" / SETTINGS[host]

    def install(self, event: str, command: str, more: str = "") -> None:
        put(
            self.isolated / "strict.toml",
            PACK.format(event=event, command=json.dumps(command, ensure_ascii=False), more=more),
        )
        done = self.hookctl("install", str(self.isolated / "strict.toml"), "--host", self.host)
        assert done.code == 0, done

    @property
    def command(self) -> str:
        (text,) = re.findall(r'"(: hookctl=strict/ask; (?:[^"\\]|\\.)*)"', self.settings.read_text())
        return str(json.loads(f'"{text}"'))

    def run(self, event: str) -> tuple[int, str, str]:
        sent = json.dumps({**SENT[self.host][event]})
        done = subprocess.run(
            self.command, shell=True, input=sent, capture_output=True, text=True, cwd=self.isolated / "work"
        )
        return done.returncode, done.stdout, done.stderr


@pytest.fixture
def installed(isolated: Path, hookctl: Hookctl, host: str) -> Installed:
    return Installed(isolated, hookctl, host)


SAYS_NO = """echo '{"decision": "block", "reason": "not today, ä"}'"""
REFUSED, SILENT = (2, "", "not today, ä"), (0, "", "")
OTHERS = ("true", "exit 1", "exit 42", "kill -9 $$")


@EACH
@pytest.mark.parametrize("event", ["pre-tool", "prompt"])
@pytest.mark.parametrize(
    ("command", "ended"), [(REFUSES, REFUSED), (SAYS_NO, REFUSED), *((other, SILENT) for other in OTHERS)]
)
def test_a_refusal_is_status_2_with_the_reason_on_stderr_and_nothing_else_looks_like_one(
    installed: Installed, event: str, command: str, ended: tuple[int, str, str]
) -> None:
    """Neither a failure, nor the status that the runner itself has for a refusal."""
    installed.install(event, command)
    assert installed.run(event) == ended


@EACH
@pytest.mark.parametrize("lost", ["2>&-", "2>/dev/full"])
def test_a_refusal_holds_where_nobody_takes_its_words(installed: Installed, lost: str) -> None:
    installed.install("pre-tool", REFUSES)
    sent = json.dumps(SENT[installed.host]["pre-tool"])
    command = f"{{ {installed.command}\n}} {lost}"
    done = subprocess.run(command, shell=True, input=sent, text=True, cwd=installed.isolated / "work", check=False)
    assert done.returncode == 2


@EACH
def test_a_failing_hook_that_is_to_refuse_does(installed: Installed) -> None:
    installed.install("pre-tool", "exit 1", 'on_failure = "deny"')
    status, out, error = installed.run("pre-tool")
    assert (status, out) == (2, "") and "strict/ask failed (exit status 1)" in error


@EACH
def test_a_runner_that_is_gone_refuses_nothing(installed: Installed) -> None:
    """Python ends with 2 where it finds no file."""
    installed.install("pre-tool", REFUSES)
    (launcher,) = re.findall(r" -S (\S+) ", installed.command)
    Path(launcher).write_text("raise SystemExit(2)\n")
    assert installed.run("pre-tool")[0] == 0
    Path(launcher).unlink()
    assert installed.run("pre-tool")[:2] == (0, "")


@pytest.mark.parametrize("call", CALLS, ids=[call["name"] for call in CALLS])
def test_windsurf_asks_before_every_kind_of_tool(call: dict[str, Any], isolated: Path, hookctl: Hookctl) -> None:
    """It has an event for each: a hook on all tools is registered for them all."""
    host = Installed(isolated, hookctl, "windsurf")
    host.install("pre-tool", REFUSES)
    (entry,) = json.loads(host.settings.read_text())["hooks"][call["payload"]["agent_action_name"]]
    done = subprocess.run(entry["command"], shell=True, input=json.dumps(call["payload"]).encode(), capture_output=True)
    assert (done.returncode, done.stderr.decode().strip()) == (2, "not today, ä")
    assert hookctl("uninstall", "strict").code == 0 and not host.settings.exists()


@pytest.mark.parametrize(
    ("matcher", "events"),
    [
        ("Bash", {"pre_run_command"}),
        ("Edit", {"pre_write_code"}),
        ("Read|Edit|Write", {"pre_read_code", "pre_write_code"}),
    ],
)
def test_a_hook_on_some_tools_is_asked_before_these_on_windsurf(
    matcher: str, events: set[str], isolated: Path, hookctl: Hookctl
) -> None:
    host = Installed(isolated, hookctl, "windsurf")
    for other in ("Bash|Read", matcher):  # installed anew for others
        host.install("pre-tool", REFUSES, f'matcher = "{other}"')
    assert json.loads(host.settings.read_text())["hooks"].keys() == events
    for tool in ("Bash", "Edit", "Read"):
        (fired,) = hookctl("fire", "pre-tool", "--tool", tool, "--host", "windsurf", "--json").data["hosts"]
        assert [hook["outcome"] for hook in fired["hooks"]] == ["deny"] * (tool in matcher)
