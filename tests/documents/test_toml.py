# ruff: noqa: E501  # tables
"""The rules for TOML, row by row: which bytes an edit gives, what is read, what is masked."""

import datetime

import pytest

from hookctl.documents import MISSING
from hookctl.documents.toml import TomlDocument

from .refused import WHERE, refused

Path = tuple[str | int, ...]
STOP: Path = ("hooks", "Stop")
HANDLER = {"type": "command", "command": ": hookctl=guard/stop; 'a' \"b\"", "timeout": 10}
GROUP = {"hooks": [HANDLER]}
STATE: Path = ("hooks", "state", "/home/u/.codex/config.toml:stop:0:0", "trusted_hash")


def parse(text: str) -> TomlDocument:
    return TomlDocument.parse(text.encode("utf-8"), where=WHERE)


def text_of(document: TomlDocument) -> str:
    return document.data.decode("utf-8")


@pytest.mark.parametrize(
    "source",
    [
        "",
        "1, 2",
        "1\nb = 2",
        "1 # c",
        " 1",
        "1 ",
        "]",
        "nothing",
        "{ a = 1",
        '"',
        "\ufeff1",
        "'x\ud800'",
        "[" * 200 + "]" * 200,
    ],
)
def test_set_raw_refuses_what_is_not_one_value(source: str) -> None:
    for before in ("a = 1\nc = 2\n", "c = 2\n", ""):
        assert refused(lambda before=before: parse(before).set_raw(("a",), source))[0] == "unexpected"


def test_what_raw_gave_can_be_put_back_even_a_handler_that_was_taken_over() -> None:
    theirs = "[[hooks.Stop]] # theirs\n[[hooks.Stop.hooks]]\ncommand = 'bell' # rings\ntimeout = 0x5\nargs = [\n  1, # one\n]\n"
    before = parse(theirs)
    raw = before.raw((*STOP, 0, "hooks", 0))
    assert raw == "{ command = 'bell', timeout = 0x5, args = [\n  1, # one\n] }"
    ours = (
        before.set((*STOP, 0, "hooks", 0, "command"), "ours")
        .set((*STOP, 0, "hooks", 0, "timeout"), 10)
        .set((*STOP, 0, "hooks", 0, "async"), True)
    )
    assert text_of(ours.set_raw((*STOP, 0, "hooks", 0), raw)) == theirs


def test_values_source_texts_and_places_are_found_by_path() -> None:
    document = parse(
        '\ufeff# ü\r\na = [1.0, { "b c" = nan }]\r\nd.e = \'x\'\r\n\r\n [t . "u"]\r\nf = 1\r\n[[g]]\r\n[[g]]\r\n  h = 2024-02-29 07:32:00\r\n[i]\r\n'
    )
    found: dict[Path, tuple[str, tuple[int, int]]] = {
        ("a",): ('[1.0, { "b c" = nan }]', (2, 5)), ("a", 0): ("1.0", (2, 6)), ("a", 1, "b c"): ("nan", (2, 21)), ("d",): ("{ e = 'x' }", (3, 1)),
        ("d", "e"): ("'x'", (3, 7)), ("t",): ("{ u = { f = 1 } }", (5, 2)), ("t", "u"): ("{ f = 1 }", (5, 2)), ("t", "u", "f"): ("1", (6, 5)),
        ("g",): ("[{}, { h = 2024-02-29 07:32:00 }]", (7, 1)), ("g", 1): ("{ h = 2024-02-29 07:32:00 }", (8, 1)), ("g", 1, "h"): ("2024-02-29 07:32:00", (9, 7)),
        ("i",): ("{}", (10, 1)),
    }  # fmt: skip
    for path, (raw, place) in found.items():
        assert document.position(path) == place
        assert document.raw(path) == raw
    assert document.get(("g", 1, "h")) == datetime.datetime(2024, 2, 29, 7, 32)
    assert document.get(("d",)) == {"e": "x"}
    assert parse("i = 1\n").get(()) == {"i": 1} and parse("i = 1\n").raw(()) == "{ i = 1 }"
    for path in (
        (0,),
        ("a", 2),
        ("a", -1),
        ("a", "0"),
        ("a", 0, "x"),
        ("d", 0),
        ("g", 2),
        ("g", "h"),
        ("no",),
        ("no", "way"),
    ):
        assert document.get(path) is MISSING
        with pytest.raises(KeyError):
            document.raw(path)
    assert document.position(("g", 1, "no")) == (8, 1)
    assert document.position(("no", "way")) == document.position(()) == parse("").position(("a",)) == (1, 1)
    with pytest.raises(KeyError):
        parse("").raw(())


@pytest.mark.parametrize("text", ["", " ", "\n", "\r\n\t ", "\ufeff", "\ufeff \n", "# c", "# c\n\n# d\n"])
def test_a_file_without_keys_and_headers_is_an_empty_document(text: str) -> None:
    document = parse(text)
    assert document.value is document.get(()) is MISSING
    assert text_of(document) == text


def test_toml_has_no_dialects_and_no_key_twice() -> None:
    document = TomlDocument.parse(b"a = [1, # c\n]\nb = 'x'\n", where=WHERE)
    document.require_strict(comments=False, trailing_commas=False)
    document.check_path(("b",))


def test_documents_with_what_json_does_not_have_are_compared_and_edited_like_others() -> None:
    text = "a = nan\nb = [-nan, inf, 1979-05-27, 07:32:00, 2024-02-29T10:00:00+02:00]\n[t]\nc = 1\n"
    assert parse(text).value == parse(text).value
    assert parse(text).get(("b",)) == parse(text).get(("b",))
    edited = parse(text).append(STOP, GROUP)
    assert edited.remove(("hooks",)).data == text.encode()
    assert edited.value != parse(text).value


def test_nesting_up_to_the_limit_is_read_and_edited() -> None:
    text = "a = " + "[" * 99 + "]" * 99 + "\n"
    document = parse(text)
    assert document.set(("b",), 1).remove(("b",)).data == document.data


def test_more_than_16_mib_is_refused() -> None:
    assert refused(lambda: TomlDocument.parse(b"#" * (16 * 1024 * 1024 + 1), where=WHERE))[0] == "unparsable"


def test_a_document_never_changes() -> None:
    text = "a = [1]\n[b]\nc = 2\n"
    document = parse(text)
    for edited in (
        document.set(("b", "c"), 3),
        document.append(("c",), 2),
        document.remove(("a",)),
        document.set_raw(("d",), "0"),
    ):
        assert edited is not document
    assert text_of(document) == text
    assert document.get(()) == {"a": [1], "b": {"c": 2}}


def test_an_edit_that_would_not_give_what_was_wanted_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from hookctl.documents import Splice

    document = parse("a = 1 # one\nb = 2\n")
    for wrong in (
        [Splice(0, 0, "x = 1\n")],
        [Splice(0, 0, "c = 3 "), Splice(4, 5, "1")],
    ):
        monkeypatch.setattr(TomlDocument, "_insert_line", lambda self, above, text, wrong=wrong: wrong)
        assert refused(lambda: document.set(("c",), 3)) == ("unexpected", 1, 1)
