"""Do the tests bite? Break the code in one random place at a time, and see whether an area's tests notice.

    pip install -e '.[dev,mutation]'
    python tests/mutation.py --sample 400 --seed 1 --jobs 2 [--area engine ...]

The mutants are cosmic-ray's; the same seed draws the same ones from the same code, each area an equal share. A place is
drawn first and then one of the ways to break it, so that an operator with many ways does not count for more. Every
mutant runs in a copy of the tree: first the tests that run the broken line, as coverage saw them, the quickest first
and a minute's worth; then, where those notice nothing, the area's tests that run it in processes of their own. The
hook always runs in a process of its own, so a copy of it that tells its functions shows which tests run them. A mutant
that hangs counts as caught. The survivors' diffs go to a file.
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
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
_COPIED = ("hookctl", "schemas", "templates", "tests", "docs", "pyproject.toml", "README.md", "mkdocs.yml")
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "e2e", ".hypothesis", ".cache")
_PYTEST = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
_PATIENCE = 3  # times what a clean pass takes, and half a minute
CAUGHT, SURVIVED = "caught", "survived"


class Area(NamedTuple):
    """What is broken, by name patterns, and the tests that ought to notice."""

    files: tuple[str, ...]
    processes: tuple[str, ...] = ()  # tests that run the files in processes, which coverage does not see
    telling: tuple[str, ...] = ()  # tests that run the files in processes, which tell their functions
    without: str = "/never/"  # a part of the names that do not belong to it


AREAS = {
    "engine": Area(("hookctl/ownership/engine.py",)),
    "plan": Area(("hookctl/ownership/*.py",)),
    "documents": Area(("hookctl/documents/**/*.py",), without="yaml"),
    "run": Area(
        ("hookctl/ownership/*.py", "hookctl/system/files.py", "hookctl/system/backups.py"),
        ("tests/test_crash.py", "tests/test_syscalls.py", "tests/test_races.py"),
    ),
    "hook": Area(("templates/guard/**/*.py",), telling=("tests/templates", "tests/test_wrap_command.py")),
}
# What coverage does not see into, or what takes too long to be asked of each mutant.
_NOT_MEASURED = (
    "e2e", "test_crash.py", "test_syscalls.py", "test_races.py", "test_interleaving.py", "test_machine.py",
    "test_wheel.py", "test_startup.py", "templates",
)  # fmt: skip
_SECONDS = 60  # of measured tests for one mutant
_RAN, _PLACES = "ran", "places"  # what a telling function writes, and what of it belongs to which test
_TELL = """
def _tell(place, told=set()):
    if place not in told:
        told.add(place)
        with open({file!r}, "a") as file:
            file.write(place + "\\n")
"""


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
    for (path, position), ways in places:
        if len(drawn) == count:
            break
        operator, occurrence = chance.choice(ways)
        line = position[0][0]
        mutant = _mutant(area, path, line, operator, occurrence)
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


def _mutant(area: str, path: str, line: int, operator: str, occurrence: int) -> Mutant | None:
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
    return Mutant(area, path, line, operator.removeprefix("core/"), was, text)


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
    call = [*_PYTEST, *tests, f"--basetemp={tree / 'temporary'}"]
    process = subprocess.Popen(
        call, cwd=tree, env=_environ(tree), start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        return process.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        print(f"{tree.name}: cut off after {seconds:.0f} s", file=sys.stderr, flush=True)
        return False
    finally:
        _end(process)


def _environ(tree: Path) -> dict[str, str]:
    home = tree / "home"
    home.mkdir(exist_ok=True)
    environ = {**os.environ, "PYTHONPATH": str(tree), "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(tree / "examples")
    return environ


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what a mutant may have left running, in its group alone."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


# Which tests run a line


class Measured(NamedTuple):
    """What one run of the tests under coverage has shown."""

    seconds: dict[str, float]  # of each test function
    tests: dict[tuple[str, int], set[str]]  # the test functions that run a line

    def of(self, mutant: Mutant) -> tuple[tuple[str, ...], float]:
        """The quickest tests that run the mutant's line, and how many seconds they take."""
        chosen, total = [], 0.0
        running = self.tests.get((mutant.path, mutant.line), set()) & self.seconds.keys()
        for test in sorted(running, key=lambda name: (self.seconds[name], name)):
            if chosen and total + self.seconds[test] > _SECONDS:
                break
            chosen.append(test)
            total += self.seconds[test]
        return tuple(chosen), total


def measure(tree: Path, folder: Path) -> Measured:
    """Run the tests once under coverage; where `folder` has the outcome of such a run, read that."""
    data, report = folder / "coverage", folder / "report.xml"
    if not report.exists():
        folder.mkdir(exist_ok=True)
        config = folder / "coveragerc"
        config.write_text(f"[run]\ndynamic_context = test_function\nsource = hookctl\ndata_file = {data}\n")
        tests = ["tests", *(f"--ignore=tests/{name}" for name in _NOT_MEASURED)]
        call = [sys.executable, "-m", "coverage", "run", f"--rcfile={config}", *_PYTEST[1:], *tests]
        call += [f"--junitxml={report}", "-o", "junit_family=xunit1", f"--basetemp={tree / 'temporary'}"]
        call = [*(word for word in call if word != "-x"), "--continue-on-collection-errors"]
        subprocess.run(call, cwd=tree, env=_environ(tree), stdout=subprocess.DEVNULL, check=False)
    return Measured(_seconds(report), _tests_of_lines(data))


def measure_telling(tree: Path, folder: Path, area: Area) -> Measured:
    """Run the area's tests once while its functions tell that they run; `folder` as above."""
    report, places = folder / "telling.xml", folder / _PLACES
    if not report.exists():
        folder.mkdir(exist_ok=True)
        was = {path: (tree / path).read_text() for path in _files(area)}
        for path, text in was.items():
            (tree / path).write_text(_telling(path, text, tree / _RAN))
        call = [*_PYTEST[:3], *_PYTEST[4:], *area.telling, "-p", "tests.mutation", f"--junitxml={report}"]
        call += ["-o", "junit_family=xunit1", f"--basetemp={tree / 'temporary'}"]
        subprocess.run(call, cwd=tree, env=_environ(tree), stdout=subprocess.DEVNULL, check=False)
        for path, text in was.items():
            (tree / path).write_text(text)
        shutil.copy(tree / _PLACES, places)
    return Measured(_seconds(report), _tests_of_functions(places.read_text(), _files(area)))


def _telling(path: str, text: str, file: Path) -> str:
    """A module whose functions write their place into a file, once in a process."""
    module = ast.parse(text)
    functions = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]
    first = next(node for node in module.body if not isinstance(node, ast.Expr | ast.ImportFrom | ast.Import))
    added = [(first.lineno, _TELL.format(file=str(file)))]
    for node in functions:
        begin = next((child for child in node.body if not _is_text(child)), None)
        if begin and begin.lineno > node.lineno:
            added.append((begin.lineno, f"{' ' * begin.col_offset}_tell({f'{path}:{node.lineno}'!r})\n"))
    lines = text.splitlines(keepends=True)
    for number, line in sorted(added, reverse=True):
        lines.insert(number - 1, line)
    return "".join(lines)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def pytest_runtest_logfinish(nodeid: str) -> None:
    """What was told since the last test belongs to this one: for pytest, in the run above."""
    ran = ROOT / _RAN
    if ran.exists():
        name = nodeid.partition("[")[0]
        with (ROOT / _PLACES).open("a") as file:
            file.writelines(f"{name}\t{place}\n" for place in dict.fromkeys(ran.read_text().split()))
        ran.unlink()


def _tests_of_functions(places: str, paths: list[str]) -> dict[tuple[str, int], set[str]]:
    """The tests that run the function that a line is in; for a line of no function, those that run any of its file."""
    ran: dict[tuple[str, int], set[str]] = {}
    for line in set(places.splitlines()):
        test, _, place = line.partition("\t")
        path, _, number = place.rpartition(":")
        ran.setdefault((path, int(number)), set()).add(test)
    tests: dict[tuple[str, int], set[str]] = {}
    for path in paths:
        text = (ROOT / path).read_text()
        whole = set().union(*(names for (other, _), names in ran.items() if other == path))
        tests |= {(path, number): whole for number in range(1, text.count("\n") + 2)}
        functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
        for node in functions:  # from the outside to the inside
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            tests |= {(path, number): ran.get((path, node.lineno), set()) for number in lines}
    return tests


def _seconds(report: Path) -> dict[str, float]:
    """How long each test function took that passes on the code as it is; the others could catch nothing."""
    seconds: dict[str, float] = {}
    failed = set()
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('file')}::{str(case.get('name')).partition('[')[0]}"
        seconds[name] = seconds.get(name, 0.0) + float(case.get("time", 0))
        if case.find("failure") is not None or case.find("error") is not None:
            failed.add(name)
    for name in failed:
        print(f"{name} fails on the code as it is, and is left out", file=sys.stderr)
        del seconds[name]
    return seconds


def _tests_of_lines(path: Path) -> dict[tuple[str, int], set[str]]:
    from coverage import CoverageData

    data = CoverageData(str(path))
    data.read()
    tests: dict[tuple[str, int], set[str]] = {}
    for file in data.measured_files():
        name = file[file.rindex("/hookctl/") + 1 :]
        whole: set[str] = set()
        for line, contexts in data.contexts_by_lineno(file).items():
            tests[name, line] = {_node(context) for context in contexts if context}
            whole |= tests[name, line]
        for line in data.contexts_by_lineno(file):  # what ran when the file was imported
            tests[name, line] = tests[name, line] or whole
    return tests


def _node(context: str) -> str:
    """The name that pytest has for a function: tests.documents.test_a.test_b is tests/documents/test_a.py::test_b."""
    module, _, function = context.rpartition(".")
    return f"{module.replace('.', '/')}.py::{function}"


# Running the mutants


def measured_areas(tree: Path, folder: Path, areas: list[str]) -> dict[str, Measured]:
    """For each area what a run of the tests has shown of it."""
    seen = [name for name in areas if not AREAS[name].telling]
    covered = measure(tree, folder) if seen else Measured({}, {})
    told = {name: measure_telling(tree, folder, AREAS[name]) for name in areas if AREAS[name].telling}
    return {**dict.fromkeys(seen, covered), **told}


def outcome(mutant: Mutant, trees: queue.Queue[Path], measured: dict[str, Measured], limits: dict[str, float]) -> str:
    """Whether the tests catch a mutant."""
    tree = trees.get()
    try:
        (tree / mutant.path).write_text(mutant.text)
        tests, seconds = measured[mutant.area].of(mutant)
        survives = not tests or passes(tree, tests, _PATIENCE * seconds + 30)
        others = AREAS[mutant.area].processes
        if survives and others:
            survives = passes(tree, others, limits[mutant.area])
        result = SURVIVED if survives else CAUGHT
    finally:
        (tree / mutant.path).write_text(mutant.was)
        trees.put(tree)
    place = f"{mutant.path}:{mutant.line}"
    print(f"{mutant.area} {place} {mutant.operator} ({len(tests)} tests): {result}", file=sys.stderr, flush=True)
    return result


def limit_of(tests: tuple[str, ...], tree: Path) -> float:
    """How long these tests may take; they must pass on the code as it is."""
    begin = time.monotonic()
    if not passes(tree, tests, 1200):
        raise SystemExit(f"these tests fail on the code as it is: {' '.join(tests)}")
    clean = time.monotonic() - begin
    print(f"{' '.join(tests)}: a clean pass takes {clean:.0f} s", file=sys.stderr, flush=True)
    return _PATIENCE * clean + 30


def table(mutants: list[Mutant], outcomes: list[str]) -> list[str]:
    """A line an area, and one for all."""
    lines = [f"{'area':12} mutants  caught  survived"]
    for area in [*sorted({mutant.area for mutant in mutants}), "all"]:
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
    parser.add_argument("--measured", metavar="FOLDER", help="keep the run under coverage there, and use it again")
    options = parser.parse_args()
    areas = options.area or list(AREAS)
    shares = [options.sample // len(areas) + (n < options.sample % len(areas)) for n in range(len(areas))]
    mutants = [mutant for area, n in zip(areas, shares, strict=True) for mutant in draw(area, n, options.seed)]
    random.Random(options.seed).shuffle(mutants)  # so that the first ones already say something of the whole
    with tempfile.TemporaryDirectory(prefix="mutation-") as name, ThreadPoolExecutor(options.jobs) as pool:
        folder = Path(name).resolve()
        trees: queue.Queue[Path] = queue.Queue()
        for tree in copies(folder, options.jobs):
            trees.put(tree)
        first = trees.queue[0]
        kept = Path(options.measured).resolve() if options.measured else folder / "measured"
        measured = measured_areas(first, kept, areas)
        limits = {area: limit_of(AREAS[area].processes, first) for area in areas if AREAS[area].processes}
        outcomes = list(pool.map(lambda mutant: outcome(mutant, trees, measured, limits), mutants))
    survivors = [mutant.diff() for mutant, end in zip(mutants, outcomes, strict=True) if end == SURVIVED]
    Path(options.survivors).write_text("\n".join(survivors))
    print(*table(mutants, outcomes), sep="\n")
    print(f"the survivors' diffs are in {options.survivors}")


if __name__ == "__main__":
    main()
