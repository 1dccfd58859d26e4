"""Runs Ansible on these machines, and says what came of each."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
HAS_ANSIBLE = importlib.util.find_spec("ansible") is not None
WHY_NOT = "ansible-core is not installed: pip install -e '.[dev]'"


class Ran(NamedTuple):
    """One run of Ansible: what the task returned on each host, and what was printed."""

    results: dict[str, dict[str, Any]]
    output: str

    def named(self, word: str) -> set[str]:
        """The hosts that Ansible counts as `changed` or `failed`."""
        rows = re.findall(r"^(\S+) +: (ok=.*)$", self.output, re.MULTILINE)
        return {name for name, counts in rows if f" {word}=0 " not in counts}


class Ansible:
    """Ansible with the collection of this checkout and nothing of the person who runs the tests."""

    def __init__(self, top: Path) -> None:
        self._top = top
        collection = top / "ansible_collections" / "hookctl"
        collection.mkdir(parents=True)
        (collection / "hookctl").symlink_to(ROOT / "ansible")
        (top / "ansible-home").mkdir()
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(top / "ansible-home"),
            "LC_ALL": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "ANSIBLE_COLLECTIONS_PATH": str(top),
            "ANSIBLE_HOME": str(top / "ansible-home"),
            "ANSIBLE_REMOTE_TMP": str(top / "remote"),
            "ANSIBLE_FORKS": "4",
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_PIPELINING": "1",
            "ANSIBLE_HOST_KEY_CHECKING": "0",
            "ANSIBLE_LOAD_CALLBACK_PLUGINS": "1",
            "ANSIBLE_CALLBACKS_ENABLED": "ansible.builtin.tree",
        }

    def run(self, *arguments: str) -> Ran:
        """Run a part of Ansible: `playbook`, `doc`, `adhoc`, ..."""
        results = self._top / "results"
        shutil.rmtree(results, ignore_errors=True)
        results.mkdir()
        environ = {**self.environ, "ANSIBLE_CALLBACK_TREE_DIR": str(results)}
        done = subprocess.run(
            [sys.executable, "-m", "ansible", *arguments], env=environ, cwd=self._top, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
        )  # fmt: skip
        by_host = {path.name: json.loads(path.read_text()) for path in results.iterdir()}
        return Ran(by_host, done.stdout)


def write_program(path: Path, root: Path = ROOT, first: str = "") -> Path:
    """A program `hookctl` that runs the package of this folder, after a line of Python."""
    code = f"import sys; sys.path.insert(0, {str(root)!r}); sys.argv[0] = 'hookctl'\n{first}\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable}\n{code}from hookctl.__main__ import main\nmain()\n")
    path.chmod(0o755)
    return path
