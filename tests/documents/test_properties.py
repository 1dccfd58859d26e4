"""What holds for every document: found by Hypothesis, not by thinking of examples."""

import json
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hookctl.documents.jsonc import JsonDocument

from .generated import REMARKS, edits
from .judge import BLANKS, BOM, Edit, comments, edited, judge, plain, read, value_of
from .test_document_rows import done

KEYS = st.sampled_from(["a", "b", "env", "hooks", "a:b", "{", '"', "\\", "é", "//", ",]"]) | st.text(max_size=4)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8),
    st.sampled_from(["// no", "/* no */", ",}", '"', "\\", "\ud800", "😀\u2028"]),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
)
GAPS = st.sampled_from(["", "", "", " ", "\n", "\n  ", "\n    ", "\t", "  "])


@st.composite
def texts(draw: st.DrawFn, *, remarks: bool = False, blank_only: bool = False, object_only: bool = False) -> str:
    """Lay out a value by chance: blanks, and if asked for comments and trailing commas, between any two tokens."""
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))

    def gap() -> str:
        text = draw(GAPS)
        if remarks and draw(st.integers(0, 4)) == 0:
            text += draw(st.sampled_from(REMARKS)) + draw(GAPS)
        return text

    def laid_out(value: Any) -> str:
        if isinstance(value, float) and draw(st.booleans()):
            return draw(st.sampled_from(["1e400", "-0.0", "1.50", "1E3", "12345678901234567890"]))  # by hand
        if not isinstance(value, list | dict):
            return json.dumps(value, ensure_ascii=not draw(st.booleans()) or "\ud800" in repr(value) or _is_lone(value))
        first, last = ("{", "}") if isinstance(value, dict) else ("[", "]")
        if not value:
            return first + (gap() if blank_only or remarks else "") + last
        if isinstance(value, dict):
            parts = [laid_out(key) + gap() + ":" + gap() + laid_out(inner) for key, inner in value.items()]
        else:
            parts = [laid_out(inner) for inner in value]
        members = ",".join(gap() + part + gap() for part in parts)
        return first + members + ("," + gap() if remarks and draw(st.integers(0, 3)) == 0 else "") + last

    value = draw(st.dictionaries(KEYS, VALUES, max_size=5) if object_only else VALUES)
    text = draw(st.sampled_from(["", BOM])) + gap() + laid_out(value) + gap()
    return text.replace("\r\n", "\n").replace("\n", end)


def _is_lone(value: Any) -> bool:
    return isinstance(value, str) and any("\ud800" <= char <= "\udfff" for char in value)


def without_blanks(text: str) -> str:
    """Leave out the blanks outside strings and comments."""
    kept, bare, spans = [], plain(text), comments(text)
    in_comment = {at for start, stop in spans for at in range(start, stop)}
    in_string = {at for match in re.finditer(r'"(?:[^"\\]|\\.)*"', bare) for at in range(*match.span())}
    for at, char in enumerate(text):
        if char not in BLANKS or at in in_comment or at in in_string:
            kept.append(char)
    return "".join(kept)


def insertions(text: str) -> list[Edit]:
    """Give the insertions among the edits of a document, and at its end what takes them out again."""
    return [edit for edit in edits(text) if edit.verb == "append" or edit.path[-1] in ("ours", "inner", "deep")]


def undone(before: JsonDocument, after: JsonDocument, edit: Edit) -> JsonDocument:
    """Take out what an insertion brought: the first part of its path that was not there."""
    path = edit.path
    for length in range(1, len(path) + 1):
        if not isinstance(before.get(path[:length]), dict | list):
            return after.remove(path[:length])
    return after.remove((*path, len(after.get(path)) - 1))


@settings(deadline=None, max_examples=200)
@given(texts())
def test_insert_then_remove_gives_the_very_bytes_of_a_comment_free_document(text: str) -> None:
    document = JsonDocument.parse(text.encode("utf-8"))
    for edit in insertions(text):
        assert undone(document, done(document, edit), edit).data == document.data, edit


@settings(deadline=None, max_examples=200)
@given(texts(remarks=True, blank_only=True))
def test_insert_then_remove_gives_the_bytes_of_any_document_up_to_blanks(text: str) -> None:
    document = JsonDocument.parse(text.encode("utf-8"))
    for edit in insertions(text):
        back = undone(document, done(document, edit), edit).data.decode("utf-8")
        assert without_blanks(back) == without_blanks(text), edit


@settings(deadline=None, max_examples=300)
@given(texts(remarks=True, blank_only=True))
def test_every_edit_of_any_document_is_right_and_loses_nothing(text: str) -> None:
    document = JsonDocument.parse(text.encode("utf-8"))
    for edit in edits(text):
        judge(document.data, done(document, edit).data, edit)


@settings(deadline=None, max_examples=150)
@given(texts(remarks=True, object_only=True), st.data())
def test_what_the_operator_edits_between_insert_and_remove_survives(text: str, data: st.DataObject) -> None:
    """The same edit on the untouched file must mean the same, and its bytes must be there."""
    document = JsonDocument.parse(text.encode("utf-8"))
    theirs = data.draw(st.sampled_from(list(edits(text))))
    if theirs.path[:1] == ("ours",):
        theirs = Edit("set", ("theirs",), {"x": [theirs.value]})
    ours = Edit("set", ("our own",), {"y": 1})
    alone = done(document, theirs)
    both = done(done(document, ours), theirs).remove(ours.path)
    assert read(both.data.decode("utf-8")) == read(alone.data.decode("utf-8"))
    assert without_blanks(both.data.decode("utf-8")) == without_blanks(alone.data.decode("utf-8"))


@settings(deadline=None, max_examples=150)
@given(texts(object_only=True), st.lists(st.sampled_from(["x", "y", "z"]), max_size=6), VALUES)
def test_many_edits_in_a_row_mean_what_they_mean_on_plain_values(text: str, keys: list[str], value: Any) -> None:
    document, tree = JsonDocument.parse(text.encode("utf-8")), read(text)
    for key in keys:
        for edit in (Edit("set", ("ours", key), value), Edit("append", ("list",), value), Edit("remove", ("list", 0))):
            document, tree = done(document, edit), edited(tree, edit)
    assert read(document.data.decode("utf-8")) == tree
    assert document.value == value_of(tree)


@settings(deadline=None, max_examples=200)
@given(VALUES)
def test_any_value_is_written_and_read_back(value: Any) -> None:
    for text in ("", '{"a":1}', '{\n\t"a": 1\n}', '{\r\n  "a": [1]\r\n}'):
        document = JsonDocument.parse(text.encode("utf-8")).set(("new", "value"), value)
        assert JsonDocument.parse(document.data).get(("new", "value")) == json.loads(json.dumps(value))
        assert document.set(("new", "value"), value) is document
