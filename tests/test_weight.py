"""The ratchet: no sum of this repository is above its number of the day.

A commit that earns it lowers its number here; one that adds what is wanted raises it, up to the aim.
`pytest -s tests/test_weight.py` prints the rooms and every sum.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.bench import walk

ROOT = Path(__file__).parents[1]
SUMS = {  # the number of the day, and where it goes
    "lines of hookctl/": (25_344, 25_500),
    "statements of hookctl/": (17_500, 17_500),
    "lines of templates/": (5_199, 5_200),
    "lines of host data": (5_226, 5_500),
    "lines of tests/": (37_993, 38_000),
    "lines of docs/": (2_398, 2_400),
    "lines of README.md": (100, 100),
}
WALKS = {  # functions of hookctl called, and calls from one of its files into another
    "first install": ((293, 300), (301, 350)),
    "install with nothing to do": ((223, 200), (213, 180)),
    "doctor": ((303, 330), (441, 450)),
    "uninstall": ((268, 300), (369, 400)),
}


def lines(paths: Iterable[Path]) -> int:
    return sum(len(path.read_bytes().splitlines()) for path in paths)


def statements(paths: Iterable[Path]) -> int:
    return sum(isinstance(node, ast.stmt) for path in paths for node in ast.walk(ast.parse(path.read_bytes())))


def python(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


COUNTS: dict[str, Callable[[], int]] = {
    "lines of hookctl/": lambda: lines(python("hookctl")),
    "statements of hookctl/": lambda: statements(python("hookctl")),
    "lines of templates/": lambda: lines(python("templates")),
    "lines of host data": lambda: lines((ROOT / "hookctl" / "hosts").glob("*.toml")),
    "lines of tests/": lambda: lines(python("tests")),
    "lines of docs/": lambda: lines((ROOT / "docs").rglob("*.md")),
    "lines of README.md": lambda: lines([ROOT / "README.md"]),
}


def rooms() -> str:
    """Lines and statements of hookctl's rooms, the heaviest first."""
    found: dict[str, list[Path]] = {}
    for path in python("hookctl"):
        folder, *rest = path.relative_to(ROOT / "hookctl").parts
        found.setdefault(f"{folder}/" if rest else "root", []).append(path)
    rows = sorted(((lines(paths), statements(paths), name) for name, paths in found.items()), reverse=True)
    return "\n".join(f"{name:14}{count:7,} lines{stmts:7,} statements" for count, stmts, name in rows)


@pytest.fixture(scope="module", autouse=True)
def _print_rooms() -> None:
    print(f"\n{rooms()}")


@pytest.mark.parametrize("what", SUMS)
def test_no_sum_is_above_its_number_of_the_day(what: str) -> None:
    now, (number, aim) = COUNTS[what](), SUMS[what]
    print(f"{what}: {now:,} of {number:,}, on the way to {aim:,}")
    assert now <= number, (
        f"{what}: {now:,}, which is {now - number:,} above {number:,}. Take something out, or let what is wanted "
        f"raise the number in {Path(__file__).name}, up to the aim of {aim:,}.\n{rooms()}"
    )


@pytest.fixture(scope="module")
def walks() -> walk.Figures:
    return walk.measure(ROOT)


@pytest.mark.parametrize("command", WALKS)
def test_no_command_walks_further_than_on_the_day(command: str, walks: walk.Figures) -> None:
    for what, (number, aim) in zip(("functions", "crossings"), WALKS[command], strict=True):
        now = walks[command][what]
        print(f"{command}: {now:,} {walk.COLUMNS[what]} of {number:,}, on the way to {aim:,}")
        assert now <= number, (
            f"{command}: {now:,} {walk.COLUMNS[what]}, which is {now - number:,} above {number:,} (aim: {aim:,}); "
            f"`python -m tests.bench.walk` prints the whole table"
        )
