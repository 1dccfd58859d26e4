"""From files with hooks to the list: IDs, owners, states and repeats; nothing is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookctl import hosts
from hookctl.documents import formats
from hookctl.hosts import loading
from hookctl.hosts.loading import never_runs
from hookctl.survey.entries import list_hooks_of
from hookctl.survey.listing import list_hooks
from hookctl.survey.model import Hook, HookFile


def entry(text: str, event: str = "Stop", matcher: str = "") -> tuple[str, dict[str, Any]]:
    return event, {"matcher": matcher, "hooks": [{"type": "command", "command": text}]}


def listed(*entries: tuple[str, dict[str, Any]], host: str = "claude", scope: str = "user", **more: Any) -> list[Hook]:
    """The hooks of a settings file with these entries, before they are put together."""
    events: dict[str, list[Any]] = {}
    for event, group in entries:
        events.setdefault(event, []).append(group)
    known, path = hosts.load(host), f"/{host}/{scope}.json"
    document = formats.parse("json", json.dumps({"hooks": events}, indent=1).encode(), where=path)
    file = HookFile(known, scope, path, **more)
    return list(list_hooks_of(file, document, loading.read(known, document).entries))


def only(*entries: tuple[str, dict[str, Any]], **more: Any) -> Hook:
    (hook,) = list_hooks(listed(*entries, **more))
    return hook


# IDs.


# States and reasons.


# What stops all hooks of a host.


# Ways out.


@pytest.mark.parametrize(
    ("host", "event", "fix"),
    [
        ("claude", "SessionsStart", "did you mean SessionStart?"),
        ("claude", "stop", "Claude Code calls it Stop"),
        ("gemini", "PreToolUse", "Gemini CLI calls it BeforeTool"),
        ("claude", "Zzz", ""),
    ],
)
def test_an_unknown_event_comes_with_the_name_that_was_meant(host: str, event: str, fix: str) -> None:
    hook = only(entry("a", event), host=host)
    assert (hook.state, hook.fix) == ("unknown_event", fix)


# Repeats.


# What a hook runs.


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("for f in a b; do echo $f; done", False),
        ('while read -r line; do echo "${line}"; done', False),
        ("for f in a b; do echo '$f'; done", False),
        ("for f in a b; do echo $''f; done", True),
        ("f=1; for f in a b; do echo $f; done", True),
        ("of=1; for f in a b; do echo ${f%x}; done", False),
        ("for f in a b; do echo $file; done", True),
        ("echo $HOME for you", True),
    ],
)
def test_grok_runs_no_command_with_the_variable_of_a_loop(command: str, runs: bool) -> None:
    """As measured: see tests/e2e/test_grok_facts.py."""
    fields = {"type": "command", "command": command}
    assert bool(never_runs(hosts.load("grok"), "Stop", fields)) != runs
    assert never_runs(hosts.load("claude"), "Stop", fields) == ""
