"""hookctl's promises, kept with every client that runs here: the same story for all of them."""

from pathlib import Path

import pytest

from .acceptance import CASES, Case
from .clients import Client
from .probe import make_probe
from .product import codes, decisions, hookctl, leave_work

pytestmark = pytest.mark.e2e


@pytest.fixture
def client(request: pytest.FixtureRequest, case: Case) -> Client:
    return request.getfixturevalue(case.host)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=f"{case.host} {case.scope}", marks=[] if case.quick else [pytest.mark.full])
        for case in CASES
    ],
)
def test_the_guard_keeps_the_agent_lets_it_go_and_leaves_nothing_behind(
    client: Client, case: Case, tmp_path: Path
) -> None:
    place = case.driver.Place.make(tmp_path / "place", own_folders=True)
    case.prepare(place)
    settings, operators_hook = case.settings(place), make_probe(place.root, "operators")
    before = case.write_operators_file(place, operators_hook)
    where = ["--host", case.host, "--scope", case.scope]

    def stops() -> tuple[int, int, int, list[str]]:
        """One run of the client: its requests, the calls of the operator's hook and of ours, and ours' reasons."""
        theirs, ours = case.heard(operators_hook), len(decisions(place))
        run = case.driver.play(client, place, ["done"], *case.arguments)
        assert run.code == 0, run.errors
        heard, said = case.heard(operators_hook) - theirs, codes(place)[ours:]
        return run.requests, heard, len(said), said

    assert stops() == (1, 1, 0, [])

    hookctl(place, "install", *where)
    installed = settings.read_bytes()
    assert installed != before
    leave_work(place)
    times = len(case.kept)
    assert stops() == (times, times, times, case.kept)
    assert decisions(place)[-1]["decision"] == "release"

    hookctl(place, "install", *where)
    assert settings.read_bytes() == installed
    hookctl(place, "run", "start", "--project", str(place.project))  # of most hosts no process tells that it is gone
    assert stops() == (times, times, times, case.kept)

    hookctl(place, "uninstall", "--scope", case.scope)
    assert settings.read_bytes() == before
    assert stops() == (1, 1, 0, [])
