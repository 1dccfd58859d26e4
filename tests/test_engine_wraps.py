"""The engine and hooks of others that we are around: of those only the command is ours, and they come and go."""

from __future__ import annotations

from typing import Any

import pytest

from hookctl.model import WRAP, Claim, Entry
from hookctl.ownership import engine
from tests import plain

ID = f"{WRAP}0123abcd"
COMMAND = f": hookctl={ID}; set -- say; it"
EDITED = f": hookctl={ID}; my own"
OWN = ": hookctl=guard/stop; run"


def handler(command: str = COMMAND, **fields: Any) -> dict[str, Any]:
    return {"type": "command", "command": command, **fields}


def settings(*handlers: dict[str, Any]) -> dict[str, Any]:
    return {"hooks": {"Stop": [{"hooks": [one]} for one in handlers]}}


def entry(id: str = ID, command: str = COMMAND) -> Entry:
    written = handler(command)
    return Entry(("hooks", "Stop"), "element", "owned", '"say"', written, {"guard": Claim(written, "1")}, id)


@pytest.fixture(autouse=True)
def isolated() -> None:
    """The engine is pure: no test here needs a home of its own."""


@pytest.mark.parametrize(
    ("there", "state"),
    [
        (settings(handler()), "owned"),
        (settings(handler(timeout=20)), "owned"),
        (settings(handler(EDITED)), "overridden"),
        (settings(handler("say")), "missing"),
        (settings(handler(EDITED), handler(timeout=5)), "owned"),
    ],
    ids=["as written", "another timeout", "an edited command", "gone", "an edited copy and ours"],
)
def test_the_command_alone_says_whose_it_is(there: dict[str, Any], state: str) -> None:
    assert engine.state(entry(), plain.live(there), ("hooks", "Stop"), ID) == state


def test_after_a_wipe_nobody_elses_hook_is_written() -> None:
    entries = [entry(), entry("guard/stop", OWN)]
    decision = engine.install(entries, plain.live(settings()), "other", "1", [])
    assert [edit.fields["command"] for edit in decision.edits if hasattr(edit, "fields")] == [OWN]
