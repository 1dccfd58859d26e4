"""From files with hooks to the list: IDs, owners, states and repeats; nothing is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookctl import hosts
from hookctl.documents import formats
from hookctl.errors import HookctlError
from hookctl.hosts import loading
from hookctl.hosts.loading import never_runs
from hookctl.survey import ids
from hookctl.survey.entries import list_hooks_of
from hookctl.survey.listing import list_hooks
from hookctl.survey.model import Hook, HookFile, Obstacle


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


def test_the_second_of_two_hooks_with_one_digest_has_a_number() -> None:
    first, second, third = list_hooks(listed(entry("a"), entry("a"), entry("a")))
    assert (second.id, third.id) == (f"{first.id}#2", f"{first.id}#3")
    hooks = [first, second, third]
    assert ids.find(hooks, first.id) == [first]
    assert ids.find(hooks, first.id[:4]) == [first]
    with pytest.raises(HookctlError, match="no hook here has the ID"):
        ids.find(hooks, first.id[:3])
    assert ids.find(hooks, f"{first.id[:4]}#2") == [second]
    with pytest.raises(HookctlError):
        ids.find(hooks, f"{first.id}#4")


# States and reasons.


# What stops all hooks of a host.


UNTRUSTED = Obstacle("folder_untrusted", "the host does not trust this folder")
SWITCHED = Obstacle("off", "disableAllHooks is true in /s", "remove disableAllHooks from /s")


def test_a_hooks_own_obstacle_counts_before_what_stops_all_hooks_and_the_reason_names_both() -> None:
    hook = only(entry("a", "PreToolUse", "bash"), shared=(SWITCHED, UNTRUSTED))
    assert hook.state == "no_tool"
    first, *others = hook.reason.split("; also: ")
    assert first == hook.own_reason and "Bash" in first
    assert others == [SWITCHED.reason, UNTRUSTED.reason]
    assert hook.fix == hook.own_fix
    assert hook.own_fix == "matchers are case-sensitive; did you mean Bash?"


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


@pytest.mark.parametrize(
    ("host", "matcher", "fix"),
    [
        ("claude", "bash|edit", "matchers are case-sensitive; did you mean Bash|Edit?"),
        ("claude", "run_shell_command", ""),  # the reason says which tools there are
        ("gemini", "Replace", "matchers are case-sensitive; did you mean replace?"),
    ],
)
def test_only_a_matcher_in_the_wrong_case_is_told_so(host: str, matcher: str, fix: str) -> None:
    event = hosts.load(host).events["pre-tool"] or ""
    assert only(entry("a", event, matcher), host=host).fix == fix


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
