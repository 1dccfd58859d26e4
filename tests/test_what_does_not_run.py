"""Files that a host reads and loads nothing of: install, plan and status say so, and nobody says "installed".

Hooks that are switched off, not approved or not trusted are in tests/stories/where-no-hook-runs.txt.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put

pytestmark = pytest.mark.usefixtures("fixed_python")


STOP = [{"hooks": [{"type": "command", "command": "say done"}]}]


CASES = [
    ("codex", ".codex/hooks.json", {"$schema": "x", "hooks": {}}, "$schema is not allowed at the root"),
    ("codex", ".codex/hooks.json", {"Stop": STOP}, "Stop is not allowed at the root"),
    ("openhands", ".openhands/hooks.json", {"hooks": {"setup": []}}, "hooks.setup is no event of OpenHands"),
    ("openhands", ".openhands/hooks.json", {"setup": []}, "line 1: setup is no event of OpenHands"),
    ("claude", ".claude/settings.json", {"permissions": {"defaultMode": "x"}}, "defaultMode must be one of"),
    ("claude", ".claude/settings.json", {"hooks": {"PreToolUse": [None]}}, "hooks.PreToolUse.0 is not a group"),
    ("droid", ".factory/settings.json", {"hooks": {"Stop": [{"hooks": [{"type": "command"}]}]}}, "has no command"),
]  # fmt: skip


@pytest.mark.parametrize(("host", "name", "value", "reason"), CASES)
def test_install_says_that_nothing_of_the_file_is_loaded(
    isolated: Path, hookctl: Hookctl, host: str, name: str, value: object, reason: str
) -> None:
    path = isolated / "home" / name
    put(path, json.dumps(value))
    before = path.read_bytes()
    planned = hookctl("plan", "--host", host)
    assert f"{path}: " in planned.err and reason in planned.err
    done = hookctl("install", "--host", host)
    assert done.code == 0
    assert reason in done.err
    assert "installed" not in done.out
    assert "guard is written, but does not run in" in done.out
    again = hookctl("install", "--host", host)
    assert again.out == "nothing to do\n"
    assert reason in again.err
    assert "does nothing: " in hookctl("status").out
    assert hookctl("doctor", "--host", host).code == 1
    assert hookctl("uninstall", "--host", host).code == 0
    assert path.read_bytes() == before


def test_check_fails_for_a_file_of_the_project_that_is_not_loaded(isolated: Path, hookctl: Hookctl) -> None:
    settings = isolated / "work/.claude/settings.json"
    put(isolated / "work/.git/HEAD", "")
    assert hookctl("install", "--host", "claude", "--scope", "project").code == 0
    assert hookctl("check").code == 0
    put(settings, json.dumps({**json.loads(settings.read_text()), "permissions": {"defaultMode": "x"}}))
    done = hookctl("check")
    assert done.code == 1 and "permissions.defaultMode must be one of" in done.out
