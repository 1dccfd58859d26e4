"""What a killed run left is carried to its end before a command looks at anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookctl.system import folders
from tests.conftest import Hookctl, put
from tests.manifest import hook as pack_hook
from tests.manifest import manifest
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


def test_uninstall_takes_out_a_pack_whose_first_install_was_killed(isolated: Path, hookctl: Hookctl) -> None:
    pack = put(isolated / "own" / "pack.toml", manifest("own", pack_hook("Stop", "true")))
    at, pending = 20, 0
    while killed(("install", str(pack), "--host", "claude", "--yes"), at):
        is_pending = Path(folders.here().journal).exists()
        done = hookctl("uninstall", "own")
        assert done.code == 0 or not is_pending, (at, done)
        left = [path for path in (isolated / "home").rglob("*") if path.is_file()]
        assert (at, left) == (at, [])
        pending += is_pending
        at += 23
    assert pending > 2
