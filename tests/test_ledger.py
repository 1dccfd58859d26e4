"""The ledger: every shape comes back as it was, and bytes that are none are refused without a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hookctl.errors import HookctlError
from hookctl.model import Claim, Entry, PackRecord, Record
from hookctl.ownership import engine, store
from hookctl.ownership.execute import read_journal
from hookctl.system import folders
from tests import plain
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


@pytest.mark.parametrize(
    "commands",
    [
        [["install"]],
        [["install", "--mode", "off"]],
        [["install", "--force", "--set", "max_stop_blocks=7", "--set", "latch=false"]],
        [["install"], ["install", "--mode", "off"], ["install", "--mode", "breaker"]],
        [["install"], ["uninstall"]],
    ],
)
def test_what_is_written_is_valid(commands: list[list[str]], hookctl: Hookctl, settings: Path) -> None:
    put(settings, b'{"env": {"MAX_STOP_BLOCKS": "5", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": 3}, "hooks": {}}')
    for verb, *options in commands:
        assert hookctl(verb, "--host", "claude", *options).code == 0
        valid(Path(folders.here().ledger).read_bytes())


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


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/u/.claude/settings.json", "../../.claude/settings.json"), ("/home/u", "../.."), ("", ""),
        ("/home/u/state/hookctl/data", "./data"), ("/home/unlike", "/home/unlike"), ("git+https://x", "git+https://x"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("home", ["/home/u", "/home/u/", "/elsewhere"])
def test_a_path_is_kept_relative_to_the_records_where_both_lie_below_home(home: str, path: str, name: str) -> None:
    here = folders.Folders("/home/u/state/hookctl", "/data", {"HOME": home}, "/")
    assert here.shorten(path) == (path if home == "/elsewhere" else name)
    assert here.resolve(name) == path
    moved = folders.Folders("/home/moved/state/hookctl", "/data", {"HOME": home}, "/")
    assert moved.resolve(name) == (path.replace("/home/u", "/home/moved") if name.startswith(".") else path)


PAGE = json.loads(store.dump({"/x": RECORDS[2]}))
WRONG: list[Any] = [None, 0, True, "x", [], {}, [1], {"a": 1}, ["x"]]


def broken_pages() -> list[tuple[str, Any]]:
    """A real ledger with each of its values in turn replaced by others of wrong kinds, or taken out."""
    found: list[tuple[str, Any]] = []

    def walk(path: tuple[Any, ...], value: Any) -> None:
        for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            for wrong in [*WRONG, "gone"]:
                page = json.loads(json.dumps(PAGE))
                holder = page
                for step in path:
                    holder = holder[step]
                if wrong == "gone":
                    del holder[key]
                else:
                    holder[key] = wrong
                found.append((f"{(*path, key)} {wrong!r}", page))
            walk((*path, key), value[key])

    walk((), PAGE)
    return found


ODD = "hookctl does not write it like this"
PYTHONS_OWN = ("Error", "object", "indices", "iterable", "NoneType", "literal", "attribute")


@pytest.mark.parametrize(
    ("data", "place", "said"),
    [
        (b"no ledger", (1, 1), "not valid JSON"), (b'{"files":\n 1 2}', (2, 4), "not valid JSON"),
        (b"\xff\xfe\xfa", (0, 0), ODD), (b"[" * 100_000, (0, 0), ODD),
        (b'{"ledger_version": 2, "needs": "0.2.0", "files": {}, "more": 1}', (0, 0), "unknown: more"),
        (b'{"ledger_version": NaN}', (0, 0), "NaN is not valid JSON"),
        (b"1" * 5_000, (0, 0), ODD),
    ],
    ids=["no JSON", "no JSON further on", "no UTF-8", "deep", "unknown", "NaN", "huge"],
)  # fmt: skip
def test_what_is_wrong_with_a_ledger_is_said_in_words(
    data: bytes, place: tuple[int, int], said: str, tmp_path: Path
) -> None:
    with pytest.raises(HookctlError) as caught:
        store.load(own(put(tmp_path / "ledger.json", data)))
    assert caught.value.message == f"hookctl's record cannot be read: {said}"
    assert (caught.value.line, caught.value.column) == place


def test_a_ledger_with_a_value_of_a_wrong_kind_is_refused_or_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    for name, page in broken_pages():
        path.write_text(json.dumps(page))
        try:
            records = store.load(own(path))
        except HookctlError as error:
            assert error.code in ("ledger_unreadable", "ledger_newer"), name
            assert (error.exit_code, error.path) == (4, str(path))
            assert not any(word in error.message for word in PYTHONS_OWN), name
        else:
            for record in records.values():
                engine.uninstall(record.entries, plain.live({}), "guard")
                engine.install(record.entries, plain.live({}), "guard", "1", [])
            assert store.load(own(put(path, store.dump(records)))) == records, name


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
