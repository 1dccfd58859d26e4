"""A program puts a file in place of a settings file that was a link: both have our entries, and both are known."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hookctl.ownership import store
from hookctl.system import folders
from tests.conftest import Hookctl, put

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
