"""What must hold on real files, whatever an operator has in them; for histories see test_machine.py."""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookctl import hosts, packs
from hookctl.documents.listed import Listing
from hookctl.documents.toml import inline
from hookctl.errors import HookctlError
from hookctl.ownership import sources, store
from hookctl.settings import targets
from hookctl.system import interpreter
from hookctl.system.folders import Folders
from hookctl.verbs.install import install
from hookctl.verbs.uninstall import uninstall
from tests.conftest import put
from tests.hostfiles import BY_NAME, KINDS, Kind

THEIRS = {"type": "command", "command": "say done"}


class Place:
    """A home with one settings file, and hookctl's own folders."""

    def __init__(self, top: Path, kind: Kind) -> None:
        self.settings = kind.path(top, "user")
        self.kind = kind
        environ = {"HOME": str(top / "home"), "PATH": "/usr/bin:/bin"}
        self.folders = Folders(str(top / "state"), str(top / "data"), environ, str(top))
        self.pack = packs.load("guard")

    @property
    def places(self) -> list[targets.Target]:
        """Where the host's settings stand now."""
        return [targets.find(hosts.load(self.kind.host), "user", self.folders)]

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


ON_DISK = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
CHOICES = st.sampled_from([
    {},
    {"assign": ("max_stop_blocks=12",)},
    {"assign": ("max_stop_blocks=0", "latch=false")},
    {"preset": "bmad", "nudge": "done,stuck"},
    {"dispatch": ("Task:9/60", "mcp__a.b")},
    {"dispatch": ("",)},
]).flatmap(lambda options: st.booleans().map(lambda force: {**options, "force": force}))  # fmt: skip


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
        assert store.load(here.folders) == {}
        assert not os.path.exists(here.folders.data)


@settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
@given(data=st.one_of(st.binary(max_size=30), texts().flatmap(
    lambda text: st.integers(0, len(text)).map(lambda cut: text[:cut] + text[cut + 1:]))))  # fmt: skip
def test_whatever_a_file_has_it_is_edited_or_refused_and_never_harmed(tmp_path_factory: Any, data: bytes) -> None:
    with place(tmp_path_factory.getbasetemp()) as here, mock.patch.object(sources, "READ_PAUSE", 0):
        put(here.settings, data)
        try:
            here.install()
        except HookctlError as error:
            assert error.exit_code == 4
        else:
            here.uninstall()
        assert here.settings.read_bytes() == data


# What must hold on real files with one list of all hooks, in which each names its event, in TOML and in JSON.


OURS = "hookctl=guard/"
LISTS = [kind for kind in KINDS if kind.event]
EACH = pytest.mark.parametrize("kind", LISTS, ids=lambda kind: kind.name)
FEW = settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))
COMMENTS = ["", "", "\n", "# c\n", "  # [[hooks]]\n", "\t\n\n"]
ENDS = ["", "", "  ", " # t", "\t# é"]
VALUES = [
    "1",
    "1.0",
    "[]",
    "{}",
    '"x # y"',
    "'[[hooks]]'",
    '"""\n[[hooks]]\n"""',
    "[1,  2, # c\n]",
    "07:32:00",
    "{ a.b = [] }",
]


def listing_of(kind: Kind) -> Listing:
    return Listing.parse(hosts.load(kind.host).format.partition(":")[2])


@st.composite
def items(draw: st.DrawFn, kind: Kind) -> dict[str, Any]:
    """A hook of another tool; sometimes of no event, or of one that the host does not have."""
    listing, events = listing_of(kind), [*hosts.load(kind.host).events.values()]
    fields = draw(st.fixed_dictionaries({"command": st.sampled_from(["bell", 'say "é" # x'])}, optional={
        "timeout": st.just(5), "matcher": st.just("Bash"), "more": st.just("{a}"),
    }))  # fmt: skip
    item = listing.item_of(draw(st.sampled_from([*events, "Unknown"])), fields)
    if draw(st.integers(0, 9)) == 0:
        item[kind.event] = 5
    return dict(draw(st.permutations(list(item.items()))))


@st.composite
def tables(draw: st.DrawFn, item: dict[str, Any]) -> str:
    """A hook as a table of TOML, with a table inside it as one of three forms."""
    text = draw(st.sampled_from(["[[hooks]]", "[[ hooks ]]", '  [["hooks"]]'])) + draw(st.sampled_from(ENDS)) + "\n"
    below = ""
    for key, value in item.items():
        form = draw(st.integers(0, 2)) if isinstance(value, dict) else 0
        if form == 0:
            text += f"{key}{draw(st.sampled_from(['=', ' = ']))}{inline(value)}{draw(st.sampled_from(ENDS))}\n"
        elif form == 1:
            text += "".join(f"{key}.{name} = {inline(inner)}\n" for name, inner in value.items())
        else:
            below += f"[hooks.{key}]\n" + "".join(f"{name} = {inline(inner)}\n" for name, inner in value.items())
    return text + below


@st.composite
def toml_texts(draw: st.DrawFn, kind: Kind) -> str:
    comments = st.sampled_from(COMMENTS)
    found = draw(st.lists(items(kind), max_size=3))
    text = draw(comments)
    for number in range(draw(st.integers(0, 2))):
        text += f"k{number} = {draw(st.sampled_from(VALUES))}{draw(st.sampled_from(ENDS))}\n{draw(comments)}"
    parts = [f"[t{number}]\nk = {draw(st.sampled_from(VALUES))}\n" for number in range(draw(st.integers(0, 2)))]
    if draw(st.integers(0, 2)):
        parts += [draw(tables(item)) for item in found]
    else:
        text += f"hooks = [{', '.join(map(inline, found))}]{draw(st.sampled_from(ENDS))}\n"
    return text + "".join(part + draw(comments) for part in draw(st.permutations(parts)))


@st.composite
def json_texts(draw: st.DrawFn, kind: Kind) -> str:
    document = draw(st.fixed_dictionaries({}, optional={
        "hooks": st.lists(items(kind), max_size=3), "a": st.sampled_from([1.0, None, [], {"é": "}"}]),
        **{key: st.just(value) for key, value in hosts.load(kind.host).registration.top.items()},
    }))  # fmt: skip
    pairs = draw(st.permutations(list(document.items())))
    text = json.dumps(dict(pairs), indent=draw(st.sampled_from([None, 2, "\t"])), ensure_ascii=draw(st.booleans()))
    return text + draw(st.sampled_from(["", "\n"]))


@st.composite
def files(draw: st.DrawFn, kind: Kind) -> bytes:
    """A settings file as some tool or person has it."""
    text = draw(toml_texts(kind) if kind.format == "toml" else json_texts(kind))
    text = draw(st.sampled_from([text, text, text.rstrip("\n"), text.replace("\n", "\r\n")]))
    return draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"] if kind.byte_order_mark else [b""])) + text.encode()


def document_of(kind: Kind, data: bytes) -> dict[str, Any]:
    text = data.decode("utf-8-sig").replace("\r\n", "\n")
    document: dict[str, Any] = tomllib.loads(text) if kind.format == "toml" else json.loads(text or "{}")
    return document


def theirs(kind: Kind, document: dict[str, Any]) -> dict[str, Any]:
    """The document without what is ours, and without what a file must have besides."""
    left = {key: value for key, value in document.items() if key not in hosts.load(kind.host).registration.top}
    left["hooks"] = [item for item in left.get("hooks", ()) if OURS not in json.dumps(item)]
    return left


def installed(here: Place, before: dict[str, Any]) -> bytes:
    """The bytes of the file after an install, which changes nothing of anybody's and does nothing twice."""
    here.install()
    data = here.settings.read_bytes()
    document = document_of(here.kind, data)
    assert theirs(here.kind, document) == theirs(here.kind, before)
    assert any(OURS in json.dumps(hook) for hook in here.kind.stop_hooks(document))
    here.install()
    assert here.settings.read_bytes() == data
    return data


@EACH
@FEW
@given(data=st.data())
def test_uninstall_gives_back_the_very_bytes_of_a_list(tmp_path_factory: Any, kind: Kind, data: Any) -> None:
    before = data.draw(files(kind))
    with place(tmp_path_factory.getbasetemp(), kind) as here:
        put(here.settings, before)
        installed(here, document_of(kind, before))
        here.uninstall()
        assert here.settings.read_bytes() == before
        assert store.load(here.folders) == {}
        assert not os.path.exists(here.folders.data)


def _insert(text: str, new: str, place: float) -> str:
    """The text with a new part before one of its hooks, or at its end."""
    starts = [number for number, line in enumerate(text.split("\n")) if line.strip() == "[[hooks]]"]
    rows = text.split("\n")
    at = starts[int(place * len(starts))] if starts and place < 1 else len(rows)
    return "\n".join([*rows[:at], new, *rows[at:]])


def _move_ours(text: str, _new: str, _place: float) -> str:
    """The text with the first hook of ours at the end."""
    rows = text.split("\n")
    mark = next(number for number, row in enumerate(rows) if OURS in row)
    first = max(number for number, row in enumerate(rows[:mark]) if row.strip() == "[[hooks]]")
    last = next((n for n in range(mark, len(rows)) if rows[n].startswith("[")), len(rows))
    return "\n".join([*rows[:first], *rows[last:], "", *rows[first:last]])


def _edit_ours(text: str, _new: str, _place: float) -> str:
    return text.replace("timeout = 10", "timeout = 77")


EDITS: dict[str, Callable[[str, str, float], str]] = {
    "a hook before ours or behind": _insert, "ours moved": _move_ours, "ours changed": _edit_ours,
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
@pytest.mark.parametrize("kind", [kind for kind in LISTS if kind.format == "toml"], ids=lambda kind: kind.name)
@settings(FEW, max_examples=8)
@given(data=st.data(), place_of_it=st.floats(0, 1.5), again=st.booleans())
def test_an_operators_edit_between_ours_survives_everything(
    tmp_path_factory: Any, kind: Kind, edit: Any, data: Any, place_of_it: float, again: bool
) -> None:
    hooks = [data.draw(tables(item)) for item in data.draw(st.lists(items(kind), max_size=2))]
    new = data.draw(tables(data.draw(items(kind))))
    with place(tmp_path_factory.getbasetemp(), kind) as here:
        put(here.settings, "# mine\n" + "\n".join(hooks))
        here.install()
        edited = edit(here.settings.read_text(), new, place_of_it)
        wanted = theirs(kind, document_of(kind, put(here.settings, edited).read_bytes()))
        if again:
            installed(here, document_of(kind, edited.encode()))
        here.uninstall()
        text = here.settings.read_text()
        assert OURS not in text and theirs(kind, document_of(kind, text.encode())) == wanted
        assert [line for line in "\n".join(hooks).split("\n") if line not in text.split("\n")] == []
