"""The role: hookctl from a wheel in an environment of its own, then the guard for each user, as that user.

Root plays three users in a mount namespace of its own, where they are in /etc/passwd.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fleet.ansible import HAS_ANSIBLE, WHY_NOT, Ansible
from tests.test_wheel import pip, source, wheel

__all__ = ["source", "wheel"]  # the fixtures
USERS = {"ann": 61001, "bob": 61002}


def _can_unshare() -> bool:
    command = ["unshare", "--mount", "true"]
    try:
        return os.geteuid() == 0 and subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


pytestmark = [
    pytest.mark.skipif(os.environ.get("HOOKCTL_TESTS") != "all", reason="takes a minute: HOOKCTL_TESTS=all"),
    pytest.mark.skipif(not HAS_ANSIBLE, reason=WHY_NOT),
    pytest.mark.skipif(not _can_unshare(), reason="other users need root and a mount namespace"),
]
PLAY = """
- hosts: localhost
  connection: local
  gather_facts: false
  roles:
    - role: hookctl.hookctl.guard
"""


def python_for_everybody() -> str:
    """A Python that other users may run, too; that of the tests may lie in somebody's home."""
    code = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))"
    for python in (Path(sys.executable).resolve(), "/usr/bin/python3", "/usr/local/bin/python3"):
        with contextlib.suppress(OSError):  # PermissionError, or there is none
            command = [python, "-I", "-c", code]
            if subprocess.run(command, cwd="/", user=61001, group=61001, extra_groups=[]).returncode == 0:
                return str(python)
    pytest.skip("no Python 3.11 with venv here that other users may run")


@pytest.fixture
def open_path() -> Iterator[Path]:
    """A folder that other users may enter; pytest's own is nobody else's."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_the_role_serves_each_user(wheel: Path, open_path: Path) -> None:
    lines = Path("/etc/passwd").read_text().splitlines()
    for name, number in USERS.items():
        home = open_path / "homes" / name
        (home / ".claude").mkdir(parents=True)
        (home / ".claude" / "settings.json").write_text('{"env": {"MY_API_KEY": "sk-ant-secret-%s"}}\n' % name)  # noqa: UP031
        for path in (home, home / ".claude", home / ".claude" / "settings.json"):
            os.chown(path, number, number)
        lines.append(f"{name}:*:{number}:{number}::{home}:/bin/sh")
    (open_path / "passwd").write_text("\n".join(lines) + "\n")
    ansible = Ansible(open_path)
    (open_path / "play.yml").write_text(PLAY)
    wheels = open_path / "wheels"
    pip("download", "--quiet", "--dest", str(wheels), str(wheel))
    target_python = python_for_everybody()
    variables = {
        "hookctl_source": str(wheel),
        "hookctl_source_is_local": True,
        "hookctl_venv": str(open_path / "opt"),
        "hookctl_python": target_python,
        "hookctl_pip_arguments": f"--no-index --find-links {wheels}",
        "hookctl_users": list(USERS),
        "ansible_python_interpreter": target_python,
        "ansible_become_method": "su",
    }

    def play(*arguments: str, **more: object) -> str:
        words = json.dumps({**variables, **more})
        run = ["playbook", "play.yml", "-e", words, *arguments]
        code = f'mount --bind {open_path}/passwd /etc/passwd && exec {sys.executable} -m ansible "$@"'
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", code, "sh", *run], env=ansible.environ, cwd=open_path, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        assert "sk-ant-secret" not in done.stdout
        return done.stdout

    def hook_settings(name: str) -> str:
        path = open_path / "homes" / name / ".claude" / "settings.json"
        assert path.stat().st_uid == USERS[name]
        return path.read_text()

    before = {name: hook_settings(name) for name in USERS}
    assert "changed=" in play("--check", "--diff")
    assert not (open_path / "opt").exists() and {name: hook_settings(name) for name in USERS} == before
    play("--diff", hookctl_guard={"set": {"MAX_STOP_BLOCKS": 5}})
    assert all('"MAX_STOP_BLOCKS": "5"' in hook_settings(name) for name in USERS)
    made = [path for name in USERS for path in (open_path / "homes" / name).rglob("*")]
    assert {path.stat().st_uid for path in made} == set(USERS.values())
    assert "changed=0" in play(hookctl_guard={"set": {"MAX_STOP_BLOCKS": 5}})
    play(hookctl_guard={"set": {"MAX_STOP_BLOCKS": 8}})
    assert all('"MAX_STOP_BLOCKS": "8"' in hook_settings(name) for name in USERS)
    play(hookctl_state="absent")
    assert {name: hook_settings(name) for name in USERS} == before
