"""hookctl on a bare target: a Python that is too old is told, and one file made by shiv has all that it needs."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import vermin

from hookctl import hosts
from tests.test_wheel import _ENVIRONMENT, pip, source, wheel

__all__ = ["source", "wheel"]  # the fixtures
ROOT = Path(__file__).parents[1]
FIRST = ROOT / "hookctl" / "__init__.py"


def test_an_old_python_is_told_in_one_line() -> None:
    stub = "import sys; sys.version_info = (3, 9, 2, 'final', 0); sys.argv[0] = 'hookctl'; import hookctl.__main__"
    environ = {**_ENVIRONMENT, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", stub], capture_output=True, text=True, env=environ)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"hookctl: error: Python 3.9 is too old, hookctl needs 3.11 or newer: {sys.executable}\n"


def test_the_file_that_says_so_runs_on_old_pythons() -> None:
    """Nothing else of hookctl is read before it: Python imports a package before what is in it."""
    text = FIRST.read_text()
    assert not [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    python2, python3 = vermin.detect(text)
    assert (python2, python3) <= ((2, 7), (3, 0))


@pytest.mark.skipif(os.environ.get("HOOKCTL_TESTS") != "all", reason="fetches shiv: HOOKCTL_TESTS=all")
def test_one_file_installs_checks_and_uninstalls(wheel: Path, tmp_path: Path) -> None:
    """Built with shiv, in an environment of its own, and run where there is nothing but Python."""
    tools, program, home = tmp_path / "tools", tmp_path / "bin" / "hookctl", tmp_path / "empty"
    home.mkdir()
    program.parent.mkdir()
    agent = program.with_name("claude")
    agent.write_text(f"#!/bin/sh\necho {hosts.load('claude').client.seen}\n")
    agent.chmod(0o755)
    pip("install", "--target", str(tools), "shiv>=1,<2")
    build = [sys.executable, "-m", "shiv", "-o", str(program), "-p", "/usr/bin/env python3", "-c", "hookctl"]
    environ = {**_ENVIRONMENT, "PYTHONPATH": str(tools), "SHIV_ROOT": str(tmp_path / "unpacked")}
    done = subprocess.run([*build, str(wheel)], capture_output=True, text=True, env=environ)
    assert done.returncode == 0, done.stdout + done.stderr

    def run(*arguments: str) -> str:
        bare = {"HOME": str(home), "PATH": f"{program.parent}:{Path(sys.executable).parent}:/usr/bin:/bin"}
        done = subprocess.run([program, *arguments], capture_output=True, text=True, cwd=home, env=bare)
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout

    settings = home / ".claude" / "settings.json"
    assert json.loads(run("install", "--host", "claude", "--json"))["data"]["changed"]
    command = json.loads(settings.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert ".shiv" not in command, "the hook outlives the unpacked file"
    run("doctor", "--strict")
    run("uninstall")
    assert not settings.parent.exists()
