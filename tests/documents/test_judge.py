"""The judge bites: it refuses what other editors make of these files."""

import pytest

from .judge import Edit, comments, judge, line_ends, lines, plain, read

WRONG = [
    # What a widely used editor of commented JSON gave (its release 3.3.1), and other things that must not pass.
    ("[1, 2, 3]", Edit("remove", (2,)), "[1, 23]"),
    ('{"a": 1,}', Edit("remove", ("a",)), "{,}"),
    ('{\n  "a": 1 // c\n}', Edit("set", ("b",), 2), '{\n  "a": 1,\n  "b": 2 // c\n}'),
    ("[ // c\n 1 ]", Edit("remove", (0,)), "[]"),
    ('{"a":1,"a":2}', Edit("set", ("a",), 9), '{"a":9,"a":2}'),
    ("[\r\n  1,\r\n  2\r\n]", Edit("remove", (1,)), "[\r\n  1\n]"),
    ('{"a":1}', Edit("set", ("b",), 2), '{\n  "a": 1,\n  "b": 2\n}'),
    ('{\n  "a": 1\n}\n', Edit("set", ("b",), 2), '{\n  "a": 1,\n  "b": 2\n}'),
    ('{\r\n  "a": 1\r\n}', Edit("set", ("b",), 2), '{\r\n  "a": 1,\n  "b": 2\r\n}'),
    ('\ufeff{"a":1}', Edit("set", ("a",), 2), '{"a":2}'),
    ('{"a":1.0,"b":1}', Edit("set", ("b",), 2), '{"a":1,"b":2}'),
    ('{"a":1,"b":1}', Edit("set", ("b",), 2), '{"b":2,"a":1}'),
    ('{"\\u0061":1,"b":1}', Edit("set", ("b",), 2), '{"a":1,"b":2}'),
    ('{"a":1}', Edit("set", ("a",), True), '{"a":1}'),
    ('{\n  "a": 1\n\n}', Edit("set", ("b",), 2), '{\n  "a": 1,\n  "b": 2\n}'),
    ('{\n  "a": 1,\n\n  // c\n  "b": 2\n}', Edit("remove", ("b",)), '{\n  "a": 1\n}'),
    ("[\n  1,\n  2,\n]", Edit("remove", (1,)), "[\n  1\n]"),
    ("[1]", Edit("remove", (5,)), "[ 1]"),
    ("// c\n", Edit("set", ("b",), 2), '{\n  "b": 2\n}\n'),
]  # fmt: skip


@pytest.mark.parametrize(("before", "edit", "after"), WRONG)
def test_a_wrong_or_careless_edit_is_refused(before: str, edit: Edit, after: str) -> None:
    with pytest.raises((AssertionError, ValueError)):
        judge(before.encode("utf-8"), after.encode("utf-8"), edit)


def test_the_judge_reads_comments_and_commas_as_they_are() -> None:
    text = '["// no", /* "," ] */ 1, // ]\r\n "\\"/*", ]//'
    assert [text[start:end] for start, end in comments(text)] == ['/* "," ] */', "// ]", "//"]
    assert plain(text) == '["// no",             1,     \r\n "\\"/*"  ]  '
    assert read(text) == ["// no", ("number", "1"), '"/*']
    assert lines("a\r\nb\rc\n\nd") == ["a\r\n", "b\r", "c\n", "\n", "d"]
    assert line_ends("a\r\nb\rc\n") == {"\r\n", "\r", "\n"}
