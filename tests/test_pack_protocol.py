"""What becomes of a pack's events and matchers on a host."""

from __future__ import annotations

import pytest

from hookctl import hosts
from hookctl.packs.protocol import FAILURE_EVENT, fit, native_event

# From the reference table of what each client says after a failed call.
SAYS_FAILED = {
    "claude": "PostToolUseFailure",
    "qwen": "PostToolUseFailure",
    "grok": "PostToolUseFailure",
    "kimi": "PostToolUseFailure",
    "gemini": "AfterTool",
    "copilot": "postToolUseFailure",
    "opencode": "tool.execute.after",
    "openhands": "post_tool_use",
    "hermes": "post_tool_call",
    "vibe": "post_tool",
    "pi": "tool_result",
}


@pytest.mark.parametrize("host", hosts.names())
def test_a_hook_of_failed_calls_is_only_where_the_host_tells_them(host: str) -> None:
    assert native_event(hosts.load(host), FAILURE_EVENT) == SAYS_FAILED.get(host, "")


def test_a_hook_of_edits_on_codex_hears_of_shell_commands_too() -> None:
    """A patch may stand in one."""
    codex = hosts.load("codex")
    matcher = fit(codex, "pre-tool", "Edit").matcher
    assert matcher is not None
    assert {"apply_patch", "Bash"} <= set(matcher.strip("^()$").split("|"))
    assert fit(codex, "pre-tool", "WebFetch|Read").matcher == "^(view_image)$"
    assert fit(hosts.load("gemini"), "pre-tool", "Edit").matcher == "^(replace)$"
