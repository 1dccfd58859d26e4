"""Every group of the museum has its tests, every test its group, and docs/museum.md is the groups' table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.museum.groups import GROUPS, Group
from tests.museum.page import PAGE, renewed

NAMES = [
    name
    for path in sorted(Path(__file__).parent.glob("test_*.py"))
    for name in re.findall(r"^def (test_m\d\d_\w+)", path.read_text(), re.MULTILINE)
]


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.number)
def test_every_group_has_its_tests(group: Group) -> None:
    assert [name for name in NAMES if name.startswith(group.test_prefix)]


def test_every_test_has_its_group() -> None:
    prefixes = tuple(group.test_prefix for group in GROUPS)
    assert len(set(prefixes)) == len(GROUPS) == 25
    assert [name for name in NAMES if not name.startswith(prefixes)] == []


def test_the_page_has_the_groups_table() -> None:
    assert PAGE.read_text() == renewed(PAGE.read_text()), "run python -m tests.museum"


def test_every_issue_is_named_in_full() -> None:
    for group in GROUPS:
        for issue in group.issues:
            assert re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", issue), issue
