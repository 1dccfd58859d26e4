"""A name in a pack that stands for nothing is an error with its line; "installed" needs a hook that is registered."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookctl.errors import HookctlError
from hookctl.packs.pack import load_file
from tests.conftest import Hookctl, put

HEAD = '[pack]\nname = "bell"\nversion = "1"\n'
FILES = '[files]\ninclude = ["ring.sh", "lib/tones.py"]\n'
CLAUDES = '[[host.claude.hooks]]\ncommand = "x"\n'


def hook(command: str, *more: str, event: str = "stop") -> str:
    return "\n".join([f'[[hooks]]\nevent = "{event}"', f"command = '''{command}'''", *more, ""])


def load(folder: Path, text: str) -> None:
    put(folder / "ring.sh", "echo\n")
    put(folder / "lib" / "tones.py", "\n")
    load_file(str(put(folder / "pack.toml", text)))


@pytest.mark.parametrize(
    ("text", "line", "message", "nearest"),
    [
        (hook("x", 'hosts = ["claude", "cluade"]'), 9, "there is no host 'cluade'", "mean claude?"),
        ('[[host.codxe.hooks]]\nevent = "Stop"\ncommand = "x"\n', 6, "there is no host 'codxe'", "mean codex?"),
        ('[host.gemin.env]\nA = "1"\n', 6, "there is no host 'gemin'", "mean gemini?"),
        (hook("x", event="stpo"), 7, "hooks.event cannot be 'stpo'", "mean stop?"),
        (hook("x", event="Stop"), 7, "hooks.event cannot be 'Stop'", "mean stop?"),
        (f'{CLAUDES}event = "PreTooluse"\n', 8, "Claude Code has no event 'PreTooluse'", "mean PreToolUse?"),
        (hook("sh {file}/ring.sh"), 8, "has an unknown placeholder {file}", "mean {files}?"),
        (hook('sh "{file}/ring.sh"'), 8, "has {file} in quotes, where it stays as it is", "mean {files}?"),
        (hook("echo $(x {evnt})"), 8, "has an unknown placeholder {evnt}", "mean {event}?"),
        (hook("sh {files}/rings.sh"), 8, "{files}/rings.sh, which is not in the pack", "mean ring.sh?"),
        (hook("python3 {files}/'lib/tone.py'"), 8, "{files}/lib/tone.py, which is not", "mean lib/tones.py?"),
        (hook("x", 'matchr = "a"'), 9, "an unknown key 'matchr'", "mean matcher?"),
    ],
)  # fmt: skip
def test_a_name_that_stands_for_nothing(isolated: Path, text: str, line: int, message: str, nearest: str) -> None:
    with pytest.raises(HookctlError) as raised:
        load(isolated / "work", HEAD + FILES + text)
    assert raised.value.code == "bad_pack"
    assert message in raised.value.message
    assert raised.value.line == line
    assert nearest in raised.value.hint


@pytest.mark.parametrize(
    "command",
    [
        "sh {files}/ring.sh > {files}/log >>{files}/more",
        "PYTHONPATH={files}/lib:{files} python3 {files}/lib/tones.py",
        "sh {files}/$NAME; sh {files}/*.sh",
        "git log HEAD@{upstream} '{file}' \"{name}\" ${file} %{size}",
        "find . -exec cat {} +; { true; }; echo ${A:-{b}}",
        "ls {files}/ {files}/./ring.sh",
    ],
)
def test_what_a_shell_or_another_program_means(isolated: Path, command: str) -> None:
    load(isolated / "work", HEAD + FILES + hook(command))


def test_a_hosts_events_are_refused_only_where_all_are_known(isolated: Path) -> None:
    load(isolated / "work", HEAD + '[[host.cursor.hooks]]\nevent = "beforeShellExecution"\ncommand = "x"\n')


FOR_CODEX = hook("sh {files}/ring.sh", 'hosts = ["codex"]')
FOR_GEMINI = hook("x", 'hosts = ["gemini"]', event="subagent-stop")


@pytest.fixture
def elsewhere(isolated: Path, fixed_python: None) -> str:
    """A pack with a hook for Codex, and one for an event that Gemini CLI does not have."""
    folder = isolated / "work" / "bell"
    load(folder, HEAD + FILES + FOR_CODEX + FOR_GEMINI)
    return str(folder)


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("claude", "bell has no hook for Claude Code, only for codex, gemini"),
        ("gemini", "bell: Gemini CLI has no event subagent-stop"),
    ],
)
def test_where_no_hook_belongs_nothing_is_installed(
    elsewhere: str, isolated: Path, hookctl: Hookctl, host: str, reason: str
) -> None:
    for verb in ("plan", "install"):
        outcome = hookctl(verb, elsewhere, "--host", host, agrees=False)
        assert (outcome.code, outcome.out) == (0, "nothing to do\n")
        assert reason in outcome.err
    assert "nothing is installed" in hookctl("status").out + hookctl("status").err
    assert not (isolated / "data").exists()


def test_installed_names_the_hosts_that_got_a_hook(elsewhere: str, hookctl: Hookctl) -> None:
    outcome = hookctl("install", elsewhere, "--host", "claude", "--host", "codex", "--host", "gemini")
    assert "bell 1 is installed for Codex CLI." in outcome.out
    assert "Claude Code: nothing to do" in outcome.out


def test_variables_alone_are_not_a_hook(isolated: Path, hookctl: Hookctl) -> None:
    folder = isolated / "work" / "bell"
    load(folder, HEAD + '[env]\nA = "1"\n' + hook("x", 'hosts = ["codex"]'))
    outcome = hookctl("install", str(folder), "--host", "claude")
    assert "No hook of bell 1 is registered." in outcome.out
    assert "is installed" not in outcome.out


def test_a_hook_that_the_operator_removed_is_not_installed(isolated: Path, hookctl: Hookctl, settings: Path) -> None:
    folder = isolated / "work" / "bell"
    load(folder, HEAD + '[env]\nA = "1"\n' + hook("x"))
    assert "bell 1 is installed." in hookctl("install", str(folder), "--host", "claude").out
    put(settings, '{"env": {"A": "1"}}')
    load(folder, HEAD.replace('"1"', '"2"') + '[env]\nA = "2"\n' + hook("x"))
    outcome = hookctl("install", str(folder), "--host", "claude")
    assert "No hook of bell 2 is registered." in outcome.out
