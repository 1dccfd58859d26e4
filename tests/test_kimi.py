"""Kimi Code, whose strict list of hooks stands in a settings file that it writes anew by itself."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from hookctl import hosts
from hookctl.documents import formats
from hookctl.hosts.loading import find_fault
from tests.conftest import Hookctl, put
from tests.manifest import hook as pack_hook
from tests.manifest import manifest

HOST = ("--host", "kimi")
STOP = '[[hooks]]\nevent = "Stop"\ncommand = "bell"\n'
MINE = f"""\
# mine
default_model = "m"   # the model

{STOP}timeout = 5

[models.m]
provider = "x"
"""
PACK = manifest("slow", pack_hook("stop", "true", timeout=900), protocol="host")


@pytest.fixture
def config(isolated: Path) -> Path:
    return put(isolated / "home" / ".kimi-code" / "config.toml", MINE)


def write_anew(path: Path) -> None:
    """What the client makes of the file where it cannot edit it: its values, and no comment."""
    value = tomllib.loads(path.read_text())
    lines = [f"{name} = {json.dumps(text)}" for name, text in value.items() if isinstance(text, str)]
    tables = [("[models.m]", value["models"]["m"])] if "models" in value else []
    for header, table in [*tables, *(("[[hooks]]", hook) for hook in value["hooks"])]:
        lines += ["", header, *(f"{name} = {json.dumps(text)}" for name, text in table.items())]
    path.write_text("\n".join(lines) + "\n")
    assert tomllib.loads(path.read_text()) == value


def test_our_hooks_are_found_and_taken_out_where_the_client_wrote_the_file_anew(hookctl: Hookctl, config: Path) -> None:
    write_anew(config)
    without = config.read_text()
    config.write_text(MINE)
    hookctl("install", *HOST)
    write_anew(config)
    rewritten = config.read_bytes()
    assert "#" not in config.read_text()
    assert hookctl("install", *HOST, "--json").data["actions"] == []
    assert config.read_bytes() == rewritten
    hooks = hookctl("hooks", *HOST, "--json").data["hooks"]
    assert [hook["state"] for hook in hooks] == ["runs"] * 4
    done = hookctl("uninstall")
    assert (done.code, done.err) == (0, "")
    assert config.read_text() == without


def test_no_hook_has_a_field_or_a_timeout_that_would_cost_all_of_them(
    hookctl: Hookctl, config: Path, isolated: Path
) -> None:
    said = hookctl("install", str(put(isolated / "slow.toml", PACK)), *HOST)
    assert said.code == 0
    hook = tomllib.loads(config.read_text())["hooks"][-1]
    assert (sorted(hook), hook["timeout"]) == (["command", "event", "timeout"], 600)
    assert hosts.timeout(hosts.load("claude"), 900) == 900


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ('name = "mine"\n', 'has "name", which no hook may have there'),
        ("timeout = 0\n", "has timeout, which must be above 0"),
        ("timeout = 601\n", "has timeout, which must be 600 or less"),
        ("timeout = 1.5\n", "has a timeout that is not a whole number"),
        ('timeout = "5"\n', "has timeout, which must be of type number"),
        ("matcher = 1\n", "has matcher, which must be of type string"),
        ('[[hooks]]\nevent = "Stop"\n', "has no command"),
        ('[[hooks]]\nevent = "Stop"\ncommand = ""\n', "has command, which must be more than an empty text"),
        ('[[hooks]]\nevent = "stop"\ncommand = "bell"\n', "event is no event of Kimi Code"),
        ('[[hooks]]\ncommand = "bell"\n', "names no event"),
    ],
)
def test_a_hook_that_the_client_cannot_take_costs_all_of_them(more: str, reason: str) -> None:
    host = hosts.load("kimi")
    lost = find_fault(host, "user", "config.toml", formats.parse(host.format, (STOP + more).encode()))
    assert lost is not None and reason in lost.text
