"""Whose work it is: scenarios/whose-work.txt, with real processes in the agents' place and the real `hookctl run`.

Beside the words of play.py: `in P` (what follows happens in agent P, a process that lives), `in nothing` (no process is
known), `end P`; `run ... as S1` (in a tool of session S1) and `run ...` (by a person); `says TEXT` and `never TEXT`
about what the last `run` said; `unnamed` (there is no OWNER); `later HOURS`; `edited` (task.json is written just now).
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hookctl.packs.choices import PRESETS
from tests.served import run_served

from .lab import Lab
from .play import Words, play, rows, scenarios

LIVE = "sleep 60"


class Agents:
    """Processes that stand for agents, and what the last `hookctl run` said."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.running, self.said, self.hours = lab, {}, "", 0.0

    def enter(self, name: str) -> None:
        if name == "nothing":
            self.lab.environment["CLAUDE_PID"] = "0"
            return
        if name not in self.running:
            self.running[name] = subprocess.Popen(LIVE.split())
        self.lab.environment["CLAUDE_PID"] = str(self.running[name].pid)

    def end(self, name: str) -> None:
        self.running[name].kill()
        self.running[name].wait()

    def run(self, words: str) -> None:
        words, _, session = words.partition(" as ")
        environment = {**self.lab.environment}
        if session:
            environment["CLAUDE_CODE_SESSION_ID"] = session
        command = [sys.executable, "-m", "hookctl", "run", *words.split(), "--project", str(self.lab.project)]
        done = run_served(command, b"", environment, Path.cwd())
        assert done.returncode == 0, done
        self.said = (done.stdout + done.stderr).decode()

    def later(self, hours: str) -> None:
        self.hours += float(hours)
        self.lab.environment["HOOKCTL_NOW"] = str(time.time() + self.hours * 3600)

    def edit(self) -> None:
        now = time.time() + self.hours * 3600
        os.utime(self.lab.run / "task.json", (now, now))

    def subagent_stops(self, session: str) -> None:
        assert self.lab.stop(session_id=session, agent_id="a1") == "A"

    @property
    def words(self) -> Words:
        """What they do, beside the words that every script has."""
        return {
            "in": lambda lab, rest: self.enter(rest),
            "end": lambda lab, rest: self.end(rest),
            "run": lambda lab, rest: self.run(rest),
            "says": lambda lab, rest: self.has_said(rest, True),
            "never": lambda lab, rest: self.has_said(rest, False),
            "unnamed": lambda lab, rest: self.names_nobody(),
            "later": lambda lab, rest: self.later(rest),
            "edited": lambda lab, rest: self.edit(),
            "sub": lambda lab, rest: self.subagent_stops(rest),
        }

    def has_said(self, text: str, is_said: bool) -> None:
        assert (text in self.said) == is_said, self.said

    def names_nobody(self) -> None:
        assert not (self.lab.run / "OWNER").exists()


@pytest.fixture
def agents(lab: Lab) -> Iterator[Agents]:
    """No agent is left when the test ends."""
    made = Agents(lab)
    yield made
    for process in made.running.values():
        process.kill()
        process.wait()


@rows(scenarios("whose-work"))
def test_the_rule(agents: Agents, config: dict[str, Any], script: str) -> None:
    play(agents.lab, config, script, agents.words)


@pytest.mark.parametrize("preset", ["bmad", "nightly", "openhands", "rockbot", "hermes"])
def test_a_preset_keeps_its_system_s_own_rule(agents: Agents, preset: str) -> None:
    settings = PRESETS[preset]
    assert (settings["claim"], settings["work_hours"]) == (False, 0)
    assert settings.get("guidance", False) == (preset in ("bmad", "nightly"))
    expected = "A" if settings.get("mode") == "guard" else "B"
    both = f"a:0={expected}; b:0={expected}"
    settings = {**settings, "mode": "breaker"} if settings.get("mode") == "off" else settings
    play(agents.lab, settings, f"armed; work 2; old 500; {both}; owner b; a:0=A[not_owner]")


def test_where_no_hookctl_is_found_no_command_is_named_and_else_it_is(lab: Lab) -> None:
    lab.task(remaining=2)
    assert "hookctl run" not in lab.call("stop", session_id="S1")
    folder = lab.root / "bin"
    folder.mkdir()
    (folder / "hookctl").mkdir()
    lab.environment["PATH"] += f"::relative:{folder}"
    assert "hookctl run" not in lab.call("stop", session_id="S1", stop_hook_active=True)
    (folder / "hookctl").rmdir()
    shutil.copy("/bin/true", folder / "hookctl")
    said = json.loads(lab.call("stop", session_id="S1", stop_hook_active=True))["reason"]
    assert "`hookctl run remaining N`" in said and f"{lab.run}/task.json" in said and "`hookctl run release`" in said


def test_two_first_stops_at_once_make_one_owner(lab: Lab) -> None:
    lab.config(lock_ms=8000).task(remaining=2)
    with ThreadPoolExecutor(8) as pool:
        answers = sorted(pool.map(lambda number: lab.stop(session_id=f"S{number}"), range(8)))
    assert "".join(answers) == "AAAAAAAB"
