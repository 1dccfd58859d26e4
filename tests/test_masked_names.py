"""No pack's name, and no hook's, makes its own command look like a secret, on any host, in any output."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookctl import hosts
from hookctl.masking import MASK
from tests.conftest import Hookctl, put

PACK = """[pack]
name = "token-counter"
version = "1"
[[hooks]]
event = "stop"
id = "api-key"
command = "count --token abcdef"
timeout = 5
"""


@pytest.mark.parametrize("host", hosts.names())
def test_our_own_hooks_are_never_masked(isolated: Path, hookctl: Hookctl, host: str) -> None:
    pack = str(put(isolated / "work" / "pack.toml", PACK))
    for command in (
        ["plan", pack, "--host", host],
        ["plan", pack, "--host", host, "--json"],
        ["install", pack, "--host", host],
        ["status", "--verbose"],
        ["status", "--json"],
        ["uninstall", "token-counter", "--dry-run"],
    ):
        outcome = hookctl(*command)
        assert outcome.code == 0
        assert MASK not in outcome.out + outcome.err, command
