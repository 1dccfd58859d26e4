"""A few random settings files in front of each client; `python -m tests.e2e.random_settings` asks of many more."""

from pathlib import Path

import pytest

from tests.test_matchers import FIRES

from .clients import Client
from .random_entries import Maker
from .random_settings import CASES, Bench, Report

pytestmark = pytest.mark.e2e

QUICK = ("claude", "codex")
FILES = {"claude": 3, "codex": 3}  # of the others more, as they do not run on every change


@pytest.mark.parametrize(
    "host", [pytest.param(host, marks=[] if host in QUICK else pytest.mark.full) for host in CASES]
)
def test_hooks_and_fire_say_what_the_client_does(host: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    client: Client = request.getfixturevalue(host)
    case, said = CASES[host], list[str]()
    bench = Bench(case, client, tmp_path)
    maker, report = Maker(case.shape(), 1, bench.marks), Report(said.append)
    for _ in range(FILES.get(host, 8)):
        report.take(bench, maker.files())
    assert said == [], "\n".join(said)


@pytest.mark.full
@pytest.mark.parametrize("host", CASES)
def test_every_matcher_fires_as_it_is_written_down(host: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    bench = Bench(CASES[host], request.getfixturevalue(host), tmp_path)
    maker = Maker(CASES[host].shape(), 1, bench.marks)
    fires = {}
    for event, names in maker.shape.events.items():
        for name in names:
            pieces = maker.every_matcher(event, name)
            ran = bench.play(pieces).ran
            fires[name] = [piece.value["matcher"] for piece in pieces if piece.marks & ran]
    assert fires == FIRES[host]
