"""Edits that seldom come about: of a null, of merged mappings, and of a value that is there already."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hookctl.documents import MISSING
from hookctl.documents import jsonc as jsonc_module
from hookctl.documents.jsonc import JsonDocument
from hookctl.documents.yaml import YamlDocument
from tests.documents.refused import WHERE, refused


def yaml(text: str) -> YamlDocument:
    return YamlDocument.parse(text.encode(), where=WHERE)


def jsonc(text: str) -> JsonDocument:
    return JsonDocument.parse(text.encode(), where=WHERE)


# YAML

EDITED: list[tuple[str, Callable[[YamlDocument], YamlDocument], str]] = [
    ("a:\n  b:\n", lambda d: d.append(("a", "b"), 1), "a:\n  b:\n    - 1\n"),
    ("a: ~  # none\nb: 1\n", lambda d: d.set(("a", "x"), 1), "a:  # none\n  x: 1\nb: 1\n"),
    ("- null\n", lambda d: d.set((0,), {"x": 1}), "- x: 1\n"),
    ("a:\n- {}\n", lambda d: d.set(("a", 0, "x"), 1), "a:\n- x: 1\n"),
    ("a:\n  b: 1\n", lambda d: d.set_raw(("a", "c"), "[1,  2]"), "a:\n  b: 1\n  c: [1,  2]\n"),
]


@pytest.mark.parametrize(("text", "edit", "after"), EDITED, ids=[row[0] for row in EDITED])
def test_an_edit_of_yaml(text: str, edit: Callable[[YamlDocument], YamlDocument], after: str) -> None:
    assert edit(yaml(text)).data.decode() == after


def test_a_value_with_a_tag_of_the_document_and_a_date_has_no_source_text() -> None:
    head = "%TAG !e! tag:yaml.org,2002:\n---\n"
    assert yaml(head + "a: [!e!str x, 1]\n").raw(("a",)) == '["x", 1]'
    assert refused(lambda: yaml(head + "a: [!e!str x, 2001-01-01]\n").raw(("a",))) == ("unsupported_yaml", 3, 4)
    shared = "a: &x {b: 2001-01-01}\nc: *x\n"
    assert refused(lambda: yaml(shared).raw(("c", "b"))) == ("unsupported_yaml", 2, 4)


def test_a_long_chain_of_merged_mappings_is_too_deep() -> None:
    chain = ["l:\n- - &a0 {x: 1}\n"]
    for number in range(1, 980):
        chain.append(f"  - &a{number} {{<<: *a{number - 1}}}\n")
    text = "".join([*chain, "b: {<<: *a979}\n"])
    assert refused(lambda: yaml(text))[0] == "unparsable"


MERGED = "x: &x {p: 1}\nz: &z {q: 2}\na:\n  <<: [*x, *z]\n"


@pytest.mark.parametrize(("key", "text"), [("p", "1"), ("q", "2")])
def test_a_key_is_found_in_whichever_mapping_is_merged(key: str, text: str) -> None:
    assert yaml(MERGED).raw(("a", key)) == text


def test_a_key_that_no_merged_mapping_has_is_missing() -> None:
    assert yaml(MERGED).get(("a", "r")) is MISSING
    with pytest.raises(KeyError):
        yaml(MERGED).raw(("a", "r"))


# JSON


def test_a_value_that_is_there_already_changes_nothing() -> None:
    document = jsonc('{"a": 1}')
    assert document.set(("a",), 1) is document


@pytest.mark.parametrize("text", ["{", '{"a": 3}'])
def test_an_edit_that_gives_another_document_than_wanted_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    document = jsonc('{"a": 1}')
    monkeypatch.setattr(jsonc_module, "spliced", lambda *_: text)
    assert refused(lambda: document.set(("a",), 2))[0] == "unexpected"


def test_a_source_text_that_is_there_already_changes_nothing() -> None:
    document = jsonc('{"a": 1}')
    assert document.set_raw(("a",), "1") is document


# The plugin


def test_only_a_plugin_is_renewed() -> None:
    document = jsonc("{}")
    assert document.renewed() is document
