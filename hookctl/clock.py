"""Time as people and the guard's files write it."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime

from hookctl.errors import USAGE, HookctlError

END = 250_000_000_000  # seconds: the year 9892, near the end of what a date can say
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_NAMES = {"d": 86400, "h": 3600, "min": 60, "s": 1}  # as they are shown, the largest first


def now(environ: Mapping[str, str]) -> float:
    """Seconds since the epoch; HOOKCTL_NOW sets it for tests."""
    at = timestamp(environ.get("HOOKCTL_NOW", ""))
    return time.time() if at is None else at


def timestamp(text: str) -> float | None:
    """Seconds since the epoch as somebody wrote them; None where that is no moment that a date can say."""
    try:
        at = float(text)
    except ValueError:
        return None
    return at if 0 <= at < END else None


def seconds(text: str) -> float:
    """A duration such as 12h, 90m, 30s or 2d, in seconds."""
    match = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]+)?)([smhd])", text.strip())
    if not match:
        hint = "Write a number and a unit: 12h, 90m, 30s, 2d."
        raise HookctlError("usage", f"{text!r} is not a duration", hint=hint, exit_code=USAGE)
    return float(match[1]) * _UNITS[match[2]]


def moment(text: str, now: float) -> float:
    """A time: a duration ago, or a date with or without a time of day (local), in seconds since the epoch."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        pass
    try:
        return now - seconds(text)
    except HookctlError:
        hint = "Write 2h for two hours ago, or a date: 2026-11-21T22:00."
        raise HookctlError("usage", f"{text!r} is not a time", hint=hint, exit_code=USAGE) from None


def stamp(at: float) -> str:
    """A moment in UTC to the microsecond."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def local(at: float) -> str:
    """A moment in local time, for people."""
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M:%S")


def age(span: float) -> str:
    """How long, in its two largest units: 11 h 58 min; what is smaller is left out."""
    left, parts = int(max(0, span)), []
    for name, size in _NAMES.items():
        count, left = divmod(left, size)
        if count or parts:
            parts.append((count, name))
    return " ".join(f"{count} {name}" for count, name in parts[:2] if count) or "0 s"
