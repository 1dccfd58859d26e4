"""The hosts' data files, where they lead, and what an install writes for each: its golden file."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hookctl import hosts
from hookctl.errors import HookctlError
from hookctl.system.folders import asset

from .conftest import Hookctl, put

FOLDER = Path(hosts.__file__).parent
SCHEMA = json.loads(Path(asset("schemas", "host.schema.json")).read_text())


@pytest.mark.parametrize("name", hosts.names())
def test_every_host_file_keeps_to_the_schema(name: str) -> None:
    data = tomllib.loads((FOLDER / f"{name}.toml").read_text())
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(data)
    assert data["name"] == name
    assert set(data.get("sure_events", {})) <= set(data["events"])
    assert len(set(data["events"].values())) == len(data["events"])
    oldest, newest = (data["client"].get(name, "0").split(".") for name in ("minimum", "seen"))
    assert [int(part) for part in oldest] <= [int(part) for part in newest]


def test_the_schema_refuses_what_it_does_not_know() -> None:
    data = tomllib.loads((FOLDER / "claude.toml").read_text())
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for wrong in (
        {**data, "colour": "red"}, {**data, "format": "ini"}, {**data, "events": {"lunch": "Lunch"}},
        {key: data[key] for key in data if key != "dialect"}, {**data, "cap": {**data["cap"], "default": "8"}},
        {**data, "timeout_unit": "minutes"}, {**data, "name": "../claude"},
    ):  # fmt: skip
        assert not validator.is_valid(wrong)


def test_hosts_are_loaded_by_name() -> None:
    assert "claude" in hosts.names()
    assert hosts.load("claude").title == "Claude Code"
    assert hosts.load("claude").events["stop"] == "Stop"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("claud", "Did you mean claude? "), ("Claude", "Did you mean claude? "), ("emacs", ""),
        ("claude-code", "Did you mean claude? "), ("GEMINI-cli", "Did you mean gemini? "),
        ("claude,codex", "Give --host once for each host. "),
    ],
)  # fmt: skip
def test_an_unknown_host_is_refused_with_the_one_that_may_be_meant(name: str, meant: str) -> None:
    with pytest.raises(HookctlError, match=f"unknown host '{name}'") as caught:
        hosts.load(name)
    assert caught.value.hint.startswith(f"{meant}Known hosts: antigravity, ")


def page_of_claude(hookctl: Hookctl) -> dict[str, Any]:
    return next(page for page in hookctl("hosts", "--json").data["hosts"] if page["host"] == "claude")


def test_the_hosts_own_variable_moves_its_folder(
    hookctl: Hookctl, settings: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(isolated / "elsewhere"))
    assert hookctl("install", "--host", "claude").code == 0
    assert (isolated / "elsewhere" / "settings.json").exists()
    assert not settings.parent.exists()
    page = page_of_claude(hookctl)
    assert page["files"] == {
        "user": str(isolated / "elsewhere" / "settings.json"),
        "project": "<project>/.claude/settings.json",
        "local": "<project>/.claude/settings.local.json",
    }
    assert page["scopes_supported"] == ["user", "project", "local"]
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "relative")
    page = page_of_claude(hookctl)
    assert page["files"]["user"] == str(isolated / "work" / "relative" / "settings.json")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "")
    page = page_of_claude(hookctl)
    assert page["files"]["user"] == str(settings)


def detected(hookctl: Hookctl) -> str:
    page = page_of_claude(hookctl)
    return page["detected"]


def test_a_host_is_detected_by_its_program_or_its_folder(
    hookctl: Hookctl, settings: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(isolated / "bin"))
    assert detected(hookctl) == ""
    assert "detected  no" in hookctl("hosts").out
    settings.parent.mkdir()
    assert detected(hookctl) == str(settings.parent)
    program = put(isolated / "bin" / "claude", "#!/bin/sh\n")
    assert detected(hookctl) == str(settings.parent), "a file that cannot run is no program"
    program.chmod(0o755)
    assert detected(hookctl) == str(program)
    assert hookctl("install", "--host", "all").code == 0


def test_hosts_shows_events_and_how_sure(hookctl: Hookctl) -> None:
    page = page_of_claude(hookctl)
    assert {"event": "stop", "name": "Stop", "sure": "proven"} in page["events"]
    assert {"event": "notification", "name": "Notification", "sure": "read"} in page["events"]
    key = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
    assert page["cap"] == {"key": key, "default": 8, "counts_anew": True, "off": "0 or less"}
    out = hookctl("hosts").out
    for words in ("claude: Claude Code", "~/.claude/settings.json (json, no comments)", "stop=Stop"):
        assert words in out
    assert "~/.gemini/settings.json (json with comments)" in out
    assert "~/.hermes/config.yaml (yaml)" in out


def test_hosts_names_the_other_files_that_hooks_may_stand_in(hookctl: Hookctl) -> None:
    pages = {page["host"]: page["also"] for page in hookctl("hosts", "--json").data["hosts"]}
    assert [path.rsplit("/", 2)[1:] for path in pages["codex"]] == [[".codex", "config.toml"]] * 2
    assert [path.rsplit("/", 2)[1:] for path in pages["droid"]] == [[".factory", "hooks.json"]] * 2
    assert [host for host, files in pages.items() if files] == ["codex", "droid"]
    assert "or        ~/.codex/config.toml, where hooks count from there" in hookctl("hosts").out
