"""`hookctl supervise` around the real Claude Code: started again where the host, the API or a kill ended it."""

import contextlib
import dataclasses
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from . import claude as driver
from .agent import Start
from .claude import Place
from .clients import Client
from .model_server import Script
from .product import codes, data_folder, hookctl, state_folder

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
INSTALL = ("install", "--host", "claude", "--mode", "keepalive", "--set", "keepalive_cap=3")


def supervised(most: int) -> driver.DRIVER.__class__:
    """A driver that starts the client below hookctl."""

    def call(client: Client, place: Place, url: str, prompt: str) -> Start:
        start = driver.DRIVER.call(client, place, url, prompt)
        own = [sys.executable, "-m", "hookctl", "supervise", "--max-respawns", str(most), "--for", "1h", "--"]
        folders = {
            "HOOKCTL_STATE_DIR": str(state_folder(place)),
            "HOOKCTL_DATA_DIR": str(data_folder(place)),
            "PYTHONPATH": str(ROOT),
        }
        return Start([*own, *start.command], {**start.environment, **folders})

    return dataclasses.replace(driver.DRIVER, call=call)


def sessions(out: str) -> list[str]:
    """The sessions that began, in their order."""
    lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    return list(dict.fromkeys(line["session_id"] for line in lines if line.get("session_id")))


def agents_of(group: int) -> list[int]:
    """The client's processes below a supervisor in this process group: its direct children."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text("utf-8", "replace").rpartition(")")[2].split()
            if int(fields[1]) == group and fields[0] != "Z":
                found.append(int(path.parent.name))
    return found


@pytest.fixture
def installed(place: Place) -> Place:
    hookctl(place, *INSTALL)
    return place


@pytest.mark.full
def test_an_api_error_amid_the_run(claude: Client, installed: Place) -> None:
    """The model fails for good at the fourth request; the second agent fails at once, and is the last."""
    run = supervised(1).play(claude, installed, Script(["go"], limit=3), timeout=90)
    assert len(sessions(run.out)) == 2
    assert codes(installed)[:2] == ["blocked", "blocked"]
    assert "started again in 2 s" in run.errors
    assert run.code != 0
    assert "it was started again 1 time," in run.errors


def test_a_killed_agent_and_then_a_mark(claude: Client, installed: Place) -> None:
    killed = []

    def act(number: int) -> None:
        if number == 3:  # the guard has kept it going twice
            agent = agents_of(running.process.pid)[0]
            killed.append(agent)
            os.kill(agent, signal.SIGKILL)
        if number == 5:
            hookctl(installed, "run", "conclude", "--project", str(installed.project))

    script = Script(["go"], before=act)
    with supervised(5).start(claude, installed, script) as running:
        run = running.finish(90)
    assert len(killed) == 1
    assert len(sessions(run.out)) == 2
    assert (run.code, "CONCLUDE is set" in run.errors) == (0, True)
    assert codes(installed)[-1] == "conclude"


@pytest.mark.full
def test_an_agent_whose_turn_the_host_s_cap_ended(claude: Client, installed: Place) -> None:
    """The operator's own cap ends the chain before the guard would; the run goes on with a new session."""
    settings = json.loads(installed.settings.read_bytes())
    settings["env"]["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"] = "2"
    installed.settings.write_text(json.dumps(settings))
    run = supervised(1).play(claude, installed, ["go"], timeout=90)
    assert codes(installed) == ["blocked", "blocked", "host_cap"] * 2
    assert len(sessions(run.out)) == 2
    assert "it was started again 1 time," in run.errors
