"""Real clients for the tests: fetched at the version of clients.toml into a cache, outside any HOME.

`HOOKCTL_TEST_CLIENTS="claude=1.2.3 codex"` runs the tests of these clients alone, and takes the versions that it names.
"""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from . import pypi_clients

_HERE = Path(__file__).parent
_NPM_PREFIXES = ("npm_config_", "NPM_CONFIG_", "SSL_")
_NPM_NAMES = ("PATH", "HOME", "NODE_EXTRA_CA_CERTS")

# Taken when this module is read: the tests' own HOME is another one, and npm's cache and settings lie in this one.
_NPM_ENVIRONMENT = {k: v for k, v in os.environ.items() if k in _NPM_NAMES or k.startswith(_NPM_PREFIXES)}
_CACHE = Path(os.environ.get("HOOKCTL_TEST_CACHE") or _HERE.parent.parent / ".cache" / "clients").absolute()
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
    found = shutil.which(name, path=_NPM_ENVIRONMENT.get("PATH"))
    if found is None:
        raise Unavailable(f"there is no {name} on the PATH")
    return (found,)


def npm_file(package: str, version: str, program: str) -> Path:
    """A file of an npm package, such as a program; PLATFORM in its name or version is this machine's.

    `program` may be a glob.
    """
    package, version = for_this_machine(package), for_this_machine(version)
    folder = _CACHE / f"{package.rpartition('/')[2]}-{version}"
    pattern = f"node_modules/{package}/{program}"
    return _first_file(folder, pattern) or _install(f"{package}@{version}", folder, pattern)


def _first_file(folder: Path, pattern: str) -> Path | None:
    return next((path for path in sorted(folder.glob(pattern)) if path.is_file()), None)


def for_this_machine(text: str) -> str:
    return text.replace("PLATFORM", _platform()) if "PLATFORM" in text else text


def _platform() -> str:
    system = {"linux": "linux", "darwin": "darwin"}.get(sys.platform)
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine().lower())
    if system is None or machine is None:
        raise Unavailable(f"there is no client for {sys.platform} on {platform.machine()}")
    return f"{system}-{machine}"


def _install(spec: str, folder: Path, pattern: str) -> Path:
    npm = shutil.which("npm", path=_NPM_ENVIRONMENT.get("PATH"))
    if npm is None:
        raise Unavailable(f"{spec} is not in {_CACHE}, and there is no npm to fetch it: install Node.js with npm")
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Another run of the tests may be at it too: each fetches on its own, and the first one done wins.
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder.parent) as scratch:
        prefix = Path(scratch) / "client"
        prefix.mkdir()
        options = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"]
        try:
            done = subprocess.run(
                [npm, "install", "--prefix", str(prefix), *options, spec],
                env=_NPM_ENVIRONMENT,
                cwd=scratch,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=300,
            )
        except subprocess.TimeoutExpired as error:
            raise Unavailable(f"npm did not fetch {spec} within {error.timeout:.0f} s") from None
        if done.returncode != 0 or not _first_file(prefix, pattern):
            raise Unavailable(f"npm did not fetch {spec}: {done.stderr.strip()[-500:] or 'the program is missing'}")
        if not _first_file(folder, pattern):
            shutil.rmtree(folder, ignore_errors=True)
            try:
                prefix.rename(folder)
            except OSError:
                if not _first_file(folder, pattern):
                    raise
    program = _first_file(folder, pattern)
    assert program is not None
    return program


def _from_pypi(about: dict[str, Any], version: str) -> Path:
    more = [about.get("python", ""), about.get("instead", {})]
    try:
        return pypi_clients.fetch(_CACHE, about["package"], version, about["program"], *more)
    except pypi_clients.Failed as error:
        raise Unavailable(str(error)) from None
