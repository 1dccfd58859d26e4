"""The wheel and the sdist: what is in them, that they are the same each time, and work alone on each Python."""

from __future__ import annotations

import ast
import functools
import json
import os
import pwd
import re
import runpy
import shutil
import stat
import subprocess
import sys
import tarfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
import vermin

from hookctl import __version__, hosts
from tests.conftest import put

ROOT = Path(__file__).parents[1]
AGENT = f"#!/bin/sh\necho {hosts.load('claude').client.seen}\n"
# Taken when this module is read: the tests' own HOME has neither pip's settings nor its cache.
_OURS = re.compile("PATH|HOME|LANG|(PIP|SSL|REQUESTS)_.*|(http|https|no)_proxy", re.IGNORECASE)
_ENVIRONMENT = {name: value for name, value in os.environ.items() if _OURS.fullmatch(name)}


def call(*command: str, **environ: str) -> None:
    """Run a program of Python's own packaging with the settings that it has outside of the tests."""
    done = subprocess.run(command, capture_output=True, text=True, env={**_ENVIRONMENT, **environ}, cwd="/")
    assert done.returncode == 0, done.stdout + done.stderr


def pip(*arguments: str) -> None:
    call(sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments)


def play(home: Path, *command: str | Path, code: int = 0, says: str = "", **environ: str) -> str:
    """What a command prints in a home of its own; Python is on its PATH, and no hookctl."""
    home.mkdir(exist_ok=True)
    bare = {"HOME": str(home), "PATH": f"{home}/bin:{Path(sys.executable).parent}:/usr/bin:/bin", **environ}
    done = subprocess.run(command, capture_output=True, text=True, cwd=home, env=bare, input=says)
    assert done.returncode == code, done
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this checkout, since building leaves files behind."""
    folder = tmp_path_factory.mktemp("source") / "hookctl"
    ignore = shutil.ignore_patterns(".git", ".cache", "__pycache__", ".*_cache", ".hypothesis", ".venv*", "*.egg-info")
    shutil.copytree(ROOT, folder, ignore=ignore, symlinks=True)
    cache = folder / "hookctl" / "__pycache__"
    cache.mkdir()
    (cache / "cli.cpython-399.pyc").write_bytes(b"")
    return folder


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--wheel-dir", str(folder), str(source))
    (built,) = folder.glob("*.whl")
    return built


def build(source: Path, folder: Path) -> dict[str, Path]:
    """What is released: the sdist, and the wheel that is built from it."""
    call(sys.executable, "-m", "build", "--outdir", str(folder), str(source), SOURCE_DATE_EPOCH="1795478400")
    return {path.suffix: path for path in folder.iterdir()}


@pytest.fixture(scope="module")
def released(source: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return build(source, tmp_path_factory.mktemp("released"))


def test_the_wheel_has_the_package_its_data_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    files = [path for folder in ("hookctl", "schemas", "templates") for path in (ROOT / folder).rglob("*")]
    wanted = {
        str(Path("hookctl", path.relative_to(ROOT)) if path.relative_to(ROOT).parts[0] != "hookctl"
            else path.relative_to(ROOT))
        for path in files
        if path.is_file() and path.suffix in (".py", ".toml", ".json", ".js", ".sh", ".mjs", ".html", ".md")
    }  # fmt: skip
    assert {name for name in names if not re.match(r"hookctl-[^/]+\.dist-info/", name)} == wanted
    assert {"hookctl/templates/guard/hook.py", "hookctl/schemas/guard-config.schema.json"} <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_wheel_works_alone(wheel: Path, tmp_path: Path) -> None:
    venv, home = tmp_path / "venv", tmp_path / "empty"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    pip("--python", str(venv / "bin" / "python"), "install", str(wheel))
    program = venv / "bin" / "hookctl"
    put(home / "bin" / "claude", AGENT).chmod(0o755)

    def run(*arguments: str) -> str:
        return play(home, program, *arguments)

    settings = home / ".claude" / "settings.json"
    run("install", "--host", "claude")
    command = json.loads(settings.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert str(venv) not in command, "the hook outlives hookctl's own environment"
    run("doctor", "--strict")
    changed = run("install", "--host", "claude", "--set", "latch=false")
    assert changed.startswith("ok    Claude Code  ~/.claude/settings.json\n")
    run("uninstall")
    assert not settings.parent.exists()
    for language in ("sh", "python", "node"):
        run("pack", "new", f"my-{language}", "--lang", language)
        assert (home / f"my-{language}" / "tests" / "cases.toml").exists()
    if sys.platform == "linux":
        assert (home / ".local" / "state" / "hookctl" / "ledger.json").exists()
        assert not (home / ".local" / "share" / "hookctl").exists()


# With HOOKCTL_TESTS=all: what is released, on each Python that is here

ALL = pytest.mark.skipif(os.environ.get("HOOKCTL_TESTS") != "all", reason="takes minutes: HOOKCTL_TESTS=all")
OLDEST = 11  # the minor version of Python
FORCE = {"command": "rm -rf build"}
# As a person wrote them, and no program would.
SETTINGS = {
    ".claude/settings.json": '{"model":  "m"}',
    ".codex/config.toml": '# mine\nmodel = "m"   # a comment\n',
    ".hermes/config.yaml": "# mine\nmodel:   m\n",
    ".gemini/settings.json": '{\n  // mine\n  "ui": {"theme": "dark"}\n}\n',
}


@functools.cache
def pythons() -> dict[str, str]:
    """The interpreters from the oldest version on that are on the PATH or of pyenv, each version once."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path(pwd.getpwuid(os.getuid()).pw_dir, ".pyenv")), "versions")
    folders = [Path(sys.executable).parent, *map(Path, _ENVIRONMENT["PATH"].split(":")), *sorted(pyenv.glob("*/bin"))]
    found = {}
    for minor in range(OLDEST, OLDEST + 10):
        for folder in folders:
            program = folder / f"python3.{minor}"
            works = [program, "-c", "import venv, ensurepip"]
            if program.exists() and subprocess.run(works, capture_output=True, env=_ENVIRONMENT).returncode == 0:
                found.setdefault(f"3.{minor}", str(program))
    return found


@ALL
def test_two_builds_and_one_without_the_sdist_give_the_same_bytes(
    source: Path, released: dict[str, Path], wheel: Path, tmp_path: Path
) -> None:
    again = build(source, tmp_path / "again")
    for suffix, path in released.items():
        assert again[suffix].read_bytes() == path.read_bytes(), suffix
    contents = [
        {name: file.read(name) for name in file.namelist()} for file in map(zipfile.ZipFile, (wheel, again[".whl"]))
    ]
    assert contents[0] == contents[1]


@ALL
def test_the_sdist_has_every_file_of_the_repository(released: dict[str, Path]) -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is no clone")
    with tarfile.open(released[".gz"]) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    assert names - {"PKG-INFO"} == {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}


@ALL
@pytest.mark.parametrize("kind", [".whl", ".gz", ".pyz"])
@pytest.mark.parametrize("version", pythons() if os.environ.get("HOOKCTL_TESTS") == "all" else [])
def test_it_lives_on_each_python(
    version: str, kind: str, released: dict[str, Path], onefile: Path, tmp_path: Path
) -> None:
    home, program = tmp_path / "home", [pythons()[version], "-W", "error", str(onefile)]
    for name, text in SETTINGS.items():
        put(home / name, text)
    if kind != ".pyz":
        venv = tmp_path / "venv"
        call(pythons()[version], "-m", "venv", str(venv))
        python, program = str(venv / "bin" / "python"), [str(venv / "bin" / "hookctl")]
        call(python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", f"{released[kind]}[yaml]")
        call(python, "-m", "pip", "check")
        where = play(home, python, "-c", "import hookctl, sys; print(sys.version, hookctl.__file__)")
        assert where.startswith(f"{version}.") and where.endswith("/site-packages/hookctl/__init__.py\n")

    def run(*command: str, code: int = 0) -> str:
        return play(home, *program, *command, code=code)

    def ask(event: str, **fields: object) -> str:
        """What the hook of an event answers by the command that is registered."""
        ours = json.loads((home / ".claude/settings.json").read_text())["hooks"][event][0]["hooks"][0]["command"]
        question = {"session_id": "s", "hook_event_name": event, "cwd": str(home / "work"), **fields}
        return play(home, "sh", "-c", ours, says=json.dumps(question))

    run("install", "--host", "claude", "--host", "codex", "--host", "gemini", "--host", "hermes")
    play(home, "git", "init", "-q", "work")
    assert run("status", "--project", "work").count(f": guard {__version__}") == 4
    run("run", "remaining", "2", "--project", "work")
    assert json.loads(ask("Stop"))["decision"] == "block"
    run("pack", "new", "mine")
    run("pack", "check", "mine")
    assert "0 not as expected" in run("pack", "test", "mine", "--host", "claude")
    put(home / "bad.toml", (home / "mine" / "pack.toml").read_text().replace("matcher", "macher"))
    assert "unknown key 'macher'" in run("pack", "check", "./bad.toml", code=4)
    run("install", "./mine", "--yes", "--host", "claude")
    run("install", "./mine", "--yes", "--host", "claude", "--scope", "project", "--project", "work")
    run("check", "--project", "work", "--require", "mine")
    assert "would refuse" in run(
        "fire", "PreToolUse", "--host", "claude", "--tool", "Bash", "--input", json.dumps(FORCE)
    )
    assert '"deny"' in ask("PreToolUse", tool_name="Bash", tool_input=FORCE)
    assert "no errors, no warnings" in run("doctor")
    hooks = json.loads(run("hooks", "--json"))["data"]["hooks"]
    stops = {"claude", "codex", "gemini", "hermes"}
    assert {hook["host"] for hook in hooks if hook["name"] == "guard/stop"} == stops
    run("uninstall", "--all", "--yes")
    assert {name: (home / name).read_text() for name in SETTINGS} == SETTINGS


# hookctl on a bare target: a Python that is too old is told.
__all__ = ["source", "wheel"]  # the fixtures
FIRST = ROOT / "hookctl" / "__init__.py"


def test_an_old_python_is_told_in_one_line() -> None:
    stub = "import sys; sys.version_info = (3, 9, 2, 'final', 0); sys.argv[0] = 'hookctl'; import hookctl.__main__"
    environ = {**_ENVIRONMENT, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", stub], capture_output=True, text=True, env=environ)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"hookctl: error: Python 3.9 is too old, hookctl needs 3.11 or newer: {sys.executable}\n"


def test_the_file_that_says_so_runs_on_old_pythons() -> None:
    """Nothing else of hookctl is read before it: Python imports a package before what is in it."""
    text = FIRST.read_text()
    assert not [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    python2, python3 = vermin.detect(text)
    assert (python2, python3) <= ((2, 7), (3, 0))


# The one file: `.ci/onefile.py` builds it, `.ci/start.py` unpacks it where it is started.
BUILD = ROOT / ".ci" / "onefile.py"
CACHE = "Library/Caches" if sys.platform == "darwin" else ".cache"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file of this checkout and of what the guard needs of this environment: built without network."""
    folders = {str(Path("hookctl", name)): ROOT / name for name in ("schemas", "templates")}
    for name in ("hookctl", "typer", "annotated_doc", "shellingham", "platformdirs", "tomlkit"):
        folders[name] = Path(str(find_spec(name).origin)).parent  # type: ignore[union-attr]
    files = {
        f"{name}/{path.relative_to(folder)}": path.read_bytes()
        for name, folder in folders.items()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    target = tmp_path_factory.mktemp("small") / "hookctl.pyz"
    runpy.run_path(str(BUILD))["write"](files, target)
    return target


def test_the_one_file_refuses_what_is_compiled(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"not pure Python: a/b\.so"):
        runpy.run_path(str(BUILD))["write"]({"a/b.so": b"\x7fELF\0", "a/c.py": b""}, tmp_path / "x.pyz")
    assert not (tmp_path / "x.pyz").exists()


def test_it_unpacks_itself_once_and_makes_whole_what_is_not(small: Path, tmp_path: Path) -> None:
    home = tmp_path / "alone"
    environ = {"HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    quiet = {"env": environ, "stdout": subprocess.DEVNULL}
    both = [subprocess.Popen([sys.executable, small, "hosts"], **quiet) for _ in range(2)]  # type: ignore[call-overload]
    assert [one.wait() for one in both] == [0, 0]
    (folder,) = (home / CACHE / "hookctl").iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    with zipfile.ZipFile(small) as archive:
        wanted = {folder / name: archive.read(name) for name in {*archive.namelist()} - {"FILES", "__main__.py"}}
    (folder / "hookctl" / "cli.py").write_text("")
    (folder / "hookctl" / "model.py").unlink()
    assert "Claude Code" in play(home, small, "hosts", "claude", PYTHONDONTWRITEBYTECODE="1")
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == wanted


@pytest.mark.parametrize("state", ["writable", "another's", "a file"])
def test_where_no_cache_is_safe_it_leaves_nothing(small: Path, tmp_path: Path, state: str) -> None:
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    temporary.mkdir()
    place = home / CACHE
    if state == "a file":
        put(place, "")
    else:
        place.mkdir(parents=True)
        place.chmod(0o777 if state == "writable" else 0o755)
        os.chown(place, *((65534, 65534) if state == "another's" and not os.geteuid() else (-1, -1)))
    if os.geteuid() and state == "another's":
        pytest.skip("needs root")
    assert "Claude Code" in play(home, small, "hosts", "claude", TMPDIR=str(temporary))
    assert list(home.rglob("hookctl")) == list(temporary.iterdir()) == []
    link = "os.path.lexists('raced') or os.symlink('.', 'raced')"
    race = f"import os; make = os.makedirs; os.makedirs = lambda *a, **k: ({link}) and 0 or make(*a, **k)"
    start = f"import runpy; runpy.run_path({str(small)!r}, run_name='__main__')"
    environ = {"TMPDIR": str(temporary), "XDG_CACHE_HOME": str(home / "raced")}
    play(home, sys.executable, "-c", f"{race}; {start}", **environ)
    assert not [*home.rglob("*.py")]
    temporary.chmod(0o777)
    assert "another user could change it" in play(home, small, "hosts", code=1, TMPDIR=str(temporary))
    assert not list(temporary.iterdir())
    none = f"import tempfile; tempfile.tempdir = '/none'; {start}"
    assert "fix: Set TMPDIR" in play(home, sys.executable, "-c", none, code=1)
    play(home, small, "--version", HOME="no-path")
    assert not (home / "no-path").exists()


@pytest.mark.parametrize("name", ["./hookctl.pyz", "python3 hookctl.pyz", "hk", "'./my python' hookctl.pyz"])
def test_commands_to_copy_have_the_name_it_was_started_by(small: Path, tmp_path: Path, name: str) -> None:
    shutil.copy(small, put(tmp_path / "hookctl.pyz", "")).chmod(0o644 if name[0] in "p'" else 0o755)
    for python in ("my python", "p\\1"):
        (tmp_path / python).symlink_to(sys.executable)
    assert "hookctl hooks" in play(tmp_path, "sh", "-c", "'./p\\1' hookctl.pyz -h")
    shutil.copy(small, put(tmp_path / "bin" / "hk", "")).chmod(0o755)
    said = play(tmp_path, "sh", "-c", f"{name} install --host claude; {name} -h")
    assert f"\nNext:\n  {name} doctor\n  {name} run remaining 3 " in said, said
    assert re.search(rf"\n *{re.escape(name)} hooks  ", said), said
    usage = json.loads(play(tmp_path, "sh", "-c", f"{name} run --json", code=2))
    assert usage["errors"][0]["hint"] == f"`{name} run --help` shows how it is used."


@ALL
def test_one_command_builds_the_same_one_file_twice(onefile: Path, tmp_path: Path) -> None:
    call(sys.executable, str(BUILD), str(tmp_path))
    assert (tmp_path / onefile.name).read_bytes() == onefile.read_bytes()
    with zipfile.ZipFile(onefile) as archive:
        assert not [name for name in archive.namelist() if re.search(r"direct_url|RECORD|\.(so|dylib|pyd|pth)$", name)]
        assert str(ROOT).encode() not in b"".join(map(archive.read, archive.namelist()))
    assert subprocess.run(["sha256sum", "-c", f"{onefile.name}.sha256"], cwd=onefile.parent).returncode == 0


@pytest.fixture(scope="module")
def onefile(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("onefile")
    call(sys.executable, str(source / ".ci" / "onefile.py"), str(folder))
    return folder / "hookctl.pyz"
