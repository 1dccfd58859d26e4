"""The hook runs on every Python that it promises, tried with those that are on this machine."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from .hosts import NAMES, Session
from .lab import Lab
from .play import Row, play, rows

_PATH = os.environ["PATH"]  # as it was before the tests
VERSIONS = [f"3.{minor}" for minor in range(8, 16)]


@cache
def find(version: str) -> str:
    """A Python of this version that runs: on the path, or beside a version manager's shims; empty if there is none."""
    name = f"python{version}"
    found = [path for path in [shutil.which(name, path=_PATH)] if path]
    shim = Path(shutil.which("python3", path=_PATH) or "/").parent
    found += map(str, sorted((shim.parent / "versions").glob(f"{version}.*/bin/{name}")))
    return next((path for path in found if runs(path, version)), "")


def runs(path: str, version: str) -> bool:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([path, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() == version


@pytest.fixture(params=VERSIONS)
def older_or_newer(request: pytest.FixtureRequest, lab: Lab) -> Lab:
    lab.python, lab.is_served = find(request.param), False
    if not lab.python:
        pytest.skip(f"there is no Python {request.param} on the path")
    return lab


SCRIPTS: list[Row] = [
    ("breaker", {}, 'text {"remaining": 2, "heartbeat": {"step": 1}}; asks begin; turn p; 0111=BBBB; calls make; '
                    "1111111=BBBBBRA[open]; turn q; 0=B[blocked]"),
    ("keepalive", {"mode": "keepalive", "keepalive_cap": 2}, "armed; 011=BBR; mark CONCLUDE; 1=A"),
]  # fmt: skip


@rows(SCRIPTS)
def test_it_decides_as_ever(older_or_newer: Lab, config: dict[str, Any], script: str) -> None:
    play(older_or_newer, config, script)


def test_it_refuses_and_reminds(older_or_newer: Lab) -> None:
    lab = older_or_newer
    lab.config(dispatch_tools=["*"], dispatch_max=2, required_tools=["finish"])
    assert lab.attempts({"a": [1, 2.5, None, "\ud800"]}, 4) == "AADD"
    assert lab.call("post-tool", tool_name="Bash", tool_input={"command": "ls"}) == ""
    assert lab.stops("01") == "BA"


def test_every_host_is_spoken_to(older_or_newer: Lab) -> None:
    lab = older_or_newer
    lab.config(claim=False).task(remaining=2)
    for name in NAMES:
        session = Session(lab, name, ("prompt",))
        session.prompt()
        assert session.stop(session_id=name, sessionId=name, conversation_id=name if name == "cursor" else "") == "B"
    assert lab.codes() == ["blocked"] * len(NAMES)
