"""Reads and writes times and durations."""

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime

from hookctl.errors import usage_error

END = 250_000_000_000  # seconds: the year 9892, near the end of what a date can say
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_NAMES = {"d": 86400, "h": 3600, "min": 60, "s": 1}  # as they are shown, the largest first


def now(environ: Mapping[str, str]) -> float:
    """Seconds since the epoch; HOOKCTL_NOW sets it for tests."""
    fixed = timestamp(environ.get("HOOKCTL_NOW", ""))
    return time.time() if fixed is None else fixed


def timestamp(text: str) -> float | None:
    """Seconds since the epoch from a text; None if it is not a number or no possible date."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds < END else None


def seconds(text: str) -> float:
    """A duration such as 12h, 90m, 30s or 2d, in seconds."""
    match = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]+)?)([smhd])", text.strip())
    if not match:
        hint = "Write a number and a unit (12h, 90m, 30s, 2d); a time may be 2026-11-24, too."
        raise usage_error(f"{text!r} is not a duration", hint)
    return float(match[1]) * _UNITS[match[2]]


def moment(text: str, now: float) -> float:
    """Seconds since the epoch of a local date or time, or of a duration before `now`."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return now - seconds(text)


def stamp(moment: float) -> str:
    """A moment in UTC to the microsecond."""
    text = datetime.fromtimestamp(moment, UTC).isoformat(timespec="microseconds")
    return text.replace("+00:00", "Z")


def local(moment: float) -> str:
    """A moment in local time, for people."""
    return datetime.fromtimestamp(moment).strftime("%Y-%m-%d %H:%M:%S")


def age(span: float) -> str:
    """A duration in its two largest units, such as 11 h 58 min."""
    rest, words = int(max(0, span)), []
    for name, size in _NAMES.items():
        if rest >= size or words:
            words.append(f"{rest // size} {name}")
            rest %= size
    return " ".join(word for word in words[:2] if not word.startswith("0 ")) or "0 s"
