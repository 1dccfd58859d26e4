"""The replays of the published incidents, in small: what the table of tests.bench.replay would print."""

from pathlib import Path

import pytest

from tests.bench import replay


@pytest.mark.parametrize(
    ("behaviour", "without", "with_hook"),
    [
        ("no tool call", 9, 6),
        ("the same command", 40, 6),
        ("two commands in turn", 40, 7),
        ("always another command", 40, 26),
    ],
)
def test_empty_turns_end(tmp_path: Path, behaviour: str, without: int, with_hook: int) -> None:
    assert replay.empty_turns(tmp_path / "lab", behaviour, limit=40) == (without, with_hook)


def test_each_wake_up_is_one_turn_after_the_first_chain(tmp_path: Path) -> None:
    assert replay.wake_ups(tmp_path / "lab", 12) == (12 * 9, 12 + 5)


def test_a_listed_background_task_is_one_turn_a_wake_up(tmp_path: Path) -> None:
    assert replay.wake_ups(tmp_path / "lab", 6, yield_on_background=True) == (6 * 9, 6)


def test_a_hook_that_always_denies_is_ended_at_the_fifth_denial(tmp_path: Path) -> None:
    assert replay.always_denied(tmp_path / "lab", limit=20) == (20, 5)


def test_keepalive_lasts_the_night(tmp_path: Path) -> None:
    assert replay.keepalive_night(tmp_path / "lab") == 26


def test_a_cap_of_eight_ends_the_night_after_nine_turns(tmp_path: Path) -> None:
    assert replay.keepalive_night(tmp_path / "lab", cap=8) == 9


def test_yielding_on_the_flag_ends_it_after_two(tmp_path: Path) -> None:
    assert replay.keepalive_night(tmp_path / "lab", honor_stop_hook_active=True) == 2


def test_sixty_dispatches_are_executed_in_ten_minutes(tmp_path: Path) -> None:
    assert replay.dispatches(tmp_path / "lab", 120) == 60
