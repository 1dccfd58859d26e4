"""The pages for those who come from another system: their files, then the steps of the page, then the way back."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Hookctl, put
from tests.test_pages_tried import ROOT, blocks

pytestmark = pytest.mark.usefixtures("fixed_python")

FIVE = ("bmad", "nightly", "openhands", "rockbot", "hermes")
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


def chain(call: Call, **environ: str) -> str:
    """A fresh stop and nine forced ones: B for each block, R for a release, A for silence."""
    letters = ""
    for number in range(10):
        said = call(environ=environ, stop_hook_active=number > 0, n=number)
        letters += "A" if not said else "B" if json.loads(said).get("decision") == "block" else "R"
        if letters[-1] != "B":
            break
    return letters


def steps(page: str) -> list[str]:
    """The commands of a page's first part, those in its text and those in its blocks."""
    text = (ROOT / page).read_text().partition("## Move over in five minutes")[2].partition("\n## ")[0]
    lines = text.replace("`hookctl", "\nhookctl").replace("`", "\n").splitlines()
    return [line.partition("  #")[0].strip() for line in lines if line.strip().startswith("hookctl ")]


@pytest.mark.parametrize("name", FIVE)
def test_each_page_has_its_four_parts_and_a_place_in_the_site(name: str) -> None:
    text = (ROOT / "docs" / f"from-{name}.md").read_text()
    for heading in ("Move over in five minutes", "What maps to what", "What is better"):
        assert f"\n## {heading}\n" in text
    assert "\n## What cannot be had\n" in text or "\n## What is different\n" in text
    assert f"from-{name}.md" in (ROOT / "mkdocs.yml").read_text()


def foreign_settings(settings: Path, command: str, **more: Any) -> bytes:
    """The operator's file with another system's Stop hook."""
    group = {"matcher": "*", "hooks": [{"type": "command", "command": command}]}
    put(settings, json.dumps({"hooks": {"Stop": [group]}, **more}, indent=4) + "\n")
    return settings.read_bytes()


def test_bmad(work: Path, settings: Path, hookctl: Hookctl, call: Call) -> None:
    foreign_settings(settings, "story-automator stop-hook")
    marker = put(work / ".claude" / ".story-automator-active", '{"storiesRemaining": 3, "heartbeat": "t1"}\n')
    assert hookctl("install", "--host", "claude", "--preset", "bmad").code == 0
    assert "foreign_stop" in {finding["code"] for finding in hookctl("doctor", "--json").data["findings"]}
    assert hookctl("uninstall").code == 0
    before = put(settings, "{}\n").read_bytes()
    said = [hookctl(*step.split()[1:]) for step in steps("docs/from-bmad.md")]
    assert [done.code for done in said if done.code not in (0, 1)] == []
    assert "remaining  3" in hookctl("run", "status").out
    assert chain(call) == "BBBBBR"
    assert chain(call, STORY_AUTOMATOR_MAX_STOP_BLOCKS="2") == "BBR"
    assert chain(call, STORY_AUTOMATOR_CHILD="true") == "A"
    assert "(5 blocks" in hookctl("log").out
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
    theirs = put(work / ".claude" / "settings.local.json", '{"env": {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "5000"}}\n')
    assert hookctl("install", "--host", "claude", "--preset", "nightly").code == 0
    assert chain(call) == "A", "nobody began a run"
    assert hookctl("run", "start", "--for", "8h").code == 0
    assert chain(call) == "B" * 10
    shown = hookctl("run", "status").out
    assert "blocked    10 blocks" in shown and "running    until" in shown
    assert json.loads(settings.read_text())["env"]["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"] == "5000"
    [state] = [path for path in (work.parent / "state" / "guard").iterdir() if path.is_dir()]
    assert (state / "RESPAWN_REQUESTED").exists() and (state / "ACTIVE").exists()
    assert hookctl("run", "conclude").code == 0
    assert chain(call) == "A"
    assert not (state / "RESPAWN_REQUESTED").exists()
    assert hookctl("run", "start").code == 0
    assert hookctl("run", "stop").code == 0
    assert chain(call) == "A"
    assert hookctl("uninstall").code == 0
    assert not settings.exists() and theirs.read_text().count("5000") == 1


def test_openhands(work: Path, settings: Path, hookctl: Hookctl, call: Call, isolated: Path) -> None:
    before = foreign_settings(settings, "./keep_going.sh")
    assert hookctl("install", "--host", "claude", "--preset", "openhands").code == 0
    answers = [call(stop_hook_active=number > 0, n=number) for number in range(5)]
    assert [bool(answer) for answer in answers] == [False] * 4 + [True]
    assert json.loads(answers[4])["continue"] is False
    assert hookctl("uninstall").code == 0
    assert settings.read_bytes() == before
    denying = put(
        isolated / "home" / ".openhands" / "hooks.json", '{"stop": [{"hooks": [{"command": "on_stop.sh"}]}]}\n'
    )
    text = denying.read_bytes()
    (wrap,) = [step for step in steps("docs/from-openhands.md") if "--wrap" in step]
    assert hookctl(*wrap.split()[1:]).code == 0
    assert "wrap.py" in denying.read_text()
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
    (install, _) = [line.partition("  #")[0] for line in blocks("docs/from-rockbot.md", "sh")[0].splitlines()]
    assert hookctl(*install.split()[1:]).code == 0
    answers = [call("PreToolUse", tool_name="Task", tool_input={"prompt": "look"}) for _ in range(33)]
    assert [bool(answer) for answer in answers] == [False] * 30 + [True] * 3
    assert len(set(answers[30:])) == 1, "always the same words"
    assert not call("PreToolUse", tool_name="Task", tool_input={"prompt": "other"})
    assert not call("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})
    data = hookctl("stats", "--json").data
    assert data["trips"] == 3
    assert "hookctl_trips_total" in hookctl("stats", "--prometheus").out
    assert [line["refusals"] for line in hookctl("log", "--json").data["events"]] == [1, 2], "refusals share lines"


def test_hermes(work: Path, settings: Path, hookctl: Hookctl, call: Call) -> None:
    (preset, own) = [line.partition("  #")[0] for line in blocks("docs/from-hermes.md", "sh")[0].splitlines()]
    assert hookctl(*preset.split()[1:]).code == 0
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
    assert hookctl(*own.split()[1:], "--reset").code == 0
    assert "close_task" in call(environ={"MY_TASK": "1"}, session_id="S2")
    assert hookctl("install", "--host", "claude", "--nudge", "").code == 0
    assert call(environ={"MY_TASK": "1"}, session_id="S3") == ""
