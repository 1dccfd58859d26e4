"""The committed ledger: what stands in it, and merges of it; a team and it: stories/record-that-a-team-shares.txt."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Hookctl, Outcome, put

INSTALL = ("install", "--host", "claude", "--scope", "project")
UNINSTALL = ("uninstall", "--scope", "project")
THEIRS = '{\n    "model": "m",   "hooks": {"Stop": []}\n}'
LIMIT, CAP = "MAX_STOP_BLOCKS", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"


@pytest.fixture(autouse=True)
def own_git(fixed_python: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """No configuration of this machine's git."""
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Somebody")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "somebody@example.org")


class Team:
    """Machines with a clone of one repository each."""

    def __init__(self, root: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.run, self.patch = root, hookctl, monkeypatch

    def clone(self, name: str) -> Path:
        return self.root / name / "app"

    def at(self, name: str) -> Path:
        """Sit down at a machine; its clone."""
        self.patch.setenv("HOOKCTL_STATE_DIR", str(self.root / name / "state"))
        self.patch.setenv("HOOKCTL_DATA_DIR", str(self.root / name / "data"))
        self.patch.chdir(self.clone(name))
        return self.clone(name)

    def hookctl(self, name: str, *arguments: str) -> Outcome:
        self.at(name)
        return self.run(*arguments)

    def git(self, name: str, *arguments: str, code: int = 0) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.clone(name), capture_output=True, text=True, timeout=60)
        assert done.returncode == code, done
        return done.stdout

    def commit(self, name: str) -> None:
        self.git(name, "add", "-A")
        self.git(name, "commit", "-q", "--allow-empty", "-m", "change")

    def pull(self, name: str, other: str, code: int = 0) -> None:
        self.git(name, "pull", "-q", "--no-rebase", "--no-edit", str(self.clone(other)), "main", code=code)


@pytest.fixture
def team(isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> Team:
    """Ann, who has installed the guard in her clone and committed it, and Bob, who has cloned it from her."""
    found = Team(isolated, hookctl, monkeypatch)
    put(found.clone("ann") / ".claude" / "settings.json", THEIRS)
    found.git("ann", "init", "-q", "-b", "main")
    found.commit("ann")
    assert found.hookctl("ann", *INSTALL).code == 0
    found.commit("ann")
    (isolated / "bob").mkdir()
    subprocess.run(["git", "clone", "-q", str(found.clone("ann")), str(found.clone("bob"))], check=True, timeout=60)
    return found


def settings(team: Team, name: str) -> Path:
    return team.clone(name) / ".claude" / "settings.json"


def ledger(team: Team, name: str) -> Path:
    return team.clone(name) / ".hookctl" / "ledger.json"


def hook(team: Team, name: str) -> Path:
    return team.clone(name) / ".hookctl" / "hook.py"


def value(path: Path) -> Any:
    return json.loads(path.read_bytes())


def bell(isolated: Path, env: str = "", name: str = "bell") -> str:
    """A pack with a program of its own."""
    folder = isolated / name
    put(folder / "ring.sh", "#!/bin/sh\necho ring\n").chmod(0o700)
    hooks = '[[hooks]]\nevent = "stop"\ncommand = "{files}/ring.sh"\n'
    head = f'[pack]\nname = "{name}"\nversion = "1"\nprotocol = "host"\n[files]\ninclude = ["ring.sh"]\n'
    put(folder / "pack.toml", f"{head}{env}{hooks}")
    return str(folder)


# What stands in it


def test_it_has_entries_and_relative_paths_and_nothing_of_programs(isolated: Path, team: Team) -> None:
    page = value(ledger(team, "ann"))["files"]
    assert list(page) == [".claude/settings.json", ""]
    about = page[".claude/settings.json"]
    assert list(about) == ["created_dirs", "created_file", "entries", "packs", "format"]
    pack = about["packs"]["guard"]
    assert (pack["digest"], pack["files"]) == ("", ["claude.json"])
    assert (about["created_file"], about["created_dirs"]) == (False, [".hookctl"])
    assert [(entry["kind"], entry["path"]) for entry in about["entries"][:-1]] == [
        ("element", ["hooks", "Stop"]),
        ("leaf", ["env", CAP]),
        ("leaf", ["env", LIMIT]),
        ("container", ["env"]),
    ]
    text = ledger(team, "ann").read_text()
    assert str(isolated) not in text and text.endswith("}\n")
    assert not re.findall("[0-9a-f]{16,}", text)


# Upgrades


# Merges


def test_packs_that_two_branches_add_merge_where_a_line_lies_between_them(isolated: Path, team: Team) -> None:
    """Here the guard's: of its name and its hook, every list has a line between those of bell and of whistle."""
    packs = {"ann": bell(isolated), "bob": bell(isolated, name="whistle")}
    for name, pack in packs.items():
        assert team.hookctl(name, "install", pack, *INSTALL[1:]).code == 0
        team.git(name, "checkout", "-q", "HEAD", "--", ".claude/settings.json")  # which merges as any text
        team.commit(name)
    team.pull("bob", "ann")
    page = value(ledger(team, "bob"))["files"][".claude/settings.json"]
    assert list(page["packs"]) == ["bell", "guard", "whistle", ""]
    assert [entry["id"] for entry in page["entries"] if "id" in entry] == ["bell/stop", "guard/stop", "whistle/stop"]
    for pack in packs.values():
        assert team.hookctl("bob", "install", pack, *INSTALL[1:], "--force").code == 0
        assert team.hookctl("bob", "install", pack, *INSTALL[1:]).out == "nothing to do\n"


def test_where_both_branches_add_at_the_same_line_the_conflict_has_whole_lines_only(isolated: Path, team: Team) -> None:
    chime = bell(isolated, name="chime")
    put(isolated / "chime" / "ring.sh", "#!/bin/sh\necho chime\n")
    for name, pack in {"ann": bell(isolated), "bob": chime}.items():
        assert team.hookctl(name, "install", pack, *INSTALL[1:]).code == 0
        team.git(name, "checkout", "-q", "HEAD", "--", ".claude/settings.json")
        team.commit(name)
    team.pull("bob", "ann", code=1)
    lines = ledger(team, "bob").read_text().splitlines(keepends=True)
    both = "".join(line for line in lines if not line.startswith(("<<<<<<<", "=======", ">>>>>>>")))
    ledger(team, "bob").write_text(both)  # who keeps both sides has a good ledger
    assert sorted(value(ledger(team, "bob"))["files"][".claude/settings.json"]["packs"]) == [
        "", "bell", "chime", "guard"
    ]  # fmt: skip
    assert team.hookctl("bob", "status").code == 0


# Edited by hand


def reindented(page: Any) -> str:
    return json.dumps(page, indent=4)


def without_the_limit(page: Any) -> str:
    entries = page["files"][".claude/settings.json"]["entries"]
    entries[:] = [entry for entry in entries if entry == "end" or entry["path"] != ["env", LIMIT]]
    return json.dumps(page)


def without_the_hook(page: Any) -> str:
    entries = page["files"][".claude/settings.json"]["entries"]
    entries[:] = [entry for entry in entries if entry == "end" or entry["kind"] != "element"]
    return json.dumps(page)


def without_pages(page: Any) -> str:
    return json.dumps({**page, "files": {}})


@pytest.mark.parametrize(
    ("edit", "left"),
    [
        (reindented, {}),
        (without_the_limit, {"env": {LIMIT: "5"}}),
        (without_the_hook, {}),
        (without_pages, {"env": {LIMIT: "5", CAP: "8"}}),
    ],
    ids=["reindented", "without the limit", "without the hook", "without pages"],
)
def test_what_a_hand_takes_out_of_the_ledger_becomes_the_operators_or_is_found_again(
    team: Team, edit: Callable[[Any], str], left: dict[str, Any]
) -> None:
    put(ledger(team, "bob"), edit(value(ledger(team, "bob"))))
    assert team.hookctl("bob", *INSTALL).code == 0
    assert team.hookctl("bob", *INSTALL).out == "nothing to do\n"
    assert team.hookctl("bob", *UNINSTALL).code == 0
    assert value(settings(team, "bob")) == {**json.loads(THEIRS), **left}
    assert not (team.clone("bob") / ".hookctl").exists()
