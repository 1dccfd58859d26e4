"""In a project every host has the files of a pack in one folder: written once, gone with the last host."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Hookctl, put

PACK = """[pack]
name = "notify"
version = "1.0.0"
description = "Tells you"
[files]
include = ["notify.sh"]
[[hooks]]
event = "stop"
command = "sh {files}/notify.sh {host}"
"""
HOSTS = ("claude", "codex", "gemini")


@pytest.fixture
def notify(isolated: Path) -> str:
    folder = isolated / "notify"
    put(folder / "notify.sh", "echo done\n")
    return str(put(folder / "pack.toml", PACK))


def at(*hosts: str) -> list[str]:
    options = ["--scope", "project"]
    for host in hosts:
        options += ["--host", host]
    return options


@pytest.mark.parametrize("hosts", [HOSTS[:2], HOSTS])
def test_several_hosts_in_one_command(hookctl: Hookctl, isolated: Path, notify: str, hosts: tuple[str, ...]) -> None:
    project = Path.cwd()
    before = sorted(project.rglob("*"))
    assert hookctl("install", notify, *at(*hosts), "--yes").code == 0
    program = project / ".hookctl/packs/notify/notify.sh"
    assert program.read_text() == "echo done\n"
    assert hookctl("check", "--require", "notify").code == 0
    put(Path(notify).parent / "notify.sh", "echo again\n")
    assert hookctl("install", notify, *at(*hosts), "--yes", "--accept-changed").code == 0
    assert program.read_text() == "echo again\n"
    assert hookctl("uninstall", "notify", *at(*hosts)).code == 0
    assert sorted(project.rglob("*")) == before


def test_the_files_stay_as_long_as_a_host_needs_them(hookctl: Hookctl, isolated: Path, notify: str) -> None:
    assert hookctl("install", notify, *at(*HOSTS), "--yes").code == 0
    assert hookctl("uninstall", "notify", *at(*HOSTS[:2])).code == 0
    assert (Path.cwd() / ".hookctl/packs/notify/notify.sh").exists()
    assert hookctl("check", "--require", "notify").code == 0
    assert hookctl("uninstall", "notify", *at(HOSTS[2])).code == 0
    assert not (Path.cwd() / ".hookctl").exists()
