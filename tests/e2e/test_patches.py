"""The pack protect: what a real client does with a call that changes two files, of which it keeps the second."""

import json
import re
from typing import Any

import pytest

from .agent import Place
from .calls import FILES, read
from .clients import Client
from .dialects import Call
from .everywhere import EVERY, Case, receipts, told
from .model_server import Script
from .product import hookctl
from .setups import SETUPS

pytestmark = pytest.mark.e2e

PATCHES = [case for case in EVERY if case.id in ("codex", "opencode", "droid", "hermes", "copilot")]


def two_files(host: str) -> dict[str, Any]:
    """The recorded call that changes notes.txt, then sub/deep.txt."""
    calls = [call for call in read(host)["calls"] if call["name"].endswith("two-files")]
    return next(call for call in calls if "call" in call)  # others are of former versions


def about(call: dict[str, Any], names: str, name: str) -> dict[str, Any]:
    """The same call about another file."""
    return json.loads(re.sub(names, name, json.dumps(call)))


def made_of(call: dict[str, Any], place: Place) -> Call:
    return Call(call["tool"], json.loads(json.dumps(call["input"]).replace("/home/u/project", str(place.project))))


@pytest.mark.parametrize("case", PATCHES)
def test_one_kept_file_refuses_a_patch_of_two(case: Case, stage: tuple[Client, Place]) -> None:
    """Without the pack both files change, as test_calls.py has it."""
    client, place = stage
    call = two_files(case.host)
    setup = SETUPS[case.host][call.get("setup", "")]
    setup.prepare(place)
    hookctl(place, "install", "protect", "--host", case.host)
    files = {name.replace("deep.txt", ".env"): text for name, text in FILES.items()}
    for name, text in files.items():
        (place.project / name).parent.mkdir(exist_ok=True)
        (place.project / name).write_text(text)
    patch = made_of(about(call["call"], "deep.txt", ".env"), place)
    reads = [tuple(made_of(each, place) for each in setup.reads)] if setup.reads else []
    run = setup.play(case, client, place, Script([*reads, patch, "done"], limit=9))
    assert [name for name in files if (place.project / name).read_text() != files[name]] == []
    assert "is protected (.env)" in told(run)
    assert receipts(place).count(("PreToolUse", "deny")) == 1
