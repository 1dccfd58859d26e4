# tables
"""The rules for JSON and JSONC, row by row: which bytes an edit gives, what is read.

What an edit gives in a file that a program wrote is not here: `test_edits.py` compares it with what `json` writes.
"""

from typing import Any

import pytest

from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError

from .refused import WHERE, refused


def parse(text: str) -> JsonDocument:
    return JsonDocument.parse(text.encode("utf-8"), where=WHERE)


@pytest.mark.parametrize(
    "source", ["", "1, 2", '1, "b": 2', "1 // c", " 1", "1 ", "1}", "NaN", "[", "]", "{'a': 1}", "1 /*", "\ufeff1"]
)
def test_set_raw_refuses_what_is_not_one_value(source: str) -> None:
    for before in ('{"a": 1, "c": 3}', '{"c": 3}', "{}"):
        with pytest.raises(HookctlError):
            parse(before).set_raw(("a",), source)


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
