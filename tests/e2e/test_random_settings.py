"""A few random settings files in front of each client; HOOKCTL_TEST_FILES and HOOKCTL_TEST_SEED ask of others."""

import os
from pathlib import Path

import pytest

from tests.test_fire import FIRES

from .clients import Client
from .random_entries import Maker
from .random_settings import CASES, Bench

pytestmark = pytest.mark.e2e

QUICK = ("claude", "codex")
SEED, FILES = (int(os.environ.get(f"HOOKCTL_TEST_{name}") or usual) for name, usual in (("SEED", 1), ("FILES", 0)))


@pytest.mark.parametrize(
    "host", [pytest.param(host, marks=[] if host in QUICK else pytest.mark.full) for host in CASES]
)
def test_hooks_and_fire_say_what_the_client_does(host: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    client: Client = request.getfixturevalue(host)
    bench = Bench(CASES[host], client, tmp_path)
    maker, told = Maker(CASES[host].shape(), SEED, bench.marks), dict[str, str]()
    for _ in range(FILES or (3 if host in QUICK else 8)):  # of the others more, as they do not run on every change
        for kind, text in bench.told(maker.files()):
            told.setdefault(kind, text)
    assert told == {}, "\n".join(told.values())


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
