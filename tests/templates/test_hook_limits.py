"""How far the hook goes along with a number that others chose."""

import json
from typing import Any

import pytest

from .lab import Lab


def fill(lab: Lab, windows: int, size: int = 0) -> None:
    """Make the counts those of many other calls, or as many bytes."""
    path = lab.folder / "dispatch.json"
    stored: dict[str, Any] = json.loads(path.read_text())
    stored["w"].update({f"{number:016x}": [999, 1] for number in range(windows)})
    text = json.dumps(stored)
    path.write_text(text + " " * (size - len(text)))


@pytest.mark.parametrize("wanted", [16 * 1024, 10**6])
def test_sixteen_thousand_windows_are_the_bound_of_all_bounds(lab: Lab, wanted: int) -> None:
    lab.config(dispatch_tools=["Task"], dispatch_max_keys=wanted)
    lab.environment["HOOKCTL_NOW"] = "1000"
    lab.attempt("a")
    fill(lab, 17 * 1024)
    lab.attempt("a")
    assert len(json.loads((lab.folder / "dispatch.json").read_text())["w"]) == 16 * 1024


@pytest.mark.parametrize(("size", "answer"), [(1024 * 1024, "D"), (1024 * 1024 + 1, "A")])
def test_counts_of_a_mebibyte_are_read_and_larger_ones_are_not(lab: Lab, size: int, answer: str) -> None:
    lab.config(dispatch_tools=["Task"], dispatch_max=1)
    assert lab.attempt("a") == "A"
    fill(lab, 0, size)
    assert lab.attempt("a") == answer


@pytest.mark.parametrize(
    ("value", "blocks"),
    [
        *[("0", 7), ("-5", 0), ("1", 0), ("2", 1), ("4", 3), ("x", 7), ("", 7)],
        *[("100", 99), ("101", 99), ("5000", 99)],
    ],
)
def test_qwens_cap_is_read_as_it_reads_it(lab: Lab, value: str, blocks: int) -> None:
    lab.config(max_stop_blocks=0).task(remaining=1)
    lab.environment["QWEN_CODE_STOP_HOOK_BLOCK_CAP"] = value
    lab.host = "qwen"
    flags = "0" + "1" * blocks
    if blocks > 10:
        assert lab.stop() == "B"
        lab.edit(host=blocks - 2)  # as many blocks later
        flags = "11"
    assert lab.stops(flags) == "B" * (len(flags) - 1) + "R"
    assert lab.codes()[-1] == "host_cap"
