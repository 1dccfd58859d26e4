"""What `hooks` reads beside the machine of nine hosts: odd places, odd entries, odd programs."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookctl import hosts
from hookctl.hosts import load
from hookctl.hosts.loading import never_runs
from hookctl.survey.programs import find_scripts, name_program
from tests.conftest import Hookctl, put
from tests.documents.table import document_of
from tests.texts import rows


def stop(*handlers: dict[str, Any] | str, event: str = "Stop") -> str:
    """Settings with these handlers, or commands, on one event."""
    made = [{"type": "command", "command": one} if isinstance(one, str) else one for one in handlers]
    return json.dumps({"hooks": {event: [{"hooks": made}]}})


def listed(hookctl: Hookctl, *options: str) -> list[dict[str, Any]]:
    outcome = hookctl("hooks", "--json", *options)
    assert outcome.code == 0, outcome
    return outcome.data["hooks"]


# Places.
def test_in_home_the_settings_of_the_project_are_those_of_the_user(
    hookctl: Hookctl, settings: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(settings, stop("bell"))
    monkeypatch.chdir(isolated / "home")
    assert [(hook["scope"], hook["state"]) for hook in listed(hookctl)] == [("user", "runs")]


# Entries.
def test_names_with_odd_characters_are_shown_and_do_no_harm(hookctl: Hookctl, settings: Path) -> None:
    fields = {"type": "command", "command": "a\u001b[31m\nb \ud800"}
    put(settings, json.dumps({"hooks": {"St\u001bop": [{"matcher": "\u0007", "hooks": [fields]}]}}))
    outcome = hookctl("hooks")
    assert outcome.code == 0 and "\u001b" not in outcome.out and "\u0007" not in outcome.out
    assert [hook["state"] for hook in listed(hookctl)] == ["unknown_event"]


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


@pytest.mark.parametrize("command", ["python3 {}", "{}"])
def test_a_script_or_program_that_is_a_pipe_is_not_waited_for(
    hookctl: Hookctl, settings: Path, isolated: Path, command: str
) -> None:
    os.mkfifo(isolated / "x.py", 0o755)
    put(settings, stop(command.format(isolated / "x.py")))
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
    """As measured: see tests/e2e/test_facts.py."""
    fields = {"type": "command", "command": command}
    assert bool(never_runs(hosts.load("grok"), "Stop", fields)) != runs
    assert never_runs(hosts.load("claude"), "Stop", fields) == ""


# doctor finds a script that cannot run, however its path is spelled, and is silent where only a shell knows.
KNOWN = {"HOME": "/home/me", "CLAUDE_PROJECT_DIR": "/project"}


@pytest.mark.parametrize(("path", "status", "command"), [row for row in rows("scripts") if row[0]])
def test_the_script_of_a_command(path: str, status: str, command: str) -> None:
    script = find_scripts(document_of(command).decode(), KNOWN)[-1]
    assert (script.path, script.status) == (path, int(status))


@pytest.mark.parametrize("command", ["", *(command for path, _, command in rows("scripts") if not path)])
def test_what_only_a_shell_knows(command: str) -> None:
    assert [script for script in find_scripts(document_of(command).decode(), KNOWN) if "/" in script.path] == []


def found(hookctl: Hookctl, host: str = "claude") -> list[dict[str, Any]]:
    """The hooks whose script is missing or cannot be run."""
    hooks = hookctl("hooks", "--host", host, "--json").data["hooks"]
    return [hook for hook in hooks if hook["state"] in ("missing", "not_executable")]


def told(hookctl: Hookctl, host: str = "claude") -> list[dict[str, Any]]:
    """What doctor says of scripts."""
    findings = hookctl("doctor", "--json", "--host", host).data["findings"]
    return [one for one in findings if one["code"] == "script_missing"]


def test_the_script_of_a_pack(isolated: Path, hookctl: Hookctl) -> None:
    pack = '[pack]\nname = "bell"\nversion = "1"\nprotocol = "host"\n'
    pack += '[[hooks]]\nevent = "stop"\ncommand = "sh ~/ring.sh"\n'
    path = put(isolated / "work" / "bell.toml", pack)
    assert hookctl("install", str(path), "--host", "claude").code == 0
    (finding,) = told(hookctl)
    assert (finding["level"], finding["message"]) == (
        "warning", f"bell/stop cannot run: {isolated}/home/ring.sh is not there"
    )  # fmt: skip
    put(isolated / "home" / "ring.sh", "echo\n")
    assert told(hookctl) == []


# A project's own hooks, where the user has none.

ON_STOP = '"$OPENHANDS_PROJECT_DIR"/.openhands/hooks/on_stop.sh'


@pytest.fixture
def script(isolated: Path) -> Path:
    """A project whose OpenHands runs a script at each stop; nothing of the user's says that it is in use."""
    (isolated / "work" / ".git").mkdir()
    hooks = {"stop": [{"hooks": [{"type": "command", "command": ON_STOP}]}]}
    put(isolated / "work" / ".openhands" / "hooks.json", json.dumps(hooks))
    return put(isolated / "work" / ".openhands" / "hooks" / "on_stop.sh", "#!/bin/sh\nexit 0\n")


def starts_with(line: str) -> Callable[[Path], None]:
    def change(script: Path) -> None:
        script.write_text(f"{line}\n")
        script.chmod(0o755)

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda script: script.chmod(0o755), ""),
        (lambda script: script.unlink(), "is not there"),
        (lambda script: script.chmod(0o644), "is not executable"),
        (starts_with("#!/gone/python9"), "needs /gone/python9, which is not there"),
        (starts_with("#!/usr/bin/env python9"), "needs python9, which is not there"),
        (starts_with("#!/usr/bin/env -S A=1 python9 -I"), "needs python9, which is not there"),
    ],
)
def test_why_a_script_cannot_run(script: Path, hookctl: Hookctl, change: Callable[[Path], None], said: str) -> None:
    change(script)
    broken = [one["reason"].partition("on_stop.sh ")[2] for one in found(hookctl, "openhands")]
    assert broken == ([said] if said else [])


RELATIVE = {
    "openhands": ".openhands/hooks.json",
    "claude": ".claude/settings.json",
    "gemini": ".gemini/settings.json",
    "qwen": ".qwen/settings.json",
}


@pytest.mark.parametrize(
    ("command", "gone"),
    [
        ("python3 .openhands/hooks/gone.py", ".openhands/hooks/gone.py"),
        ("./.openhands/hooks/gone", ".openhands/hooks/gone"),
        ("cd .openhands && sh hooks/gone.sh", ".openhands/hooks/gone.sh"),
        ("cd $SOMEWHERE && cd hooks && sh gone.sh", ""),
        ("sh -c 'sh gone.sh'", "gone.sh"),
        ("sh .openhands/hooks/on_stop.sh", ""),
        ("python3 -m gone", ""),
        ("true", ""),
    ],
)
@pytest.mark.parametrize(("name", "file"), RELATIVE.items())
def test_a_relative_script_is_looked_for_where_the_host_starts_its_hooks(
    script: Path, isolated: Path, hookctl: Hookctl, name: str, file: str, command: str, gone: str
) -> None:
    event = load(name).events["stop"]
    handler = {"type": "command", "command": command}
    put(isolated / "work" / file, json.dumps({"hooks": {event: [{"hooks": [handler]}]}}))
    named = [one["reason"] for one in found(hookctl, name)]
    assert [f"{isolated / 'work' / gone} " in reason for reason in named] == ([True] if gone else [])


@pytest.mark.parametrize(("name", "command"), rows("names-of-hooks"))
def test_a_hook_is_named_without_the_secrets_of_its_command(name: str, command: str) -> None:
    assert name_program(document_of(command).decode()) == name
