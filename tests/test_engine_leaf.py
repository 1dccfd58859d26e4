"""What the engine says a leaf will be is what its own install makes of it, whatever the state."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from hookctl import engine
from hookctl.model import Claim, Current, DropValue, Entry, Hooks, Put, Wanted

PATH = ("env", "MAX_STOP_BLOCKS")
OTHER = ("env", "OTHER")
VALUES = [None, "5", "8"]
ENTRIES = [
    None,
    *(
        Entry(PATH, "leaf", mode, None, written, {owner: Claim(wish, "1", merge)})
        for mode, written, owner, wish, merge in itertools.product(
            ("owned", "adopted"), ("5", "8"), ("guard", "pack"), ("5", "8"), ("", "max")
        )
    ),
]


def value_after(decision: Any, current: str | None) -> str | None:
    """The leaf when the edits of a decision are made."""
    for edit in decision.edits:
        if edit.path == PATH:
            assert isinstance(edit, Put | DropValue)
            current = edit.value if isinstance(edit, Put) else None
    return current


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("merge", ["", "max"])
@pytest.mark.parametrize("other", [None, "kept", "gone"], ids=["alone", "beside another", "another is gone"])
@pytest.mark.parametrize("current", VALUES)
def test_the_answer_is_what_an_install_does(current: str | None, other: str | None, merge: str, force: bool) -> None:
    asked = 0
    for entry in ENTRIES:
        entries = [entry] if entry else []
        values: dict[Any, Any] = {PATH: current} if current else {}
        if other:
            entries.append(Entry(OTHER, "leaf", "owned", None, "1", {"guard": Claim("1", "1")}))
        if other == "kept":
            values[OTHER] = "1"
        live = Current(values, {path: f'"{value}"' for path, value in values.items()}, Hooks())
        wants = [Wanted(PATH, "leaf", "6", merge=merge), Wanted(OTHER, "leaf", "1")]
        decision = engine.install(entries, live, "guard", "1", wants, force=force)
        if decision.conflicts:
            continue
        asked += 1
        answer = engine.leaf_after_install(entries, live, "guard", wants, PATH, force=force)
        assert answer == value_after(decision, current), entry
    assert asked > 10


def test_a_leaf_that_no_pack_wants_has_the_value_of_the_file() -> None:
    old, other = ("env", "OLD"), ("env", "OTHER")
    entries = [Entry(old, "leaf", before='"theirs"', written="1", owners={"pk": Claim("1", "1")})]
    current = Current({old: "1", other: "2"}, {old: '"1"', other: '"2"'}, Hooks())
    assert engine.leaf_after_install(entries, current, "pk", [Wanted(("env", "NEW"), "leaf", "3")], other) == "2"
    assert engine.leaf_after_install(entries, current, "pk", [], other) == "2"
