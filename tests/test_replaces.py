"""A pack in place of an old installer's hooks: they go with its install, and the very bytes come back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put
from tests.disk import outcome, put_back, quiet, tree
from tests.hostfiles import Kind
from tests.manifest import hook, manifest
from tests.test_crash import STRIDE, killed
from tests.test_disable import REFUSED, cases, keeps, listed, run

pytestmark = pytest.mark.usefixtures("fixed_python")


OLD = """{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "sh ~/.old-notify/stop.sh"}]}]}}"""


def pack(isolated: Path, *texts: str, name: str = "notify") -> str:
    file = isolated / name / "pack.toml"
    return str(put(file, manifest(name, hook("Stop", "true"), version="1", replaces=list(texts))))


@pytest.mark.parametrize(("kind", "model"), list(cases()))
def test_what_a_pack_names_goes_and_the_bytes_come_back(
    hookctl: Hookctl, isolated: Path, kind: Kind, model: Path
) -> None:
    path = put(kind.path(isolated, "user"), model.read_bytes())
    config = isolated / "home" / ".codex" / "config.toml"
    files = {path, config} if kind.host == "codex" else {path}
    before = {file: file.read_bytes() if file.exists() else None for file in files}
    hooks = listed(hookctl, path, kind.host)
    named = next((one for one in hooks[::-1] if one["state"] != "off" and len(one["command"].strip()) >= 8), None)
    if not named or "***" in named["command"] or model.stem in REFUSED:
        return
    meant = [one["id"] for one in hooks if named["command"].strip() in one["command"] and one["state"] != "off"]
    install = ("install", pack(isolated, named["command"].strip()), "--host", kind.host, "--yes")
    answer = hookctl(*install, "--json")
    if answer.code == 4:  # no hook of a pack can go there
        assert path.read_bytes() == before[path] and not keeps(isolated)
        return
    assert {one["id"] for one in json.loads(answer.out)["data"]["pack"]["replaces"]} == {one[:8] for one in meant}
    off = {one["id"]: one["state"] == "disabled" for one in listed(hookctl, path, kind.host) if not one["owner"]}
    assert off == {one["id"]: one["id"] in meant for one in hooks if not one["owner"]}
    assert "nothing to do" in run(hookctl, *install).out
    run(hookctl, "uninstall", "notify", "--host", kind.host)
    assert {file: file.read_bytes() if file.exists() else None for file in files} == before
    assert not keeps(isolated)


def test_a_kill_leaves_no_hook_half_replaced(isolated: Path) -> None:
    path, config = (isolated / "home" / ".codex" / name for name in ("hooks.json", "config.toml"))
    old = put(path, OLD).read_bytes()
    install, at = ("install", pack(isolated, "/.old-notify/"), "--host", "codex"), 1
    start = tree(isolated)
    assert quiet(*install) == 0
    done = outcome(isolated)
    put_back(isolated, start)
    while killed(install, at):
        left = tree(isolated)
        assert quiet(*install) == 0
        assert (at, outcome(isolated)) == (at, done)
        assert b"enabled = false" in config.read_bytes()
        put_back(isolated, left)
        assert quiet("uninstall", install[1], "--host", "codex") == 0
        assert (at, path.read_bytes(), config.exists(), keeps(isolated)) == (at, old, False, False)
        put_back(isolated, start)
        at += min(STRIDE, 19)
    assert at > 40
