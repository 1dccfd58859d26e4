"""Hermes takes `hooks:` and an event without a value for none: install fills them, and the bytes come back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hookctl.documents import formats
from tests.conftest import Hookctl, put

pytestmark = pytest.mark.usefixtures("fixed_python")

TEXTS = [
    "hooks:\n",
    "hooks: ~\n",
    "hooks: null  # mine\nmodel: x\n",
    "model: x\nhooks:",
    "hooks:  # mine\nmodel: x\n",
    "hooks:\n  pre_verify:\n",
    "hooks:\n  pre_verify: ~\n  # mine\n  on_session_end: []\n",
    "hooks:\r\nmodel: x\r\n",
    "{hooks: ~, model: x}\n",
    "? hooks\n: ~\n",
]


@pytest.fixture
def settings(isolated: Path) -> Path:
    return isolated / "home" / ".hermes" / "config.yaml"


@pytest.mark.parametrize("text", TEXTS)
def test_null_is_filled_and_the_bytes_come_back(settings: Path, hookctl: Hookctl, text: str) -> None:
    before = put(settings, text.encode()).read_bytes()
    told = json.loads(hookctl("doctor", "--host", "hermes", "--json").out)["data"]["findings"]
    assert {finding["code"] for finding in told if finding["level"] != "info"} <= {"not_installed"}
    assert hookctl("install", "--host", "hermes").code == 0
    installed = settings.read_bytes()
    (hook,) = formats.parse("yaml", installed).get(("hooks", "pre_verify"))
    assert "hookctl=guard/stop" in hook["command"]
    assert hookctl("install", "--host", "hermes").code == 0
    assert settings.read_bytes() == installed
    assert hookctl("uninstall", "--host", "hermes").code == 0
    assert settings.read_bytes() == before


@pytest.mark.parametrize("text", TEXTS)
def test_after_another_edit_the_operator_keeps_an_empty_one(settings: Path, hookctl: Hookctl, text: str) -> None:
    put(settings, text.encode())
    hookctl("install", "--host", "hermes")
    put(settings, settings.read_bytes() + b"\n# later\n")
    assert hookctl("uninstall", "--host", "hermes").code == 0
    value = formats.parse("yaml", settings.read_bytes()).value
    assert not any((value["hooks"] or {}).values())
    assert b"# later" in settings.read_bytes() and (b"# mine" in settings.read_bytes()) == ("mine" in text)


def test_a_null_with_an_anchor_is_refused(settings: Path, hookctl: Hookctl) -> None:
    put(settings, "hooks: &mine\nmodel: x\n")
    assert hookctl("install", "--host", "hermes").code == 4
    assert settings.read_text() == "hooks: &mine\nmodel: x\n"


def test_claude_takes_null_for_a_fault(isolated: Path, hookctl: Hookctl) -> None:
    put(isolated / "home/.claude/settings.json", '{"hooks": null}')
    assert hookctl("install", "--host", "claude").code == 4
