"""Droid's hooks.json with `hooks` around events: those are ignored, and the events beside it run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put

pytestmark = pytest.mark.usefixtures("fixed_python")


def test_ours_run_and_the_others_are_named(isolated: Path, hookctl: Hookctl) -> None:
    theirs = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}
    path = put(isolated / "home/.factory/hooks.json", json.dumps(theirs))
    done = hookctl("install", "--host", "droid")
    assert done.code == 0 and "not loaded" not in done.out
    assert {"hooks", "Stop"} <= json.loads(path.read_text()).keys()
    told = json.loads(hookctl("doctor", "--host", "droid", "--json").out)["data"]["findings"]
    assert [finding["message"] for finding in told if finding["level"] == "error"] == []
    (lost,) = (hook for hook in hookctl("hooks", "--host", "droid", "--json").data["hooks"] if not hook["name"])
    assert (lost["state"], "only those at the root" in lost["reason"]) == ("ignored", True)
    assert "does nothing" not in hookctl("status").out
    assert hookctl("uninstall", "--host", "droid").code == 0
    assert json.loads(path.read_text()) == theirs
