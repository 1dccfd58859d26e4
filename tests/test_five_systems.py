"""The table of the five systems: every row is shown by a test that is there, or has its reason."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "five-systems.md"
SYSTEMS = {"bmad-automator": 20, "Nightly": 19, "OpenHands": 12, "RockBot": 16, "Hermes": 15}


def rows(system: str) -> list[list[str]]:
    """The cells of each row below a system's heading."""
    text = PAGE.read_text().partition(f"\n## {system}:")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def is_there(name: str) -> bool:
    """Whether a file of tests, or a test in it, exists."""
    path, _, test = name.partition("::")
    if not (ROOT / path).is_file():
        return False
    tree = ast.parse((ROOT / path).read_text())
    return not test or any(isinstance(node, ast.FunctionDef) and node.name == test for node in ast.walk(tree))


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_row_is_shown_or_has_its_reason(system: str) -> None:
    found = rows(system)
    assert len(found) >= SYSTEMS[system]
    for row in found:
        assert len(row) == 3 and all(row), row
        names = re.findall(r"`(tests/[^`]*)`", row[2])
        assert names or row[2].startswith("reason: "), row
        assert [name for name in names if not is_there(name)] == []


def test_a_name_of_no_test_is_noticed() -> None:
    assert not is_there("tests/test_five_systems.py::test_of_nothing")
    assert not is_there("tests/no_such_file.py")
    assert is_there("tests/test_five_systems.py::test_a_name_of_no_test_is_noticed")
