"""Ansible's own tests of a collection, and ansible-lint where it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fleet.ansible import HAS_ANSIBLE, ROOT, WHY_NOT
from tests.test_wheel import _ENVIRONMENT

pytestmark = [
    pytest.mark.skipif(os.environ.get("HOOKCTL_TESTS") != "all", reason="takes minutes: HOOKCTL_TESTS=all"),
    pytest.mark.skipif(not HAS_ANSIBLE, reason=WHY_NOT),
]
LINT = shutil.which("ansible-lint")
TESTS = ("compile", "import", "validate-modules", "pep8", "yamllint", "pylint", "runtime-metadata", "shebang")
# Ansible fetches pip from a server of its own; Python has one, and gets the wanted version from the package index.
_GET_PIP = """
import subprocess
import sys

subprocess.check_call([sys.executable, "-m", "ensurepip"])
arguments = [word for word in sys.argv[1:] if word not in ("--no-setuptools", "--no-wheel")]
subprocess.check_call([sys.executable, "-m", "pip", "install", *arguments])
"""


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """A copy where Ansible wants it: below ansible_collections, in a repository of its own."""
    folder = tmp_path / "ansible_collections" / "hookctl" / "hookctl"
    shutil.copytree(ROOT / "ansible", folder, ignore=shutil.ignore_patterns("__pycache__"))
    for command in (["git", "init", "-q"], ["git", "add", "-A"]):
        subprocess.run(command, cwd=folder, check=True)
    return folder


def run(collection: Path, *command: str) -> None:
    home = collection.parents[2] / "sanity-home"
    cache = home / ".ansible" / "test" / "cache"
    cache.mkdir(parents=True)
    (cache / "get_pip_24_2.py").write_text(_GET_PIP)
    environ = {**_ENVIRONMENT, "HOME": str(home), "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
    environ["ANSIBLE_COLLECTIONS_PATH"] = str(collection.parents[2])
    environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}"
    done = subprocess.run(
        command, cwd=collection, env=environ, text=True, timeout=900,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_ansible_finds_nothing(collection: Path) -> None:
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    chosen = [word for name in TESTS for word in ("--test", name)]
    run(collection, sys.executable, "-m", "ansible", "test", "sanity", "--python", python, "--requirements", *chosen)


@pytest.mark.skipif(LINT is None, reason="ansible-lint is not installed")
def test_ansible_lint_finds_nothing(collection: Path) -> None:
    assert LINT is not None
    run(collection, LINT, "--offline")
