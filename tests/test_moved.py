"""The settings file moves, or links to it come and go: what the ledger knows of it goes along."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from hookctl.ownership import store
from hookctl.system import folders
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


# A program puts a file in place of a settings file that was a link: both have our entries, and both are known.


THEIRS = '{"model": "m"}\n'
HOSTS = {"claude": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json"}

pytestmark = pytest.mark.usefixtures("fixed_python")


@pytest.fixture(params=HOSTS)
def replaced(request: pytest.FixtureRequest, isolated: Path, hookctl: Hookctl) -> tuple[str, Path, Path]:
    """A host, its settings file as a program wrote it anew, and the file that the link led to."""
    host = request.param
    path, target = isolated / "home" / HOSTS[host], put(isolated / "dotfiles" / "settings.json", THEIRS)
    path.parent.mkdir()
    path.symlink_to(target)
    assert hookctl("install", "--host", host).code == 0
    text = path.read_text()
    path.unlink()
    path.write_text(text + "\n")  # by a program that knows of no links
    return host, path, target


def test_both_are_named(replaced: tuple[str, Path, Path], hookctl: Hookctl) -> None:
    _, path, target = replaced
    shown = {file["file"] for file in hookctl("status", "--json").data["files"]}
    assert shown == {str(path), str(target)}


def test_uninstall_names_the_other_one_and_takes_it_out_with_all(
    replaced: tuple[str, Path, Path], isolated: Path, hookctl: Hookctl
) -> None:
    _, path, target = replaced
    done = hookctl("uninstall")
    assert (done.code, "hookctl=" in path.read_text()) == (0, False)
    assert str(target) in done.err and "--all" in done.err
    assert hookctl("uninstall", "--all", "--yes").code == 0
    assert target.read_text() == THEIRS
    assert store.load(folders.here()) == {} and not (isolated / "data").exists()


@pytest.mark.parametrize("between", [["install"], ["install", "--force"], ["doctor", "--fix"]])
def test_both_go_at_once_whatever_comes_between(
    between: list[str], replaced: tuple[str, Path, Path], isolated: Path, hookctl: Hookctl
) -> None:
    host, path, target = replaced
    assert hookctl(*between, "--host", host).code in (0, 1)
    assert hookctl("uninstall", "--all", "--yes").code == 0
    assert "hookctl=" not in path.read_text() + target.read_text()
    assert store.load(folders.here()) == {} and not (isolated / "data").exists()


# Links that make two settings files one.

SCOPES = {"project": ".claude/settings.json", "local": ".claude/settings.local.json"}


def link(path: Path, target: Path, *, hard: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if hard:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
        path.hardlink_to(target)
    else:
        path.symlink_to(os.path.relpath(target, path.parent))


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("linked", SCOPES)
@pytest.mark.parametrize("hard", [False, True], ids=["symbolic", "hard"])
def test_two_scopes_in_one_file_are_refused_and_the_fix_works(
    isolated: Path, hookctl: Hookctl, scope: str, linked: str, hard: bool
) -> None:
    work = isolated / "work"
    put(work / ".git" / "HEAD", "")
    path = work / SCOPES[linked]
    (other,) = [work / name for name in SCOPES.values() if work / name != path]
    link(path, other, hard=hard)
    install = ("install", "--host", "claude", "--scope", scope)
    done = hookctl(*install)
    assert done.code == 2
    assert str(work / ".claude") in done.err and "a file of its own" in done.err
    assert not (work / ".hookctl").exists()
    path.unlink()
    for verb in (install, ("status",), ("upgrade",), ("check",), ("uninstall", "--scope", scope)):
        assert hookctl(*verb).code == 0, verb


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("hard", [False, True], ids=["symbolic", "hard"])
@pytest.mark.parametrize("together", [True, False])
def test_two_hosts_with_one_file_are_refused(
    isolated: Path, hookctl: Hookctl, scope: str, hard: bool, together: bool
) -> None:
    top = isolated / ("home" if scope == "user" else "work")
    put(isolated / "work" / ".git" / "HEAD", "")
    first = put(top / ".claude" / "settings.json", '{"model": "m"}')
    link(top / ".qwen" / "settings.json", first, hard=hard)
    options = ("--scope", scope)
    if not together:
        assert hookctl("install", "--host", "claude", *options).code == 0
    before = first.read_bytes()
    hosts = ("--host", "qwen", *(("--host", "claude") if together else ()))
    done = hookctl("install", *hosts, *options)
    assert done.code == 1
    assert "settings file of Claude Code and of Qwen Code" in done.err or "of Qwen Code and of Claude Code" in done.err
    assert first.read_bytes() == before
    if not together:
        assert hookctl("uninstall", *options).code == 0
    assert first.read_text() == '{"model": "m"}'
    assert first.samefile(top / ".qwen" / "settings.json")
