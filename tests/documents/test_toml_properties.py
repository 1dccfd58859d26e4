"""What holds for every TOML document: found by Hypothesis; values by tomllib, edits made on plain values."""

from __future__ import annotations

import contextlib
import copy
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hookctl.documents import MISSING
from hookctl.documents.toml import TomlDocument
from hookctl.errors import HookctlError

from .arbitrary import call_everything, nearly
from .judge import is_thinned
from .test_document_rows import GROUP, STATE, STOP

Path = tuple[str | int, ...]

NAMES = ["a", "b", "hooks", "Stop", "state", '"b c"', "'a.b'", '"k:stop:0:0"', '"\\u0061x"', '"é"']
WRITTEN = {next(iter(tomllib.loads(f"{name} = 1"))): name for name in NAMES}
KEYS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(".".join) | st.sampled_from(["hooks.Stop", "a . b"])
SPELLED = [
    "1", "-0.0", "1_000", "0xFF", "nan", "-nan", "inf", "true", "1979-05-27 07:32:00Z", "07:32:00", "2024-02-29",
    '"x"', "'x # no'", '"\\" # no \\\\"', '"""x"""', '"""\n[a]\n# no\n\\""" "" """', "'''x\n''# no'''", '""', "''",
    "[]", "[ ]", "[1, 2]", "[1,2,]", "[\n  1, # one\n  2 # two\n]", "[ # c\n]", "[[1], [nan]]", "[\n\t1,\n\t2,\n]",
    "{}", "{ }", "{ b = 1 }", "{b=1,a={c=[1]}}", "{ a.b = 1, a.c = 2 }", "[{ a = 1 }, { a = 2 }]",
    "[\n  { hooks = [{ command = 'x' }] }, # c\n]", '{ "b c" = "# no", x = """\n""" }', "[1 # one\n , 2\n ]",
]  # fmt: skip
REMARK = st.sampled_from(["", "", "", " # c", '  # \'a\' """ [b]', "#", "\t"])
INDENT = st.sampled_from(["", "", "", "  ", "\t"])
LINES = st.one_of(
    st.tuples(INDENT, KEYS, st.sampled_from([" = ", "=", "\t=  "]), st.sampled_from(SPELLED), REMARK).map("".join),
    st.tuples(INDENT, KEYS, REMARK).map(lambda parts: f"{parts[0]}[{parts[1]}]{parts[2]}"),
    st.tuples(INDENT, KEYS, REMARK).map(lambda parts: f"{parts[0]}[[ {parts[1]} ]]{parts[2]}"),
    st.sampled_from(["[[hooks.Stop]]", "[[hooks.Stop.hooks]]", "[hooks]", "[hooks.state]", "[[a]]", "[a.b]", "[a]"]),
    st.sampled_from(["", "", "# c", "  # d = 1", "#", " "]),
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Lines that are TOML together: each is taken if what there is so far can still be read."""
    lines: list[str] = []
    for line in draw(st.lists(LINES, max_size=12)):
        try:
            tomllib.loads("\n".join([*lines, line]))
        except tomllib.TOMLDecodeError:
            continue
        lines.append(line)
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n", "\n", "\n\n"]))
    return draw(st.sampled_from(["", "", "", "\ufeff"])) + (text if draw(st.booleans()) else text.replace("\n", "\r\n"))


VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text(st.characters(codec="utf-8"), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def loaded(data: bytes) -> dict[str, Any]:
    return tomllib.loads(data.decode("utf-8-sig"))


def same(a: Any, b: Any) -> bool:
    """Equal in type too, and whatever the order of keys."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and repr(a) == repr(b)


def comments(text: str) -> Counter[str]:
    """The comments of a text, one character at a time."""
    found, at, closing = [], 0, ""
    while at < len(text):
        triple = text[at : at + 3]
        if closing:
            if closing[0] == '"' and text[at] == "\\":
                at += 2
                continue
            if text.startswith(closing, at):
                at += len(closing)
                while len(closing) == 3 and text[at : at + 1] == closing[0]:
                    at += 1
                closing = ""
                continue
            at += 1
        elif triple in ('"""', "'''"):
            closing, at = triple, at + 3
        elif text[at] in "\"'":
            closing, at = text[at], at + 1
        elif text[at] == "#":
            end = re.search(r"\r?\n|$(?!\n)", text[at:])
            found.append(text[at : at + end.start()])  # type: ignore[union-attr]
            at += end.start()  # type: ignore[union-attr]
        else:
            at += 1
    return Counter(found)


def paths(value: Any, above: Path = ()) -> Iterator[Path]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in children:
        yield (*above, key)
        yield from paths(inner, (*above, key))


def at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def changed(value: Any, verb: str, path: Path, new: Any = None, *, goes_whole: bool = False) -> Any:
    """The edit on plain values; of an array that `goes_whole`, no empty one is left."""
    value = copy.deepcopy(value)
    holder = at(value, path[:-1])
    if verb == "remove":
        del holder[path[-1]]
        if goes_whole and not holder:
            del at(value, path[:-2])[path[-2]]
    elif verb == "append":
        holder[path[-1]].append(new)
    else:
        holder[path[-1]] = new
    return value


def has_header(text: str, path: Path) -> bool:
    """Whether a table's header is surely there, however odd the rest of the text is."""
    names = ".".join(WRITTEN.get(key, key) for key in path if isinstance(key, str))
    lines = [line.strip() for line in text.splitlines()]
    return not path or ("'''" not in text and '"""' not in text and f"[{names}]" in lines)


def is_in_brackets(document: TomlDocument, text: str, path: Path) -> bool:
    """Whether a value may be one of those in the brackets of another one."""
    return any(document.raw(path[:length]) in text for length in range(1, len(path)))


@settings(deadline=None, max_examples=250)
@given(texts(), VALUES)
def test_every_edit_means_what_it_means_on_plain_values_and_loses_no_comment(text: str, value: Any) -> None:
    document = TomlDocument.parse(text.encode())
    plain = loaded(document.data)
    before = comments(text)
    for path in paths(plain):
        there = at(plain, path)
        try:
            after = document.remove(path)
        except HookctlError as error:
            assert error.code == "unsupported_toml" and is_in_brackets(document, text, path)
            continue
        is_table = isinstance(path[-1], int) and document.raw(path[:-1]) not in text
        goes_whole = is_table and not any(isinstance(key, int) for key in path[:-1])
        assert same(loaded(after.data), changed(plain, "remove", path, goes_whole=goes_whole))
        assert not comments(after.data.decode()) - before
        try:
            after = document.set(path, value)
            assert same(loaded(after.data), changed(plain, "set", path, value))
            assert not comments(after.data.decode()) - before
        except HookctlError as error:
            inner = there if isinstance(there, list) else [there]
            assert all(isinstance(one, dict) for one in inner)
            assert error.code == "wrong_shape" or not has_header(text, path)
        if isinstance(there, dict):
            try:
                after = document.set((*path, "new key"), value)
            except HookctlError as error:
                assert error.code == "unsupported_toml" and not has_header(text, path)
            else:
                assert same(loaded(after.data), changed(plain, "set", (*path, "new key"), value))
                assert comments(after.data.decode()) == before
        if isinstance(there, list):
            try:
                after = document.append(path, value)
            except HookctlError as error:
                assert error.code == ("unsupported_toml" if document.raw(path) in text else "wrong_shape")
                continue
            assert same(loaded(after.data), changed(plain, "append", path, value))
            assert comments(after.data.decode()) == before
            assert after.remove((*path, len(there))).data == document.data


def pruned(document: TomlDocument, before: TomlDocument, path: Path) -> TomlDocument:
    """Without the containers on the path that were not there before."""
    for length in range(len(path) - 1, 0, -1):
        if before.get(path[:length]) is MISSING:
            document = document.remove(path[:length])
    return document


@settings(deadline=None, max_examples=400)
@given(texts())
def test_insert_then_remove_gives_the_very_bytes(text: str) -> None:
    document = TomlDocument.parse(text.encode())
    for path in (("ours",), ("our", "own", "table"), STATE, ("hooks", "ours")):
        try:
            after = document.set(path, [1, "x"])
        except HookctlError as error:
            assert error.code in ("wrong_shape", "unsupported_toml") and not has_header(text, path[:-1])
            continue
        if document.get(path) is MISSING:
            assert is_thinned(after.data.decode(), text)
            assert pruned(after.remove(path), document, path).data == document.data
    try:
        after = document.append(STOP, GROUP)
    except HookctlError as error:
        assert error.code in ("wrong_shape", "unsupported_toml")
        return
    group = (*STOP, len(after.get(STOP)) - 1)
    for handler_first in (False, True):
        back = after.remove((*group, "hooks", 0)) if handler_first else after
        assert pruned(back.remove(group), document, group).data == document.data


@settings(deadline=None, max_examples=200)
@given(texts())
def test_line_ends_are_never_mixed(text: str) -> None:
    document = TomlDocument.parse(text.encode())
    ends = set(re.findall(r"\r?\n", text))
    edited = document.set(("ours",), 1).set(("t", "u"), {"v": [{"w": 1}]}).set_raw(("raw",), '"""\n"""')
    if ends:
        assert set(re.findall(r"\r?\n", edited.data.decode())) == ends
    for path in paths(loaded(document.data)):
        with contextlib.suppress(HookctlError):
            assert set(re.findall(r"\r?\n", edited.remove(path).data.decode())) <= (ends or {"\n"})


@settings(deadline=None, max_examples=200)
@given(texts())
def test_a_source_text_is_put_back_as_it_was(text: str) -> None:
    document = TomlDocument.parse(text.encode())
    plain = loaded(document.data)
    for path in paths(plain):
        raw = document.raw(path)
        assert same(tomllib.loads(f"v = {raw}")["v"], at(plain, path))
        line, column = document.position(path)
        assert 1 <= line <= text.count("\n") + 1 and column >= 1
        try:
            assert document.set_raw(path, raw).data == document.data
        except HookctlError as error:
            assert error.code == "unsupported_toml" and is_in_brackets(document, text, path)
            continue
        if not isinstance(at(plain, path), dict | list):
            assert document.set(path, "other").set_raw(path, raw).data == document.data


PIECES = st.sampled_from(
    ["[", "]", "[[", "]]", "{", "}", ",", "=", ".", '"', "'", '"""', "'''", "\\", "#", "a", "b", "1", "-", "nan", "\n",
     "\r\n", "\r", " ", "\t", "\ufeff", "\0", "é", "a = 1\n", "[a]\n", "[[hooks.Stop]]\n", "<<<<<<< x\n", "2024-02-29"]
)  # fmt: skip
NEARLY_TOML = nearly(texts(), PIECES)
PATHS = st.lists(st.sampled_from(["a", "b", "hooks", "Stop", 0, 1, -1, ""]), max_size=4).map(tuple)


@settings(deadline=None, max_examples=600)
@given(NEARLY_TOML, PATHS, st.sampled_from(["1", "[1, # c\n]", "{ a = 1 }", "[", '"x"\ny = 2', ""]))
def test_arbitrary_bytes_raise_nothing_but_an_expected_error(data: bytes, path: Path, source: str) -> None:
    try:
        document = TomlDocument.parse(data, where="/x")
    except HookctlError as error:
        assert error.code in ("not_utf8", "unparsable") and error.exit_code == 4
        text = data.decode("utf-8", "replace")
        assert 1 <= error.line <= len(re.split(r"\r\n|\r|\n", text)) and 1 <= error.column <= len(text) + 2
        return
    assert document.data == data
    broken = source in ("[", '"x"\ny = 2', "")
    call_everything(document, path, source, lambda error: error.code in ("wrong_shape", "unsupported_toml") or broken)
