"""The pack that `pack new` makes: an example, but one that refuses what it says."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import Hookctl

RUNS = {"sh": ["sh", "own/hook.sh"], "python": ["python3", "own/hook.py"], "node": ["node", "own/hook.mjs"]}
REFUSED = (
    "rm -rf x", "rm -fr x", "rm -Rf x", "rm -r -f x", "rm -f -v -r x", "rm -r --force x", "rm --force --recursive x",
    "rm x -rf", 'rm "a b" -rf', "sudo rm -rf x", "ls; rm -rf x", "cd y && rm -r -f x",
)  # fmt: skip
ALLOWED = (
    "ls", "rm x", "rm -r x", "rm -f x", "rm -r x; ls -f", "rm -v x && cp -rf a b", "perform -rf", "farm -rf",
    "rm --preserve-root x", "rm -r x\nls -f",
)  # fmt: skip


@pytest.mark.parametrize("language", RUNS)
def test_removing_by_force_is_refused_however_it_is_written(hookctl: Hookctl, language: str) -> None:
    if shutil.which(RUNS[language][0]) is None:
        pytest.skip("not on this machine")
    hookctl("pack", "new", "own", "--lang", language)
    for command in (*REFUSED, *ALLOWED):
        question = {"tool_input": {"command": command, "description": "not by rm -rf"}}
        done = subprocess.run(RUNS[language], input=json.dumps(question), text=True, capture_output=True, check=False)
        assert done.returncode == (2 if command in REFUSED else 0), command
        assert bool(done.stderr) == (command in REFUSED), command


def test_each_language_says_that_it_is_an_example(hookctl: Hookctl) -> None:
    for language in RUNS:
        hookctl("pack", "new", language, "--lang", language)
        (hook,) = Path(language).glob("hook.*")
        assert "An example" in hook.read_text()
