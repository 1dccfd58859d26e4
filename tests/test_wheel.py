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
def pythons(needs: str = "venv, ensurepip") -> dict[str, str]:
    """The interpreters from the oldest version on that are on the PATH or of pyenv, each version once."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path(pwd.getpwuid(os.getuid()).pw_dir, ".pyenv")), "versions")
    folders = [Path(sys.executable).parent, *map(Path, _ENVIRONMENT["PATH"].split(":")), *sorted(pyenv.glob("*/bin"))]
    found = {}
    for minor in range(OLDEST, OLDEST + 10):
        for folder in folders:
            program = folder / f"python3.{minor}"
            works = [program, "-c", f"import {needs}"]
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


def play(home: Path, *command: str | Path, code: int = 0, says: str = "", **environ: str) -> str:
    """What a command prints in a home of its own; Python is on its PATH, and no hookctl."""
    home.mkdir(exist_ok=True)
    bare = {"HOME": str(home), "PATH": f"{home}/bin:{Path(sys.executable).parent}:/usr/bin:/bin", **environ}
    done = subprocess.run(command, capture_output=True, text=True, cwd=home, env=bare, input=says)
    assert done.returncode == code, done
    return done.stdout + done.stderr


def unpacked(home: Path) -> dict[str, bytes]:
    """The files that the one file has unpacked in a home, by name."""
    (folder,) = (home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "hookctl").iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_one_file_refuses_what_is_compiled(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"not pure Python: a/b\.so"):
        runpy.run_path(str(BUILD))["write"]({"a/b.so": b"\x7fELF\0", "a/c.py": b""}, tmp_path / "x.pyz")
    assert not (tmp_path / "x.pyz").exists()


def test_it_unpacks_itself_once_and_makes_whole_what_is_not(small: Path, tmp_path: Path) -> None:
    home = tmp_path / "alone"
    home.mkdir()
    environ = {"HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    both = [
        subprocess.Popen([sys.executable, small, "hosts"], env=environ, stdout=subprocess.DEVNULL) for _ in range(2)
    ]
    assert [one.wait() for one in both] == [0, 0]
    files = unpacked(home)
    with zipfile.ZipFile(small) as archive:
        assert files == {name: archive.read(name) for name in {*archive.namelist()} - {"FILES", "__main__.py"}}
    (folder,) = home.rglob("pyz-*")
    (folder / "hookctl" / "cli.py").write_text("")
    (folder / "hookctl" / "model.py").unlink()
    small.chmod(0o555)
    assert "Claude Code" in play(home, small, "hosts", "claude", PYTHONDONTWRITEBYTECODE="1")
    assert unpacked(home) == files
    small.chmod(0o755)


@pytest.mark.parametrize("state", ["writable", "another's", "missing"])
def test_where_no_cache_is_safe_it_leaves_nothing(small: Path, tmp_path: Path, state: str) -> None:
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    temporary.mkdir()
    place = home / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    place.mkdir(parents=True)
    if state == "writable":
        place.chmod(0o777)
    elif state == "missing":
        place.rmdir()
        put(place, "")
    elif os.geteuid():
        pytest.skip("needs root")
    else:
        os.chown(place, 65534, 65534)
    assert "Claude Code" in play(home, small, "hosts", "claude", TMPDIR=str(temporary))
    assert list(home.rglob("hookctl")) == list(temporary.iterdir()) == []
    temporary.chmod(0o777)
    assert "another user could change it" in play(home, small, "hosts", code=1, TMPDIR=str(temporary))
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("name", ["./hookctl.pyz", "python3 hookctl.pyz", "hk"])
def test_commands_to_copy_have_the_name_it_was_started_by(small: Path, tmp_path: Path, name: str) -> None:
    shutil.copy(small, put(tmp_path / "hookctl.pyz", "")).chmod(0o644 if name[0] == "p" else 0o755)
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


@ALL
@pytest.mark.parametrize("version", pythons("zlib") if os.environ.get("HOOKCTL_TESTS") == "all" else [])
def test_the_one_file_does_all_on_each_python(version: str, onefile: Path, tmp_path: Path) -> None:
    home, python = tmp_path / "home", pythons("zlib")[version]
    for name, text in SETTINGS.items():
        put(home / name, text)

    def run(*command: str, code: int = 0) -> str:
        return play(home, python, "-W", "error", onefile, *command, code=code)

    for host in ("codex", "openhands", "hermes"):  # TOML, JSON, YAML
        run("install", "--host", host)
    run("pack", "new", "mine")
    assert "ok    Claude Code: 1 hook" in run("pack", "check", "mine", "--host", "claude")
    assert "0 not as expected" in run("pack", "test", "mine")
    put(home / "bad" / "pack.toml", (home / "mine" / "pack.toml").read_text().replace("matcher", "macher"))
    assert "unknown key 'macher'" in run("pack", "check", "bad", code=4)
    play(home, "git", "init", "-q", "work")
    run("install", "./mine", "--yes", "--host", "claude")
    run("install", "./mine", "--yes", "--host", "claude", "--scope", "project", "--project", "work")
    run("check", "--project", "work", "--require", "mine")
    assert "2 of 2" in run("hooks", "--host", "claude", "--project", "work")
    assert "no errors" in run("doctor", "--project", "work")
    ask = ["PreToolUse", "--host", "claude", "--tool", "Bash", "--input", '{"command": "rm -rf build"}']
    assert "would refuse" in run("fire", *ask)
    entry = json.loads((home / ".claude" / "settings.json").read_text())["hooks"]["PreToolUse"][0]
    question = {"session_id": "s", "hook_event_name": "PreToolUse", "cwd": str(home), "tool_name": "Bash"}
    question["tool_input"] = {"command": "rm -rf build"}
    assert '"deny"' in play(home, "sh", "-c", entry["hooks"][0]["command"], says=json.dumps(question))
    run("uninstall", "--all", "--yes")
    assert {name: (home / name).read_text() for name in SETTINGS} == SETTINGS
