# ruff: noqa: E501  # tables
"""The rules for JSON and JSONC, row by row: which bytes an edit gives, what is read.

What an edit gives in a file that a program wrote is not here: `test_edits.py` compares it with what `json` writes.
"""

from typing import Any

import pytest

from hookctl.documents import MISSING
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError

from .refused import WHERE, refused

Path = tuple[str | int, ...]
B: Path = ("b",)


def parse(text: str) -> JsonDocument:
    return JsonDocument.parse(text.encode("utf-8"), where=WHERE)


def text_of(document: JsonDocument) -> str:
    return document.data.decode("utf-8")


SET: list[tuple[str, Path, Any, str]] = [
    # A new member behind the last one.
    ('{\n  "a": 1 // note\n}\n', B, 2, '{\n  "a": 1, // note\n  "b": 2\n}\n'),
    ('{\n  "a": 1, // note\n}\n', B, 2, '{\n  "a": 1, // note\n  "b": 2,\n}\n'),
    ('{\n  "a": 1 /* x */, "b": 2\n}', ("c",), 3, '{\n  "a": 1 /* x */, "b": 2,\n  "c": 3\n}'),
    ('{\n  "a": 1,\n\n}\n', B, 2, '{\n  "a": 1,\n  "b": 2,\n\n}\n'),
    ('{\n  "a": 1\n  // last words\n}\n', B, 2, '{\n  "a": 1,\n  "b": 2\n  // last words\n}\n'),
    ('{\n  "a": 1 }\n', B, 2, '{\n  "a": 1,\n  "b": 2 }\n'),
    ('{\n  "a": 1, }\n', B, 2, '{\n  "a": 1,\n  "b": 2, }\n'),
    # The anchor inside a block comment moves behind it.
    ('{\n  "a": 1 /* one\n  two */\n}\n', B, 2, '{\n  "a": 1, /* one\n  two */\n  "b": 2\n}\n'),
    ('{\n  "a": 1 /* one\n  two */ // three\n}\n', B, 2, '{\n  "a": 1, /* one\n  two */ // three\n  "b": 2\n}\n'),
    ('{\n  "a": 1 /* one\n  two */ }\n', B, 2, '{\n  "a": 1, /* one\n  two */\n  "b": 2 }\n'),
    # One-line containers stay one line.
    ('{"a":1}', B, 2, '{"a":1,"b":2}'),
    ('{ "a": 1 }', B, 2, '{ "a": 1, "b": 2 }'),
    ('{"a":1,}', B, 2, '{"a":1,"b":2,}'),
    ('{"a": 1, }', B, 2, '{"a": 1, "b": 2, }'),
    ('{"a":1,  "c":2}', B, 2, '{"a":1,  "c":2,  "b":2}'),
    ('{"a": 1 /* x */}', B, 2, '{"a": 1, "b": 2 /* x */}'),
    ('{":a": 1}', B, 2, '{":a": 1, "b": 2}'),
    ('{": a":1}', B, 2, '{": a":1,"b":2}'),
    ('{"\\":": 1}', B, 2, '{"\\":": 1, "b": 2}'),
    ('{"x": {"a":[{"y": 1}]}}', ("x", "b"), {"z": [1, 2]}, '{"x": {"a":[{"y": 1}], "b": {"z": [1, 2]}}}'),
    ('{\n  "a": {"x": 1}\n}', ("a", "b"), {"c": 2}, '{\n  "a": {"x": 1, "b": {"c": 2}}\n}'),
    # The file's own line end and indent.
    ('{\r\n  "a": 1,\n  "c": 2\n}\n', B, 3, '{\r\n  "a": 1,\n  "c": 2,\r\n  "b": 3\n}\n'),
    ('{\n    "a": 1\n  , "c": 2\n}', B, 3, '{\n    "a": 1\n  , "c": 2,\n    "b": 3\n}'),
    ('{\n    "a": 1,\n  "c": 2\n}', B, 3, '{\n    "a": 1,\n  "c": 2,\n  "b": 3\n}'),
    ('/* c */ {\n   "a": {}\n}', ("a", "b"), 2, '/* c */ {\n   "a": {\n      "b": 2\n   }\n}'),
    ('{\n/* c */ "a": {}\n}', ("a", "b"), 2, '{\n/* c */ "a": {\n  "b": 2\n}\n}'),
    ('{\n  /*\n     c\n  */\n    "a": {}\n}', ("a", "b"), 2, '{\n  /*\n     c\n  */\n    "a": {\n        "b": 2\n    }\n}'),
    ('{\n   "a": {\n/* c */ "x": 1\n   }\n}', ("a", "b"), 2, '{\n   "a": {\n/* c */ "x": 1,\n      "b": 2\n   }\n}'),
    # Empty containers and empty documents.
    ("{}", B, 2, '{\n  "b": 2\n}'),
    ("{ }", B, 2, '{\n  "b": 2\n}'),
    ("{\n}", B, 2, '{\n  "b": 2\n}'),
    ("{}\n", B, 2, '{\n  "b": 2\n}\n'),
    ("{\r\n}\r\n", B, 2, '{\r\n  "b": 2\r\n}\r\n'),
    ("", B, 2, '{\n  "b": 2\n}\n'),
    ("\ufeff", B, 2, '\ufeff{\n  "b": 2\n}\n'),
    (" \n\n", B, 2, ' \n\n{\n  "b": 2\n}\n'),
    ("\r\n", B, 2, '\r\n{\r\n  "b": 2\r\n}\r\n'),
    ("// c\n", B, 2, '// c\n{\n  "b": 2\n}\n'),
    ("// c", B, 2, '// c\n{\n  "b": 2\n}\n'),
    ("/* c */", B, 2, '/* c */\n{\n  "b": 2\n}\n'),
    ("{\n  // only\n}\n", B, 2, '{\n  // only\n  "b": 2\n}\n'),
    ("{\n  // one\n  /* two */\n}\n", B, 2, '{\n  // one\n  /* two */\n  "b": 2\n}\n'),
    ("{ /* c */ }", B, 2, '{ /* c */"b":2}'),
    ('{\n  "a": { /* c */ }\n}', ("a", "b"), 2, '{\n  "a": { /* c */\n    "b": 2\n  }\n}'),
    ('{"a": {/* c */}}', ("a", "b"), 2, '{"a": {/* c */"b": 2}}'),
    ('{"a": { }}', ("a", "b"), 2, '{"a": {"b": 2}}'),
    # Replacing: only the value's own span.
    ('{"a" : 1 /* c */ , "b":2}', ("a",), "x", '{"a" : "x" /* c */ , "b":2}'),
    ('{"a":1}', ("a",), True, '{"a":true}'),
    ('{"a":true}', ("a",), 1, '{"a":1}'),
    ('{"a":"1"}', ("a",), 1, '{"a":1}'),
    ('{"a":1}', ("a",), 1.0, '{"a":1.0}'),
    ('{"a":[]}', ("a",), {}, '{"a":{}}'),
    ('{\n  "a": 1 // c\n}', ("a",), {"x": [1]}, '{\n  "a": {\n    "x": [\n      1\n    ]\n  } // c\n}'),
    ("[1, 2, 3]", (1,), None, "[1, null, 3]"),
    ("1 ", (), {"b": 2}, '{\n  "b": 2\n} '),
    ('{"\\u0061": 1}', ("a",), 2, '{"\\u0061": 2}'),
    # Characters beyond ASCII are written raw; half a pair can only be escaped.
    ('{"a":1}', ("é",), "日本 😀 \u2028", '{"a":1,"é":"日本 😀 \u2028"}'),
    ('{"a":1}', B, "\ud800", '{"a":1,"b":"\\ud800"}'),
    ('{"a":1}', ("\udc00",), {"\ud83d": ["x\ud83d"]}, '{"a":1,"\\udc00":{"\\ud83d":["x\\ud83d"]}}'),
    ('{"a":1}', B, '"\\\n\x7f/', '{"a":1,"b":"\\"\\\\\\n\x7f/"}'),
    # A key that is there twice elsewhere is no obstacle.
    ('{"a":1,"a":2}', B, 9, '{"a":1,"a":2,"b":9}'),
    ('{"x":{"a":1,"a":2},"b":0}', B, 9, '{"x":{"a":1,"a":2},"b":9}'),
]  # fmt: skip

APPEND: list[tuple[str, Path, Any, str]] = [
    ('{\n  "a": [1, 2]\n}\n', ("a",), {"x": 1}, '{\n  "a": [1, 2, {"x": 1}]\n}\n'),
    ('{\n  "a": [1,2]\n}\n', ("a",), 3, '{\n  "a": [1,2,3]\n}\n'),
    ('{\n  "a": [1]\n}\n', ("a",), 3, '{\n  "a": [1, 3]\n}\n'),
    ("[1,2,]", (), 3, "[1,2,3,]"),
    ("[true/**/,]", (), 3, "[true/**/,3,]"),
    ("[\n  1,\n  2,\n]", (), 3, "[\n  1,\n  2,\n  3,\n]"),
    ("[1]", (), 2, "[1,2]"),
    ('{\n\t"a": [ ]\n}', ("a",), {"x": 1}, '{\n\t"a": [\n\t\t{\n\t\t\t"x": 1\n\t\t}\n\t]\n}'),
    ("[]", (), 1, "[\n  1\n]"),
    ("", (), 1, "[\n  1\n]\n"),
    ("", ("a", "b"), 1, '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}\n'),
    ("{}", ("a",), 1, '{\n  "a": [\n    1\n  ]\n}'),
    ('{\n  "a": [\n    {"x": 1}, // one\n    {"y": 2} // two\n  ]\n}', ("a",), {"z": 3},
     '{\n  "a": [\n    {"x": 1}, // one\n    {"y": 2}, // two\n    {\n      "z": 3\n    }\n  ]\n}'),
]  # fmt: skip

REMOVE: list[tuple[str, Path, str]] = [
    ('{\n  "a": 1\n}\n', ("a",), "{}\n"),
    ('{ "a": 1, "b": 2 }', ("a",), '{ "b": 2 }'),
    ('{ "a": 1, "b": 2 }', B, '{ "a": 1 }'),
    ('{ "a": 1 ,"b": 2 }', ("a",), '{ "b": 2 }'),
    ('{"a": 1,}', ("a",), "{}"),
    ('{"a": 1, "b": 2,}', B, '{"a": 1,}'),
    ("[ // c\n 1 ]", (0,), "[ // c\n ]"),
    ('{\n  "a": 1,\n  // keep\n  "b": 2\n}', B, '{\n  "a": 1\n  // keep\n}'),
    ('{\n  // one\n  "a": 1,\n  // two\n  "b": 2\n}', ("a",), '{\n  // one\n  // two\n  "b": 2\n}'),
    ('{\n  "a": 1,\n  "b": 2 // note\n}', B, '{\n  "a": 1\n  // note\n}'),
    ('{\n  "a": 1, // note\n  "b": 2\n}', ("a",), '{\n  // note\n  "b": 2\n}'),
    ('{"a": 1, /* c */ "b": 2}', ("a",), '{/* c */ "b": 2}'),
    ('{"a": 1 /* c */, "b": 2}', ("a",), '{/* c */ "b": 2}'),
    ('{"a": 1, /* c */ "b": 2}', B, '{"a": 1 /* c */}'),
    ('{"a": {"x": 1 /* inside */}}', ("a",), "{}"),
    ("[\n  1,\n  2,\n]", (1,), "[\n  1,\n]"),
    ('{\n  "a": 1, "b": 2\n}', ("a",), '{\n  "b": 2\n}'),
    ('{\n  "a": 1, "b": 2\n}', B, '{\n  "a": 1\n}'),
    ('{\n  "a": 1,\n  "b": 2 }', B, '{\n  "a": 1 }'),
    ('{\n  "a": 1,\n\n  "b": 2,\n\n  "c": 3\n}', B, '{\n  "a": 1,\n\n\n  "c": 3\n}'),
    ('\ufeff{"a": 1}\n\n', ("a",), "\ufeff{}\n\n"),
    # Nothing there, nothing done.
    ('{"a": 1}', B, '{"a": 1}'),
    ('{"a": 1}', ("a", "x"), '{"a": 1}'),
    ("[1]", (1,), "[1]"),
    ("", B, ""),
]  # fmt: skip


@pytest.mark.parametrize(("before", "path", "value", "after"), SET)
def test_set_gives_these_bytes(before: str, path: Path, value: Any, after: str) -> None:
    edited = parse(before).set(path, value)
    assert text_of(edited) == after
    assert edited.get(path) == value
    assert edited.set(path, value).data == edited.data


@pytest.mark.parametrize(("before", "path", "value", "after"), APPEND)
def test_append_gives_these_bytes(before: str, path: Path, value: Any, after: str) -> None:
    assert text_of(parse(before).append(path, value)) == after


@pytest.mark.parametrize(("before", "path", "after"), REMOVE)
def test_remove_gives_these_bytes(before: str, path: Path, after: str) -> None:
    document = parse(before)
    assert text_of(document.remove(path)) == after
    if before == after:
        assert document.remove(path) is document


SET_RAW: list[tuple[str, Path, str, str]] = [
    ('{"a":1}', ("a",), '{ "x":1e3 }', '{"a":{ "x":1e3 }}'),
    ('{"a":[1, 2]}', ("a",), "[ 1,2 ]", '{"a":[ 1,2 ]}'),
    ('{"a":1}', B, "1.50", '{"a":1,"b":1.50}'),
    ('{\n  "a": 1\n}', B, "[\n 1 ]", '{\n  "a": 1,\n  "b": [\n 1 ]\n}'),
    ('{\n  "a": 1 // c\n}', B, "[1, // one\n]", '{\n  "a": 1, // c\n  "b": [1, // one\n]\n}'),
    ("", B, '"\\u0061"', '{\n  "b": "\\u0061"\n}\n'),
    ("{}", ("b", "c"), "1e400", '{\n  "b": {\n    "c": 1e400\n  }\n}'),
    ('{"a":1}', ("b", "c"), '["\\u0061", 1.0]', '{"a":1,"b":{"c":["\\u0061", 1.0]}}'),
]


@pytest.mark.parametrize(("before", "path", "source", "after"), SET_RAW)
def test_set_raw_puts_a_source_text_back_as_it_was(before: str, path: Path, source: str, after: str) -> None:
    edited = parse(before).set_raw(path, source)
    assert text_of(edited) == after
    assert edited.raw(path) == source


@pytest.mark.parametrize(
    "source", ["", "1, 2", '1, "b": 2', "1 // c", " 1", "1 ", "1}", "NaN", "[", "]", "{'a': 1}", "1 /*", "\ufeff1"]
)
def test_set_raw_refuses_what_is_not_one_value(source: str) -> None:
    for before in ('{"a": 1, "c": 3}', '{"c": 3}', "{}"):
        with pytest.raises(HookctlError):
            parse(before).set_raw(("a",), source)


def test_a_value_takes_the_comments_inside_it_along_even_if_it_had_the_only_ones() -> None:
    before = parse('{\n  "a": [1, /* c */ 2,] // end\n}')
    bare = parse('{\n  "a": 0\n}')
    bare.require_strict(comments=False, trailing_commas=False)
    assert text_of(bare.set_raw(("a",), before.raw(("a",)))) == '{\n  "a": [1, /* c */ 2,]\n}'


READ: list[tuple[str, Any]] = [
    ("", MISSING), (" \r\n\t", MISSING), ("\ufeff", MISSING), ("\ufeff\n", MISSING), ("// c", MISSING), ("/* c */\n", MISSING),
    ("{}", {}), ("null", None), ('"x"', "x"), ("[1, 2.5, true]", [1, 2.5, True]), ('{"a":1,"a":2}', {"a": 2}),
    ('\ufeff{"a": "\\ud800"}', {"a": "\ud800"}), ('{"a": 1, /* , */ }', {"a": 1}), ('["/* no */ // no", ",]"]', ["/* no */ // no", ",]"]),
    ("[1 // ]\n, 2 /* ] */ ,]", [1, 2]), ("1e400", float("inf")), ("12345678901234567890", 12345678901234567890),
    ("/**/ 1 /***/", 1), ("[/*/ 1 */ 2]", [2]), ('["\\\\", "\\"//", 1]', ["\\", '"//', 1]), ("[1, /* , */ // ,\n ]", [1]),
    ("// a\r[1]", [1]), ("// \u2028 [\n[1]", [1]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), READ)
def test_a_document_is_read_as_its_host_reads_it(text: str, value: Any) -> None:
    document = parse(text)
    assert document.value is value if value is MISSING else document.value == value
    assert document.get(()) is value if value is MISSING else document.get(()) == value
    assert text_of(document) == text
    assert document.data == text.encode()


def test_values_source_texts_and_places_are_found_by_path() -> None:
    document = parse('\ufeff// ü\r\n{"a": {"b" : [1.0,\r  {"c": null}]},\n\t"\\u0064": "é", "x": 1, "x": 2}')
    found = {
        (): (None, (2, 1)), ("a",): ('{"b" : [1.0,\r  {"c": null}]}', (2, 7)), ("a", "b"): ('[1.0,\r  {"c": null}]', (2, 14)),
        ("a", "b", 0): ("1.0", (2, 15)), ("a", "b", 1): ('{"c": null}', (3, 3)), ("a", "b", 1, "c"): ("null", (3, 9)),
        ("d",): ('"é"', (4, 12)), ("x",): ("2", (4, 30)),
    }  # fmt: skip
    for path, (raw, place) in found.items():
        assert document.position(path) == place
        assert document.raw(path) == (raw if raw else text_of(document)[7:])
    assert document.get(("a", "b")) == [1.0, {"c": None}]
    assert document.get(("a", "b", 1, "c")) is None
    for path in (
        (0,),
        ("a", 0),
        ("a", "b", 2),
        ("a", "b", -1),
        ("a", "b", "0"),
        ("d", "e"),
        ("d", 0),
        ("no",),
        ("no", "way"),
    ):
        assert document.get(path) is MISSING
        with pytest.raises(KeyError):
            document.raw(path)
    assert document.position(("a", "b", 7)) == (2, 14)
    assert document.position(("no", "way")) == (2, 1)
    assert parse("").position(("a",)) == (1, 1)
    assert parse("\ufeff{}").position(()) == (1, 1)


FAULTS: list[tuple[str, tuple[str, int, int] | None, tuple[str, int, int] | None]] = [
    # The text, its first fault, its first trailing comma.
    ('{"a": "// no /* no */ ,]"}', None, None),
    ('{"a": 1}\n\n // c', ("comment", 3, 2), None),
    ('{"a": [1,\n ] }', ("trailing comma", 1, 9), ("trailing comma", 1, 9)),
    ("[1, /* c */ ]", ("trailing comma", 1, 3), ("trailing comma", 1, 3)),
    ('[1 /* é */ , /* c */ ]', ("comment", 1, 4), ("trailing comma", 1, 12)),
    ('\ufeff// c\r[\r1,]', ("comment", 1, 1), ("trailing comma", 3, 2)),
    ("// only", ("comment", 1, 1), None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "first", "comma"), FAULTS)
def test_what_a_strict_host_does_not_read_is_named_with_its_place(text: str, first: Any, comma: Any) -> None:
    document = parse(text)
    document.require_strict(comments=True, trailing_commas=True)
    if first:
        assert refused(lambda: document.require_strict(comments=False, trailing_commas=False)) == (
            "strict_host",
            *first[1:],
        )
        with pytest.raises(HookctlError, match=first[0]):
            document.require_strict(comments=False, trailing_commas=False)
    else:
        document.require_strict(comments=False, trailing_commas=False)
    if comma:
        assert refused(lambda: document.require_strict(comments=True, trailing_commas=False)) == (
            "strict_host",
            *comma[1:],
        )
    else:
        document.require_strict(comments=True, trailing_commas=False)
    if first and first[0] == "comment":
        assert refused(lambda: document.require_strict(comments=False, trailing_commas=True)) == (
            "strict_host",
            *first[1:],
        )


def test_a_document_never_changes() -> None:
    text = '{"a": [1], "b": {"c": 2}}'
    document = parse(text)
    for edited in (
        document.set(("b", "c"), 3), document.append(("a",), 2), document.remove(("a",)), document.set_raw(B, "0")
    ):  # fmt: skip
        assert edited is not document
        assert edited.where == document.where
    document.value["a"].append("changed by a caller")
    document.get(("a",)).append("changed by a caller")
    assert text_of(document) == text
    assert document.get(("a",)) == [1]
