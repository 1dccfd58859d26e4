"""hookctl demo: the real hook decides, a person can follow, and nothing is left of it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conftest import Hookctl
from tests.trees import tree

DECISIONS = [None, "block", "block", "block", "release", None, "allow"]


def test_the_story_goes_through_block_progress_release_and_end(hookctl: Hookctl, isolated: Path) -> None:
    before = tree(isolated)
    done = hookctl("demo", "--json")
    steps = done.data["steps"]
    assert done.code == 0 and [step["decision"] for step in steps] == DECISIONS
    assert steps[2]["code"] == "blocked" and steps[4]["code"] == "tripped" and steps[6]["code"] == "no_work"
    assert "without progress" in steps[4]["said"]
    assert tree(isolated) == before


def test_an_interrupted_one_leaves_nothing(hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    place = isolated / "tmp"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.setattr("hookctl.verbs.demo.time", SimpleNamespace(sleep=interrupt))
    assert hookctl("demo").code == 130
    assert list(place.iterdir()) == []
