"""What holds for every document and every edit: found by Hypothesis, or over a corpus, not by thinking of examples."""

import contextlib
import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hookctl.documents import MISSING, Document, formats
from hookctl.documents import yaml as hookctl_yaml
from hookctl.errors import HookctlError

from .generated import TOML_VALUES, VALUES, WRITTEN, YAML, call_everything, edits, json_texts, nearly, toml_texts
from .judge import EMPTY, Path, at, edited, is_comment, judge, line_ends, read, tagged, tokens, value_of
from .table import Edit
from .test_document_rows import GROUP, STATE, STOP

# Some edits of what is shared in YAML, or of what has no other end than the one it has, are refused.
ODD = ("&", "|", ">", "? ", "!!")


def parse(format: str, text: str) -> Document:
    return formats.parse(format, text.encode("utf-8"))


def text_of(document: Document) -> str:
    return document.data.decode("utf-8")


def squeezed(format: str, text: str) -> list[str]:
    return [token for token in tokens(format, text) if not token.isspace()]


def undone(before: Document, after: Document, edit: Edit) -> Document:
    """Take out what an insertion brought: the first part of its path that was not there."""
    for length in range(1, len(edit.path) + 1):
        if before.get(edit.path[:length]) is MISSING:
            return after.remove(edit.path[:length])
    return after.remove((*edit.path, len(after.get(edit.path)) - 1))


def is_as_before(format: str, text: str, back: str) -> bool:
    """To the byte; but for blanks in JSON with comments or odd blanks, and in YAML for its brackets."""
    if format == "json" and (any(map(is_comment, tokens(format, text))) or re.search(r"[\[{]\s+[\]}]|,\s*[\]}]", text)):
        return squeezed(format, back) == squeezed(format, text)
    return back == text or (format == "yaml" and EMPTY.sub("", back) == EMPTY.sub("", text))


def check(format: str, text: str, edit: Edit) -> bool:
    """Is the edit made? Then rightly, and it can be undone; what is refused leaves the document as it was."""
    document = parse(format, text)
    try:
        after = edit.of(document)
    except HookctlError as error:
        assert error.line >= 1 and error.column >= 1 and text_of(document) == text
        assert may_refuse(format, document, edit, error.code), edit
        return False
    if edit.method == "set" and repr(document.get(edit.path)) == repr(edit.arguments[0]):
        assert after is document, "however it is spelled"
        return True
    judge(format, document.data, after.data, edit)
    if edit.method == "append" or document.get(edit.path) is MISSING:
        assert is_as_before(format, text, text_of(undone(document, after, edit))), edit
    elif edit.method == "set":
        check_return(format, document, after, edit)
    return True


def check_return(format: str, before: Document, after: Document, edit: Edit) -> None:
    """The source text that stood there is put back as it was."""
    text = text_of(before)
    try:
        back = after.set_raw(edit.path, before.raw(edit.path))
    except HookctlError as error:
        assert error.code in (f"unsupported_{format}", "wrong_shape") and format != "json", edit
        return
    if format == "yaml":
        # A block scalar at the end of a file without a final line break is put back as a plain value, an alias too.
        odd = "<*" if text[-1:] in "\r\n" else "<*|>"
        assert back.value == before.value
        assert read("yaml", text_of(back)) == read("yaml", text) or any(mark in text for mark in odd)
    elif format == "json" or not isinstance(before.get(edit.path), dict | list):
        assert back.data == before.data or isinstance(after.get(edit.path), dict | list), edit


def may_refuse(format: str, document: Document, edit: Edit, code: str) -> bool:
    """What the file has no place for, as far as that can be said without the package."""
    text, path = text_of(document), edit.path
    if format != "toml":
        return format == "yaml" and code == "unsupported_yaml"
    if code == "unsupported_toml" and any(
        document.raw(path[:end]) in text for end in range(1, len(path)) if there(document, path[:end])
    ):
        return True  # it is one of those in the brackets of another one
    if edit.method == "remove":
        return False
    value = document.get(path)
    if value is MISSING:
        return not has_header(text, path[:-1]) or edit.method == "append"
    if edit.method == "append":
        return code == ("unsupported_toml" if document.raw(path) in text else "wrong_shape")
    inner = value if isinstance(value, list) else [value]
    return all(isinstance(one, dict) for one in inner) and (code == "wrong_shape" or not has_header(text, path))


def there(document: Document, path: Path) -> bool:
    return document.get(path) is not MISSING


def has_header(text: str, path: Path) -> bool:
    """Is a table's header surely there, however odd the rest of the text is?"""
    names = ".".join(WRITTEN.get(key, key) for key in path if isinstance(key, str))
    lines = [line.strip() for line in text.splitlines()]
    return not path or ("'''" not in text and '"""' not in text and f"[{names}]" in lines)


@settings(deadline=None, max_examples=120)
@given(json_texts() | json_texts(remarks=True))
def test_every_edit_of_json_is_right_and_loses_nothing(text: str) -> None:
    assert all([check("json", text, edit) for edit in edits("json", text)])


@settings(deadline=None, max_examples=120)
@given(toml_texts(), TOML_VALUES)
def test_every_edit_of_toml_is_right_and_loses_nothing(text: str, value: Any) -> None:
    for edit in edits("toml", text, value):
        check("toml", text, edit)


def check_some(name: str, variant: str) -> None:
    """A few edits of each file; each variant takes others."""
    text = YAML[name, variant]
    tried = list(edits("yaml", text))
    tried = tried[len(variant) % 3 :: max(1, len(tried) // 12)]
    refused = [edit for edit in tried if not check("yaml", text, edit)]
    assert not refused or any(mark in text for mark in ODD)
    assert len(refused) <= len(tried) * 0.6


@pytest.mark.parametrize(("name", "variant"), YAML)
def test_every_edit_of_every_yaml_file_of_the_corpus_is_right(name: str, variant: str) -> None:
    check_some(name, variant)


@pytest.fixture
def without_c(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """PyYAML has two readers; which one is there depends on how it was installed."""
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    hookctl_yaml._loader.cache_clear()
    yield
    hookctl_yaml._loader.cache_clear()


@pytest.mark.parametrize("name", [name for name, variant in YAML if variant == "as it is"])
@pytest.mark.usefixtures("without_c")
def test_the_reader_in_python_does_as_well(name: str) -> None:
    check_some(name, "as it is")


@settings(deadline=None, max_examples=80)
@given(json_texts(remarks=True, object_only=True), st.data())
def test_what_the_operator_edits_between_insert_and_remove_survives(text: str, data: st.DataObject) -> None:
    """The same edit on the untouched file must mean the same, and its bytes must be there."""
    document = parse("json", text)
    theirs = data.draw(st.sampled_from(list(edits("json", text))))
    if theirs.path[:1] == ("ours",):
        theirs = Edit("set", ("theirs",), ({"x": list(theirs.arguments)},))
    alone = text_of(theirs.of(document))
    both = text_of(theirs.of(document.set(("our own",), {"y": 1})).remove(("our own",)))
    assert read("json", both) == read("json", alone)
    assert squeezed("json", both) == squeezed("json", alone)


@settings(deadline=None, max_examples=80)
@given(json_texts(object_only=True), st.lists(st.sampled_from(["x", "y", "z"]), max_size=6), VALUES)
def test_many_edits_in_a_row_mean_what_they_mean_on_plain_values(text: str, keys: list[str], value: Any) -> None:
    document, tree = parse("json", text), read("json", text)
    for key in keys:
        steps = (("set", ("ours", key), (value,)), ("append", ("list",), (value,)), ("remove", ("list", 0), ()))
        for edit in (Edit(*step) for step in steps):
            document, tree = edit.of(document), edited("json", tree, edit)
    assert read("json", text_of(document)) == tree
    assert document.value == value_of(tree)


@settings(deadline=None, max_examples=100)
@given(VALUES)
def test_any_value_is_written_and_read_back(value: Any) -> None:
    for text in ("", '{"a":1}', '{\n\t"a": 1\n}', '{\r\n  "a": [1]\r\n}'):
        document = parse("json", text).set(("new", "value"), value)
        assert parse("json", text_of(document)).get(("new", "value")) == json.loads(json.dumps(value))
        assert document.set(("new", "value"), value) is document


@settings(deadline=None, max_examples=150)
@given(toml_texts())
def test_a_hook_that_comes_and_goes_leaves_the_very_bytes_of_toml(text: str) -> None:
    document = parse("toml", text)
    with contextlib.suppress(HookctlError):
        after = document.set(STATE, [1, "x"])
        assert (
            document.get(STATE) is not MISSING or undone(document, after, Edit("set", STATE, ())).data == document.data
        )
    try:
        after = document.append(STOP, GROUP)
    except HookctlError as error:
        assert error.code in ("wrong_shape", "unsupported_toml")
        return
    group = (*STOP, len(after.get(STOP)) - 1)
    for back in (after, after.remove((*group, "hooks", 0))):
        back = back.remove(group)
        for length in (2, 1):
            if not there(document, group[:length]):
                back = back.remove(group[:length])
        assert back.data == document.data


@settings(deadline=None, max_examples=100)
@given(toml_texts(), st.data())
def test_a_source_text_of_toml_says_what_stands_there_and_line_ends_are_never_mixed(text: str, data: Any) -> None:
    document = parse("toml", text)
    for edit in edits("toml", text, 1):
        if edit.method == "remove":
            raw = document.raw(edit.path)
            assert tagged(tomllib.loads(f"v = {raw}")["v"]) == at(read("toml", text), edit.path)
            line, column = document.position(edit.path)
            assert 1 <= line <= text.count("\n") + 1 and column >= 1
            with contextlib.suppress(HookctlError):
                assert document.set_raw(edit.path, raw).data == document.data
    long = document.set(("t", "u"), {"v": [{"w": 1}]}).set_raw(("raw",), '"""\n"""')
    assert line_ends(text_of(long)) <= (line_ends(text) or {"\n"})


@settings(deadline=None, max_examples=250)
@given(
    nearly(toml_texts()),
    st.lists(st.sampled_from(["a", "b", "hooks", "Stop", 0, 1, -1, ""]), max_size=4).map(tuple),
    st.sampled_from(["1", "[1, # c\n]", "{ a = 1 }", "[", '"x"\ny = 2', ""]),
)
def test_arbitrary_bytes_raise_nothing_but_an_expected_error(data: bytes, path: Path, source: str) -> None:
    try:
        document = formats.parse("toml", data, where="/x")
    except HookctlError as error:
        assert error.code in ("not_utf8", "unparsable") and error.exit_code == 4
        text = data.decode("utf-8", "replace")
        assert 1 <= error.line <= len(re.split(r"\r\n|\r|\n", text)) and 1 <= error.column <= len(text) + 2
        return
    assert document.data == data
    broken = source in ("[", '"x"\ny = 2', "")
    call_everything(document, path, source, lambda error: error.code in ("wrong_shape", "unsupported_toml") or broken)


@pytest.mark.parametrize("text", [b'{"a": 1,\n "b": 2, // mine\n}', b'{"a":1}'])
def test_more_edits_come_after_the_last_member_went(text: bytes) -> None:
    document = formats.parse("json", text)
    for key in [*document.value]:
        document = document.remove((key,))
    assert document.set(("c",), {"d": [1]}).set(("e",), 2).value == {"c": {"d": [1]}, "e": 2}
