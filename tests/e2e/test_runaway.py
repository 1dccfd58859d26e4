"""An agent that repeats a call for ever within one turn, with every real client: refused, and ended where it can be."""

import json
from typing import NamedTuple

import pytest

from . import claude, tables
from .agent import Place, Run
from .clients import Client
from .everywhere import EVERY, Case
from .model_server import Script
from .product import decisions, hookctl

pytestmark = pytest.mark.e2e

TURNS = 20  # more than any end takes
LIMIT, REFUSALS = 3, 10
LAST = LIMIT + REFUSALS  # the request whose call ends the turn


class End(NamedTuple):
    """What comes of a call for ever on one client."""

    ends: bool = False  # a refusal can end the turn
    sees: str = ""  # what the person reads then
    code: int = 0  # the client's exit status then
    alone: int = 0  # so many requests, and the client itself ends a turn of equal calls


CLAUDE = [case for case in EVERY if case.id == "claude"]


def play(case: Case, client: Client, place: Place, *install: str) -> Run:
    """Install with these options, and let the agent make one call for ever."""
    if case.driver is claude:
        place.settings.write_text(json.dumps({"permissions": {"allow": ["Bash"]}}))
    hookctl(place, "install", "--host", case.host, "--mode", "off", *install)
    script = Script([case.shell("echo ran >> ran")], limit=TURNS)
    return case.driver.play(client, place, script, *case.options, timeout=300, environment=dict(case.environment))


def ran(place: Place) -> int:
    """How many of the calls ran."""
    path = place.project / "ran"
    return len(path.read_text().splitlines()) if path.exists() else 0


def ends(place: Place) -> list[str]:
    """What the log says of ends of turns."""
    return [entry["decision"] for entry in decisions(place) if entry["decision"] not in ("refuse", "allow")]


@pytest.mark.parametrize("case", EVERY)
def test_one_call_for_ever(case: Case, stage: tuple[Client, Place]) -> None:
    client, place = stage
    run, end = play(case, client, place, "--dispatch", f"*:{LIMIT}/300"), End(**tables.read(case.driver, "runaway"))
    if end.alone:  # its own detector is faster
        assert (run.requests, run.count("refused")) == (end.alone, 0)
        assert ran(place) == LIMIT
    elif end.ends:
        assert (ran(place), run.requests, run.count("refused"), run.code) == (LIMIT, LAST, 0, end.code)
        assert ends(place) == ["end"]
        assert end.sees in run.out + run.errors
    else:
        assert (ran(place), run.requests) == (LIMIT, TURNS)
        assert ends(place) == ["counted"]


@pytest.mark.full
@pytest.mark.parametrize("case", CLAUDE)
@pytest.mark.parametrize(
    ("install", "allowed"), [((), TURNS), (("--dispatch", f"*:{LIMIT}/300", "--set", "dispatch_end=0"), LIMIT)]
)
def test_without_an_end_the_agent_goes_on(
    case: Case, stage: tuple[Client, Place], install: tuple[str, ...], allowed: int
) -> None:
    client, place = stage
    run = play(case, client, place, *install)
    assert (ran(place), run.requests) == (allowed, TURNS)


@pytest.mark.full
@pytest.mark.parametrize("case", CLAUDE)
def test_a_subagent_that_repeats_itself_ends_and_its_caller_goes_on(case: Case, stage: tuple[Client, Place]) -> None:
    client, place = stage
    place.settings.write_text(json.dumps({"permissions": {"allow": ["Bash", "Task"]}}))
    limits = ("--dispatch", "Bash:1/300", "--set", "dispatch_end=2")
    hookctl(place, "install", "--host", "claude", "--mode", "off", *limits)
    again = [case.shell("echo ran >> ran")]
    script = Script([claude.subagent("MARKER"), "all done"], sub_marker="MARKER", sub_replies=again)
    run = claude.play(client, place, script)
    assert (ran(place), run.count("sub"), run.requests, run.result) == (1, 3, 2, "all done")
    assert ends(place) == ["end"]
