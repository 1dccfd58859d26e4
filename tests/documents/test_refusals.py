# ruff: noqa: E501  # tables
"""What cannot be read or edited safely is refused: with a code, a place, a message and what to do."""

import math
import time
from collections.abc import Callable
from typing import Any

import pytest

from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError

from .refused import WHERE, refused
from .test_jsonc import parse

UNREADABLE: list[tuple[str | bytes, tuple[str, int, int], str]] = [
    # The text, the code and the place, a part of the message.
    (b'{"a": "fran\xe7ais"}', ("not_utf8", 1, 12), "not UTF-8"),
    ('{\r\n"é": "日", "a": "'.encode() + b'\xff"}', ("not_utf8", 2, 17), "not UTF-8"),
    ("\ufeffé".encode() + b"\xe4\xb8", ("not_utf8", 1, 2), "not UTF-8"),
    ('{"a": 1}'.encode("utf-16"), ("not_utf8", 1, 1), "UTF-16"),
    ("\ufeff{}".encode("utf-16-be"), ("not_utf8", 1, 1), "UTF-16"),
    ('{"a": 1}'.encode("utf-16-le"), ("unparsable", 1, 2), "UTF-16"),
    ('{"a": 1}'.encode("utf-16-be"), ("unparsable", 1, 1), "UTF-16"),
    ("\0" * 64, ("unparsable", 1, 1), "zero bytes"),
    ('{\n  "a": 1\n  "b": 2\n}', ("unparsable", 3, 3), "comma"),
    ('{"a" 1}', ("unparsable", 1, 6), "colon"),
    ("{'a': 1}", ("unparsable", 1, 2), "double quotes"),
    ("{a: 1}", ("unparsable", 1, 2), "double quotes"),
    ('{\n  # yaml\n  "a": 1\n}', ("unparsable", 2, 3), "double quotes"),
    ("[1,,2]", ("unparsable", 1, 4), "value"),
    ("[,]", ("unparsable", 1, 2), "value"),
    ("{,}", ("unparsable", 1, 2), "not valid JSON"),
    ("[1,,]", ("unparsable", 1, 4), "not valid JSON"),
    ('{"a":,}', ("unparsable", 1, 6), "value"),
    ('{"a": "one\ttwo"}', ("unparsable", 1, 11), "control character"),
    ('{"a": "one\ntwo"}', ("unparsable", 1, 11), "line break"),
    ('{\n"a": NaN}', ("unparsable", 2, 6), "NaN"),
    ('{"é": [1, Infinity]}', ("unparsable", 1, 11), "Infinity"),
    ('{"NaN": "NaN", "b": -Infinity}', ("unparsable", 1, 21), "-Infinity"),
    ('// NaN\n{"a": NaN}', ("unparsable", 2, 7), "NaN"),
    ("\ufeff\ufeff{}", ("unparsable", 1, 1), "not valid JSON"),
    ("{}\xa0", ("unparsable", 1, 3), "after the end"),
    ("\xa0", ("unparsable", 1, 1), "not valid JSON"),
    ("[1,\x0b2]", ("unparsable", 1, 4), "not valid JSON"),
    ("[1,\u20282]", ("unparsable", 1, 4), "not valid JSON"),
    ('["\u2028\x0b"', ("unparsable", 1, 4), "not valid JSON"),
    ("/", ("unparsable", 1, 1), "not valid JSON"),
    ("{} /", ("unparsable", 1, 4), "not valid JSON"),
    ("{} */", ("unparsable", 1, 4), "not valid JSON"),
    ("{} /* c", ("unparsable", 1, 4), "comment"),
    ('{"a": 1 /* c }', ("unparsable", 1, 9), "comment"),
    # Cut off.
    ("{", ("unparsable", 1, 2), "ends in the middle"),
    ('{\n  "a": 1,\n  "b"', ("unparsable", 3, 6), "ends in the middle"),
    ('{\n  "a": 1,\n  "b": "x', ("unparsable", 3, 8), "ends in the middle"),
    ('{\n  "a": [1, 2', ("unparsable", 2, 13), "ends in the middle"),
    ('{\n  "a": 1,\n', ("unparsable", 3, 1), "ends in the middle"),
    ('{\n  "a": 1, // c\n', ("unparsable", 3, 1), "ends in the middle"),
    ('{\n  "a": 1 // c', ("unparsable", 2, 14), "ends in the middle"),
    ("[tru", ("unparsable", 1, 2), "not valid JSON"),
    # More than one document.
    ('{"a": 1}\n{"a": 2}\n', ("unparsable", 2, 1), "after the end"),
    ("{\n}\n}\n", ("unparsable", 3, 1), "after the end"),
    ("1 2", ("unparsable", 1, 3), "after the end"),
    ('{"a": 1}, {"b": 2}', ("unparsable", 1, 9), "after the end"),
    # Merge conflicts.
    ('{\n<<<<<<< HEAD\n  "a": 1\n=======\n  "a": 2\n>>>>>>> x\n}\n', ("unparsable", 2, 1), "merge-conflict"),
    ('{\r\n  "b": 1,\r\n<<<<<<< HEAD\r\n=======\r\n>>>>>>> x\r\n}\r\n', ("unparsable", 3, 1), "merge-conflict"),
    ('<<<<<<< HEAD\n{}\n=======\n[]\n>>>>>>> x\n', ("unparsable", 1, 1), "merge-conflict"),
    ('\ufeff<<<<<<< HEAD\n{}\n=======\n[]\n>>>>>>> x\n', ("unparsable", 1, 1), "merge-conflict"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted", "said"), UNREADABLE)
def test_what_cannot_be_read_is_refused_with_its_place(
    text: str | bytes, wanted: tuple[str, int, int], said: str
) -> None:
    data = text if isinstance(text, bytes) else text.encode("utf-8")
    assert refused(lambda: JsonDocument.parse(data, where=WHERE)) == wanted
    with pytest.raises(HookctlError, match=said):
        JsonDocument.parse(data)


UNFIT: list[tuple[str, str, tuple[Any, ...], tuple[str, int, int]]] = [
    ('{"a":1,"a":2}', "set", (("a",), 9), ("duplicate_key", 1, 8)),
    ('{"a":{},\n "a":{}}', "set", (("a", "b"), 9), ("duplicate_key", 2, 2)),
    ('{"a":{},\n "\\u0061":{}}', "set", (("a", "b"), 9), ("duplicate_key", 2, 2)),
    ('{"x":{"a":1,"a":2}}', "remove", (("x", "a"),), ("duplicate_key", 1, 13)),
    ('{"x":{"a":[],"a":[]}}', "append", (("x", "a"), 1), ("duplicate_key", 1, 14)),
    ('{"a":1,"a":2}', "set_raw", (("a",), "9"), ("duplicate_key", 1, 8)),
    ('{"a":1,"a":2}', "check_path", (("a",),), ("duplicate_key", 1, 8)),
    ('{"a":{"b":1},"a":2}', "check_path", (("a", "b"),), ("duplicate_key", 1, 14)),
    ('{"a": null}', "set", (("a", "b"), 2), ("wrong_shape", 1, 7)),
    ('{"a":1}', "set", (("a", "b"), 2), ("wrong_shape", 1, 6)),
    ('{"a":\n "x"}', "set", (("a", "b", "c"), 2), ("wrong_shape", 2, 2)),
    ('{"a": []}', "set", (("a", "b"), 2), ("wrong_shape", 1, 7)),
    ('{"a": {}}', "set", (("a", 0), 2), ("wrong_shape", 1, 7)),
    ('{"a": [1]}', "set", (("a", 1), 2), ("wrong_shape", 1, 7)),
    ('{"a": [1]}', "set", (("a", -1), 2), ("wrong_shape", 1, 7)),
    ('{"a": {}}', "append", (("a",), 2), ("wrong_shape", 1, 7)),
    ('{"a": "x"}', "append", (("a",), 2), ("wrong_shape", 1, 7)),
    ('{"a": null}', "append", (("a", "b"), 2), ("wrong_shape", 1, 7)),
    ("{}", "append", ((), 2), ("wrong_shape", 1, 1)),
    ("[]", "set", (("a",), 2), ("wrong_shape", 1, 1)),
    ("null", "set", (("a",), 2), ("wrong_shape", 1, 1)),
    ("", "set", ((0,), 2), ("wrong_shape", 1, 1)),
    ("{}", "set", (("a", 0), 2), ("wrong_shape", 1, 1)),
    ('{"a": 1}', "set", (("b",), math.nan), ("unexpected", 1, 1)),
    ('{"a": 1}', "set", (("a",), [math.inf]), ("unexpected", 1, 7)),
    ('{"a": []}', "append", (("a",), -math.inf), ("unexpected", 1, 7)),
    ('{"a": 1}', "set", (("a",), b"bytes"), ("unexpected", 1, 7)),
    ('{"a": 1}', "set_raw", (("a",), "1, 2"), ("unexpected", 1, 7)),
    ('{"a": 1}', "set_raw", (("a",), "nothing"), ("unexpected", 1, 7)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "method", "arguments", "wanted"), UNFIT)
def test_an_edit_that_does_not_fit_is_refused_with_its_place(
    text: str, method: str, arguments: tuple[Any, ...], wanted: tuple[str, int, int]
) -> None:
    document = parse(text)
    assert refused(lambda: getattr(document, method)(*arguments)) == wanted
    assert document.data == text.encode("utf-8")


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
    ("text", "path"),
    [
        ('{"a":1,"a":2,"b":1}', ("b",)),
        ('{"b":{"a":1,"a":2}}', ("b",)),
        ('{"a":1}', ("x", "y")),
        ("", ("a",)),
        ("[1]", (0, "a")),
    ],
)
def test_a_path_that_passes_through_no_double_key_is_let_through(text: str, path: tuple[str | int, ...]) -> None:
    assert parse(text).check_path(path) is None  # type: ignore[func-returns-value]


def test_nesting_that_is_too_deep_is_shown_where_it_goes_below_a_hundred_levels() -> None:
    text = '{"{[": 1,\n"d": ' + "[{}," * 50_000
    assert refused(lambda: parse(text)) == ("unparsable", 2, 6 + 4 * 98 + 1)


def test_more_than_16_mib_is_refused() -> None:
    big = b'"' + b"x" * (16 * 1024 * 1024 - 2) + b'"'
    assert JsonDocument.parse(big).data == big
    with pytest.raises(HookctlError, match="16 M") as caught:
        JsonDocument.parse(big + b"\n", where="/x")
    assert (caught.value.code, caught.value.path) == ("unparsable", "/x")


def test_an_integer_of_thousands_of_digits_is_kept_and_not_read() -> None:
    document = parse('{"a": 1, "n": ' + "1" * 5000 + "}")
    assert len(document.set(("a",), 2).raw(("n",))) == 5000
    assert document.get(("a",)) == 1
    assert refused(lambda: document.value)[0] == "unparsable"
    assert refused(lambda: document.get(("n",))) == ("unparsable", 1, 15)


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
