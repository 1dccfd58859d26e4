"""The files of the runner of packs: what is edited in them or missing is named, and what is missing comes back."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .conftest import Hookctl, put

PACK = '[pack]\nname = "own"\nversion = "1"\n\n[[hooks]]\nevent = "PreToolUse"\ncommand = "true"\n'


@pytest.fixture
def project(isolated: Path, hookctl: Hookctl, fixed_python: None) -> Path:
    top = isolated / "work"
    (top / ".git").mkdir()
    pack = put(top / "own" / "pack.toml", PACK)
    hosts = ("--host", "claude", "--host", "codex")
    assert hookctl("install", str(pack), *hosts, "--scope", "project", "--yes").code == 0
    return top


def test_the_runners_files_of_every_host_are_in_order(project: Path, hookctl: Hookctl) -> None:
    names = {path.name for path in (project / ".hookctl" / "runtime").iterdir() if path.is_file()}
    assert names == {"claude.json", "codex.json", "hook.py"}
    assert hookctl("check").code == 0


@pytest.mark.parametrize("name", ["hook.py", "claude.json", "codex.json"])
def test_an_edited_file_of_the_runner_is_named(project: Path, hookctl: Hookctl, name: str) -> None:
    path = project / ".hookctl" / "runtime" / name
    path.write_text(path.read_text() + "\n")
    done = hookctl("check", "--json")
    assert done.code == 1
    assert [finding["path"] for finding in done.data["findings"]] == [str(path)]


@pytest.mark.parametrize("name", ["hook.py", "claude.json"])
def test_a_link_in_place_of_a_file_of_the_runner_is_named(project: Path, hookctl: Hookctl, name: str) -> None:
    path = project / ".hookctl" / "runtime" / name
    outside = put(project.parent / "outside", path.read_bytes())
    path.unlink()
    path.symlink_to(outside)
    assert hookctl("check").code == 1


@pytest.mark.parametrize("name", ["hook.py", "claude.json"])
def test_a_missing_file_of_the_runner_is_named_and_put_back(project: Path, hookctl: Hookctl, name: str) -> None:
    path = project / ".hookctl" / "runtime" / name
    whole = path.read_bytes()
    path.unlink()
    done = hookctl("check", "--json")
    assert [(finding["code"], finding["path"]) for finding in done.data["findings"]] == [("hook_missing", str(path))]
    hookctl("doctor", "--fix")
    assert path.read_bytes() == whole
    assert hookctl("check").code == 0


@pytest.mark.parametrize("name", ["hook.py", "claude.json", "package"])
def test_doctor_names_what_is_missing_of_the_users_runner_and_puts_it_back(
    isolated: Path, hookctl: Hookctl, name: str
) -> None:
    pack = put(isolated / "own" / "pack.toml", PACK)
    assert hookctl("install", str(pack), "--host", "claude", "--yes").code == 0
    folder = isolated / "data" / "runtime"
    (package,) = (path for path in folder.iterdir() if path.is_dir())
    path = package if name == "package" else folder / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    found = hookctl("doctor", "--json").data["findings"]
    assert [f["path"] for f in found if f["level"] == "error"] == [str(path)]
    assert [f["code"] for f in found if f["level"] == "error"] == ["hook_missing"]
    hookctl("doctor", "--fix")
    assert path.exists()
    assert hookctl("doctor").code == 0


def test_a_missing_file_beside_an_edited_one_is_left_to_a_person(isolated: Path, hookctl: Hookctl) -> None:
    pack = put(isolated / "own" / "pack.toml", PACK)
    assert hookctl("install", str(pack), "--host", "claude", "--yes").code == 0
    folder = isolated / "data" / "runtime"
    (folder / "hook.py").write_text("mine")
    (folder / "claude.json").unlink()
    hookctl("doctor", "--fix")
    assert (folder / "hook.py").read_text() == "mine"
    assert not (folder / "claude.json").exists()
