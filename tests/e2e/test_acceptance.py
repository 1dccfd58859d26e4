"""hookctl's promises, kept with every client that runs here: the same story for all of them."""

import pytest

from .acceptance import CASES, Case
from .agent import Place
from .clients import Client
from .model_server import Script
from .probe import make_probe
from .product import codes, decisions, hookctl, leave_work

pytestmark = pytest.mark.e2e

QUICK = ("claude user", "claude project", "codex user", "codex project", "grok user")
ROWS = [pytest.param(case, id=case.id, marks=[] if case.id in QUICK else [pytest.mark.full]) for case in CASES]


@pytest.mark.parametrize("case", ROWS)
def test_the_guard_keeps_the_agent_lets_it_go_and_leaves_nothing_behind(
    case: Case, stage: tuple[Client, Place]
) -> None:
    client, place = stage
    case.prepare(place)
    operators_hook = make_probe(place.root, "operators")
    before = case.write_operators_file(place, operators_hook)
    where, script = ["--host", case.host, "--scope", case.scope], case.turn(place)

    def stops(says: str = "") -> tuple[int, int, list[str]]:
        """One turn: how often the agent is sent on, the calls of the operator's hook, and the reasons of ours."""
        theirs, ours = case.heard(operators_hook), len(codes(place))
        run = case.driver.play(client, place, Script(script, limit=30), *case.arguments, timeout=120)
        assert run.code == 0 and says in run.out + run.errors, run.errors
        return run.requests - len(script), case.heard(operators_hook) - theirs, codes(place)[ours:]

    assert stops() == (0, 1, [])

    hookctl(place, "install", *where)
    installed = case.texts(place)
    assert installed != before
    leave_work(place)
    kept = (case.kept.count("blocked"), len(case.kept), case.kept)
    assert stops(case.says) == kept
    assert decisions(place)[-1]["decision"] == ("release" if case.tells_the_last else "block")

    hookctl(place, "install", *where)
    assert case.texts(place) == installed
    hookctl(place, "run", "start", "--project", str(place.project))  # of most hosts no process tells that it is gone
    assert stops() == kept

    hookctl(place, "uninstall", "--scope", case.scope)
    assert case.texts(place) == before
    assert stops() == (0, 1, [])
