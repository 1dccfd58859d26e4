"""The runner's table and launcher in a project: one for several hosts, and none that is a link."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Hookctl, put

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
    for hosts in (["claude", "codex"], ["codex"]):
        table = json.loads((own / "runtime" / "hosts.json").read_text())
        assert table["packs"] == {host: ["own"] for host in hosts}
        assert table["hosts"].keys() >= {*hosts}, "and those that read their files"
        assert hookctl("check", "--require", "own").code == 0
        assert hookctl("uninstall", "own", "--host", hosts[0], "--scope", "project").code == 0
    assert not own.exists()


@pytest.mark.parametrize("name", ["hook.py", "runtime/hosts.json", "runtime/runner_*", "packs/own", "packs/own/*.toml"])
def test_a_link_in_place_of_a_file_or_a_folder_is_named(own: Path, hookctl: Hookctl, name: str) -> None:
    (path,) = own.glob(name)
    path.rename(own.parent / "outside")
    path.symlink_to(own.parent / "outside")
    errors = [f["code"] for f in hookctl("check", "--json").data["findings"] if str(path) in f["path"]]
    assert errors and {*errors} <= {"unreadable", "link_leaves_project", "stray_file"}
    assert hookctl("check").code == 1
