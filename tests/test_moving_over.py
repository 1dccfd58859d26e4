"""Coming from another system: its files, then the steps of the page, then the way back."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Hookctl, put
from tests.test_pages_tried import ROOT, blocks

pytestmark = pytest.mark.usefixtures("fixed_python")

PAGE = ROOT / "docs" / "five-systems.md"
Call = Callable[..., str]


@pytest.fixture
def work(isolated: Path) -> Path:
    folder = isolated / "work"
    (folder / ".git").mkdir(exist_ok=True)
    return folder


@pytest.fixture
def call(work: Path, settings: Path, isolated: Path) -> Call:
    """What the installed hook answers, run as Claude Code runs it: by its command, with the settings' environment."""

    def run(event: str = "Stop", environ: dict[str, str] | None = None, **payload: Any) -> str:
        page = json.loads(settings.read_text())
        commands = [hook["command"] for group in page["hooks"].get(event, []) for hook in group["hooks"]]
        [command] = [command for command in commands if "hookctl=guard" in command]
        sent = {"session_id": "S1", "cwd": str(work), "stop_hook_active": False, **payload}
        done = subprocess.run(
            ["sh", "-c", command], input=json.dumps(sent), capture_output=True, text=True, timeout=60,
            env={**os.environ, **page.get("env", {}), **(environ or {})},
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


def chain(call: Call, session_id: str = "S1", **environ: str) -> str:
    """A fresh stop and nine forced ones: B for each block, R for a release, A for silence."""
    letters = ""
    for number in range(10):
        said = call(environ=environ, session_id=session_id, stop_hook_active=number > 0, n=number)
        letters += "A" if not said else "B" if json.loads(said).get("decision") == "block" else "R"
        if letters[-1] != "B":
            break
    return letters


def steps(system: str) -> list[list[str]]:
    """The commands that the page has for a system, each as words without `hookctl`."""
    heading = next(line for line in PAGE.read_text().splitlines() if line.startswith(f"## {system}:"))
    (block,) = blocks("docs/five-systems.md", "sh", heading.removeprefix("## "))
    commands = [shlex.split(line, comments=True) for line in block.splitlines()]
    assert all(words[0] == "hookctl" for words in commands)
    return [words[1:] for words in commands]


def codes(hookctl: Hookctl) -> set[str]:
    return {finding["code"] for finding in hookctl("doctor", "--json").data["findings"] if finding["level"] != "info"}


def foreign_settings(path: Path, *commands: tuple[str, str], **more: Any) -> bytes:
    """A settings file with hooks of another system, by event and command."""
    groups = {event: [{"matcher": "", "hooks": [{"type": "command", "command": text}]}] for event, text in commands}
    put(path, json.dumps({"hooks": groups, **more}, indent=4) + "\n")
    return path.read_bytes()


def test_bmad(work: Path, settings: Path, hookctl: Hookctl, call: Call) -> None:
    before = put(settings, "{}\n").read_bytes()
    theirs = work / ".claude" / "settings.json"
    foreign_settings(theirs, ("Stop", f"env PROJECT_ROOT={work} story-automator stop-hook"))
    marker = put(work / ".claude" / ".story-automator-active", '{"storiesRemaining": 3, "heartbeat": "t1"}\n')
    install, listed, status = steps("bmad-automator")
    assert hookctl(*install).code == 0
    assert "story-automator" in hookctl(*listed).out
    theirs.unlink()
    assert codes(hookctl) == set()
    assert "remaining   3" in hookctl(*status).out
    assert hookctl("run", "remaining", "2").code == 1, "it is only read"
    assert chain(call) == "BBBBBR"
    assert chain(call, STORY_AUTOMATOR_MAX_STOP_BLOCKS="2") == "BBR"
    assert chain(call, STORY_AUTOMATOR_CHILD="true") == "A"
    assert "(kept going 5 times" in hookctl("log").out
    assert marker.read_text() == '{"storiesRemaining": 3, "heartbeat": "t1"}\n'
    marker.write_text('{"storiesRemaining": 0}')
    assert chain(call) == "A"
    elsewhere = put(work / "elsewhere", '{"storiesRemaining": 1}')
    assert chain(call, STORY_AUTOMATOR_ACTIVE_MARKER=str(elsewhere)) == "BBBBBR"
    marker.write_text('{"storiesRemaining": 2, "ownerSession": "S2"}')
    assert chain(call) == "A"
    assert "Work remains in this project (2)" in call("SessionStart", session_id="S2", source="resume")
    assert hookctl("uninstall").code == 0
    assert settings.read_bytes() == before


def test_nightly(work: Path, settings: Path, hookctl: Hookctl, call: Call) -> None:
    theirs, cap = work / ".claude" / "settings.local.json", {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "5000"}
    foreign_settings(theirs, ("Stop", "nightly hook stop"), ("SessionStart", "nightly hook session-start"), env=cap)
    install, listed, start, conclude = steps("Nightly")
    assert hookctl(*install).code == 0
    assert "nightly" in hookctl(*listed).out
    put(theirs, json.dumps({"env": cap}))
    assert codes(hookctl) == set(), "a cap that stays is named in mode breaker only"
    assert chain(call) == "A", "no run was begun"
    assert hookctl(*start).code == 0
    assert chain(call) == "B" * 10
    shown = hookctl("run", "status").out
    assert "10 times since the last prompt" in shown and "until 2" in shown
    assert json.loads(settings.read_text())["env"]["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"] == "5000"
    [state] = [path for path in (work.parent / "state" / "guard").iterdir() if path.is_dir()]
    assert (state / "RESPAWN_REQUESTED").exists() and (state / "ACTIVE").exists()
    assert hookctl(*conclude).code == 0
    assert chain(call) == "A"
    assert not (state / "RESPAWN_REQUESTED").exists()
    assert hookctl("run", "start").code == 0
    assert hookctl("run", "stop").code == 0
    assert chain(call) == "A"
    assert hookctl("uninstall").code == 0
    assert not settings.exists() and theirs.read_text().count("5000") == 1


@pytest.mark.parametrize("preset", ["bmad", "nightly"])
def test_work_of_a_session_is_its_own_there_too(
    hookctl: Hookctl, call: Call, monkeypatch: pytest.MonkeyPatch, preset: str
) -> None:
    assert hookctl("install", "--host", "claude", "--preset", preset).code == 0
    assert hookctl("run", "start").code == 0
    monkeypatch.setenv("CLAUDE_PID", str(os.getpid()))
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "S1")
    assert "it belongs to this session (S1) now" in hookctl("run", "remaining", "3").out
    assert chain(call, "S2", CLAUDE_PID="1") == "A"
    assert chain(call)[0] == "B"
    assert "S1 of Claude Code" in hookctl("run", "release").out
    assert chain(call) == "A", "it is not asked about this work again"
    assert chain(call, "S2", CLAUDE_PID="1")[0] == "B"
    assert hookctl("run", "start").code == 0
    assert chain(call)[0] == "B", "it took the work again"


def test_a_run_that_was_cut_off_is_told_of_by_the_next_start_and_to_the_next_session(
    hookctl: Hookctl, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hookctl("install", "--host", "claude", "--preset", "nightly").code == 0
    with subprocess.Popen(["sleep", "60"]) as agent:
        monkeypatch.setenv("CLAUDE_PID", str(agent.pid))
        assert "cut off" not in hookctl("run", "start").out
        assert chain(call) == "B" * 10
        assert "cut off" not in hookctl("run", "start").out, "it goes on"
        agent.kill()
    assert "the run before was cut off" in hookctl("run", "start").out
    assert "The last run here was cut off" in call("SessionStart", session_id="S2", source="startup")
    assert call(session_id="S2") != ""  # at its own stop
    assert "cut off" not in call("SessionStart", session_id="S2", source="resume")


def test_a_second_install_changes_nothing_and_a_cap_of_yours_comes_back(settings: Path, hookctl: Hookctl) -> None:
    before = put(settings, '{"env": {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "50"}}\n').read_bytes()
    install = steps("Nightly")[0]
    assert hookctl(*install, "--force").code == 0
    installed = settings.read_bytes()
    assert json.loads(installed)["env"]["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"] == "5000"
    assert "nothing to do" in hookctl(*install).out
    assert settings.read_bytes() == installed
    assert hookctl("uninstall").code == 0
    assert settings.read_bytes() == before


def test_openhands(work: Path, settings: Path, hookctl: Hookctl, call: Call, isolated: Path) -> None:
    before = foreign_settings(settings, ("Stop", "./keep_going.sh"))
    alone, wrap = steps("OpenHands")
    assert hookctl(*alone).code == 0
    answers = [call(stop_hook_active=number > 0, n=number) for number in range(5)]
    assert [bool(answer) for answer in answers] == [False] * 4 + [True]
    assert json.loads(answers[4])["continue"] is False
    assert hookctl("uninstall").code == 0
    assert settings.read_bytes() == before
    denying = put(
        isolated / "home" / ".openhands" / "hooks.json", '{"stop": [{"hooks": [{"command": "on_stop.sh"}]}]}\n'
    )
    text = denying.read_bytes()
    assert hookctl(*wrap).code == 0
    assert "hook.py wrap stop --host openhands" in denying.read_text()
    put(isolated / "bin" / "on_stop.sh", "#!/bin/sh\necho no >&2\nexit 2\n").chmod(0o755)

    def stop(number: int, *, acts: bool) -> int:
        """The status of the n-th stop, before which the agent may do the same thing as ever."""
        groups = json.loads(denying.read_text())
        path = f"{isolated}/bin:{os.environ['PATH']}"
        for event in ("post_tool_use", "stop") if acts else ("stop",):
            payload = {"session_id": "S1", "working_dir": str(work), "n": number}
            if event == "post_tool_use":
                payload |= {"tool_name": "terminal", "tool_input": {"command": "ls"}}
            (command,) = [hook["command"] for group in groups[event] for hook in group["hooks"]]
            sent, environ = json.dumps(payload), {**os.environ, "PATH": path}
            done = subprocess.run(["sh", "-c", command], input=sent, capture_output=True, text=True, env=environ)
        return done.returncode

    assert [stop(number, acts=True) for number in range(9)] == [2] * 9, "an action starts the count again"
    assert [stop(number, acts=False) for number in range(9, 13)] == [2, 2, 2, 0], "the fifth denial in a row"
    assert hookctl("uninstall").code == 0
    assert denying.read_bytes() == text


def test_rockbot(work: Path, settings: Path, hookctl: Hookctl, call: Call) -> None:
    (install,) = steps("RockBot")
    assert hookctl(*install).code == 0
    assert set(json.loads(settings.read_text())["hooks"]) == {"PreToolUse"}
    answers = [call("PreToolUse", tool_name="Task", tool_input={"prompt": "look"}) for _ in range(33)]
    assert [bool(answer) for answer in answers] == [False] * 30 + [True] * 3
    assert len(set(answers[30:])) == 1, "always the same words"
    assert not call("PreToolUse", tool_name="Task", tool_input={"prompt": "other"})
    assert not call("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})
    data = hookctl("stats", "--json").data
    assert data["trips"] == 3
    assert "hookctl_trips_total" in hookctl("stats", "--prometheus").out
    assert [line["refusals"] for line in hookctl("log", "--json").data["events"]] == [1, 2], "refusals share lines"
    assert hookctl("install", "--host", "claude", "--dispatch", "").code == 0
    assert "hooks" not in json.loads(settings.read_text()), "the preset has nothing else to install"


def test_hermes(work: Path, settings: Path, hookctl: Hookctl, call: Call) -> None:
    preset, own = steps("Hermes")
    assert hookctl(*preset).code == 0
    task = {"HERMES_KANBAN_TASK": "T-7"}
    assert call() == ""
    assert json.loads(call(environ=task, n=1))["reason"] == (
        "Before you finish T-7, call kanban_complete or kanban_block. Then stop."
    )
    assert call(environ=task, n=2, stop_hook_active=True) == ""
    assert hookctl("run", "status", "--check").code == 1
    assert hookctl("stats", "--json").data["ignored"] == 1
    assert call(environ=task, n=3, stop_hook_active=True) == ""
    assert hookctl("run", "status", "--check").code == 1, "another stop settles nothing"
    assert call(environ={**task, "HOOKCTL_MAX_NUDGES": "0"}, session_id="S9") == ""
    assert hookctl(*own, "--reset", "--set", "show_env=MY_TASK").code == 0
    assert "finish 1, call close_task" in call(environ={"MY_TASK": "1"}, session_id="S2")
    assert hookctl("install", "--host", "claude", "--nudge", "").code == 0
    assert call(environ={"MY_TASK": "1"}, session_id="S3") == ""
