"""hookctl upgrade for one project, host or scope: nothing else of the machine is touched, asked about or named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put
from tests.test_upgrade import PACK, codes

PROJECT = ("--host", "claude", "--scope", "project")


@pytest.fixture
def machine(isolated: Path, hookctl: Hookctl, fixed_python: None) -> Path:
    """Two projects, each with the guard and a pack of its own, of which the other's has changed since."""
    for name in ("mine", "other"):
        top = isolated / "work" / name
        (top / ".git").mkdir(parents=True)
        pack = put(top / name / "pack.toml", PACK.format(name=name, key=name.upper()))
        put(top / name / "run.sh", "echo\n")
        for what in ((), (str(pack),)):
            assert hookctl("install", *what, *PROJECT, "--project", str(top)).code == 0
    pack.write_text(pack.read_text().replace('version = "1"', 'version = "2"'))
    return isolated / "work"


def wipe(project: Path) -> Path:
    settings = project / ".claude" / "settings.json"
    settings.write_text("{}")
    return settings


def test_another_projects_pack_does_not_block_this_one(
    machine: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = wipe(machine / "mine"), wipe(machine / "other")
    (machine / "mine" / "below").mkdir()
    monkeypatch.chdir(machine / "mine" / "below")
    assert hookctl("upgrade", "--json", agrees=False).code == 2
    done = hookctl("upgrade", "--project", ".", "--json", agrees=False)
    assert (done.code, {file["file"] for file in done.data["files"]}) == (0, {str(mine)}), done
    assert "guard/stop" in mine.read_text() and "mine/stop" in mine.read_text()
    assert other.read_text() == "{}"
    assert hookctl("check").code == 0


def test_another_projects_torn_record_is_not_this_ones_business(machine: Path, hookctl: Hookctl) -> None:
    (machine / "other" / ".hookctl" / "ledger.json").write_text("{")
    assert hookctl("upgrade", "--project", str(machine / "mine")).code == 0
    done = hookctl("upgrade", "--project", str(machine / "other"), "--json")
    assert (done.code, codes(done)) == (4, ["ledger_unreadable"])
    assert hookctl("upgrade", "--scope", "user").code == 0


@pytest.mark.parametrize(
    ("options", "paths"),
    [
        (("--host", "codex"), {".codex/hooks.json"}),
        (("--scope", "user"), {".codex/hooks.json"}),
        (("--host", "claude", "--scope", "project", "--project", "mine"), {"mine/.claude/settings.json"}),
        (("--host", "codex", "--project", "mine"), set()),
    ],
)
def test_hosts_and_scopes_are_filters(
    machine: Path, isolated: Path, hookctl: Hookctl, options: tuple[str, ...], paths: set[str]
) -> None:
    assert hookctl("install", "--host", "codex").code == 0
    for top in (machine / "mine", machine / "other"):
        wipe(top)
    (isolated / "home" / ".codex" / "hooks.json").write_text("{}")
    done = hookctl("upgrade", *options, "--dry-run", "--json")
    found = {file["file"] for file in done.data["files"]}
    tops = {path: isolated / "home" if path.startswith(".codex") else machine for path in paths}
    assert (done.code, found) == (0, {str(tops[path] / path) for path in paths})


def test_where_agents_must_be_started_is_said_once(machine: Path, hookctl: Hookctl) -> None:
    told = hookctl("upgrade", "--yes").err
    assert told.count("only where it is started") == 1, told
    one = hookctl("upgrade", "--project", str(machine / "mine")).err
    assert f"works in {machine / 'mine'}" in one and str(machine / "other") not in one


def test_a_slip_is_a_usage_error(machine: Path, hookctl: Hookctl) -> None:
    for options in (("--project", "gone"), ("--host", "emacs"), ("--scope", "all"), ("other", "--project", "mine")):
        assert hookctl("upgrade", *options).code == 2, options
    assert json.loads(hookctl("upgrade", "--project", "gone", "--json").out)["exit_code"] == 2
