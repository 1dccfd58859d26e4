"""Real clients for the tests: fetched at the version of clients.toml into a cache, outside any HOME.

`HOOKCTL_TEST_CLIENTS="claude=1.2.3 codex"` runs the tests of these clients alone, and takes the versions that it names.
"""

import contextlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

_HERE = Path(__file__).parent
# Taken when this module is read: the tests' own HOME is another one, and the caches and settings of npm and pip lie in
# this one.
_PREFIXES = ("npm_config_", "NPM_CONFIG_", "PIP_", "SSL_", "REQUESTS_")
_NAMES = ("PATH", "HOME", "NODE_EXTRA_CA_CERTS", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "PYENV_ROOT")
ENVIRONMENT = {k: v for k, v in os.environ.items() if k in _NAMES or k.startswith(_PREFIXES)}
CACHE = Path(os.environ.get("HOOKCTL_TEST_CACHE") or _HERE.parent.parent / ".cache" / "clients").absolute()
REQUIRED = os.environ.get("HOOKCTL_E2E") == "require"
FILE = _HERE / "clients.toml"
CLIENTS: dict[str, dict[str, Any]] = tomllib.loads(FILE.read_text())
WANTED = dict(word.partition("=")[::2] for word in os.environ.get("HOOKCTL_TEST_CLIENTS", "").split())


class Client(NamedTuple):
    """A client's program, and the facts that hookctl relies on in this version of it."""

    name: str
    program: Path
    version: str
    pins: dict[str, Any]
    runtime: tuple[str, ...] = ()

    @property
    def command(self) -> list[str]:
        """How the program is called: by its runtime, if it needs one."""
        return [*self.runtime, str(self.program)]


class Unavailable(Exception):
    """The client cannot be had here; says why."""


def find_client(name: str) -> Client:
    """Return a client, from the cache or else from its registry."""
    about = CLIENTS[name]
    version = WANTED.get(name) or about["version"]
    if about.get("registry") == "pypi":
        program = _from_pypi(about, version)
    else:
        release = about.get("release", "VERSION").replace("VERSION", version)
        program = npm_file(about["package"], release, about["program"])
    if about.get("packed") == "brotli":
        program = _unpack(program)
    return Client(name, program, version, pins_of(name), _runtime(about.get("runtime", "")))


def pins_of(name: str) -> dict[str, Any]:
    """What the tests expect of a client, from its file."""
    return tomllib.loads((_HERE / "pins" / f"{name}.toml").read_text())


def fetched(folder: Path, pattern: str, what: str, fetch: Callable[[Path], None]) -> Path:
    """A file in a folder of the cache, which is filled first where it is not there."""
    if not _first_file(folder, pattern):
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Another run of the tests may be at it too: each fetches on its own, and the first one done wins.
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder.parent) as scratch:
            prefix = Path(scratch) / "client"
            prefix.mkdir()
            fetch(prefix)
            if not _first_file(prefix, pattern):
                raise Unavailable(f"{what} has no {pattern}")
            if not _first_file(folder, pattern):
                shutil.rmtree(folder, ignore_errors=True)
                with contextlib.suppress(OSError):
                    prefix.rename(folder)
    found = _first_file(folder, pattern)
    assert found is not None
    return found


def _first_file(folder: Path, pattern: str) -> Path | None:
    return next((path for path in sorted(folder.glob(pattern)) if path.is_file()), None)


def _run(command: list[str], what: str, folder: Path | None = None) -> None:
    more: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": 600}
    try:
        done = subprocess.run(command, env=ENVIRONMENT, cwd=folder, **more)
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{what} was not fetched within {error.timeout:.0f} s") from None
    if done.returncode != 0:
        raise Unavailable(f"{what} was not fetched: {done.stderr.strip()[-500:]}")


def npm_file(package: str, version: str, program: str) -> Path:
    """A file of an npm package, such as a program; PLATFORM in its name or version is this machine's.

    `program` may be a glob.
    """
    package, version = for_this_machine(package), for_this_machine(version)
    spec = f"{package}@{version}"

    def fetch(prefix: Path) -> None:
        npm = shutil.which("npm", path=ENVIRONMENT.get("PATH"))
        if npm is None:
            raise Unavailable(f"{spec} is not in {CACHE}, and there is no npm to fetch it: install Node.js with npm")
        options = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"]
        _run([npm, "install", "--prefix", str(prefix), *options, spec], spec, prefix.parent)

    folder = CACHE / f"{package.rpartition('/')[2]}-{version}"
    return fetched(folder, f"node_modules/{package}/{program}", spec, fetch)


def for_this_machine(text: str) -> str:
    return text.replace("PLATFORM", _platform()) if "PLATFORM" in text else text


def _platform() -> str:
    system = {"linux": "linux", "darwin": "darwin"}.get(sys.platform)
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine().lower())
    if system is None or machine is None:
        raise Unavailable(f"there is no client for {sys.platform} on {platform.machine()}")
    return f"{system}-{machine}"


def _unpack(packed: Path) -> Path:
    """The program that a package has compressed; its own script for that is not run."""
    program = packed.with_suffix("")
    if program.exists():
        return program
    node = _runtime("node")[0]
    with tempfile.TemporaryDirectory(prefix=".unpack-", dir=packed.parent) as scratch:
        whole = Path(scratch) / program.name
        code = "fs.writeFileSync(process.argv[2], zlib.brotliDecompressSync(fs.readFileSync(process.argv[1])))"
        subprocess.run([node, "-e", code, str(packed), str(whole)], check=True, timeout=300)
        whole.chmod(0o755)
        whole.replace(program)
    return program


def _runtime(wanted: str) -> tuple[str, ...]:
    """The program that runs another one: "node" is the machine's, "node VERSION" a version of its own."""
    name, _, version = wanted.partition(" ")
    if not name:
        return ()
    if version:
        return (str(npm_file(f"{name}-PLATFORM", version, f"bin/{name}")),)
    found = shutil.which(name, path=ENVIRONMENT.get("PATH"))
    if found is None:
        raise Unavailable(f"there is no {name} on the PATH")
    return (found,)


# PyPI: each in an environment of its own

_PYTHON = '#!/bin/sh\nexec "$(dirname "$0")/bin/python" "$@"\n'
_LAUNCHER = '#!/bin/sh\nexec "$(dirname "$0")/bin/{0}" "$@"\n'
# A script's first lines, which sh and Python both read; its Python lies beside it.
_FIRST_LINES = b"#!/bin/sh\n'''exec' \"$(dirname \"$0\")/python\" \"$0\" \"$@\"\n' '''\n"


def _from_pypi(about: Mapping[str, Any], version: str) -> Path:
    """The launcher of a package's program; several packages of one version stand with blanks between them."""
    specs, program = [f"{name}=={version}" for name in about["package"].split()], about["program"]
    spec = " ".join(specs)

    def fetch(prefix: Path) -> None:
        # Without a pip of its own it is there in a tenth of the time; the one here installs into it.
        _run([_interpreter(about.get("python", "")), "-m", "venv", "--without-pip", str(prefix)], spec)
        pip = [sys.executable, "-m", "pip", "--python", str(prefix / "bin" / "python"), "--disable-pip-version-check"]
        # One of OpenHands' packages comes as a source only.
        install = [*pip, "install", "--quiet", "--prefer-binary"]
        if "instead" in about:
            # What is there already is not fetched again, and what it requires is read where it lies.
            _run([*install, "--no-deps", *specs], spec)
            for metadata in prefix.glob("lib/*/site-packages/*.dist-info/METADATA"):
                text = metadata.read_text("utf-8")
                for old, new in about["instead"].items():
                    text = text.replace(f"Requires-Dist: {old}\n", f"Requires-Dist: {new}\n")
                metadata.write_text(text, "utf-8")
        _run([*install, *specs], spec)
        _make_movable(prefix / "bin")
        if (prefix / "bin" / program).is_file():
            (prefix / program).write_text(_PYTHON if program == "python" else _LAUNCHER.format(program))
            (prefix / program).chmod(0o755)

    return fetched(CACHE / f"{about['package'].split()[0]}-{version}", program, spec, fetch)


def _interpreter(at_least: str) -> str:
    """A Python that is new enough: the one that runs the tests, one on the PATH or one of pyenv's."""
    if not at_least:
        return sys.executable
    wanted = tuple(map(int, at_least.split(".")))
    names = [f"python3.{minor}" for minor in range(wanted[1] + 3, wanted[1] - 1, -1)]
    versions = Path(ENVIRONMENT.get("PYENV_ROOT") or Path(ENVIRONMENT.get("HOME", "/"), ".pyenv"), "versions")
    on_path = [shutil.which(name, path=ENVIRONMENT.get("PATH")) for name in [*names, "python3"]]
    for found in [sys.executable, *on_path, *sorted(map(str, versions.glob("*/bin/python3")), reverse=True)]:
        if found and _version(found) >= wanted:
            return found
    raise Unavailable(f"there is no Python {at_least} or later")


def _version(python: str) -> tuple[int, ...]:
    """The version of a Python; () for one that does not run, such as a shim of pyenv's."""
    words = [python, "-I", "-c", "import sys; print(*sys.version_info[:2])"]
    done = subprocess.run(words, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return tuple(map(int, done.stdout.split())) if done.returncode == 0 else ()


def _make_movable(folder: Path) -> None:
    """Let scripts find their Python wherever the environment lies: a client may start another script of its own."""
    named = re.compile(rb"#!(/bin/sh\n'''exec' )?" + re.escape(bytes(folder)) + rb"/python.*\n(' '''\n)?")
    for script in filter(Path.is_file, folder.iterdir()):
        text = script.read_bytes()
        if named.match(text):
            script.write_bytes(named.sub(lambda _: _FIRST_LINES, text, count=1))
