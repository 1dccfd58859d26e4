"""The lines about hooks: how many run, and what receipts say, in the words that other commands use."""

from __future__ import annotations

import pytest

from hookctl.hooks.inventory import Inventory
from hookctl.hooks.listing import list_hooks
from hookctl.hooks.model import MISSING, Hook, Obstacle, Receipts
from hookctl.output.hooks import describe_receipts, hook_lines

from .test_hooks_list import command, file

NOTHING = Inventory((), frozenset(), (), (), ())


def hooks(running: int, others: int) -> list[Hook]:
    fine = [command(f"a{number}") for number in range(running)]
    broken = [command(f"b{number}")._replace(broken=Obstacle(MISSING, "")) for number in range(others)]
    return list_hooks([file(*fine, *broken)])


@pytest.mark.parametrize(
    ("running", "others", "said"),
    [
        (0, 0, "no hooks here"),
        (1, 0, "1 hook runs"),
        (0, 1, "0 hooks run, 1 does not"),
        (2, 0, "2 hooks run"),
        (0, 2, "0 hooks run, 2 do not"),
        (1, 1, "1 hook runs, 1 does not"),
        (2, 2, "2 hooks run, 2 do not"),
    ],
)
def test_the_last_line_says_how_many_run(running: int, others: int, said: str) -> None:
    *_, last = hook_lines(hooks(running, others), NOTHING, lambda hook: hook.command)
    assert last.text == said


def test_receipts_tell_times_as_the_table_of_runs_does() -> None:
    receipts = Receipts(runs=2, failures=1, median_ms=20.0, p95_ms=1202.0, bytes=1, last_run=5.0)
    assert describe_receipts(receipts) == "ran 2 times, 1 failed, median 20 ms, p95 1.2 s, 1 byte into the context"
    assert describe_receipts(Receipts(runs=1)) == "ran 1 time"
