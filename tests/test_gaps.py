"""Codex knows hooks by their place: an empty group keeps it, and goes when nothing stands behind it any more."""

from __future__ import annotations

import itertools
import json
import tomllib
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put

JSON = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}\n'
TOML = 'model = "m"  # mine\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "true"\n'
PACK = '[pack]\nname = "{0}"\nversion = "1.0.0"\n\n[[hooks]]\nevent = "stop"\ncommand = "true {0}"\n'
OTHERS = ("one", "two")
ORDERS = list(itertools.permutations(("guard", *OTHERS)))
GAP = {"hooks": []}


@pytest.fixture
def folder(isolated: Path) -> Path:
    for name in OTHERS:
        put(isolated / f"{name}.toml", PACK.format(name))
    (isolated / "home" / ".codex").mkdir()
    return isolated / "home" / ".codex"


def install(hookctl: Hookctl, isolated: Path, *more: str) -> None:
    for pack in ("guard", *(str(isolated / f"{name}.toml") for name in OTHERS)):
        assert hookctl("install", pack, "--host", "codex", *more).code == 0


@pytest.mark.parametrize("name", ["hooks.json", "config.toml"])
@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
@pytest.mark.parametrize(
    ("there", "trust"), [(True, []), (False, ["--trust"])], ids=["with a hook of theirs", "trusted, without"]
)
def test_packs_leave_in_any_order_and_no_byte_stays(
    hookctl: Hookctl, isolated: Path, folder: Path, name: str, order: tuple[str, ...], there: bool, trust: list[str]
) -> None:
    text = {"hooks.json": JSON if there else "", "config.toml": TOML if there else 'model = "m"\n'}[name]
    if text:
        (folder / name).write_text(text)
    install(hookctl, isolated, *trust)
    for pack in order:
        assert hookctl("uninstall", pack, "--host", "codex").code == 0
    assert {path.name: path.read_text() for path in folder.iterdir()} == ({name: text} if text else {})
    assert "nothing is installed" in hookctl("status").out


@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
def test_so_it_is_at_project_scope_where_the_ledger_is_committed(
    hookctl: Hookctl, isolated: Path, folder: Path, order: tuple[str, ...]
) -> None:
    project = ("--scope", "project", "--project", str(isolated / "site"))
    path = put(isolated / "site" / ".codex" / "hooks.json", JSON)
    (isolated / "site" / ".git").mkdir()
    install(hookctl, isolated, *project)
    for pack in order:
        assert hookctl("uninstall", pack, "--host", "codex", *project).code == 0
    assert path.read_text() == JSON


def test_a_gap_of_theirs_stays_and_so_does_one_in_front_of_a_hook_of_theirs(
    hookctl: Hookctl, isolated: Path, folder: Path
) -> None:
    path = folder / "hooks.json"
    theirs = {"hooks": {"Stop": [GAP, GAP]}}
    path.write_text(json.dumps(theirs))
    install(hookctl, isolated)
    assert hookctl("uninstall", "guard", "--host", "codex").code == 0
    page = json.loads(path.read_text())
    page["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "late"}]})
    path.write_text(json.dumps(page))
    for pack in OTHERS:
        done = hookctl("uninstall", pack, "--host", "codex")
        assert "an empty place stays" in done.out
    commands = [[one["command"] for one in group["hooks"]] for group in json.loads(path.read_text())["hooks"]["Stop"]]
    assert commands == [[], [], [], [], [], ["late"]]


def test_in_toml_the_places_of_hooks_behind_stay_too(hookctl: Hookctl, isolated: Path, folder: Path) -> None:
    path = folder / "config.toml"
    path.write_text(TOML)
    install(hookctl, isolated)
    assert hookctl("uninstall", "guard", "--host", "codex").code == 0
    groups = tomllib.loads(path.read_text())["hooks"]["Stop"]
    assert [len(group["hooks"]) for group in groups] == [1, 0, 1, 1]


def test_a_gap_between_two_hooks_of_one_pack_goes_with_them(hookctl: Hookctl, isolated: Path, folder: Path) -> None:
    path = put(folder / "hooks.json", JSON)
    for pack in OTHERS:
        assert hookctl("install", str(isolated / f"{pack}.toml"), "--host", "codex").code == 0
    first = PACK.format("one").replace("1.0.0", "2.0.0").replace("event =", 'id = "stop"\nevent =')
    put(isolated / "one.toml", f'{first}\n[[hooks]]\nid = "again"\nevent = "stop"\ncommand = "true again"\n')
    assert hookctl("install", str(isolated / "one.toml"), "--host", "codex").code == 0
    for pack in reversed(OTHERS):
        assert hookctl("uninstall", pack, "--host", "codex").code == 0
    assert path.read_text() == JSON


@pytest.mark.parametrize("text", [JSON, ""], ids=["with a hook of theirs", "without"])
def test_the_last_pack_may_leave_by_being_switched_off(
    hookctl: Hookctl, isolated: Path, folder: Path, text: str
) -> None:
    path = folder / "hooks.json"
    if text:
        path.write_text(text)
    assert hookctl("install", str(isolated / "one.toml"), "--host", "codex").code == 0
    assert hookctl("install", "--host", "codex").code == 0
    assert hookctl("uninstall", "one", "--host", "codex").code == 0
    assert hookctl("install", "--host", "codex", "--mode", "off").code == 0
    assert hookctl("uninstall", "--host", "codex").code == 0
    assert (path.read_text() if path.exists() else "") == text


def test_a_gap_goes_too_where_the_hook_behind_it_was_taken_out_by_hand(
    hookctl: Hookctl, isolated: Path, folder: Path
) -> None:
    path = put(folder / "hooks.json", JSON)
    for pack in OTHERS:
        assert hookctl("install", str(isolated / f"{pack}.toml"), "--host", "codex").code == 0
    assert hookctl("uninstall", "one", "--host", "codex").code == 0
    page = json.loads(path.read_text())
    page["hooks"]["Stop"].pop()
    path.write_text(json.dumps(page))
    assert hookctl("uninstall", "two", "--host", "codex").code == 0
    assert json.loads(path.read_text()) == json.loads(JSON)


def test_a_gap_in_a_committed_file_is_in_the_committed_ledger_alone(
    hookctl: Hookctl, isolated: Path, folder: Path
) -> None:
    project = ("--scope", "project", "--project", str(isolated / "site"))
    (isolated / "site" / ".git").mkdir(parents=True)
    install(hookctl, isolated, *project)
    assert hookctl("uninstall", "guard", "--host", "codex", *project).code == 0
    assert '"gaps"' in (isolated / "site" / ".hookctl" / "ledger.json").read_text()
    assert '"gaps"' not in (isolated / "state" / "ledger.json").read_text()
