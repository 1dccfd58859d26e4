"""Work that waits while STOP or CONCLUDE lets every agent stop: status and doctor say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Hookctl


@pytest.mark.parametrize("mark", ["STOP", "CONCLUDE"])
def test_status_and_doctor_do_not_promise_what_is_stopped(
    hookctl: Hookctl, isolated: Path, fixed_python: None, mark: str
) -> None:
    hookctl("install", "--host", "claude")
    hookctl("run", "remaining", "3")
    assert "3 remaining, touched" in hookctl("status").out
    assert "work waits (3)" in hookctl("doctor").out
    hookctl("run", "stop" if mark == "STOP" else "conclude")
    status, doctor = hookctl("status").out, hookctl("doctor").out
    assert f"but {mark} is set: agents may stop" in status
    assert "for the first session" not in status
    assert f"; {mark} lets the agent stop" in doctor
    hookctl("run", "start")
    assert "for the first session" in hookctl("status").out
