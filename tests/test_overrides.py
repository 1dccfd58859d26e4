"""The operator's last word where a story cannot tell it: odd spellings, broken files, and a disk that fails."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hookctl.system import folders
from tests.conftest import Hookctl, put

INSTALL, UNINSTALL = ("install", "--host", "claude"), ("uninstall", "--host", "claude")


@pytest.mark.parametrize("raw", ["1e3", '"\\u0037"', "12345678901234567890123", "null", '{ "a" : [1, 2] }'])
def test_a_forced_value_comes_back_in_its_own_spelling(raw: str, settings: Path, hookctl: Hookctl) -> None:
    text = f'{{\n  "env": {{"MAX_STOP_BLOCKS": {raw}}}\n}}\n'
    put(settings, text)
    outcome = hookctl(*INSTALL)
    assert f'"MAX_STOP_BLOCKS": {raw}' in settings.read_text()
    assert f"kept: your MAX_STOP_BLOCKS={raw};" in outcome.out
    hookctl(*INSTALL, "--force")
    assert json.loads(settings.read_bytes())["env"]["MAX_STOP_BLOCKS"] == "5"
    put(settings, settings.read_text() + "\n")  # somebody wrote, so no backup helps
    hookctl(*UNINSTALL)
    assert settings.read_text() == text + "\n"


@pytest.mark.parametrize("text", [b"", b"{ }", b"{\r\n}"])
def test_the_first_bytes_come_back_after_any_number_of_upgrades(text: bytes, settings: Path, hookctl: Hookctl) -> None:
    put(settings, text)
    for limit in range(1, 14):
        hookctl(*INSTALL, "--set", f"max_stop_blocks={limit}")
    hookctl(*UNINSTALL)
    assert settings.read_bytes() == text


def test_a_disk_that_fails_at_the_ledger_takes_the_settings_back(
    settings: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(settings, b'{"a": 1}').chmod(0o640)
    real = os.replace

    def replace(source: str, target: str) -> None:
        if target.endswith("ledger.json"):
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    outcome = hookctl(*INSTALL, "--json")
    assert (outcome.code, outcome.result["errors"][0]["code"]) == (1, "write_failed")
    assert (settings.read_bytes(), settings.stat().st_mode & 0o777) == (b'{"a": 1}', 0o640)
    assert not Path(folders.here().data).exists()
    assert not os.path.exists(folders.here().pending)


def test_a_removed_file_that_is_put_back_has_its_mode(
    settings: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    hookctl(*INSTALL)
    settings.chmod(0o644)
    before, real = settings.read_bytes(), os.unlink

    def unlink(path: str) -> None:
        if path.endswith("config.json"):
            raise OSError(5, "Input/output error")
        real(path)

    monkeypatch.setattr(os, "unlink", unlink)
    assert hookctl(*UNINSTALL).code == 1
    assert (settings.read_bytes(), settings.stat().st_mode & 0o777) == (before, 0o644)
    assert Path(folders.here().data, "guard", "claude-user", "hook.py").exists()


@pytest.mark.parametrize("command", [INSTALL, UNINSTALL])
@pytest.mark.parametrize("text", ["[]", '{"env": []}', '{"hooks": {"Stop": {}}}', '{"env": {}, "env": {}}', "{", "\\"])
def test_a_file_of_a_wrong_shape_is_refused_with_its_line(
    command: tuple[str, ...], text: str, settings: Path, hookctl: Hookctl
) -> None:
    put(settings, '{"a": 1}')
    hookctl(*INSTALL)
    put(settings, "\n" + text)
    outcome = hookctl(*command, "--json")
    error = outcome.result["errors"][0]
    assert (outcome.code, error["path"], error["line"]) == (4, str(settings), 2)
    assert settings.read_text() == "\n" + text
