"""A pack protects a file: what a real client does with a call that changes two files, of which that is the second."""

import json
from typing import Any

import pytest

from tests.manifest import hook, manifest

from .agent import Place
from .calls import FILES, read
from .clients import Client
from .dialects import Call
from .everywhere import EVERY, Case, receipts, told
from .model_server import Script
from .product import hookctl
from .setups import SETUPS

pytestmark = pytest.mark.e2e

MANIFEST = manifest("keep", hook("PreToolUse", "python3 {files}/keep.py", matcher="Write|Edit"), files=["keep.py"])
KEEPS = """\
import json, sys

asked = json.load(sys.stdin)
path = asked["tool_input"].get("file_path") or ""
if path.endswith("deep.txt"):
    print("deep.txt is kept as it is", file=sys.stderr)
    sys.exit(2)
"""
PATCHES = [case for case in EVERY if case.id in ("codex", "opencode", "droid", "hermes", "copilot")]


def two_files(host: str) -> dict[str, Any]:
    """The recorded call that changes notes.txt, then sub/deep.txt."""
    calls = [call for call in read(host)["calls"] if call["name"].endswith("two-files")]
    return next(call for call in calls if "call" in call)  # others are of former versions


def made_of(call: dict[str, Any], place: Place) -> Call:
    return Call(call["tool"], json.loads(json.dumps(call["input"]).replace("/home/u/project", str(place.project))))


@pytest.mark.parametrize("case", PATCHES)
def test_one_kept_file_refuses_a_patch_of_two(case: Case, stage: tuple[Client, Place]) -> None:
    """Without the pack both files change, as test_calls.py has it."""
    client, place = stage
    call = two_files(case.host)
    setup = SETUPS[case.host][call.get("setup", "")]
    setup.prepare(place)
    folder = place.root / "keep"
    folder.mkdir()
    (folder / "keep.py").write_text(KEEPS)
    (folder / "pack.toml").write_text(MANIFEST)
    hookctl(place, "install", str(folder), "--host", case.host)
    for name, text in FILES.items():
        (place.project / name).parent.mkdir(exist_ok=True)
        (place.project / name).write_text(text)
    reads = [tuple(made_of(each, place) for each in setup.reads)] if setup.reads else []
    run = setup.play(case, client, place, Script([*reads, made_of(call["call"], place), "done"], limit=9))
    assert [name for name in FILES if (place.project / name).read_text() != FILES[name]] == []
    assert "deep.txt is kept as it is" in told(run)
    assert receipts(place).count(("PreToolUse", "deny")) == 1
