"""The operator's last word, from one end to the other: what they change stays, and uninstall takes only ours."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hookctl.system import folders
from tests.conftest import Hookctl, put

LIMIT, CAP = "MAX_STOP_BLOCKS", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
INSTALL, UNINSTALL = ("install", "--host", "claude"), ("uninstall", "--host", "claude")


@pytest.fixture
def installed(hookctl: Hookctl, settings: Path) -> Path:
    """The settings file after an install into one that has a little of the operator's."""
    put(settings, '{\n  "model": "m"\n}\n')
    assert hookctl(*INSTALL).code == 0
    return settings


def document(path: Path) -> Any:
    return json.loads(path.read_bytes())


def edit(path: Path, **env: str | None) -> None:
    """Set or remove (None) env keys as a person does, the rest of the file as it is."""
    here = document(path)
    for key, value in env.items():
        if value is None:
            del here["env"][key]
        else:
            here["env"][key] = value
    path.write_text(json.dumps(here, indent=4))


def handler(path: Path) -> dict[str, Any]:
    return document(path)["hooks"]["Stop"][0]["hooks"][0]


def kept(outcome: Any) -> list[str]:
    return [line.strip() for line in outcome.out.splitlines() if " kept: " in line]


def runtime(name: str = "hook.py") -> Path:
    return Path(folders.here().data) / "guard" / "claude-user" / name


# Values of env


def test_a_limit_without_end_gets_the_highest_cap(installed: Path, hookctl: Hookctl) -> None:
    edit(installed, **{LIMIT: "0"})
    hookctl(*INSTALL)
    assert document(installed)["env"] == {LIMIT: "0", CAP: "5000"}


def test_what_stays_is_named_with_how_to_remove_it(installed: Path, hookctl: Hookctl) -> None:
    text = installed.read_text().replace('"MAX_STOP_BLOCKS": "5"', '"MAX_STOP_BLOCKS": "9"')
    installed.write_text(text)
    out = hookctl("uninstall").out
    assert [line for line in out.splitlines() if line.startswith("To remove MAX_STOP_BLOCKS too, delete it by hand:")]
    assert json.loads(installed.read_text())["env"] == {"MAX_STOP_BLOCKS": "9"}
    assert "To remove" not in hookctl("uninstall").out


def test_a_cap_of_their_own_is_kept(installed: Path, hookctl: Hookctl) -> None:
    edit(installed, **{CAP: "3", LIMIT: "12"})
    hookctl(*INSTALL)
    hookctl(*INSTALL, "--set", "max_stop_blocks=20")
    assert document(installed)["env"] == {LIMIT: "12", CAP: "3"}


@pytest.mark.parametrize("left", [b'{"model": "m"}', b"{}", b"", None])
def test_after_a_wipe_everything_is_put_back(installed: Path, hookctl: Hookctl, left: bytes | None) -> None:
    installed.unlink() if left is None else installed.write_bytes(left)
    findings = hookctl("doctor", "--host", "claude", "--json").data["findings"]
    assert any(finding["level"] == "error" for finding in findings)
    assert hookctl(*INSTALL).code == 0
    assert document(installed)["env"] == {LIMIT: "5", CAP: "8"}
    assert "hookctl=guard/stop" in handler(installed)["command"]
    hookctl(*UNINSTALL)
    if left is None:
        assert not installed.exists() or document(installed) == {}
    else:
        assert installed.read_bytes() == left


def test_uninstall_after_a_wipe_makes_no_file(installed: Path, hookctl: Hookctl) -> None:
    installed.unlink()
    assert hookctl(*UNINSTALL).code == 0
    assert not installed.exists()
    assert not runtime().exists()


@pytest.mark.parametrize("raw", ["1e3", '"\\u0037"', "12345678901234567890123", "null", '{ "a" : [1, 2] }'])
def test_a_forced_value_comes_back_in_its_own_spelling(raw: str, settings: Path, hookctl: Hookctl) -> None:
    text = f'{{\n  "env": {{"MAX_STOP_BLOCKS": {raw}}}\n}}\n'
    put(settings, text)
    outcome = hookctl(*INSTALL)
    assert f'"MAX_STOP_BLOCKS": {raw}' in settings.read_text()
    assert f"your MAX_STOP_BLOCKS={raw}" in kept(outcome)[0]
    hookctl(*INSTALL, "--force")
    assert document(settings)["env"][LIMIT] == "5"
    put(settings, settings.read_text() + "\n")  # somebody wrote, so no backup helps
    hookctl(*UNINSTALL)
    assert settings.read_text() == text + "\n"


# Options


@pytest.mark.parametrize("text", [b"", b"{ }", b"{\r\n}"])
def test_the_first_bytes_come_back_after_any_number_of_upgrades(text: bytes, settings: Path, hookctl: Hookctl) -> None:
    put(settings, text)
    for limit in range(1, 14):
        hookctl(*INSTALL, "--set", f"max_stop_blocks={limit}")
    hookctl(*UNINSTALL)
    assert settings.read_bytes() == text


# What may not be written


def test_a_read_only_file_that_we_made_is_not_removed(settings: Path, hookctl: Hookctl) -> None:
    hookctl(*INSTALL)
    settings.chmod(0o444)
    before = settings.read_bytes()
    assert hookctl(*UNINSTALL).code == 1
    assert settings.read_bytes() == before


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
    assert runtime().exists()


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


@pytest.mark.parametrize("command", [(*INSTALL, "--set", "max_stop_blocks=9"), UNINSTALL])
def test_a_read_only_file_is_refused_and_nothing_else_is_written(
    command: tuple[str, ...], installed: Path, hookctl: Hookctl
) -> None:
    installed.chmod(0o444)
    before = installed.read_bytes(), Path(folders.here().ledger).read_bytes(), runtime().read_bytes()
    outcome = hookctl(*command, "--json")
    assert (outcome.code, outcome.result["errors"][0]["code"]) == (1, "read_only")
    assert (installed.read_bytes(), Path(folders.here().ledger).read_bytes(), runtime().read_bytes()) == before
    assert not os.path.exists(folders.here().journal)
    assert not os.path.exists(folders.here().pending)
