"""The real clients tell hooks of tool calls what tests/templates/calls has; HOOKCTL_TEST_CALLS=write keeps it anew."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from . import calls
from .agent import Place
from .clients import Client
from .everywhere import EVERY, Case

pytestmark = [pytest.mark.e2e, pytest.mark.full]


def shape(value: Any) -> Any:
    """The keys of a payload, with the tool that it names."""
    if not isinstance(value, dict):
        return None
    names = {key: value.get(key) for key in ("tool_name", "toolName") if key in value}
    return {key: shape(item) for key, item in value.items()} | names


def unasked(call: dict[str, Any]) -> set[str]:
    """The files that a call changes, and of which no hook is to be asked; of a shell command nobody knows them."""
    if any(asked["tool_name"] in ("Bash", "Monitor") for asked in call["asks"] if "tool_name" in asked):
        return set()
    named = {asked.get("file_path") or asked.get("notebook_path") for asked in call["asks"]}
    return {str(Path(calls.PROJECT, name)) for name in call.get("changes", [])} - named


@pytest.mark.parametrize("case", EVERY)
def test_the_client_tells_hooks_what_is_kept_and_offers_no_other_tool(
    case: Case, stage: tuple[Client, Place], tmp_path: Path
) -> None:
    client, _ = stage
    kept = calls.read(case.host)
    recording = calls.record(case, client, tmp_path, kept["calls"])
    renewed = calls.renew(kept, recording, client.version)
    if os.environ.get("HOOKCTL_TEST_CALLS") == "write":
        (calls.FOLDER / f"{case.host}.json").write_text(json.dumps(renewed, indent=1, ensure_ascii=False) + "\n")
    new = renewed["calls"]
    assert [(call["name"], shape(call["payload"]), call.get("changes")) for call in new] == [
        (call["name"], shape(call["payload"]), call.get("changes")) for call in kept["calls"]
    ]
    assert {call["name"]: unasked(call) for call in new if unasked(call)} == {}
    known = {*kept["tools"], *kept.get("model_names", {}).values()}
    assert set().union(*recording.offered.values()) - known == set(), "these are in no class yet"
