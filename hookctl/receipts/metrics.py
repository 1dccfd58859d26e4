"""The runs of hooks as metrics of Prometheus: by host, event and id, and never with a command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate

from hookctl.receipts.model import HookName, Runs

_COUNTERS = {  # each with the field that has its number
    "runs": ("Runs of hooks.", "runs"),
    "failures": ("Runs of hooks that failed or ran out of time.", "failures"),
    "context_bytes": ("Bytes that hooks put into the model's context.", "bytes"),
}
_DURATION = "hookctl_hook_duration_seconds"


def write_labels(values: Mapping[str, str]) -> str:
    """The labels of a sample, as they stand in braces."""
    formatted = []
    for name, value in values.items():
        escaped = value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
        formatted.append(f'{name}="{escaped}"')
    return ",".join(formatted)


def export(runs: Mapping[HookName, Runs]) -> Iterator[str]:
    """The lines of each metric, in the text format."""
    samples = [(write_labels(name._asdict()), found) for name, found in runs.items()]
    for counter, (description, field) in _COUNTERS.items():
        metric = f"hookctl_hook_{counter}_total"
        yield f"# HELP {metric} {description}"
        yield f"# TYPE {metric} counter"
        for labels, found in samples:
            yield f"{metric}{{{labels}}} {getattr(found, field)}"
    yield f"# HELP {_DURATION} How long the runs of hooks took."
    yield f"# TYPE {_DURATION} histogram"
    for labels, found in samples:
        yield from _export_times(labels, found)


def _export_times(labels: str, runs: Runs) -> Iterator[str]:
    """The histogram of one hook."""
    ends = [f"{end / 1000:g}" for end in runs.ends] + ["+Inf"]
    for end, number in zip(ends, accumulate(runs.buckets), strict=True):
        yield f'{_DURATION}_bucket{{{labels},le="{end}"}} {number}'
    yield f"{_DURATION}_sum{{{labels}}} {runs.ms / 1000:.3f}"
    yield f"{_DURATION}_count{{{labels}}} {sum(runs.buckets)}"
