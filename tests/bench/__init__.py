"""Speed as ratios of CPU time, measured side by side in one run, in turns; never absolute times, never a timed test."""

import resource
import statistics
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path


def cpu(command: list[str], environ: dict[str, str], stdin: bytes = b"", folder: Path | None = None) -> float:
    """The CPU time, user and system, of one call in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=stdin, env=environ, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def medians(calls: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """What each of these calls says, in the middle of so many."""
    said = [{name: call() for name, call in calls.items()} for _ in range(rounds)]
    return {name: statistics.median(each[name] for each in said) for name in calls}


def ratio(call: Callable[[], float], yardstick: Callable[[], float], rounds: int) -> float:
    median = medians({"call": call, "yardstick": yardstick}, rounds)
    return median["call"] / median["yardstick"]
