# ruff: noqa: E501  # tables
"""What a YAML document refuses: always with its place, and always as it was before."""

from __future__ import annotations

import contextlib
import datetime
import time
from typing import Any

import pytest

from hookctl.documents.yaml import YamlDocument
from hookctl.errors import HookctlError

from .refused import WHERE, refused
from .yaml_generated import CORPUS


def parse(text: str) -> YamlDocument:
    return YamlDocument.parse(text.encode("utf-8"), where=WHERE)


BROKEN = [
    ("a: 1\n\tb: 2\n", 2, 1), ("a: [1,\nb: 2\n", 3, 1), ("a: 1\n b: 2\n", 2, 3), ("a: 'x\n", 2, 1), ("a: *x\n", 1, 4),
    ("a: !x 1\n", 1, 4), ("a: 2026-13-45\n", 1, 4), ("a: !!int x\n", 1, 4), ("? [a]\n: 1\n", 1, 3), ("a: 1\n---\nb: 2\n", 2, 1),
    ("a: 1\n--- |\n  b\n", 2, 1), ("a: \x01\n", 1, 4), ("\ufeffa: \x01\n", 1, 4), ("\ufeffa: [\n", 2, 1), ("a: é\x85\x0bb\n", 1, 6), ("a: 1\0\n", 1, 5),
    ("a: 1\n<<<<<<< HEAD\nb: 1\n=======\n", 2, 1), ("a: =\n", 1, 4), ("- a\nb: 1\n", 2, 1), ("a: 1\nb\n", 3, 1), ("a: &x 1\nb: &x 2\n", 2, 4), ("a: @x\n", 1, 4),
    ("[" * 300, 1, 101), ("- " * 300 + "x", 1, 1),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "column"), BROKEN)
def test_what_no_reader_takes_is_refused_with_its_place(text: str, line: int, column: int) -> None:
    assert refused(lambda: parse(text)) == ("unparsable", line, column)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\n\tb: 2\n", "Indent with blanks"), ("a: 1\n---\nb: 2\n", "a second document begins here"), ("a: \x01\n", r"U\+0001"),
        ("<<<<<<< HEAD\na: 1\n", "merge-conflict"), ("a: !x 1\n", "could not determine a constructor for the tag '!x'"),
        ("a: 2026-13-45\n", "month must be in"), ("a: *x\n", "there is no anchor &x"), ("[" * 300, "nested too deeply"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_is_wrong(text: str, said: str) -> None:
    with pytest.raises(HookctlError, match=said):
        parse(text)


@pytest.mark.parametrize("data", ["größe: 1".encode("latin-1"), "a: 1".encode("utf-16"), "a: 1".encode("utf-32")])
def test_what_is_not_utf_8_is_refused(data: bytes) -> None:
    with pytest.raises(HookctlError) as caught:
        YamlDocument.parse(data)
    assert caught.value.code == ("not_utf8" if b"a\0\0\0" not in data else caught.value.code)


UNFIT = [
    ("a: 1\na: 2\n", "set", (("a",), 3), ("duplicate_key", 2, 1)),
    ("a: 1\n'a': 2\n", "remove", (("a",),), ("duplicate_key", 2, 1)),
    ("a:\n  b: []\n  b: []\n", "append", (("a", "b"), 1), ("duplicate_key", 3, 3)),
    ("a: {}\na: {}\n", "check_path", (("a", "b"),), ("duplicate_key", 2, 1)),
    ("a: 1\n", "set", (("a", "b", "c"), 1), ("wrong_shape", 1, 4)),
    ("a: [1]\n", "set", (("a", "b"), 1), ("wrong_shape", 1, 4)),
    ("a: [1]\n", "set", (("a", 1), 1), ("wrong_shape", 1, 4)),
    ("a: {}\n", "append", (("a",), 1), ("wrong_shape", 1, 4)),
    ("- a\n", "set", (("a",), 1), ("wrong_shape", 1, 1)),
    ("~\n", "set", (("a",), 1), ("wrong_shape", 1, 1)),
    ("", "set", ((0,), 1), ("wrong_shape", 1, 1)),
    ("", "append", ((), 1), ("wrong_shape", 1, 1)),
    ("a: 1\n", "set", ((), {"b": 1}), ("wrong_shape", 1, 1)),
    ("a: &x {b: 1}\nc: *x\n", "set", (("c", "d"), 1), ("unsupported_yaml", 2, 4)),
    ("a: &x {b: 1}\nc: *x\n", "set", (("c", "b"), 2), ("unsupported_yaml", 2, 4)),
    ("a: &x {b: 1}\nc: *x\n", "remove", (("a", "b"),), ("unsupported_yaml", 1, 4)),
    ("a: &x [1]\nc: *x\n", "append", (("a",), 1), ("unsupported_yaml", 1, 4)),
    ("a: &x [1]\nc: *x\n", "append", (("c",), 1), ("unsupported_yaml", 2, 4)),
    ("a: &x [1]\nc: *x\n", "remove", (("c", 0),), ("unsupported_yaml", 2, 4)),
    ("a: &x [1]\nc: *x\n", "remove", (("a",),), ("unsupported_yaml", 1, 1)),
    ("a: &x [1]\nc: *x\n", "set", (("a",), 1), ("unsupported_yaml", 1, 4)),
    ("a: &x {b: 1}\nc:\n  <<: *x\n", "set", (("c", "d"), 1), ("unsupported_yaml", 3, 3)),
    ("a: &x {b: 1}\nc:\n  <<: *x\n  b: 2\n", "remove", (("c", "b"),), ("unsupported_yaml", 3, 3)),
    ("<<: {a: []}\n", "append", (("a",), 1), ("unsupported_yaml", 1, 1)),
    ("a: !!map {}\n", "set", (("a", "b"), 1), ("unsupported_yaml", 1, 5)),
    ("a: |\n  text", "set", (("b",), 1), ("unsupported_yaml", 2, 7)),
    ("? a\n: 1\nb: 2\n", "remove", (("a",),), ("unsupported_yaml", 1, 3)),
    ("a: |+\n  text\n\nb: 1\n\nc: 1\n", "remove", (("b",),), ("unsupported_yaml", 4, 1)),
    ("a: [1]\n", "set_raw", (("a", 0), "b: 1\nc: 2"), ("unsupported_yaml", 1, 5)),
    ("a: 1\n", "set", (("b",), float("nan")), ("unexpected", 1, 1)),
    ("a: 1\n", "set", (("b",), datetime.date(2026, 11, 22)), ("unexpected", 1, 1)),
    ("a: 1\n", "set", (("b",), "\ud800"), ("unsupported_yaml", 1, 5)),
    ("a: 1\n", "set_raw", (("a",), "[1"), ("unexpected", 1, 4)),
    ("a: 1\n", "set_raw", (("a",), "*x"), ("unexpected", 1, 4)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "method", "arguments", "wanted"), UNFIT)
def test_an_edit_that_does_not_fit_is_refused_with_its_place(
    text: str, method: str, arguments: tuple[Any, ...], wanted: tuple[str, int, int]
) -> None:
    document = parse(text)
    assert refused(lambda: getattr(document, method)(*arguments)) == wanted
    assert document.data == text.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a: 1\na: 2\nb: 1\n", ("b",)), ("a: &x 1\nb: *x\nc: {}\n", ("c", "d")), ("a: &x {b: 1}\nc: 1\n", ("a", "b")), ("", ("a",)),
        ("a: &x {b: 1}\nc: *x\n", ("c",)), ("a: 1\n", ("a", "b")), ("a: &x {b: 1}\nc:\n  <<: *x\nd: {}\n", ("d", "e")),
    ],
)  # fmt: skip
def test_a_path_that_passes_through_nothing_shared_is_let_through(text: str, path: tuple[str, ...]) -> None:
    parse(text).check_path(path)


@pytest.mark.parametrize("name", [path.stem for path in sorted((CORPUS / "refused").glob("*.yaml"))])
def test_the_corpus_of_refused_files_is_refused(name: str) -> None:
    data = (CORPUS / "refused" / f"{name}.yaml").read_bytes()
    with pytest.raises(HookctlError) as caught:
        YamlDocument.parse(data).append(("hooks", "pre_verify"), {"command": "x"})
    assert caught.value.code in ("unparsable", "not_utf8", "wrong_shape", "duplicate_key", "unsupported_yaml")
    assert caught.value.line >= 1 and caught.value.column >= 1
    assert caught.value.hint


def bomb(levels: int) -> str:
    """A few names, each for ten times the one before."""
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels + 1))]
    return "\n".join(lines) + "\nhooks: {}\n"


@pytest.mark.parametrize("levels", [5, 6, 10, 2000])
def test_aliases_of_aliases_are_not_written_out(levels: int) -> None:
    start = time.process_time()
    with contextlib.suppress(HookctlError) if levels < 6 else pytest.raises(HookctlError) as caught:
        parse(bomb(levels)).append(("hooks", "pre_verify"), 1)
    assert time.process_time() - start < 5
    assert levels < 6 or (caught.value.code, caught.value.line) == ("unsupported_yaml", 7)


@pytest.mark.parametrize("text", ["a: &a [*a]\n", "a: &a\n  b: [{c: *a}]\n", "a: &a\n  <<: [*a, *a]\n", "&a [*a]\n"])
def test_a_value_that_contains_itself_is_refused(text: str) -> None:
    """Whatever walks through it would walk for ever."""
    with pytest.raises(HookctlError) as caught:
        parse(text)
    error = caught.value
    assert error.code == "unsupported_yaml" and error.hint
    assert text.splitlines()[error.line - 1][error.column - 1 :].startswith("*a")
