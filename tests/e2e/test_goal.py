"""Claude Code's own goal, which is a Stop hook of type prompt: what a default install does for it, row by row.

Another model judges after each turn whether the goal is met; here it says no, or says yes at last.
"""

import itertools
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from .agent import Driver, Start
from .claude import DRIVER, Place, Run, bash
from .clients import Client
from .dialects import Answer, Reply, Request, anthropic
from .model_server import Script
from .product import KEPT, LIMIT, codes, hookctl, leave_work

pytestmark = pytest.mark.e2e

SETTINGS = '{ "permissions": {"allow": ["Bash"]} }'
GOAL = "/goal the file done.txt exists"
SAID = "Stop says: hookctl guard: ended a turn that another hook or a goal forces on {}. Send a prompt to go on. " + (
    "A goal is not cleared: your next prompt goes on with it, and `/goal clear` ends it."
)
WORDS = tuple(f"reply {number}" for number in range(1, 100))
SAME = tuple(reply for words in WORDS for reply in (bash("echo same"), words))
NEW = tuple(reply for words in WORDS for reply in (bash(f"echo {words}"), words))
NO_END = 40  # where the script ends an agent that nothing else ends


class Row(NamedTuple):
    """How it is installed (None: not at all), what the agent does, what comes of it."""

    install: tuple[str, ...] | None
    replies: tuple[Reply, ...]
    requests: int
    codes: list[str]
    why: str = ""
    met_at: int = 0
    work: int = 0
    armed: bool = False


def play(
    client: Client,
    place: Place,
    replies: tuple[Reply, ...],
    *arguments: str,
    met_at: int = 0,
    text: bool = False,
    prompt: str = GOAL,
    before: Callable[[int], None] | None = None,
) -> Run:
    """Play a goal; `met_at` is the number of the judgement that says yes."""
    judgements = itertools.count(1)

    def play_beside(request: Request) -> Answer:
        if request.path != "/v1/messages":
            return anthropic.play_beside(request)
        verdict = {"ok": next(judgements) == met_at, "reason": "so it is"}
        return anthropic.play(request, json.dumps(verdict), 0)

    def call(client: Client, place: Place, url: str, prompt: str) -> Start:
        start = DRIVER.call(client, place, url, prompt)
        return Start([*client.command, "-p", prompt], start.environment) if text else start

    dialect = SimpleNamespace(**{**vars(anthropic), "play_beside": play_beside})
    script = Script(replies, limit=NO_END, before=before)
    return Driver(dialect, call, Run).play(client, place, script, *arguments, prompt=prompt)


def messages(run: Run) -> list[str]:
    return [line["content"] for line in run.system_lines("informational") if line["level"] == "notice"]


IDLE, CEILING = "without progress", "after 9 blocks since the last prompt"
LOW = ("--set", "ceiling=9")
ENDED = ["no_work"] * (LIMIT - 1) + ["stop_loop"]
QUICK = {
    "an agent that only talks": Row((), WORDS, LIMIT, ENDED, IDLE),
    "an agent that makes new calls": Row(LOW, NEW, 2 * 10, ["no_work"] * 9 + ["ceiling"], CEILING),
}
FULL = {
    "only talks, without hookctl": Row(None, WORDS, 9, []),
    "new calls, without hookctl": Row(None, NEW, NO_END, []),
    "the same call, without hookctl": Row(None, SAME, NO_END, []),
    "the same call": Row((), SAME, 2 * LIMIT, ENDED, IDLE),
    "only talks, mode guard": Row(("--mode", "guard"), WORDS, LIMIT, ["allowed"] * (LIMIT - 1) + ["stop_loop"], IDLE),
    "new calls, mode guard": Row(("--mode", "guard", *LOW), NEW, 2 * 10, ["allowed"] * 9 + ["ceiling"], CEILING),
    "work waits": Row((), WORDS, 9, [*KEPT, "open", "open", "stop_loop"], IDLE, work=2),
    "work waits, new calls": Row(LOW, NEW, 2 * 11, ["blocked"] * 9 + ["ceiling"] * 2, CEILING, work=2),
    "a keepalive run": Row(("--mode", "keepalive"), WORDS, NO_END, ["blocked"] * NO_END, armed=True),
    "a keepalive run, met": Row(("--mode", "keepalive"), WORDS, NO_END, ["blocked"] * NO_END, met_at=3, armed=True),
    "keepalive without a run": Row(
        ("--mode", "keepalive"), WORDS, LIMIT, ["inactive"] * (LIMIT - 1) + ["stop_loop"], IDLE
    ),
    "met at the third look": Row((), WORDS, 3, ["no_work"] * 3, met_at=3),
}


ROWS = [
    *(pytest.param(row, id=name) for name, row in QUICK.items()),
    *(pytest.param(row, id=name, marks=pytest.mark.full) for name, row in FULL.items()),
]


@pytest.mark.parametrize("row", ROWS)
def test_a_goal(claude: Client, place: Place, row: Row) -> None:
    if row.install is not None:
        hookctl(place, "install", "--host", "claude", *row.install)
    if row.work:
        leave_work(place, row.work)
    if row.armed:
        hookctl(place, "run", "start", "--project", str(place.project))
    run = play(claude, place, row.replies, met_at=row.met_at)
    assert (run.requests, codes(place)) == (row.requests, row.codes)
    if row.why:
        assert messages(run)[-1] == SAID.format(row.why)
        assert (run.result, run.ending["terminal_reason"]) == ("", claude.pins["stop"]["ended_by_hook"])
    if row.met_at and not row.armed:
        assert (run.result, messages(run)) == ("reply 3", [])


@pytest.mark.full
def test_a_goal_that_was_ended_goes_on_at_the_next_prompt_until_it_is_cleared(claude: Client, place: Place) -> None:
    hookctl(place, "install", "--host", "claude")
    first = play(claude, place, WORDS)
    again = ("--resume", first.session)
    judged = [
        play(claude, place, WORDS, *again, prompt=prompt).count("side") for prompt in ("go on", "/goal clear", "go on")
    ]
    assert judged == [LIMIT, 0, 0]
    assert codes(place) == [*ENDED, *ENDED, "no_work"]


@pytest.mark.full
def test_print_mode_shows_no_message_in_plain_text(claude: Client, place: Place) -> None:
    """Its text is the reply alone, and that is lost where a hook blocks beside the end, whatever the end says."""
    hookctl(place, "install", "--host", "claude")
    run = play(claude, place, WORDS, text=True)
    assert (run.requests, run.code, run.out, run.errors) == (LIMIT, 0, "\n", "")
