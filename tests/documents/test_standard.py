# tables
"""What JSON is: texts that every reader must take, and texts that it must not."""

import json

import pytest

from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError

from .table import document_of, read_table

TEXTS = [(kind, document_of(text).decode()) for kind, text in read_table("standard")]
VALID = [text for kind, text in TEXTS if kind == "valid"]
INVALID = [text for kind, text in TEXTS if kind == "invalid"]
LENIENT = [(text, kind) for kind, text in TEXTS if "valid" not in kind]


@pytest.mark.parametrize("text", VALID)
@pytest.mark.parametrize("lenient", [False, True])
def test_valid_json_is_read_in_every_dialect(text: str, lenient: bool) -> None:
    for data in (text.encode("utf-8"), b"\xef\xbb\xbf" + text.encode("utf-8")):
        document = JsonDocument.parse(data, strict=not lenient)
        assert document.data == data
        assert document.value == json.loads(text)
        document.require_strict(comments=False, trailing_commas=False)


@pytest.mark.parametrize("text", INVALID)
@pytest.mark.parametrize("lenient", [False, True])
def test_what_is_not_json_is_refused_in_every_dialect(text: str, lenient: bool) -> None:
    with pytest.raises(HookctlError) as caught:
        JsonDocument.parse(text.encode("utf-8"), strict=not lenient)
    assert caught.value.code == "unparsable"
    assert caught.value.line >= 1 and caught.value.column >= 1


@pytest.mark.parametrize(("text", "needs"), LENIENT)
def test_comments_and_trailing_commas_are_read_only_where_they_are_allowed(text: str, needs: str) -> None:
    assert needs in ("comment", "comma", "both")
    document = JsonDocument.parse(text.encode("utf-8"))
    with pytest.raises(HookctlError, match="this host does not read"):
        document.require_strict(comments=needs == "comma", trailing_commas=needs == "comment")
    document.require_strict(comments=needs != "comma", trailing_commas=needs != "comment")
    with pytest.raises(HookctlError, match=r"not valid JSON|comment"):
        JsonDocument.parse(text.encode("utf-8"), strict=True)


@pytest.mark.parametrize("text", ["", " ", "\n", "\r\n\t ", "\ufeff", "\ufeff \n"])
def test_an_empty_file_is_an_empty_document_in_every_dialect(text: str) -> None:
    document = JsonDocument.parse(text.encode("utf-8"), strict=True)
    document.require_strict(comments=False, trailing_commas=False)
    assert not document.value
