"""What a killed run left is carried to its end before a command looks at anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookctl.system import folders
from tests.conftest import Hookctl
from tests.test_crash import killed

pytestmark = pytest.mark.usefixtures("fixed_python")


@pytest.mark.parametrize("host", ["codex", "claude", "opencode"])
def test_uninstall_takes_out_what_a_killed_first_install_was_about_to_make(
    host: str, isolated: Path, hookctl: Hookctl
) -> None:
    at, pending = 20, 0
    while killed(("install", "--host", host), at):
        pending += Path(folders.here().journal).exists()
        assert hookctl("uninstall").code == 0
        left = [path for path in (isolated / "home").rglob("*") if path.is_file()]
        assert (at, left) == (at, [])
        at += 23
    assert pending > 2
