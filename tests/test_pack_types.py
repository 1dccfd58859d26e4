"""A value of the wrong type, at any key of a pack, is an error with its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookctl.system.package_data import read_data

from .conftest import Hookctl, put

# One key a line. A line of a table inside another has its dots.
PACK = """\
pack.name = "own"
pack.version = "1"
pack.description = "d"
pack.protocol = "claude"
files.include = ["a.sh"]
rules.text = "t"
env.A = "1"
env.B.value = "1"
env.B.merge = "max"
host.claude.env.C = "1"
[[hooks]]
event = "PreToolUse"
id = "i"
command = "c"
timeout = 5
matcher = "Bash"
on_failure = "deny"
may_allow = true
hosts = ["claude"]
[[host.claude.hooks]]
event = "Stop"
id = "j"
command = "c"
timeout = 5
[[host.claude.hooks]]
event = "PostToolUse"
matcher = "Bash"
command = "c"
"""
LINES = PACK.splitlines()
KEYS = [number for number, line in enumerate(LINES) if " = " in line]
TABLES = [
    "pack", "files", "rules", "env", "env.B", "host", "host.claude", "host.claude.env", "host.claude.hooks", "hooks",
]  # fmt: skip
VALUES = [
    "7", "1.5", "inf", "99999999999999999999", "true", "1979-05-27", "07:32:00", "'?'", "''", "[]", "[7]", "[[7]]",
    "[{}]", "[true, true]", "{}", "{ a = 7 }", "{ value = 7 }",
]  # fmt: skip


def outcomes(hookctl: Hookctl, lines: list[str], number: int, key: str) -> dict[str, tuple[int, int | None]]:
    """With each of the values at a line: the exit status, and the line of the error."""
    found = {}
    for value in VALUES:
        put(Path("own.toml"), "\n".join([*lines[:number], f"{key} = {value}", *lines[number + 1 :]]) + "\n")
        done = hookctl("plan", "./own.toml", "--host", "claude", "--json")
        found[value] = done.code, done.result["errors"][0].get("line") if done.code else None
    return found


@pytest.mark.parametrize("number", KEYS, ids=lambda number: f"{number + 1} {LINES[number].split(' =')[0]}")
def test_a_value_of_a_wrong_type(hookctl: Hookctl, number: int) -> None:
    put(Path("a.sh"), "")
    key = LINES[number].split(" = ")[0]
    found = outcomes(hookctl, LINES, number, key)
    refused = [value for value, (code, _) in found.items() if code]
    assert {found[value] for value in refused} == {(4, number + 1)}
    assert len(refused) >= 14, "one type is right"


@pytest.mark.parametrize("table", TABLES)
def test_a_value_in_place_of_a_table(hookctl: Hookctl, table: str) -> None:
    put(Path("a.sh"), "")
    head = [] if table == "pack" else ['pack = { name = "own", version = "1" }']
    found = outcomes(hookctl, [*head, ""], len(head), table)
    refused = [value for value, (code, _) in found.items() if code]
    assert {found[value] for value in refused} == {(4, len(head) + 1)}
    assert len(refused) >= 14, "one type is right"


def test_those_are_all_keys_of_a_pack() -> None:
    written = {line.split(" =")[0].split(".")[-1] for line in LINES if " = " in line}
    assert set(keys(json.loads(read_data("schemas", "pack.schema.json")))) - {"include"} <= written | set(TABLES)


def keys(schema: Any) -> list[str]:
    """The keys that a schema names, at any depth."""
    if isinstance(schema, list):
        return [key for inner in schema for key in keys(inner)]
    if not isinstance(schema, dict):
        return []
    own = list(schema.get("properties", {}))
    return own + [key for inner in schema.values() for key in keys(inner)]
