"""Approvals that a host asks for: the person's own, only read, and what hookctl says while one is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hookctl.documents.yaml import YamlDocument
from hookctl.ownership import execute
from hookctl.ownership.execute import Journal, Step, write_journal
from hookctl.system import files, folders
from tests.approving import approve
from tests.conftest import Hookctl, put
from tests.disk import quiet

pytestmark = pytest.mark.usefixtures("fixed_python")

CONFIG = '# mine\nmodel = "m"\n\n[projects."/a"]\ntrust_level = "trusted"\n'
INSTALL, UNINSTALL = ("install", "--host", "codex"), ("uninstall", "--host", "codex")
WAITS = "approve it under /hooks"


@pytest.fixture
def config(isolated: Path) -> Path:
    return put(isolated / "home" / ".codex" / "config.toml", CONFIG).absolute()


def test_an_approval_stays_a_person_s_own_whatever_hookctl_does(config: Path, hookctl: Hookctl) -> None:
    hooks = config.with_name("hooks.json")
    assert WAITS in hookctl(*INSTALL).err and config.read_text() == CONFIG
    approve(hooks)
    given = config.read_bytes()
    assert WAITS not in hookctl(*INSTALL).err
    assert WAITS in hookctl(*INSTALL, "--dispatch", "Bash").err, "the new hook has none"
    approve(hooks)
    both = config.read_bytes()
    assert both != given and WAITS not in hookctl(*INSTALL, "--force").err
    assert hookctl("doctor", "--fix").code == 0
    assert hookctl(*UNINSTALL).code == 0
    assert config.read_bytes() == both and not hooks.exists()


def test_a_hook_that_changed_since_its_approval_waits_again(config: Path, hookctl: Hookctl) -> None:
    hookctl(*INSTALL)
    hooks = config.with_name("hooks.json")
    approve(hooks)
    hooks.write_text(hooks.read_text().replace('"timeout": 10', '"timeout": 20'))
    assert WAITS in hookctl(*INSTALL).err
    found = hookctl("doctor", "--host", "codex").out
    assert "it was changed since it was approved" in found


AGREED = "shell-hooks-allowlist.json"


def test_a_gate_is_told_as_long_as_it_is_shut(isolated: Path, hookctl: Hookctl) -> None:
    hermes, words = ("install", "--host", "hermes"), "start `hermes` and agree"
    assert [words in hookctl(*hermes).err for _ in range(2)] == [True, True]
    path = isolated / "home" / ".hermes" / "config.yaml"
    hooks = YamlDocument.parse(path.read_bytes()).value["hooks"]
    agreed = [{"event": event, "command": one["command"]} for event in hooks for one in hooks[event]]
    put(path.with_name(AGREED), json.dumps({"approvals": agreed}))
    assert words not in hookctl(*hermes, "--set", "latch=no").err


def test_a_write_after_a_kill_keeps_the_page_of_a_file_that_only_got_an_approval(config: Path) -> None:
    text = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "say"\n'
    config.write_text(text)
    assert quiet(*INSTALL) == 0
    before = (folders.here(), config.read_bytes())
    theirs = b"x = 1\n"
    step = Step(str(config), files.digest(before[1]), files.digest(b"y = 1\n"), 0o600, True)
    write_journal(before[0], Journal((step,), {}, (), ()))
    config.write_bytes(theirs)
    execute.recover(before[0])
    assert config.read_bytes() == theirs
    assert str(config) in json.loads(Path(before[0].ledger).read_text())["files"]
