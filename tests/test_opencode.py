"""OpenCode, which has no settings for hooks: a plugin file of ours stands in for them, from install to uninstall."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from hookctl.documents import plugin
from hookctl.documents.plugin import PluginDocument
from tests.conftest import Hookctl, put
from tests.trees import tree

HOST = ("--host", "opencode")
OWN = {"command": "notify-send done", "timeout": 5}


@pytest.fixture
def file(isolated: Path) -> Path:
    return isolated / "home" / ".config" / "opencode" / "plugin" / "hookctl.js"


def hooks(file: Path) -> dict[str, Any]:
    return PluginDocument.parse(file.read_bytes()).get(("hooks",))


FOREIGN = {
    "another program's": lambda ours: b"export const Mine = async () => ({})\n",
    "edited code": lambda ours: ours.replace(b"1 << 24", b"1 << 25"),
    "torn": lambda ours: ours[:200],
    "bare JavaScript": lambda ours: ours.replace(b'"timeout": 10', b"timeout: 10"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_that_is_not_as_we_write_it_is_refused_and_nothing_is_written(
    hookctl: Hookctl, file: Path, isolated: Path, name: str
) -> None:
    hookctl("install", *HOST)
    ours = file.read_bytes()
    hookctl("uninstall")
    put(file, FOREIGN[name](ours))
    before = tree(isolated)
    for verb in ("install", "plan", "uninstall"):
        outcome = hookctl(verb, *HOST)
        assert outcome.code == 4 and f"{file}:" in outcome.err, outcome
        assert "Traceback" not in outcome.err
    assert tree(isolated) == before
    assert "foreign_file" in hookctl("doctor", *HOST).out or name == "bare JavaScript"


def test_an_install_brings_an_earlier_versions_code_up_to_date(
    hookctl: Hookctl, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hookctl("install", *HOST)
    now = file.read_bytes()
    earlier = now.replace(b"hookctl plugin 3", b"hookctl plugin 0").replace(b"1 << 24", b"1 << 25")
    file.write_bytes(earlier)
    before, _, rest = earlier.partition(b"const settings =\n")
    code = before + b"const settings =\n" + rest[rest.index(b"// From here on") :]
    monkeypatch.setattr(plugin, "_EARLIER", (hashlib.sha256(code).hexdigest(),))
    assert f"--- {file}\n+++ {file}\nwould" in hookctl("plan", *HOST).out
    assert "an earlier version's" in hookctl("install", *HOST).out
    assert file.read_bytes() == now
    assert hookctl("install", *HOST).out == "nothing to do\n"
    file.write_bytes(earlier)
    hookctl("uninstall")
    assert not file.exists()
