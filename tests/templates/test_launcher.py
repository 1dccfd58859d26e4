"""The launcher: which code it loads, and which it does not, whatever lies around it."""

import json
import os
import py_compile
import shutil
import subprocess
from pathlib import Path

import pytest

from hookctl import __version__
from hookctl.packs.programs import load_programs

from .lab import PYTHON, Lab, lay, own_programs, package_in, spoil
from .runner_bench import Bench
from .wraps import Wrapped

STANDARD = ("json", "hashlib", "_sha256", "_sha2", "_json", "fcntl", "time", "_signal", "posix", "pwd", "os", "re",
            "subprocess", "threading", "contextlib", "signal")  # fmt: skip


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A hook that was never called: there is no bytecode yet."""
    lab = Lab(tmp_path / "lab")
    lab.is_served = False
    own_programs(lab.top)
    shutil.rmtree(package_in(lab.top) / "__pycache__")
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


def in_project(lab: Lab) -> None:
    """The guard as it lies at project scope."""
    lay(lab.project / ".hookctl")
    lab.use(lab.project / ".hookctl")


def caches(lab: Lab) -> list[Path]:
    return [path for path in lab.top.rglob("*") if path.suffix == ".pyc" or path.name == "__pycache__"]


def part_of(top: Path, name: str) -> Path:
    """A folder that a call reads from."""
    parts = {"launcher": top, "runtime": top / "runtime", "cache": package_in(top) / "__pycache__"}
    return parts.get(name) or package_in(top, name)


def run_pack(lab: Lab) -> None:
    """Have a pack's command run; it is no matter what for."""
    done = lab.run_command([PYTHON, "-I", "-S", str(lab.hook), "run", "Stop", *lab.words(), ":"])
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_bytecode_is_neither_kept_nor_read_in_a_project(lab: Lab, marker: Path) -> None:
    in_project(lab)
    lab.task(remaining=2)
    assert lab.stop() == "B"
    run_pack(lab)
    assert caches(lab) == []
    plant_evil(marker, *lab.top.glob("runtime/*/*.py"))
    assert lab.stop(True) == "B"
    run_pack(lab)
    assert not marker.exists()


@pytest.mark.parametrize("flags", [[], ["-B"]])
def test_bytecode_is_read_and_kept_where_nobody_else_can_write_unless_python_is_told_otherwise(
    lab: Lab, marker: Path, flags: list[str]
) -> None:
    """What is planted is of use, then. Doctor's self-test writes nothing."""
    lab.task(remaining=2)
    plant_evil(marker, package_in(lab.top) / "stop.py")
    before = caches(lab)
    done = lab.run_command([PYTHON, "-I", "-S", *flags, *lab.command("stop")[3:]])
    assert json.loads(done.stdout)["decision"] == "block"
    assert (marker.exists(), caches(lab) != before) == (not flags, not flags)
    cache = package_in(lab.top) / "__pycache__"
    assert cache.stat().st_mode & 0o777 == 0o700
    assert flags or {"stop", "files"} <= {path.name.partition(".")[0] for path in cache.iterdir()}


@pytest.mark.parametrize(
    ("part", "mode"), [("launcher", 0o770), ("runtime", 0o770), ("guard", 0o707), ("cache", 0o777), ("guard", None)]
)
def test_bytecode_is_neither_read_nor_kept_where_somebody_else_can_write(
    lab: Lab, marker: Path, part: str, mode: int | None
) -> None:
    """By its mode, or because it is his."""
    lab.task(remaining=2)
    plant_evil(marker, package_in(lab.top) / "stop.py")
    before = caches(lab)
    if mode:
        part_of(lab.top, part).chmod(mode)
    elif os.geteuid() == 0:
        os.chown(part_of(lab.top, part), 12345, 12345)
    else:
        pytest.skip("only root can give a folder away")
    assert lab.stop() == "B"
    assert not marker.exists()
    assert caches(lab) == before


@pytest.mark.parametrize(("part", "runs"), [("", True), ("guard", False), ("runner", False)])
def test_a_packs_command_needs_both_packages_to_be_private(lab: Lab, marker: Path, part: str, runs: bool) -> None:
    plant_evil(marker, package_in(lab.top, "runner") / "answer.py")
    if part:
        part_of(lab.top, part).chmod(0o770)
    run_pack(lab)
    assert marker.exists() == runs


@pytest.mark.parametrize("where", ["launcher", "guard"])
@pytest.mark.parametrize("shape", ["module", "package", "bytecode"])
def test_nothing_but_the_packages_own_modules_is_loaded(lab: Lab, marker: Path, where: str, shape: str) -> None:
    lab.config(dispatch_tools=["*"], dispatch_max=1).task(remaining=2)
    folder = part_of(lab.top, where)
    own = [path.stem for path in package_in(lab.top).glob("*.py")] if shape != "module" else []
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
    before = lab.tree()
    assert Wrapped(lab).stops(6) == "BBBBRA"
    assert not marker.exists()
    assert [path for path in lab.tree() if lab.state not in path.parents] == [
        path for path in before if lab.state not in path.parents
    ]


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


@pytest.mark.parametrize("spoilt", [0, 16, 200, "call", "stop", "files"])
def test_a_bytecode_that_is_cut_off_or_of_other_code_costs_no_call_and_is_renewed(lab: Lab, spoilt: int | str) -> None:
    """As a disk that was full for a moment leaves it; or it loads, and has nothing of what the others take from it."""
    lab.task(remaining=2)
    assert lab.stop() == "B"
    package = package_in(lab.top)
    whole = {path: path.read_bytes() for path in (package / "__pycache__").iterdir()}
    if isinstance(spoilt, int):
        for path, data in whole.items():
            path.write_bytes(data[:spoilt])
    else:
        (lab.root / "empty.py").touch()
        plant(package / f"{spoilt}.py", lab.root / "empty.py")
    assert {path: path.read_bytes() for path in whole} != whole
    assert lab.stop(True) == "B"
    assert {path: path.read_bytes() for path in whole} == whole
    assert lab.stop(True) == "B"


GONE = ("runtime", "runtime/*", "runtime/*/call.py", "runtime/*/files.py")
HOWS = ("fifo", "zero", "folder")


@pytest.mark.parametrize(
    ("part", "how"), [*((part, "") for part in GONE), *(("runtime/*/stop.py", how) for how in HOWS)]
)
def test_what_is_gone_or_no_file_lets_go(lab: Lab, part: str, how: str) -> None:
    lab.task(remaining=2)
    for path in lab.top.glob(part):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        if how:
            spoil(path, how)
    assert lab.stop() == "A"
    run_pack(lab)


@pytest.mark.parametrize(("path", "start"), [("hook.py", ".hookctl"), ("./.hookctl/hook.py", "")])
def test_a_call_by_a_relative_path_finds_its_package_its_configuration_and_its_project(
    lab: Lab, path: str, start: str
) -> None:
    """As at project scope of a host whose commands start in the project."""
    in_project(lab)
    lab.config(max_stop_blocks=1).task(remaining=2)
    for letter in "BR":
        done = lab.run_command([PYTHON, "-I", "-S", path, "stop", "--host", "claude"], cwd=lab.project / start)
        assert (done.returncode, done.stderr) == (0, b"")
        assert ("decision" in json.loads(done.stdout)) == (letter == "B")
    assert caches(lab) == []


def upgrade_at_once(top: Path) -> None:
    """Have an upgrade come in the middle of a call, which has read the old launcher and finds the new packages."""
    hook, packages = top / "hook.py", list(top.glob("runtime/*_*"))
    old = new = hook.read_text()
    moves = ""
    for package in packages:
        renamed = package.with_name(package.name.partition("_")[0] + "_0123456789abcdef")
        new = new.replace(package.name, renamed.name)
        moves += f"posix.rename({str(package)!r}, {str(renamed)!r})\n"
    upgrade = f"open({str(hook)!r}, 'w').write({new!r})\n{moves}"
    hook.write_text(old.replace("\nclass SourceOnly", f"\n{upgrade}\nclass SourceOnly"))


def test_a_call_whose_package_has_gone_meanwhile_starts_the_new_one(lab: Lab) -> None:
    lab.task(remaining=2)
    upgrade_at_once(lab.top)
    assert lab.stops("01") == "BB"


def test_a_packs_command_whose_packages_have_gone_meanwhile_starts_the_new_ones(bench: Bench) -> None:
    upgrade_at_once(bench.top)
    for _ in range(2):
        assert bench.say("droid", "PreToolUse", "", status=2, stderr="not so").outcome == "deny"


def test_the_launcher_names_its_version_and_packages_that_are_named_after_their_content(lab: Lab) -> None:
    programs, launcher = load_programs(), lab.hook.read_text()
    assert f'\nVERSION = "{__version__}"' in launcher
    for name in ("guard", "runner"):
        assert [package_in(lab.top, name).name] == list(getattr(programs, name))
        assert f'\n{name.upper()} = "runtime/{package_in(lab.top, name).name}"' in launcher
