"""A ledger in a merge conflict: `doctor --fix` makes it anew from both sides and the settings files."""

from __future__ import annotations

import itertools
import json
import re
import shlex
import subprocess
from typing import Any

import pytest

from hookctl.ledger.conflict import split_sides
from tests.test_project_ledger import INSTALL, THEIRS, Team, bell, ledger, own_git, settings, team, value

__all__ = ["own_git", "team"]  # fixtures

# What a branch does in its clone, by what a team lead would say of it.
CHANGES = {
    "a limit of 9": ("guard", "--set", "max_stop_blocks=9"),
    "a limit of 7": ("guard", "--set", "max_stop_blocks=7"),
    "keepalive": ("guard", "--mode", "keepalive"),
    "off": ("guard", "--mode", "off"),
    "bell": ("bell",),
    "horn": ("horn",),
}
PAIRS = [pair for pair in itertools.combinations(CHANGES, 2)]


def change(team: Team, name: str, wanted: str) -> None:
    pack, *options = CHANGES[wanted]
    source = pack if pack == "guard" else bell(team.clone(name), name=pack)
    assert team.hookctl(name, "install", source, *options, *INSTALL[1:]).code == 0
    team.commit(name)


def merge(team: Team, side: str) -> bool:
    """Pull Ann's branch into Bob's, take a side of all but the ledger; whether the ledger is in conflict."""
    team.at("bob")
    team.git("bob", "config", "merge.conflictStyle", "diff3")
    subprocess.run(
        ["git", "pull", "-q", "--no-rebase", "--no-edit", str(team.clone("ann")), "main"],
        cwd=team.clone("bob"), capture_output=True, timeout=60,
    )  # fmt: skip
    unmerged = team.git("bob", "diff", "--name-only", "--diff-filter=U").split()
    for path in unmerged:
        if not path.endswith("ledger.json"):
            done = subprocess.run(["git", "checkout", "-q", f"--{side}", "--", path], cwd=team.clone("bob"))
            if done.returncode:  # that side has removed it
                team.git("bob", "rm", "-q", "--", path)
    return ".hookctl/ledger.json" in unmerged


def packs_in_settings(text: str) -> set[str]:
    return set(re.findall(r": hookctl=([a-z-]+)/", text))


@pytest.mark.parametrize("side", ["ours", "theirs"])
@pytest.mark.parametrize(("mine", "yours"), PAIRS, ids=lambda name: name.replace(" ", "-"))
def test_the_merge_is_resolved_by_what_the_tools_print(team: Team, mine: str, yours: str, side: str) -> None:
    change(team, "ann", yours)
    change(team, "bob", mine)
    in_conflict = merge(team, side)
    before = settings(team, "bob").read_bytes()
    refused = team.hookctl("bob", "check")
    if in_conflict:
        assert refused.code == 1 and "`hookctl doctor --fix` makes it anew" in refused.out
        found = team.hookctl("bob", "doctor", "--json", "--host", "claude").data["findings"]
        codes = [finding["code"] for finding in found if finding["level"] == "error"]
        assert codes == ["ledger_unreadable"], "no other advice stands beside it"
        assert "nothing is installed" not in team.hookctl("bob", "status").out
    done = team.hookctl("bob", "doctor", "--fix", "--host", "claude")
    assert settings(team, "bob").read_bytes() == before, "settings are never touched by it"
    recorded: dict[str, Any] = value(ledger(team, "bob"))["files"][".claude/settings.json"]["packs"]
    there = packs_in_settings(before.decode())
    if in_conflict:
        assert there <= recorded.keys() - {""} <= there | {"guard"}, done
        if {CHANGES[mine][0], CHANGES[yours][0]} == {"guard"}:  # else git has merged its record by itself
            assert (recorded["guard"]["settings"]["mode"] == "off") == ("guard" not in there)
        assert "rebuilt from both sides" in done.err
        for lost in {CHANGES[mine][0], CHANGES[yours][0]} - recorded.keys():
            assert f"{lost} is not in the settings any more" in done.err
    for line in re.findall(r"to have it again: hookctl (.*)", done.err):
        assert team.hookctl("bob", *shlex.split(line)).code == 0
        recorded = value(ledger(team, "bob"))["files"][".claude/settings.json"]["packs"]
    upgraded = team.hookctl("bob", "upgrade", "--project", ".", "--yes")
    assert upgraded.code == 0, upgraded
    checked = team.hookctl("bob", "check")
    assert checked.code == 0, checked
    for pack in sorted(recorded.keys() - {""}, reverse=True):
        assert team.hookctl("bob", "uninstall", pack, "--scope", "project").code == 0
    assert json.loads(settings(team, "bob").read_bytes()) == json.loads(THEIRS)
    assert not ledger(team, "bob").exists()


def test_no_earlier_text_is_offered_for_settings_in_a_conflict(team: Team) -> None:
    for name, wanted in (("ann", "a limit of 9"), ("bob", "a limit of 7")):
        change(team, name, wanted)
    subprocess.run(
        ["git", "pull", "-q", "--no-rebase", "--no-edit", str(team.clone("ann")), "main"],
        cwd=team.clone("bob"), capture_output=True, timeout=60,
    )  # fmt: skip
    found = team.hookctl("bob", "doctor", "--host", "claude")
    assert "the file has merge-conflict marks" in found.out and "hookctl restore" not in found.out


def test_the_sides_are_split_with_and_without_an_ancestor_and_however_many_marks_there_are() -> None:
    marked = b"a\n<<<<<<< HEAD\nb\n||||||| base\nc\n=======\nd\n>>>>>>> main\ne\n"
    assert split_sides(marked) == (b"a\nb\ne\n", b"a\nd\ne\n")
    assert split_sides(marked.replace(b"||||||| base\nc\n", b"")) == (b"a\nb\ne\n", b"a\nd\ne\n")
    assert split_sides(b"<<<<<<< x\n" * 500_000) == (b"", b"")  # a repository could bring it: no pass for each
