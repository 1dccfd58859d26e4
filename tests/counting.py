"""What tests try, counted over a whole run, for `python -m tests.figures`."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

_COUNTS: Counter[str] = Counter()


def count(what: str, number: int = 1) -> None:
    """Note that so many faults, rounds or inputs were tried."""
    _COUNTS[what] += number


def write_counts() -> None:
    """Leave the counts of this process where `HOOKCTL_TEST_COUNTS` says."""
    folder = os.environ.get("HOOKCTL_TEST_COUNTS")
    if folder:
        Path(folder, f"{os.getpid()}.json").write_text(json.dumps(_COUNTS))
