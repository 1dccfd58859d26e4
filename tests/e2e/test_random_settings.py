"""A few random settings files in front of each client; `python -m tests.e2e.random_settings` asks of many more."""

from pathlib import Path

import pytest

from .clients import Client
from .random_entries import Maker
from .random_settings import CASES, Bench, Report

pytestmark = pytest.mark.e2e

QUICK = ("claude", "codex")
FILES = {"claude": 3, "codex": 3}  # of the others more, as they do not run on every change


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="hooks and fire do not know all of it yet")
@pytest.mark.parametrize(
    "host", [pytest.param(host, marks=[] if host in QUICK else pytest.mark.full) for host in CASES]
)
def test_hooks_and_fire_say_what_the_client_does(host: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    client: Client = request.getfixturevalue(host)
    case, said = CASES[host], list[str]()
    bench = Bench(case, client, tmp_path)
    maker, report = Maker(case.shape(), 1, bench.marks), Report(said.append)
    for _ in range(FILES.get(host, 8)):
        report.take(bench, maker.files(), shrinks=False)
    assert said == [], "\n".join(said)
