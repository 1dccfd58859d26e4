"""Clients that are Python programs: each in an environment of its own, at a pinned version, in the clients' cache."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

_PREFIXES = ("PIP_", "SSL_", "REQUESTS_")
_NAMES = ("PATH", "HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")

# Taken when this module is read: the tests' own HOME is another one, and pip's cache and settings lie in this one.
_ENVIRONMENT = {k: v for k, v in os.environ.items() if k in _NAMES or k.startswith(_PREFIXES)}
_PYTHON = '#!/bin/sh\nexec "$(dirname "$0")/bin/python" "$@"\n'
_LAUNCHER = '#!/bin/sh\nexec "$(dirname "$0")/bin/{0}" "$@"\n'
# A script's first lines, which sh and Python both read; its Python lies beside it.
_FIRST_LINES = b"#!/bin/sh\n'''exec' \"$(dirname \"$0\")/python\" \"$0\" \"$@\"\n' '''\n"


class Failed(Exception):
    """The package cannot be had here; says why."""


def fetch(
    cache: Path,
    package: str,
    version: str,
    program: str,
    python: str = "",
    instead: Mapping[str, str] = {},
    environment: Mapping[str, str] = _ENVIRONMENT,
) -> Path:
    """Return the launcher of a package's program, from the cache or else from PyPI.

    Several packages of one version stand with blanks between them; `python` is the oldest Python that they run on, and
    as a program the environment's own. `instead` has what takes the place of a requirement of theirs.
    """
    folder = cache / f"{package.split()[0]}-{version}"
    if not (folder / program).is_file():
        specs = [f"{name}=={version}" for name in package.split()]
        _install(_interpreter(python, environment), specs, instead, folder, program, environment)
    return folder / program


def _interpreter(at_least: str, environment: Mapping[str, str]) -> str:
    """A Python that is new enough: the one that runs the tests, one on the PATH or one of pyenv's."""
    if not at_least:
        return sys.executable
    wanted = tuple(map(int, at_least.split(".")))
    names = [f"python3.{minor}" for minor in range(wanted[1] + 3, wanted[1] - 1, -1)]
    versions = Path(environment.get("PYENV_ROOT") or Path(environment.get("HOME", "/"), ".pyenv"), "versions")
    on_path = [shutil.which(name, path=environment.get("PATH")) for name in [*names, "python3"]]
    for found in [sys.executable, *on_path, *sorted(map(str, versions.glob("*/bin/python3")), reverse=True)]:
        if found and _version(found, environment) >= wanted:
            return found
    raise Failed(f"there is no Python {at_least} or later")


def _version(python: str, environment: Mapping[str, str]) -> tuple[int, ...]:
    """The version of a Python; () for one that does not run, such as a shim of pyenv's."""
    words = [python, "-I", "-c", "import sys; print(*sys.version_info[:2])"]
    done = subprocess.run(words, env=dict(environment), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return tuple(map(int, done.stdout.split())) if done.returncode == 0 else ()


def _install(
    python: str,
    specs: list[str],
    instead: Mapping[str, str],
    folder: Path,
    program: str,
    environment: Mapping[str, str],
) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Another run of the tests may be at it too: each fetches on its own, and the first one done wins.
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder.parent) as scratch:
        prefix = Path(scratch) / "client"
        spec = " ".join(specs)
        # Without a pip of its own it is there in a tenth of the time; the one here installs into it.
        _run([python, "-m", "venv", "--without-pip", str(prefix)], spec, environment)
        pip = [sys.executable, "-m", "pip", "--python", str(prefix / "bin" / "python"), "--disable-pip-version-check"]
        # One of OpenHands' packages comes as a source only.
        install = [*pip, "install", "--quiet", "--prefer-binary"]
        if instead:
            # What is there already is not fetched again, and what it requires is read where it lies.
            _run([*install, "--no-deps", *specs], spec, environment)
            for metadata in prefix.glob("lib/*/site-packages/*.dist-info/METADATA"):
                text = metadata.read_text("utf-8")
                for old, new in instead.items():
                    text = text.replace(f"Requires-Dist: {old}\n", f"Requires-Dist: {new}\n")
                metadata.write_text(text, "utf-8")
        _run([*install, *specs], spec, environment)
        if not (prefix / "bin" / program).is_file():
            raise Failed(f"{spec} has no program {program}")
        _make_movable(prefix / "bin")
        (prefix / program).write_text(_PYTHON if program == "python" else _LAUNCHER.format(program))
        (prefix / program).chmod(0o755)
        if not (folder / program).is_file():
            shutil.rmtree(folder, ignore_errors=True)
            try:
                prefix.rename(folder)
            except OSError:
                if not (folder / program).is_file():
                    raise


def _make_movable(folder: Path) -> None:
    """Let scripts find their Python wherever the environment lies: a client may start another script of its own."""
    named = re.compile(rb"#!(/bin/sh\n'''exec' )?" + re.escape(bytes(folder)) + rb"/python.*\n(' '''\n)?")
    for script in filter(Path.is_file, folder.iterdir()):
        text = script.read_bytes()
        if named.match(text):
            script.write_bytes(named.sub(lambda _: _FIRST_LINES, text, count=1))


def _run(command: list[str], spec: str, environment: Mapping[str, str]) -> None:
    try:
        done = subprocess.run(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
        )
    except subprocess.TimeoutExpired as error:
        raise Failed(f"pip did not fetch {spec} within {error.timeout:.0f} s") from None
    if done.returncode != 0:
        raise Failed(f"pip did not fetch {spec}: {done.stderr.strip()[-500:]}")
