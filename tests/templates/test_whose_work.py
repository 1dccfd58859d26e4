"""Whose work it is: one row a rule, with real processes in the agents' place and the real `hookctl run`.

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
from pathlib import Path
from typing import Any

import pytest

from .lab import PYTHON, Lab
from .play import Row, demand, do, rows

KA = {"mode": "keepalive", "chain_reset": "fresh", "latch": False}
ROOT = Path(__file__).parents[2]
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
        environment = {**self.lab.environment, "PYTHONPATH": str(ROOT)}
        if session:
            environment["CLAUDE_CODE_SESSION_ID"] = session
        command = [sys.executable, "-m", "hookctl", "run", *words.split(), "--project", str(self.lab.project)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done
        self.said = done.stdout + done.stderr

    def later(self, hours: str) -> None:
        self.hours += float(hours)
        self.lab.environment["HOOKCTL_NOW"] = str(time.time() + self.hours * 3600)

    def edit(self) -> None:
        now = time.time() + self.hours * 3600
        os.utime(self.lab.run / "task.json", (now, now))


@pytest.fixture
def agents(lab: Lab) -> Iterator[Agents]:
    """No agent is left when the test ends."""
    made = Agents(lab)
    yield made
    for process in made.running.values():
        process.kill()
        process.wait()


def play(agents: Agents, config: dict[str, Any], script: str) -> None:
    agents.lab.config(**config)
    for step in script.split("; "):
        word, _, rest = step.partition(" ")
        match word:
            case "in":
                agents.enter(rest)
            case "end":
                agents.end(rest)
            case "run":
                agents.run(rest)
            case "says":
                assert rest in agents.said, agents.said
            case "never":
                assert rest not in agents.said, agents.said
            case "unnamed":
                assert not (agents.lab.run / "OWNER").exists()
            case "later":
                agents.later(rest)
            case "edited":
                agents.edit()
            case "sub":
                assert agents.lab.stop(session_id=rest, agent_id="a1") == "A"
            case _:
                if not do(agents.lab, word, rest):
                    demand(agents.lab, step)


CLAIMS: list[Row] = [
    ("the first that would be blocked gets it", {}, "work 2; in P; a:0=B; in Q; b:0=A[not_owner]; in P; a:1=B"),
    ("one that may go claims nothing", {}, "work 2; mark CONCLUDE; in P; a:0=A; no CONCLUDE; in Q; b:0=B"),
    ("nor one at STOP", {}, "work 2; mark STOP; in P; a:0=A[stop]; no STOP; in Q; b:0=B"),
    ("nor one without work", {}, "in P; a:0=A[no_work]; work 2; in Q; b:0=B"),
    ("nor one that waits", {}, "work 2; waits; in P; a:0=A[background]; no waits; in Q; b:0=B"),
    ("a subagent never claims", {}, "work 2; in P; sub a; in Q; b:0=B"),
    ("a reminder claims nothing", {"required_tools": ["x"]}, "in P; a:0=B[nudged]; work 2; in Q; b:0=B"),
    ("mode guard claims nothing", {"mode": "guard"}, "work 2; in P; a:0=A[allowed]; in Q; b:0=A[allowed]"),
    ("keepalive claims", KA, "armed 9000000000; in P; a:0=B; in Q; b:0=A[not_owner]; in P; a:1=B"),
    ("one whose work is done goes for that", {}, "work 2; in P; a:0=B; work 0; in Q; b:0=A[no_work]"),
    ("claim=false asks everybody", {"claim": False}, "work 2; in P; a:0=B; in Q; b:0=B"),
    ("let go, it still holds the work", {"max_stop_blocks": 1}, "work 2; in P; a:01=BR; in Q; b:0=A[not_owner]"),
    ("OWNER that a person wrote wins over a claim", {}, "work 2; in P; a:0=B; owner b; a:1=A; in Q; b:0=B"),
    ("without it the claim counts no more", {}, "work 2; owner b; in P; a:0=A; in Q; b:0=B; no OWNER; in P; a:0=B"),
]
PASSING: list[Row] = [
    ("a process that is gone passes on", {}, "work 2; in P; a:0=B; end P; in Q; b:0=B; in R; c:0=A[not_owner]"),
    ("after any time while it lives, it does not", {}, "work 2; in P; a:0=B; later 5; edited; in Q; b:0=A[not_owner]"),
    ("a new session of the process keeps it", {}, "work 2; in P; a:0=B; b:0=B; in Q; a:0=A[not_owner]; in P; b:1=B"),
    ("resumed in another process", {}, "work 2; in P; a:0=B; end P; in Q; a:0=B; in R; b:0=A[not_owner]"),
    ("no process: 30 minutes", {}, "work 2; in nothing; a:0=B; later 0.4; b:0=A[not_owner]; later 0.2; b:0=B"),
    (
        "no process: its own events count",
        {},
        "work 2; in nothing; a:0=B; later 0.4; a:1=B; later 0.4; b:0=A[not_owner]",
    ),
    ("no process: those of others do not", {}, "work 2; in nothing; a:0=B; later 0.4; b:0=A; later 0.2; b:0=B"),
    ("OWNER by hand never passes on", {}, "work 2; owner a; in P; a:0=B; end P; in Q; b:0=A[not_owner]"),
    ("nor the setting", {"owner": "a"}, "work 2; in P; a:0=B; end P; in Q; b:0=A[not_owner]"),
    ("nor --owner", {}, "run start --remaining 2 --owner a; in P; a:0=B; end P; in Q; b:0=A[not_owner]; in P; a:1=B"),
    ("nor in its own process", {}, "run remaining 2 --owner a; in P; a:0=B; b:0=A[not_owner]"),
    ("a claim's bystander later gets it", {}, "work 2; in P; a:0=B; in Q; b:0=A; end P; b:0=B; in R; c:0=A"),
]
TOOLS: list[Row] = [
    ("run remaining in a tool", {}, "in P; run remaining 2 as a; says this session (a) now; in Q; b:0=A; in P; a:0=B"),
    ("run start in a tool", {}, "in P; run start --remaining 2 as a; says for session a; in Q; b:0=A; in P; a:0=B"),
    ("its process gone, it passes on", {}, "in P; run remaining 2 as a; end P; in Q; b:0=B; in R; c:0=A; in Q; b:1=B"),
    ("claim=false too", {"claim": False}, "in P; run start --remaining 2 as a; in Q; b:0=A; end P; b:0=B; c:0=B"),
    ("a new session of its process", {}, "in P; run remaining 2 as a; b:0=B; in Q; c:0=A"),
    (
        "remaining takes over",
        {},
        "in P; run remaining 2 as a; in Q; run remaining 2 as b; says was that of session a; b:0=B; "
        "in P; a:0=A[not_owner]",
    ),
    (
        "a claim too",
        {},
        "work 2; in P; a:0=B; in Q; run remaining 2 as b; says was that of session; b:0=B; in P; a:1=A",
    ),
    (
        "but not from --owner",
        {},
        "run remaining 2 --owner a; in Q; run remaining 1 as b; says stays with session a; b:0=A; in P; a:0=B",
    ),
    ("its own report says nothing of it", {}, "in P; run remaining 2 as a; run remaining 1 as a; never session; a:0=B"),
    (
        "heartbeat takes nothing over",
        {},
        "work 2; in P; a:0=B; in Q; run heartbeat as b; b:0=A[not_owner]; in P; a:1=B",
    ),
    ("remaining 0 clears it", {}, "in P; run remaining 2 as a; run remaining 0 as a; unnamed; work 2; in Q; b:0=B"),
    ("--owner none clears it", {}, "in P; run remaining 2 as a; run start --owner none as a; unnamed; in Q; b:0=B"),
    ("remaining --owner none too", {}, "work 2; in P; a:0=B; run remaining 2 --owner none; in Q; b:0=B"),
]
PEOPLE: list[Row] = [
    (
        "a person's start",
        {},
        "work 2; in P; a:0=B; run start; says the first session; in Q; b:0=B; in P; a:0=A[not_owner]",
    ),
    ("a person's start clears OWNER", {}, "in P; run remaining 2 as a; run start; unnamed; in Q; b:0=B"),
    ("a person's new work", {}, "work 2; in P; a:0=B; work 0; run remaining 3; in Q; b:0=B; in P; a:0=A[not_owner]"),
    ("a person's correction is no new work", {}, "work 2; in P; a:0=B; run remaining 3; in Q; b:0=A[not_owner]"),
    ("work that grew old is none", {}, "work 2; in P; a:0=B; later 13; run remaining 3; edited; in Q; b:0=B"),
    ("OWNER by hand is cleared by new work", {}, "owner a; run remaining 2; unnamed; in Q; b:0=B"),
    ("--owner is not", {}, "run start --owner a; run remaining 2; in Q; b:0=A[not_owner]; in P; a:0=B"),
]
DECLINED: list[Row] = [
    ("given back", {}, "work 2; in P; a:0=B; run release as a; says given back; a:1=A[not_owner]; in Q; b:0=B"),
    (
        "asked again after new work of a person",
        {},
        "work 2; in P; a:0=B; run release as a; run remaining 0; run remaining 2; a:0=B",
    ),
    ("or a start", {}, "work 2; in P; a:0=B; run release as a; a:1=A; run start; a:1=B"),
    ("not after a correction", {}, "work 2; in P; a:0=B; run release as a; run remaining 3; a:1=A[not_owner]"),
    (
        "nor when the next one is gone",
        {},
        "work 2; in P; a:0=B; run release as a; in Q; b:0=B; end Q; in P; a:1=A; in R; c:0=B",
    ),
    (
        "from another session nothing",
        {},
        "work 2; in P; a:0=B; in Q; run release as b; says not this session's; b:0=A; in P; a:1=B",
    ),
    ("nor where nobody holds it", {}, "work 2; in P; run release as a; says nothing changes; a:0=B"),
    ("by a person, whose it was", {}, "work 2; in P; a:0=B; run release; a:1=A[not_owner]; in Q; b:0=B"),
    ("OWNER goes with it", {}, "in P; run remaining 2 as a; run release as a; unnamed; a:0=A; in Q; b:0=B"),
    ("--owner too", {}, "run remaining 2 --owner a; in P; run release as a; unnamed; a:0=A; in Q; b:0=B"),
    ("by the next session of the process", {}, "work 2; in P; a:0=B; run release as b; b:0=A; a:1=A; in Q; c:0=B"),
    ("taking it up again", {}, "work 2; in P; a:0=B; run release as a; run remaining 2 as a; a:1=B"),
]
AGES: list[Row] = [
    ("yesterday's work", {}, "work 2; old 13; 0=A[stale]; old 11; 0=B"),
    ("in the future is now", {}, "work 2; old -500; 0=B"),
    ("the owner's events count", {}, "work 2; in P; a:0=B; later 11; a:1=B; later 11; a:1=B; later 13; a:1=A[stale]"),
    (
        "old work stays old whatever stops",
        {},
        "work 2; in P; a:0=B; later 13; 01=AA; a:01=AA[stale]; later 1; a:1=A[stale]",
    ),
    ("and whatever tools run", {}, "work 2; a:0=B; later 13; tool x; 0=A[stale]; tool y; 1=A[stale]"),
    ("a tool's event is one", {}, "work 2; 0=B; later 11; tool x; later 11; 1=B"),
    ("until somebody writes the task", {}, "work 2; in P; a:0=B; later 13; a:1=A[stale]; edited; a:1=B"),
    ("heartbeat renews it", {}, "work 2; in P; a:0=B; later 13; run heartbeat; edited; a:1=B"),
    ("STOP comes first", {}, "work 2; old 13; mark STOP; 0=A[stop]"),
    ("CONCLUDE does not", {}, "work 2; old 13; mark CONCLUDE; 0=A[stale]"),
    ("another's work first", {}, "work 2; owner b; old 13; a:0=A[not_owner]; b:0=A[stale]"),
    ("no work first", {}, "work 0; old 13; 0=A[no_work]"),
    ("never in an armed run", KA, "work 2; old 500; armed 9000000000; 0=B"),
    ("nor where a person armed it", {}, "work 2; old 500; armed 1; 0=A[stale]; armed 9000000000; 0=B"),
    ("as if there were none: reminded", {"required_tools": ["x"]}, "work 2; old 13; 0=B[nudged]"),
    ("as if there were none: a foreign chain ends", {}, "work 2; old 13; 01111=AAAAH[stop_loop]"),
    ("other hours", {"work_hours": 1}, "work 2; old 2; 0=A[stale]; old 0.5; 0=B"),
    ("0: no age", {"work_hours": 0}, "work 2; old 5000; 0=B"),
]


@rows([*CLAIMS, *PASSING, *TOOLS, *PEOPLE, *DECLINED, *AGES])
def test_the_rule(agents: Agents, config: dict[str, Any], script: str) -> None:
    play(agents, config, script)


@pytest.mark.parametrize("preset", ["bmad", "nightly", "openhands", "rockbot", "hermes"])
def test_a_preset_keeps_its_system_s_own_rule(agents: Agents, preset: str) -> None:
    from hookctl.packs.choices import PRESETS

    settings = PRESETS[preset]
    assert (settings["claim"], settings["work_hours"]) == (False, 0)
    expected = "A" if settings.get("mode") == "guard" else "B"
    both = f"a:0={expected}; b:0={expected}"
    settings = {**settings, "mode": "breaker"} if settings.get("mode") == "off" else settings
    play(agents, settings, f"armed 9000000000; work 2; old 500; {both}; owner b; a:0=A[not_owner]")


# The process is found without a variable too.


class Shells:
    """An agent without a variable: a process that runs our hook in a shell for each session that it is told."""

    CODE = """
import json, subprocess, sys
for line in sys.stdin:
    command, payload = json.loads(line)
    done = subprocess.run(["sh", "-c", command], input=payload, text=True, capture_output=True)
    print("B" if done.stdout.strip() else "A", flush=True)
"""

    def __init__(self, lab: Lab, host: str) -> None:
        self.lab, self.host = lab, host
        self.process = subprocess.Popen(
            [PYTHON, "-c", self.CODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=lab.environment
        )

    def stop(self, session: str) -> str:
        command = f": hookctl=guard/stop; {PYTHON} -I -S {self.lab.hook} stop --host {self.host}; exit 0"
        payload = json.dumps({**self.lab.payload, "session_id": session})
        self.process.stdin.write(json.dumps([command, payload]) + "\n")  # type: ignore[union-attr]
        self.process.stdin.flush()  # type: ignore[union-attr]
        return self.process.stdout.readline().strip()  # type: ignore[union-attr]

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
@pytest.mark.parametrize(("host", "keeps"), [("qwen", True), ("codex", False), ("cursor", False)])
def test_the_parent_of_the_hook_s_shell_is_the_process(lab: Lab, host: str, keeps: bool) -> None:
    """One with several sessions (codex) keeps nothing for a new session; of cursor no process is known."""
    lab.task(remaining=2)
    first, second = Shells(lab, host), Shells(lab, host)
    try:
        assert (first.stop("a"), second.stop("b")) == ("B", "A")
        assert first.stop("c") == ("B" if keeps else "A")
        lab.environment["HOOKCTL_NOW"] = str(time.time() + 31 * 60)
        third = Shells(lab, host)
        assert third.stop("d") == ("A" if keeps else "B"), "a process that others share proves nothing by living"
        third.end()
        first.end()
        assert second.stop("b") == ("A" if host == "cursor" else "B")
    finally:
        for shells in (first, second):
            shells.end()


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


def test_a_path_is_told_without_control_characters_and_never_expanded(lab: Lab) -> None:
    project = lab.root / "a\n{remaining}\x1b[2J"
    (project / ".hookctl" / "run").mkdir(parents=True)
    (project / ".hookctl" / "run" / "task.json").write_text('{"remaining": 2}')
    said = json.loads(lab.call("stop", cwd=str(project)))["reason"]
    assert "a{remaining}[2J/.hookctl/run/task.json" in said


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"session": 5, "t": "x", "declined": {}}', "\0" * 100_000])
def test_a_claim_that_cannot_be_read_is_none(lab: Lab, text: str) -> None:
    lab.task(remaining=2)
    assert lab.stop() == "B"
    (lab.folder / "taken").write_text(text)
    assert lab.stop(session_id="S2") == "B"


def test_a_claim_that_cannot_be_saved_blocks_nobody(lab: Lab) -> None:
    lab.task(remaining=2)
    (lab.folder / "taken.tmp").mkdir(parents=True)
    assert (lab.stops("01"), lab.codes()) == ("RR", ["state_error"] * 2)


def test_two_first_stops_at_once_make_one_owner(lab: Lab) -> None:
    lab.task(remaining=2)
    command = lab.command("stop")
    calls = []
    for number in range(8):
        stdin = json.dumps({**lab.payload, "session_id": f"S{number}"}).encode()
        call = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**lab.environment, "HOOKCTL_LOCK_MS": "8000"}
        )
        calls.append((call, stdin))
    answers = [call.communicate(stdin)[0] for call, stdin in calls]
    assert sum(bool(answer) for answer in answers) == 1
