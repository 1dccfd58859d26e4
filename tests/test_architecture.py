"""Imports run one way, from the command line down to the values; and the engine does no I/O."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

from tests.texts import all_of

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "hookctl"

# From top to bottom: a module imports from the layers below its own, and from its own package.
LAYERS = [
    ["__main__"],
    ["cli"],
    ["verbs"],
    ["output"],
    ["firing"],
    ["checks"],
    ["survey"],
    ["work"],
    ["ownership"],
    ["packs"],
    ["settings", "receipts"],
    ["hosts"],
    ["documents"],
    ["system"],
    ["clock"],
    ["model", "errors", "masking"],
    ["values"],
    ["__init__"],
]


@functools.cache
def modules() -> dict[str, Path]:
    names = {path: path.relative_to(PACKAGE).with_suffix("").parts for path in PACKAGE.rglob("*.py")}
    return {".".join(parts).removesuffix(".__init__"): path for path, parts in names.items()}


def layer(name: str) -> int:
    """The layer of a module: of its own name, else of its package."""
    while name:
        for number, members in enumerate(LAYERS):
            if name in members:
                return number
        name = name.rpartition(".")[0]
    raise AssertionError("a module without a layer")


def imports(path: Path) -> Iterator[str]:
    """Every module of hookctl that a module imports, in functions and for types too."""
    tree = ast.parse(path.read_text())
    known = modules()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "hookctl":
                    yield alias.name.partition(".")[2] or "__init__"
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            if (node.module or "").partition(".")[0] == "hookctl":
                base = (node.module or "").partition(".")[2]
                for alias in node.names:
                    inner = f"{base}.{alias.name}".lstrip(".")
                    yield inner if inner in known else base or "__init__"


@all_of("name", sorted(modules()))
def test_imports_run_one_way(name: str) -> None:
    own = name.partition(".")[0]
    for imported in imports(modules()[name]):
        if imported.partition(".")[0] == own and own not in ("", "__init__"):
            continue
        assert layer(imported) > layer(name), f"{name} imports {imported}"


def test_nothing_imports_in_a_circle() -> None:
    graph = {name: set(imports(path)) - {name} for name, path in modules().items()}
    while graph:
        leaves = {name for name, needed in graph.items() if not needed & set(graph)}
        assert leaves, f"these import each other: {sorted(graph)}"
        graph = {name: needed for name, needed in graph.items() if name not in leaves}


def reached(name: str) -> set[str]:
    found, pending = set(), {name}
    while pending:
        module = pending.pop()
        found.add(module)
        pending |= set(imports(modules()[module])) - found
    return found


def test_the_engine_opens_nothing_asks_no_clock_and_reads_no_environment() -> None:
    assert reached("ownership.engine") <= {"ownership.engine", "model", "errors", "masking", "values"}
    for name in reached("ownership.engine"):
        for node in ast.walk(ast.parse(modules()[name].read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                plain = {"sys", "operator"} if name == "values" else set()  # it asks for Python's version
                assert {n.partition(".")[0] for n in names} - plain <= {
                    "__future__", "collections", "functools", "hookctl", "json", "re", "typing", "unicodedata",
                }  # fmt: skip
            if isinstance(node, ast.Name):
                assert node.id not in ("open", "print", "input", "exec", "eval", "__import__")


def calls(path: Path) -> set[str]:
    """What is called in a module, as it is written."""
    return {ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)}


def test_only_the_report_prints() -> None:
    printing = {"print", "sys.stdout.write", "sys.stderr.write", "typer.echo"}
    allowed = {"__main__": {"sys.stderr.write"}}  # it says that it was interrupted
    for name, path in modules().items():
        assert calls(path) & printing <= allowed.get(name, set()), name


WRITING = {
    "os.replace", "os.rename", "os.unlink", "os.remove", "os.link", "os.symlink", "os.chmod", "os.truncate", "os.rmdir",
    "shutil.rmtree", "shutil.copy", "shutil.copyfile", "shutil.move",
}  # fmt: skip


def test_files_are_replaced_in_one_place_only() -> None:
    # A journal goes, with the bytes that 0.2.0 kept beside it; work removes the marks of a run.
    allowed = {"system.files": WRITING, "ownership.execute": {"os.unlink", "shutil.rmtree"}}
    # A package comes and goes by one rename; see system.packages.
    allowed |= {"system.packages": {"os.rename", "os.unlink", "os.rmdir", "shutil.rmtree"}}
    allowed |= {"ownership.run": {"os.unlink"}}  # the lock, with a folder that was made for it alone
    allowed |= {"work": {"os.unlink"}}
    allowed |= {"firing.shooting": {"os.unlink", "shutil.copyfile"}}  # in a private folder of its own
    for name, path in modules().items():
        assert calls(path) & WRITING <= allowed.get(name, set()), name


def test_the_hook_imports_nothing_of_the_package() -> None:
    for path in (ROOT / "templates" / "guard").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                assert "hookctl" not in ast.unparse(node)
