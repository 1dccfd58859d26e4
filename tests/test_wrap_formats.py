"""`--wrap` on hosts whose files or commands differ: TOML and YAML, no shell, and several files in one folder."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from hookctl.planner.shell_free import is_plain
from tests.conftest import Hookctl, put

CODEX = """\
model = "one"
[[hooks.Stop]]
[[hooks.Stop.hooks]]
type = "command"
command = 'sh "/x/on_stop.sh"' # theirs
"""
HERMES = """\
model: one
hooks:
  pre_verify:
  - command: '/x/on_stop.sh  "a  b"'   # theirs
    timeout: 5
"""
WRAP = ("--mode", "off", "--wrap", "on_stop.sh")


@pytest.mark.parametrize(
    ("host", "file", "text"), [("codex", ".codex/config.toml", CODEX), ("hermes", ".hermes/config.yaml", HERMES)]
)
@pytest.mark.parametrize("undo", ["install --wrap", "uninstall"])
def test_the_bytes_come_back_to_a_file_that_was_edited_since(
    host: str, file: str, text: str, undo: str, isolated: Path, hookctl: Hookctl
) -> None:
    path = put(isolated / "home" / file, text)
    assert hookctl("install", "--host", host, *WRAP).code == 0
    wrapped = path.read_text()
    assert "guard/wrap-" in wrapped
    assert hookctl("install", "--host", host).code == 0
    path.write_text(wrapped.replace("one", "two"))
    words = ("uninstall",) if undo == "uninstall" else ("install", "--host", host, "--wrap", "")
    assert hookctl(*words).code == 0
    assert path.read_text() == text.replace("one", "two")


# Without a shell

SAME = [
    "/x/y.sh",
    "~/y.sh",
    "sh -c 'a; b | c'",
    'node "a b" \'c d\'e f=1 --g="h i"',
    "/x \t 'line\nbreak'",
    "size größe",
    "x ''",
]
OTHERWISE = [
    *(
        "a | b",
        "a; b",
        "a && b",
        "a > b",
        "a $B",
        'a "$B"',
        "a `b`",
        'a "`b`"',
        r"a\ b",
        r'"a\"b"',
        "a *",
        "a ?",
        "a [b]",
    ),
    *(
        "A=1 b",
        "'A=1' b",
        "echo a",
        "'echo' a",
        "exec a",
        ". a",
        ": a",
        "a ~/b",
        "~x/b",
        "a # b",
        "a {b,c}",
        "! a",
        "a\nb",
    ),
    *("", " a", "a 'b", "if a", "a &", "(a)"),
]


@pytest.mark.parametrize("command", SAME)
def test_a_plain_command_has_the_same_words_in_a_shell(command: str) -> None:
    assert is_plain(command)
    if not command.startswith("~"):
        done = subprocess.run(["sh", "-c", rf"printf '%s\0' {command}"], capture_output=True, check=True)
        assert done.stdout.decode().split("\0")[:-1] == shlex.split(command)


@pytest.mark.parametrize("command", OTHERWISE)
def test_a_command_that_a_shell_may_read_otherwise_is_not_plain(command: str) -> None:
    assert not is_plain(command)


def test_hermes_hook_that_a_shell_reads_otherwise_stays(isolated: Path, hookctl: Hookctl) -> None:
    path = put(isolated / "home/.hermes/config.yaml", HERMES.replace("a  b", "$HOME"))
    before = path.read_bytes()
    refused = hookctl("install", "--host", "hermes", *WRAP)
    assert (refused.code, path.read_bytes()) == (2, before)
    assert "cannot be wrapped, because of its words: a shell reads them otherwise than Hermes" in refused.err


def test_hermes_waits_for_an_agreement_to_the_wrapped_command(isolated: Path, hookctl: Hookctl) -> None:
    put(isolated / "home/.hermes/config.yaml", HERMES)
    assert "only after you have agreed to its command" in hookctl("install", "--host", "hermes", *WRAP).err
    assert "does nothing: Hermes waits for an approval" in hookctl("status").out


# Copilot's folder of files


def copilot(isolated: Path, file: str, key: str = "command") -> Path:
    hooks = {"agentStop": [{"type": "command", key: "sh ~/on_stop.sh"}]}
    return put(isolated / "home/.copilot/hooks" / file, json.dumps({"version": 1, "hooks": hooks}))


@pytest.mark.parametrize("key", ["command", "bash"])
def test_a_hook_in_another_file_is_named_with_the_way_out(key: str, isolated: Path, hookctl: Hookctl) -> None:
    theirs = copilot(isolated, "theirs.json", key)
    before = theirs.read_bytes()
    refused = hookctl("install", "--host", "copilot", *WRAP)
    assert refused.code == 2
    assert f"names a hook of {theirs}" in refused.err
    assert "Move it into" in refused.err
    assert theirs.read_bytes() == before
    assert not theirs.with_name("hookctl.json").exists()


def test_a_command_under_another_key_is_refused(isolated: Path, hookctl: Hookctl) -> None:
    copilot(isolated, "hookctl.json", "bash")
    refused = hookctl("install", "--host", "copilot", *WRAP)
    assert refused.code == 2
    assert "because of its key `bash`: Copilot CLI runs `command` alike" in refused.err


def test_in_the_file_of_ours_it_is_wrapped_with_the_events_that_tell_of_progress(
    isolated: Path, hookctl: Hookctl
) -> None:
    path = copilot(isolated, "hookctl.json")
    before = path.read_bytes()
    assert hookctl("install", "--host", "copilot", *WRAP).code == 0
    hooks = json.loads(path.read_bytes())["hooks"]
    assert {event: len(entries) for event, entries in hooks.items()} == {
        "agentStop": 1,
        "userPromptSubmitted": 1,
        "postToolUse": 1,
    }
    assert hookctl("uninstall").code == 0
    assert path.read_bytes() == before


def test_status_does_not_promise_a_limit_above_the_host_s_cap(
    isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERMES_ACCEPT_HOOKS", "1")
    put(isolated / "home/.hermes/config.yaml", HERMES)
    hookctl("install", "--host", "hermes", *WRAP)
    assert "counts the denials of 1 wrapped hook up to the host's cap, and does nothing else" in hookctl("status").out
    hookctl("install", "--host", "hermes", "--set", "max_stop_blocks=2")
    assert "lets the agent stop at denial 2 of 1 wrapped hook without progress" in hookctl("status").out


def test_doctor_names_a_limit_that_helps_below_the_host_s_cap(isolated: Path, hookctl: Hookctl) -> None:
    script = put(isolated / "ralph-stop.sh", "#!/bin/sh\n")  # known to block
    script.chmod(0o755)
    put(isolated / "home/.hermes/config.yaml", HERMES.replace("/x/on_stop.sh", str(script)))
    hookctl("install", "--host", "hermes")
    said = " ".join(hookctl("doctor", "--host", "hermes").out.split())
    assert "--wrap TEXT --set max_stop_blocks=2` with a part of its command" in said
