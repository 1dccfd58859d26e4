"""Settings files as people have them, with nothing wrong in them: doctor has no error and no warning to say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import Hookctl, put


def entry(command: str, **fields: Any) -> dict[str, Any]:
    return {"type": "command", "command": command, **fields}


def group(*entries: dict[str, Any], **fields: Any) -> list[dict[str, Any]]:
    return [{**fields, "hooks": list(entries)}]


CLAUDE = {
    "permissions": {"allow": ["Bash(git status:*)"]},
    "enabledPlugins": {"hookify@claude-plugins-official": True, "ralph-loop@claude-plugins-official": True},
    "hooks": {
        "PreToolUse": group(entry("jq -r '.tool_input.command' >> ~/.claude/bash.log"), matcher="Bash"),
        "Stop": group(
            entry('cd "$CLAUDE_PROJECT_DIR" && uv run python hooks/audit.py'),
            entry("env -u VIRTUAL_ENV timeout 20 bash -c 'git status --short >> ~/turns.log'"),
            entry("osascript -e 'display notification \"done\"' || true", timeout=5),
        ),
        "SubagentStop": group(entry("echo done >> /tmp/agents.log")),
    },
}
# Of each host: where its file lies below HOME, and what is in it.
FINE: list[tuple[str, str, Any]] = [
    ("claude", ".claude/settings.json", CLAUDE),
    ("codex", ".codex/hooks.json", {"hooks": {"Stop": group(entry("cd /srv && uv run notify"))}}),
    ("gemini", ".gemini/settings.json", {
        "general": {"vimMode": True},
        "hooks": {"AfterAgent": group(entry("cd /srv && uv run notify", name="audit", timeout=5000)),
                  "BeforeTool": group(entry("cat >> ~/tools.log", name="log"), matcher="run_shell_command")}}),
    ("qwen", ".qwen/settings.json", {"hooks": {"Stop": group(entry("bash -c 'date >> ~/stops.log'"))}}),
    ("copilot", ".copilot/hooks/audit.json", {
        "version": 1, "hooks": {"agentStop": [{"type": "command", "bash": "date >> ~/stops.log", "timeoutSec": 5}]}}),
    ("cursor", ".cursor/hooks.json", {
        "version": 1,
        "hooks": {"stop": [{"command": "./hooks/audit.sh", "loop_limit": 1}, {"command": "cd web && bun run lint"}],
                  "subagentStop": [{"command": "date >> ~/agents.log"}],
                  "afterFileEdit": [{"command": "npm run format"}]}}),
    ("openhands", ".openhands/hooks.json", {
        "stop": group(entry("cd /srv && python3 -m audit.log", timeout=10)),
        "post_tool_use": group(entry("date >> ~/tools.log"), matcher="terminal")}),
    ("droid", ".factory/settings.json", {
        "model": "x", "hooks": {"Stop": group(entry("nice -n 5 sh -c 'date >> ~/stops.log'", timeout=10))}}),
    ("antigravity", ".gemini/config/hooks.json", {
        "audit": {"Stop": [entry("date >> ~/stops.log")],
                  "PreToolUse": group(entry("cat >> ~/tools.log"), matcher="run_command")}}),
    ("opencode", ".config/opencode/opencode.json", {"$schema": "https://opencode.ai/config.json", "theme": "system"}),
    ("hermes", ".hermes/config.yaml", "agent:\n  max_turns: 90\nhooks:\n  on_session_end:\n"
     "    - command: date >> ~/ends.log\n      timeout: 10\n"),
]  # fmt: skip


def problems(hookctl: Hookctl, host: str) -> list[dict[str, Any]]:
    findings = hookctl("doctor", "--host", host, "--json").data["findings"]
    return [finding for finding in findings if finding["level"] != "info"]


@pytest.mark.parametrize(("host", "name", "content"), FINE, ids=[row[0] for row in FINE])
def test_doctor_finds_nothing_wrong_with_a_fine_file(
    host: str, name: str, content: Any, isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    put(isolated / "home" / name, content if isinstance(content, str) else json.dumps(content, indent=2))
    assert problems(hookctl, host) == []


@pytest.mark.parametrize(("host", "name", "content"), FINE, ids=[row[0] for row in FINE])
def test_nor_with_the_same_beside_the_guard(
    host: str, name: str, content: Any, isolated: Path, hookctl: Hookctl, fixed_python: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    put(isolated / "home" / name, content if isinstance(content, str) else json.dumps(content, indent=2))
    assert hookctl("install", "--host", host).code == 0
    waits = {"not_approved", "two_forms"}  # what a person has to do once after an install
    assert [finding for finding in problems(hookctl, host) if finding["code"] not in waits] == []


def test_antigravitys_folder_is_no_sign_of_gemini_cli(isolated: Path, hookctl: Hookctl) -> None:
    put(isolated / "home" / ".gemini" / "config" / "hooks.json", "{}")
    detected = {host["host"] for host in hookctl("hosts", "--json").data["hosts"] if host["detected"]}
    assert {"gemini", "antigravity"} & detected == {"antigravity"}
    assert "Gemini" not in hookctl("status").out + hookctl("doctor").out
    put(isolated / "home" / ".gemini" / "settings.json", "{}")
    assert "Gemini" in hookctl("status").out


def test_a_limit_of_one_is_one_block(
    isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch, fixed_python: None
) -> None:
    command = {"command": "nightly hook stop", "loop_limit": 1}
    put(isolated / "home" / ".cursor" / "hooks.json", json.dumps({"version": 1, "hooks": {"stop": [command]}}))
    assert hookctl("install", "--host", "cursor").code == 0
    (finding,) = [one for one in problems(hookctl, "cursor") if one["code"] == "foreign_stop"]
    assert "after 1 block in a row" in finding["message"]
