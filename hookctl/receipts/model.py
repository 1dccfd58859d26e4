"""The runs of a hook: their numbers, and what follows from them."""

from __future__ import annotations

import math
from typing import NamedTuple

# The last of them say how a hook is now; the first fifty may be from before it was repaired.
RECENT = 10


class HookName(NamedTuple):
    """What the runs of one hook have in common."""

    host: str
    event: str  # Claude Code's name of it
    id: str  # PACK/ID


class Run(NamedTuple):
    """One run of a hook."""

    at: int  # seconds since 1970
    ms: int
    bytes: int  # of the context that reached the model
    has_failed: bool
    status: int | None = None  # of its command; None where it did not end
    is_late: bool = False  # whether it ran out of time


class Runs(NamedTuple):
    """All runs of one hook."""

    runs: int = 0
    failures: int = 0
    ms: int = 0  # of all of them together
    bytes: int = 0
    buckets: tuple[int, ...] = ()  # how many took how long
    ends: tuple[int, ...] = ()  # the upper ends of the buckets in ms; the last bucket has none
    last_run: int | None = None  # seconds since 1970
    times: tuple[int, ...] = ()  # in ms, of those whose receipts are there
    recent: tuple[Run, ...] = ()  # the last of these, in the order of time

    @property
    def median_ms(self) -> int | None:
        """The time that half of the runs whose receipts are there do not exceed."""
        return self._find_percentile(0.5)

    @property
    def p95_ms(self) -> int | None:
        """The time that 95 of 100 of them do not exceed."""
        return self._find_percentile(0.95)

    def _find_percentile(self, share: float) -> int | None:
        times = sorted(self.times)
        return times[math.ceil(share * len(times)) - 1] if times else None
