"""Two packs in one file: what they share, where they conflict, and how they leave."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Hookctl, Outcome, put
from tests.trees import tree

pytestmark = pytest.mark.usefixtures("fixed_python")

CLAUDE = ("--host", "claude")
LIMIT, CAP = "MAX_STOP_BLOCKS", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
OWN = '\n{ "env" : { "A" : "0" },\r\n\t"hooks": {"Stop": [ {"hooks": [{"type": "command", "command": "bell"}]} ]} }'


class Packs:
    """A settings file, and packs to install in it."""

    def __init__(self, root: Path, settings: Path, hookctl: Hookctl) -> None:
        self.root, self.settings, self.run = root, settings, hookctl

    def make(self, name: str, *, version: str = "1", hook: str = "", files: tuple[str, ...] = (), **env: Any) -> str:
        """A pack with these env values (a pair is a value and its merge rule) and, if given, a hook at every stop."""
        lines = ["[pack]", f'name = "{name}"', f'version = "{version}"']
        if files:
            lines += ["[files]", f"include = {json.dumps(files)}"]
        lines += ["[env]"]
        for key, wish in env.items():
            text = f'"{wish}"' if isinstance(wish, str) else f'{{ value = "{wish[0]}", merge = "{wish[1]}" }}'
            lines += [f"{key} = {text}"]
        if hook:
            lines += ["[[hooks]]", 'event = "stop"', f"command = {json.dumps(hook)}"]
        for file in files:
            put(self.root / "packs" / name / file, f"{name} {version}\n")
        put(self.root / "packs" / name / "pack.toml", "\n".join(lines) + "\n")
        return str(self.root / "packs" / name)

    def install(self, *arguments: str) -> Outcome:
        outcome = self.run("install", *arguments, *CLAUDE)
        assert outcome.code == 0, outcome
        return outcome

    def uninstall(self, *arguments: str) -> Outcome:
        outcome = self.run("uninstall", *arguments)
        assert outcome.code == 0, outcome
        return outcome

    def refuse(self, *arguments: str) -> str:
        """An install that conflicts, and writes nothing anywhere; what it says."""
        before = tree(self.root)
        outcome = self.run("install", *arguments, *CLAUDE, "--json")
        assert (outcome.code, outcome.result["errors"][0]["code"]) == (1, "conflict")
        assert (outcome.data["actions"], outcome.data["files"]) == ([], [])
        assert outcome.result["errors"][0]["path"] == str(self.settings)
        plan = self.run("plan", *arguments, *CLAUDE, "--exit-code")
        assert plan.code == 1 and "error:" in plan.err
        assert tree(self.root) == before
        return outcome.result["errors"][0]["message"]

    @property
    def value(self) -> Any:
        return json.loads(self.settings.read_bytes())

    @property
    def env(self) -> dict[str, str]:
        return self.value.get("env", {})

    def owners(self, key: str) -> list[str]:
        (page,) = json.loads((self.root / "state" / "ledger.json").read_text())["files"].values()
        return next(list(entry["owners"]) for entry in page["entries"] if entry["path"][-1] == key)


@pytest.fixture
def packs(isolated: Path, settings: Path, hookctl: Hookctl) -> Packs:
    return Packs(isolated, settings, hookctl)


# A conflict and the ways out of it


def test_what_is_forced_over_another_pack_names_that_pack(packs: Packs) -> None:
    one, two = packs.make("one", LEVEL="1", API_TOKEN="1"), packs.make("two", LEVEL="2", API_TOKEN="2", OWN="2")
    packs.install(one)
    outcome = packs.run("install", two, *CLAUDE, "--force", "--json")
    reasons = {action["path"][-1]: action["reason"] for action in outcome.data["actions"]}
    assert reasons == {"LEVEL": 'over one, which wants "1"', "API_TOKEN": 'over one, which wants "***"', "OWN": ""}
    three = packs.install(packs.make("three", LEVEL="3"), "--force").out
    assert 'changed env.LEVEL (over one, which wants "1", and two, which wants "2")\n' in three
    put(packs.settings, json.dumps({"env": {**packs.env, "LEVEL": "9"}}))
    assert 'took over your LEVEL="9"; over two, which wants "2", and three, which' in packs.install(one, "--force").out


def test_what_a_common_rule_decides_goes_over_nobody(packs: Packs) -> None:
    packs.install(packs.make("one", LEVEL=("1", "max")))
    assert "  changed env.LEVEL\n" in packs.install(packs.make("two", LEVEL=("2", "max")), "--force").out


def test_different_values_in_different_scopes_are_no_conflict(packs: Packs, isolated: Path) -> None:
    (isolated / "work" / ".git").mkdir()
    one, two = packs.make("one", KEY="1"), packs.make("two", KEY="2")
    packs.install(one)
    packs.install(two, "--scope", "project")
    packs.install(one, "--scope", "local")
    assert packs.run("install", two, *CLAUDE, "--scope", "local").code == 1
    for scope in ("project", "local"):
        packs.uninstall("--scope", scope, "two" if scope == "project" else "one")
    assert packs.env == {"KEY": "1"} and not (isolated / "work" / ".claude").exists()


# Leaving


HOOK = "sh {files}/run.sh {host}"


def both(packs: Packs, *options: str) -> None:
    packs.install(packs.make("one", hook=HOOK, files=("run.sh",), ONE="1", SHARED="1"), *options)
    packs.install(packs.make("two", hook=HOOK, files=("run.sh", "lib/x"), TWO="2", SHARED="1"), *options)


def test_a_pack_takes_nothing_of_one_whose_name_begins_like_its_own(packs: Packs, isolated: Path) -> None:
    for name in ("note", "note-two", "notes"):
        packs.install(packs.make(name, hook=HOOK, files=("run.sh",)))
    packs.uninstall("note")
    text = packs.settings.read_text()
    assert ": hookctl=note/" not in text and ": hookctl=note-two/" in text and ": hookctl=notes/" in text
    assert sorted(path.name for path in (isolated / "data" / "packs").iterdir()) == ["note-two", "notes"]


# Upgrades


def test_an_upgrade_of_one_leaves_the_other_alone(packs: Packs, isolated: Path) -> None:
    put(packs.settings, OWN)
    both(packs)
    command, files = packs.value["hooks"]["Stop"][2], isolated / "data" / "packs" / "two" / "claude-user"
    there = tree(files)
    shutil.rmtree(isolated / "packs" / "one")
    one = packs.make(
        "one", version="2", hook="sh {files}/go.sh {event}", files=("go.sh",), ONE="11", SHARED="1", NEW="1"
    )
    packs.install(one)
    assert packs.env == {"A": "0", "ONE": "11", "SHARED": "1", "TWO": "2", "NEW": "1"}
    assert packs.value["hooks"]["Stop"][2] == command and tree(files) == there
    assert [path.name for path in (isolated / "data/packs/one/claude-user").iterdir()] == ["go.sh"]
    assert packs.install(one).out == "nothing to do\n"
    packs.uninstall("--all", "--json")
    assert packs.settings.read_bytes() == OWN.encode()


def test_the_same_pack_from_another_place_is_an_upgrade(packs: Packs, isolated: Path) -> None:
    packs.install(packs.make("one", hook=HOOK, files=("run.sh",)))
    moved = isolated / "elsewhere"
    (isolated / "packs" / "one").rename(moved)
    assert packs.install(str(moved)).code == 0
    assert len(packs.value["hooks"]["Stop"]) == 1
    packs.uninstall(str(moved))
    assert not packs.settings.exists() and not (isolated / "data").exists()


# Naming a pack at uninstall


@pytest.mark.parametrize("scope", ["user", "project", "local"])
def test_a_pack_whose_file_is_gone_is_uninstalled_by_name(packs: Packs, isolated: Path, scope: str) -> None:
    (isolated / "work" / ".git").mkdir()
    both(packs, "--scope", scope)
    shutil.rmtree(isolated / "packs")
    for name in ("one", "two"):
        packs.uninstall(name, "--scope", scope)
    assert not [path for path in isolated.rglob("settings*.json") if "state" not in path.parts]
    assert not (isolated / "data").exists() and not (isolated / "work" / ".hookctl").exists()


@pytest.mark.parametrize("how", ["./one", "./one/pack.toml", "../work/one", "one/"])
def test_a_pack_is_uninstalled_by_its_path(
    packs: Packs, isolated: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    both(packs)
    shutil.copytree(isolated / "packs" / "one", isolated / "work" / "one")
    packs.uninstall(how)
    assert packs.owners("SHARED") == ["two"] and ": hookctl=one/" not in packs.settings.read_text()


@pytest.mark.parametrize("name", ["three", "./three", "three.toml", "On e", ""])
def test_a_name_or_path_of_nothing_is_a_usage_error(packs: Packs, name: str) -> None:
    both(packs)
    before = tree(packs.root)
    if name:
        outcome = packs.run("uninstall", name, "--json")
        assert (outcome.code, outcome.result["errors"][0]["code"]) == (2, "usage")
        if name == "three":
            assert outcome.result["errors"][0]["hint"].startswith("Installed are: one, two.")
    else:
        assert packs.run("uninstall").out == "nothing to do\n"  # the guard, which is not installed
    assert tree(packs.root) == before


def test_a_pack_that_is_installed_elsewhere_is_nothing_to_do_here_and_said(packs: Packs, isolated: Path) -> None:
    (isolated / "work" / ".git").mkdir()
    both(packs, "--scope", "local")
    outcome = packs.uninstall("one")
    assert outcome.out == "nothing to do\n" and "settings.local.json (local scope)" in outcome.err
    packs.uninstall("one", "--all", "--json")
    assert packs.uninstall("two", "--scope", "local").out.count("removed") > 2


def test_what_is_edited_in_a_packs_file_stays_when_it_leaves(packs: Packs, isolated: Path) -> None:
    both(packs)
    mine = put(isolated / "data" / "packs" / "one" / "claude-user" / "run.sh", "mine\n")
    assert "edited by hand" in packs.install(str(isolated / "packs" / "one")).out
    assert "edited by hand" in packs.uninstall("one").out
    packs.uninstall("two")
    assert mine.read_text() == "mine\n" and not packs.settings.exists()


# The guard's own limit, and a pack that wants it too


@pytest.mark.parametrize("wish", ["12", ("12", "max"), ("12", "first")])
def test_one_that_wants_another_limit_conflicts_until_the_guard_is_told_so(packs: Packs, wish: Any) -> None:
    """The guard's wish has no merge rule: its cap and its message follow from the limit."""
    packs.install("guard")
    loop = packs.make("loop", MAX_STOP_BLOCKS=wish)
    assert packs.refuse(loop) == 'env.MAX_STOP_BLOCKS: guard wants "5", loop wants "12"'
    packs.install("guard", "--set", "max_stop_blocks=12")
    packs.install(loop)
    assert packs.env == {LIMIT: "12", CAP: "15"} and packs.owners(LIMIT) == ["guard", "loop"]
    assert packs.refuse("guard", "--set", "max_stop_blocks=3")
    packs.uninstall("loop")
    packs.install("guard", "--set", "max_stop_blocks=3")
    assert packs.env == {LIMIT: "3", CAP: "8"}
