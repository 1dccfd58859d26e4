"""What must hold on real files of every shape, whatever an operator has in them; for histories see test_machine.py."""

from __future__ import annotations

import copy
import json
import os
import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookctl.documents.jsonc import JsonDocument
from hookctl.hosts import shapes
from hookctl.hosts.shapes import Shape
from hookctl.model import AddHook, DropHook, EditHook
from hookctl.ownership import store
from hookctl.system import files, interpreter
from hookctl.system.folders import Folders
from hookctl.verbs.install import install
from hookctl.verbs.uninstall import uninstall
from tests.conftest import put
from tests.hostfiles import BY_NAME, Kind
from tests.plain import bare

THEIRS = {"type": "command", "command": "say done"}


class Place:
    """A home with one settings file, and hookctl's own folders."""

    def __init__(self, top: Path, kind: Kind) -> None:
        self.settings = kind.path(top, "user")
        self.kind = kind
        environ = {"HOME": str(top / "home"), "PATH": "/usr/bin:/bin"}
        self.folders = Folders(str(top / "state"), str(top / "data"), environ, str(top))

    def install(self, **options: Any) -> None:
        result = install(self.folders, "guard", [self.kind.host], **options)
        assert {error["code"] for error in result.errors} <= {"no_effect"}  # what a person changed or disabled

    def uninstall(self) -> None:
        uninstall(self.folders, "guard", [self.kind.host], yes=True)

    def document(self) -> Any:
        return json.loads(self.settings.read_bytes().decode("utf-8-sig"))


@contextmanager
def place(base: Path, kind: Kind = BY_NAME["claude"]) -> Iterator[Place]:
    """A fresh one, on a disk that one need not wait for."""
    top = base / "place"
    shutil.rmtree(top, ignore_errors=True)
    top.mkdir()
    quick = mock.patch.object(os, "fsync", lambda handle: None)
    python = mock.patch.object(interpreter, "choose", lambda environ: ("/usr/bin/python3", ""))
    with quick, python:
        yield Place(top, kind)


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
def texts(draw: Any, documents: Any = DOCUMENTS) -> bytes:
    """A settings file as some tool or person formats it."""
    document = draw(documents)
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


OURS = "hookctl=guard/"
NAMES = (
    "antigravity", "claude", "codex", "copilot", "cursor", "droid", "droid-hooks", "gemini", "grok", "openhands",
    "openhands-wrapped", "vscode", "windsurf",
)  # fmt: skip
EACH = pytest.mark.parametrize("kind", [BY_NAME[name] for name in NAMES], ids=NAMES)
FEW = settings(deadline=None, max_examples=12, suppress_health_check=list(HealthCheck))
CHOICES = st.sampled_from([
    {}, {"force": True}, {"assign": ("max_stop_blocks=12", "latch=false")},
    {"nudge": "done", "dispatch": ("Task:9/60",)}, {"mode": "keepalive"},
    {"assign": ("max_stop_blocks=0",), "preset": "bmad"}, {"dispatch": ("",)},
])  # fmt: skip


def entries(kind: Kind) -> Any:
    """An operator's entry in an event's list, in the host's shape or in none."""
    extra = st.dictionaries(st.sampled_from(["timeout", "ü", "_tag"]), st.integers(1, 9), max_size=2)
    handlers = st.builds(lambda name, more: {"type": "command", "command": f"x{name}", **more}, TEXT, extra)
    if kind.flat:
        return st.one_of(handlers, handlers, st.sampled_from(["x.sh", None, {}]))
    groups = st.builds(lambda hooks, more: {**more, "hooks": hooks}, st.lists(handlers, max_size=2), extra)
    return st.one_of(groups, groups, handlers, st.sampled_from(["x.sh", None, {}]))


def documents(kind: Kind) -> Any:
    """What an operator may have in such a file."""
    if kind.name == "claude":  # whose variables may be there before us
        return DOCUMENTS
    events = st.dictionaries(st.sampled_from([kind.stop[-1], "another"]), st.lists(entries(kind), max_size=3))
    events = st.builds(lambda found, more: {**found, **more}, events,
                       st.dictionaries(st.just("imported"), st.lists(TEXT, max_size=2)))  # fmt: skip
    if len(kind.stop) == 1:
        return events
    top = {kind.stop[0]: events, "model": SCALARS, "lint": events, "é\n": st.dictionaries(TEXT, SCALARS, max_size=2)}
    if kind.name in ("copilot", "cursor"):
        top["version"] = st.sampled_from([1, 2, "1"])
    shuffled = st.fixed_dictionaries({}, optional=top).flatmap(lambda found: st.permutations(list(found.items())))
    return (
        shuffled.map(dict)
        if not kind.name.endswith("-wrapped")
        else shuffled.map(lambda pairs: {"hooks": {}, **dict(pairs)})
    )


def bytes_of(kind: Kind) -> Any:
    """Such a file as some tool formats it; with a byte order mark only where the host reads one."""
    found = texts(documents(kind))
    found = found if kind.byte_order_mark else found.map(lambda data: data.removeprefix(b"\xef\xbb\xbf"))
    return found.filter(lambda data: b"hooks" in data) if kind.name.endswith("-wrapped") else found


@EACH
@FEW
@given(data=st.data(), first=CHOICES, second=CHOICES)
def test_uninstall_gives_back_the_very_bytes(
    tmp_path_factory: Any, kind: Kind, data: Any, first: Any, second: Any
) -> None:
    before = data.draw(bytes_of(kind))
    with place(tmp_path_factory.getbasetemp(), kind) as here:
        put(here.settings, before)
        here.install(**first)
        assert OURS in here.settings.read_text("utf-8-sig")
        written = [here.settings, Path(here.folders.ledger)]
        after = [(path.read_bytes(), path.stat().st_mtime_ns) for path in written]
        count = len(os.listdir(files.backup_folder(here.folders, str(here.settings))))
        here.install()
        assert [(path.read_bytes(), path.stat().st_mtime_ns) for path in written] == after
        assert len(os.listdir(files.backup_folder(here.folders, str(here.settings)))) == count
        here.install(**second)
        here.uninstall()
        assert here.settings.read_bytes() == before
        assert store.load(here.folders).files == {}
        assert not os.path.exists(here.folders.data)


Change = Callable[[Any, Kind], None]


def listed(document: Any, kind: Kind) -> list[Any]:
    for key in kind.stop[:-1]:
        document = document.setdefault(key, {})
    return document.setdefault(kind.stop[-1], [])


def append(entry: Any) -> Change:
    return lambda document, kind: listed(document, kind).append(copy.deepcopy(entry))


def reverse(document: Any, kind: Kind) -> None:
    listed(document, kind).reverse()


def remove_first(document: Any, kind: Kind) -> None:
    found = listed(document, kind)
    theirs = [number for number, entry in enumerate(found) if OURS not in json.dumps(entry)]
    if theirs:
        del found[theirs[0]]


def new_key(document: Any, kind: Kind) -> None:
    document["another"] = [{"type": "command", "command": "late"}]


def edited(document: Any, changes: list[Change], kind: Kind) -> Any:
    result = copy.deepcopy(document)
    for change in changes:
        change(result, kind)
    return result


def meant(document: Any, kind: Kind) -> Any:
    """Without what is empty; for Codex, empty groups too: they keep the places of the hooks behind them.

    And without the version that a file must have: one of ours stays with hooks of the operator's.
    """
    found = bare(document)
    if kind.flat and found.get("version") == 1:
        del found["version"]
    for event in found.get("hooks", {}).values() if kind.name == "codex" else ():
        event[:] = [entry for entry in event if entry != {}]
    return bare(found)


@EACH
@FEW
@given(data=st.data(), again=st.booleans(), indent=st.sampled_from([2, None]))
def test_the_operators_edits_survive_everything(
    tmp_path_factory: Any, kind: Kind, data: Any, again: bool, indent: Any
) -> None:
    before = data.draw(bytes_of(kind))
    steps = st.one_of(st.builds(append, entries(kind)), st.sampled_from([reverse, remove_first, new_key]))
    changes = data.draw(st.lists(steps, max_size=4))
    with place(tmp_path_factory.getbasetemp(), kind) as here:
        put(here.settings, before)
        original = json.loads(before.decode("utf-8-sig")) if before.decode("utf-8-sig").strip() else {}
        here.install()
        put(here.settings, json.dumps(edited(here.document(), changes, kind), indent=indent, ensure_ascii=False))
        if again:
            here.install()
            once = here.settings.read_bytes()
            here.install()
            assert here.settings.read_bytes() == once
        here.uninstall()
        assert OURS not in here.settings.read_text()
        assert meant(here.document(), kind) == meant(edited(original, changes, kind), kind)
        for record in store.load(here.folders).files.values():  # of an empty place before a hook of theirs
            assert kind.name == "codex" and record.gaps and not record.packs


# The shapes by themselves, one without a shell among them
SHAPES = {
    "nested": Shape(), "flat": Shape(flat=("*",)), "at the root": Shape(root=()), "positions": Shape(positions=True),
    "named groups": Shape(root=("hookctl-{pack}",), flat=("Stop",)), "no shell": Shape(flat=("*",), shell=False),
}  # fmt: skip
COMMANDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"]), max_size=12).map(
    lambda text: f": hookctl=p/a; echo '{text.replace(chr(39), '')}'; exit 0"
)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
@given(data=st.data(), command=COMMANDS, other=COMMANDS, matcher=st.sampled_from([None, "Bash"]))
def test_what_is_added_is_found_edited_and_taken_out(
    shape: Shape, data: Any, command: str, other: str, matcher: str | None
) -> None:
    event = data.draw(st.sampled_from(["Stop", "PreToolUse"]))
    kind = BY_NAME["copilot"] if shape.is_flat(event) else BY_NAME["claude"]
    theirs = data.draw(st.lists(entries(kind), max_size=3))
    path = shape.event_path(event, "p")
    document = JsonDocument.parse(b'{\n  "x": 1\n}\n').set(path, theirs)
    fields = {"command": command, "timeout": 10, **({"matcher": matcher} if matcher else {})}
    added = shapes.apply(shape, document, (AddHook(path, fields),))
    assert shapes.is_event_path(shape, path)
    (element,) = shapes.elements(shape, added.value)
    assert (element.id, element.fields, shapes.event_of(shape, element.path)) == ("p/a", fields, event)
    assert added.get(path)[:-1] == theirs
    if not shape.shell:
        assert shlex.split(added.get(path)[-1]["command"]) == ["sh", "-c", command]
    changed = shapes.apply(shape, added, (EditHook(element, {"command": other, "timeout": None}),))
    (element,) = shapes.elements(shape, changed.value)
    assert element.fields == {name: value for name, value in {**fields, "command": other}.items() if name != "timeout"}
    assert shapes.apply(shape, changed, (DropHook(element),)).value == document.value


# How a hook element stands in a settings file.
OURS_OF_SHAPES = {"type": "command", "command": ": hookctl=notify/done; notify", "timeout": 10}


NESTED = Shape()


def document(*groups: object) -> JsonDocument:
    return JsonDocument.parse(json.dumps({"hooks": {"PostToolUse": list(groups)}}, indent=2).encode())


def test_a_matcher_is_edited_only_where_it_is_ours() -> None:
    for handlers, matcher in (([OURS_OF_SHAPES], "Edit"), ([THEIRS, OURS_OF_SHAPES], "Bash")):
        before = document({"matcher": "Bash", "hooks": handlers})
        (element,) = shapes.elements(NESTED, before.value)
        after = shapes.apply(NESTED, before, (EditHook(element, {"matcher": "Edit", "timeout": 20}),))
        (group,) = after.value["hooks"]["PostToolUse"]
        assert group["matcher"] == matcher
        assert group["hooks"] == [
            {**OURS_OF_SHAPES, "timeout": 20} if handler is OURS_OF_SHAPES else handler for handler in handlers
        ]
