"""Which of Droid's two files a hook goes into: one hides the other, event by event."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookctl import hosts
from hookctl.settings.targets import active_file

HOOK = [{"hooks": [{"type": "command", "command": "bell"}]}]


@pytest.mark.parametrize(
    ("settings", "hooks", "file"),
    [
        (None, None, "settings.json"),
        ({}, None, "settings.json"),
        ({"hooks": {"Stop": HOOK}}, None, "settings.json"),
        ({"hooks": {"Stop": HOOK}}, {"SessionEnd": HOOK}, "settings.json"),
        ({"hooks": {"Stop": HOOK}}, {}, "settings.json"),
        ({"hooks": {"Stop": HOOK}}, {"hooks": {"Stop": HOOK}}, "settings.json"),
        ({"hooks": {"Stop": HOOK, "PreToolUse": HOOK}}, {"Stop": HOOK}, "hooks.json"),
        ({"hooks": {"Stop": []}}, {"SessionEnd": HOOK}, "hooks.json"),
        ({"hooks": {"SessionEnd": HOOK}}, {"SessionEnd": HOOK}, "hooks.json"),
        ({"hooks": 5}, {"SessionEnd": HOOK}, "hooks.json"),
        ({}, {}, "hooks.json"),
        (None, {"Stop": HOOK}, "hooks.json"),
    ],
)
def test_a_hook_goes_where_it_runs_and_hides_none_of_the_operator_s(
    tmp_path: Path, settings: dict[str, Any] | None, hooks: dict[str, Any] | None, file: str
) -> None:
    folder = tmp_path / ".factory"
    folder.mkdir()
    for name, value in (("settings.json", settings), ("hooks.json", hooks)):
        if value is not None:
            (folder / name).write_text(json.dumps(value))
    host, path = active_file(hosts.load("droid"), "user", {"HOME": str(tmp_path)})
    assert path == str(folder / file)
    assert host.stands == ("hooks.json" if file == "hooks.json" else "")
