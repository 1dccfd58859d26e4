"""hookctl completion: the scripts are loaded by real shells, which then complete."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest
import typer

from hookctl import cli, events, hosts
from hookctl.places import SCOPES
from hookctl.verbs import completion

from .conftest import Hookctl, put
from .test_cli_contract import check_envelope
from .trees import tree

COMMANDS = typer.main.get_command(cli._app(list(cli._COMMANDS))).commands  # type: ignore[attr-defined]
HOSTS = {*hosts.names(), "all"}
SHELLS = [
    pytest.param(name, marks=pytest.mark.skipif(not shutil.which(name), reason=f"there is no {name} here"))
    for name in completion.SHELLS
]


def options(command: str) -> set[str]:
    return {name for p in COMMANDS[command].params for name in p.opts if name.startswith("--")} | {"--help"}


@pytest.fixture
def script(hookctl: Hookctl, isolated: Path):  # type: ignore[no-untyped-def]
    """The script of a shell as a file."""

    def make(shell: str) -> Path:
        return put(isolated / f"hookctl.{shell}", hookctl("completion", shell).out)

    return make


def bash(script: Path, *words: str) -> list[str]:
    """What bash offers for the last of these words; readline has been taken out of the play."""
    line = " ".join(f"'{word}'" for word in ("hookctl", *words))
    call = f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _hookctl; echo ${{COMPREPLY[*]}}"
    done = subprocess.run(["bash", "--norc", "-c", call], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


def fish(script: Path, *words: str) -> list[str]:
    call = f"set -g option mine; source {script}; complete -C 'hookctl {' '.join(words)}'"
    done = subprocess.run(["fish", "--no-config", "-c", call], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("ask", [pytest.param(bash, marks=SHELLS[0].marks), pytest.param(fish, marks=SHELLS[2].marks)])
def test_what_fits_is_offered(ask, script, isolated: Path) -> None:  # type: ignore[no-untyped-def]
    file = script(ask.__name__)

    def offered(*words: str) -> set[str]:
        found = ask(file, *words)
        assert len(found) == len(set(found))
        return set(found)

    assert offered("") - {"--version", "--help"} == set(COMMANDS)
    assert offered("un") == {"uninstall"}
    assert offered("--v") == {"--version"}
    for name in COMMANDS:
        assert offered(name, "--") == options(name)
    assert offered("install", "--host", "claude", "--js") == {"--json"}
    assert offered("install", "--host", "") == HOSTS
    assert offered("doctor", "--strict", "--host", "cl") == {"claude"}
    assert offered("install", "--set", "") == set()
    assert offered("run", "") - options("run") == set(cli._ACTIONS)
    assert offered("run", "--project", "stop", "h") == {"heartbeat"}
    assert offered("run", "remaining", "") <= options("run"), "one action is enough"
    assert offered("run", "status", "--js") == {"--json"}, "and it is not the command status"
    assert offered("completion", "") - options("completion") == set(completion.SHELLS)
    assert offered("render", "--scope", "") == {*SCOPES, "managed"}
    assert offered("install", "--scope", "") == set(SCOPES)
    assert "guard" in offered("install", "")
    assert offered("log", "--code", "ho") == {"honor_active", "host_cap"}
    assert offered("log", "--decision", "") == set(events.DECISIONS)
    assert offered("verify", "--re") == {"--rechecks"}
    assert offered("verify", "--grace", "5", "--ti") == {"--timeout"}


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash here")
def test_bash_takes_an_option_and_its_value_apart(script) -> None:  # type: ignore[no-untyped-def]
    file = script("bash")
    assert set(bash(file, "install", "--host", "=")) == HOSTS
    assert bash(file, "install", "--host", "=", "cl") == ["claude"]
    assert bash(file, "install", "--host", "=", "claude", "--dr") == ["--dry-run"]
    assert set(bash(file, "status", "")) == options("status"), "where nothing else fits"


@pytest.mark.skipif(not shutil.which("fish"), reason="there is no fish here")
def test_fish_offers_files_for_a_pack_only(script, isolated: Path) -> None:  # type: ignore[no-untyped-def]
    put(isolated / "work" / "packs.toml", "")
    (isolated / "work" / "packed").mkdir()
    file = script("fish")
    assert fish(file, "install", "./pac") == ["./packed/", "./packs.toml"]
    assert fish(file, "run", "--project", "./pac") == ["./packed/"]
    assert fish(file, "status", "./pac") == []


def typed(shell: list[str], keys: str, **environ: str) -> str:
    """What an interactive shell prints for these keys at a terminal."""
    outside, inside = pty.openpty()
    environ = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "TERM": "dumb", **environ}
    process = subprocess.Popen(shell, stdin=inside, stdout=inside, stderr=inside, env=environ, start_new_session=True)
    os.close(inside)
    seen, sent = b"", False
    try:
        while chunk := os.read(outside, 4096):
            seen += chunk
            if b"READY" in seen and not sent:
                sent = bool(os.write(outside, f"{keys}\nexit\n".encode()))
    except OSError:  # the shell has ended
        pass
    os.close(outside)
    process.wait(30)
    return seen.decode()


RC = "PS1='READY '; hookctl() { echo \"GOT:$*:\"; }\n"
KEYS = [
    ("uni\t", "uninstall"), ("install --dr\t", "install --dry-run"), ("install --host cl\t", "install --host claude"),
    ("run h\t", "run heartbeat"), ("run --project /us\t", "run --project /usr"),
    ("run --project /usr h\t", "run --project /usr heartbeat"),
    ("plan g\t", "plan guard"), ("plan ./packs\t", "plan ./packs.toml"), ("run status --js\t", "run status --json"),
    ("plan --host=cl\t", "plan --host=claude"), ("status pac\t", "status pac:"),
    ("doctor --host claude --host cl\t", "doctor --host claude --host claude"),
    ("run --project pac\t", "run --project packed"),
]  # fmt: skip


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash here")
@pytest.mark.parametrize(("keys", "got"), KEYS)
def test_bash_completes_at_a_terminal(keys: str, got: str, script, isolated: Path) -> None:  # type: ignore[no-untyped-def]
    put(isolated / "work" / "packs.toml", "")
    (isolated / "work" / "packed").mkdir()
    rc = put(isolated / "rc", f"source {script('bash')}\n{RC}")
    assert f"GOT:{got}" in typed(["bash", "--rcfile", str(rc), "-i"], f"hookctl {keys}")


@pytest.mark.skipif(not shutil.which("zsh"), reason="there is no zsh here")
@pytest.mark.parametrize(("keys", "got"), KEYS)
@pytest.mark.parametrize("way", ["sourced", "autoloaded"])
def test_zsh_completes_at_a_terminal(way: str, keys: str, got: str, script, isolated: Path) -> None:  # type: ignore[no-untyped-def]
    put(isolated / "work" / "packs.toml", "")
    (isolated / "work" / "packed").mkdir()
    file = script("zsh")
    functions = isolated / "functions"
    put(functions / "_hookctl", file.read_text())
    load = f"source {file}" if way == "sourced" else ""
    path = f"fpath+=({functions})" if way == "autoloaded" else ""
    put(isolated / "rc" / ".zshrc", f"{path}\nautoload -Uz compinit; compinit -D -u\n{load}\n{RC}")
    assert f"GOT:{got}" in typed(["zsh", "-i"], f"hookctl {keys}", ZDOTDIR=str(isolated / "rc"))


ODD = "it's [a] \\b] `c` $d: \"e\" (f) *"


def odd(one: str = typer.Option("", help=ODD), two: bool = typer.Option(False, help=ODD)) -> None: ...


@pytest.fixture
def odd_script(isolated: Path):  # type: ignore[no-untyped-def]
    """The script of a command line whose help has everything that a shell takes for its own."""
    app = typer.Typer()
    app.callback()(lambda: None)
    app.command("odd", help=ODD)(odd)
    app.command("even", help=ODD)(odd)

    def make(shell: str) -> Path:
        text = completion.completion(shell, typer.main.get_command(app), {"one": ["x1"]}).data["script"]  # type: ignore[arg-type]
        return put(isolated / f"odd.{shell}", text)

    return make


@pytest.mark.parametrize("shell", SHELLS)
def test_no_help_text_breaks_a_script(shell: str, odd_script, isolated: Path) -> None:  # type: ignore[no-untyped-def]
    file = odd_script(shell)
    if shell == "zsh":
        put(isolated / ".zshrc", f"autoload -Uz compinit; compinit -D -u\nsource {file}\n{RC}")
        shown = typed(["zsh", "-i"], "hookctl od\t--tw\t--on\tx\t", ZDOTDIR=str(isolated))
        assert "GOT:odd --two --one=x1:" in shown
        return
    ask = {"bash": bash, "fish": fish}[shell]
    assert set(ask(file, "")) - {"--version", "--help"} == {"odd", "even"}
    assert set(ask(file, "odd", "--")) == {"--one", "--two", "--no-two", "--help"}
    assert ask(file, "odd", "--two", "--one", "") == ["x1"]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_has_no_slip(shell: str, script) -> None:  # type: ignore[no-untyped-def]
    done = subprocess.run([shell, "-n", str(script(shell))], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_the_script_goes_to_stdout_and_nothing_is_written(shell: str, hookctl: Hookctl, isolated: Path) -> None:
    put(isolated / "home" / ".bashrc", "# mine\n")
    before = tree(isolated)
    text, envelope = hookctl("completion", shell), hookctl("completion", shell, "--json")
    assert (text.code, text.err, envelope.err) == (0, "", "")
    assert check_envelope(envelope, "completion")["data"] == {"shell": shell, "script": text.out}
    assert tree(isolated) == before
    assert not [line for line in text.out.splitlines() if line.startswith(("+", "-", "@"))], "those would be coloured"


def test_another_shell_is_a_usage_error(hookctl: Hookctl) -> None:
    for arguments in (("completion", "tcsh"), ("completion",)):
        outcome = hookctl(*arguments)
        assert (outcome.code, outcome.out) == (2, "")
    assert "bash, zsh, fish" in hookctl("completion", "tcsh").err
