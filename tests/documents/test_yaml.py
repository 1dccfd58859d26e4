# ruff: noqa: E501  # tables
"""YAML documents by example: what an edit makes of a text, byte for byte."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path as FilePath
from typing import Any

import pytest

from hookctl.documents import MISSING
from hookctl.documents.yaml import YamlDocument


def parse(text: str) -> YamlDocument:
    return YamlDocument.parse(text.encode("utf-8"), where="config.yaml")


def text_of(document: YamlDocument) -> str:
    return document.data.decode("utf-8")


RAW = [
    ("a: 0x10 # n\n", ("a",), "0x10"),
    ("a:\n    b: 1 # n\n    c:\n    - 2\n", ("a",), "b: 1 # n\nc:\n- 2"),
    ("a:\n  - b: 1\n    c: 2\n", ("a", 0), "b: 1\nc: 2"),
    ("a: |\n    one\n      two\nb: 1\n", ("a",), "|\n  one\n    two"),
    ("a: 'x\n   y'\n", ("a",), "'x\n  y'"),
    ("a: {b: [1,\n    2]}\n", ("a", "b"), "[1,\n  2]"),
    ("a: |2\n    one\n", ("a",), '"  one\\n"'),
    ("a: &x 1\nb: *x\n", ("b",), "*x"),
    ("a: &x {c: 1}\nb: *x\n", ("b", "c"), "1"),
    ("a: &x {c: 1}\nb:\n  <<: *x\n", ("b", "c"), "1"),
    ("a: &x {c: 1}\nz: &y {c: 2}\nb:\n  <<: [*x, *y]\n", ("b", "c"), "1"),
    ("a:\n", ("a",), ""),
    ("a: 1\na: 2\n", ("a",), "2"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "path", "raw"), RAW)
def test_the_source_of_a_value_is_what_stands_there_moved_to_the_margin(
    text: str, path: tuple[str | int, ...], raw: str
) -> None:
    assert parse(text).raw(path) == raw


def test_there_is_no_source_of_what_is_not_there() -> None:
    with pytest.raises(KeyError):
        parse("a: 1\n").raw(("b",))


READ = [
    ("a: yes\nb: 12:30\nc: 1e3\n", (), {"a": True, "b": 750, "c": "1e3"}),
    ("a: &x {b: 1}\nc:\n  <<: *x\n", ("c", "b"), 1),
    ("a: [1, [2]]\n", ("a", 1, 0), 2),
    ("a: [1]\n", ("a", 1), MISSING),
    ("a: [1]\n", ("a", -1), MISSING),
    ("a: [1]\n", ("a", "b"), MISSING),
    ("1: one\n", ("1",), MISSING),
    ("", (), MISSING),
    ("# c\n---\n# d\n", (), MISSING),
    ("~\n", (), None),
    ("a: 1\na: 2\n", ("a",), 2),
]  # fmt: skip


@pytest.mark.parametrize(("text", "path", "value"), READ)
def test_values_are_read_as_the_host_reads_them(text: str, path: tuple[str | int, ...], value: Any) -> None:
    document = parse(text)
    assert document.get(path) == value or document.get(path) is value
    assert document.data == text.encode("utf-8")


PLACES = [
    ("a: 1\nb:\n  - c\n", ("b", 0), (3, 5)), ("a: 1\nb:\n  - c\n", ("b", 7), (3, 3)), ("a: 1\n", ("x", "y"), (1, 1)),
    ("\ufeffa: 1\n", ("a",), (1, 4)), ("", ("a",), (1, 1)), ("a: 😀\nb: 1\n", ("b",), (2, 4)), ("a: &x\n  b: 1\n", ("a",), (1, 4)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "path", "place"), PLACES)
def test_a_value_s_place_or_its_nearest_parent_s_is_known(
    text: str, path: tuple[str | int, ...], place: tuple[int, int]
) -> None:
    assert parse(text).position(path) == place


def test_every_host_reads_yaml_with_comments() -> None:
    document = parse("# c\na: [1,]\n")
    document.require_strict(comments=False, trailing_commas=False)


def test_without_the_extra_the_message_says_how_to_get_it(tmp_path: FilePath) -> None:
    (tmp_path / "yaml.py").write_text("raise ImportError('there is no such package')\n")
    program = (
        "from hookctl.documents.yaml import YamlDocument\n"
        "from hookctl.errors import HookctlError\n"
        "try:\n    YamlDocument.parse(b'a: 1', where='/x/config.yaml')\n"
        "except HookctlError as error:\n    print(error.code, error.exit_code, error)\n"
    )
    root = str(FilePath(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), root])}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout.startswith("extra_missing 4 /x/config.yaml: "), done.stderr
    assert "-m pip install" in done.stdout


def test_the_reader_is_imported_with_the_first_file_only() -> None:
    program = "import sys, hookctl.documents.yaml; print('yaml' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=FilePath(__file__).parents[2]
    )
    assert done.stdout == "False\n", done.stderr
