"""The wheel and the sdist: what is in them, that they are the same each time, and work alone on each Python."""

from __future__ import annotations

import ast
import functools
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
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
    home.mkdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    pip("--python", str(venv / "bin" / "python"), "install", str(wheel))
    program = venv / "bin" / "hookctl"
    agent = put(tmp_path / "agent" / "claude", AGENT)
    agent.chmod(0o755)

    def run(*arguments: str) -> str:
        environ = {"HOME": str(home), "PATH": f"{agent.parent}:/usr/bin:/bin"}
        done = subprocess.run([program, *arguments], capture_output=True, text=True, cwd=home, env=environ)
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout

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
# As a person wrote them, and no program would.
SETTINGS = {
    ".claude/settings.json": '{"model":  "m"}',
    ".codex/config.toml": '# mine\nmodel = "m"   # a comment\n',
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
@pytest.mark.parametrize("kind", [".whl", ".gz"])
@pytest.mark.parametrize("version", pythons() if os.environ.get("HOOKCTL_TESTS") == "all" else [])
def test_it_lives_on_each_python(version: str, kind: str, released: dict[str, Path], tmp_path: Path) -> None:
    venv, home = tmp_path / "venv", tmp_path / "home"
    call(pythons()[version], "-m", "venv", str(venv))
    python, program = str(venv / "bin" / "python"), str(venv / "bin" / "hookctl")
    call(python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", str(released[kind]))
    call(python, "-m", "pip", "check")
    for name, text in SETTINGS.items():
        put(home / name, text)

    def run(*command: str, says: str = "") -> str:
        environ = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
        done = subprocess.run(command, capture_output=True, text=True, cwd=home, env=environ, input=says)
        assert done.returncode == 0, done
        return done.stdout

    where = run(python, "-c", "import hookctl, sys; print(sys.version, hookctl.__file__)")
    assert where.startswith(f"{version}.") and where.rstrip().endswith(
        str(Path("site-packages", "hookctl", "__init__.py"))
    )
    run(program, "install", "--host", "claude", "--host", "codex", "--host", "gemini")
    run("git", "init", "-q", "work")
    assert run(program, "status", "--project", "work").count(f": guard {__version__}") == 3
    assert "no errors, no warnings" in run(program, "doctor")
    hooks = json.loads(run(program, "hooks", "--json"))["data"]["hooks"]
    assert {hook["host"] for hook in hooks if hook["name"] == "guard/stop"} == {"claude", "codex", "gemini"}
    run(program, "run", "remaining", "2", "--project", "work")
    stop = {"session_id": "s", "hook_event_name": "Stop", "cwd": str(home / "work")}
    command = json.loads((home / ".claude/settings.json").read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert json.loads(run("sh", "-c", command, says=json.dumps(stop)))["decision"] == "block"
    run(program, "uninstall", "--all", "--yes")
    assert {name: (home / name).read_text() for name in SETTINGS} == SETTINGS
    assert sorted(path.name for path in home.iterdir()) == [".claude", ".codex", ".gemini", ".local", "work"]


# hookctl on a bare target: a Python that is too old is told, and one file made by shiv has all that it needs.
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


@pytest.mark.skipif(os.environ.get("HOOKCTL_TESTS") != "all", reason="fetches shiv: HOOKCTL_TESTS=all")
def test_one_file_installs_checks_and_uninstalls(wheel: Path, tmp_path: Path) -> None:
    """Built with shiv, in an environment of its own, and run where there is nothing but Python."""
    tools, program, home = tmp_path / "tools", tmp_path / "bin" / "hookctl", tmp_path / "empty"
    home.mkdir()
    put(program.with_name("claude"), AGENT).chmod(0o755)
    pip("install", "--target", str(tools), "shiv>=1,<2")
    build = [sys.executable, "-m", "shiv", "-o", str(program), "-p", "/usr/bin/env python3", "-c", "hookctl"]
    environ = {**_ENVIRONMENT, "PYTHONPATH": str(tools), "SHIV_ROOT": str(tmp_path / "unpacked")}
    done = subprocess.run([*build, str(wheel)], capture_output=True, text=True, env=environ)
    assert done.returncode == 0, done.stdout + done.stderr

    def run(*arguments: str) -> str:
        bare = {"HOME": str(home), "PATH": f"{program.parent}:{Path(sys.executable).parent}:/usr/bin:/bin"}
        done = subprocess.run([program, *arguments], capture_output=True, text=True, cwd=home, env=bare)
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout

    settings = home / ".claude" / "settings.json"
    assert json.loads(run("install", "--host", "claude", "--json"))["data"]["changed"]
    command = json.loads(settings.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert ".shiv" not in command, "the hook outlives the unpacked file"
    run("doctor", "--strict")
    run("uninstall")
    assert not settings.parent.exists()
