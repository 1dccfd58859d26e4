"""Any command that is wrapped comes back as it was written."""

from __future__ import annotations

import json
import tempfile

from hypothesis import HealthCheck, example, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from hookctl.documents.jsonc import JsonDocument
from hookctl.hosts import load, shapes
from hookctl.hosts.shapes import Shape
from hookctl.packs import wrapping
from hookctl.planner.draft import Draft
from hookctl.planner.sources import Sources
from hookctl.planner.wraps import unwrap_hooks, wrap_hooks
from hookctl.settings.targets import Target
from hookctl.system import files, folders


def drafted(document: JsonDocument) -> Draft:
    """A settings file in the middle of a plan; only the text matters here."""
    target = Target(load("claude"), "user", "settings.json")
    snapshot = files.Snapshot(target.path, document.data)
    return Draft(Sources(folders.here()), target, snapshot, document, target.path, None)


@examples(deadline=None, max_examples=200, suppress_health_check=list(HealthCheck))
@given(
    command=st.text(st.characters(exclude_characters="\0"), min_size=1),
    escaped=st.booleans(),
    indent=st.sampled_from([None, 0, 3]),
    copies=st.integers(1, 2),
)
@example(command="'", escaped=True, indent=None, copies=2)
@example(command="\ud800 '\"'", escaped=True, indent=None, copies=1)
def test_any_command_comes_back_as_it_was_written(command: str, escaped: bool, indent: int | None, copies: int) -> None:
    escaped = escaped or any("\ud800" <= char <= "\udfff" for char in command)  # those have no other form
    handler = {"type": "command", "command": command, "timeout": 5}
    text = json.dumps({"hooks": {"Stop": [{"hooks": [handler]}] * copies}}, ensure_ascii=escaped, indent=indent)
    document = JsonDocument.parse(text.encode())
    request = command, "1", tempfile.gettempdir(), "/usr/bin/python3"
    if shapes.is_ours(command):
        return
    draft = drafted(document)
    wrap_hooks(draft, *request, force=False)
    handlers = [handler for _, handler, _ in shapes.handlers(Shape(), draft.document.value)]
    assert [wrapping.original_of(handler["command"]) for handler in handlers] == [command] * copies
    wrapped = draft.document
    wrap_hooks(draft, *request, force=False)
    assert draft.document is wrapped
    unwrap_hooks(draft)
    assert draft.document.data == text.encode()
