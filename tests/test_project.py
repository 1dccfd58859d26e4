"""hookctl and the hook agree on which folder is the project, and on where its state lies."""

from __future__ import annotations

import json
import os
import pwd
from pathlib import Path

import pytest

from hookctl.system import project
from tests.conftest import Hookctl, put
from tests.templates.modules import module

digest = module("files").digest


def by_hook(start: str) -> str:
    """The project as the hook finds it: the lines of its read_call that lead there."""
    here = os.getcwd()
    try:
        home, enter = module("call").home_folder(), module("files").enter
        named = enter(start)
        return module("call").find_project(named or here, enter(home) or home)
    finally:
        os.chdir(here)


def both(start: Path | str) -> str:
    """The project, once it is sure that both find the same."""
    found = project.find(str(start), os.environ)
    assert by_hook(str(start)) == found
    return found


def make(root: Path, *names: str) -> None:
    for name in names:
        (root / name).mkdir(parents=True, exist_ok=True)


CASES = [
    # folders, HOME, where the search starts, the project
    (["a/.git", "a/b/c"], "home", "a/b/c", "a"),
    (["a/.hookctl", "a/b/c"], "home", "a/b/c", "a"),
    (["a/.git", "a/b/.hookctl", "a/b/c"], "home", "a/b/c", "a/b"),
    (["a/.hookctl", "a/b/.git", "a/b/c"], "home", "a/b/c", "a/b"),
    (["a/.git"], "home", "a", "a"),
    (["a/b"], "home", "a/b", "a/b"),
    ([".git", "home/a"], "home", "home/a", "home/a"),
    (["home/.git", "home/a"], "home", "home/a", "home/a"),
    (["home/.git"], "home", "home", "home"),
    (["home/.hookctl", "home/a/b/.git", "home/a/b/c"], "home", "home/a/b/c", "home/a/b"),
    ([".git", "home/.hookctl", "home/a/b"], "home", "home/a/b", "home/a/b"),
    ([".git", "a"], "home", "a", "a"),
    ([".git", "homely/.git", "homely/a"], "home", "homely/a", "homely"),
    (["hom/.git", "hom/a"], "home", "hom/a", "hom"),
    ([".git", "a/home", "a/b"], "a/home", "a/b", "a/b"),
    ([".git", "a"], "a/home/that/is/not/there", "a", "a"),
]


@pytest.mark.parametrize(("folders", "home", "start", "expected"), CASES)
def test_the_nearest_marked_folder(
    isolated: Path, monkeypatch: pytest.MonkeyPatch, folders: list[str], home: str, start: str, expected: str
) -> None:
    root = isolated / "tree"
    make(root, *folders)
    monkeypatch.setenv("HOME", str(root / home))
    assert both(root / start) == str(root / expected)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_passed_over(isolated: Path) -> None:
    make(isolated, "a/.git", "a/b/.git", "a/b/c")
    os.chown(isolated / "a" / "b", 12345, -1)
    assert both(isolated / "a" / "b" / "c") == str(isolated / "a")


@pytest.mark.parametrize("home", ["", "relative", "/", "//", None])
def test_an_odd_home_is_odd_to_both(isolated: Path, monkeypatch: pytest.MonkeyPatch, home: str | None) -> None:
    """Where HOME is no absolute path, both ask the user database."""
    root = isolated / "tree"
    make(root, ".git", "a/b")
    entry = list(pwd.getpwuid(os.getuid()))
    entry[5] = str(root / "a")
    monkeypatch.setattr("pwd.getpwuid", lambda uid: pwd.struct_passwd(entry))
    if home is None:
        monkeypatch.delenv("HOME")
    else:
        monkeypatch.setenv("HOME", home)
    assert both(root / "a" / "b") == str(root if home in ("/", "//") else root / "a" / "b")


def test_the_state_folder_is_that_of_the_real_path(isolated: Path) -> None:
    make(isolated, "real")
    (isolated / "link").symlink_to(isolated / "real")
    folder = project.state_folder("/state", str(isolated / "link"))
    assert folder == project.state_folder("/state", str(isolated / "real"))
    assert folder == f"/state/guard/{digest(str(isolated / 'real'))}"


# The runner's table and launcher in a project: one for several hosts, and none that is a link.


PACK = '[pack]\nname = "own"\nversion = "1"\n\n[[hooks]]\nevent = "PreToolUse"\ncommand = "true"\n'


@pytest.fixture
def own(isolated: Path, hookctl: Hookctl, fixed_python: None) -> Path:
    """A project's folder of hookctl, with a pack for two hosts."""
    top = isolated / "work"
    (top / ".git").mkdir()
    pack = put(top / "own" / "pack.toml", PACK)
    assert hookctl("install", str(pack), "--host", "claude", "--host", "codex", "--scope", "project").code == 0
    return top / ".hookctl"


def test_one_table_has_all_hosts_that_have_a_pack(own: Path, hookctl: Hookctl) -> None:
    for named in (["claude", "codex"], ["codex"]):
        table = json.loads((own / "runtime" / "hosts.json").read_text())
        assert table["packs"] == {host: ["own"] for host in named}
        assert table["hosts"].keys() >= {*named}, "and those that read their files"
        assert hookctl("check", "--require", "own").code == 0
        assert hookctl("uninstall", "own", "--host", named[0], "--scope", "project").code == 0
    assert not own.exists()


@pytest.mark.parametrize("name", ["hook.py", "runtime/hosts.json", "runtime/runner_*", "packs/own", "packs/own/*.toml"])
def test_a_link_in_place_of_a_file_or_a_folder_is_named(own: Path, hookctl: Hookctl, name: str) -> None:
    (path,) = own.glob(name)
    path.rename(own.parent / "outside")
    path.symlink_to(own.parent / "outside")
    errors = [f["code"] for f in hookctl("check", "--json").data["findings"] if str(path) in f["path"]]
    assert errors and {*errors} <= {"unreadable", "link_leaves_project", "stray_file"}
    assert hookctl("check").code == 1
