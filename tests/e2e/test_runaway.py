"""An agent that repeats a call for ever within one turn, with every real client: refused, and ended where it can be."""

import json
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from . import claude, codex, copilot, droid, gemini, grok, hermes, kimi, opencode, openhands, pi, qwen, vibe
from .agent import Place, Run
from .clients import Client
from .dialects import Call
from .model_server import Script
from .product import decisions, hookctl

pytestmark = pytest.mark.e2e

TURNS = 45
LIMIT, REFUSALS = 5, 10
LAST = LIMIT + REFUSALS  # the request whose call ends the turn


@dataclass(frozen=True)
class Case:
    """One client: what lets its tools run, and what the person sees of the end."""

    driver: ModuleType
    options: tuple[str, ...] = ()
    ends: bool = True  # a refusal can end the turn
    sees: str = ""
    code: int = 0  # its exit status then
    alone: int = 0  # so many requests, and the client itself ends a turn of equal calls
    environment: tuple[tuple[str, str], ...] = ()

    @property
    def host(self) -> str:
        return self.driver.__name__.rpartition(".")[2]

    def call(self, command: str) -> Call:
        return self.driver.bash(command) if self.driver is claude else self.driver.shell(command)

    def play(self, client: Client, place: Place, calls: list[Call], *install: str) -> Run:
        """Install with these options, and let the agent make these calls for ever."""
        if self.driver is claude:
            place.settings.write_text(json.dumps({"permissions": {"allow": ["Bash"]}}))
        hookctl(place, "install", "--host", self.host, "--mode", "off", *install)
        script = Script(calls * TURNS, limit=TURNS)
        return self.driver.play(client, place, script, *self.options, timeout=300, environment=dict(self.environment))


_TEXT = "asked the client to end the turn, since the same call of "
CASES = [
    Case(claude, sees=_TEXT),
    Case(codex, (codex.YOLO, codex.BYPASS), ends=False),
    Case(gemini, (gemini.YOLO,), sees=_TEXT, alone=6),
    Case(qwen, (qwen.YOLO,), ends=False, alone=5),
    Case(copilot, ends=False),
    Case(grok, (grok.YOLO,), ends=False, alone=12),
    Case(droid, alone=11),
    Case(opencode),
    Case(pi, sees=_TEXT, code=1),
    Case(openhands, ends=False, alone=4, environment=(("STEPS", "60"),)),
    Case(hermes, (hermes.YOLO, hermes.ACCEPT), ends=False),
    Case(kimi, ends=False, alone=13),
    Case(vibe, (vibe.YOLO,), ends=False),
]
QUICK = (claude, codex)
_EVERY = [pytest.param(case, id=case.host, marks=[] if case.driver in QUICK else pytest.mark.full) for case in CASES]


@pytest.fixture
def stage(case: Case, request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Client, Place]:
    """The client of the case, in a place of its own."""
    return request.getfixturevalue(case.host), case.driver.Place.make(tmp_path / "place", own_folders=True)


def ran(place: Place) -> int:
    """How many of the calls ran."""
    path = place.project / "ran"
    return len(path.read_text().splitlines()) if path.exists() else 0


def ends(place: Place) -> list[str]:
    """What the log says of ends of turns."""
    return [entry["decision"] for entry in decisions(place) if entry["decision"] not in ("refuse", "allow")]


@pytest.mark.parametrize("case", _EVERY)
def test_one_call_for_ever(case: Case, stage: tuple[Client, Place]) -> None:
    client, place = stage
    run = case.play(client, place, [case.call("echo ran >> ran")], "--dispatch", f"*:{LIMIT}/300")
    if case.alone:  # its own detector is faster
        assert (run.requests, run.count("refused")) == (case.alone, 0)
        assert ran(place) <= LIMIT
    elif case.ends:
        assert (ran(place), run.requests, run.count("refused")) == (LIMIT, LAST, 0)
        assert ends(place) == ["end"]
    else:
        assert (ran(place), run.requests) == (LIMIT, TURNS)
        assert ends(place) == ["counted"]


@pytest.mark.parametrize("case", [case for case in _EVERY if case.values[0].driver is claude])
@pytest.mark.parametrize(
    ("install", "allowed"), [((), TURNS), (("--dispatch", f"*:{LIMIT}/300", "--set", "dispatch_end=0"), LIMIT)]
)
def test_without_an_end_the_agent_goes_on(
    case: Case, stage: tuple[Client, Place], install: tuple[str, ...], allowed: int
) -> None:
    client, place = stage
    run = case.play(client, place, [case.call("echo ran >> ran")], *install)
    assert (ran(place), run.requests) == (allowed, TURNS)


@pytest.mark.parametrize("case", [case for case in _EVERY if case.values[0].driver is claude])
def test_a_subagent_that_repeats_itself_ends_and_its_caller_goes_on(case: Case, stage: tuple[Client, Place]) -> None:
    client, place = stage
    place.settings.write_text(json.dumps({"permissions": {"allow": ["Bash", "Task"]}}))
    limits = ("--dispatch", "Bash:1/300", "--set", "dispatch_end=2")
    hookctl(place, "install", "--host", "claude", "--mode", "off", *limits)
    again = [case.call("echo ran >> ran")]
    script = Script([claude.subagent("MARKER"), "all done"], sub_marker="MARKER", sub_replies=again)
    run = claude.play(client, place, script)
    assert (ran(place), run.count("sub"), run.requests, run.result) == (1, 3, 2, "all done")
    assert ends(place) == ["end"]
