"""The museum, M01 to M09: agents that ran away, and hooks that let them or stopped the wrong ones."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put
from tests.findings import CAP, LIMIT
from tests.museum.conftest import findings, run, value_of
from tests.syscalls import unavailable
from tests.templates.lab import Lab
from tests.templates.play import play

INSTALL = ("install", "--host", "claude")


def test_m01_claude_code_85547_the_cap_lies_above_the_limit(settings: Path, hookctl: Hookctl) -> None:
    run(hookctl, *INSTALL)
    env = value_of(settings)["env"]
    assert env[CAP].isdigit() and int(env[CAP]) > int(env[LIMIT]) > 0


@pytest.mark.parametrize("cap", ["0", "4", "5"])
def test_m01_claude_code_85547_a_cap_of_yours_is_kept_and_named(cap: str, settings: Path, hookctl: Hookctl) -> None:
    put(settings, json.dumps({"env": {CAP: cap}}))
    run(hookctl, *INSTALL)
    assert value_of(settings)["env"][CAP] == cap
    assert ("cap_below_limit" in findings(hookctl)) == (cap == "4")


def test_m02_claude_code_77686_a_release_is_said_once_and_logged(lab: Lab) -> None:
    play(lab, {}, "work 2; 011111=BBBBBR[tripped]; 000=AAA[open]")
    (line,) = [line for line in lab.log() if line["code"] == "tripped"]
    assert (line["decision"], line["blocks"]) == ("release", 5)


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_m03_claude_code_skills_245_a_tool_in_each_continuation_buys_no_endless_chain(lab: Lab, host: str) -> None:
    lab.host = host
    lab.environment[CAP] = "5000"
    lab.task(remaining=2)
    answers = ""
    while "R" not in answers and len(answers) < 60:
        lab.calls(f"make {len(answers)}")
        answers += lab.stop(answers != "")
    assert answers.startswith("BBBBB") and answers.endswith("BR"), answers


@pytest.mark.parametrize("session", ["", None, 7, ["S1"]])
def test_m04_claude_plugins_official_5312_no_session_is_nobodys(lab: Lab, session: object) -> None:
    play(lab, {}, "work 2; 01=BB")
    before = lab.session_file().read_bytes()
    assert lab.stop(session_id=session) == "A"
    assert lab.session_file().read_bytes() == before


def test_m04_claude_plugins_official_5312_what_ends_a_run_ends_it_and_is_logged(lab: Lab) -> None:
    play(lab, {"mode": "keepalive"}, "work 2; 01=AA[inactive]; armed 9000000000; 0=B; mark STOP; 1=A[stop]")
    assert len(lab.log()) == 4 and all(line["code"] for line in lab.log())


def test_m04_claude_plugins_official_5312_a_chain_of_another_hook_ends(lab: Lab) -> None:
    lab.config(mode="guard")
    lab.environment[CAP] = "0"
    assert "H" in lab.stops("0" + "1" * 12)


@pytest.mark.parametrize("host", ["codex", "claude"])
def test_m05_codex_34477_five_blocks_then_quiet_until_progress(lab: Lab, host: str) -> None:
    lab.host = host
    play(lab, {}, "work 2; 011111=BBBBBR[tripped]; 0000000000=AAAAAAAAAA[open]; work 1; 0=B")


def test_m06_claude_code_55754_who_waits_goes_and_nothing_is_counted(lab: Lab) -> None:
    play(lab, {}, "work 2; 0=B; waits; 1111=AAAA[background]; no waits; 1111=BBBB; 1=R[tripped]")


def test_m07_ruflo_166_the_hook_starts_nothing_and_talks_to_nobody(lab: Lab, tmp_path: Path) -> None:
    if unavailable():
        pytest.skip(unavailable())
    lab.task(remaining=2)
    trace = tmp_path / "trace"
    calls = "trace=execve,fork,vfork,clone,clone3,socket,connect"
    done = lab.run_command(["strace", "-f", "-o", str(trace), "-e", calls, *lab.command("stop")])
    assert done.returncode == 0 and b"block" in done.stdout
    started = [line for line in trace.read_text().splitlines() if "(" in line]
    assert len(started) == 1 and "execve" in started[0], started


def test_m07_ruflo_166_an_agent_that_a_hook_started_goes(lab: Lab) -> None:
    play(lab, {}, "work 2; env HOOKCTL_CHILD=1; 0=A[child]")


def test_m08_claude_code_85422_a_ceiling_holds_whatever_the_settings_say(lab: Lab) -> None:
    lab.config(max_stop_blocks=0, latch=False)
    lab.environment[CAP] = "0"
    lab.task(remaining=2)
    assert lab.stop() == "B"
    lab.edit(total=200, blocks=3)
    assert (lab.stop(True), lab.codes()[-1]) == ("R", "ceiling")


def test_m08_claude_code_85422_what_it_did_is_in_the_log(lab: Lab) -> None:
    play(lab, {"dispatch_tools": ["Task"], "dispatch_max": 1}, "work 2; 011111=BBBBBR; try a=AD")
    assert [line["decision"] for line in lab.log()] == ["block"] * 5 + ["release", "refuse"]


def test_m09_munder_difflin_109_idle_stops_trip_nothing(lab: Lab) -> None:
    play(lab, {}, "000000000000=AAAAAAAAAAAA[no_work]; work 2; 01111=BBBBB")
    assert "tripped" not in lab.codes()


def test_m09_munder_difflin_109_a_state_that_cannot_be_written_lets_go(lab: Lab) -> None:
    lab.task(remaining=2)
    put(lab.state / "guard", "a file where the folder belongs")
    done = subprocess.run(
        lab.command("stop"), input=json.dumps(lab.payload).encode(), capture_output=True, env=lab.environment,
        cwd=lab.root, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and b'"block"' not in done.stdout
