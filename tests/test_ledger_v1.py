"""What hookctl 0.1.0 wrote of its records: read as it is, and written in today's form with the next write."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from hookctl import transaction
from hookctl.ledger import committed, store, version1
from hookctl.ledger.digests import content_digest
from hookctl.model import Claim, Entry, PackRecord, Record
from hookctl.system import folders
from tests.conftest import Hookctl, put
from tests.trees import tree

pytestmark = pytest.mark.usefixtures("fixed_python")

FIXTURES = Path(__file__).parent / "fixtures"  # these files are never changed: the first release wrote them
LEDGER = FIXTURES / "ledger-v1.json"
JOURNAL = FIXTURES / "journal-v1.json"
COMMITTED = FIXTURES / "committed-ledger-v1.json"
APPROVALS = FIXTURES / "approvals-v1.json"
CONFIG, HOOKS = "/home/u/.codex/config.toml", "/home/u/.codex/hooks.json"
KEY = f"{HOOKS}:stop:0:0"
HASH = "sha256:95b19590dcc5deb16d8bd46cbaa1ad1e21786c4c95b4305bfedc5d6a759eba2f"
TABLES = (("hooks",), ("hooks", "state"), ("hooks", "state", KEY))
PACK = '[pack]\nname = "bell"\nversion = "1"\n[files]\ninclude = ["ring.sh"]\n[env]\nBELL = "1"\n'
HOOK = '[[hooks]]\nevent = "stop"\ncommand = "{files}/ring.sh"\n'


@pytest.fixture
def bell(isolated: Path) -> str:
    put(isolated / "bell" / "ring.sh", "#!/bin/sh\necho ring\n").chmod(0o755)
    return str(put(isolated / "bell" / "pack.toml", PACK + HOOK))


def around(isolated: Path) -> dict[str, tuple[Any, Any]]:
    """Modes and contents of everything but hookctl's own state."""
    return {name: (mode, what) for name, (mode, _, what) in tree(isolated).items() if not name.startswith("state")}


# The ledger of the state folder


def test_the_ledger_is_read() -> None:
    found = store.read(str(LEDGER))
    page = found.files["/home/u/.claude/settings.json"]
    assert (page.host, page.scope, page.created_file, page.sha256_before[:4]) == ("claude", "user", False, "6aeb")
    assert page.packs["guard"].settings["knobs"] == {"max_stop_blocks": 12}
    assert (page.packs["guard"].digest, found.home) == ("", "")
    assert [(entry.kind, entry.mode, entry.before, entry.id) for entry in page.entries] == [
        ("element", "owned", None, "guard/stop"),
        ("leaf", "owned", '"7"', ""),
        ("leaf", "adopted", None, ""),
        ("container", "owned", None, ""),
    ]
    assert page.entries[1].owners == {"guard": Claim("12", "0.1.0")}
    assert store.parse(store.dump(found.files, found.home), "/l") == found


def test_the_source_of_a_pack_stands_beside_its_settings_now() -> None:
    page = {
        "host": "claude", "scope": "user", "format": "json", "entries": [],
        "packs": {"bell": {"version": "1", "settings": {"source": "/p/pack.toml"}, "folder": "", "files": {}}},
    }  # fmt: skip
    data = json.dumps({"ledger_version": 1, "files": {"/x": page}}).encode()
    assert store.parse(data, "/l").files["/x"].packs == {"bell": PackRecord("1", {}, source="/p/pack.toml")}


def as_of_0_1_0(record: Record) -> dict[str, Any]:
    """A record of today in the form of 0.1.0, whatever its scope."""
    packs = {}
    for name, pack in record.packs.items():
        files = {file: sha[:16] if record.scope == "project" else sha for file, sha in pack.files.items()}
        source = {"source": pack.source} if pack.source and record.scope != "project" else {}
        settings = {**pack.settings, **source}
        packs[name] = {"version": pack.version, "settings": settings, "folder": pack.folder, "files": files}
    page = {**record._asdict(), "packs": packs, "entries": [_entry(entry) for entry in record.entries]}
    return {name: value for name, value in page.items() if value or name not in ("project", "gaps")}


def _entry(entry: Entry) -> dict[str, Any]:
    if entry.kind == "container":
        return {"path": entry.path, "kind": entry.kind}
    owners = {}
    for name, wish in entry.owners.items():
        owners[name] = {"value": wish.value, "version": wish.version, **({"merge": wish.merge} if wish.merge else {})}
    before = {"absent": True} if entry.before is None else {"raw": entry.before}
    page = {**entry._asdict(), "before": before, "owners": owners}
    return page if entry.id else {name: value for name, value in page.items() if name != "id"}


def go_back(work: Path) -> None:
    """Make of every record what 0.1.0 would have written."""
    own = folders.here()
    records = committed.read(own, [str(work)])
    pages = {key: as_of_0_1_0(store.make_stub(page)._replace(packs={}) if page.scope == "project" else page)
             for key, page in records.items()}  # fmt: skip
    Path(own.ledger).write_text(json.dumps({"ledger_version": 1, "files": pages}, indent=1))
    committed_pages = {}
    for page in (page for page in records.values() if page.scope == "project"):
        found = as_of_0_1_0(page)
        names = ("format", "created_file", "created_dirs", "packs", "entries")
        committed_pages[".claude/settings.json"] = {name: found[name] for name in names}
        dirs = [os.path.relpath(folder, work) for folder in page.created_dirs]
        committed_pages[".claude/settings.json"]["created_dirs"] = dirs
        for pack in found["packs"].values():
            del pack["folder"]
    if committed_pages:
        put(work / ".hookctl" / "ledger.json", json.dumps({"ledger_version": 1, "files": committed_pages}, indent=1))


@pytest.mark.parametrize("scope", ["user", "project", "local"])
def test_an_install_with_nothing_to_do_leaves_it_as_it_is(
    isolated: Path, hookctl: Hookctl, bell: str, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = put(isolated / "work" / ".git" / "HEAD", "").parents[1]
    monkeypatch.chdir(work)
    command = ("install", bell, "--host", "claude", "--scope", scope)
    assert hookctl(*command).code == 0
    go_back(work)
    assert hookctl(*command).code == 0, "somebody agrees to the pack: that goes on record"
    before = tree(isolated)
    outcome = hookctl(*command)
    assert (outcome.code, outcome.out) == (0, "nothing to do\n")
    assert hookctl("status").code == 0 and hookctl("doctor").code == 0
    assert tree(isolated) == before


@pytest.mark.parametrize("scope", ["user", "project", "local"])
def test_the_next_write_makes_it_todays_and_an_uninstall_takes_out_everything(
    isolated: Path, hookctl: Hookctl, bell: str, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = put(isolated / "work" / ".git" / "HEAD", "").parents[1]
    monkeypatch.chdir(work)
    before = around(isolated)
    where = ("--scope", scope)
    assert hookctl("install", bell, "--host", "claude", *where).code == 0
    assert hookctl("install", "--host", "claude", *where).code == 0
    go_back(work)
    assert hookctl("install", "--host", "claude", *where, "--set", "max_stop_blocks=9").code == 0
    own = folders.here()
    assert json.loads(Path(own.ledger).read_bytes())["ledger_version"] == 2
    if scope == "project":
        page = json.loads((work / ".hookctl" / "ledger.json").read_bytes())
        assert page["ledger_version"] == 2
        assert all(pack["digest"] for name, pack in page["files"][".claude/settings.json"]["packs"].items() if name)
    for pack in ("bell", "guard"):
        assert hookctl("uninstall", pack, "--host", "claude", *where).code == 0
    assert around(isolated) == before


# The committed one


def committed_record(project: Path) -> Record:
    data = COMMITTED.read_bytes()
    (record,) = committed.load(folders.here(), str(project), data, {}).values()
    return record


def test_the_committed_ledger_is_read_and_files_are_known_by_how_their_digests_begin(isolated: Path) -> None:
    project = isolated / "work"
    ring = put(project / ".hookctl" / "packs" / "bell" / "ring.sh", "#!/bin/sh\necho ring\n")
    packs = committed_record(project).packs
    assert packs["bell"].files == {"ring.sh": hashlib.sha256(ring.read_bytes()).hexdigest()}
    assert packs["bell"].digest == content_digest(b"", {"ring.sh": ring.read_bytes()})
    assert packs["guard"].files == {"hook.py": "", "config.json": ""} and packs["guard"].digest == ""
    ring.write_text("evil")
    assert committed_record(project).packs["bell"] == packs["bell"]._replace(files={"ring.sh": ""}, digest="")


def test_a_short_or_empty_beginning_matches_nothing(isolated: Path) -> None:
    project = isolated / "work"
    put(project / ".hookctl" / "packs" / "bell" / "ring.sh", "#!/bin/sh\necho ring\n")
    sha = committed_record(project).packs["bell"].files["ring.sh"]
    for beginning in ("", sha[:15]):
        data = COMMITTED.read_bytes().replace(sha[:16].encode(), beginning.encode())
        (record,) = committed.load(folders.here(), str(project), data, {}).values()
        assert record.packs["bell"].files == {"ring.sh": ""}


# The journal


def test_the_journal_of_a_killed_run_is_read(isolated: Path) -> None:
    own = folders.here()
    put(Path(own.journal), JOURNAL.read_bytes())
    found = transaction.pending(own)
    assert found is not None
    assert [Path(step.path).name for step in found.steps] == [
        "hook.py", "config.json", "settings.json", ".gitignore", "ledger.json"
    ]  # fmt: skip
    (record,) = found.records.values()
    assert record is not None
    assert (record.scope, record.project, record.entries[0].id) == ("project", "/home/u/app", "guard/stop")
    assert transaction.pending(own) == found  # reading it writes nothing
    assert Path(own.journal).read_bytes() == JOURNAL.read_bytes()


# Approvals


def test_approvals_become_entries_of_the_file_that_they_stand_in() -> None:
    hooks = Record("codex", "user", "json", packs={"bell": PackRecord("1.2", {})})
    found = version1.with_approvals({HOOKS: hooks}, APPROVALS.read_bytes())
    assert found == {
        HOOKS: hooks,
        CONFIG: Record(
            "codex", "user", "toml", known_as=CONFIG,
            entries=(
                Entry((*TABLES[2], "trusted_hash"), "leaf", written=HASH, owners={"bell": Claim(HASH, "1.2")}),
                *(Entry(path, "container") for path in TABLES),
            ),
        ),
    }  # fmt: skip
    assert store.parse(store.dump(found), "/l").files == found


def test_they_join_the_hooks_that_stand_in_the_same_file_and_come_once() -> None:
    owners = {"bell": Claim({}, "1")}
    mine = Entry(("hooks", "Stop"), "element", written={"command": "x"}, owners=owners, id="bell/stop")
    page = Record("codex", "user", "toml", entries=(mine, Entry(("hooks",), "container")), sha256_after="f" * 64)
    found = version1.with_approvals({CONFIG: page}, APPROVALS.read_bytes())
    assert found[CONFIG]._replace(entries=()) == page._replace(entries=())
    assert [entry.path for entry in found[CONFIG].entries] == [
        ("hooks", "Stop"), ("hooks",), (*TABLES[2], "trusted_hash"), *TABLES[1:]
    ]  # fmt: skip
    assert version1.with_approvals(found, APPROVALS.read_bytes()) == found


def test_a_file_that_was_made_for_them_is_ours() -> None:
    data = json.dumps({**json.loads(APPROVALS.read_bytes()), "made": [CONFIG, 5]}).encode()
    assert version1.with_approvals({}, data)[CONFIG].created_file


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "5", "\ud800", "[" * 100_000, '{"approved": {}}', '{"approved": [], "made": []}',
        '{"approved": {"a": 1}, "made": []}', '{"approved": {"a": {"b": []}}, "made": []}',
        '{"approved": {"a": {"b": {"c": {"d": 1}}}}, "made": []}', '{"approved": {"a": {"b": {}}}, "made": []}',
    ],
)  # fmt: skip
def test_where_they_cannot_be_read_every_approval_is_the_operators(text: str) -> None:
    records = {HOOKS: Record("codex", "user", "json")}
    assert version1.with_approvals(records, text.encode("utf-8", "surrogatepass")) == records
    assert version1.with_approvals(records, None) == records
