"""What doctor makes of the receipts of packs' hooks, and where it says nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .conftest import put
from .findings import Place, place

__all__ = ["place"]

PACK = """[pack]
name = "notes"
version = "1"
description = "Notes"
{hooks}
"""
LATER = 4_000_000_000
RUN = {"bytes": 0, "event": "Stop", "host": "claude", "id": "notes/one", "kind": "run", "ms": 3, "outcome": "none",
       "session": None, "status": 0, "t": LATER}  # fmt: skip
FAILED = {"outcome": "failed", "status": 1}


def install(place: Place, *hooks: tuple[str, str, str], scope: str = "user") -> None:
    """Install a pack with these hooks: id, event and matcher."""
    text = ""
    for id, event, matcher in hooks:
        text += f'[[hooks]]\nevent = "{event}"\nid = "{id}"\ncommand = "echo ran >> ran"\n'
        text += f'matcher = "{matcher}"\n' if matcher else ""
    file = put(place.root / "notes" / "pack.toml", PACK.format(hooks=text))
    outcome = place.hookctl("install", str(file), "--host", "claude", "--yes", "--scope", scope)
    assert outcome.code == 0, outcome


def write(place: Place, *runs: dict[str, Any], folder: str = "f" * 16) -> None:
    text = "".join(json.dumps({**RUN, **run}, sort_keys=True, separators=(",", ":")) + "\n" for run in runs)
    put(place.root / "state" / "guard" / folder / "runs.jsonl", text)


def said(place: Place) -> dict[str, str]:
    codes = ("hook_fails", "hook_silent")
    return {found["code"]: found["message"] for found in place.findings() if found["code"] in codes}


@pytest.mark.parametrize(
    ("runs", "reason"),
    [
        ([FAILED] * 2, None),
        ([FAILED] * 3, "last 3 runs: the last one with exit status 1"),
        ([FAILED, {}, FAILED, FAILED], None),
        ([{}] * 20 + [FAILED] * 9, None),
        ([{}] * 20 + [FAILED] * 10, "last 10 runs: the last one with exit status 1"),
        ([FAILED] * 30 + [{}], None),
        ([FAILED] * 3 + [{"fired": True}], "last 3 runs"),
        ([FAILED] * 2 + [{"outcome": "timeout", "status": None}], "ran out of time"),
        ([FAILED] * 2 + [{**FAILED, "status": None}], "could not start"),
        ([FAILED] * 2 + [{**FAILED, "status": 0}], "is not valid"),
        ([{"outcome": "deny", "status": 2}] * 5, None),
        ([{**FAILED, "host": "qwen"}] * 3, None),
        ([{**FAILED, "id": "other/one"}] * 3, None),
    ],
)
def test_a_hook_that_fails_each_time(place: Place, runs: list[dict[str, Any]], reason: str | None) -> None:
    install(place, ("one", "Stop", ""))
    write(place, *runs)
    found = said(place)
    found.pop("hook_silent", None)
    assert list(found) == ([] if reason is None else ["hook_fails"])
    assert reason is None or reason in found["hook_fails"]


OTHER = {"id": "notes/two"}


@pytest.mark.parametrize(
    ("hooks", "runs", "is_named"),
    [
        ([("one", "Stop", "")], [OTHER] * 3, True),
        ([("one", "Stop", "")], [OTHER] * 2, False),
        ([("one", "Stop", "")], [{**OTHER, "t": 1}] * 9, False),  # before the settings file was written
        ([("one", "Stop", "")], [{**OTHER, "event": "SubagentStop"}] * 9, False),
        ([("one", "Stop", "")], [{**OTHER, "host": "qwen"}] * 9, False),
        ([("one", "Stop", "")], [*[OTHER] * 9, {"t": 1}], False),  # it ran once
        ([("one", "PreToolUse", "Bash")], [{**OTHER, "event": "PreToolUse"}] * 9, False),  # of another tool, perhaps
        ([("one", "PreToolUse", "Bash"), ("two", "PreToolUse", "Bash")], [{**OTHER, "event": "PreToolUse"}] * 3, True),
        ([("one", "PreToolUse", "Bash"), ("two", "PreToolUse", "Edit")], [{**OTHER, "event": "PreToolUse"}] * 3, False),
        ([("one", "PreToolUse", ""), ("two", "PreToolUse", "Edit")], [{**OTHER, "event": "PreToolUse"}] * 3, True),
    ],
)
def test_a_hook_that_never_ran_although_its_event_came(
    place: Place, hooks: list[tuple[str, str, str]], runs: list[dict[str, Any]], is_named: bool
) -> None:
    install(place, *hooks)
    write(place, *runs)
    assert ("hook_silent" in said(place)) == is_named
