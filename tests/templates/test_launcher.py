"""The launcher: which code it loads, and which it does not, whatever lies around it."""

import json
import os
import py_compile
import shutil
import subprocess
from pathlib import Path

import pytest

from hookctl.packs.programs import load_programs

from .lab import PYTHON, TABLE, TEMPLATES, Lab, lay, package_in, spoil

STANDARD = ("json", "hashlib", "_sha256", "_sha2", "_json", "fcntl", "time", "_signal", "posix", "pwd", "os", "re")


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A hook that was never called: there is no bytecode yet."""
    lab = Lab(tmp_path / "lab")
    shutil.rmtree(package_in(lab.hook.parent) / "__pycache__")
    return lab


@pytest.fixture
def marker(lab: Lab) -> Path:
    """A file that code of somebody else's would make."""
    return lab.root / "ran"


def evil(marker: Path) -> str:
    return f"import posix\nposix.open({str(marker)!r}, posix.O_CREAT)\nraise ImportError\n"


def plant(source: Path, code: Path) -> None:
    """Bytecode of other code where Python keeps that of a module, valid for its source as it is."""
    stat = os.stat(source)
    text = (
        "import importlib._bootstrap_external as external, importlib.util as util, os, sys\n"
        "source, code, mtime, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])\n"
        "data = external._code_to_timestamp_pyc(compile(open(code).read(), source, 'exec'), mtime, size)\n"
        "path = util.cache_from_source(source)\n"
        "os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)\n"
        "open(path, 'wb').write(data)\n"
    )
    words = [str(source), str(code), str(int(stat.st_mtime)), str(stat.st_size)]
    subprocess.run([PYTHON, "-I", "-c", text, *words], check=True)


def plant_evil(marker: Path, *sources: Path) -> None:
    """Bytecode of somebody else's code for these modules."""
    code = marker.with_name("evil.py")
    code.write_text(evil(marker))
    for source in sources:
        plant(source, code)


def in_project(lab: Lab) -> Path:
    """The guard as it lies at project scope."""
    folder = lab.project / ".hookctl" / "guard" / "claude"
    lay(folder)
    return folder


def caches(folder: Path) -> list[Path]:
    paths = folder.parents[1].rglob("*")
    return [path for path in paths if path.suffix == ".pyc" or path.name == "__pycache__"]


def part_of(lab: Lab, name: str) -> Path:
    """A folder that a call reads from."""
    package = package_in(lab.hook.parent)
    return {"launcher": lab.hook.parent, "runtime": package.parent, "package": package}.get(
        name, package / "__pycache__"
    )


def test_a_planted_bytecode_does_not_run_in_a_project(lab: Lab, marker: Path) -> None:
    folder = in_project(lab)
    lab.task(remaining=2)
    plant_evil(marker, *package_in(folder).glob("*.py"))
    before = sorted(folder.parents[1].rglob("*"))
    assert lab.stop(folder=folder) == "B"
    assert not marker.exists()
    assert sorted(folder.parents[1].rglob("*")) == before


def test_the_same_bytecode_runs_where_nobody_else_can_write(lab: Lab, marker: Path) -> None:
    """The test before would pass too if what it plants were of no use."""
    lab.task(remaining=2)
    plant_evil(marker, package_in(lab.hook.parent) / "stop.py")
    assert lab.stop() == "B"
    assert marker.exists()


def test_no_bytecode_is_left_in_a_project(lab: Lab) -> None:
    folder = in_project(lab)
    lab.task(remaining=2)
    assert lab.stop(folder=folder) == "B"
    assert caches(folder) == []


def test_no_bytecode_is_read_or_left_where_python_is_told_so(lab: Lab, marker: Path) -> None:
    """As doctor's self-test does, which writes nothing."""
    lab.task(remaining=2)
    plant_evil(marker, package_in(lab.hook.parent) / "stop.py")
    before = caches(lab.hook.parent)
    call = [PYTHON, "-I", "-S", "-B", *lab.command("stop")[3:]]
    done = lab.run_command(call)
    assert json.loads(done.stdout)["decision"] == "block"
    assert not marker.exists()
    assert caches(lab.hook.parent) == before


def test_bytecode_is_kept_where_nobody_else_can_write(lab: Lab) -> None:
    lab.task(remaining=2)
    assert lab.stop() == "B"
    cache = package_in(lab.hook.parent) / "__pycache__"
    assert cache.stat().st_mode & 0o777 == 0o700
    assert {"stop", "files"} <= {path.name.partition(".")[0] for path in cache.iterdir()}


@pytest.mark.parametrize(
    ("part", "mode"), [("launcher", 0o770), ("runtime", 0o770), ("package", 0o707), ("cache", 0o777)]
)
def test_bytecode_is_neither_read_nor_kept_where_somebody_else_can_write(
    lab: Lab, marker: Path, part: str, mode: int
) -> None:
    lab.task(remaining=2)
    package = package_in(lab.hook.parent)
    plant_evil(marker, package / "stop.py")
    before = caches(lab.hook.parent)
    part_of(lab, part).chmod(mode)
    assert lab.stop() == "B"
    assert not marker.exists()
    assert caches(lab.hook.parent) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to give a folder away")
@pytest.mark.parametrize("part", ["launcher", "runtime", "package", "cache"])
def test_bytecode_of_another_user_is_not_read(lab: Lab, marker: Path, part: str) -> None:
    lab.task(remaining=2)
    package = package_in(lab.hook.parent)
    plant_evil(marker, package / "stop.py")
    os.chown(part_of(lab, part), 12345, 12345)
    assert lab.stop() == "B"
    assert not marker.exists()


@pytest.mark.parametrize("where", ["launcher", "package"])
@pytest.mark.parametrize("shape", ["module", "package", "bytecode"])
def test_nothing_but_the_packages_own_modules_is_loaded(lab: Lab, marker: Path, where: str, shape: str) -> None:
    lab.config(dispatch_tools=["*"], dispatch_max=1).task(remaining=2)
    folder = lab.hook.parent if where == "launcher" else package_in(lab.hook.parent)
    own = [path.stem for path in package_in(lab.hook.parent).glob("*.py")] if shape != "module" else []
    for name in {*STANDARD, *own}:
        if shape == "module":
            (folder / f"{name}.py").write_text(evil(marker))
        elif shape == "package":
            (folder / name).mkdir()
            (folder / name / "__init__.py").write_text(evil(marker))
        else:
            code = lab.root / "evil.py"
            code.write_text(evil(marker))
            py_compile.compile(str(code), cfile=str(folder / f"{name}.pyc"))
            (folder / f"{name}.so").write_text("no library")
    assert lab.stops("01") == "BB"
    assert lab.attempts("a", 2) == "AD"
    assert (lab.call("prompt", prompt="x"), lab.call("post-tool", tool_name="B", tool_input={})) == ("", "")
    assert lab.stop(True) == "B"
    assert not marker.exists()


@pytest.mark.parametrize("variable", ["PYTHONPATH", "PYTHONPYCACHEPREFIX", "PYTHONHOME", "PYTHONSTARTUP"])
def test_no_variable_decides_from_where_code_is_loaded(lab: Lab, marker: Path, variable: str) -> None:
    lab.task(remaining=2)
    folder = lab.root / "theirs"
    folder.mkdir()
    for name in STANDARD:
        (folder / f"{name}.py").write_text(evil(marker))
    lab.environment[variable] = str(folder / "json.py" if variable == "PYTHONSTARTUP" else folder)
    assert lab.stop() == "B"
    assert not marker.exists()
    assert {path.suffix for path in folder.rglob("*")} == {".py"}


@pytest.mark.parametrize("size", [0, 16, 200])
def test_a_truncated_bytecode_costs_no_call_and_is_renewed(lab: Lab, size: int) -> None:
    """As a disk that was full for a moment leaves it."""
    lab.task(remaining=2)
    assert lab.stop() == "B"
    cache = package_in(lab.hook.parent) / "__pycache__"
    whole = {path: path.read_bytes() for path in cache.iterdir()}
    for path, data in whole.items():
        path.write_bytes(data[:size])
    assert lab.stop(True) == "B"
    assert {path: path.read_bytes() for path in cache.iterdir()} == whole
    assert lab.stop(True) == "B"


@pytest.mark.parametrize("name", ["call", "stop", "files"])
def test_a_bytecode_of_other_code_costs_no_call_and_is_renewed(lab: Lab, name: str) -> None:
    """It loads, and has nothing of what the others take from it."""
    lab.task(remaining=2)
    assert lab.stop() == "B"
    source = package_in(lab.hook.parent) / f"{name}.py"
    (path,) = (source.parent / "__pycache__").glob(f"{name}.*")
    whole = path.read_bytes()
    empty = lab.root / "empty.py"
    empty.touch()
    plant(source, empty)
    assert path.read_bytes() != whole
    assert lab.stop(True) == "B"
    assert path.read_bytes() == whole
    assert lab.stop(True) == "B"


@pytest.mark.parametrize("name", ["call", "files"])
def test_a_module_that_is_gone_lets_go(lab: Lab, name: str) -> None:
    lab.task(remaining=2)
    (package_in(lab.hook.parent) / f"{name}.py").unlink()
    assert lab.stop() == "A"


@pytest.mark.parametrize("how", ["fifo", "zero", "folder"])
def test_what_is_no_file_in_a_modules_place_lets_go(lab: Lab, how: str) -> None:
    lab.task(remaining=2)
    module = package_in(lab.hook.parent) / "stop.py"
    module.unlink()
    spoil(module, how)
    assert lab.stop() == "A"


def test_a_project_is_known_by_the_working_folder_too(lab: Lab) -> None:
    folder = in_project(lab)
    lab.task(remaining=2)
    call = [PYTHON, "-I", "-S", "hook.py", "stop", "--host", "claude"]
    done = lab.run_command(call, cwd=folder)
    assert json.loads(done.stdout)["decision"] == "block"
    assert caches(folder) == []


def test_a_call_whose_package_has_gone_meanwhile_starts_the_new_one(lab: Lab) -> None:
    """An upgrade in the middle of a call: it has read the old launcher, and finds the new package."""
    lab.task(remaining=2)
    package = package_in(lab.hook.parent)
    renamed = package.with_name("guard_0123456789abcdef")
    text = lab.hook.read_text().replace(package.name, renamed.name)
    upgrade = f"open({str(lab.hook)!r}, 'w').write({text!r})\nposix.rename({str(package)!r}, {str(renamed)!r})\n"
    lab.hook.write_text(lab.hook.read_text().replace("\nclass SourceOnly", f"\n{upgrade}\nclass SourceOnly"))
    assert lab.stop() == "B"
    assert lab.hook.read_text() == text and not package.exists()
    assert lab.stop(True) == "B"


def test_the_package_is_named_after_its_content(lab: Lab) -> None:
    programs = load_programs(wrapper=False)
    assert package_in(lab.hook.parent).name == programs.package
    assert f'\nPACKAGE = "../../runtime/{programs.package}"'.encode() in programs.launchers["hook.py"]


def test_a_call_by_a_relative_path_finds_its_package_and_its_configuration(lab: Lab) -> None:
    """As at project scope of a host whose commands start in the project."""
    in_project(lab)
    lab.task(remaining=2)
    call = [PYTHON, "-I", "-S", "./.hookctl/guard/claude/hook.py", "stop", "--host", "claude"]
    done = lab.run_command(call, cwd=lab.project)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["decision"] == "block"


def test_the_templates_run_as_they_lie(lab: Lab) -> None:
    """Which is how `hookctl render` has them copied."""
    folder = lab.root / "copied"
    shutil.copytree(TEMPLATES, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "config.json").write_text(json.dumps({"hosts": TABLE}))
    lab.task(remaining=2)
    assert lab.stop(folder=folder) == "B"
