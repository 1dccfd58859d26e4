"""The rows of tests/test_field.py in front of the real clients: what is expected there is what they do."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.test_field import ROWS, Row, etc_of, lay_out

from . import copilot
from .clients import Client
from .random_settings import CASES, play_session
from .test_managed import BIND, require_namespaces

pytestmark = [pytest.mark.e2e, pytest.mark.full]

# Settings that let the client start, and options beside those of a session.
MORE: dict[str, tuple[str, ...]] = {"copilot": (copilot.TRUST,)}


PLAYED = [row for row in ROWS if row.played and row.fires]


@pytest.mark.parametrize("row", PLAYED, ids=lambda row: f"{row.host}: {row.says}")
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
