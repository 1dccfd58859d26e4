"""Branches of the ledgers that no other test takes: records of a project that are refused or taken, and merges."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookctl.engine import leaf_after_install
from hookctl.errors import HookctlError
from hookctl.ledger import committed, store
from hookctl.model import Claim, Current, Entry, Hooks, PackRecord, Record, Wanted
from hookctl.system import files, folders
from tests.conftest import Hookctl, put

pytestmark = pytest.mark.usefixtures("fixed_python")
SETTINGS = ".claude/settings.json"


@pytest.fixture
def project(isolated: Path) -> Path:
    folder = isolated / "work"
    (folder / ".git").mkdir()
    return folder


@pytest.fixture
def ledger(project: Path, hookctl: Hookctl) -> dict[str, Any]:
    """What an install at project scope leaves."""
    assert hookctl("install", "--host", "claude", "--scope", "project").code == 0
    return json.loads((project / ".hookctl" / "ledger.json").read_bytes())


def loaded(project: Path, ledger: dict[str, Any]) -> dict[str, Record]:
    return committed.load(folders.here(), str(project), json.dumps(ledger).encode(), {})


def test_a_gap_stands_where_a_pack_has_a_hook(project: Path, ledger: dict[str, Any]) -> None:
    ledger["files"][SETTINGS]["gaps"] = [["hooks", "Stop"]]
    (record,) = loaded(project, ledger).values()
    assert record.gaps == (("hooks", "Stop"),)


def gap(ledger: dict[str, Any]) -> None:
    ledger["files"][SETTINGS]["gaps"] = [["permissions", "allow"]]


def text_in_a_container(ledger: dict[str, Any]) -> None:
    entries = ledger["files"][SETTINGS]["entries"]
    (container,) = [entry for entry in entries if entry != "end" and entry["path"] == ["hooks"]]
    container["before"] = '{"Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}]}'


def more_keys(ledger: dict[str, Any]) -> None:
    ledger["more"] = 1


SPOILT = [
    (gap, "a gap is not where"),
    (text_in_a_container, "a container has a text to put back"),
    (more_keys, "unexpected keys"),
]


@pytest.mark.parametrize(("spoil", "said"), SPOILT, ids=[row[1] for row in SPOILT])
def test_a_projects_ledger_is_refused(
    spoil: Callable[[dict[str, Any]], None], said: str, project: Path, ledger: dict[str, Any]
) -> None:
    loaded(project, ledger)
    spoil(ledger)
    with pytest.raises(HookctlError) as caught:
        loaded(project, ledger)
    assert (caught.value.code, said in caught.value.message) == ("ledger_unreadable", True), caught.value.message


def test_settings_that_a_link_makes_those_of_another_scope_are_refused(
    project: Path, ledger: dict[str, Any], isolated: Path
) -> None:
    local = project / ".claude" / "settings.local.json"
    (project / SETTINGS).rename(local)
    (project / SETTINGS).symlink_to(local)
    with pytest.raises(HookctlError, match="local settings"):
        loaded(project, ledger)


def of_toml(ledger: dict[str, Any], before: str) -> dict[str, Any]:
    """The same record as Codex would have it in TOML, with a text to put back."""
    record = ledger["files"].pop(SETTINGS)
    element = next(entry for entry in record["entries"] if entry != "end" and entry["kind"] == "element")
    record |= {"format": "toml", "created_dirs": [], "entries": [{**element, "before": before}, "end"]}
    ledger["files"][".codex/config.toml"] = record
    return ledger


@pytest.mark.parametrize("before", ["1\ny = 2", " 1", "1 "])
def test_a_text_of_toml_to_put_back_is_one_value(before: str, project: Path, ledger: dict[str, Any]) -> None:
    put(project / ".codex" / "config.toml", "[hooks]\n")
    (record,) = loaded(project, of_toml(json.loads(json.dumps(ledger)), "[1, 2]")).values()
    assert record.format == "toml"
    with pytest.raises(HookctlError, match="not just a value"):
        loaded(project, of_toml(ledger, before))


def test_no_project_among_the_projects_is_left_out(ledger: dict[str, Any], project: Path) -> None:
    assert store.read(folders.here(), ["", str(project)]).keys() == {str(project / SETTINGS)}


def record(version: str) -> Record:
    return Record("claude", "project", "json", packs={"pk": PackRecord(version, {})})


def test_a_stub_without_its_project_names_none(isolated: Path) -> None:
    here = folders.here()
    put(Path(here.ledger), store.dump({str(isolated / "x.json"): record("1")}))
    assert store.read_known(here) == ({}, [])


def test_a_leaf_that_no_pack_wants_has_the_value_of_the_file() -> None:
    old, other = ("env", "OLD"), ("env", "OTHER")
    entries = [Entry(old, "leaf", before='"theirs"', written="1", owners={"pk": Claim("1", "1")})]
    current = Current({old: "1", other: "2"}, {old: '"1"', other: '"2"'}, Hooks())
    assert leaf_after_install(entries, current, "pk", [Wanted(("env", "NEW"), "leaf", "3")], other) == "2"
    assert leaf_after_install(entries, current, "pk", [], other) == "2"


def test_what_cannot_be_read_is_no_evidence(isolated: Path) -> None:
    (isolated / "folder").mkdir()
    assert files.read_or_none(str(isolated / "folder")) is None


def test_a_loop_of_links_has_its_own_path(isolated: Path) -> None:
    loop = isolated / "loop"
    loop.symlink_to(loop.name)
    assert store.real_path(str(loop)) == str(loop)


def test_a_record_is_found_by_the_hosts_path_once_its_file_is_gone(isolated: Path) -> None:
    settings = put(isolated / "home" / "settings.json", "{}")
    known = record("1")._replace(known_as=str(settings))
    assert store.find_record({"/gone/settings.json": known}, str(settings)) == ("/gone/settings.json", known)
