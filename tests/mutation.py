"""Do the tests bite? Break the code in one random place at a time, and see whether an area's tests notice.

    pip install -e '.[dev,mutation]'
    python tests/mutation.py --sample 400 --seed 1 --jobs 2 [--area engine ...]

The mutants are cosmic-ray's; the same seed draws the same ones from the same code, each area an equal share. A place is
drawn first and then one of the ways to break it, so that an operator with many ways does not count for more. Every
mutant runs in a copy of the tree. One that hangs counts as caught. The survivors' diffs go to a file.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import os
import queue
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
_COPIED = ("hookctl", "schemas", "templates", "tests", "docs", "pyproject.toml", "README.md")
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "e2e", ".hypothesis", ".cache")
_PYTEST = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
_PATIENCE = 3  # times what a clean pass takes, and half a minute
CAUGHT, SURVIVED = "caught", "survived"


class Area(NamedTuple):
    """What is broken, by name patterns, and the tests that ought to notice."""

    files: tuple[str, ...]
    quick: tuple[str, ...]
    slower: tuple[str, ...]  # asked only where the quick ones notice nothing
    without: str = "/never/"  # a part of the names that do not belong to it


AREAS = {
    "engine": Area(
        ("hookctl/engine.py",),
        ("tests/test_engine.py", "tests/test_engine_wraps.py"),
        ("tests/test_machine.py", "tests/test_invariants.py", "tests/test_overrides.py"),
    ),
    "plan": Area(
        ("hookctl/planner/*.py",),
        ("tests/test_overrides.py", "tests/test_stories.py"),
        (
            "tests/test_restore.py", "tests/test_wrap.py", "tests/test_project_ledger.py", "tests/test_gaps.py",
            "tests/test_moved.py", "tests/test_modes.py", "tests/test_trust.py", "tests/test_invariants.py",
            "tests/test_hook_upgrade.py", "tests/test_cli_contract.py", "tests/test_doctor_fix.py",
            "tests/test_scopes.py",
        ),
    ),
    "documents": Area(
        ("hookctl/documents/**/*.py",),
        ("tests/documents/test_jsonc.py", "tests/documents/test_toml.py", "tests/documents/test_plugin.py"),
        (
            "tests/documents", "tests/test_masking.py", "tests/test_report.py", "tests/test_hostile_settings.py",
            "tests/test_stories.py", "tests/test_opencode.py",
        ),
        without="yaml",
    ),
    "transaction": Area(
        ("hookctl/transaction.py", "hookctl/system/files.py", "hookctl/system/backups.py"),
        ("tests/test_files.py", "tests/test_ledger.py", "tests/test_restore.py"),
        (
            "tests/test_invariants.py", "tests/test_modes.py", "tests/test_folders_of_ours.py",
            "tests/test_stories.py", "tests/test_pull_after_kill.py", "tests/test_hostile_repository.py",
            "tests/test_crash.py", "tests/test_syscalls.py", "tests/test_races.py",
        ),
    ),
    "hook": Area(
        ("templates/guard/**/*.py",),
        ("tests/templates/test_hook_order.py", "tests/templates/test_hook_scenarios.py",
         "tests/templates/test_hook_rules.py"),
        ("tests/templates", "tests/test_wrap.py"),
    ),
}


class Mutant(NamedTuple):
    """One file with one place of it broken."""

    area: str
    path: str
    operator: str
    was: str
    text: str

    def diff(self) -> str:
        """What is broken, as a diff."""
        lines = difflib.unified_diff(
            self.was.splitlines(keepends=True), self.text.splitlines(keepends=True), self.path, self.operator, n=2
        )
        return "".join(lines)


# Drawing


def draw(area: str, count: int, seed: int) -> list[Mutant]:
    """As many different mutants of an area, or all where there are fewer."""
    chance = random.Random(f"{seed} {area}")
    places = sorted(_places(AREAS[area]).items())
    chance.shuffle(places)
    drawn: list[Mutant] = []
    for (path, _), ways in places:
        if len(drawn) == count:
            break
        operator, occurrence = chance.choice(ways)
        mutant = _mutant(area, path, operator, occurrence)
        if mutant:
            drawn.append(mutant)
    return drawn


def _places(area: Area) -> dict[tuple[str, Any], list[tuple[str, int]]]:
    """Every place that can be broken, by file and position, and the ways to do it."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    operators = {name: get_operator(name) for name in sorted(operator_names())}
    plain = {name: operator() for name, operator in operators.items() if not operator.arguments()}
    places: dict[tuple[str, Any], list[tuple[str, int]]] = {}
    for path in _files(area):
        nodes = list(ast_nodes(get_ast((ROOT / path).read_text())))
        for name, operator in plain.items():
            positions = [position for node in nodes for position in operator.mutation_positions(node)]
            for occurrence, position in enumerate(positions):
                places.setdefault((path, position), []).append((name, occurrence))
    return places


def _files(area: Area) -> list[str]:
    paths = {path for pattern in area.files for path in ROOT.glob(pattern)}
    names = [str(path.relative_to(ROOT)) for path in paths]
    return sorted(name for name in names if area.without not in name)


def _mutant(area: str, path: str, operator: str, occurrence: int) -> Mutant | None:
    """The mutant; None where nothing is broken by it that runs."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    was = (ROOT / path).read_text()
    text = mutate_code(was, get_operator(operator)(), occurrence)
    try:
        if text is None or _meaning(text) == _meaning(was):
            return None
    except SyntaxError:
        return None
    return Mutant(area, path, operator.removeprefix("core/"), was, text)


def _meaning(text: str) -> str:
    """What of a module runs: its syntax tree without annotations, which nothing reads."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
    return ast.dump(tree)


# Running


def copies(top: Path, count: int) -> Iterator[Path]:
    """Copies of the tree, one for each job."""
    for number in range(count):
        folder = top / str(number)
        folder.mkdir()
        for name in _COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=_LEFT_OUT)
            else:
                shutil.copy(ROOT / name, folder / name)
        yield folder


def passes(tree: Path, tests: tuple[str, ...], seconds: float) -> bool:
    """Whether these tests pass in this copy within the time."""
    home = tree / "home"
    home.mkdir(exist_ok=True)
    environ = {**os.environ, "PYTHONPATH": str(tree), "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(tree / "examples")
    call = [*_PYTEST, *tests, f"--basetemp={tree / 'temporary'}"]
    process = subprocess.Popen(
        call, cwd=tree, env=environ, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        return process.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what a mutant may have left running, in its group alone."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def limits_of(area: str, tree: Path) -> tuple[float, float]:
    """How long an area's quick and slower tests may take; they must pass on the code as it is."""
    return limit_of(AREAS[area].quick, tree), limit_of(AREAS[area].slower, tree)


def limit_of(tests: tuple[str, ...], tree: Path) -> float:
    """How long these tests may take; they must pass on the code as it is."""
    begin = time.monotonic()
    if not passes(tree, tests, 1200):
        raise SystemExit(f"these tests fail on the code as it is: {' '.join(tests)}")
    clean = time.monotonic() - begin
    print(f"{' '.join(tests)}: a clean pass takes {clean:.0f} s", file=sys.stderr)
    return _PATIENCE * clean + 30


def outcome(mutant: Mutant, trees: queue.Queue[Path], limits: dict[str, tuple[float, float]]) -> str:
    """Whether the tests catch a mutant."""
    tree = trees.get()
    try:
        (tree / mutant.path).write_text(mutant.text)
        area, (quick, slower) = AREAS[mutant.area], limits[mutant.area]
        survives = passes(tree, area.quick, quick) and passes(tree, area.slower, slower)
        result = SURVIVED if survives else CAUGHT
    finally:
        (tree / mutant.path).write_text(mutant.was)
        trees.put(tree)
    print(f"{mutant.area} {mutant.path} {mutant.operator}: {result}", file=sys.stderr)
    return result


def table(mutants: list[Mutant], outcomes: list[str]) -> list[str]:
    """A line an area, and one for all."""
    lines = [f"{'area':12} mutants  caught  survived"]
    for area in [*dict.fromkeys(mutant.area for mutant in mutants), "all"]:
        own = [end for mutant, end in zip(mutants, outcomes, strict=True) if area in (mutant.area, "all")]
        caught = own.count(CAUGHT)
        share = f"{100 * caught / len(own):.0f} %" if own else ""
        lines.append(f"{area:12} {len(own):7}  {caught:6}  {own.count(SURVIVED):8}  {share}")
    return lines


def main() -> None:
    """Draw the mutants, run them, and print what became of them."""
    parser = argparse.ArgumentParser(prog="tests/mutation.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sample", type=int, default=400, metavar="N", help="how many mutants in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--area", action="append", choices=list(AREAS), help="only this one; several times if need be")
    parser.add_argument("--survivors", default="survivors.diff", metavar="FILE", help="where their diffs go")
    options = parser.parse_args()
    areas = options.area or list(AREAS)
    shares = [options.sample // len(areas) + (n < options.sample % len(areas)) for n in range(len(areas))]
    mutants = [mutant for area, n in zip(areas, shares, strict=True) for mutant in draw(area, n, options.seed)]
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder, ThreadPoolExecutor(options.jobs) as pool:
        trees: queue.Queue[Path] = queue.Queue()
        for tree in copies(Path(folder).resolve(), options.jobs):
            trees.put(tree)
        limits = {area: limits_of(area, trees.queue[0]) for area in areas}
        outcomes = list(pool.map(lambda mutant: outcome(mutant, trees, limits), mutants))
    survivors = [mutant.diff() for mutant, end in zip(mutants, outcomes, strict=True) if end == SURVIVED]
    Path(options.survivors).write_text("\n".join(survivors))
    print(*table(mutants, outcomes), sep="\n")
    print(f"the survivors' diffs are in {options.survivors}")


if __name__ == "__main__":
    main()
