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


@pytest.mark.parametrize(
    ("runs", "count"),
    [
        ([FAILED] * 2, 0),
        ([FAILED] * 3, 3),
        ([FAILED, {}, FAILED, FAILED], 0),
        ([{}] * 20 + [FAILED] * 9, 0),
        ([{}] * 20 + [FAILED] * 10, 10),
        ([FAILED] * 30 + [{}], 0),
        ([FAILED] * 3 + [{"fired": True}], 3),
        ([FAILED] * 2 + [{"outcome": "timeout", "status": None}], 3),
        ([{"outcome": "deny", "status": 2}] * 5, 0),
        ([{**FAILED, "host": "qwen"}] * 3, 0),
        ([{**FAILED, "id": "other/one"}] * 3, 0),
    ],
)
def test_a_hook_that_fails_each_time(place: Place, runs: list[dict[str, Any]], count: int) -> None:
    install(place, ("one", "Stop", ""))
    write(place, *runs)
    found = [found["message"] for found in place.findings() if found["code"] == "hook_fails"]
    assert found == ([f"notes/one (Stop) failed in each of its last {count} runs"] if count else [])
