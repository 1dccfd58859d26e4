"""hookctl status where something cannot be read: the rest is shown all the same, and the exit code says so."""

from __future__ import annotations

import os
from pathlib import Path

from .conftest import Hookctl, put
from .trees import tree

INSTALL = ("install", "--host", "claude")


def test_a_projects_ledger_that_cannot_be_read_is_an_error_beside_what_is_known(
    isolated: Path, hookctl: Hookctl, settings: Path
) -> None:
    assert hookctl(*INSTALL).code == 0
    ledger = put(isolated / "work" / ".hookctl" / "ledger.json", "<<<<<<< ours\n")
    before = tree(isolated)
    outcome = hookctl("status", "--json")
    assert (outcome.code, outcome.result["status"], outcome.err) == (4, "error", "")
    (error,) = outcome.result["errors"]
    assert (error["code"], error["path"], error["line"]) == ("ledger_unreadable", str(ledger), 1)
    assert error["hint"] == "Resolve the settings files first; then `hookctl doctor --fix` makes it anew."
    (page,) = outcome.data["files"]
    assert (page["file"], page["error"]) == (str(settings), None)
    assert page["guard"].startswith("blocks at most 5 stops")

    shown = hookctl("status")
    assert shown.code == 4
    assert "guard 0.2.0: blocks" in shown.out
    assert f"error: {error['message']}: {ledger}:1:1\n  fix: {error['hint']}\n" in shown.err
    assert tree(isolated) == before


def test_a_settings_file_that_cannot_be_read_is_an_error_beside_the_others(
    isolated: Path, hookctl: Hookctl, settings: Path
) -> None:
    assert hookctl(*INSTALL).code == 0
    assert hookctl(*INSTALL, "--scope", "local").code == 0
    put(settings, '{"env": {')
    outcome = hookctl("status", "--json")
    assert outcome.code == 4
    (error,) = outcome.result["errors"]
    assert (error["code"], error["path"]) == ("unparsable", str(settings))
    torn, other = sorted(outcome.data["files"], key=lambda page: page["scope"] == "local")
    assert (torn["error"], torn["entries"]) == (error, [])
    assert other["error"] is None and other["entries"]

    shown = hookctl("status")
    assert shown.code == 4
    assert "what is in it is not known" in shown.out and "guard 0.2.0: blocks" in shown.out
    assert error["message"] in shown.err and error["message"] not in shown.out


def test_where_all_can_be_read_it_is_no_error(isolated: Path, hookctl: Hookctl) -> None:
    assert hookctl(*INSTALL, "--scope", "project").code == 0
    os.unlink(isolated / "work" / ".claude" / "settings.json")
    outcome = hookctl("status", "--json")
    assert (outcome.code, outcome.result["status"], outcome.result["errors"]) == (0, "ok", [])
    assert [entry["state"] for entry in outcome.data["files"][0]["entries"]] == ["missing"] * 3


def test_what_a_host_keeps_from_the_guard_is_not_promised(isolated: Path, hookctl: Hookctl) -> None:
    assert hookctl("install", "--host", "gemini", "--host", "cursor", "--preset", "nightly").code == 0
    cursor, gemini = [file["guard"] for file in hookctl("status", "--json").data["files"]]
    assert "tells a session at its start" in gemini
    assert "tells a session" not in cursor and cursor.count("--guidance does nothing") == 1


def test_hosts_stand_in_the_order_of_every_other_table(isolated: Path, hookctl: Hookctl) -> None:
    for host in ("claude", "antigravity"):
        assert hookctl("install", "--host", host).code == 0
    pages = hookctl("status", "--json").data["files"]
    assert [page["host"] for page in pages] == ["antigravity", "claude"]
    assert pages[1]["file"] < pages[0]["file"], "not in that of their paths"


def test_an_empty_file_of_a_host_that_agrees_to_commands_is_no_fault(isolated: Path, hookctl: Hookctl) -> None:
    path = put(isolated / "home" / ".hermes" / "config.yaml", "model: m\n")
    assert hookctl("install", "--host", "hermes").code == 0
    path.write_text("")
    done = hookctl("status")
    assert (done.code, done.err) == (0, "")
    assert "lets every stop pass (its hook for stop and post-tool is not registered)" in done.out
