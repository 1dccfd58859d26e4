"""What must hold after any history: several packs, an operator, hosts and crashes, against a shadow.

The shadow is a file to which only the operator's own edits were made: uninstalling everything must leave it. What each
decision is, the table in tests/test_engine.py says.
"""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from hookctl.documents.jsonc import JsonDocument
from hookctl.hosts import load, shapes
from hookctl.model import Decision, Entry, Wanted
from hookctl.ownership import engine
from hookctl.system import folders
from tests import plain
from tests.conftest import Hookctl, put
from tests.manifest import hook, manifest
from tests.plain import bare

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
    """What a version of a pack wants."""

    def __init__(self, pack: str, keys: dict[str, tuple[int, str]], hooks: dict[str, dict[str, Any]]) -> None:
        self.pack, self.keys = pack, keys
        self.wants = [Wanted(("env", key), "leaf", value, merge=rule) for key, (value, rule) in keys.items()]
        for name, fields in hooks.items():
            id = f"{pack}/{name}"
            rest = {name: fields[name] for name in fields if name not in ("run", "event")}
            handler = {"type": "command", "command": f": hookctl={id}; run {fields['run']}", **rest}
            path = ("hooks", fields["event"])
            self.wants.append(Wanted(path, "element", handler, id, partial(": hookctl={}; run [ab]".format, id)))


class Spot(NamedTuple):
    """A handler where it stands."""

    groups: list[Any]
    group: dict[str, Any]
    handler: dict[str, Any]
    event: str

    def remove(self) -> None:
        self.group["hooks"] = [handler for handler in self.group["hooks"] if handler is not self.handler]
        if not self.group["hooks"]:
            self.groups[:] = [group for group in self.groups if group is not self.group]


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
    """The operator's edits are all that an uninstall leaves."""

    def __init__(self) -> None:
        super().__init__()
        self.file: dict[str, Any] = {}
        self.shadow: dict[str, Any] = {}
        self.entries: tuple[Entry, ...] = ()
        self.last: dict[str, Wants] = {}
        self.words: dict[str, int] = {}  # the operator's last word about a key
        self.count = 0

    # The commands

    def carry_out(self, decision: Decision) -> None:
        self.file = plain.carried_out(self.file, decision.edits)
        self.entries = decision.entries

    def decide(self, wants: Wants, *, force: bool) -> Decision:
        return engine.install(self.entries, plain.live(self.file), wants.pack, wants.wants, force=force)

    def run(self, wants: Wants, *, force: bool) -> None:
        decision = self.decide(wants, force=force)
        if decision.conflicts:
            assert decision == Decision(entries=self.entries, conflicts=decision.conflicts)
            return
        self.carry_out(decision)
        self.last[wants.pack] = wants
        if force:
            self.words = {key: value for key, value in self.words.items() if key not in wants.keys}
        self.once_more(self.decide(wants, force=False))

    def once_more(self, decision: Decision) -> None:
        assert (decision.edits, decision.entries, decision.conflicts) == ((), self.entries, {})
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
        self.once_more(self.take_out(pack))

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
        known = [entry for entry in self.entries if entry.path == ("env", key) and entry.mode == "owned"]
        assume(all(entry.written != value for entry in known))  # exactly ours cannot be told from ours
        for document in (self.file, self.shadow):
            document.setdefault("env", {})[key] = value
        self.words[key] = value

    @rule(key=KEYS)
    def the_operator_removes_a_key(self, key: str) -> None:
        for document in (self.file, self.shadow):
            document.get("env", {}).pop(key, None)
        self.words.pop(key, None)

    @rule(event=EVENTS, matcher=st.sampled_from(["", "x"]))
    def the_operator_appends_a_group(self, event: str, matcher: str) -> None:
        handler = {"type": "command", "command": self.theirs()}
        for document in (self.file, self.shadow):
            group = {**({"matcher": matcher} if matcher else {}), "hooks": [dict(handler)]}
            groups(document, event).append(group)

    def theirs(self) -> str:
        """A command that stands nowhere else."""
        self.count += 1
        return f"theirs {self.count}"

    @rule(event=EVENTS)
    def the_operator_reorders_groups(self, event: str) -> None:
        for document in (self.file, self.shadow):
            document.get("hooks", {}).get(event, []).reverse()

    @rule(sort=st.booleans())
    def a_host_writes_the_file_anew(self, sort: bool) -> None:
        self.file = json.loads(json.dumps(self.file, sort_keys=sort))

    @rule()
    def a_host_wipes_the_file(self) -> None:
        self.file, self.shadow = {}, {}
        self.words.clear()

    # The operator and our hooks: the same change in the file, and in the shadow if it is theirs

    def marked(self) -> list[int]:
        """Which of all handlers carry a mark of ours, whatever else was made of them."""
        return [n for n, spot in enumerate(spots(self.file)) if spot.handler["command"].startswith(": hookctl=")]

    def ours(self) -> list[int]:
        return [n for n in self.marked() if "theirs" not in spots(self.file)[n].handler["command"]]

    def twin(self, number: int) -> Spot | None:
        """What an uninstall leaves in place of this handler, in the shadow: an edited copy, or one taken over."""
        command = spots(self.file)[number].handler["command"]
        for entry in self.entries:
            if entry.kind == "element" and entry.before and command == entry.written["command"]:
                command = json.loads(entry.before)["command"]
        return next((spot for spot in spots(self.shadow) if spot.handler["command"] == command), None)

    @precondition(lambda self: self.ours())
    @rule(data=st.data(), name=st.sampled_from(["timeout", "async", "name"]), value=st.sampled_from([3, None, ...]))
    def the_operator_edits_a_field(self, data: Any, name: str, value: Any) -> None:
        number = data.draw(st.sampled_from(self.ours()))
        handler = spots(self.file)[number].handler
        handler.pop(name, None) if value is ... else handler.update({name: value})

    @precondition(lambda self: self.ours())
    @rule(data=st.data(), matcher=st.sampled_from(["", "z"]))
    def the_operator_edits_the_matcher(self, data: Any, matcher: str) -> None:
        number = data.draw(st.sampled_from(self.ours()))
        for spot in (spots(self.file)[number], self.twin(number)):
            if spot and len(spot.group["hooks"]) == 1:
                spot.group.pop("matcher", None)
                spot.group.update({"matcher": matcher} if matcher else {})

    @precondition(lambda self: self.marked())
    @rule(data=st.data())
    def the_operator_edits_the_command(self, data: Any) -> None:
        number = data.draw(st.sampled_from(self.marked()))
        twin, spot = self.twin(number), spots(self.file)[number]
        head = spot.handler["command"].partition("; ")[0]
        spot.handler["command"] = f"{head}; {self.theirs()}"
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
        for spot, document in ((spots(self.file)[number], self.file), (twin, self.shadow)):
            if spot:
                spot.remove()
            handlers = [dict(other), spot.handler] if spot else [dict(other)]
            groups(document, event).append({"matcher": "y", "hooks": handlers})

    @precondition(lambda self: self.ours())
    @rule(data=st.data(), event=EVENTS)
    def the_operator_doubles_a_hook(self, data: Any, event: str) -> None:
        number = data.draw(st.sampled_from(self.ours()))
        assume(not self.twin(number))  # which of the two is to become theirs again, nobody knows
        handler = spots(self.file)[number].handler
        groups(self.file, event).append({"hooks": [dict(handler)]})

    @precondition(lambda self: self.marked())
    @rule(data=st.data())
    def the_operator_removes_a_hook(self, data: Any) -> None:
        number = data.draw(st.sampled_from(self.marked()))
        for spot in (self.twin(number), spots(self.file)[number]):
            if spot:
                spot.remove()

    # What must hold

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


EXAMPLES = int(os.environ.get("HOOKCTL_TEST_EXAMPLES", "300"))


def test_any_history() -> None:
    """2,000 runs take some minutes: HOOKCTL_TEST_EXAMPLES says how many."""
    examples = settings(
        deadline=None, max_examples=EXAMPLES, stateful_step_count=25, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(Histories, settings=examples)


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
    "carriage returns": TEXT.replace("\n", "\r\n").encode(),
    "odd": b'{ "env" :{}\n,"hooks": { "Stop" : [ ] } , "a": 1.0e3, "a": 2 }  ',
    "no file": None,
}
PACK = manifest("p", hook("stop", "echo p"), hook("pre-tool", "echo p"), env={"P": "1"})


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


@pytest.mark.parametrize("lost", range(5))
@pytest.mark.parametrize("data", DIALECTS.values(), ids=DIALECTS)
def test_invariant_15_without_the_ledger_nothing_of_the_operators_is_lost(
    data: bytes | None, lost: int, settings: Path, hookctl: Hookctl
) -> None:
    if data is not None:
        put(settings, data)
    before = foreign(data or b"")
    path = str(put(Path("p.toml"), PACK).absolute())
    commands = [("install", "guard"), ("install", path), ("install", "guard"), ("uninstall", path), ("uninstall",)]
    for number, command in enumerate(commands):
        if number == lost:
            Path(folders.here().ledger).unlink(missing_ok=True)
        assert hookctl(*command, *HOST).code == 0
        assert foreign(settings.read_bytes() if settings.exists() else b"") == before, command
    assert not settings.exists() or "hookctl=guard/stop" not in settings.read_text()


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
