"""Approvals in Codex's config.toml: written on --trust only, kept up, taken out again, and never the operator's."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hookctl import apply, files, folders, interpreter
from hookctl.model import Record
from tests.conftest import Hookctl, put
from tests.disk import data_of, outcome, put_back, quiet, reached, temporary, tree
from tests.test_crash import killed

CONFIG = '# mine\r\nmodel = "m"\r\n\r\n[projects."/a"]\r\ntrust_level = "trusted"\r\n'
CODEX = ("--host", "codex")
INSTALL, TRUST, UNINSTALL = ("install", *CODEX), ("install", *CODEX, "--trust"), ("uninstall", *CODEX)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No disk to wait for, and no interpreter to look for."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    monkeypatch.setattr(interpreter, "choose", lambda environ: ("/usr/bin/python3", ""))


@pytest.fixture
def config(isolated: Path) -> Path:
    return put(isolated / "home" / ".codex" / "config.toml", CONFIG.replace("\r\n", "\n")).absolute()


def approved(config: Path) -> dict[str, Any]:
    """The approvals: the place of the hook to what stands there."""
    state = tomllib.loads(config.read_text()).get("hooks", {}).get("state", {})
    return {key.removeprefix(f"{config.parent}/"): about for key, about in state.items()}


def test_nothing_is_approved_without_being_asked(hookctl: Hookctl, config: Path) -> None:
    before = config.read_bytes()
    done = hookctl(*INSTALL)
    assert done.code == 0
    assert config.read_bytes() == before
    assert "approve it under /hooks" in done.err


def test_what_was_asked_for_is_kept_up_and_goes_with_the_hook(hookctl: Hookctl, config: Path) -> None:
    config.write_bytes(CONFIG.encode())
    assert hookctl(*TRUST).code == 0
    first = approved(config)
    assert list(first) == ["hooks.json:stop:0:0"]
    assert b"\n" not in config.read_bytes().replace(b"\r\n", b"")
    assert hookctl(*INSTALL).out == "nothing to do\n"
    assert hookctl(*INSTALL, "--dispatch", "Bash").code == 0
    assert list(approved(config)) == ["hooks.json:stop:0:0", "hooks.json:pre_tool_use:0:0"]
    assert hookctl(*INSTALL, "--dispatch", "").code == 0
    assert approved(config) == first
    assert hookctl(*UNINSTALL).code == 0
    assert config.read_bytes() == CONFIG.encode()


def test_it_follows_a_hook_that_somebody_moved(hookctl: Hookctl, config: Path) -> None:
    hookctl(*TRUST)
    (digest,) = (about["trusted_hash"] for about in approved(config).values())
    path = config.with_name("hooks.json")
    page = json.loads(path.read_text())
    page["hooks"]["Stop"].insert(0, {"hooks": [{"type": "command", "command": "say"}]})
    path.write_text(json.dumps(page))
    assert hookctl(*INSTALL).code == 0
    assert approved(config) == {"hooks.json:stop:1:0": {"trusted_hash": digest}}


def test_an_approval_of_the_operators_own_stays(hookctl: Hookctl, config: Path) -> None:
    hookctl(*TRUST)
    theirs = config.read_bytes()
    hookctl(*UNINSTALL)
    config.write_bytes(theirs)
    assert hookctl(*TRUST).code == 0
    assert hookctl(*UNINSTALL).code == 0
    assert config.read_bytes() == theirs


def test_what_the_operator_put_beside_it_stays_too(hookctl: Hookctl, config: Path) -> None:
    hookctl(*TRUST)
    config.write_text(config.read_text() + "enabled = false\n")
    assert hookctl(*UNINSTALL).code == 0
    assert approved(config) == {"hooks.json:stop:0:0": {"enabled": False}}


@pytest.mark.parametrize("there", [False, True])
def test_a_file_goes_only_if_it_was_made_for_that(hookctl: Hookctl, config: Path, there: bool) -> None:
    if there:
        config.write_text("")
    else:
        config.unlink()
    assert hookctl(*TRUST).code == 0
    assert config.exists()
    assert hookctl(*UNINSTALL).code == 0
    assert config.exists() == there


def test_with_the_hook_in_the_same_file_both_come_and_go(hookctl: Hookctl, config: Path) -> None:
    text = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "say"\n'
    config.write_text(text)
    assert hookctl(*TRUST).code == 0
    assert list(approved(config)) == ["config.toml:stop:1:0"]
    assert hookctl(*TRUST).out == "nothing to do\n"
    assert hookctl(*UNINSTALL).code == 0
    assert config.read_text() == text


def test_a_file_that_cannot_be_read_stops_an_approval_and_no_removal(hookctl: Hookctl, config: Path) -> None:
    config.write_text("x =\n")
    done = hookctl(*TRUST)
    assert (done.code, "config.toml:1:4" in done.err) == (4, True)
    assert not config.with_name("hooks.json").exists()
    config.unlink()
    hookctl(*TRUST)
    config.write_text("x =\n")
    assert hookctl("uninstall", *CODEX).code == 0
    assert config.read_text() == "x =\n"


def test_where_nothing_is_to_be_approved_that_is_said(hookctl: Hookctl) -> None:
    assert "asks for no approval of hooks here" in hookctl("install", "--host", "qwen", "--trust").err


def test_the_run_after_a_kill_ends_as_if_nothing_had_happened(isolated: Path, config: Path) -> None:
    hooks, start = config.with_name("hooks.json"), tree(isolated)
    done, new = reached(isolated, start, TRUST), config.read_bytes()
    put_back(isolated, start)
    at = 1
    while killed(TRUST, at):
        assert data_of(config) in (start.data[str(config)], new), at
        assert data_of(hooks) in (None, done[0].data[str(hooks)]), at
        assert quiet(*TRUST) == 0
        assert (at, outcome(isolated), temporary(isolated)) == (at, done, [])
        put_back(isolated, start)
        at += 3
    assert at > 40


def test_a_write_after_a_kill_keeps_the_page_of_a_file_that_only_got_an_approval(config: Path) -> None:
    text = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "say"\n'
    config.write_text(text)
    assert quiet(*INSTALL) == 0
    before = (folders.here(), config.read_bytes())
    theirs = b"x = 1\n"
    step = apply.Step(str(config), files.digest(before[1]), files.digest(b"y = 1\n"), 0o600, True)
    apply._note(before[0], apply.Journal((step,), {}, (), ()))
    config.write_bytes(theirs)
    apply.recover(before[0])
    assert config.read_bytes() == theirs
    assert str(config) in json.loads(Path(before[0].ledger).read_text())["files"]


@pytest.mark.parametrize(("format", "data", "torn"), [("toml", b"a = 1\n", False), ("toml", b"a =\n", True)])
def test_a_file_without_backups_is_torn_if_its_own_format_does_not_read_it(
    isolated: Path, format: str, data: bytes, torn: bool
) -> None:
    step = apply.Step("x", "0" * 64, "", 0o600, True)
    found = files.Snapshot("x", data, 2)
    assert apply._is_torn(folders.here(), found, step, Record("codex", "user", format)) == torn
    assert not apply._is_torn(folders.here(), found, step, None)
