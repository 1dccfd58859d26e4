"""Where a host runs no hook, install, plan, status and doctor all say so, for packs as for the guard."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put

PACK = '[pack]\nname = "bell"\nversion = "1"\n[[hooks]]\nevent = "stop"\ncommand = "true"\n'
OFF = json.dumps({"disableAllHooks": True})


@pytest.fixture
def bell(isolated: Path, fixed_python: None) -> str:
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
