"""Which matchers fire, as the real clients had it: `fire` runs those, and `hooks` says `runs` of no other one.

tests/field_matchers.json says it by host and event, of one session that calls the shell and writes a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.approving import approve
from tests.e2e.random_entries import Maker
from tests.e2e.random_settings import CASES, Bench

FIRES = json.loads(Path(__file__).with_name("field_matchers.json").read_text())


def cases() -> Iterator[Any]:
    for host, events in FIRES.items():
        for name in events:
            for aspect in ("fire", "hooks"):
                label = f"{aspect}: {host} {name}"
                yield pytest.param(host, name, aspect, id=label)


@pytest.mark.parametrize(("host", "name", "aspect"), [*cases()])
def test_every_matcher(host: str, name: str, aspect: str, isolated: Path) -> None:
    shape = CASES[host].shape()
    bench = Bench(CASES[host], None, isolated)
    event = next(event for event, names in shape.events.items() if name in names)
    pieces = Maker(shape, 1, bench.marks).every_matcher(event, name)
    place = bench.lay_out(pieces)
    if host == "codex":
        approve(place.settings)
    fires = set(FIRES[host][name])
    if aspect == "fire":
        fired = bench.fired(place, (event,))
        assert {piece.value["matcher"] for piece in pieces if piece.marks & fired} == fires
    else:
        states, _ = bench.said(place)
        runs = {piece.value["matcher"] for piece in pieces if {"runs"} in map(states.get, piece.marks)}
        assert fires - runs == set()
        assert runs - fires <= {piece.value["matcher"] for piece in pieces if piece.may}
