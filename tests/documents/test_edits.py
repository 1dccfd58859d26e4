"""Many edits over many documents, each judged by a reader that shares no code with the package."""

import json
from typing import Any

import pytest

from hookctl.documents.jsonc import JsonDocument

from .generated import FORMS, INSERTED, SETTINGS_TEXT, VARIANTS, canonical, commented, documents, edits
from .judge import BOM, Edit, edited, judge, read, value_of

STRICT = dict(documents())
COMMENTED = dict(commented())
# Minified comments would swallow what is behind them; the last two forms need blanks to be indentation.
COMMENTED_VARIANTS = ("as it is", "crlf", "bom", "no final newline", "tabs")


def done(document: JsonDocument, edit: Edit) -> JsonDocument:
    """Do the edit with the package."""
    if edit.verb == "remove":
        return document.remove(edit.path)
    return (document.append if edit.verb == "append" else document.set)(edit.path, edit.value)


def failures(text: str, variant: str) -> list[str]:
    """Try the edits on a document, a quarter of them on all variants but the first; say what was wrong."""
    text = VARIANTS[variant](text)
    before = text.encode("utf-8")
    document = JsonDocument.parse(before)
    found = []
    tried = list(edits(text))
    for edit in tried if variant == "as it is" else tried[list(VARIANTS).index(variant) % 4 :: 4]:
        after = done(document, edit).data
        try:
            judge(before, after, edit)
        except (AssertionError, ValueError, IndexError) as wrong:
            found.append(f"{edit}: {wrong}\n{after.decode('utf-8')!r}")
    return found


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_edit_gives_what_was_wanted_and_keeps_all_other_bytes(variant: str) -> None:
    texts = {**STRICT, **(COMMENTED if variant in COMMENTED_VARIANTS else {})}
    assert [f"{name}: {wrong}" for name, text in texts.items() for wrong in failures(text, variant)] == []


def test_there_are_enough_documents_and_edits() -> None:
    assert len(STRICT) >= 100
    assert len(COMMENTED) >= 100
    assert sum(1 for text in (*STRICT.values(), *COMMENTED.values()) for _ in edits(text)) >= 8000


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
