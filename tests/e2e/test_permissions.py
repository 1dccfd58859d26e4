"""An agent reports its work: with what `--allow-run` writes, or as docs/teams.md has it, and only then."""

import os
import sys
from pathlib import Path

import pytest

from hookctl import hosts

from . import codex
from .agent import Driver, Start
from .agent import Place as AnyPlace
from .claude import Place, play, shell
from .clients import Client
from .dialects import Call
from .everywhere import EVERY, Case
from .product import codes, hookctl, leave_work

pytestmark = pytest.mark.e2e
OWN_FOLDERS = True
PAGE = (Path(__file__).parents[2] / "docs" / "teams.md").read_text()
RUN = Path(".hookctl", "run")
WORK = '{"remaining": 1}'
TOLD = ("--rules", "--guidance")
REPORT = "hookctl run remaining 0"


def with_program(place: Place) -> dict[str, str]:
    """The environment of a person who has hookctl on the PATH."""
    program = place.root / "bin" / "hookctl"
    program.parent.mkdir(exist_ok=True)
    folders = "".join(f"export PYTHONPATH={path}\n" for path in filter(None, [os.environ.get("PYTHONPATH")]))
    program.write_text(f'#!/bin/sh\n{folders}exec {sys.executable} -m hookctl "$@"\n')
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:{place.environment()['PATH']}"}


@pytest.mark.parametrize("scope", ["user", pytest.param("project", marks=pytest.mark.full)])
def test_an_agent_that_may_report_need_not_ask(claude: Client, place: Place, scope: str) -> None:
    install, environment = ("install", "--host", "claude", "--scope", scope), with_program(place)
    work = [shell(REPORT), *(f"reply {number}" for number in range(12))]
    hookctl(place, *install, *TOLD)
    leave_work(place, 1)
    refused = play(claude, place, work, environment=environment)
    assert refused.requests > 3, "the guard goes on, since nobody may tell it that all is done"
    assert "blocked" in codes(place)
    hookctl(place, *install, "--allow-run")
    stops = len(codes(place))
    done = play(claude, place, work, environment=environment)
    assert done.requests == 2
    assert codes(place)[stops:] == ["no_work"]
    hidden = "hookctl run remaining $(sh -c 'touch other')"
    for command in ("hookctl verify -- touch other", f"{REPORT}; touch other", hidden):
        play(claude, place, [shell(command), "done"], environment=environment)
        assert not (place.project / "other").exists()


@pytest.mark.full
@pytest.mark.parametrize("scope", ["user", "project"])
def test_an_agent_without_hookctl_may_write_that_file_alone(claude: Client, place: Place, scope: str) -> None:
    (place.project / ".git").mkdir()
    hookctl(place, "install", "--host", "claude", "--scope", scope, "--allow-run")
    for name, may in (("task.json", True), ("STOP", False), ("../other", False)):
        path = place.project / RUN / name
        call = Call("Write", {"file_path": str(path), "content": WORK})
        run = play(claude, place, [call, *(f"reply {number}" for number in range(8))])
        assert path.exists() == may
        assert run.requests > 2, "the guard knows of the work"


# What the other tests start a client with, which is not to be there.
USUAL = {"codex": (), "gemini": (), "qwen": (), "droid": ("--auto", "medium"), "copilot": ("--allow-all-tools",)}


@pytest.mark.full
@pytest.mark.parametrize("case", [case for case in EVERY if case.id in USUAL])
def test_the_option_of_the_page_is_needed_and_enough(case: Case, stage: tuple[Client, AnyPlace]) -> None:
    """Where a host has no list: as install says it too."""
    (client, place), driver, host = stage, case.driver, case.host
    command = hosts.load(host).permission.instead
    assert command and f"`{command}`" in PAGE

    def started(client: Client, place: AnyPlace, url: str, prompt: str) -> Start:
        start: Start = driver.DRIVER.call(client, place, url, prompt)
        return start._replace(command=[word for word in start.command if word not in USUAL[host]])

    run = Driver(driver.DRIVER.dialect, started, driver.DRIVER.kind).play
    task = place.project / RUN / "task.json"
    task.parent.mkdir(parents=True)
    call = case.writes(place, str(RUN / "task.json"), WORK)
    if case.driver is codex:  # which has no tool that writes a file whole
        call = case.shell(f"mkdir -p {task.parent} && echo '{WORK}' > {task}")
    hookctl(place, "install", "--host", host, "--scope", "project", "--allow-run", code=1)
    run(client, place, [call, "done"])
    assert not task.exists()
    options = command[command.index("--") :].split()
    run(client, place, [call, "done"], *options)
    assert task.read_text().strip() == WORK
