"""A matcher of another host's tools is a warning at plan, install and doctor; what may match is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookctl import hosts
from hookctl.hosts.matchers import explain_mismatch
from tests.conftest import Hookctl, put


@pytest.mark.parametrize(
    ("host", "matcher", "instead"),
    [
        ("gemini", "Bash", "run_shell_command"),
        ("gemini", "Edit|Write", "replace, write_file"),
        ("claude", "run_shell_command", "Bash"),
        ("claude", "bash", "Bash"),
        ("claude", "Bahs", "Bash"),
        ("claude", "edit, write", "Edit"),
        ("droid", "Bash", "Execute"),
        ("openhands", "Bash", "terminal"),
        ("opencode", "Bash", "bash"),
        ("hermes", "Write", "write_file"),
        ("codex", "run_shell_command", "Bash"),
        ("codex", "task", "spawn_agent"),
        ("copilot", "Bash|Write", "create"),
        ("gemini", "Task", "invoke_agent"),
        ("qwen", "Execute", "run_shell_command"),
    ],
)
def test_a_matcher_of_other_tools(host: str, matcher: str, instead: str) -> None:
    reason = explain_mismatch(hosts.load(host), hosts.load(host).events["pre-tool"], matcher)
    assert matcher in reason
    assert instead in reason


@pytest.mark.parametrize("host", hosts.names())
@pytest.mark.parametrize(
    "matcher", ["", "*", ".*", "mcp__github__create", "Bash.*", "^Bash$", "MyOwnTool", "Bash|MyOwnTool", None, 3]
)
def test_what_may_match(host: str, matcher: object) -> None:
    described = hosts.load(host)
    for event in described.events.values():
        assert explain_mismatch(described, event, matcher) == ""


@pytest.mark.parametrize("matcher", ["Bash", "Write", "Edit", "Read"])
def test_qwen_knows_claude_codes_names(matcher: str) -> None:
    assert explain_mismatch(hosts.load("qwen"), "PreToolUse", matcher) == ""


@pytest.mark.parametrize("host", hosts.names())
def test_every_host_has_its_own_tools(host: str) -> None:
    described = hosts.load(host)
    for tools in described.tools.values():
        for tool in tools:
            assert explain_mismatch(described, described.events["pre-tool"], tool) == ""
            assert explain_mismatch(described, described.events["pre-tool"], f"{tool}|Other") == ""


PACK = """[pack]
name = "bell"
version = "1"
[[hooks]]
event = "pre-tool"
command = "true"
matcher = "Bash"
"""
OWN = '[[host.gemini.hooks]]\nevent = "BeforeTool"\nid = "pre-tool"\ncommand = "true"\nmatcher = "run_shell_command"\n'


def test_it_is_said_at_plan_install_and_doctor(isolated: Path, hookctl: Hookctl) -> None:
    pack = put(isolated / "work" / "pack.toml", PACK)
    for verb in ("plan", "install"):
        outcome = hookctl(verb, str(pack), "--host", "gemini", "--host", "claude")
        assert outcome.code == 0
        assert outcome.err.count("never runs there") == 1
        assert 'the matcher "Bash" matches no tool of Gemini CLI, which has run_shell_command' in outcome.err
    findings = [one for one in hookctl("doctor", "--json").data["findings"] if one["code"] == "matcher_misses"]
    assert [(one["level"], one["host"]) for one in findings] == [("warning", "gemini")]
    put(pack, PACK + OWN)
    assert "never runs" not in hookctl("install", str(pack), "--host", "gemini").err
    assert "matcher_misses" not in hookctl("doctor").out
    outcome = hookctl("install", "--host", "gemini", "--preset", "rockbot", "--dispatch", "Task")
    assert outcome.code == 0 and "--dispatch does nothing: the matcher" in outcome.err
    both = ("--dispatch", "Task", "--dispatch", "run_shell_command")
    assert "does nothing" not in hookctl("plan", "--host", "gemini", *both).err
    assert "Name tools of gemini with `hookctl install --host gemini --dispatch TOOL`." in hookctl("doctor").out
