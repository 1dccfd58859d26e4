"""The judge bites: it refuses what other editors make of these files."""

import pytest

from . import table
from .judge import Edit, comments, judge, line_ends, lines, plain, read
from .table import document_of, read_table


@pytest.mark.parametrize(("asked", "before", "after"), read_table("wrong-edits"))
def test_a_wrong_or_careless_edit_is_refused(asked: str, before: str, after: str) -> None:
    edit = table.Edit.read(asked)
    with pytest.raises((AssertionError, ValueError)):
        judge(document_of(before), document_of(after), Edit(edit.method, edit.path, *edit.arguments))


def test_the_judge_reads_comments_and_commas_as_they_are() -> None:
    text = '["// no", /* "," ] */ 1, // ]\r\n "\\"/*", ]//'
    assert [text[start:end] for start, end in comments(text)] == ['/* "," ] */', "// ]", "//"]
    assert plain(text) == '["// no",             1,     \r\n "\\"/*"  ]  '
    assert read(text) == ["// no", ("number", "1"), '"/*']
    assert lines("a\r\nb\rc\n\nd") == ["a\r\n", "b\r", "c\n", "\n", "d"]
    assert line_ends("a\r\nb\rc\n") == {"\r\n", "\r", "\n"}
