"""A project of OpenHands whose hook a 0.1.0 wrapped that was let: its record is read, renewed and undone."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.conftest import Hookctl
from tests.of_0_1_0 import FIXTURES, Fixture

FOLDER = '"$OPENHANDS_PROJECT_DIR"/.hookctl/guard/openhands'
COMMAND = (
    f": hookctl=guard/wrap-f683740c; set -- bell; if [ -f {FOLDER}/wrap.py ] && [ -r {FOLDER}/wrap.py ] "
    f"&& command -v python3 >/dev/null 2>&1; then exec python3 -I -S {FOLDER}/wrap.py stop --host openhands "
    '"$1"; else eval "set --; $1"; fi'
)
ENTRY = {
    "path": ["stop"],
    "kind": "element",
    "mode": "owned",
    "before": {"raw": '"bell"'},
    "written": {"command": COMMAND},
    "owners": {"guard": {"value": {"command": COMMAND}, "version": "0.1.0"}},
    "id": "guard/wrap-f683740c",
}


@pytest.fixture
def project(isolated: Path) -> Path:
    """A clone of the project; its hook before is "bell"."""
    Fixture("openhands-project", isolated).lay_out()
    shutil.rmtree(isolated / "state")
    work = isolated / "work"
    settings = work / ".openhands" / "hooks.json"
    settings.write_text(settings.read_text().replace('"bell"', json.dumps(COMMAND)))
    shutil.copy(FIXTURES / "wrap.py", work / ".hookctl" / "guard" / "openhands" / "wrap.py")
    ledger = work / ".hookctl" / "ledger.json"
    records = json.loads(ledger.read_text())
    record = records["files"][".openhands/hooks.json"]
    record["entries"].insert(0, ENTRY)
    record["packs"]["guard"]["files"]["wrap.py"] = "af31d26c5518069e"
    ledger.write_text(json.dumps(records, indent=1))
    os.chdir(work)
    return work


def test_its_record_is_read_and_its_hook_limited(project: Path, hookctl: Hookctl) -> None:
    said = hookctl("status")
    assert (said.code, said.err) == (0, "")
    assert "wraps bell" in said.out
    assert hookctl("install", "--host", "openhands", "--scope", "project").code == 0
    assert "exec python3 -I -S " in (project / ".openhands" / "hooks.json").read_text()
    assert hookctl("check", "--json").data["findings"] == []


@pytest.mark.parametrize("first", ["install", "uninstall"])
def test_its_hook_gets_its_bytes_back(first: str, project: Path, hookctl: Hookctl) -> None:
    if first == "install":
        assert hookctl("install", "--host", "openhands", "--scope", "project").code == 0
    assert hookctl("uninstall", "--host", "openhands", "--scope", "project").code == 0
    before = Fixture("openhands-project", project.parent).before()["work/.openhands/hooks.json"][1]
    assert (project / ".openhands" / "hooks.json").read_bytes() == before
    assert not (project / ".hookctl").exists()
