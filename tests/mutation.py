"""Do the tests bite? Break the code in one random place at a time, and see whether its tests notice.

    pip install -e '.[dev,mutation]'
    python tests/mutation.py --sample 200 --seed 1 --jobs 2 [--area decide ...]

The mutants are cosmic-ray's; the same seed draws the same ones from the same code, each area an equal share. A place is
drawn first and then one of the ways to break it, so that an operator with many ways does not count for more. Every
mutant runs in a copy of the tree, against the tests of its area, for at most three times what a clean pass takes; one
that hangs counts as caught. The survivors go to a file, as diffs.
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
_COPIED = (
    "hookctl", "schemas", "templates", "tests", "docs", "pyproject.toml", "README.md", "mkdocs.yml", "CHANGELOG.md"
)  # fmt: skip
_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".hypothesis", ".cache")
_PYTEST = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
CAUGHT, SURVIVED = "caught", "survived"


class Area(NamedTuple):
    """What is broken, by name patterns without those behind it, and the tests that ought to notice in a few minutes."""

    files: tuple[str, ...]
    tests: tuple[str, ...]


AREAS = {
    "decide": Area(("hookctl/ownership/engine.py",), ("tests/test_engine.py",)),
    "plan": Area(
        tuple(f"hookctl/ownership/{name}.py" for name in (
            "approvals", "content", "disable", "disabled", "draft", "install", "own_files", "plan",
            "restore", "rules", "wraps")),
        tuple(f"tests/test_{name}.py" for name in (
            "moved_home", "rules", "one_launcher", "hostile_settings", "made_by_0_2_0", "disable",
            "corpus_bytes", "stories")),
    ),
    "execute": Area(
        tuple(f"hookctl/{name}.py" for name in (
            "ownership/execute", "ownership/run", "ownership/store", "ownership/codec", "ownership/committed",
            "system/files", "system/packages")),
        ("tests/test_recover.py", "tests/test_files.py", "tests/test_project_ledger.py"),
    ),
    "edit": Area(("hookctl/documents/*.py",), ("tests/documents",)),
    "runtime": Area(
        ("templates/guard/**/*.py", "templates/runner/**/*.py"), tuple(f"tests/templates/test_{name}.py" for name in (
            "hook_scenarios", "hook_rules", "functions_of_the_guard", "runner_answers", "runner_receipts"))),
}  # fmt: skip


class Mutant(NamedTuple):
    """One file with one place of it broken."""

    area: str
    path: str
    line: int
    operator: str
    was: str
    text: str

    def diff(self) -> str:
        """What is broken, as a diff."""
        texts = self.was.splitlines(keepends=True), self.text.splitlines(keepends=True)
        return "".join(difflib.unified_diff(*texts, self.path, self.operator, n=2))


# Drawing
def draw(area: str, count: int, seed: int) -> list[Mutant]:
    """As many different mutants of an area, or all where there are fewer."""
    chance = random.Random(f"{seed} {area}")
    places = sorted(_places(AREAS[area]).items())
    chance.shuffle(places)
    drawn: list[Mutant] = []
    for (path, position), ways in places:
        if len(drawn) == count:
            break
        mutant = _mutant(area, path, position[0][0], *chance.choice(ways))
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
    for file in sorted({file for pattern in area.files for file in ROOT.glob(pattern)}):
        nodes = list(ast_nodes(get_ast(file.read_text())))
        for name, operator in plain.items():
            positions = [position for node in nodes for position in operator.mutation_positions(node)]
            for occurrence, position in enumerate(positions):
                places.setdefault((str(file.relative_to(ROOT)), position), []).append((name, occurrence))
    return places


def _mutant(area: str, path: str, line: int, operator: str, occurrence: int) -> Mutant | None:
    """The mutant; None where nothing is broken by it that runs."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    was = (ROOT / path).read_text()
    text = mutate_code(was, get_operator(operator)(), occurrence)
    with contextlib.suppress(SyntaxError):
        if text is not None and _meaning(text) != _meaning(was):
            return Mutant(area, path, line, operator.removeprefix("core/"), was, text)
    return None


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
        (folder / "home").mkdir(parents=True)
        for name in _COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, folder / name, **({"ignore": _LEFT_OUT} if (ROOT / name).is_dir() else {}))
        yield folder


def passes(tree: Path, tests: tuple[str, ...], seconds: float) -> bool:
    """Whether these tests pass in this copy within the time."""
    environ = {**os.environ, "PYTHONPATH": str(tree), "HOME": str(tree / "home"), "PYTHONDONTWRITEBYTECODE": "1"}
    environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(tree / "examples")
    call = [*_PYTEST, *tests, f"--basetemp={tree / 'temporary'}"]
    process = subprocess.Popen(
        call, cwd=tree, env=environ, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        return process.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        print(f"{tree.name}: cut off after {seconds:.0f} s", file=sys.stderr, flush=True)
        return False
    finally:
        with contextlib.suppress(ProcessLookupError):  # what a mutant may have left running, in its group alone
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def survives(mutant: Mutant, tests: tuple[str, ...], trees: queue.Queue[Path], seconds: float) -> bool:
    """Whether these tests miss a mutant."""
    tree = trees.get()
    try:
        (tree / mutant.path).write_text(mutant.text)
        missed = passes(tree, tests, seconds)
    finally:
        (tree / mutant.path).write_text(mutant.was)
        trees.put(tree)
    outcome = SURVIVED if missed else CAUGHT
    print(f"{mutant.area} {mutant.path}:{mutant.line} {mutant.operator}: {outcome}", file=sys.stderr, flush=True)
    return missed


def limit_of(tests: tuple[str, ...], tree: Path) -> float:
    """How long these tests may take; they must pass on the code as it is."""
    begin = time.monotonic()
    if not passes(tree, tests, 600):
        raise SystemExit(f"these tests fail on the code as it is: {' '.join(tests)}")
    clean = time.monotonic() - begin
    print(f"{' '.join(tests)}: a clean pass takes {clean:.0f} s", file=sys.stderr, flush=True)
    return 3 * clean + 10


def main() -> None:
    """Draw the mutants, run them, and print what became of them."""
    parser = argparse.ArgumentParser(prog="tests/mutation.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sample", type=int, default=200, metavar="N", help="how many mutants in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--area", action="append", choices=list(AREAS), help="only this one; several times if need be")
    parser.add_argument("--survivors", default="survivors.diff", metavar="FILE", help="where their diffs go")
    options = parser.parse_args()
    areas = options.area or list(AREAS)
    shares = [options.sample // len(areas) + (n < options.sample % len(areas)) for n in range(len(areas))]
    mutants = [mutant for area, n in zip(areas, shares, strict=True) for mutant in draw(area, n, options.seed)]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutation-") as name, ThreadPoolExecutor(options.jobs) as pool:
        trees: queue.Queue[Path] = queue.Queue()
        for tree in copies(Path(name).resolve(), options.jobs):
            trees.put(tree)
        limits = {area: limit_of(AREAS[area].tests, trees.queue[0]) for area in areas}
        missed = list(pool.map(lambda one: survives(one, AREAS[one.area].tests, trees, limits[one.area]), mutants))
        left = [mutant for mutant, is_missed in zip(mutants, missed, strict=True) if is_missed]
    print(f"{'area':12} mutants  caught")
    for area in areas:
        own = [mutant for mutant in mutants if mutant.area == area]
        caught = len(own) - sum(mutant.area == area for mutant in left)
        print(f"{area:12} {len(own):7}  {caught:6}  {100 * caught / max(1, len(own)):.0f} %")
    print(f"{time.monotonic() - begin:.0f} s; the survivors' diffs are in {options.survivors}")
    Path(options.survivors).write_text("\n".join(mutant.diff() for mutant in left))


if __name__ == "__main__":
    main()
