"""What a person reads of a pack's hooks before they agree to it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Hookctl, put

PACK = """[pack]
name = "own"
version = "1"

[[hooks]]
event = "pre-tool"
id = "tools"
matcher = "Bash|Edit"
command = "first"
timeout = 30
on_failure = "deny"
may_allow = true

[[hooks]]
event = "UserPromptSubmit"
command = "second"

[[hooks]]
event = "PostToolUse"
matcher = "*"
command = "third"
hosts = ["claude", "codex"]

[[host.claude.hooks]]
event = "TaskCompleted"
command = "fourth"

[[host.claude.hooks]]
event = "PostToolUse"
id = "slow"
matcher = "Write"
command = "fifth"
timeout = 5
"""


def shown(hookctl: Hookctl, text: str, host: str = "claude") -> list[str]:
    put(Path("own.toml"), text)
    lines = hookctl("plan", "./own.toml", "--host", host).out.splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("  command"))
    return lines[begin : next(number for number, line in enumerate(lines) if line.startswith("  sha256"))]


def test_a_hook_is_shown_with_its_event_and_all_that_its_author_chose(hookctl: Hookctl) -> None:
    assert shown(hookctl, PACK) == [
        "  command  PreToolUse (tools): first",
        "           matcher Bash|Edit; timeout 30 s; on_failure deny: refuses where it fails; "
        "its allow lifts your own permission",
        "  command  UserPromptSubmit: second",
        "           timeout 10 s; on_failure allow",
        "  command  PostToolUse on claude, codex: third",
        "           every tool; timeout 10 s",
        "  command  TaskCompleted on claude: fourth",
        "  command  PostToolUse (slow) on claude: fifth",
        "           matcher Write; timeout 5 s",
    ]


ASKS = {
    "claude": ["PreToolUse", "PermissionRequest"], "cursor": ["beforeShellExecution", "beforeReadFile"],
    "windsurf": ["pre_run_command", "pre_write_code"], "pi": ["tool_call"], "copilot": ["preToolUse"],
    "opencode": ["tool.execute.before"], "hermes": ["pre_tool_call", "pre_approval_request"], "gemini": ["BeforeTool"],
}  # fmt: skip
SAID = "its allow lifts your own permission"


@pytest.mark.parametrize(("host", "event"), [(host, event) for host, events in ASKS.items() for event in events])
def test_a_hosts_own_hook_that_is_asked_before_something_is_done_may_allow_it(
    hookctl: Hookctl, host: str, event: str
) -> None:
    text = f'[pack]\nname = "own"\nversion = "1"\n[[host.{host}.hooks]]\nevent = "{event}"\ncommand = "c"\n'
    assert shown(hookctl, text, host) == [f"  command  {event} on {host}: c", f"           {SAID}"]
    (command,) = hookctl("plan", "./own.toml", "--host", host, "--json").data["pack"]["commands"]
    assert command["may_allow"]


UNSEEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u115f\u3164\ufe0e\ufe0f\u202e\u2800\U000e0041\U000e0100\x1b\ue000\u0378"


def test_what_nobody_sees_in_a_file_is_shown(hookctl: Hookctl) -> None:
    text = '[pack]\nname = "own"\nversion = "1"\ndescription = "\U0001f469\u200d\U0001f4bb \u0646\u200c"\n'
    text += '[files]\ninclude = ["a.sh"]\n'
    text += "[[hooks]]\nevent = 'stop'\ncommand = 'echo \u26a0\ufe0f; sh {files}/a.sh'\n"
    put(Path("own.toml"), text)
    put(Path("a.sh"), f"run{UNSEEN}\ttabs, \u3000blanks and \u00e9 stay")
    shown = "".join(f"<U+{ord(character):04X}>" for character in UNSEEN)
    plan = hookctl("plan", "./own.toml", "--host", "claude")
    assert f"run{shown}\ttabs, \u3000blanks and \u00e9 stay\n" in plan.out
    assert "echo \u26a0<U+FE0F>;" in plan.out
    assert hookctl("install", "./own.toml", "--host", "claude").code == 0
    put(Path("a.sh"), f"run {UNSEEN}")
    put(Path("own.toml"), text.replace('"1"', '"2"'))
    changed = hookctl("upgrade", "own", "--dry-run")
    assert f"+run {shown}\n" in changed.out
    rendered = hookctl("render", "./own.toml", "--host", "claude", "--scope", "managed")
    assert "\u26a0\ufe0f" in json.loads(rendered.out)["hooks"]["Stop"][0]["hooks"][0]["command"], "a file, not a text"
