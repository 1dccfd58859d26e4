"""Who holds a claim, and which process is the agent; what people see of it: tests/stories/whose-work-it-is.txt."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from hookctl.system import project
from hookctl.system.package_data import guard_module
from hookctl.work import run_files as work_files
from hookctl.work.run_files import RunFiles

from .conftest import Hookctl


def state() -> str:
    return project.state_folder(os.environ["HOOKCTL_STATE_DIR"], os.getcwd())


def test_a_claim_that_is_held_is_waited_for_and_then_named(
    hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_files, "_PATIENCE", 0.1)
    with work_files.locked(RunFiles("", None, "", {}, state(), 0)):
        outcome = hookctl("run", "remaining", "1", "--json")
    assert (outcome.code, outcome.result["errors"][0]["code"]) == (1, "lock_timeout")
    assert not Path(".hookctl/run/task.json").exists()


# The process.


def test_a_process_is_gone_when_it_ended_or_its_id_is_another_s() -> None:
    work = guard_module("work")
    process = subprocess.Popen(["sleep", "60"])
    described = work.describe_process(str(process.pid))
    pid, start, machine = described.split(" ")
    assert work.is_gone(described) is False
    assert work.is_gone(f"{pid} {int(start) + 1} {machine}") is True
    assert work.is_gone(f"{pid} {start} elsewhere:1") is None
    assert work.is_gone("") is None
    process.kill()
    assert work.is_gone(described) in (True, False)  # it is dying
    process.wait()
    assert work.is_gone(described) is True
