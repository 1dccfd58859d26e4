"""hookctl run, status and hosts about whose work it is; the rules themselves: tests/templates/test_whose_work.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hookctl import hosts
from hookctl.packs import whose_work
from hookctl.packs.run_files import RunFiles
from hookctl.system import project
from hookctl.system.package_data import guard_module

from .conftest import Hookctl, put

HOUR = 3600
NOW = 1_800_000_000


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOKCTL_NOW", str(NOW))


def task(hours: float = 0.0, remaining: int = 2) -> Path:
    """Work in the working folder, last written so many hours ago."""
    path = put(Path(".hookctl/run/task.json"), json.dumps({"remaining": remaining}))
    os.utime(path, (NOW - hours * HOUR,) * 2)
    return path


def state() -> str:
    return project.state_folder(os.environ["HOOKCTL_STATE_DIR"], os.getcwd())


def test_status_shows_work_its_owner_and_its_age(hookctl: Hookctl, isolated: Path, at: None) -> None:
    task(0.5)
    outcome = hookctl("status")
    assert "2 remaining, touched 30 min ago" in outcome.out
    assert "for the first session that the guard keeps going" in outcome.out
    work = hookctl("status", "--json").data["work"]
    assert (work["remaining"], work["owner"], work["age_seconds"], work["stale"]) == (2, None, 1800, False)


def test_status_says_nothing_where_no_work_waits(hookctl: Hookctl, isolated: Path, at: None) -> None:
    task(remaining=0)
    assert "remaining" not in hookctl("status").out
    assert hookctl("status", "--json").data["work"] is None


def test_status_shows_that_work_is_stale(hookctl: Hookctl, isolated: Path, at: None) -> None:
    task(13)
    outcome = hookctl("status")
    assert "touched 13 h ago: the guard ignores it" in outcome.out
    assert "`hookctl run remaining 0` ends it" in outcome.out
    assert hookctl("run", "status").out.count("stale      untouched for 13 h") == 1
    data = hookctl("run", "status", "--json").data
    assert (data["stale"], data["work_age_seconds"]) == (True, 13 * HOUR)


@pytest.mark.parametrize(("hours", "text", "code"), [(1, None, 0), (13, None, 1), (1, "{", 1), (13, "{}", 0)])
def test_check_ends_with_1_where_the_guard_ignores_work(
    hookctl: Hookctl, isolated: Path, at: None, hours: float, text: str | None, code: int
) -> None:
    path = task(hours)
    if text is not None:
        path.write_text(text)
    assert hookctl("run", "status", "--check").code == code
    assert hookctl("run", "status").code == 0


def test_check_without_a_task_is_fine(hookctl: Hookctl, isolated: Path) -> None:
    assert hookctl("run", "status", "--check", "--json").code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("stop", "--check"),
        ("heartbeat", "--owner", "S1"),
        ("release", "--owner", "none"),
        ("remaining", "2", "--for", "1h"),
        ("release", "3"),
        ("remaining", "2", "--owner", "x" * 300),
    ],
)
def test_an_option_of_another_action_is_refused(hookctl: Hookctl, isolated: Path, words: tuple[str, ...]) -> None:
    assert hookctl("run", *words).code == 2
    assert not Path(".hookctl").exists()


def test_the_settings_of_the_installed_guard_count(hookctl: Hookctl, isolated: Path, at: None) -> None:
    hookctl("install", "--host", "claude", "--set", "work_hours=1", "--set", "claim=false")
    task(2)
    assert hookctl("run", "status", "--json").data["stale"] is True
    assert "owner      every session" in hookctl("run", "status").out
    assert "begins, for every session" in hookctl("run", "start").out


def test_a_preset_lets_remaining_name_no_owner(
    hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system that it stands for asks every session; only `start` binds the run to the caller's."""
    hookctl("install", "--host", "claude", "--preset", "bmad")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "S1")
    hookctl("run", "remaining", "2")
    assert not Path(".hookctl/run/OWNER").exists()
    hookctl("run", "start")
    assert Path(".hookctl/run/OWNER").read_text() == "S1\n"


@pytest.mark.parametrize("option", [("--preset", "bmad"), ("--set", "owner=S1")])
def test_an_owner_that_is_named_elsewhere_stays_it(hookctl: Hookctl, isolated: Path, option: tuple[str, str]) -> None:
    """By the marker of another system, or a setting: no command of ours changes these."""
    hookctl("install", "--host", "claude", *option)
    put(Path(".claude/.story-automator-active"), '{"storiesRemaining": 2, "ownerSession": "S1"}')
    put(Path(".hookctl/run/task.json"), '{"remaining": 2}')
    assert "it stays with session S1" in hookctl("run", "release").out
    assert "begins, for session S1" in hookctl("run", "start").out
    assert "begins, for session S2" in hookctl("run", "start", "--owner", "S2").out
    said = hookctl("run", "release").out
    assert "given back: session S2" in said and "belongs to session S1;" in said
    assert "owner      session S1" in hookctl("run", "status").out


def test_an_owner_through_a_link_is_neither_shown_nor_removed(hookctl: Hookctl, isolated: Path) -> None:
    task()
    secret = put(isolated / "secret", "precious-id")
    Path(".hookctl/run/OWNER").symlink_to(secret)
    for words in (("status",), ("run", "status"), ("run", "release"), ("run", "start"), ("doctor", "--host", "claude")):
        outcome = hookctl(*words)
        assert "precious-id" not in outcome.out + outcome.err, words
    assert Path(".hookctl/run/OWNER").is_symlink()
    assert secret.read_text() == "precious-id"


def test_home_is_told_what_it_is_a_project_for(
    hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Path(os.environ["HOME"])
    monkeypatch.chdir(home)
    said = hookctl("run", "remaining", "1").err
    assert "with all below it" not in said
    assert "agents that are started in this very folder, not below it" in said
    below = home / "below"
    below.mkdir()
    assert project.search(str(below), os.environ) == str(below), "and so it is"


def test_a_claim_that_is_held_is_waited_for_and_then_named(
    hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whose_work, "_PATIENCE", 0.1)
    with whose_work.locked(RunFiles("", "", "", state(), 0)):
        outcome = hookctl("run", "remaining", "1", "--json")
    assert (outcome.code, outcome.result["errors"][0]["code"]) == (1, "lock_timeout")
    assert not Path(".hookctl/run/task.json").exists()


# The process.


def test_the_agent_is_the_nearest_process_without_the_variable(tmp_path: Path) -> None:
    """A shell, a script and a program below it have it; the one that started them has not."""
    program = tmp_path / "program.py"
    program.write_text("from hookctl.packs import whose_work as a\nprint(*a.find_agent('SESSION_OF_15', 's'))\n")
    done = subprocess.run(
        ["sh", "-c", f"sh -c '{sys.executable} {program}; true'; true"],
        env={**os.environ, "SESSION_OF_15": "s", "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [str(os.getpid()), "3"]


def test_a_variable_that_was_set_by_ourselves_tells_no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESSION_OF_15", "s")
    assert whose_work.find_agent("SESSION_OF_15", "s") == ("", 0)


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


def test_hosts_says_where_no_session_or_process_is_told(hookctl: Hookctl, isolated: Path) -> None:
    facts = {entry["host"]: entry for entry in hookctl("hosts", "--json").data["hosts"]}
    assert (facts["claude"]["session"], facts["claude"]["process"]) == ("CLAUDE_CODE_SESSION_ID", "CLAUDE_PID")
    assert (facts["gemini"]["session"], facts["gemini"]["process"]) == (None, "parent")
    assert (facts["cursor"]["session"], facts["cursor"]["process"]) == (None, None)
    out = " ".join(hookctl("hosts", "gemini", "cursor").out.split())
    assert "not told to the agent's own commands: `hookctl run` there is as a person's" in out
    assert "not told: work passes on after 30 minutes without an event" in out
    assert set(facts) == set(hosts.names())


@pytest.mark.parametrize(
    ("lock", "command"), [("taken.lock", ("run", "remaining", "3")), ("supervised.lock", ("supervise", "--", "true"))]
)
def test_a_pipe_in_the_place_of_a_lock_is_named(
    isolated: Path, hookctl: Hookctl, lock: str, command: tuple[str, ...]
) -> None:
    assert hookctl("run", "remaining", "1").code == 0
    (folder,) = [path for path in (isolated / "state" / "guard").iterdir() if path.is_dir()]
    (folder / lock).unlink(missing_ok=True)
    os.mkfifo(folder / lock)
    done = hookctl(*command)
    assert done.code == 1 and str(folder / lock) in done.err and "unexpected" not in done.err
