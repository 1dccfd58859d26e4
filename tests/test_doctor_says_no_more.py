"""doctor says what is fine for users of packs, one reason where one is enough, and nothing nobody asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookctl import hosts
from hookctl.hosts import settings_path
from tests.conftest import Hookctl, put

PACK = """[pack]
name = "bell"
version = "2"
[files]
include = ["ring.sh"]
[[hooks]]
event = "stop"
command = "sh {files}/ring.sh"
"""


def findings(hookctl: Hookctl, *options: str) -> list[dict[str, Any]]:
    return hookctl("doctor", "--json", *options).data["findings"]


def codes(hookctl: Hookctl, *options: str) -> list[str]:
    return [finding["code"] for finding in findings(hookctl, *options)]


def stop_hook(**more: Any) -> str:
    return json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}, **more})


def test_a_fault_of_the_work_is_said_once_however_many_hosts_see_it(hookctl: Hookctl, settings: Path) -> None:
    assert hookctl("install", "--host", "claude", "--host", "gemini").code == 0
    put(Path(".hookctl/run/task.json"), "{nope")
    said = hookctl("doctor").out
    assert said.count("[task_unreadable]") == 1 and "1 warning" in said
    assert codes(hookctl).count("task_unreadable") == 2, "each host has its own for a machine"


# Hooks of others on a machine without the guard


def test_a_harmless_stop_hook_is_nobodys_business_without_the_guard(hookctl: Hookctl, settings: Path) -> None:
    put(settings, stop_hook())
    outcome = hookctl("doctor")
    assert "say" not in outcome.out
    assert "no errors, no warnings" in outcome.out
    assert codes(hookctl) == ["not_installed"]


@pytest.mark.parametrize("name", ["ralph-loop", "notes"])
def test_nor_is_a_plugin_that_the_cap_ends(hookctl: Hookctl, settings: Path, name: str) -> None:
    put(settings, json.dumps({"enabledPlugins": {f"{name}@market": True}}))
    assert codes(hookctl) == ["not_installed"]


def test_a_cap_that_is_off_is_said_and_the_advice_has_no_defaults(hookctl: Hookctl, settings: Path) -> None:
    put(settings, stop_hook(env={"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}))
    (finding,) = [finding for finding in findings(hookctl) if finding["code"] == "foreign_stop"]
    assert finding["level"] == "info", "nobody knows whether it blocks"
    assert finding["fix"].startswith("`hookctl install --host claude` ends such chains.")


# People who use packs only


@pytest.fixture
def bell(isolated: Path, fixed_python: None) -> str:
    put(isolated / "work" / "bell" / "ring.sh", "echo\n")
    put(isolated / "work" / "bell" / "pack.toml", PACK)
    return str(isolated / "work" / "bell")


@pytest.mark.parametrize("host", hosts.names())
def test_a_pack_that_is_fine_has_a_line_and_the_guard_none(bell: str, hookctl: Hookctl, host: str) -> None:
    approve = ["--trust"] if host == "codex" else []
    assert hookctl("install", bell, "--host", host, *approve).code == 0
    said = hookctl("doctor", "--verbose").out
    assert "guard" not in said
    if host != "hermes":  # it waits for an approval
        assert "bell 2 is as installed: 1 hook, 1 file" in hookctl("doctor").out
        assert "pack_fine" in codes(hookctl)


def test_where_something_is_wrong_no_pack_is_fine(bell: str, isolated: Path, hookctl: Hookctl) -> None:
    assert hookctl("install", bell, "--host", "claude").code == 0
    (isolated / "data" / "packs" / "bell" / "claude-user" / "ring.sh").unlink()
    assert "pack_fine" not in codes(hookctl)


def test_a_client_of_a_host_without_anything_of_ours_is_not_missed(bell: str, isolated: Path, hookctl: Hookctl) -> None:
    assert hookctl("install", bell, "--host", "claude").code == 0
    (isolated / "home" / ".codex").mkdir()
    missing = [finding["host"] for finding in findings(hookctl) if finding["code"] == "client_missing"]
    assert missing == ["claude"]
    absent = [finding["host"] for finding in findings(hookctl) if finding["code"] == "not_installed"]
    assert absent == ["codex"]


# One reason is enough


@pytest.mark.parametrize(("host", "before"), [("claude", "// mine\n"), ("gemini", "\ufeff")])
def test_a_file_that_the_host_refuses_has_one_reason(
    isolated: Path, hookctl: Hookctl, fixed_python: None, host: str, before: str
) -> None:
    assert hookctl("install", "--host", host).code == 0
    path = Path(settings_path(hosts.load(host), "user", {"HOME": str(isolated / "home")}))
    path.write_text(before + path.read_text())
    assert [finding["code"] for finding in problems(hookctl)] == ["strict_host"]


# Settings files as people have them, with nothing wrong in them.


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


def problems(hookctl: Hookctl, *options: str) -> list[dict[str, Any]]:
    return [finding for finding in findings(hookctl, *options) if finding["level"] != "info"]


@pytest.mark.parametrize(("host", "name", "content"), FINE, ids=[row[0] for row in FINE])
def test_doctor_finds_nothing_wrong_with_a_fine_file(
    host: str, name: str, content: Any, isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    put(isolated / "home" / name, content if isinstance(content, str) else json.dumps(content, indent=2))
    assert problems(hookctl, "--host", host) == []


@pytest.mark.parametrize(("host", "name", "content"), FINE, ids=[row[0] for row in FINE])
def test_nor_with_the_same_beside_the_guard(
    host: str, name: str, content: Any, isolated: Path, hookctl: Hookctl, fixed_python: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    put(isolated / "home" / name, content if isinstance(content, str) else json.dumps(content, indent=2))
    assert hookctl("install", "--host", host).code == 0
    waits = {"not_approved", "two_forms"}  # what a person has to do once after an install
    assert [finding for finding in problems(hookctl, "--host", host) if finding["code"] not in waits] == []


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
    (finding,) = [one for one in problems(hookctl, "--host", "cursor") if one["code"] == "foreign_stop"]
    assert "after 1 block in a row" in finding["message"]
