"""Edits of what a program wrote: byte for byte what that program would have written."""

import json
from typing import Any

import pytest

from hookctl.documents.jsonc import JsonDocument

from . import table
from .generated import FORMS, INSERTED, SETTINGS_TEXT, canonical, edits
from .judge import BOM, Edit, comments, edited, judge, line_ends, lines, plain, read, value_of
from .table import document_of, read_table


def done(document: JsonDocument, edit: Edit) -> JsonDocument:
    """Do the edit with the package."""
    if edit.verb == "remove":
        return document.remove(edit.path)
    return (document.append if edit.verb == "append" else document.set)(edit.path, edit.value)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", ["", BOM])
@pytest.mark.parametrize("form", FORMS)
def test_an_edit_of_what_a_program_wrote_gives_what_that_program_would_write(form: str, bom: str, end: str) -> None:
    value = json.loads(SETTINGS_TEXT.replace("Infinity", "1.5"))

    def spelled(value: Any) -> bytes:
        return (bom + canonical(value, form) + "\n").replace("\n", end).encode("utf-8")

    text = spelled(value).decode("utf-8")
    document = JsonDocument.parse(spelled(value))
    wrong = []
    for edit in edits(text):
        wanted = spelled(value_of(edited(read(text), edit)))
        if done(document, edit).data != wanted:
            wrong.append((str(edit), wanted, done(document, edit).data))
    assert wrong == []


@pytest.mark.parametrize("value", [*INSERTED, {"a": {"b": [1, {"c": []}], "é": "\u2028 \x7f"}}, [[]], [{}, "x"]])
def test_a_document_made_from_nothing_is_what_json_writes(value: object) -> None:
    wanted = json.dumps({"key": value}, indent=2, ensure_ascii=False) + "\n"
    assert JsonDocument.parse(b"").set(("key",), value).data == wanted.encode("utf-8")
    assert JsonDocument.parse(b"").set((), {"key": value}).data == wanted.encode("utf-8")


# The judge bites: it refuses what other editors make of these files.


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
