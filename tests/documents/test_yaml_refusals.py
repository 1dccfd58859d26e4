# ruff: noqa: E501  # tables
"""What a YAML document refuses: always with its place, and always as it was before."""

from __future__ import annotations

import contextlib
import time

import pytest

from hookctl.documents.yaml import YamlDocument
from hookctl.errors import HookctlError

from .refused import WHERE
from .yaml_generated import CORPUS


def parse(text: str) -> YamlDocument:
    return YamlDocument.parse(text.encode("utf-8"), where=WHERE)


@pytest.mark.parametrize("data", ["größe: 1".encode("latin-1"), "a: 1".encode("utf-16"), "a: 1".encode("utf-32")])
def test_what_is_not_utf_8_is_refused(data: bytes) -> None:
    with pytest.raises(HookctlError) as caught:
        YamlDocument.parse(data)
    assert caught.value.code == ("not_utf8" if b"a\0\0\0" not in data else caught.value.code)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a: 1\na: 2\nb: 1\n", ("b",)), ("a: &x 1\nb: *x\nc: {}\n", ("c", "d")), ("a: {}\nc: 1\n", ("a", "b")), ("", ("a",)),
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
