"""How a hook element stands in a settings file."""

from __future__ import annotations

import json

from hookctl.documents.jsonc import JsonDocument
from hookctl.hosts import shapes
from hookctl.hosts.shapes import Shape
from hookctl.model import DropHook, EditHook

OURS = {"type": "command", "command": ": hookctl=notify/done; notify", "timeout": 10}
THEIRS = {"type": "command", "command": "bell"}

NESTED = Shape()


def document(*groups: object) -> JsonDocument:
    return JsonDocument.parse(json.dumps({"hooks": {"PostToolUse": list(groups)}}, indent=2).encode())


def test_a_matcher_belongs_to_a_hook_that_is_alone_in_its_group() -> None:
    (alone,) = shapes.elements(NESTED, document({"matcher": "Bash", "hooks": [OURS]}).value)
    (shared,) = shapes.elements(NESTED, document({"matcher": "Bash", "hooks": [OURS, THEIRS]}).value)
    assert alone.fields == {**OURS, "matcher": "Bash"} and shared.fields == OURS


def test_a_matcher_is_edited_only_where_it_is_ours() -> None:
    for handlers, matcher in (([OURS], "Edit"), ([THEIRS, OURS], "Bash")):
        before = document({"matcher": "Bash", "hooks": handlers})
        (element,) = shapes.elements(NESTED, before.value)
        after = shapes.apply(NESTED, before, (EditHook(element, {"matcher": "Edit", "timeout": 20}),))
        (group,) = after.value["hooks"]["PostToolUse"]
        assert group["matcher"] == matcher
        assert group["hooks"] == [{**OURS, "timeout": 20} if handler is OURS else handler for handler in handlers]


def test_several_hooks_go_from_the_last_to_the_first() -> None:
    other = {**OURS, "command": ": hookctl=notify/other; x"}
    before = document({"hooks": [OURS]}, {"hooks": [THEIRS, OURS, other]}, {"hooks": [other]})
    edits = tuple(DropHook(element) for element in shapes.elements(NESTED, before.value))
    assert shapes.apply(NESTED, before, edits).value == {"hooks": {"PostToolUse": [{"hooks": [THEIRS]}]}}
