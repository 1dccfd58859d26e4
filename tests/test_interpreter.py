"""Which Python runs the hooks: one that is really there, and will be tomorrow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hookctl.system import interpreter

from .conftest import Hookctl, put

BASE = os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)


class Machine:
    """A machine with no Python but those that a test puts there."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.monkeypatch = root, monkeypatch
        self.path("usr/bin")

    def path(self, *folders: str) -> None:
        """The first is the system's own folder, the rest is PATH."""
        system, *others = [str(self.root / folder) for folder in folders]
        self.monkeypatch.setattr(interpreter, "_SYSTEM", (system,))
        self.monkeypatch.setenv("PATH", os.pathsep.join(others))

    def script(self, name: str, text: str) -> str:
        path = put(self.root / name, f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    def python(self, name: str, version: str = "3\\n11", answers: str = "") -> str:
        """A Python that says that it is itself, or another."""
        return self.script(name, f"printf '{answers or self.root / name}\\n{version}\\n'")

    def choice(self) -> str:
        """The one that is chosen, or nothing where it is the base of the running one."""
        chosen, warning = interpreter.choose(os.environ)
        assert not warning or chosen == BASE
        return "" if chosen == BASE else chosen


@pytest.fixture
def machine(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(isolated, monkeypatch)


def test_the_systems_own_is_chosen(machine: Machine) -> None:
    system, other = machine.python("usr/bin/python3"), machine.python("opt/bin/python3")
    machine.path("usr/bin", "opt/bin")
    assert machine.choice() == system
    machine.path("no/such/folder", "opt/bin")
    assert machine.choice() == other


@pytest.mark.parametrize(
    "text",
    [
        "exit 1", "exit 0", "echo /usr/bin/python3", "echo nonsense; echo 3; echo eleven", "echo; echo 3; echo 11",
        "echo relative/python3; echo 3; echo 11", "printf '/a\\n/b\\n3\\n11\\n'", "printf '\\377\\n3\\n11\\n'",
        "kill -9 $$",
    ],
)  # fmt: skip
def test_what_does_not_say_what_it_is_is_passed_over(machine: Machine, text: str) -> None:
    machine.script("usr/bin/python3", text)
    assert machine.choice() == ""
    good = machine.python("good/python3")
    machine.path("usr/bin", "good")
    assert machine.choice() == good


def test_files_that_cannot_run_are_passed_over(machine: Machine) -> None:
    put(machine.root / "usr" / "bin" / "python3", "#!/bin/sh\n").chmod(0o644)
    assert machine.choice() == ""
    (machine.root / "dir" / "python3").mkdir(parents=True)
    put(machine.root / "bad" / "python3", "#!/no/such/interpreter\n").chmod(0o755)
    put(machine.root / "binary" / "python3", b"\x7fELF\0\0").chmod(0o755)
    machine.path("usr/bin", "dir", "bad", "binary")
    assert machine.choice() == ""


def test_a_real_virtual_environment_is_passed_over(machine: Machine) -> None:
    subprocess.run([BASE, "-m", "venv", "--without-pip", str(machine.root / "venv")], check=True)
    assert interpreter.ask(str(machine.root / "venv" / "bin" / "python3")) is not None
    machine.path("usr/bin", "venv/bin")
    assert machine.choice() == ""


def test_a_shim_is_never_chosen_itself(machine: Machine) -> None:
    """What a shim calls is chosen if it will be there tomorrow, and not if it belongs to a version manager."""
    machine.python("shims/python3", answers=str(machine.root / "versions" / "3.12.1" / "bin" / "python3"))
    machine.path("usr/bin", "shims")
    assert machine.choice() == ""
    real = machine.python("real/python3")
    machine.script("shims/python3", f"exec {real}")
    assert machine.choice() == real
    machine.python("shims/python3", answers=str(machine.root / "cpython-3.11.7-linux" / "bin" / "python3"))
    assert machine.choice() == ""


def test_the_environment_does_not_change_what_an_interpreter_says(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.script("usr/bin/python3", f'[ -z "$PYTHONHOME$MARK" ] && printf "{machine.root}/x\\n3\\n11\\n"')
    monkeypatch.setenv("MARK", "x")
    assert machine.choice() == f"{machine.root}/x"


def test_install_keeps_an_interpreter_that_still_runs_and_replaces_one_that_is_gone(
    machine: Machine, hookctl: Hookctl, settings: Path
) -> None:
    first = machine.python("usr/bin/python3")
    assert hookctl("install", "--host", "claude").code == 0
    assert f"hookctl=guard/stop; {first} -I -S " in settings.read_text()
    machine.path("other/bin")
    second = machine.python("other/bin/python3")
    assert hookctl("install", "--host", "claude").out == "nothing to do\n"
    os.unlink(first)
    assert hookctl("install", "--host", "claude").code == 0
    assert f"hookctl=guard/stop; {second} -I -S " in settings.read_text()
    assert first not in settings.read_text()
