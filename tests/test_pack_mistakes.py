"""A name in a pack that stands for nothing is an error with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookctl import hosts
from hookctl.errors import HookctlError
from hookctl.packs.listing import is_risky
from hookctl.packs.pack import load_file
from tests.conftest import put

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
        (hook("x", event="Stpo"), 7, "hooks.event cannot be 'Stpo'", "mean stop?"),
        (f'{CLAUDES}event = "PreTooluse"\n', 8, "Claude Code has no event 'PreTooluse'", "mean PreToolUse?"),
        (hook("echo $(x {evnt})"), 8, "has an unknown placeholder {evnt}", "Placeholders are {files}"),
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


@pytest.mark.parametrize("letter", ["\u3164", "\u2800", "\ufe00", "\U000e0100", "\U000e0041", "\u2060", "\u00ad"])
def test_a_letter_that_nobody_sees(tmp_path: Path, letter: str) -> None:
    text = f'[pack]\nname = "p"\nversion = "1"\n[[hooks]]\nevent = "stop"\ncommand = "echo a{letter}b"\n'
    with pytest.raises(HookctlError, match="invisible character"):
        load_file(str(put(tmp_path / "p.toml", text)))


RISKY = [
    "CLAUDE_CODE_SHELL_PREFIX", "CLAUDE_ENV_FILE", "MAKEFLAGS", "VIMINIT", "RIPGREP_CONFIG_PATH", "PYTEST_ADDOPTS",
    "PYTEST_PLUGINS", "CC", "CXX", "MAKE", "CCACHE_PREFIX", "TF_CLI_CONFIG_FILE", "TF_CLI_ARGS_plan",
    "ANSIBLE_CONFIG", "FZF_DEFAULT_COMMAND", "CLAUDE_CODE_GIT_BASH_PATH", "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
    "GEMINI_CLI_SYSTEM_DEFAULTS_PATH", "GH_HOST", "PGHOST", "VAULT_ADDR", "GTK_MODULES", "DJANGO_SETTINGS_MODULE",
    "RSYNC_RSH", "INPUTRC", "CFLAGS", "GOTOOLCHAIN", "GOAUTH", "CHROME_BIN", "PUPPETEER_EXECUTABLE_PATH",
    "IPYTHONDIR", "COREPACK_NPM_REGISTRY", "GEMINI_SANDBOX", "CLAUDE_CODE_PERSONAL_HOOKS_OFF",
]  # fmt: skip


@pytest.mark.parametrize("name", RISKY)
def test_variables_that_start_other_programs_are_asked_for(name: str) -> None:
    assert is_risky(name)


@pytest.mark.parametrize("host", hosts.names())
def test_variables_that_move_a_host_are_asked_for(host: str) -> None:
    named = hosts.load(host)
    places = [*named.folder_trust.switch.files, *named.trust.unasked.files]
    gates = [place[1:] for place in places if place.startswith("$")]
    folders = [named.config.variable, named.environment.project]
    free = [name for name in [*folders, *gates] if name and not is_risky(name)]
    assert not free
