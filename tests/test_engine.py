"""The transition table of ownership: one row for every cell that concerns the engine, its number in the id."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path as File
from typing import Any, NamedTuple

import pytest

from hookctl.model import WRAP, Claim, Decision, Entry, Path, Wanted
from hookctl.ownership import engine
from tests import plain
from tests.texts import all_of, rows

KEY: Path = ("env", "LIMIT")
CAP: Path = ("env", "CAP")
STOP: Path = ("hooks", "Stop")
COMMAND = ": hookctl=p/stop; run /a/hook"
OLDER = ": hookctl=p/stop; run /b/hook"
NEWER = ": hookctl=p/stop; go /a/hook"
EDITED = ": hookctl=p/stop; my-own /a/hook"
FORMS = r": hookctl=p/stop; run /\w+/hook"
THEIRS = {"type": "command", "command": "say done"}
COMMANDS = {"ours": COMMAND, "older": OLDER, "newer": NEWER, "edited": EDITED}


@pytest.fixture(autouse=True)
def isolated() -> None:
    """The engine is pure: no test here needs a home of its own."""


def leaf(value: Any, path: Path = KEY, merge: str = "") -> Wanted:
    return Wanted(path, "leaf", value, merge=merge)


def hook(command: str = COMMAND, timeout: Any = 10, path: Path = STOP, **fields: Any) -> Wanted:
    handler = {"type": "command", "command": command, "timeout": timeout, **fields}
    return Wanted(path, "element", handler, "p/stop", lambda: FORMS)


def handler(command: str = COMMAND, **fields: Any) -> dict[str, Any]:
    return {"type": "command", "command": command, "timeout": 10, **fields}


def group(*handlers: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**fields, "hooks": list(handlers)}


def stop(*groups: dict[str, Any]) -> dict[str, Any]:
    return {"hooks": {"Stop": list(groups)}}


def env(**values: Any) -> dict[str, Any]:
    return {"env": values}


def owned(written: Any, path: Path = KEY, before: str | None = None, **wishes: Any) -> Entry:
    """An entry of pack p (or of those named) that we wrote."""
    owners = {name: Claim(value) for name, value in (wishes or {"p": written}).items()}
    return Entry(path, "leaf", "owned", before, written, owners)


def element(path: Path = STOP, **fields: Any) -> Entry:
    written = handler(**fields)
    return Entry(path, "element", "owned", None, written, {"p": Claim(written)}, "p/stop")


def container(*path: str) -> Entry:
    return Entry(path, "container")


class Row(NamedTuple):
    """One case of a cell: what there is, what is done, and what must come of it."""

    id: str  # the number of the row, and what is special about the case
    verb: str  # install | upgrade | uninstall
    here: dict[str, Any]
    entries: list[Entry]
    wants: list[Wanted]
    then: dict[str, Any]
    ledger: list[Entry]
    did: list[str] = []  # noqa: RUF012 ("action from>to")
    kept: list[tuple[str, str]] = []  # noqa: RUF012 (state, and a part of the reason)
    force: bool = False
    conflicts: list[dict[str, Any]] = []  # noqa: RUF012 (pack to value)

    @property
    def cell(self) -> tuple[str, str]:
        return self.id.partition(" ")[0], self.verb + " --force" * self.force

    @property
    def name(self) -> str:
        row, _, case = self.id.partition(" ")
        return " ".join(("row", row, self.cell[1], case)).strip()


def read(value: Any) -> Any:
    """A value of the table, with each hook that it names."""
    if isinstance(value, list):
        return [read(item) for item in value]
    if value == "theirs":
        return THEIRS
    if isinstance(value, str) and value in COMMANDS:
        return handler(COMMANDS[value])
    if not isinstance(value, dict):
        return value
    if "is" not in value:
        return {key: read(inner) for key, inner in value.items()}
    fields = {"type": "command", "command": COMMANDS[value["is"]], "timeout": 10, **value}
    return {name: field for name, field in fields.items() if name != "is" and field != "none"}


def read_entry(value: Any) -> Entry:
    if isinstance(value, str):
        return container(*value.split("/"))
    if "hook" in value:
        written, wanted = read(value["hook"]), read(value.get("for", value["hook"]))
        path = ("hooks", value.get("at", "Stop"))
        return Entry(path, "element", "owned", None, written, {"p": Claim(wanted)}, "p/stop")
    key, written = next(iter(value.items()))
    wishes = value.get("for", {"p": written})
    claims = {name: Claim(w[0], w[1]) if isinstance(w, list) else Claim(w) for name, w in wishes.items()}
    return Entry(("env", key), "leaf", value.get("mode", "owned"), value.get("before"), written, claims)


def read_want(value: Any) -> Wanted:
    if "hook" in value:
        path = ("hooks", value.get("at", "Stop"))
        return Wanted(path, "element", read(value["hook"]), "p/stop", lambda: value.get("forms", FORMS))
    key, wanted = next(iter(value.items()))
    return leaf(wanted, ("env", key), value.get("merge", ""))


def read_rows() -> Iterator[Row]:
    """The table, a row a case; one without and one with --force where that changes nothing."""
    for id, verb, before, record, wants, after, later, did, said in rows("ownership"):
        here, entries = read(json.loads(before)), [read_entry(entry) for entry in json.loads(record)]
        told = [] if said == "-" else json.loads(said)
        kept = [(state, reason) for state, reason in told] if told and isinstance(told[0], list) else []
        row = Row(
            id, verb.split()[0], here, entries, [read_want(want) for want in json.loads(wants)],
            here if after == "same" else read(json.loads(after)),
            entries if later == "same" else [read_entry(entry) for entry in json.loads(later)],
            [] if did == "-" else did.split(", "), kept, verb.endswith("--force"), [] if kept else told,
        )  # fmt: skip
        yield row
        if verb.endswith("either"):
            yield row._replace(force=True)


ROWS = list(read_rows())


def decide(row: Row) -> Decision:
    live = plain.live(row.here)
    if row.verb == "uninstall":
        return engine.uninstall(row.entries, live, "p", row.wants)
    return engine.install(row.entries, live, "p", row.wants, force=row.force)


def comparable(entries: Any) -> list[str]:
    """In one order; what an element has to give back is the matter of tests of its own."""
    return sorted(json.dumps(e._replace(before=None) if e.kind == "element" else e) for e in entries)


@all_of("row", ROWS)
def test_the_table_of_ownership(row: Row) -> None:
    here, entries = copy.deepcopy(row.here), copy.deepcopy(row.entries)
    done = decide(row)
    assert plain.carried_out(row.here, done.edits) == row.then
    assert comparable(done.entries) == comparable(row.ledger)
    did = [line for line in done.actions if line.action != "keep"]
    assert [f"{a.action} {a.from_state}>{a.to_state}" for a in did] == row.did
    kept = [line for line in done.actions if line.action == "keep"]
    assert [keep.from_state for keep in kept] == [at for at, _ in row.kept]
    for keep, (_, reason) in zip(kept, row.kept, strict=True):
        assert reason in keep.reason
        assert keep.to_state == keep.from_state
    assert [list(claims.items()) for claims in done.conflicts.values()] == [list(w.items()) for w in row.conflicts]
    before, after = ([entry.id or entry.path for entry in page] for page in (row.entries, done.entries))
    assert [name for name in after if name in before] == [name for name in before if name in after], "as they joined"
    assert (row.here, row.entries) == (here, entries), "the engine changed what it was given"
    # Doing it again without --force changes nothing.
    again = decide(row._replace(here=row.then, entries=list(done.entries), force=False))
    assert again.edits == ()
    assert again.entries == done.entries
    assert {line.action for line in again.actions} <= {"keep"}


# Every cell has a row.

VERBS = ("install", "install --force", "upgrade", "upgrade --force", "uninstall")
ENGINES = [str(number) for number in range(1, 19)] + ["9a", "9b", "15a"]
# What the table itself calls the same as another cell.
AS = {("8", "install"): ("8", "upgrade"), ("8", "install --force"): ("8", "upgrade --force")}


def test_every_cell_of_the_engine_has_a_row() -> None:
    mine = {row.cell for row in ROWS}
    assert mine >= set(AS.values())
    assert mine | set(AS) == {(row, verb) for row in ENGINES for verb in VERBS}


def test_the_documented_table_has_the_same_rows() -> None:
    table = (File(__file__).parents[1] / "docs" / "ownership.md").read_text().partition("\n| row |")[2]
    rows = [line.split("|")[1].strip() for line in table.partition("\n\n")[0].splitlines()[2:]]
    assert sorted(rows) == sorted([*ENGINES, *map(str, range(19, 25))])


class Settings:
    """A settings file and its record, which pack p comes to and goes from."""

    def __init__(self, value: dict[str, Any], *entries: Entry) -> None:
        self.value, self.entries = value, tuple(entries)

    def install(self, *wants: Wanted, pack: str = "p", force: bool = False) -> Decision:
        return self._carry_out(engine.install(self.entries, plain.live(self.value), pack, list(wants), force=force))

    def uninstall(self, *wants: Wanted) -> Decision:
        return self._carry_out(engine.uninstall(self.entries, plain.live(self.value), "p", list(wants)))

    def _carry_out(self, decision: Decision) -> Decision:
        self.value, self.entries = plain.carried_out(self.value, decision.edits), decision.entries
        return decision


def test_a_command_that_was_taken_over_is_given_back() -> None:
    here = stop(group(THEIRS, handler(EDITED, timeout=3)))
    file = Settings(here, element())
    file.install(hook(), force=True)
    assert file.value == stop(group(THEIRS, handler()))
    file.install(hook(OLDER))
    doubled = Settings(stop(group(THEIRS, handler(OLDER)), group(handler(OLDER))), *file.entries)
    last = file.uninstall(hook(OLDER))
    assert (file.value, file.entries) == (here, ())
    assert [action[4:7] for action in last.actions] == [("owned", "edited copy", "back to your command")]
    doubled.uninstall(hook(OLDER))
    assert doubled.value == here, "the first of them was theirs"


def test_where_a_command_was_taken_over_the_matcher_stays_theirs_and_their_later_edits_too() -> None:
    here = stop(group(handler(EDITED), matcher="x"))
    file = Settings(here, element())
    first = file.install(hook(matcher="y", timeout=15), force=True)
    assert file.value == stop(group(handler(timeout=15), matcher="x"))
    assert [line.reason for line in first.actions if line.action == "keep"] == [
        'kept your matcher="x" (ours: matcher="y")'
    ]
    file.value["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 99
    keep = file.install(hook(OLDER, matcher="y", timeout=20)).actions[0]
    assert file.value == stop(group(handler(OLDER, timeout=99), matcher="x"))
    assert keep.reason == 'kept your timeout=99, matcher="x" (ours: timeout=20, matcher="y")'
    file.install(hook(OLDER, timeout=20), force=True)
    assert file.value == stop(group(handler(OLDER, timeout=20), matcher="x"))
    file.uninstall()
    assert file.value == here


@pytest.mark.parametrize("force", [False, True])
def test_a_command_that_was_taken_over_and_then_removed_does_not_come_back(force: bool) -> None:
    file = Settings(stop(group(handler(EDITED))), element())
    file.install(hook(), force=True)
    file.value = {}
    file.install(hook(), force=force)
    file.uninstall()
    assert file.value == {}


def test_forcing_twice_gives_back_what_the_operator_set_in_between() -> None:
    file = Settings(env(LIMIT="7"))
    file.install(leaf("5"), force=True)
    file.value = env(LIMIT="9")
    file.install(leaf("5"), force=True)
    file.uninstall()
    assert file.value == env(LIMIT="9")


def test_after_a_wipe_nothing_is_written_for_packs_of_which_only_a_stranger_knows() -> None:
    entries = [owned("8", CAP, q="8"), owned("5")]
    done = engine.install(entries, plain.live({}), "p", [leaf("5")], others=False)
    assert plain.carried_out({}, done.edits) == env(LIMIT="5")
    assert comparable(done.entries) == comparable([*entries, container("env")])


def test_what_is_nobodys_business_is_not_in_the_report() -> None:
    token: Path = ("env", "API_TOKEN")
    entry, here = owned("ours-1", token, '"theirs-1"'), {"env": {"API_TOKEN": "theirs-2"}}
    done = [
        engine.install([], plain.live(here), "p", [leaf("ours-1", token)]),
        engine.install([], plain.live(here), "p", [leaf("ours-1", token)], force=True),
        engine.install([entry], plain.live(here), "p", [leaf("ours-2", token)]),
        engine.uninstall([entry], plain.live(here), "p"),
        engine.uninstall([entry], plain.live({"env": {"API_TOKEN": "ours-1"}}), "p"),
    ]
    lines = [line.reason for decision in done for line in decision.actions]
    assert len(lines) == 5
    for line in lines:
        assert "***" in line and "ours-" not in line and "theirs-" not in line, line


def test_values_are_the_same_by_what_they_mean() -> None:
    assert engine.same({"a": 1, "b": [2]}, {"b": [2], "a": 1})
    assert not engine.same([1, 2], [2, 1])
    assert not engine.same(1, True)
    assert not engine.same(1, 1.0)
    assert not engine.same(None, 0)


@pytest.mark.parametrize(("restores", "limit"), [(False, None), (True, "5")])
def test_a_pack_that_alone_was_wiped_comes_back_where_that_is_asked_for(restores: bool, limit: str | None) -> None:
    entries = [owned("5"), owned("8", CAP, q="8")]
    wants = [leaf("5"), Wanted(("env", "MODE"), "leaf", "ours")]
    live = plain.live(env(CAP="8", MODE="theirs"))
    done = engine.install(entries, live, "p", wants, restores=restores)
    assert [(edit.path, edit.value) for edit in done.edits] == ([] if limit is None else [(KEY, limit)])


# The engine and hooks of others that we are around: of those only the command is ours, and they come and go.
ID = f"{WRAP}0123abcd"
SAYS = f": hookctl={ID}; set -- say; it"
MY_OWN = f": hookctl={ID}; my own"
OWN = ": hookctl=guard/stop; run"


def around(command: str = SAYS, **fields: Any) -> dict[str, Any]:
    return {"type": "command", "command": command, **fields}


def settings(*handlers: dict[str, Any]) -> dict[str, Any]:
    return {"hooks": {"Stop": [{"hooks": [one]} for one in handlers]}}


def entry(id: str = ID, command: str = SAYS) -> Entry:
    written = around(command)
    return Entry(("hooks", "Stop"), "element", "owned", '"say"', written, {"guard": Claim(written)}, id)


@pytest.mark.parametrize(
    ("there", "state"),
    [
        (settings(around()), "owned"),
        (settings(around(timeout=20)), "owned"),
        (settings(around(MY_OWN)), "overridden"),
        (settings(around("say")), "missing"),
        (settings(around(MY_OWN), around(timeout=5)), "owned"),
    ],
    ids=["as written", "another timeout", "an edited command", "gone", "an edited copy and ours"],
)
def test_the_command_alone_says_whose_it_is(there: dict[str, Any], state: str) -> None:
    assert engine.state(entry(), plain.live(there), ("hooks", "Stop"), ID) == state


def test_after_a_wipe_nobody_elses_hook_is_written() -> None:
    entries = [entry(), entry("guard/stop", OWN)]
    decision = engine.install(entries, plain.live(settings()), "other", [])
    assert [edit.fields["command"] for edit in decision.edits if hasattr(edit, "fields")] == [OWN]
