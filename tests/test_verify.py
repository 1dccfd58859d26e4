"""hookctl verify: how often it looks, how long it waits, and when it gives up; by a clock of the test's own."""

from __future__ import annotations

import math

import pytest

from hookctl.verbs.verify import BROKEN, HOLDS, NOT_YET, TIMEOUT, Look, Policy, watch


class Scene:
    """A verifier whose looks take a second each and end as told; every look and rest is written down."""

    def __init__(self, *verdicts: str, took: float = 1.0) -> None:
        self.verdicts, self.took = list(verdicts), took
        self.clock = 100.0
        self.seen: list[object] = []

    def look(self, left: float) -> Look:
        self.seen.append(left)
        if self.took >= left:
            self.clock += left
            return Look(TIMEOUT)
        self.clock += self.took
        return Look(self.verdicts.pop(0))

    def rest(self, number: int, seconds: float) -> None:
        self.seen.append((number, seconds))
        self.clock += seconds

    def play(self, looks: int = 3, grace: float = 15.0, timeout: float = math.inf) -> tuple[str, int]:
        seen, number = watch(Policy(looks, grace, timeout), self.look, self.rest, lambda: self.clock)
        return seen.verdict, number


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([HOLDS], (HOLDS, 1)), ([NOT_YET, HOLDS], (HOLDS, 2)), ([NOT_YET, NOT_YET, HOLDS], (HOLDS, 3)),
        ([NOT_YET] * 3, (NOT_YET, 3)), ([BROKEN], (BROKEN, 1)), ([NOT_YET, BROKEN], (BROKEN, 2)),
    ],
)  # fmt: skip
def test_it_looks_until_it_knows(verdicts: list[str], expected: tuple[str, int]) -> None:
    scene = Scene(*verdicts)
    assert scene.play() == expected
    assert scene.verdicts == [], "and not once more"


def test_the_grace_lies_between_two_looks_and_behind_none() -> None:
    scene = Scene(*[NOT_YET] * 3)
    scene.play(grace=15)
    assert scene.seen == [math.inf, (2, 15), math.inf, (3, 15), math.inf]
    assert scene.clock == 100 + 3 + 30


def test_the_grace_ends_with_the_time() -> None:
    scene = Scene(NOT_YET, HOLDS)
    assert scene.play(grace=15, timeout=10) == (TIMEOUT, 1)
    assert scene.seen == [10, (2, 9)], "there is no look when the time is used up"
    assert scene.clock == 110


def test_a_verifier_that_takes_all_the_time_is_out_of_time() -> None:
    assert Scene(took=30).play(timeout=10) == (TIMEOUT, 1)
    assert Scene(NOT_YET, took=8).play(grace=0, timeout=10) == (TIMEOUT, 2)
