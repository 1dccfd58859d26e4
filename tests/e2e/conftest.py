"""Fixtures of the end-to-end tests."""

from pathlib import Path

import pytest

from .claude import Place, make_place
from .clients import REQUIRED, Client, Unavailable, find_client


@pytest.fixture(scope="session")
def claude() -> Client:
    """The real Claude Code at its pinned version; HOOKCTL_E2E=require turns a skip into a failure."""
    try:
        return find_client("claude")
    except Unavailable as error:
        if REQUIRED:
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path / "place")
