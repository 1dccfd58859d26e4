# ruff: noqa: E501  # tables
"""What cannot be read or edited safely is refused: with a code, a place, a message and what to do."""

from __future__ import annotations

import contextlib
import datetime
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookctl.documents import formats
from hookctl.documents.jsonc import JsonDocument
from hookctl.documents.yaml import YamlDocument
from hookctl.errors import HookctlError
from tests.documents.generated import call_everything
from tests.documents.refused import WHERE, refused
from tests.documents.table import Edit, document_of, read_table
from tests.documents.test_document_rows import parse_json as parse
from tests.texts import all_of

LONG = [
    ("toml", "a = " + "[" * 5000 + "]" * 5000, "unparsable 1:1", "deep"),
    ("toml", "a = " + "[" * 101 + "]" * 101, "unparsable 1:1", "deep"),
    ("toml", 'a = { "b\nc" = 1 }', "unparsable 1:9", "Illegal character"),  # two lines are not joined to one string
    ("toml", "a = { b\n = 1 }", "unparsable 1:8", "="),
    ("toml", "a = { b = # c\n 1 }", "unparsable 1:11", "value"),
    ("toml", "a" + ".a" * 50_000 + " = 1", "unparsable 1:1", "many parts"),
    ("toml", "[x]\n [ a" + ". 'a'" * 101 + "]", "unparsable 2:4", "many parts"),
    ("toml", "x = { a" + '."\\""' * 101 + " = 1}", "unparsable 1:7", "many parts"),
    ("toml", "a = " + "1" * 5000, "unparsable 1:5005", "4300 digits"),
    ("yaml", "[" * 300, "unparsable 1:1", "levels deep"),
    ("yaml", "- " * 300 + "x", "unparsable 1:1", "levels deep"),
]
UNREADABLE = [(format, document_of(text), *more) for format, text, *more in read_table("unreadable")]
UNREADABLE += [(format, text.encode(), *more) for format, text, *more in LONG]


@all_of(("format", "data", "wanted", "words"), UNREADABLE)
def test_what_cannot_be_read_is_refused_with_its_place(format: str, data: bytes, wanted: str, words: str) -> None:
    code, line, column = refused(lambda: formats.parse(format, data, where=WHERE))
    assert f"{code} {line}:{column}" == wanted
    with pytest.raises(HookctlError, match=re.escape(words)):
        formats.parse(format, data)


@all_of(("format", "edit", "text", "wanted"), read_table("unfit"))
def test_an_edit_that_does_not_fit_is_refused_with_its_place(format: str, edit: str, text: str, wanted: str) -> None:
    document = formats.parse(format, document_of(text), where=WHERE)
    code, line, column = refused(lambda: Edit.read(edit).of(document))
    assert f"{code} {line}:{column}" == wanted
    assert document.data == document_of(text)


UNWRITABLE: list[tuple[str, str, Any]] = [
    ("json", '{"a": 1}', b"bytes"), ("yaml", "a: 1\n", datetime.date(2026, 11, 22)),
    *(("toml", "a = 1\n", value) for value in (None, [None], {"a": None}, b"x", {1}, "\ud800", {"\ud800": 1})),
    ("toml", "a = 1\n", datetime.timedelta(1)),
]  # fmt: skip


@pytest.mark.parametrize(("format", "text", "value"), UNWRITABLE)
def test_a_value_that_cannot_be_written_is_refused(format: str, text: str, value: Any) -> None:
    document = formats.parse(format, text.encode(), where=WHERE)
    for method in (document.set, document.append):
        assert refused(lambda method=method: method(("b",), value)) == ("unexpected", 1, 1)


@pytest.mark.parametrize(
    ("text", "path", "said"),
    [
        ('{"a": null}', ("a", "b"), "a is not an object"), ('{"x": {"a": {}}}', ("x", "a", 0), "x.a is not an array"),
        ("[]", ("a",), "the document is not an object"), ('{"a": [1]}', ("a", 1), "a is not an array with that element"),
    ],
)  # fmt: skip
def test_a_wrong_shape_is_named_with_what_is_needed(text: str, path: tuple[str | int, ...], said: str) -> None:
    with pytest.raises(HookctlError, match=said):
        parse(text).set(path, 1)


@pytest.mark.parametrize(
    ("format", "text", "path"),
    [
        ("json", '{"a":1,"a":2,"b":1}', ("b",)), ("json", '{"b":{"a":1,"a":2}}', ("b",)), ("json", '{"a":1}', ("x", "y")),
        ("json", "", ("a",)), ("json", "[1]", (0, "a")), ("yaml", "a: 1\na: 2\nb: 1\n", ("b",)), ("yaml", "", ("a",)),
        ("yaml", "a: &x 1\nb: *x\nc: {}\n", ("c", "d")), ("yaml", "a: {}\nc: 1\n", ("a", "b")),
        ("yaml", "a: &x {b: 1}\nc: *x\n", ("c",)), ("yaml", "a: 1\n", ("a", "b")),
        ("yaml", "a: &x {b: 1}\nc:\n  <<: *x\nd: {}\n", ("d", "e")),
    ],
)  # fmt: skip
def test_a_path_through_nothing_double_or_shared_is_let_through(format: str, text: str, path: Any) -> None:
    assert formats.parse(format, text.encode()).check_path(path)[1] <= len(path)


def test_an_integer_of_thousands_of_digits_is_refused() -> None:
    document = parse('{"a": 1, "n": ' + "1" * 5000 + "}")
    assert len(document.raw(("n",))) == 5000
    for ask in (lambda: document.value, lambda: document.get(("a",))):
        assert refused(ask)[0] == "unparsable"


METHODS: list[Callable[[JsonDocument], object]] = [
    lambda document: document.value, lambda document: document.get(("d", 0)), lambda document: document.raw(("d", 0)),
    lambda document: document.position(("d", 0)), lambda document: document.set(("a",), 1),
    lambda document: document.set(("d", 0), 1), lambda document: document.set_raw(("b",), document.raw(("d",))),
    lambda document: document.append(("d",), 1), lambda document: document.remove(("d", 0)), lambda document: document.remove(("a",)),
    lambda document: document.check_path(("d", 0)),
    lambda document: document.set(("a",), nested(990)), lambda document: document.get((*"d", *[0] * 990)),
]  # fmt: skip


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def below(frames: int, action: Callable[[], object]) -> object:
    """Call from as many frames further down."""
    return below(frames - 1, action) if frames else action()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("frames", [0, 300])
def test_deep_nesting_is_refused_and_never_a_recursion_error(
    method: Callable[[JsonDocument], object], frames: int
) -> None:
    for depth in (98, 100, 500, 900, 2000, 100_000):
        for text in (
            '{"a": 1, "d": ' + "[" * depth + "]" * depth + "}",
            '{"a": 1, "d": [' + '{"x":' * depth + "1" + "}" * depth + ",]}",
        ):
            try:
                document = JsonDocument.parse(text.encode("utf-8"))
                below(frames, lambda document=document: method(document))  # type: ignore[misc]
            except HookctlError as error:
                assert error.code == "unparsable", error
                assert "deep" in error.message and (depth > 98 or method in METHODS[-2:])
            except KeyError:
                assert depth == 98
            else:
                assert depth == 98
    assert JsonDocument.parse(b'{"d": ' + b"[" * 99 + b"]" * 99 + b"}").remove(("d", 0)).get(("d",)) == []


@pytest.mark.parametrize(
    "make",
    [
        lambda size: "[1," * size, lambda size: "[" + "[1,]," * size + "]", lambda size: "/*" * size, lambda size: '"\\' * size,
        lambda size: "," * size, lambda size: "[" + " " * size + ",", lambda size: '["a", // "\n' * size, lambda size: "//\n" * size,
        lambda size: "[" + "1,\n" * size + "1]", lambda size: "{" + ",".join(f'"k{at}": 1' for at in range(size)) + ",}",
        lambda size: "[/**/" + "1,/**/" * size + "]", lambda size: "\r" * size + "[" + "\n" * size,
    ],
)  # fmt: skip
def test_no_text_takes_more_than_its_length(make: Callable[[int], str]) -> None:
    """Four times the text may take about four times as long; a square would take sixteen times."""

    def taken(size: int) -> float:
        text = make(size)
        start = time.process_time()
        try:
            document = JsonDocument.parse(text.encode("utf-8"))
            if isinstance(document.value, dict):
                document.set(("ours",), 1).remove(("k1",))
            else:
                document.append((), 1).remove((0,))
        except HookctlError:
            pass
        return time.process_time() - start

    # A square fails each time; whatever else the machine does at that moment, it does not do five times.
    assert any(taken(40_000) < 9 * taken(10_000) + 0.05 for _ in range(5))


FINDS = sorted((Path(__file__).parent / "finds").iterdir())


@pytest.mark.parametrize("path", FINDS, ids=lambda path: path.name)
def test_what_a_fuzzer_once_found_is_read_or_refused(path: Path) -> None:
    try:
        document = formats.parse(path.suffix[1:], path.read_bytes(), where="/x")
    except HookctlError as error:
        assert (error.exit_code, error.line > 0) == (4, True)
        return
    call_everything(document, ("hooks", "Stop"), '"x"', lambda error: error.exit_code == 4)


# What a YAML document refuses: always with its place, and always as it was before.
def parse_yaml(text: str) -> YamlDocument:
    return YamlDocument.parse(text.encode("utf-8"), where=WHERE)


def bomb(levels: int) -> str:
    """A few names, each for ten times the one before."""
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels + 1))]
    return "\n".join(lines) + "\nhooks: {}\n"


@pytest.mark.parametrize("levels", [5, 6, 10, 2000])
def test_aliases_of_aliases_are_not_written_out(levels: int) -> None:
    start = time.process_time()
    with contextlib.suppress(HookctlError) if levels < 6 else pytest.raises(HookctlError) as caught:
        parse_yaml(bomb(levels)).append(("hooks", "pre_verify"), 1)
    assert time.process_time() - start < 5
    assert levels < 6 or (caught.value.code, caught.value.line) == ("unsupported_yaml", 7)


@pytest.mark.parametrize("text", ["a: &a [*a]\n", "a: &a\n  b: [{c: *a}]\n", "a: &a\n  <<: [*a, *a]\n", "&a [*a]\n"])
def test_a_value_that_contains_itself_is_refused(text: str) -> None:
    """Whatever walks through it would walk for ever."""
    with pytest.raises(HookctlError) as caught:
        parse_yaml(text)
    error = caught.value
    assert error.code == "unsupported_yaml" and error.hint
    assert text.splitlines()[error.line - 1][error.column - 1 :].startswith("*a")
