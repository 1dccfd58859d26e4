"""The rows of tests/test_field.py in front of the real clients: what is expected there is what they do."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.test_field import ROWS, Row, etc_of, lay_out
from tests.test_fire import FIRES

from . import copilot
from .clients import Client
from .sessions import CASES, Bench, play_session
from .test_managed import BIND, require_namespaces

pytestmark = pytest.mark.e2e

# Settings that let the client start, and options beside those of a session.
MORE: dict[str, tuple[str, ...]] = {"copilot": (copilot.TRUST,)}


PLAYED = [row for row in ROWS if row.played and row.fires]
QUICK = [row for name in ("claude", "codex") for row in [row for row in PLAYED if row.host == name and row.starts][:2]]
PARAMETERS = [
    pytest.param(row, id=f"{row.host}: {row.says}", marks=[] if row in QUICK else pytest.mark.full) for row in PLAYED
]


@pytest.mark.parametrize("row", PARAMETERS)
def test_a_client_runs_what_is_expected(request: pytest.FixtureRequest, tmp_path: Path, row: Row) -> None:
    client: Client = request.getfixturevalue(row.host)
    case = CASES[row.host]
    place: Any = case.driver.Place.make(tmp_path / "place")
    marks, etc = place.root / "marks", place.root / "etc"
    if etc_of(row):
        require_namespaces()
        shutil.copytree("/etc", etc, symlinks=True)
        client = client._replace(runtime=("unshare", "-m", "sh", "-c", BIND, str(etc), *client.runtime))
    base = dict(case.base)
    lay_out(row, place.home, place.project, etc, marks, base)
    run = play_session(case, client, place, *MORE.get(row.host, ()))
    assert (run.requests > 0) == row.starts, run.errors
    assert (set(marks.read_text().split()) if marks.exists() else set()) == row.ran, run.errors


@pytest.mark.full
@pytest.mark.parametrize("host", CASES)
def test_every_matcher_fires_as_it_is_written_down(host: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    bench, client = Bench(CASES[host], tmp_path), request.getfixturevalue(host)
    names = [(event, name) for event, names in bench.case.events.items() for name in names]
    assert {name: bench.play(client, event, name) for event, name in names} == FIRES[host]
