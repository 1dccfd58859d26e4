"""The guard on a host where no hook keeps the agent working: install and status say that it only watches."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookctl import hosts
from tests.conftest import Hookctl

pytestmark = pytest.mark.usefixtures("fixed_python")


@pytest.mark.parametrize("mode", ["breaker", "keepalive"])
def test_a_guard_that_cannot_block_says_so(isolated: Path, hookctl: Hookctl, mode: str) -> None:
    assert not hosts.load("windsurf").dialect.block
    done = hookctl("install", "--host", "windsurf", "--mode", mode)
    assert done.code == 0 and "Windsurf: a hook cannot keep it working at a stop" in done.err
    assert "The guard only watches there: see the message." in done.out and "keeps an agent" not in done.out
    assert f"({mode}, only watches)" in hookctl("status").out


def test_beside_a_host_where_it_blocks_the_message_alone_says_so(isolated: Path, hookctl: Hookctl) -> None:
    done = hookctl("install", "--host", "windsurf", "--host", "droid")
    assert "The guard keeps an agent working" in done.out
    assert "Windsurf: a hook cannot keep it working at a stop" in done.err
    status = hookctl("status").out
    assert "only watches" in status and "blocks at most 5" in status
