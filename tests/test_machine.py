"""What must hold after any history: several packs, an operator, hosts and crashes, against an oracle and a shadow.

The oracle (tests/model.py) says after every step what the file and the ledger have. The shadow is a file to which only
the operator's own edits were made: uninstalling everything must leave it.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from hookctl.documents.jsonc import JsonDocument
from hookctl.hosts import load, shapes
from hookctl.model import Decision, Entry, Wanted
from hookctl.ownership import engine, store
from hookctl.system import folders
from tests import plain
from tests.conftest import Hookctl, put
from tests.model import Hook, Key, Model, Spot, WantedHook
from tests.plain import bare
from tests.trees import tree

PACKS = st.sampled_from("ppqqr")
KEYS = st.sampled_from("ABC")
EVENTS = st.sampled_from(["Stop", "End"])
FORCE = st.sampled_from([False, False, True])
RULES = st.sampled_from(["", "", "", "max", "min", "first"])
WISHES = st.dictionaries(KEYS, st.tuples(st.integers(0, 2), RULES))
FIELDS = st.fixed_dictionaries(
    {"run": st.sampled_from("ab"), "event": EVENTS, "timeout": st.integers(1, 2)},
    optional={"matcher": st.sampled_from("xy"), "name": st.just("n")},
)
HOOKS = st.dictionaries(st.sampled_from(["stop", "stop", "tool"]), FIELDS, max_size=2)


class Wants:
    """What a version of a pack wants, as the engine and as the oracle are told."""

    def __init__(self, pack: str, keys: dict[str, tuple[int, str]], hooks: dict[str, dict[str, Any]]) -> None:
        self.pack, self.keys, self.hooks = pack, keys, {}
        self.wants = [Wanted(("env", key), "leaf", value, merge=rule) for key, (value, rule) in keys.items()]
        for name, fields in hooks.items():
            id = f"{pack}/{name}"
            rest = {name: fields[name] for name in fields if name not in ("run", "event")}
            handler = {"type": "command", "command": f": hookctl={id}; run {fields['run']}", **rest}
            known = frozenset(f": hookctl={id}; run {letter}" for letter in "ab")
            self.hooks[id] = WantedHook(fields["event"], handler, known)
            path = ("hooks", fields["event"])
            self.wants.append(Wanted(path, "element", handler, id, f": hookctl={id}; run [ab]"))


def groups(document: dict[str, Any], event: str) -> list[Any]:
    return document.setdefault("hooks", {}).setdefault(event, [])


def spots(document: dict[str, Any]) -> list[Spot]:
    """Every handler of a document, whosever it is."""
    return [
        Spot(groups, group, handler, event)
        for event, groups in document.get("hooks", {}).items()
        for group in groups
        for handler in group["hooks"]
    ]


class Histories(RuleBasedStateMachine):
    """Every decision is the oracle's, and the operator's edits are all that an uninstall leaves."""

    def __init__(self) -> None:
        super().__init__()
        self.file: dict[str, Any] = {}
        self.shadow: dict[str, Any] = {}
        self.entries: tuple[Entry, ...] = ()
        self.model = Model()
        self.last: dict[str, Wants] = {}
        self.words: dict[str, int] = {}  # the operator's last word about a key
        self.count = 0

    # The commands

    def carry_out(self, decision: Decision) -> None:
        self.file = plain.carried_out(self.file, decision.edits)
        self.entries = decision.entries

    def decide(self, wants: Wants, *, force: bool) -> Decision:
        return engine.install(self.entries, plain.live(self.file), wants.pack, "1", wants.wants, force=force)

    def run(self, wants: Wants, *, force: bool) -> None:
        decision = self.decide(wants, force=force)
        done = self.model.install(wants.pack, wants.keys, wants.hooks, force=force)
        assert done == (not decision.conflicts)
        if not done:
            assert decision == Decision(entries=self.entries, conflicts=decision.conflicts)
            return
        self.carry_out(decision)
        self.last[wants.pack] = wants
        if force:
            self.words = {key: value for key, value in self.words.items() if key not in wants.keys}
        self.once_more(self.decide(wants, force=False))

    def once_more(self, decision: Decision) -> None:
        assert (decision.edits, decision.entries, decision.conflicts) == ((), self.entries, ())
        assert {line.action for line in decision.actions} <= {"keep"}

    @rule(pack=PACKS, keys=WISHES, hooks=HOOKS, force=FORCE)
    def install(self, pack: str, keys: dict[str, tuple[int, str]], hooks: dict[str, Any], force: bool) -> None:
        self.run(Wants(pack, keys, hooks), force=force)

    @precondition(lambda self: self.last)
    @rule(data=st.data(), force=FORCE)
    def install_again(self, data: Any, force: bool) -> None:
        self.run(self.last[data.draw(st.sampled_from(sorted(self.last)))], force=force)

    @precondition(lambda self: self.last)
    @rule(data=st.data(), keys=WISHES, fields=FIELDS, force=FORCE)
    def upgrade(self, data: Any, keys: dict[str, tuple[int, str]], fields: dict[str, Any], force: bool) -> None:
        """A newer version: some keys as before, some new, some gone; another command, event or timeout."""
        old = self.last[data.draw(st.sampled_from(sorted(self.last)))]
        kept = {key: wish for key, wish in old.keys.items() if data.draw(st.booleans())}
        self.run(Wants(old.pack, {**keys, **kept}, {"stop": fields}), force=force)

    def take_out(self, pack: str) -> Decision:
        wants = self.last[pack].wants if pack in self.last else ()
        return engine.uninstall(self.entries, plain.live(self.file), pack, wants)

    @rule(pack=PACKS)
    def uninstall(self, pack: str) -> None:
        self.carry_out(self.take_out(pack))
        self.model.uninstall(pack, self.hooks_of(pack))
        self.uninstall_again(pack)

    def uninstall_again(self, pack: str) -> None:
        self.once_more(self.take_out(pack))

    def hooks_of(self, pack: str) -> dict[str, WantedHook]:
        return self.last[pack].hooks if pack in self.last else {}

    @rule(pack=PACKS, keys=WISHES, hooks=HOOKS, force=FORCE, written=st.booleans())
    def a_crash(self, pack: str, keys: dict[str, Any], hooks: dict[str, Any], force: bool, written: bool) -> None:
        """A run dies before the file was written, or before the ledger was; the next one takes the page that fits."""
        wants = Wants(pack, keys, hooks)
        decision = self.decide(wants, force=force)
        assume(not decision.conflicts)
        if written:
            self.run(wants, force=force)

    # The operator and the hosts

    @rule(key=KEYS, value=st.integers(0, 5))
    def the_operator_sets_a_key(self, key: str, value: int) -> None:
        known = self.model.keys.get(key)
        assume(known is None or known.adopted or known.written != value)  # exactly ours cannot be told from ours
        for document in (self.file, self.model.file, self.shadow):
            document.setdefault("env", {})[key] = value
        self.words[key] = value

    @rule(key=KEYS)
    def the_operator_removes_a_key(self, key: str) -> None:
        for document in (self.file, self.model.file, self.shadow):
            document.get("env", {}).pop(key, None)
        self.words.pop(key, None)

    @rule(event=EVENTS, matcher=st.sampled_from(["", "x"]))
    def the_operator_appends_a_group(self, event: str, matcher: str) -> None:
        handler = {"type": "command", "command": self.theirs()}
        for document in (self.file, self.model.file, self.shadow):
            group = {**({"matcher": matcher} if matcher else {}), "hooks": [dict(handler)]}
            groups(document, event).append(group)

    def theirs(self) -> str:
        """A command that stands nowhere else."""
        self.count += 1
        return f"theirs {self.count}"

    @rule(event=EVENTS)
    def the_operator_reorders_groups(self, event: str) -> None:
        for document in (self.file, self.model.file, self.shadow):
            document.get("hooks", {}).get(event, []).reverse()

    @rule(sort=st.booleans())
    def a_host_writes_the_file_anew(self, sort: bool) -> None:
        self.file = json.loads(json.dumps(self.file, sort_keys=sort))
        self.model.file = json.loads(json.dumps(self.model.file, sort_keys=sort))

    @rule()
    def a_host_wipes_the_file(self) -> None:
        self.file, self.model.file, self.shadow = {}, {}, {}
        self.words.clear()

    # The operator and our hooks: the same change in the file and in the oracle's, and in the shadow if it is theirs

    def marked(self) -> list[int]:
        """Which of all handlers carry a mark of ours, whatever else was made of them."""
        return [n for n, spot in enumerate(spots(self.file)) if spot.handler["command"].startswith(": hookctl=")]

    def ours(self) -> list[int]:
        return [n for n in self.marked() if "theirs" not in spots(self.file)[n].handler["command"]]

    def twin(self, number: int) -> Spot | None:
        """What an uninstall leaves in place of this handler, in the shadow: an edited copy, or one taken over."""
        command = spots(self.file)[number].handler["command"]
        for id, hook in self.model.hooks.items():
            copies = [spot for spot in self.model.spots(id) if spot.handler["command"] == hook.written["command"]]
            if hook.before and copies and command == hook.written["command"]:
                command = hook.before["command"]
        return next((spot for spot in spots(self.shadow) if spot.handler["command"] == command), None)

    @precondition(lambda self: self.ours())
    @rule(data=st.data(), name=st.sampled_from(["timeout", "async", "name"]), value=st.sampled_from([3, None, ...]))
    def the_operator_edits_a_field(self, data: Any, name: str, value: Any) -> None:
        number = data.draw(st.sampled_from(self.ours()))
        for document in (self.file, self.model.file):
            handler = spots(document)[number].handler
            handler.pop(name, None) if value is ... else handler.update({name: value})

    @precondition(lambda self: self.ours())
    @rule(data=st.data(), matcher=st.sampled_from(["", "z"]))
    def the_operator_edits_the_matcher(self, data: Any, matcher: str) -> None:
        number = data.draw(st.sampled_from(self.ours()))
        for spot in (spots(self.file)[number], spots(self.model.file)[number], self.twin(number)):
            if spot and len(spot.group["hooks"]) == 1:
                spot.group.pop("matcher", None)
                spot.group.update({"matcher": matcher} if matcher else {})

    @precondition(lambda self: self.marked())
    @rule(data=st.data())
    def the_operator_edits_the_command(self, data: Any) -> None:
        number = data.draw(st.sampled_from(self.marked()))
        twin, spot = self.twin(number), spots(self.file)[number]
        head = spot.handler["command"].partition("; ")[0]
        command = f"{head}; {self.theirs()}"
        for document in (self.file, self.model.file):
            spots(document)[number].handler["command"] = command
        if twin:
            twin.handler.clear()
            twin.handler.update(spot.handler)
        else:
            self.put_into_the_shadow(number)

    def put_into_the_shadow(self, number: int) -> None:
        """A handler that has become the operator's, at its place among what is theirs."""
        spot, others = spots(self.file)[number], enumerate(spots(self.file))
        theirs = [(n, other.group, twin) for n, other in others if n != number and (twin := self.twin(n))]
        mates = [(n, twin) for n, group, twin in theirs if group is spot.group]
        if mates:
            before = sum(n < number for n, _ in mates)
            mates[0][1].group["hooks"].insert(before, dict(spot.handler))
            return
        index = [group is spot.group for group in spot.groups].index(True)
        before = sum(any(group is other for _, other, _ in theirs) for group in spot.groups[:index])
        matcher = {"matcher": spot.group["matcher"]} if "matcher" in spot.group else {}
        groups(self.shadow, spot.event).insert(before, {**matcher, "hooks": [dict(spot.handler)]})

    @precondition(lambda self: self.marked())
    @rule(data=st.data(), event=EVENTS)
    def the_operator_moves_a_hook_into_a_group_of_theirs(self, data: Any, event: str) -> None:
        number = data.draw(st.sampled_from(self.marked()))
        twin, other = self.twin(number), {"type": "command", "command": self.theirs()}
        for spot, document in (
            (spots(self.file)[number], self.file),
            (spots(self.model.file)[number], self.model.file),
            (twin, self.shadow),
        ):
            if spot:
                spot.remove()
            handlers = [dict(other), spot.handler] if spot else [dict(other)]
            groups(document, event).append({"matcher": "y", "hooks": handlers})

    @precondition(lambda self: self.ours())
    @rule(data=st.data(), event=EVENTS)
    def the_operator_doubles_a_hook(self, data: Any, event: str) -> None:
        number = data.draw(st.sampled_from(self.ours()))
        assume(not self.twin(number))  # which of the two is to become theirs again, nobody knows
        for document in (self.file, self.model.file):
            handler = spots(document)[number].handler
            groups(document, event).append({"hooks": [dict(handler)]})

    @precondition(lambda self: self.marked())
    @rule(data=st.data())
    def the_operator_removes_a_hook(self, data: Any) -> None:
        number = data.draw(st.sampled_from(self.marked()))
        for spot in (self.twin(number), spots(self.model.file)[number], spots(self.file)[number]):
            if spot:
                spot.remove()

    # What must hold

    @invariant()
    def the_oracle_agrees(self) -> None:
        assert self.file == self.model.file
        keys, hooks, made = {}, {}, set()
        for entry in self.entries:
            before = None if entry.before is None else json.loads(entry.before)
            if entry.kind == "container":
                made.add(entry.path)
            elif entry.kind == "leaf":
                owners = {name: (wish.value, wish.merge) for name, wish in entry.owners.items()}
                keys[entry.path[-1]] = Key(owners, entry.written, before, entry.mode == "adopted")
            else:
                ((owner, wish),) = entry.owners.items()
                hooks[entry.id] = Hook(owner, entry.path[-1], wish.value, entry.written, before)
        assert keys == self.model.keys
        assert [list(key.owners) for key in keys.values()] == [list(self.model.keys[key].owners) for key in keys]
        assert hooks == self.model.hooks
        assert made == self.model.made
        for entry in self.entries:
            if entry.kind == "leaf":
                state = engine.state(entry, plain.live(self.file), entry.path)
                assert state == self.model.state(entry.path[-1])
        assert engine.is_wiped(self.entries, plain.live(self.file)) == self.model.wiped()

    @invariant()
    def the_operators_last_word_stands(self) -> None:
        assert {key: self.file.get("env", {}).get(key) for key in self.words} == self.words

    def everything_uninstalled(self, order: str) -> dict[str, Any]:
        file, entries = self.file, self.entries
        for pack in order:
            wants = self.last[pack].wants if pack in self.last else ()
            decision = engine.uninstall(entries, plain.live(file), pack, wants)
            file, entries = plain.carried_out(file, decision.edits), decision.entries
        assert entries == ()
        return file

    @invariant()
    def uninstalling_everything_leaves_what_the_operator_did(self) -> None:
        for order in ("pqr", "rqp"):
            assert bare(self.everything_uninstalled(order)) == bare(self.shadow)


class Losses(Histories):
    """The same where the ledger is lost or not that of the file: nothing of the operator's goes, ours may stay."""

    def uninstall_again(self, pack: str) -> None:
        """What was not the command of a page of another time is, without a page, one that we wrote once."""
        self.carry_out(self.take_out(pack))
        self.model.uninstall(pack, self.hooks_of(pack))
        super().uninstall_again(pack)

    @rule()
    def the_ledger_is_lost(self) -> None:
        known = remembered(self.entries)
        self.model.forget()
        self.entries = ()
        self.give_up(known)

    @rule(pack=PACKS, keys=WISHES, hooks=HOOKS, force=FORCE, written=st.booleans(), leaves=st.booleans())
    def a_page_of_another_time(
        self, pack: str, keys: dict[str, Any], hooks: dict[str, Any], force: bool, written: bool, leaves: bool
    ) -> None:
        """Only the file is of after a command and the ledger of before it, or the other way round."""
        wants, then = Wants(pack, keys, hooks), copy.deepcopy(self.model)
        if leaves:
            decision = self.take_out(pack)
            then.uninstall(pack, self.hooks_of(pack))
        else:
            decision = self.decide(wants, force=force)
            assume(not decision.conflicts)
            then.install(pack, wants.keys, wants.hooks, force=force)
        known = remembered((*self.entries, *decision.entries))
        if written:
            self.file = plain.carried_out(self.file, decision.edits)
            self.model.file = then.file
        else:
            self.entries = decision.entries
            self.model.keys, self.model.hooks, self.model.made = then.keys, then.hooks, then.made
        if force and not leaves:
            self.words = {key: value for key, value in self.words.items() if key not in keys}
        self.give_up(known)

    def give_up(self, known: list[Any]) -> None:
        """What went with a page of the ledger goes from the shadow; nothing else may be missing."""
        after = self.everything_uninstalled("pqr")
        for key, value in list(self.shadow.get("env", {}).items()):
            if after.get("env", {}).get(key) != value:
                assert value in known
                del self.shadow["env"][key]
        stay = [spot.handler for spot in spots(after)]
        for spot in spots(self.shadow):
            if spot.handler not in stay:
                assert spot.handler in known
                spot.remove()

    @invariant()
    def uninstalling_everything_leaves_what_the_operator_did(self) -> None:
        for order in ("pqr", "rqp"):
            after = self.everything_uninstalled(order)
            assert self.shadow.get("env", {}).items() <= after.get("env", {}).items()
            for event, theirs in self.shadow.get("hooks", {}).items():
                left = iter(groups(after, event))
                for group in theirs:
                    assert any(holds(other, group) for other in left), "gone, or in another order"


def remembered(entries: tuple[Entry, ...]) -> list[Any]:
    """What of the operator's only the ledger has, since --force took it over."""
    return [json.loads(entry.before) for entry in entries if entry.before is not None]


def holds(group: dict[str, Any], part: dict[str, Any]) -> bool:
    """Whether a group has the handlers of another one in their order, under the same matcher."""
    left = iter(group["hooks"])
    return group.get("matcher") == part.get("matcher") and all(handler in left for handler in part["hooks"])


EXAMPLES = int(os.environ.get("HOOKCTL_TEST_EXAMPLES", "300"))


@pytest.mark.parametrize("machine", [Histories, Losses])
def test_any_history(machine: type[RuleBasedStateMachine]) -> None:
    """2,000 runs take some minutes: HOOKCTL_TEST_EXAMPLES says how many."""
    examples = settings(
        deadline=None, max_examples=EXAMPLES, stateful_step_count=25, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(machine, settings=examples)


# The invariants of ownership on real files, each with a test of its name.


pytestmark = pytest.mark.usefixtures("fixed_python")

CLAUDE = load("claude")

HOST = ("--host", "claude")
THEIRS = {"type": "command", "command": "say done", "timeout": 5}
OWN: dict[str, Any] = {
    "model": "m",
    "env": {"COLOUR": "vim", "BIG": "12345678901234567890"},
    "hooks": {"Stop": [{"hooks": [THEIRS]}], "PreToolUse": [{"matcher": "Bash", "hooks": [THEIRS]}]},
    "ratios": [0.5, 12345678901234567890, {"é": "ü"}],
}
TEXT = json.dumps(OWN, indent=2, ensure_ascii=False) + "\n"
# What operators and hosts make of a settings file; None: there is none.
DIALECTS = {
    "two spaces": TEXT.encode(),
    "tabs": json.dumps(OWN, indent="\t").encode(),
    "one line": json.dumps(OWN).encode(),
    "minified": json.dumps(OWN, separators=(",", ":"), ensure_ascii=False).encode(),
    "carriage returns": TEXT.replace("\n", "\r\n").encode(),
    "byte order mark": b"\xef\xbb\xbf" + TEXT.encode(),
    "odd": b'{ "env" :{}\n,"hooks": { "Stop" : [ ] } , "a": 1.0e3, "a": 2 }  ',
    "empty object": b"{ }",
    "empty file": b"",
    "no file": None,
}
ALL = pytest.mark.parametrize("data", list(DIALECTS.values()), ids=list(DIALECTS))
FEW = ("two spaces", "carriage returns", "odd", "no file")
SOME = pytest.mark.parametrize("data", [DIALECTS[name] for name in FEW], ids=FEW)


def begin(settings: Path, data: bytes | None) -> None:
    if data is not None:
        put(settings, data)


def pack(name: str, version: str = "1", env: dict[str, str] | None = None, hooks: str = "stop", tail: str = "") -> str:
    """The path of a pack file with these variables, and a hook for each event."""
    lines = ["[pack]", f'name = "{name}"', f'version = "{version}"', "[env]"]
    lines += [f'{key} = "{value}"' for key, value in (env or {}).items()]
    for event in hooks.split():
        lines += ["[[hooks]]", f'event = "{event}"', f'command = "echo {name} {version} {tail}"', "timeout = 10"]
    return str(put(Path(f"{name}.toml"), "\n".join(lines) + "\n").absolute())


def value(path: Path) -> Any:
    data = path.read_bytes().decode("utf-8-sig")
    return json.loads(data) if data.strip() else {}


def ours(document: Any) -> list[str]:
    """The marks of our hooks, in the order of the file."""
    return [element.id for element in plain.elements(document)]


def places(root: Path) -> dict[str, tuple[object, ...]]:
    """Everything that is the operator's: modes, links and bytes, without the times."""
    return {name: (about[0], about[2]) for name, about in tree(root / "home").items()}


# 1, 2: what install and uninstall are to each other


@ALL
def test_invariant_01_install_after_install_is_install(
    data: bytes | None, settings: Path, isolated: Path, hookctl: Hookctl
) -> None:
    begin(settings, data)
    for what in (("guard",), (pack("p", env={"A": "1", "COLOUR": "vi"}, hooks="stop pre-tool"),)):
        assert hookctl("install", *what, *HOST).code == 0
        before = tree(isolated)
        for force in ((), ("--force",)) if what == ("guard",) else ((),):
            assert "nothing to do" in hookctl("install", *what, *HOST, *force).out
            assert tree(isolated) == before, "bytes, modes, times, ledger and backups"


@pytest.mark.parametrize("link", ["", "link", "dangling"])
@ALL
def test_invariant_02_uninstall_after_install_is_identity(
    data: bytes | None, link: str, settings: Path, isolated: Path, hookctl: Hookctl
) -> None:
    real = isolated / "home" / "dotfiles" / "settings.json" if link else settings
    if link:
        real.parent.mkdir()
        settings.parent.mkdir()
        settings.symlink_to(real)
    if data is not None and link != "dangling":
        put(real, data).chmod(0o640)
    before = places(isolated)
    p, q = pack("p", env={"A": "1"}), pack("q", env={"A": "1", "Q": "2"}, hooks="stop pre-tool")
    for what in ("guard", p, q):
        assert hookctl("install", what, *HOST).code == 0
    assert len(ours(value(settings))) == 4
    for name in ("q", "p", "guard"):
        assert hookctl("uninstall", name, *HOST).code == 0
    assert places(isolated) == before
    assert store.load(folders.here()) == {}


# 4, 6: what is the operator's


@SOME
def test_invariant_04_foreign_values_are_unchanged_by_any_command(
    data: bytes | None, settings: Path, hookctl: Hookctl
) -> None:
    begin(settings, data)
    before = foreign(data or b"")
    p = pack("p", env={"P": "1"}, hooks="stop pre-tool")
    for command in (
        ("install",), ("install", p), ("plan", "--set", "max_stop_blocks=9"), ("install", "--set", "max_stop_blocks=9"),
        ("install", "--force"), ("doctor",), ("install", "--mode", "off"), ("install", "--reset"), ("uninstall", "p"),
        ("install", p, "--force"), ("uninstall",), ("uninstall", "p"),
    ):  # fmt: skip
        hookctl(*command, *HOST)
        assert foreign(settings.read_bytes() if settings.exists() else b"") == before, command


def foreign(data: bytes) -> dict[str, Any]:
    """The source text of every value and of every handler that is not ours, where it stands among the others."""
    document = JsonDocument.parse(data)
    root = document.value or {}
    found = {key: document.raw((key,)) for key in root if key not in ("env", "hooks") and data.count(b'"a"') < 2}
    known = ("P", "MAX_STOP_BLOCKS", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP")
    found |= {f"env.{key}": document.raw(("env", key)) for key in root.get("env", {}) if key not in known}
    for path, handler, group in shapes.handlers(CLAUDE.shape, root):
        if not str(handler["command"]).startswith(": hookctl="):
            texts = found.setdefault(f"hooks.{path[1]}", [])
            texts.append((document.raw(path), group.get("matcher")))
    return found


@pytest.mark.parametrize("what", ["edited", "removed", "timeout", "command", "hook removed"])
def test_invariant_06_the_operator_has_the_last_word(what: str, settings: Path, hookctl: Hookctl) -> None:
    put(settings, TEXT)
    old = pack("p", "1", {"A": "1", "B": "2"})
    for path in (old, pack("q", env={"C": "3"})):
        hookctl("install", path, *HOST)
    document = value(settings)
    handler = next(e for e in plain.elements(document) if e.id == "p/stop").path
    group = document["hooks"]["Stop"][handler[2]]
    if what == "edited":
        document["env"]["A"] = "mine"
    elif what == "removed":
        del document["env"]["A"]
    elif what == "timeout":
        group["hooks"][0]["timeout"] = 99
    elif what == "command":
        group["hooks"][0]["command"] += "; mine"
    else:
        document["hooks"]["Stop"].remove(group)

    def word() -> Any:
        here = value(settings)
        found = [e.fields for e in plain.elements(here) if e.id == "p/stop"]
        fields = {"timeout": ["timeout"], "command": ["command", "timeout"]}.get(what, [])
        said = [fields_of[name] for fields_of in found for name in fields]
        return said if what in ("timeout", "command") else found if what == "hook removed" else here["env"].get("A")

    put(settings, json.dumps(document))
    said, new = word(), pack("p", "2", {"A": "7", "B": "8", "C": "3"})
    commands = (("install", new), ("install", "q.toml"), ("install", "guard"), ("uninstall", "q"), ("install", new))
    for command in commands:
        path = str(Path(command[1]).absolute()) if command[1].endswith("q.toml") else command[1]
        outcome = hookctl(command[0], path, *HOST)
        assert outcome.code == 0, outcome
        assert word() == said, command
    hookctl("uninstall", "p", *HOST)
    if what in ("edited", "command"):
        assert word() == said


# 9: nothing else than was planned


def differences(before: Any, after: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys of env, and the events, in which two files differ."""
    for place in ("env", "hooks"):
        old, new = before.get(place, {}), after.get(place, {})
        yield from ((place, key) for key in {*old, *new} if old.get(key) != new.get(key))


@pytest.mark.parametrize("force", [(), ("--force",)])
@ALL
def test_invariant_09_the_plan_is_exact(
    data: bytes | None, force: tuple[str, ...], settings: Path, isolated: Path, hookctl: Hookctl
) -> None:
    begin(settings, data)
    path = pack("p", env={"COLOUR": "vi", "A": "1"}, hooks="stop pre-tool")
    for verb, what in (("install", (path, *force)), ("install", ("guard", *force)), ("uninstall", ("p",))):
        before, then = tree(isolated), value(settings) if settings.exists() else {}
        dry = hookctl(verb, *what, *HOST, "--dry-run", "--json").data
        if verb == "install":
            assert hookctl("plan", *what, *HOST, "--json").data == dry
        assert tree(isolated) == before, "a plan writes nothing"
        done = hookctl(verb, *what, *HOST, "--json").data
        assert {**done, "dry_run": True} == dry
        after = value(settings) if settings.exists() else {}
        planned = {tuple(a["path"]) for a in dry["actions"] if a["kind"] in ("leaf", "element")}
        assert planned == set(differences(then, after))


# 15: no ledger


@pytest.mark.parametrize("lost", range(5))
@SOME
def test_invariant_15_without_the_ledger_nothing_of_the_operators_is_lost(
    data: bytes | None, lost: int, settings: Path, hookctl: Hookctl
) -> None:
    begin(settings, data)
    before = foreign(data or b"")
    path = pack("p", env={"P": "1"}, hooks="stop pre-tool")
    commands = [("install", "guard"), ("install", path), ("install", "guard"), ("uninstall", path), ("uninstall",)]
    for number, command in enumerate(commands):
        if number == lost:
            Path(folders.here().ledger).unlink(missing_ok=True)
        assert hookctl(*command, *HOST).code == 0
        assert foreign(settings.read_bytes() if settings.exists() else b"") == before, command
    assert "guard/stop" not in ours(value(settings) if settings.exists() else {})


# 17: any dialect


def wants(name: str, keys: dict[str, str], events: str = "Stop", run: str = "a") -> list[Wanted]:
    hooks = [
        Wanted(("hooks", event), "element",
             {"type": "command", "command": f": hookctl={name}/{event}; run {run}", "timeout": 10}, f"{name}/{event}",
             rf": hookctl={name}/{event}; run \w")
        for event in events.split()
    ]  # fmt: skip
    return [*hooks, *(Wanted(("env", key), "leaf", value) for key, value in keys.items())]


Q = wants("q", {"B": "2", "S": "5"}, "Stop PreToolUse")


def test_invariant_17_comments_stop_an_install_and_not_an_uninstall(settings: Path, hookctl: Hookctl) -> None:
    """Row 21: the host ignores a file with comments as a whole; taking out is safe."""
    put(settings, TEXT)
    hookctl("install", *HOST)
    commented = settings.read_bytes().replace(b"{\n", b"{\n  // mine\n", 1)
    put(settings, commented)
    for options in ((), ("--set", "max_stop_blocks=9"), ("--force",)):
        outcome = hookctl("install", *HOST, *options, "--json")
        assert (outcome.code, outcome.result["errors"][0]["code"]) == (4, "strict_host")
        assert settings.read_bytes() == commented
    assert hookctl("uninstall", *HOST).code == 0
    assert settings.read_bytes() == TEXT.encode().replace(b"{\n", b"{\n  // mine\n", 1)
