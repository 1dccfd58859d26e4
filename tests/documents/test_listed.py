"""One list of all hooks, shown as a map of events: against an oracle that only knows lists."""

from __future__ import annotations

import copy
import json
import tomllib
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookctl.documents import Document, formats
from hookctl.hosts import shapes
from hookctl.hosts.shapes import Shape
from hookctl.model import AddHook, DropHook, Edit, EditHook, Prune

FEW = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
SHAPE = Shape(root=("hooks",), flat=("*",))
EVENTS = ["Stop", "PreToolUse", "Later"]


class Way(NamedTuple):
    """A way in which a host has its list."""

    format: str  # as hookctl names it
    event: str
    matcher: tuple[str, ...] = ("matcher",)
    command: tuple[str, ...] = ("command",)

    @property
    def is_toml(self) -> bool:
        return self.format.startswith("toml")

    def item(self, event: Any, fields: dict[str, Any]) -> dict[str, Any]:
        """An item as the host's documents have it."""
        item: dict[str, Any] = {self.event: event}
        for name, value in fields.items():
            path = {"matcher": self.matcher, "command": self.command}.get(name, (name,))
            inner = item
            for key in path[:-1]:
                inner = inner.setdefault(key, {})
            inner[path[-1]] = value
        return item

    def read(self, document: Document) -> Any:
        """The file, by a reader that is not hookctl's."""
        text = document.data.decode()
        return tomllib.loads(text) if self.is_toml else json.loads(text)

    def parse(self, data: bytes) -> Document:
        return formats.parse(self.format, data)


WAYS = {
    "kimi": Way("toml:hooks.event", "event"),
    "vibe": Way("toml:hooks.type,matcher=match", "type", matcher=("match",)),
    "kiro": Way("json:hooks.trigger,command=action.command", "trigger", command=("action", "command")),
}
EACH = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


def theirs(way: Way) -> st.SearchStrategy[dict[str, Any]]:
    """Somebody's hook, or what is none."""
    fields = st.fixed_dictionaries(
        {"command": st.sampled_from(["bell", "say 'é'"])},
        optional={"matcher": st.just("Bash"), "timeout": st.integers(1, 9), "name": st.just("x # y")},
    )
    hooks = st.builds(way.item, st.sampled_from(EVENTS), fields)
    odd: list[Any] = [way.item(event, {"command": "no event"}) for event in ("", 5)] + [{}]
    odd.append({way.event: "Stop", "command": "at the top", "matcher": "mine"})
    return st.one_of(hooks, hooks, hooks, st.sampled_from(odd if way.is_toml else [*odd, "text", None]))


def text_of(way: Way, items: list[Any], before: str, after: bool) -> bytes:
    """A file with these items, as its format has them, with comments between where it takes them."""
    if not way.is_toml:
        document: dict[str, Any] = {"version": "v1"}
        if items or after:
            document["hooks"] = items
        if after:
            document["other"] = {"hooks": [{way.event: "Stop"}]}
        return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()
    parts = [before]
    for number, item in enumerate(items):
        rows = [f"# the hook {number}", "[[hooks]]"]
        rows += [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in item.items()]
        parts.append("\n".join([*rows, "# behind it", ""]))
    parts += ["[other]\nx = 1 # one\n"] if after else []
    return "\n".join(filter(None, parts)).encode()


@st.composite
def files(draw: st.DrawFn, way: Way) -> bytes:
    items = draw(st.lists(theirs(way), max_size=5))
    before = draw(st.sampled_from(["", "# mine\n", 'model = "m"\n\n[models]\na = 1\n']))
    return text_of(way, items, before, draw(st.booleans()))


def ours(id: str, tail: str) -> str:
    return f": hookctl={id}; {tail}"


@EACH
@FEW
@given(data=st.data())
def test_hooks_come_change_and_go_and_nothing_else_moves(way: Way, data: Any) -> None:
    before = way.parse(data.draw(files(way)))
    original = way.read(before)
    items: list[Any] = copy.deepcopy(original.get("hooks", []))
    document = before
    for number in range(data.draw(st.integers(1, 6))):
        hooks = shapes.elements(SHAPE, document.value)
        step = data.draw(st.sampled_from(["add", "add", "edit", "drop"] if hooks else ["add"]))
        edit: Edit
        if step == "add":
            event = data.draw(st.sampled_from(EVENTS))
            fields: dict[str, Any] = {"command": ours(f"p/h{number}", f"echo {number}"), "timeout": 10}
            fields |= {"matcher": "Edit"} if data.draw(st.booleans()) else {}
            edit = AddHook(("hooks", event), fields)
            items.append(way.item(event, fields))
        else:
            hook = data.draw(st.sampled_from(hooks))
            (place,) = (at for at, item in enumerate(items) if hook.fields["command"] in json.dumps(item))
            event = items[place][way.event]
            if step == "drop":
                edit = DropHook(hook)
                del items[place]
            else:
                changes = {"command": ours(hook.id, "other"), "matcher": "Read"}
                changes["command"] += f" {number}"
                fields = {name: value for name, value in {**hook.fields, **changes}.items() if name != "timeout"}
                edit = EditHook(hook, {**changes, "timeout": None})
                items[place] = way.item(event, fields)
        document = shapes.apply(SHAPE, document, (edit,))
        assert {"hooks": [], **way.read(document)} == {**original, "hooks": items}
        for hook in shapes.elements(SHAPE, document.value):
            (place,) = (at for at, item in enumerate(items) if hook.fields["command"] in json.dumps(item))
            assert way.item(shapes.event_of(SHAPE, hook.path), hook.fields) == items[place]
            assert document.get(hook.path) == hook.fields
    drops = tuple(DropHook(hook) for hook in shapes.elements(SHAPE, document.value))
    pruned = () if "hooks" in original else (Prune(("hooks", "Stop")), Prune(("hooks",)))
    assert shapes.apply(SHAPE, document, (*drops, *pruned)).data == before.data


def test_a_path_is_named_as_people_find_it_in_the_file() -> None:
    way = WAYS["kiro"]
    items = [way.item(event, {"command": "x"}) for event in ("Later", "Stop", "Later")]
    document = way.parse(json.dumps({"a": [1], "hooks": [*items, "text"]}).encode())
    names = {
        ("a", 0): "a[0]",
        ("hooks",): "hooks",
        ("hooks", "Later"): "hooks[0].trigger",
        ("hooks", "Later", 1): "hooks[2]",
        ("hooks", "Later", 1, "command"): "hooks[2].action.command",
        ("hooks", "Later", 2): "hooks[4]",  # where it would come to stand
        ("hooks", "Nowhere"): "hooks",
        ("hooks", ""): "hooks[3]",
        (): "",
    }
    assert {path: document.name_of(path) for path in names} == names
