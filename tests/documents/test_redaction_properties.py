"""What holds for what is shown of any JSON, TOML or YAML: no secret, and all of a text that has none."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hookctl.documents import BREAK, formats
from hookctl.documents.redaction import redacted

HIDDEN = "made-up"
PLAIN_KEYS = ("a", "b c", "model", "x-y", "a:b", "#", "größe", "[x]")
SECRET_KEYS = ("token", "api_key", "my api_key here")
PLAIN = ("word", "two words", "it's", 'say "x"', "# no", "a: b", "{[", "", "\\", "'''", "line\nbreak", 7, -1.5, True)


def trees(keys: st.SearchStrategy[str], leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3)

    return st.dictionaries(keys, st.recursive(leaves, deeper, max_leaves=8), max_size=4)


PLAIN_TREES = trees(st.sampled_from(PLAIN_KEYS), st.sampled_from(PLAIN))
HIDDEN_TREES = trees(
    st.sampled_from(PLAIN_KEYS), st.sampled_from((HIDDEN, f"{HIDDEN} it's", f"# {HIDDEN}\n[{HIDDEN}]\n"))
)


def written_json(tree: dict[str, Any], draw: st.DrawFn) -> str:
    return json.dumps(tree, indent=draw(st.sampled_from((None, 2, "\t"))), ensure_ascii=draw(st.booleans()))


def written_yaml(tree: dict[str, Any], draw: st.DrawFn) -> str:
    flow, style = draw(st.sampled_from((None, False, True))), draw(st.sampled_from((None, '"', "'", "|")))
    return yaml.safe_dump(tree, default_flow_style=flow, default_style=style, allow_unicode=True, width=10_000)


def written_toml(tree: dict[str, Any], draw: st.DrawFn) -> str:
    lines, tables = [], []
    for key, value in tree.items():
        if isinstance(value, dict) and draw(st.booleans()):
            inner = [f"{json.dumps(name)} = {_toml_value(value[name], draw)}" for name in value]
            tables += ["", f"[{json.dumps(key)}]", *inner]
        else:
            lines.append(f"{json.dumps(key)} = {_toml_value(value, draw)}")
    return "\n".join([*lines, *tables, ""])


def _toml_value(value: Any, draw: st.DrawFn) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml_value(value[key], draw)}" for key in value) + "}"
    if isinstance(value, list):
        gap = draw(st.sampled_from(("", "\n  ")))
        return "[" + ", ".join(gap + _toml_value(inner, draw) for inner in value) + "]"
    if isinstance(value, str) and draw(st.booleans()):
        return '"""\n' + value.replace("\\", "\\\\").replace('"', '\\"') + '"""'
    return json.dumps(value)


FORMATS = [
    ("json", written_json, json.loads), ("yaml", written_yaml, yaml.safe_load), ("toml", written_toml, tomllib.loads),
]  # fmt: skip


@pytest.mark.parametrize(("format", "written", "read"), FORMATS)
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_no_secret_is_shown_and_the_rest_of_the_lines_stay(
    format: str, written: Any, read: Any, data: st.DataObject
) -> None:
    tree, secret = data.draw(PLAIN_TREES), data.draw(st.sampled_from(SECRET_KEYS))
    place = data.draw(st.sampled_from(("top", "deep")))
    hidden = data.draw(HIDDEN_TREES | st.sampled_from((HIDDEN, f"a\n {HIDDEN}: b\n")))
    whole = {**tree, secret: hidden} if place == "top" else {**tree, "deep": {"first": 1, secret: hidden}, "last": 1}
    text = written(whole, data.draw)
    assert read(text) == whole
    shown = redacted(formats.parse(format, text.encode()))
    assert HIDDEN not in shown
    assert len(BREAK.findall(shown)) == len(BREAK.findall(text))


@pytest.mark.parametrize(("format", "written", "read"), FORMATS)
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_a_text_without_any_secret_is_shown_whole(format: str, written: Any, read: Any, data: st.DataObject) -> None:
    tree = data.draw(PLAIN_TREES)
    text = written(tree, data.draw)
    assert read(text) == tree
    assert redacted(formats.parse(format, text.encode())) == text
