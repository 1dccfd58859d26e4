"""What `hooks` reads beside the machine of nine hosts: odd places, odd entries, odd programs."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from hookctl import hosts
from hookctl.hosts.loading import never_runs
from tests.conftest import Hookctl, put


def stop(*handlers: dict[str, Any] | str, event: str = "Stop") -> str:
    """Settings with these handlers, or commands, on one event."""
    made = [{"type": "command", "command": one} if isinstance(one, str) else one for one in handlers]
    return json.dumps({"hooks": {event: [{"hooks": made}]}})


def listed(hookctl: Hookctl, *options: str) -> list[dict[str, Any]]:
    outcome = hookctl("hooks", "--json", *options)
    assert outcome.code == 0, outcome
    return outcome.data["hooks"]


def states(hookctl: Hookctl, *options: str) -> dict[str, str]:
    """The state of each hook, by its command."""
    return {hook["command"]: hook["state"] for hook in listed(hookctl, *options)}


# Several obstacles.


def test_the_script_of_a_hook_is_looked_at_unless_the_host_does_not_load_the_hook(
    hookctl: Hookctl, settings: Path
) -> None:
    gone = {"type": "command", "command": "/nowhere/gone.sh"}
    put(settings, stop(gone, {**gone, "timeout": "soon"}))
    loaded, ignored = listed(hookctl)
    assert (loaded["state"], loaded["reason"]) == ("missing", "/nowhere/gone.sh is not there")
    assert ignored["state"] == "ignored" and "gone.sh" not in ignored["reason"]
    put(settings, stop(gone, event="Stopp"))
    (unknown,) = listed(hookctl)
    assert unknown["state"] == "unknown_event" and "/nowhere/gone.sh is not there" in unknown["reason"]


# Places.


def test_in_home_the_settings_of_the_project_are_those_of_the_user(
    hookctl: Hookctl, settings: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(settings, stop("bell"))
    monkeypatch.chdir(isolated / "home")
    assert [(hook["scope"], hook["state"]) for hook in listed(hookctl)] == [("user", "runs")]


def test_copilot_has_hooks_in_its_settings_too(hookctl: Hookctl, isolated: Path) -> None:
    """These may have comments, and nothing else in them is hookctl's business."""
    handler = '{"hooks": {"agentStop": [{"type": "command", "bash": "echo %s"}]}} // mine'
    put(isolated / "home/.copilot/settings.json", handler % "user")
    for name in ("settings", "settings.local"):
        put(isolated / f"work/.github/copilot/{name}.json", handler % name)
    found = {hook["command"]: (hook["scope"], hook["state"]) for hook in listed(hookctl)}
    assert found == {
        "echo user": ("user", "runs"),
        "echo settings": ("project", "runs"),
        "echo settings.local": ("project", "runs"),
    }


def test_a_byte_order_mark_or_a_comment_costs_a_strict_host_the_file(hookctl: Hookctl, settings: Path) -> None:
    put(settings, "// mine\n" + stop("bell"))
    (hook,) = listed(hookctl)
    assert (hook["state"], hook["line"]) == ("ignored", 2)
    assert "line 1" in hook["reason"] and "ignores the whole file" in hook["reason"]


# Entries.


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([{"type": "command", "command": "bell"}], "not a group"),
        ([{"matcher": "x", "command": "bell"}], "not a group"),
        ({"type": "command", "command": "bell"}, "not an array"),
        ({"hooks": [{"type": "command", "command": "bell"}]}, "not an array"),
        ([{"hooks": [{"command": "bell"}]}], "no type"),
    ],
)
def test_what_was_meant_as_a_hook_is_listed_with_the_reason(
    hookctl: Hookctl, settings: Path, value: Any, reason: str
) -> None:
    put(settings, json.dumps({"hooks": {"Stop": value, "SessionEnd": []}}))
    (hook,) = listed(hookctl)
    assert (hook["event"], hook["command"], hook["state"]) == ("Stop", "bell", "ignored")
    assert reason in hook["reason"]


def test_names_with_odd_characters_are_shown_and_do_no_harm(hookctl: Hookctl, settings: Path) -> None:
    fields = {"type": "command", "command": "a\u001b[31m\nb \ud800"}
    put(settings, json.dumps({"hooks": {"St\u001bop": [{"matcher": "\u0007", "hooks": [fields]}]}}))
    outcome = hookctl("hooks")
    assert outcome.code == 0 and "\u001b" not in outcome.out and "\u0007" not in outcome.out
    assert [hook["state"] for hook in listed(hookctl)] == ["unknown_event"]


def test_what_codex_cannot_approve_is_no_hook_of_its(hookctl: Hookctl, isolated: Path) -> None:
    """An approval has the position of a handler in a group."""
    value = {
        "hooks": {"Stop": [{"type": "command", "command": "flat"}, {"hooks": [{"type": "command", "command": "u"}]}]}
    }
    put(isolated / "home" / ".codex" / "hooks.json", json.dumps(value))
    assert states(hookctl) == {"flat": "ignored", "u": "not_approved"}


# Programs.


def test_copilot_gives_a_script_the_mode_itself_and_other_hosts_do_not(hookctl: Hookctl, isolated: Path) -> None:
    script = str(put(isolated / "x.sh", "#!/bin/sh\n"))
    handler = {"type": "command", "command": script}
    put(isolated / "home/.copilot/hooks/own.json", json.dumps({"version": 1, "hooks": {"agentStop": [handler]}}))
    put(isolated / "home/.factory/settings.json", stop(script))
    found = {hook["host"]: hook["state"] for hook in listed(hookctl)}
    assert found == {"copilot": "runs", "droid": "not_executable"}
    codes = [(one["host"], one["code"]) for one in hookctl("doctor", "--json", "--host", "copilot").data["findings"]]
    assert ("copilot", "script_missing") not in codes


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("python3 {}/x.py", "a = (\n", "line 1"),
        ("python3 {}/x.py", "return 1\n", "line 1"),
        ("python3 {}/x.py", "a\0b", ""),
        ("sh {}/x.sh", "if true\n", "line 2"),
        ("bash {}/x.sh", "a=(1 2\n", "line "),
        ("{}/x", "#!/bin/sh\n\ncase x in\n", "line 4"),
        ("{}/x", "#!/usr/bin/env python3\nimport (\n", "line 2"),
    ],
)
def test_a_script_that_does_not_compile_and_where(
    hookctl: Hookctl, settings: Path, isolated: Path, name: str, text: str, problem: str
) -> None:
    put(isolated / name.split("/")[-1], text).chmod(0o755)
    put(settings, stop(name.format(isolated)))
    (hook,) = listed(hookctl)
    assert (hook["state"], problem in hook["reason"]) == ("no_compile", True), hook


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("bash {}/x.sh", "a=(1 2)\n"),  # which no sh would take
        ("python2 {}/x.py", "print 1\n"),
        ("ruby {}/x.rb", "if\n"),
        ("python3 {}/x.py", "#" * (1 << 20) + "\nif\n"),  # too large to be looked at
        ("python3 -c 'if' {}/x.py", "if\n"),
        ("cat {}/x.py", "if\n"),
    ],
)
def test_what_is_not_known_to_be_wrong_is_not_said_to_be(
    hookctl: Hookctl, settings: Path, isolated: Path, name: str, text: str
) -> None:
    put(isolated / name.split("/")[-1], text)
    put(settings, stop(name.format(isolated)))
    assert [hook["state"] for hook in listed(hookctl)] == ["runs"]


@pytest.mark.skipif(not shutil.which("node"), reason="there is no node here")
def test_no_variable_makes_an_interpreter_load_anything(
    hookctl: Hookctl, settings: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = put(isolated / "loads.js", f"require('fs').writeFileSync('{isolated}/ran', '')\n")
    monkeypatch.setenv("NODE_OPTIONS", f"--require {loads}")
    put(isolated / "x.js", "const a = 1;\n")
    put(settings, stop(f"node {isolated}/x.js"))
    assert [hook["state"] for hook in listed(hookctl)] == ["runs"]
    assert not (isolated / "ran").exists()


def test_a_script_that_is_a_pipe_is_not_waited_for(hookctl: Hookctl, settings: Path, isolated: Path) -> None:
    os.mkfifo(isolated / "x.py")
    put(settings, stop(f"python3 {isolated}/x.py"))
    assert [hook["state"] for hook in listed(hookctl)] == ["runs"]


def test_a_program_that_is_a_pipe_is_not_waited_for(hookctl: Hookctl, settings: Path, isolated: Path) -> None:
    os.mkfifo(isolated / "x", 0o755)
    put(settings, stop(str(isolated / "x")))
    signal.alarm(60)
    assert [hook["state"] for hook in listed(hookctl)] == ["runs"]
    signal.alarm(0)


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
