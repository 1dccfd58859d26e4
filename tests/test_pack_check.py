"""hookctl pack check: it warns of what the pack really needs and a host lacks, each thing once."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Hookctl, put

HEAD = '[pack]\nname = "own"\nversion = "1"\n'
POST_GOES_NOWHERE = [
    "antigravity",
    "cursor",
    "hermes",
    "kimi",
    "kiro",
    "openhands",
    "windsurf",
]  # from the reference tables


def hook(event: str, more: str = "") -> str:
    return f'[[hooks]]\nevent = "{event}"\ncommand = "true"\n{more}\n'


def case(event: str, expect: str, more: str = "") -> str:
    return f'[[cases]]\nevent = "{event}"\nexpect = "{expect}"\n{more}\n'


SILENCE = "no opinion is told as an `allow`, since silence refuses there"


def noted(hookctl: Hookctl, hooks: str, cases: str = "") -> dict[str, list[str]]:
    """What is said of a pack, and of which hosts."""
    put(Path("own/pack.toml"), HEAD + hooks)
    if cases:
        put(Path("own/tests/cases.toml"), cases)
    done = hookctl("pack", "check", "own", "--json")
    assert done.code == 0
    told: dict[str, list[str]] = {}
    for row in done.data["hosts"]:
        for note in row["notes"]:
            if note.endswith(SILENCE):  # of every hook before tools
                assert row["host"] == "antigravity"
                continue
            told.setdefault(note, []).append(row["host"])
    return told


@pytest.mark.parametrize("language", ["sh", "python", "node"])
def test_a_pack_that_only_refuses_has_no_warning(hookctl: Hookctl, language: str) -> None:
    hookctl("pack", "new", "own", "--lang", language)
    done = hookctl("pack", "check", "own", "--json")
    told = [(row["host"], note) for row in done.data["hosts"] for note in row["notes"]]
    assert told == [("antigravity", f"no-force: {SILENCE}")]
    assert hookctl("pack", "check", "own").out.count("warn") == 2, "the host, and what is said of it"


@pytest.mark.parametrize(
    ("event", "expect", "said"),
    [
        ("PreToolUse", "ask", "pre-tool: `ask` becomes a refusal"),
        ("PreToolUse", "change", "pre-tool: a changed input becomes a refusal that names it"),
        ("PreToolUse", "context", "pre-tool: context for the model is dropped"),
        ("PreToolUse", "end", "pre-tool: `continue: false` becomes a refusal"),
        ("PostToolUse", "block", "post-tool: nobody reads a refusal"),
        ("PostToolUse", "end", "post-tool: `continue: false` is dropped"),
        ("UserPromptSubmit", "block", "prompt: it cannot refuse there, so the call runs"),
        ("Stop", "end", "stop: `continue: false` lets the agent stop"),
    ],
)
def test_what_a_case_shows_is_said_where_it_is_lost(hookctl: Hookctl, event: str, expect: str, said: str) -> None:
    told = noted(hookctl, hook(event), case(event, expect))
    assert said in told
    about = said[: said.index(": ") + 12]
    others = [text for text in told if not text.startswith(about)]
    assert all("has no event" in text for text in others), "and nothing else"
    assert "claude" not in told[said]


@pytest.mark.parametrize("cases", [case("PostToolUse", "block"), ""])
def test_a_refusal_after_a_call_that_goes_nowhere_is_said(hookctl: Hookctl, cases: str) -> None:
    told = noted(hookctl, hook("PostToolUse"), cases)
    assert told["post-tool: nobody reads a refusal"] == POST_GOES_NOWHERE


def test_what_the_pack_declares_counts_beside_its_cases(hookctl: Hookctl) -> None:
    told = noted(hookctl, hook("PreToolUse", "may_allow = true"), case("PreToolUse", "deny"))
    assert told == {
        "pre-tool: `allow` lifts no permission": [
            "antigravity", "cursor", "gemini", "grok", "hermes", "kimi", "kiro", "opencode", "openhands", "pi",
            "vibe", "windsurf",
        ]
    }  # fmt: skip
    told = noted(hookctl, hook("UserPromptSubmit", 'on_failure = "deny"'), case("UserPromptSubmit", "none"))
    assert told["prompt: it cannot refuse there, so the call runs"] == ["antigravity", "droid", "hermes", "opencode"]


def test_a_host_that_does_not_say_which_calls_failed_is_named(hookctl: Hookctl) -> None:
    said = "post-tool-failure: it does not say which calls failed: not registered"
    told = noted(hookctl, hook("PostToolUseFailure"), case("PostToolUseFailure", "none"))
    assert told.keys() == {said}
    assert {"codex", "droid"} <= set(told[said])
    done = hookctl("install", "./own", "--host", "codex", "--yes")
    assert "own on Codex CLI: post-tool-failure: it does not say which calls failed: not registered" in done.err


NOT_KNOWN = "how it names MCP tools is not known: mcp__gh__make may never fit"
NOT_TOLD = "it does not tell the server of an MCP tool: mcp__gh__make never fits"


def test_an_mcp_tool_that_a_host_may_call_otherwise_is_said(hookctl: Hookctl) -> None:
    told = noted(hookctl, hook("PreToolUse", 'matcher = "Bash|mcp__gh__make"'), case("PreToolUse", "deny"))
    assert told == {
        f"pre-tool: {NOT_KNOWN}": ["openhands"],
        f"pre-tool: {NOT_TOLD}": ["cursor"],
    }
    told = noted(hookctl, hook("PreToolUse", 'matcher = "^mcp__gh__.*$"'), case("PreToolUse", "deny"))
    assert [text.rpartition(": ")[2] for text in told] == ["mcp__gh__.* never fits", "mcp__gh__.* may never fit"]
    assert noted(hookctl, hook("PreToolUse", 'matcher = "^Notebook"'), case("PreToolUse", "deny")) == {}
