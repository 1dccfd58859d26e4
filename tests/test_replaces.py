"""A pack in place of an old installer's hooks: they go with its install, and the very bytes come back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookctl.ownership import consent
from tests.conftest import Hookctl, put
from tests.disk import outcome, put_back, quiet, tree
from tests.hostfiles import BY_NAME, Kind
from tests.manifest import hook, manifest
from tests.test_crash import STRIDE, killed
from tests.test_disable import REFUSED, cases, keeps, listed, run

pytestmark = pytest.mark.usefixtures("fixed_python")


OLD_HOOK, OWN_HOOK = "sh ~/.old-notify/stop.sh", "sh ~/.own/tool.sh"
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
    can = [one for one in hooks if one["state"] != "off" and not one["owner"]]
    named = next((one for one in can[::-1] if len(one["command"].strip()) >= 8), None)
    if not named or "***" in named["command"] or model.stem in REFUSED:
        return
    meant = [one["id"] for one in can if named["command"].strip() in one["command"]]
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


WRAP = ("install", "--host", "claude", "--wrap", "~/.own/tool")
ROWS = {  # host, fields of both hooks, what happens before, what the pack names; what is off with it, and after it
    "ours and wrapped ones": ("claude", {}, WRAP, [": hookctl=", "~/.own/tool"], set(), set()),
    "disabled before": ("claude", {}, ("disable",), ["/.old-notify"], {OLD_HOOK}, {OLD_HOOK}),
    "by a switch": ("codex", {}, ("disable",), ["/.old-notify"], {OLD_HOOK}, {OLD_HOOK}),
    "by a list": ("gemini", {}, ("disable",), ["/.old-notify"], {OLD_HOOK}, {OLD_HOOK}),
    "one name for two": ("gemini", {"name": "same"}, (), ["/.old-notify"], {OLD_HOOK}, set()),
    "an argument": ("claude", {"args": ["--of", "old-notify"]}, (), ["stop.sh --of old-n"], {OLD_HOOK}, set()),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=[*ROWS])
def test_only_what_is_meant_goes_and_only_that_comes_back(hookctl: Hookctl, isolated: Path, row: Any) -> None:
    host, fields, before, texts, during, after = row
    path, groups = BY_NAME[host].path(isolated, "user"), []
    for command in (OLD_HOOK, OWN_HOOK):
        groups.append({"hooks": [{"type": "command", "command": command, **fields}]})
    put(path, json.dumps(BY_NAME[host].document(groups)))

    def off() -> set[str]:
        found = [(hook["command"], hook["state"] == "disabled") for hook in listed(hookctl, path, host)]
        return {command[: len(OLD_HOOK)] for command, is_off in found if is_off and (command, False) not in found}

    if before:
        ids = [hook["id"] for hook in listed(hookctl, path, host) if before == ("disable",)][:1]
        run(hookctl, *before, *ids)
    run(hookctl, "install", pack(isolated, *texts), "--host", host, "--yes")
    assert off() == during
    run(hookctl, "uninstall", "notify", "--host", host)
    assert off() == after


def test_a_hook_that_comes_after_the_question_stays(
    hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, asked = isolated / "home" / ".claude" / "settings.json", consent.agree

    def put_later(*arguments: Any) -> Any:
        agreed = asked(*arguments)
        put(path, OLD)
        return agreed

    monkeypatch.setattr(consent, "agree", put_later)
    outcome = run(hookctl, "install", pack(isolated, "/.old-notify/"), "--host", "claude", "--yes", code=1)
    assert "what you agreed to has changed meanwhile" in outcome.err and path.read_text() == OLD


def test_what_an_uninstall_could_not_give_back_comes_with_all(hookctl: Hookctl, isolated: Path) -> None:
    path, config = (isolated / "home" / ".codex" / name for name in ("hooks.json", "config.toml"))
    put(path, OLD)
    run(hookctl, "install", pack(isolated, "/.old-notify/"), "--host", "codex", "--yes")
    switched = config.read_text()
    put(config, "[broken")
    run(hookctl, "uninstall", "notify", "--host", "codex", code=1)
    put(config, switched)
    run(hookctl, "uninstall", "--all", "--yes")
    assert (path.read_text(), config.exists(), keeps(isolated)) == (OLD, False, False)


def test_who_takes_a_replaced_hooks_place_on_codex_is_off_and_not_called_replaced(
    hookctl: Hookctl, isolated: Path
) -> None:
    groups = [{"hooks": [{"type": "command", "command": command}]} for command in (OLD_HOOK, OWN_HOOK)]
    path = put(isolated / "home" / ".codex" / "hooks.json", json.dumps({"hooks": {"Stop": groups}}))
    run(hookctl, "install", pack(isolated, "/.old-notify/"), "--host", "codex", "--yes")
    put(path, json.dumps({"hooks": {"Stop": json.loads(path.read_text())["hooks"]["Stop"][1:]}}))
    states = {hook["command"]: hook["state"] for hook in listed(hookctl, path, "codex")}
    assert (states[OWN_HOOK], states[OLD_HOOK]) == ("off", "disabled")


@pytest.mark.parametrize(
    "groups",
    [
        [[OWN_HOOK, OLD_HOOK, OWN_HOOK]],
        [[OLD_HOOK, OWN_HOOK], ["x", OLD_HOOK, OWN_HOOK]],
        [[OWN_HOOK, "x"], [OLD_HOOK, OWN_HOOK]],
        [[OWN_HOOK, OLD_HOOK], [OWN_HOOK, OLD_HOOK]],
    ],
)
def test_a_hook_comes_back_beside_the_right_one_of_two_equals(
    hookctl: Hookctl, isolated: Path, groups: list[list[str]]
) -> None:
    stop = [{"hooks": [{"type": "command", "command": command} for command in group]} for group in groups]
    path = put(isolated / "home" / ".claude" / "settings.json", json.dumps({"hooks": {"Stop": stop}}))
    before = path.read_bytes()
    run(hookctl, "install", "--host", "claude")
    run(hookctl, "install", pack(isolated, "/.old-notify/"), "--host", "claude", "--yes")
    run(hookctl, "uninstall", "--all", "--yes")
    assert path.read_bytes() == before
