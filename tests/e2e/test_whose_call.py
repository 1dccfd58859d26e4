"""What is ours in Claude Code's file, run by another client: in its words, and once where its own file has it too."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.manifest import hook, manifest

from . import grok as drive
from .agent import Place, Run
from .clients import Client
from .everywhere import receipt_lines, told
from .hooks import group
from .model_server import Script
from .probe import make_probe
from .product import KEPT, codes, decisions, hookctl, leave_work

pytestmark = [pytest.mark.e2e, pytest.mark.full]

PACK = manifest("judge", hook("PreToolUse", "echo not by force >&2; exit 2", matcher="Bash"))
TRUSTED = {"GROK_FOLDER_TRUST": "0"}  # a project's hooks run without a question
WHERE = [["claude"], ["grok"], ["claude", "grok"]]
everywhere = pytest.mark.parametrize("hosts", WHERE, ids=" and ".join)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return drive.Place.make(tmp_path / "place", own_folders=True)


def play(client: Client, place: Place, *replies: Any) -> Run:
    return drive.play(client, place, Script([*replies, "done"], limit=20), drive.YOLO, environment=TRUSTED)


def settings_of_claude(place: Place) -> Path:
    return place.home / ".claude" / "settings.json"


@pytest.mark.parametrize("scope", ["user", "project"])
@everywhere
def test_the_guard_counts_a_stop_once_and_keeps_the_agent_at_work(
    grok: Client, place: Place, hosts: list[str], scope: str
) -> None:
    leave_work(place)
    for name in hosts:
        hookctl(place, "install", "--host", name, "--scope", scope)
    run = play(grok, place)
    assert codes(place) == KEPT
    assert run.requests == len(KEPT)
    assert {line["host"] for line in decisions(place)} == {"grok"}
    assert json.dumps(run.last_messages).count("Work remains (2)") == len(KEPT) - 1


@everywhere
def test_a_packs_command_runs_once_and_refuses(grok: Client, place: Place, hosts: list[str]) -> None:
    folder = place.root / "judge"
    folder.mkdir()
    (folder / "pack.toml").write_text(PACK)
    for name in hosts:
        hookctl(place, "install", str(folder), "--host", name)
    run = play(grok, place, drive.shell("touch gone"))
    assert not (place.project / "gone").exists()
    assert "not by force" in told(run)
    lines = [(line["host"], line["event"], line["outcome"]) for line in receipt_lines(place)]
    assert lines == [("grok", "PreToolUse", "deny")]


def test_all_hooks_of_an_event_get_the_same_bytes(grok: Client, place: Place) -> None:
    """By which a stop that comes twice is known for one."""
    own, borrowed = make_probe(place.root, "own"), make_probe(place.root, "borrowed")
    for path, probe in ((place.settings, own), (settings_of_claude(place), borrowed)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"hooks": {"Stop": [group(probe)]}}))
    play(grok, place)
    assert [heard.payload for heard in own.heard()] == [heard.payload for heard in borrowed.heard()] != []
    assert borrowed.heard()[0].environment["GROK_HOOK_EVENT"] == "stop"


def test_what_stands_in_cursors_own_form_does_not_run_there(grok: Client, place: Place) -> None:
    leave_work(place)
    hookctl(place, "install", "--host", "cursor")
    assert play(grok, place).requests == 1
    assert decisions(place) == []
