"""Every knob of every policy: environment over configuration over default. The rows lie in scenarios/knobs.txt."""

import re
from pathlib import Path

import pytest

from .lab import Lab
from .modules import module
from .play import Row, play, scenarios

HIGH_CAP = "cap 5000"
ROWS = scenarios("knobs")
# Settings that change no decision, or that no variable sets, and the file here that tests them.
ELSEWHERE = {
    "scenarios/settings.txt": "release_reason nudge_reason dispatch_reason",
    "test_hook_texts.py": "reason guidance guidance_text show_env",
    "test_whose_project.py": "state_dir locked",
    "test_hook_rules.py": "lock_ms",
}


def knob_of(row: Row) -> str:
    return row[0].removeprefix("knobs: ")


def test_every_setting_has_rows_or_a_test_elsewhere() -> None:
    named = [(name, file) for file, names in ELSEWHERE.items() for name in names.split()]
    assert {*map(knob_of, ROWS), *(name for name, _ in named)} == set(module("settings").DEFAULTS)
    for name, file in named:
        assert re.search(rf"\b{name}\b", (Path(__file__).parent / file).read_text()), (name, file)


def variable(knob: str) -> str:
    return "MAX_STOP_BLOCKS" if knob == "max_stop_blocks" else "HOOKCTL_" + knob.upper()


def text(value: object) -> str:
    if isinstance(value, list):
        return ",".join(value)
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


@pytest.mark.parametrize(("row", "other"), [*zip(ROWS[::2], ROWS[1::2], strict=True)], ids=lambda row: row[2])
def test_the_environment_comes_before_the_file(lab: Lab, row: Row, other: Row) -> None:
    knob = knob_of(row)
    assert knob == knob_of(other)
    lab.environment[variable(knob)] = text(other[1][knob])
    play(lab, row[1], f"{HIGH_CAP}; {other[2]}")


@pytest.mark.parametrize("row", ROWS[::2], ids=knob_of)
def test_the_file_sets_a_knob_and_an_empty_variable_changes_nothing(lab: Lab, row: Row) -> None:
    lab.environment[variable(knob_of(row))] = "  "
    play(lab, row[1], f"{HIGH_CAP}; {row[2]}")


@pytest.mark.parametrize("ceiling", [0, -1])
def test_the_ceiling_is_never_off(lab: Lab, ceiling: int) -> None:
    play(lab, {"ceiling": ceiling}, f"{HIGH_CAP}; work 1; 0=B; 1=R[ceiling]")


def test_nor_is_it_above_5000(lab: Lab) -> None:
    play(lab, {"ceiling": 10**6, "max_stop_blocks": 0}, 'work 1; 0=B; edit {"total": 4999}; 11=BR[ceiling]')
