"""Which branches does no test take, and why? `python -m tests.branches`; `--write` renews the page.

    pip install -e '.[dev,mutation]'
    python -m tests.branches [--measured FOLDER] [--write]

A branch is one way on from a line that has several, or into an `except`. The tests run once under
coverage, and the guard's programs, which are processes of their own, under `tests/traced.py`. Every
branch that was not taken needs a reason in tests/branches.toml, and every reason a branch that was
not taken. Branches are named by the text of their lines, so that the list survives other edits.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests import traced

ROOT = Path(__file__).resolve().parents[1]
REASONS = ROOT / "tests" / "branches.toml"
PAGE = ROOT / "docs" / "security.md"
HEAD = ["| where | branch | why no test takes it |", "| --- | --- | --- |"]
MEASURED = (
    "hookctl/engine.py", "hookctl/run/*.py", "hookctl/documents/*.py", "hookctl/ledger/*.py",
    "templates/guard/*.py", "templates/guard/guard/*.py",
)  # fmt: skip
# Each of these runs what is measured in its own process; together they take every branch that any test takes.
TESTS = (
    "documents", "test_branches_*.py", "test_codec.py", "test_engine*.py", "test_former_links.py",
    "test_hostile_repository.py", "test_invariants.py", "test_ledger*.py", "test_masking.py", "test_moved*.py",
    "test_odd_inputs.py", "test_overrides.py", "test_pending_run.py", "test_pull_after_kill.py", "test_restore.py",
    "test_scopes.py", "test_whose.py",
)  # fmt: skip
# These start the guard's programs with the lab's interpreter.
TESTS_OF_PROGRAMS = ("templates", "test_branches_of_guard.py")
_ABOUT_THE_PROCESS = "test_the_usual_call_imports_none_of_the_dear_modules"  # the tracer imports some


class Branch(NamedTuple):
    """A way on from a line to another, both by their text."""

    file: str
    function: str  # empty: of the module
    line: str
    to: str  # "end of the function" where it leaves it


class Reasoned(NamedTuple):
    """A branch, and why no test takes it."""

    branch: Branch
    reason: str


# Measuring


def measure(folder: Path) -> None:
    """Run the tests under coverage, those of the guard's programs under the tracer; data goes to `folder`."""
    config = folder / "coveragerc"
    included = "".join(f"    {ROOT / pattern}\n" for pattern in MEASURED)
    config.write_text(f"[run]\nbranch = true\ndata_file = {folder / 'of_tests'}\ninclude =\n{included}")
    _run_pytest([sys.executable, "-m", "coverage", "run", f"--rcfile={config}", "-m", "pytest"], TESTS, {})
    stand_in = traced.lay_stand_in(folder)
    environ = {"HOOKCTL_PYTHON_UNDER_TEST": str(stand_in)}
    _run_pytest([sys.executable, "-m", "pytest"], TESTS_OF_PROGRAMS, environ)


def _run_pytest(command: list[str], patterns: tuple[str, ...], environ: dict[str, str]) -> None:
    tests = sorted(str(path) for pattern in patterns for path in (ROOT / "tests").glob(pattern))
    environ = {**os.environ, **environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [*command, "-q", "-p", "no:cacheprovider", "-k", f"not {_ABOUT_THE_PROCESS}", *tests]
    done = subprocess.run(command, cwd=ROOT, env=environ, check=False)
    if done.returncode:
        raise SystemExit("these tests fail, so what they do not run says nothing")


def not_taken(folder: Path) -> set[Branch]:
    """The branches that no measured test took."""
    from coverage import Coverage, CoverageData

    data = CoverageData(str(folder / "whole"))
    data.erase()
    for path in folder.glob("of_tests*"):
        part = CoverageData(str(path))
        part.read()
        data.update(part)
    data.add_arcs({str(path): steps for path, steps in traced.steps(folder).items()})
    files = sorted(str(path) for pattern in MEASURED for path in ROOT.glob(pattern))
    data.touch_files(files)
    data.write()
    report = folder / "report.json"
    coverage = Coverage(data_file=str(folder / "whole"), config_file=False, include=files)
    coverage.load()
    coverage.json_report(outfile=str(report))
    found: set[Branch] = set()
    for name, file in json.loads(report.read_text())["files"].items():
        found.update(_branches(ROOT / name, file))
    return found


def _branches(path: Path, report: dict[str, Any]) -> Iterator[Branch]:
    text = path.read_text()
    lines, tree = text.splitlines(), ast.parse(text)
    ways = [(line, to) for line, to in report["missing_branches"]]
    missing = set(report["missing_lines"])
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and node.body[0].lineno in missing:
            ways.append((node.lineno, node.body[0].lineno))
    for line, to in ways:
        target = lines[to - 1].strip() if to > 0 else "end of the function"
        yield Branch(str(path.relative_to(ROOT)), _function(tree, line), lines[line - 1].strip(), target)


def _function(tree: ast.Module, line: int) -> str:
    """The names around a line, as in Class.method."""
    names = []
    for node in ast.walk(tree):
        is_named = isinstance(node, ast.FunctionDef | ast.ClassDef)
        if is_named and node.lineno <= line <= (node.end_lineno or 0):
            names.append(node.name)
    return ".".join(names)


# The reasons


def read_reasons() -> list[Reasoned]:
    """What tests/branches.toml says."""
    rows = tomllib.loads(REASONS.read_text()).get("branch", [])
    return [Reasoned(Branch(*(row[name] for name in Branch._fields)), row["reason"]) for row in rows]


def faults(found: set[Branch], reasons: list[Reasoned]) -> list[str]:
    """A line for each branch without a reason, and for each reason without a branch."""
    known = {row.branch for row in reasons}
    lines = [f"no test takes it, and no reason is given: {_named(branch)}" for branch in sorted(found - known)]
    lines += [f"a test takes it, or it is gone: {_named(branch)}" for branch in sorted(known - found)]
    lines += [f"an empty reason: {_named(row.branch)}" for row in reasons if not row.reason.strip()]
    return lines


def _named(branch: Branch) -> str:
    return f"{branch.file} {branch.function or '(module)'}: `{branch.line}` -> `{branch.to}`"


def table(reasons: list[Reasoned]) -> list[str]:
    """The table of the page: a row a branch."""
    rows = []
    for branch, reason in sorted(reasons):
        where = f"`{branch.file}` {branch.function}".strip()
        way = f"`{branch.line}` → `{branch.to}`".replace("|", "\\|")
        rows.append(f"| {where} | {way} | {reason} |")
    return [*HEAD, *rows]


def renewed(page: str, rows: list[str]) -> str:
    """The page with these rows."""
    lines = page.splitlines()
    begin = lines.index(HEAD[0])
    end = next((n for n in range(begin, len(lines)) if not lines[n].startswith("|")), len(lines))
    return "\n".join([*lines[:begin], *rows, *lines[end:]]) + "\n"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.branches", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--measured", metavar="FOLDER", help="keep what was measured there, and use it again")
    parser.add_argument("--write", action="store_true", help="put the table into docs/security.md")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="branches-") as name:
        folder = Path(options.measured or name).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "notes").exists():
            measure(folder)
        found = not_taken(folder)
    reasons = read_reasons()
    wrong = faults(found, reasons)
    print(*wrong, sep="\n")
    print(f"{len(found)} branches that no test takes, {len(reasons)} reasons")
    if options.write and not wrong:
        PAGE.write_text(renewed(PAGE.read_text(), table(reasons)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
