"""Hermes reminds its own workers: the preset does not double that there, and a person may."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Hookctl

SAID = "Hermes: preset hermes leaves the reminder to it; --nudge adds the guard's own"




def installed(isolated: Path) -> dict[str, object]:
    (path,) = [path for path in isolated.rglob("config.json") if path.with_name("hook.py").exists()]
    return json.loads(path.read_text())


@pytest.mark.parametrize(
    ("arguments", "tools"),
    [
        (("--preset", "hermes"), None),
        (("--preset", "hermes", "--nudge", "kanban_complete"), ["kanban_complete"]),
        (("--nudge", "kanban_complete"), ["kanban_complete"]),
    ],
)
def test_on_hermes_the_preset_leaves_the_reminder_to_it(
    isolated: Path, hookctl: Hookctl, arguments: tuple[str, ...], tools: list[str] | None
) -> None:
    done = hookctl("install", "--host", "hermes", *arguments)
    text = " ".join(f"{done.out} {done.err}".split())
    assert done.code == 0
    assert installed(isolated).get("required_tools") == tools
    assert (SAID in text) == (tools is None)
    assert "never at an end with text alone; it reminds its kanban workers itself" in text


def test_the_preset_keeps_its_reminder_on_other_hosts(isolated: Path, hookctl: Hookctl) -> None:
    done = hookctl("install", "--host", "claude", "--preset", "hermes")
    assert installed(isolated)["required_tools"] == ["kanban_complete", "kanban_block"]
    assert "leaves the reminder" not in done.out + done.err


def test_status_says_no_reminder_that_the_guard_does_not_give(
    isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERMES_ACCEPT_HOOKS", "1")
    hookctl("install", "--host", "hermes", "--preset", "hermes")
    out = " ".join(hookctl("status").out.split())
    assert "blocks at most" in out and "reminds the agent" not in out
    assert hookctl("install", "--host", "hermes", "--preset", "hermes", "--json").data["actions"] == []
    hookctl("install", "--host", "hermes", "--nudge", "kanban_complete")
    assert "reminds the agent" in " ".join(hookctl("status").out.split())
