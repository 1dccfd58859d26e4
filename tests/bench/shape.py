"""How the code is written, in figures: python -m tests.bench.shape [CHECKOUT ...] prints a column for each checkout.

Lines are lines that are not blank, but of the tests all.
"""

from __future__ import annotations

import ast
import collections
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).parents[2]
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_AIMS = {
    "modules at the root": "12",
    "comprehensions in 1,000 lines": "35",
    "ternaries in 1,000 lines": "30",
    "line width p90": "92",
    "lines of tests": "36,000",
}


class Module(NamedTuple):
    """One source file."""

    lines: list[str]  # those that are not blank
    tree: ast.Module

    @classmethod
    def read(cls, path: Path) -> Module:
        text = path.read_text()
        return cls([line for line in text.splitlines() if line.strip()], ast.parse(text))


def figures(checkout: Path) -> dict[str, str]:
    """What is measured of one checkout, by its name."""
    modules = [Module.read(path) for path in sorted((checkout / "hookctl").rglob("*.py"))]
    tests = list((checkout / "tests").rglob("*.py"))
    lines = sum(len(module.lines) for module in modules)
    sizes = [len(module.lines) for module in modules]
    functions = [size for module in modules for size in _functions(module.tree)]
    widths = [len(line) for module in modules for line in module.lines]
    nodes = [node for module in modules for node in ast.walk(module.tree)]
    names = collections.Counter(name for module in modules for name in _bound(module.tree))
    return {
        "lines / files": f"{lines:,} / {len(modules)}",
        "modules at the root": str(len(list((checkout / "hookctl").glob("*.py")))),
        "file median / p90 / max": _spread(sizes),
        "function median / p90 / max": _spread(functions),
        "line width p90": str(_percentile(widths, 90)),
        "comprehensions in 1,000 lines": _in_a_thousand(nodes, _COMPREHENSIONS, lines),
        "ternaries in 1,000 lines": _in_a_thousand(nodes, (ast.IfExp,), lines),
        "most frequent variables": ", ".join(f"{name} {count}" for name, count in names.most_common(12)),
        "lines of tests": f"{sum(len(path.read_text().splitlines()) for path in tests):,}",
    }


def _functions(tree: ast.Module) -> Iterator[int]:
    """How many lines each function has, the signature and the docstring included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def _bound(tree: ast.Module) -> Iterator[str]:
    """Every name that is bound to a value, once for each time."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _in_a_thousand(nodes: list[ast.AST], kinds: tuple[type[ast.AST], ...], lines: int) -> str:
    return str(round(1000 * sum(isinstance(node, kinds) for node in nodes) / lines))


def _percentile(values: list[int], percent: int) -> int:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


def _spread(values: list[int]) -> str:
    return f"{round(statistics.median(values))} / {_percentile(values, 90)} / {max(values)}"


def table(checkouts: list[Path]) -> list[str]:
    """A row for each figure, a column for each checkout, and the aim where there is one."""
    columns = [figures(checkout) for checkout in checkouts]
    rows = []
    for name in columns[0]:
        values = "  ".join(f"{column[name]:>20}" for column in columns)
        rows.append(f"{name:32}{values}  {_AIMS.get(name, '')}".rstrip())
    return rows


if __name__ == "__main__":
    given = [Path(name).resolve() for name in sys.argv[1:]]
    print(*table(given or [CHECKOUT]), sep="\n")
