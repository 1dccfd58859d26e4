"""hookctl upgrade: every pack again from where it came, and what is the operator's stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Hookctl, Outcome, put

PACK = """[pack]
name = "{name}"
version = "1"

[files]
include = ["run.sh"]

[env]
{key} = "1"

[[hooks]]
event = "stop"
command = "sh {{files}}/run.sh one"

[[hooks]]
event = "session-start"
command = "sh {{files}}/run.sh two"
"""
CLAUDE = ("--host", "claude")


class Team:
    """Two packs from two folders, installed for Claude Code, and its settings."""

    def __init__(self, top: Path, settings: Path, hookctl: Hookctl) -> None:
        self.top = top
        self.settings = settings
        self.hookctl = hookctl
        for name in ("bell", "horn"):
            put(top / name / "pack.toml", PACK.format(name=name, key=name.upper()))
            put(top / name / "run.sh", "echo\n")
            hookctl("install", str(top / name), *CLAUDE)

    def change(self, name: str, old: str, new: str) -> None:
        path = self.top / name / "pack.toml"
        path.write_text(path.read_text().replace(old, new))

    def upgrade(self, *options: str) -> Outcome:
        return self.hookctl("upgrade", *options, agrees=False)

    def commands(self) -> list[str]:
        groups = json.loads(self.settings.read_text()).get("hooks", {}).values()
        return [hook["command"] for hooks in groups for group in hooks for hook in group["hooks"]]

    def has(self, text: str) -> bool:
        return any(text in command for command in self.commands())


@pytest.fixture
def team(isolated: Path, settings: Path, hookctl: Hookctl, fixed_python: None) -> Team:
    return Team(isolated / "work", settings, hookctl)


def codes(outcome: Outcome) -> list[str]:
    return [error["code"] for error in outcome.result["errors"]]


def test_a_new_version_comes_from_the_recorded_source(team: Team) -> None:
    team.change("bell", 'version = "1"', 'version = "2"')
    team.change("bell", "run.sh one", "run.sh more")
    done = team.upgrade("--yes")
    assert (done.code, team.has("run.sh more"), team.has("bell/run.sh one")) == (0, True, False), done
    assert "bell 2 is up to date." in done.out and "horn 1: nothing to do" in done.out
    assert "nothing to do" in team.upgrade().out, "somebody agreed to this content"


def test_other_content_under_the_same_version_needs_a_word_of_its_own(team: Team) -> None:
    team.change("bell", "run.sh one", "run.sh more")
    before = team.settings.read_bytes()
    done = team.upgrade("--yes", "--json")
    assert (done.code, codes(done), team.settings.read_bytes()) == (2, ["pack_changed"], before)
    assert team.upgrade("--yes", "--accept-changed").code == 0
    assert team.has("run.sh more")


def test_without_consent_to_one_pack_no_pack_is_written(team: Team, hookctl: Hookctl) -> None:
    hookctl("install", *CLAUDE)
    team.settings.write_text("{}")  # the guard and horn would be put back
    team.change("bell", 'version = "1"', 'version = "2"')
    done = team.upgrade("--json")
    assert (done.code, codes(done), team.settings.read_text()) == (2, ["consent_needed"], "{}")
    assert team.upgrade("--dry-run").code == 0
    assert team.settings.read_text() == "{}"


def test_what_all_vanished_is_put_back_and_a_single_one_stays_away(team: Team) -> None:
    settings: dict[str, Any] = json.loads(team.settings.read_text())
    del settings["hooks"]["SessionStart"]
    team.settings.write_text(json.dumps(settings))
    assert team.upgrade().code == 0
    assert team.has("run.sh one") and not team.has("run.sh two")
    team.settings.write_text('{"model": "opus"}')
    assert team.upgrade().code == 0
    assert team.has("run.sh one") and json.loads(team.settings.read_text())["model"] == "opus"


def test_a_source_that_is_gone_is_named_and_stops_no_other(team: Team) -> None:
    (team.top / "bell").rename(team.top / "away")
    team.change("horn", 'version = "1"', 'version = "2"')
    team.change("horn", "run.sh one", "run.sh more")
    done = team.upgrade("--yes", "--json")
    assert (done.code, codes(done)) == (1, ["source_gone"])
    assert done.result["errors"][0]["path"] == str(team.top / "bell" / "pack.toml")
    assert team.has("horn/claude-user/run.sh more") and team.has("bell/claude-user/run.sh one")
    told = team.upgrade()
    assert "error bell: left as it is" in told.out and "its source is gone" in told.err


def test_only_the_named_pack_is_upgraded(team: Team) -> None:
    for name in ("bell", "horn"):
        team.change(name, 'version = "1"', 'version = "2"')
        team.change(name, "run.sh one", "run.sh more")
    assert team.upgrade("horn", "--yes").code == 0
    assert team.has("horn/claude-user/run.sh more") and team.has("bell/claude-user/run.sh one")
    assert team.upgrade("gong").code == 2


def test_an_override_of_the_operator_is_kept(team: Team) -> None:
    team.settings.write_text(team.settings.read_text().replace('"BELL": "1"', '"BELL": "7"'))
    team.change("bell", 'version = "1"', 'version = "2"')
    team.change("bell", 'BELL = "1"', 'BELL = "2"')
    assert team.upgrade("--yes").code == 0
    assert json.loads(team.settings.read_text())["env"]["BELL"] == "7"


def test_a_conflict_leaves_its_pack_alone(team: Team) -> None:
    team.change("horn", 'version = "1"', 'version = "2"')
    team.change("horn", 'HORN = "1"', 'HORN = "1"\nBELL = "3"')
    before = team.settings.read_bytes()
    done = team.upgrade("--yes", "--json")
    assert (done.code, codes(done), team.settings.read_bytes()) == (1, ["conflict"], before)


def test_nothing_installed_is_nothing_to_do(hookctl: Hookctl, isolated: Path) -> None:
    done = hookctl("upgrade")
    assert (done.code, done.out) == (0, "nothing is installed, so there is nothing to upgrade\n")
    assert not (isolated / "state").exists()
