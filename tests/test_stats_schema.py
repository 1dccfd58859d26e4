"""What `hookctl stats --json` prints is what its schema says, and the schema takes nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hookctl import events
from hookctl.system.package_data import asset

from .conftest import Hookctl, put

SCHEMA = jsonschema.Draft202012Validator(json.loads(Path(asset("schemas", "result.schema.json")).read_text()))


def envelope(hookctl: Hookctl) -> Any:
    return json.loads(hookctl("stats", "--json").out)


@pytest.fixture
def everything(isolated: Path) -> Path:
    """A log with every reason in every decision, and refusals."""
    lines = []
    for code in events.CODES:
        for decision in events.DONE:
            kind = {"host": "claude", "event": "stop", "decision": decision, "code": code}
            lines.append({"t": 1, **kind, "ignored": True})
    lines.append({"t": 1, "host": "codex", "event": "pre-tool", "decision": "refuse", "code": "dispatch_refused"})
    folder = isolated / "state" / "guard" / ("a" * 16)
    run = {
        "bytes": 0,
        "event": "Stop",
        "host": "claude",
        "id": "p/x",
        "kind": "run",
        "ms": 3,
        "outcome": "none",
        "t": 1,
    }
    put(folder / "runs.jsonl", json.dumps(run) + "\n")
    return put(folder / "events.jsonl", "".join(json.dumps(x) + "\n" for x in lines))


def test_the_envelope_of_every_reason_and_that_of_none(everything: Path, hookctl: Hookctl) -> None:
    printed = envelope(hookctl)
    assert printed["data"]["stops"] > len(events.CODES)
    SCHEMA.validate(printed)
    assert printed["data"]["hooks"][0]["runs"] == 1
    everything.unlink()
    everything.with_name("runs.jsonl").unlink()
    SCHEMA.validate(envelope(hookctl))
