"""What must hold after any history: several packs, an operator, hosts and crashes, against an oracle and a shadow.

The oracle (tests/model.py) says after every step what the file and the ledger have. The shadow is a file to which only
the operator's own edits were made: uninstalling everything must leave it.
"""

from __future__ import annotations

import copy
import json
import os
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from hookctl.model import Decision, Entry, Wanted
from hookctl.ownership import engine
from tests import plain
from tests.model import Hook, Key, Model, Spot, WantedHook
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
