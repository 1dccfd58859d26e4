"""The runs of a hook: their numbers, and what follows from them."""

from __future__ import annotations

import math
from itertools import accumulate
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
        """The time that half of the runs do not exceed."""
        return self.percentile(0.5)

    @property
    def p95_ms(self) -> int | None:
        """The time that 95 of 100 runs do not exceed."""
        return self.percentile(0.95)

    def percentile(self, share: float) -> int | None:
        """The time that this share of all runs does not exceed; None without a run.

        It is exact as long as all receipts are there. The totals have the bucket of each older run,
        so it always lies in the right bucket.
        """
        sums = list(accumulate(self.buckets))
        if not sums or not sums[-1]:
            return None
        rank = max(1, math.ceil(share * sums[-1]))
        bucket = next(number for number, total in enumerate(sums) if total >= rank)
        number = self.buckets[bucket]
        return self._find_in_bucket(bucket, rank - (sums[bucket] - number), number)

    def _find_in_bucket(self, bucket: int, rank: int, number: int) -> int:
        """The time of one of the runs in a bucket, by its rank there."""
        low = self.ends[bucket - 1] if bucket else 0
        high = self.ends[bucket] if bucket < len(self.ends) else math.inf
        lowest = low if bucket else -1
        times = sorted(ms for ms in self.times if lowest < ms <= high)
        if times:
            return times[math.ceil(rank * len(times) / number) - 1]
        if math.isinf(high):
            return low
        return low + round((high - low) * rank / number)
