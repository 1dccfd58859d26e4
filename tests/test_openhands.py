"""OpenHands, which reads one hooks.json only: the project's, else the user's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put

HOST = ("--host", "openhands")
THEIRS = json.dumps({"stop": [{"hooks": [{"type": "command", "command": "notify-send done"}]}]})


@pytest.fixture
def users(isolated: Path) -> Path:
    """A user's file with a hook of the operator's, and a project."""
    (isolated / "work" / ".git").mkdir()
    return put(isolated / "home" / ".openhands" / "hooks.json", THEIRS)


def test_a_new_project_file_that_hides_the_users_is_told(hookctl: Hookctl, users: Path) -> None:
    outcome = hookctl("install", *HOST, "--scope", "project")
    assert f"OpenHands then reads no hook of {users} in this project" in outcome.err
    assert "reads no hook of" not in hookctl("install", *HOST, "--scope", "project").err
    assert users.read_text() == THEIRS


def test_doctor_says_nothing_of_a_hidden_file_where_the_guard_runs(hookctl: Hookctl, users: Path) -> None:
    hookctl("install", *HOST)
    hookctl("install", *HOST, "--scope", "project")
    out = hookctl("doctor", *HOST, "--verbose").out
    assert "OH_PERSISTENCE_DIR" not in out
    assert "[not_read]" not in out, "the guard runs from the other file"
