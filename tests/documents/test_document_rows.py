"""The rules for JSON, TOML and YAML, row by row (rows/): which bytes an edit gives, and what is read.

What an edit gives in a file that a program wrote is not here: `test_edits.py` compares it with what `json` writes.
"""

import json

import pytest

from hookctl.documents import MISSING, Document, formats

from .refused import WHERE
from .table import Edit, document_of, read_table

EDITS = [(format, *row) for format in ("json", "toml", "yaml") for row in read_table(f"edits-{format}")]
EVENT = ("hooks", "pre_verify")
HOOK = {"command": "sh -c ': x; [ -f \"/a b\" ]'", "timeout": 10}
HOOKS = [row[1:] for row in read_table("hooks-yaml")]


def parse(format: str, cell: str) -> Document:
    return formats.parse(format, document_of(cell), where=WHERE)


@pytest.mark.parametrize(("format", "edit", "before", "after"), EDITS)
def test_an_edit_gives_these_bytes_and_a_new_document(format: str, edit: str, before: str, after: str) -> None:
    document, asked = parse(format, before), Edit.read(edit)
    edited = asked.of(document)
    assert edited.data == document_of(after)
    assert (document.data, edited.where) == (document_of(before), WHERE)
    if before == after:
        assert edited is document
    if asked.method == "set":
        assert edited.get(asked.path) == asked.arguments[0] or "NaN" in edit
        assert asked.of(edited) is edited, "nothing there to do"
    elif asked.method == "append":
        assert edited.get(asked.path)[-1] == asked.arguments[0]
    elif asked.method == "set_raw" and format == "json":
        assert edited.raw(asked.path) == asked.arguments[0]


@pytest.mark.parametrize(("before", "after"), HOOKS)
def test_a_new_hook_is_lines_of_its_own_in_the_file_s_layout(before: str, after: str) -> None:
    assert parse("yaml", before).append(EVENT, HOOK).data == document_of(after)


@pytest.mark.parametrize(("before", "after"), HOOKS)
def test_a_hook_that_is_removed_again_leaves_the_very_bytes(before: str, after: str) -> None:
    """The hook first, then what came with it, where nothing else is in there; as an uninstall does it."""
    old, document = parse("yaml", before), parse("yaml", after)
    document = document.remove((*EVENT, len(document.get(EVENT)) - 1))
    for path in (EVENT, EVENT[:1]):
        if old.get(path) is MISSING:
            assert "".join(document.raw(path).split()) in ("{}", "[]")
            document = document.remove(path)
    assert document.data == document_of(before)


@pytest.mark.parametrize(("format", "asked", "text", "answer"), read_table("reads"))
def test_what_is_read_at_a_path(format: str, asked: str, text: str, answer: str) -> None:
    document, edit = parse(format, text), Edit.read(asked)
    found = edit.of(document)
    if edit.method == "raw":
        assert found.encode() == document_of(answer)
    elif edit.method == "position":
        assert "{}:{}".format(*found) == answer
    elif answer == "MISSING":
        assert found is MISSING
    else:
        assert found == json.loads(answer)
    if asked == "get []":
        assert document.value is found or document.value == found
    assert document.data == document_of(text)


THREE = {
    "json": '{\n  "a": [\n    1, // one\n    {"b": 2},\n    3\n  ]\n}\n',
    "toml": "x = 1\n\n[[a]]\nb = 0x1 # one\nc = 'y'\n\n[[a]]\nb = 2\n[a.d]\ne = 1\n\n# three\n[[a]]\nb = 3\n",
    "yaml": "a:\n  - b: 1\n    c: 'x'\n  # two\n  - - 2\n    - y\n  - 3\nz: 1\n",
}


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("format", THREE)
def test_an_element_that_went_comes_back_to_its_place(format: str, number: int) -> None:
    before = formats.parse(format, THREE[format].encode())
    place = ("a", number)
    gone = before.remove(place)
    back = gone.insert_raw(place, before.block(place))
    assert (len(gone.get(("a",))), back.value) == (2, before.value)
    assert back.raw(place) == before.raw(place)
    assert set(back.data.split()) == set(before.data.split())
