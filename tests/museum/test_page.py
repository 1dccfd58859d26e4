"""Each group of the museum names a test that there is, and docs/museum.md is the groups' table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.museum.groups import GROUPS, Group
from tests.museum.page import PAGE, renewed


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.number)
def test_every_group_names_its_test_and_its_issues(group: Group) -> None:
    file, _, name = group.test.partition("::")
    assert f"def {name}(" in Path(__file__).parents[1].joinpath(file).read_text()
    for issue in group.issues:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", issue), issue


def test_the_page_has_the_groups_table() -> None:
    assert PAGE.read_text() == renewed(PAGE.read_text()), "run python -m tests.museum"
