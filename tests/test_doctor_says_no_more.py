"""doctor says what is fine for users of packs, one reason where one is enough, and nothing nobody asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookctl import hosts
from hookctl.hosts import settings_path
from tests.conftest import Hookctl, put

PACK = """[pack]
name = "bell"
version = "2"
[files]
include = ["ring.sh"]
[[hooks]]
event = "stop"
command = "sh {files}/ring.sh"
"""


def findings(hookctl: Hookctl, *options: str) -> list[dict[str, Any]]:
    return hookctl("doctor", "--json", *options).data["findings"]


def codes(hookctl: Hookctl, *options: str) -> list[str]:
    return [finding["code"] for finding in findings(hookctl, *options)]


def stop_hook(**more: Any) -> str:
    return json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}, **more})


def test_a_fault_of_the_work_is_said_once_however_many_hosts_see_it(hookctl: Hookctl, settings: Path) -> None:
    assert hookctl("install", "--host", "claude", "--host", "gemini").code == 0
    put(Path(".hookctl/run/task.json"), "{nope")
    said = hookctl("doctor").out
    assert said.count("[task_unreadable]") == 1 and "1 warning" in said
    assert codes(hookctl).count("task_unreadable") == 2, "each host has its own for a machine"


# Hooks of others on a machine without the guard


def test_a_harmless_stop_hook_is_nobodys_business_without_the_guard(hookctl: Hookctl, settings: Path) -> None:
    put(settings, stop_hook())
    outcome = hookctl("doctor")
    assert "say" not in outcome.out
    assert "no errors, no warnings" in outcome.out
    assert codes(hookctl) == ["not_installed"]


@pytest.mark.parametrize("name", ["ralph-loop", "notes"])
def test_nor_is_a_plugin_that_the_cap_ends(hookctl: Hookctl, settings: Path, name: str) -> None:
    put(settings, json.dumps({"enabledPlugins": {f"{name}@market": True}}))
    assert codes(hookctl) == ["not_installed"]


def test_a_cap_that_is_off_is_said_and_the_advice_has_no_defaults(hookctl: Hookctl, settings: Path) -> None:
    put(settings, stop_hook(env={"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}))
    (finding,) = [finding for finding in findings(hookctl) if finding["code"] == "foreign_stop"]
    assert finding["level"] == "info", "nobody knows whether it blocks"
    assert finding["fix"].startswith("`hookctl install --host claude` ends such chains.")


# People who use packs only


@pytest.fixture
def bell(isolated: Path, fixed_python: None) -> str:
    put(isolated / "work" / "bell" / "ring.sh", "echo\n")
    put(isolated / "work" / "bell" / "pack.toml", PACK)
    return str(isolated / "work" / "bell")


@pytest.mark.parametrize("host", hosts.names())
def test_a_pack_that_is_fine_has_a_line_and_the_guard_none(bell: str, hookctl: Hookctl, host: str) -> None:
    approve = ["--trust"] if host == "codex" else []
    assert hookctl("install", bell, "--host", host, *approve).code == 0
    said = hookctl("doctor", "--verbose").out
    assert "guard" not in said
    if host != "hermes":  # it waits for an approval
        assert "bell 2 is as installed: 1 hook, 1 file" in hookctl("doctor").out
        assert "pack_fine" in codes(hookctl)


def test_where_something_is_wrong_no_pack_is_fine(bell: str, isolated: Path, hookctl: Hookctl) -> None:
    assert hookctl("install", bell, "--host", "claude").code == 0
    (isolated / "data" / "packs" / "bell" / "claude-user" / "ring.sh").unlink()
    assert "pack_fine" not in codes(hookctl)


def test_a_client_of_a_host_without_anything_of_ours_is_not_missed(bell: str, isolated: Path, hookctl: Hookctl) -> None:
    assert hookctl("install", bell, "--host", "claude").code == 0
    (isolated / "home" / ".codex").mkdir()
    missing = [finding["host"] for finding in findings(hookctl) if finding["code"] == "client_missing"]
    assert missing == ["claude"]
    absent = [finding["host"] for finding in findings(hookctl) if finding["code"] == "not_installed"]
    assert absent == ["codex"]


# One reason is enough


@pytest.mark.parametrize(("host", "before"), [("claude", "// mine\n"), ("gemini", "\ufeff")])
def test_a_file_that_the_host_refuses_has_one_reason(
    isolated: Path, hookctl: Hookctl, fixed_python: None, host: str, before: str
) -> None:
    assert hookctl("install", "--host", host).code == 0
    path = Path(settings_path(hosts.load(host), "user", {"HOME": str(isolated / "home")}))
    path.write_text(before + path.read_text())
    wrong = [finding["code"] for finding in findings(hookctl) if finding["level"] != "info"]
    assert wrong == ["strict_host"]
