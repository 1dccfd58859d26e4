"""The settings file moves, or links to it come and go: what the ledger knows of it goes along."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put


def install(hookctl: Hookctl, *options: str) -> None:
    outcome = hookctl("install", "--host", "claude", *options)
    assert outcome.code == 0, outcome


def uninstall(hookctl: Hookctl, *options: str) -> None:
    outcome = hookctl("uninstall", *options)
    assert outcome.code == 0, outcome


# A project at local scope, with a pack of somebody's


BELL = """\
[pack]
name = "bell"
version = "1"
protocol = "host"

[files]
include = ["ring.sh"]

[env]
BELL = "1"
"""
HOOK = '[[hooks]]\nevent = "stop"\ncommand = "{command}"\n'
COMMANDS = {"its own file": "{files}/ring.sh", "any": "true", "none": ""}


@pytest.fixture(params=COMMANDS)
def pack(request: pytest.FixtureRequest, isolated: Path) -> str:
    """A pack whose hook runs its file, any command, or that has no hook at all."""
    put(isolated / "bell" / "ring.sh", "")
    command = COMMANDS[request.param]
    return str(put(isolated / "bell" / "pack.toml", BELL + (HOOK.replace("{command}", command) if command else "")))


def local(project: Path) -> Path:
    return project / ".claude" / "settings.local.json"


def in_project(project: Path) -> tuple[str, ...]:
    return ("--scope", "local", "--project", str(project))


@pytest.mark.parametrize("first", ["install", "uninstall", "all"])
def test_a_pack_is_found_after_its_project_moved(isolated: Path, hookctl: Hookctl, pack: str, first: str) -> None:
    old, new = isolated / "old", isolated / "new"
    put(local(old), '{"env": { }}')
    install(hookctl, pack, *in_project(old))
    old.rename(new)
    if first != "uninstall":
        assert hookctl("install", pack, "--host", "claude", *in_project(new), "--json").data["actions"] == []
        assert list(json.loads((isolated / "state" / "ledger.json").read_text())["files"]) == [str(local(new))]
        assert len(list((isolated / "data").rglob("ring.sh"))) == 1
    uninstall(hookctl, *(("--all", "--json") if first == "all" else ("bell", *in_project(new))))
    assert local(new).read_text() == '{"env": { }}'
    assert not (isolated / "data").exists()
    assert json.loads((isolated / "state" / "ledger.json").read_text())["files"] == {}


def test_a_pack_in_a_file_that_was_edited_after_the_move_is_found_by_its_hook(
    isolated: Path, hookctl: Hookctl, pack: str
) -> None:
    old, new = isolated / "old", isolated / "new"
    put(local(old), '{"env": {"A": "1"}}')
    install(hookctl, pack, *in_project(old))
    old.rename(new)
    put(local(new), local(new).read_text().replace('"A": "1"', '"A": "2"'))
    uninstall(hookctl, pack, *in_project(new))
    hookless = "hooks" not in Path(pack).read_text()  # then nothing shows whose the value is
    assert json.loads(local(new).read_text()) == {"env": {"A": "2", **({"BELL": "1"} if hookless else {})}}


def test_a_copy_of_a_project_does_not_take_the_page_of_one_that_is_there(isolated: Path, hookctl: Hookctl) -> None:
    pack = str(put(isolated / "bell.toml", BELL.replace('[files]\ninclude = ["ring.sh"]\n', "")))
    old, new = isolated / "old", isolated / "new"
    put(local(old), '{"env": {"A": "1"}}')
    install(hookctl, pack, *in_project(old))
    put(local(new), local(old).read_bytes())
    local(old).unlink()  # the next install puts it back, and that is in the ledger
    install(hookctl, pack, *in_project(new))
    assert str(local(old)) in json.loads((isolated / "state" / "ledger.json").read_text())["files"]


def test_a_copy_of_a_projects_settings_gets_a_configuration_of_its_own(isolated: Path, hookctl: Hookctl) -> None:
    old, new = isolated / "old", isolated / "new"
    put(local(old), '{"env": {"A": "1"}}')
    install(hookctl, *in_project(old))
    put(local(new), local(old).read_bytes())
    install(hookctl, *in_project(new))
    assert len(list((isolated / "data" / "guard").iterdir())) == 2
    for project in (old, new):
        (name,) = re.findall(r"--config (claude-local-[0-9a-f]+)", local(project).read_text())
        assert (isolated / "data" / "guard" / f"{name}.json").exists()
    uninstall(hookctl, *in_project(old))
    assert [path.stem for path in (isolated / "data" / "guard").iterdir()] == [name]


def test_of_two_projects_that_are_gone_neither_is_taken_for_one_with_the_same_hook(
    isolated: Path, hookctl: Hookctl
) -> None:
    plain = BELL.replace('[files]\ninclude = ["ring.sh"]\n', "") + HOOK.replace("{command}", "true")
    pack = str(put(isolated / "bell.toml", plain))
    for name in ("one", "two"):
        put(local(isolated / name), f'{{"env": {{"NAME": "{name}"}}}}')
        install(hookctl, pack, *in_project(isolated / name))
    (isolated / "one").rename(isolated / "new")
    (isolated / "two").rename(isolated / "gone")
    put(local(isolated / "new"), local(isolated / "new").read_text().replace("one", "neither"))
    install(hookctl, pack, *in_project(isolated / "new"))
    assert len(json.loads((isolated / "state" / "ledger.json").read_text())["files"]) == 3


def test_a_page_of_another_scope_is_not_taken(isolated: Path, settings: Path, hookctl: Hookctl) -> None:
    pack = str(put(isolated / "bell.toml", BELL.replace('[files]\ninclude = ["ring.sh"]\n', "")))
    install(hookctl, pack)
    put(local(isolated / "new"), settings.read_bytes())
    settings.unlink()
    install(hookctl, pack, *in_project(isolated / "new"))
    pages = json.loads((isolated / "state" / "ledger.json").read_text())["files"]
    assert {path: page["scope"] for path, page in pages.items()} == {
        str(settings): "user", str(local(isolated / "new")): "local"
    }  # fmt: skip
