"""Codex knows hooks by their place: an empty group keeps it, and goes when nothing stands behind it any more."""

from __future__ import annotations

import itertools
import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookctl.ownership import store
from hookctl.system import folders
from tests.conftest import Hookctl, put

JSON = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}\n'
TOML = 'model = "m"  # mine\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "true"\n'
PACK = '[pack]\nname = "{0}"\nversion = "1.0.0"\nprotocol = "host"\n\n[[hooks]]\nevent = "stop"\ncommand = "true {0}"\n'
OTHERS = ("one", "two")
ORDERS = list(itertools.permutations(("guard", *OTHERS)))


@pytest.fixture
def folder(isolated: Path) -> Path:
    for name in OTHERS:
        put(isolated / f"{name}.toml", PACK.format(name))
    (isolated / "home" / ".codex").mkdir()
    return isolated / "home" / ".codex"


PLACES = ["hooks.json", "config.toml", "project"]


class Codex:
    """Codex's hooks in one of the files in which they may stand, with groups of the operator's behind ours."""

    def __init__(self, hookctl: Hookctl, top: Path, place: str, text: str) -> None:
        self.hookctl, self.top = hookctl, top
        folder = top / "site" / ".codex" if place == "project" else top / "home" / ".codex"
        self.file = folder / ("config.toml" if place == "config.toml" else "hooks.json")
        self.options = ["--host", "codex"]
        if place == "project":
            (top / "site" / ".git").mkdir(parents=True, exist_ok=True)
            self.options += ["--scope", "project", "--project", str(top / "site")]
        if text:
            put(self.file, text)

    def run(self, *words: str) -> str:
        done = self.hookctl(*words, *self.options)
        assert done.code == 0, done.out + done.err
        return done.out

    def install(self, *names: str, options: tuple[str, ...] = ()) -> None:
        for name in names:
            self.run("install", name if name == "guard" else str(self.top / f"{name}.toml"), *options)

    @property
    def text(self) -> str:
        return self.file.read_text() if self.file.exists() else ""

    def groups(self) -> list[list[str]]:
        """The commands of each group, those of ours by the name of their pack."""
        if not self.text:
            return []
        loads = tomllib.loads if self.file.suffix == ".toml" else json.loads
        listed = loads(self.text).get("hooks", {}).get("Stop", [])
        commands = [[handler["command"] for handler in group["hooks"]] for group in listed]
        return [[name_of(command) for command in group] for group in commands]

    def add(self, command: str) -> None:
        """The operator appends a group."""
        if self.file.suffix == ".toml":
            put(self.file, self.text + toml_group(command))
            return
        value = json.loads(self.text or "{}")
        group = {"hooks": [{"type": "command", "command": command}]}
        value.setdefault("hooks", {}).setdefault("Stop", []).append(group)
        put(self.file, json.dumps(value))

    def drop_last(self, command: str) -> None:
        """The operator takes their last group out again."""
        if self.file.suffix == ".toml":
            put(self.file, self.text.replace(toml_group(command), ""))
            return
        value = json.loads(self.text)
        value["hooks"]["Stop"].pop()
        put(self.file, json.dumps(value))


def toml_group(command: str) -> str:
    return f'\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "{command}"\n'


def name_of(command: str) -> str:
    return command.removeprefix(": hookctl=").partition("/")[0] if command.startswith(": hookctl=") else command


LEFT = {
    "a hook of theirs": ("hooks.json", JSON),
    "without": ("hooks.json", ""),
    "a hook of theirs in TOML": ("config.toml", TOML),
    "without, in TOML": ("config.toml", 'model = "m"\n'),
    "a project, whose ledger is committed": ("project", JSON),
}


@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
@pytest.mark.parametrize("case", LEFT)
def test_packs_leave_in_any_order_and_no_byte_stays(
    hookctl: Hookctl, isolated: Path, folder: Path, case: str, order: tuple[str, ...]
) -> None:
    place, text = LEFT[case]
    codex = Codex(hookctl, isolated, place, text)
    codex.install("guard", *OTHERS)
    for pack in order:
        codex.run("uninstall", pack)
    assert {path.name: path.read_text() for path in codex.file.parent.iterdir()} == (
        {codex.file.name: text} if text else {}
    )
    assert "nothing is installed" in hookctl("status").out


@pytest.fixture(params=PLACES)
def codex(request: pytest.FixtureRequest, hookctl: Hookctl, isolated: Path, folder: Path) -> Codex:
    return Codex(hookctl, isolated, request.param, TOML if request.param == "config.toml" else JSON)


STEPS = ["install guard", "install one", "uninstall guard", "uninstall one", "add", "add", "drop"]


def test_no_history_moves_a_hook_of_theirs_or_leaves_an_empty_place_behind(
    hookctl: Hookctl, isolated: Path, folder: Path
) -> None:
    """The oracle is a list of places: a command of theirs, the name of a pack of ours, or None for an empty place."""

    @settings(deadline=None, max_examples=10, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(PLACES), st.booleans(), st.lists(st.sampled_from(STEPS), max_size=9))
    def check(place: str, there: bool, steps: list[str]) -> None:
        first = TOML if place == "config.toml" else JSON if there else ""
        hookctl("uninstall", "--all", "--yes")
        for name in (".codex/hooks.json", ".codex/config.toml"):
            (isolated / "home" / name).unlink(missing_ok=True)
            (isolated / "site" / name).unlink(missing_ok=True)
        codex = Codex(hookctl, isolated, place, first)
        places: list[str | None] = ["true"] if first else []
        theirs: list[str] = []
        is_theirs = bool(first)  # the file
        for step in [*steps, *["drop"] * steps.count("add"), "uninstall guard", "uninstall one"]:
            verb, _, name = step.partition(" ")
            if verb == "add" and (codex.file.exists() or place != "config.toml"):
                is_theirs = is_theirs or not codex.file.exists()
                theirs.append(f"late {len(theirs)}")
                places.append(theirs[-1])
                codex.add(theirs[-1])
            elif verb == "drop" and theirs and places[-1] == theirs[-1]:
                places.pop()
                codex.drop_last(theirs.pop())
            elif verb == "install":
                codex.run("install", name if name == "guard" else str(isolated / "one.toml"))
                if name not in places:
                    place_of = places.index(None) if None in places else len(places)
                    places[place_of : place_of + 1] = [name]
            elif verb == "uninstall" and name in places:
                codex.run("uninstall", name)
                places = [None if entry == name else entry for entry in places]
            else:
                continue
            if verb in ("install", "uninstall"):
                while places and places[-1] is None:
                    places.pop()
            assert codex.groups() == [[] if entry is None else [entry] for entry in places], step
        if not theirs:
            codex.run("uninstall")
            assert codex.file.exists() == is_theirs
            assert store.load(folders.here()) == {}

    check()
