"""What must hold after any history: against an oracle, against a shadow, and on real files."""

from __future__ import annotations

import copy
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from hookctl import engine, files, hosts, interpreter, ledger, live, packs, places
from hookctl.errors import HookctlError
from hookctl.folders import Folders
from hookctl.model import Decision, Entry, Want
from hookctl.planner.install import Choice, plan_install
from hookctl.verbs.install import install
from hookctl.verbs.uninstall import What, uninstall
from tests import plain
from tests.conftest import put
from tests.model import Model

PACKS = st.sampled_from(["p", "q"])
KEYS = st.sampled_from(["A", "B", "C"])
WANTS = st.dictionaries(KEYS, st.integers(0, 2))
FORCE = st.sampled_from([False, False, True])
THEIRS = {"type": "command", "command": "say done"}


def bare(value: Any) -> Any:
    """Without empty containers: whether one stays is the table's business."""
    if isinstance(value, dict):
        return {name: inner for name in value if (inner := bare(value[name])) not in ({}, [])}
    return [bare(inner) for inner in value] if isinstance(value, list) else value


def leaves(want: dict[str, int]) -> list[Want]:
    return [Want(("env", key), "leaf", value) for key, value in want.items()]


class Leaves(RuleBasedStateMachine):
    """Two packs, three keys and an operator; every decision is the oracle's."""

    def __init__(self) -> None:
        super().__init__()
        self.file: dict[str, Any] = {}
        self.shadow: dict[str, Any] = {}
        self.entries: tuple[Entry, ...] = ()
        self.model = Model({})

    def carry_out(self, decision: Decision) -> None:
        self.file = plain.carried_out(self.file, decision.edits)
        self.entries = decision.entries

    def decide(self, pack: str, wants: list[Want], force: bool) -> Decision:
        return engine.install(self.entries, plain.live(self.file), pack, "1", wants, force=force)

    def install_twice(self, pack: str, wants: list[Want], force: bool) -> bool:
        """Install; a second time, without force, nothing may be left to do."""
        decision = self.decide(pack, wants, force)
        if decision.conflicts:
            assert decision.edits == () and decision.entries == self.entries
            return False
        touched = {edit.path for edit in decision.edits if hasattr(edit, "path")}
        for entry in self.entries if not force else ():
            at = engine.state(entry, plain.live(self.file), entry.path, entry.id)
            if entry.kind == "leaf" and at in ("adopted", "overridden") and entry.path[-1] in self.file.get("env", {}):
                assert entry.path not in touched
        self.carry_out(decision)
        again = self.decide(pack, wants, False)
        assert (again.edits, again.entries, again.conflicts) == ((), self.entries, ())
        return True

    @rule(pack=PACKS, want=WANTS, force=FORCE)
    def install(self, pack: str, want: dict[str, int], force: bool) -> None:
        done = self.install_twice(pack, leaves(want), force)
        self.agree(self.model.install(pack, want, force), done)

    def agree(self, expected: bool, done: bool) -> None:
        assert expected == done

    @rule(pack=PACKS)
    def uninstall(self, pack: str) -> None:
        self.carry_out(engine.uninstall(self.entries, plain.live(self.file), pack))
        self.model.uninstall(pack)
        again = engine.uninstall(self.entries, plain.live(self.file), pack)
        assert (again.edits, again.entries) == ((), self.entries)

    @rule(key=KEYS, value=st.integers(0, 5))
    def the_operator_sets_a_key(self, key: str, value: int) -> None:
        written = [entry.written for entry in self.entries if entry.path == ("env", key) and entry.mode == "owned"]
        assume(value not in written)  # setting exactly our value cannot be told from ours
        for document in (self.file, self.shadow):
            document.setdefault("env", {})[key] = value
        self.model.values[key] = value

    @rule(key=KEYS)
    def the_operator_removes_a_key(self, key: str) -> None:
        for document in (self.file, self.shadow):
            document.get("env", {}).pop(key, None)
        self.model.values.pop(key, None)

    @rule()
    def a_host_wipes_the_file(self) -> None:
        self.file, self.shadow = {}, {}
        self.model.values.clear()

    @invariant()
    def the_oracle_agrees(self) -> None:
        assert self.file.get("env", {}) == self.model.values
        book = {
            entry.path[-1]: {
                "mode": entry.mode,
                "before": None if entry.before is None else json.loads(entry.before),
                "written": entry.written,
                "owners": {name: wish.value for name, wish in entry.owners.items()},
            }
            for entry in self.entries
            if entry.kind == "leaf"
        }
        assert book == self.model.book
        for key in book:
            state = engine.state(self._entry(key), plain.live(self.file), ("env", key))
            assert state == self.model.state(key)

    def _entry(self, key: str) -> Entry:
        return next(entry for entry in self.entries if entry.path == ("env", key))

    @invariant()
    def uninstalling_everything_leaves_what_the_operator_did(self) -> None:
        for order in (("p", "q"), ("q", "p")):
            file, entries = self.file, self.entries
            for pack in order:
                decision = engine.uninstall(entries, plain.live(file), pack)
                file, entries = plain.carried_out(file, decision.edits), decision.entries
            assert bare(file) == bare(self.shadow)
            assert entries == ()


def hook(pack: str, command: str, event: str, timeout: int) -> Want:
    fields = {"type": "command", "command": f": hookctl={pack}/stop; {command}", "timeout": timeout}
    return Want(("hooks", event), "element", fields, f"{pack}/stop", rf": hookctl={pack}/stop; run \w")


def groups(document: dict[str, Any], event: str) -> list[Any]:
    return document.setdefault("hooks", {}).setdefault(event, [])


EVENTS = st.sampled_from(["Stop", "End"])


class Hooks(Leaves):
    """The same with hook elements, which the operator moves, edits and removes; the shadow judges."""

    @rule(pack=PACKS, want=WANTS, force=FORCE, command=st.sampled_from(["run a", "run b"]), event=EVENTS,
          timeout=st.integers(1, 2))  # fmt: skip
    def install_hook(
        self, pack: str, want: dict[str, int], force: bool, command: str, event: str, timeout: int
    ) -> None:
        self.install_twice(pack, [*leaves(want), hook(pack, command, event, timeout)], force)

    @rule(event=EVENTS, number=st.integers(0, 9))
    def the_operator_appends_a_group(self, event: str, number: int) -> None:
        for document in (self.file, self.shadow):
            groups(document, event).append({"hooks": [{**THEIRS, "timeout": number}]})

    @rule(event=EVENTS)
    def the_operator_reorders_groups(self, event: str) -> None:
        for document in (self.file, self.shadow):
            groups(document, event).reverse()

    def _ours(self) -> list[tuple[Any, Any, Any]]:
        return [
            (self.file["hooks"][event], self.file["hooks"][event][g], self.file["hooks"][event][g]["hooks"][h])
            for _, event, g, _, h in (element.path for element in plain.elements(self.file))
        ]

    @precondition(lambda self: self._ours())
    @rule(timeout=st.integers(1, 5))
    def the_operator_edits_our_timeout(self, timeout: int) -> None:
        self._ours()[0][2]["timeout"] = timeout

    @precondition(lambda self: self._ours())
    @rule()
    def the_operator_gives_our_hook_a_field_of_their_own(self) -> None:
        self._ours()[-1][2]["async"] = True

    @precondition(lambda self: self._ours())
    @rule()
    def the_operator_gives_our_group_a_matcher(self) -> None:
        group = self._ours()[0][1]
        if len(group["hooks"]) == 1:
            group["matcher"] = "x"

    @precondition(lambda self: self._ours())
    @rule(event=EVENTS)
    def the_operator_moves_our_hook_into_a_group_of_theirs(self, event: str) -> None:
        holder, group, handler = self._ours()[0]
        group["hooks"].remove(handler)
        if not group["hooks"]:
            holder.remove(group)
        groups(self.file, event).append({"matcher": "y", "hooks": [dict(THEIRS), handler]})
        groups(self.shadow, event).append({"matcher": "y", "hooks": [dict(THEIRS)]})

    @precondition(lambda self: self._ours())
    @rule()
    def the_operator_removes_our_hook(self) -> None:
        holder, group, handler = self._ours()[0]
        group["hooks"].remove(handler)
        if not group["hooks"]:
            holder.remove(group)

    def agree(self, expected: bool, done: bool) -> None:
        """The oracle knows no elements."""

    @invariant()
    def the_oracle_agrees(self) -> None:
        """It does not."""

    @invariant()
    def no_hook_is_there_twice(self) -> None:
        ids = [element.id for element in plain.elements(self.file)]
        assert len(ids) == len(set(ids))


@pytest.mark.parametrize("machine", [Leaves, Hooks])
def test_any_history(machine: type[RuleBasedStateMachine]) -> None:
    examples = settings(
        deadline=None, max_examples=300, stateful_step_count=20, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(machine, settings=examples)


@settings(deadline=None)
@given(WANTS, WANTS, st.integers(1, 2), st.integers(1, 2))
def test_an_upgrade_is_a_fresh_install_of_the_new_version(
    old: dict[str, int], new: dict[str, int], one: int, two: int
) -> None:
    def installed(file: Any, entries: tuple[Entry, ...], want: dict[str, int], timeout: int) -> Any:
        wants = [*leaves(want), hook("p", f"run {'ab'[timeout - 1]}", "Stop", timeout)]
        decision = engine.install(entries, plain.live(file), "p", "1", wants)
        return plain.carried_out(file, decision.edits), decision.entries

    upgraded, entries = installed(*installed({}, (), old, one), new, two)
    fresh, anew = installed({}, (), new, two)
    assert upgraded == fresh
    assert sorted(map(str, entries)) == sorted(map(str, anew))


# On real files


class Place:
    """A home with one settings file, and hookctl's own folders."""

    def __init__(self, top: Path) -> None:
        self.settings = top / "home" / ".claude" / "settings.json"
        environ = {"HOME": str(top / "home"), "PATH": "/usr/bin:/bin"}
        self.folders = Folders(str(top / "state"), str(top / "data"), environ, str(top))
        self.places = [places.find(hosts.load("claude"), "user", self.folders)]
        self.pack = packs.load("guard")

    def install(self, **choice: Any) -> None:
        result = install(self.folders, self.pack, self.places, Choice(**choice), dry_run=False)
        assert result.exit_code == 0

    def uninstall(self) -> None:
        uninstall(self.folders, What("guard"), self.places, dry_run=False)

    def document(self) -> Any:
        return json.loads(self.settings.read_bytes().decode("utf-8-sig"))


@contextmanager
def place(base: Path) -> Iterator[Place]:
    """A fresh one, on a disk that one need not wait for."""
    top = base / "place"
    shutil.rmtree(top, ignore_errors=True)
    top.mkdir()
    quick = mock.patch.object(os, "fsync", lambda handle: None)
    python = mock.patch.object(interpreter, "choose", lambda environ: ("/usr/bin/python3", ""))
    with quick, python:
        yield Place(top)


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6)
SCALARS = st.one_of(TEXT, st.integers(-9, 10**25), st.booleans(), st.none(), st.just(0.1))
HANDLERS = st.builds(lambda name, extra: {**THEIRS, "command": f"x{name}", **extra}, TEXT,
                     st.dictionaries(st.sampled_from(["timeout", "async", "ü"]), st.integers(1, 9)))  # fmt: skip
GROUPS = st.builds(lambda hooks, matcher: {**({"matcher": matcher} if matcher else {}), "hooks": hooks},
                   st.lists(HANDLERS, max_size=2), TEXT)  # fmt: skip
ENV = st.dictionaries(st.sampled_from(["A", "B", "MAX_STOP_BLOCKS", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "Ä"]),
                      st.sampled_from(["5", "8", "12", "", 5, None, "x y"]), max_size=4)  # fmt: skip
DOCUMENTS = st.fixed_dictionaries({}, optional={
    "model": SCALARS,
    "env": ENV,
    "hooks": st.dictionaries(st.sampled_from(["Stop", "PreToolUse", "SubagentStop"]), st.lists(GROUPS, max_size=3)),
    "permissions": st.dictionaries(TEXT, st.lists(SCALARS, max_size=3), max_size=2),
    "é\n": st.dictionaries(TEXT, SCALARS, max_size=3),
}).flatmap(lambda document: st.permutations(list(document.items())).map(dict))  # fmt: skip


@st.composite
def texts(draw: Any) -> bytes:
    """A settings file as some tool or person formats it."""
    document = draw(DOCUMENTS)
    if not document and draw(st.booleans()):
        return draw(st.sampled_from([b"", b"\n", b"{ }", b"{\n}\n", b"\xef\xbb\xbf{}"]))
    indent = draw(st.sampled_from([None, 1, 2, 4, "\t"]))
    colon = draw(st.sampled_from([":", ": ", " : "]))
    comma = draw(st.sampled_from([",", ", "])) if indent is None else ","
    text = json.dumps(document, indent=indent, separators=(comma, colon), ensure_ascii=draw(st.booleans()))
    text += draw(st.sampled_from(["", "\n", "\n\n"]))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"])) + text.encode()


ON_DISK = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
CHOICES = st.fixed_dictionaries({}, optional={
    "force": st.booleans(),
    "assignments": st.sampled_from([(), ("max_stop_blocks=12",), ("max_stop_blocks=0", "latch=false")]),
})  # fmt: skip


@ON_DISK
@given(data=texts(), first=CHOICES, second=CHOICES)
def test_uninstall_gives_back_the_very_bytes(
    tmp_path_factory: Any, data: bytes, first: dict[str, Any], second: dict[str, Any]
) -> None:
    with place(tmp_path_factory.getbasetemp()) as here:
        put(here.settings, data)
        here.install(**first)
        assert "hookctl=guard/stop" in here.settings.read_text("utf-8-sig")
        here.install(**second)
        here.uninstall()
        assert here.settings.read_bytes() == data
        assert ledger.load(here.folders.ledger) == {}
        assert not os.path.exists(here.folders.data)


@ON_DISK
@given(data=texts(), choice=CHOICES)
def test_a_second_install_touches_nothing(tmp_path_factory: Any, data: bytes, choice: dict[str, Any]) -> None:
    with place(tmp_path_factory.getbasetemp()) as here:
        put(here.settings, data)
        here.install(**choice)
        own = [here.settings, Path(here.folders.ledger), Path(here.folders.data) / "guard/claude-user/config.json"]
        before = [(path.read_bytes(), path.stat()) for path in own]
        backups = len(os.listdir(files.backup_folder(here.folders.state, str(here.settings))))
        here.install()
        after = [(path.read_bytes(), path.stat()) for path in own]
        assert [(data, about.st_mtime_ns, about.st_ino) for data, about in before] == [
            (data, about.st_mtime_ns, about.st_ino) for data, about in after
        ]
        assert len(os.listdir(files.backup_folder(here.folders.state, str(here.settings)))) == backups


Change = Callable[[Any], None]


def ours(group: Any) -> bool:
    return any("hookctl=" in handler["command"] for handler in group["hooks"])


def append_group(event: str, group: Any) -> Change:
    return lambda doc: doc.setdefault("hooks", {}).setdefault(event, []).append(copy.deepcopy(group))


def reverse_groups(event: str) -> Change:
    return lambda doc: doc.get("hooks", {}).get(event, []).reverse()


def remove_first_group(event: str) -> Change:
    def change(document: Any) -> None:
        found = document.get("hooks", {}).get(event, [])
        theirs = [index for index, group in enumerate(found) if not ours(group)]
        if theirs:
            del found[theirs[0]]

    return change


def set_key(path: tuple[str, ...], value: Any) -> Change:
    def change(document: Any) -> None:
        for key in path[:-1]:
            document = document.setdefault(key, {})
        document[path[-1]] = value

    return change


def remove_key(key: str) -> Change:
    return lambda document: document.pop(key, None)


CHANGES = st.lists(st.one_of(
    st.builds(append_group, st.sampled_from(["Stop", "PreToolUse"]), GROUPS),
    st.builds(reverse_groups, st.just("Stop")),
    st.builds(remove_first_group, st.just("Stop")),
    st.builds(set_key, st.sampled_from([("model",), ("env", "A"), ("env", "MAX_STOP_BLOCKS"), ("x", "y")]),
              st.sampled_from(["99", "", 7, None])),
    st.builds(remove_key, st.sampled_from(["model", "permissions"])),
), max_size=4)  # fmt: skip


def edited(document: Any, changes: list[Change]) -> Any:
    result = copy.deepcopy(document)
    for change in changes:
        change(result)
    return result


@ON_DISK
@given(data=texts(), changes=CHANGES, again=st.booleans(), indent=st.sampled_from([2, None]))
def test_the_operators_edits_survive_everything(
    tmp_path_factory: Any, data: bytes, changes: list[Change], again: bool, indent: int | None
) -> None:
    """uninstall(edit(install(x))) means the same as edit(x), whoever wrote the whole file anew in between."""
    with place(tmp_path_factory.getbasetemp()) as here:
        put(here.settings, data)
        original = json.loads(data.decode("utf-8-sig") or "{}") if data.strip() else {}
        here.install()
        put(here.settings, json.dumps(edited(here.document(), changes), indent=indent, ensure_ascii=False))
        if again:
            here.install()
            before = here.settings.read_bytes()
            here.install()
            assert here.settings.read_bytes() == before
        here.uninstall()
        assert bare(here.document()) == bare(edited(original, changes))
        assert ledger.load(here.folders.ledger) == {}


@ON_DISK
@given(data=texts())
def test_a_dry_run_says_what_would_be_done_and_writes_nothing(tmp_path_factory: Any, data: bytes) -> None:
    with place(tmp_path_factory.getbasetemp()) as here:
        put(here.settings, data)
        plan = plan_install(here.folders, here.pack, here.places, Choice())
        assert here.settings.read_bytes() == data
        assert not os.path.exists(here.folders.state)
        assert not os.path.exists(here.folders.data)
        here.install()
        assert here.settings.read_bytes() == plan.files[0].after


@settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
@given(data=st.one_of(st.binary(max_size=30), texts().flatmap(
    lambda text: st.integers(0, len(text)).map(lambda cut: text[:cut] + text[cut + 1:]))))  # fmt: skip
def test_whatever_a_file_has_it_is_edited_or_refused_and_never_harmed(tmp_path_factory: Any, data: bytes) -> None:
    with place(tmp_path_factory.getbasetemp()) as here, mock.patch.object(live, "READ_PAUSE", 0):
        put(here.settings, data)
        try:
            here.install()
        except HookctlError as error:
            assert error.exit_code == 4
        else:
            here.uninstall()
        assert here.settings.read_bytes() == data
