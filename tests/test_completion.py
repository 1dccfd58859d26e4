"""hookctl completion: the scripts are loaded by real shells, which then complete."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hookctl import cli
from hookctl.verbs import completion
from hookctl.verbs.options import COMPLETE

from .conftest import Hookctl, put

COMMANDS = {name: cli.command(name) for name in cli.NAMES}
SHELLS = [
    pytest.param(name, marks=pytest.mark.skipif(not shutil.which(name), reason=f"there is no {name} here"))
    for name in completion.SHELLS
]


def options(command: str) -> set[str]:
    return {name for p in COMMANDS[command].params for name in p.opts if name.startswith("--")} | {"--help"}


@pytest.fixture
def script(hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """The script of a shell as a file; `hookctl`, which it asks, is on PATH."""
    program = put(isolated / "bin" / "hookctl", f'#!/bin/sh\nexec {sys.executable} -m hookctl "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")

    def make(shell: str) -> Path:
        return put(isolated / f"hookctl.{shell}", hookctl("completion", shell).out)

    return make


def bash(script: Path, *words: str) -> list[str]:
    """What bash offers for the last of these words; readline has been taken out of the play."""
    line = " ".join(f"'{word}'" for word in ("hookctl", *words))
    call = f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; "
    call += '_hookctl_completion hookctl; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "--norc", "-c", call], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


def fish(script: Path, *words: str) -> list[str]:
    call = f"source {script}; complete -C 'hookctl {' '.join(words)}'"
    done = subprocess.run(["fish", "--no-config", "-c", call], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("ask", [pytest.param(bash, marks=SHELLS[0].marks), pytest.param(fish, marks=SHELLS[2].marks)])
def test_what_fits_is_offered(ask, script) -> None:  # type: ignore[no-untyped-def]
    file = script(ask.__name__)

    def offered(*words: str) -> set[str]:
        return set(ask(file, *words))

    assert offered("") == set(COMMANDS)
    assert offered("un") == {"uninstall"}
    assert offered("--v") == {"--version"}
    assert offered("install", "--") == options("install")
    assert offered("install", "--host", "claude", "--js") == {"--json"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_offered(name: str, process: Hookctl) -> None:
    """What the scripts of bash call."""
    asked = {"COMP_WORDS": f"hookctl {name} --", "COMP_CWORD": "2"}
    done = process(**asked, **{COMPLETE: "complete_bash"})
    assert (done.code, done.err) == (0, "")
    assert set(done.out.split()) == options(name)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_has_no_slip(shell: str, script) -> None:  # type: ignore[no-untyped-def]
    done = subprocess.run([shell, "-n", str(script(shell))], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
