"""Where a host runs no hook, install, plan, status and doctor all say so, for packs as for the guard."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put

pytestmark = pytest.mark.usefixtures("fixed_python")

PACK = '[pack]\nname = "bell"\nversion = "1"\n[[hooks]]\nevent = "stop"\ncommand = "true"\n'
OFF = json.dumps({"disableAllHooks": True})


@pytest.fixture
def bell(isolated: Path) -> str:
    return str(put(isolated / "work" / "bell.toml", PACK))


@pytest.mark.parametrize("where", ["home/.claude/settings.json", "work/.claude/settings.local.json"])
@pytest.mark.parametrize("pack", ["guard", "bell"])
def test_hooks_that_are_switched_off(isolated: Path, hookctl: Hookctl, bell: str, where: str, pack: str) -> None:
    put(isolated / where, OFF)
    name = [bell] if pack == "bell" else []
    for verb in ("plan", "install"):
        outcome = hookctl(verb, *name, "--host", "claude")
        assert outcome.code == 0
        assert outcome.err.count("disableAllHooks is true") == 1
    assert f"{pack} is written, but hooks are switched off for Claude Code." in outcome.out
    assert "is installed" not in outcome.out
    assert "keeps an agent working" not in outcome.out
    status = hookctl("status").out
    assert status.startswith("warn")
    assert "does nothing: disableAllHooks is true" in status
    findings = hookctl("doctor", "--json").data["findings"]
    assert [one["level"] for one in findings if one["code"] == "hooks_disabled"] == ["error"]


@pytest.mark.parametrize("trust", [[], ["--trust"]])
def test_a_hook_that_waits_for_its_approval(hookctl: Hookctl, bell: str, trust: list[str]) -> None:
    outcome = hookctl("install", bell, "--host", "codex", *trust)
    status = hookctl("status").out
    assert ("only after you have approved it" in outcome.err) is not bool(trust)
    assert ("1 hook, 1 hook not approved" in status) is not bool(trust)
    assert status.startswith("ok" if trust else "warn")


def test_a_file_that_the_host_refuses(isolated: Path, hookctl: Hookctl, bell: str, settings: Path) -> None:
    assert hookctl("install", bell, "--host", "claude").code == 0
    settings.write_text("// mine\n" + settings.read_text())
    assert "bell 1: does nothing: Claude Code ignores the whole file" in hookctl("status").out


def test_a_folder_that_the_host_does_not_trust(isolated: Path, hookctl: Hookctl, bell: str) -> None:
    assert hookctl("install", bell, "--host", "gemini", "--scope", "project").code == 0
    status = hookctl("status").out
    assert status.startswith("warn")
    assert "does nothing: Gemini CLI has not been told to trust" in status
    put(isolated / "home" / ".gemini" / "trustedFolders.json", json.dumps({str(isolated): "TRUST_FOLDER"}))
    assert "bell 1: 1 hook\n" in hookctl("status").out


# Files that a host reads and loads nothing of.

STOP = [{"hooks": [{"type": "command", "command": "say done"}]}]


CASES = [
    ("codex", ".codex/hooks.json", {"$schema": "x", "hooks": {}}, '"$schema" is not allowed at the root'),
    ("codex", ".codex/hooks.json", {"Stop": STOP}, '"Stop" is not allowed at the root'),
    ("openhands", ".openhands/hooks.json", {"hooks": {"setup": []}}, "hooks.setup: OpenHands"),
    ("openhands", ".openhands/hooks.json", {"setup": []}, "setup: OpenHands"),
    ("claude", ".claude/settings.json", {"permissions": {"defaultMode": "x"}}, "defaultMode must be one of"),
    ("claude", ".claude/settings.json", {"hooks": {"PreToolUse": [None]}}, "hooks.PreToolUse.0 is not a group"),
    ("droid", ".factory/settings.json", {"hooks": {"Stop": [{"hooks": [{"type": "command"}]}]}}, "has no command"),
]  # fmt: skip


@pytest.mark.parametrize(("host", "name", "value", "reason"), CASES)
def test_install_says_that_nothing_of_the_file_is_loaded(
    isolated: Path, hookctl: Hookctl, host: str, name: str, value: object, reason: str
) -> None:
    path = isolated / "home" / name
    put(path, json.dumps(value))
    before = path.read_bytes()
    planned = hookctl("plan", "--host", host)
    assert f"{path}: " in planned.err and reason in planned.err
    done = hookctl("install", "--host", host)
    assert done.code == 0
    assert reason in done.err
    assert "installed" not in done.out
    assert "guard is written, but not loaded by" in done.out
    again = hookctl("install", "--host", host)
    assert again.out == "nothing to do\n"
    assert reason in again.err
    assert "does nothing: " in hookctl("status").out
    assert hookctl("doctor", "--host", host).code == 1
    assert hookctl("uninstall", "--host", host).code == 0
    assert path.read_bytes() == before


def test_one_of_two_hosts(isolated: Path, hookctl: Hookctl) -> None:
    put(isolated / "home/.codex/hooks.json", '{"$schema": "x"}')
    done = hookctl("install", "--host", "codex", "--host", "claude")
    assert "guard is written, but not loaded by Codex CLI: see the message." in done.out


def test_what_is_loaded_is_installed(isolated: Path, hookctl: Hookctl) -> None:
    put(isolated / "home/.codex/hooks.json", '{"description": "mine", "hooks": {}}')
    done = hookctl("install", "--host", "codex")
    assert "The guard stops" in done.out or "The guard keeps" in done.out
    assert "not loaded" not in done.out


def test_check_fails_for_a_file_of_the_project_that_is_not_loaded(isolated: Path, hookctl: Hookctl) -> None:
    settings = isolated / "work/.claude/settings.json"
    put(isolated / "work/.git/HEAD", "")
    assert hookctl("install", "--host", "claude", "--scope", "project").code == 0
    assert hookctl("check").code == 0
    put(settings, json.dumps({**json.loads(settings.read_text()), "permissions": {"defaultMode": "x"}}))
    done = hookctl("check")
    assert done.code == 1 and "permissions.defaultMode must be one of" in done.out
