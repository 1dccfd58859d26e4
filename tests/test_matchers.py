"""A matcher of another host's tools is known to match nothing; what may match is left alone.

What plan, install and doctor say is in tests/stories/a-matcher-of-another-host.txt.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookctl import hosts
from hookctl.firing.calls import Call, is_meant
from hookctl.hosts import matchers
from hookctl.hosts.matchers import explain_mismatch, fits
from tests.approving import approve
from tests.e2e.random_entries import Maker
from tests.e2e.random_settings import CASES, Bench
from tests.matching import OF_SHELL, SHELLS, VIBES, of_vibe


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
        ("opencode", "LS", "glob"),
        ("hermes", "Write", "write_file"),
        ("codex", "run_shell_command", "Bash"),
        ("codex", "task", "spawn_agent"),
        ("copilot", "Bash|Write", "which has bash, create"),
        ("copilot", "Write|Bash", "which has create, bash"),
        ("openhands", "Bash|Write", "which has terminal, file_editor"),
        ("hermes", "Bash|Write", "which has terminal, write_file"),
        ("gemini", "^(Bash|Write)$", "which has run_shell_command, write_file"),
        ("gemini", "^Bash$", "run_shell_command"),
        ("cursor", "^(Bash|Edit)$", "which has Shell, Write"),
        ("antigravity", "Grep|Glob", "which has grep_search, codebase_search, code_search, find_by_name, list_dir"),
        ("codex", "Grep", "none of that kind"),
        ("droid", "^Write$", "which has Create"),
        ("gemini", "Bash, Write", "between names: run_shell_command|write_file"),
        ("codex", "Bash,Write", "between names: Bash|"),
        ("droid", "Bash,Write", "between names: Execute|Create"),
        ("qwen", "Execute|MyOwn,Bash", "between names: run_shell_command|monitor|MyOwn|Bash"),
        ("claude", "^(Bash,Write)$", "between names: Bash|PowerShell|Monitor|Write"),
        ("copilot", "mcp__hub__create", "hub-create"),
        ("gemini", "mcp__hub__create", "mcp_hub_create"),
        ("opencode", "mcp__hub__.*", "hub_.*"),
        ("droid", "mcp__.*", ".*___.*"),
        ("cursor", "^(mcp__hub__create)$", "MCP:create"),
        ("claude", "mcp__hub", "mcp__hub__.*"),
        ("gemini", "Task", "invoke_agent"),
        ("qwen", "Execute", "run_shell_command"),
        ("vibe", "^Bash$", "which has file_system.bash"),
        ("vibe", "Bash|Write", "behind re:, with | between them"),
        ("vibe", "re:Execute|Create", "which has file_system.bash, process.start, process.write, file_system"),
        ("vibe", "Task", "agents.spawn"),
        ("vibe", "", "where a hook for all tools has no matcher"),
    ],
)
def test_a_matcher_of_other_tools(host: str, matcher: str, instead: str) -> None:
    reason = explain_mismatch(hosts.load(host), hosts.load(host).events["pre-tool"], matcher)
    assert matcher in reason
    assert instead in reason


@pytest.mark.parametrize("host", hosts.names())
@pytest.mark.parametrize(
    "matcher", [".*", "mcp_hub_create", ".*Own", "MyOwnTool", "Bash|MyOwnTool", "Bash,Write|MyOwnTool", None, 3]
)
def test_what_may_match(host: str, matcher: object) -> None:
    described = hosts.load(host)
    if described.matchers.prefix and isinstance(matcher, str):
        matcher = described.matchers.prefix + matcher
    for short, event in described.events.items():
        if short in ("pre-tool", "post-tool"):
            assert explain_mismatch(described, event, matcher) == ""


@pytest.mark.parametrize(
    ("host", "matcher"),
    [
        *(("qwen", name) for name in ("Bash", "Write", "Edit", "Read", "Bash|Write", "mcp__hub", "command")),
        ("claude", "Bash,Write"),
        ("claude", "Bash, MyOwn"),
        ("claude", "mcp__hub__.*"),
        ("claude", "mcp__.*"),
        ("codex", "Write"),
        ("copilot", "bash|create"),
        ("droid", "Bash|Write"),  # a part of TodoWrite
        ("gemini", "web_search"),
        ("gemini", "mcp_hub_create"),
        ("hermes", "mcp__hub__create"),
        ("opencode", "Bash|Write"),
        *(("vibe", name) for name in ("Bash", "bash", "file_system.bash", "b*", "re:bash|edit", "re:^(Bash|Write)$")),
    ],
)
def test_what_the_host_understands(host: str, matcher: str) -> None:
    assert explain_mismatch(hosts.load(host), hosts.load(host).events["pre-tool"], matcher) == ""


FITTING = [(host, SHELLS[host], *row) for host, rows in OF_SHELL.items() for row in rows.items()]
FITTING += [("vibe", tool, *row) for tool in VIBES for row in of_vibe(tool).items()]


@pytest.mark.parametrize(("host", "tool", "matcher", "fits"), FITTING)
def test_a_matcher_fits_what_it_fits_on_the_real_client(host: str, tool: str, matcher: str, fits: bool) -> None:
    described = hosts.load(host)
    call = Call(described, described.events["pre-tool"], "PreToolUse", {}, b"", tool)
    assert is_meant(call, matcher) is fits


def test_an_expression_that_takes_hours_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matchers, "_left", [0.05])
    claude = hosts.load("claude")
    assert not fits(claude, "(.*)*(.*)*(.*)*x!", ["mcp__one__Bash"])
    assert fits(claude, "^Bash$", ["Bash"]) and fits(claude, "^(Edit|Write.*)$", ["Write"])


# Which matchers fire, as the real clients had it: `fire` runs those, and `hooks` says `runs` of no other one.


FIRES = json.loads(Path(__file__).with_name("field_matchers.json").read_text())


def cases() -> Iterator[Any]:
    for host, events in FIRES.items():
        for name in events:
            for aspect in ("fire", "hooks"):
                label = f"{aspect}: {host} {name}"
                yield pytest.param(host, name, aspect, id=label)


@pytest.mark.parametrize(("host", "name", "aspect"), [*cases()])
def test_every_matcher(host: str, name: str, aspect: str, isolated: Path) -> None:
    shape = CASES[host].shape()
    bench = Bench(CASES[host], None, isolated)
    event = next(event for event, names in shape.events.items() if name in names)
    pieces = Maker(shape, 1, bench.marks).every_matcher(event, name)
    place = bench.lay_out(pieces)
    if host == "codex":
        approve(place.settings)
    fires = set(FIRES[host][name])
    if aspect == "fire":
        fired = bench.fired(place, (event,))
        assert {piece.value["matcher"] for piece in pieces if piece.marks & fired} == fires
    else:
        states, _ = bench.said(place)
        runs = {piece.value["matcher"] for piece in pieces if {"runs"} in map(states.get, piece.marks)}
        assert fires - runs == set()
        assert runs - fires <= {piece.value["matcher"] for piece in pieces if piece.may}
