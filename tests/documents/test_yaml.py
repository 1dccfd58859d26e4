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

HOOK = {"command": "sh -c ': x; [ -f \"/a b\" ]'", "timeout": 10}
EVENT = ("hooks", "pre_verify")
LINES = '- command: "sh -c \': x; [ -f \\"/a b\\" ]\'"\n{0}  timeout: 10\n'
OURS = "  pre_verify:\n    " + LINES.format("    ")
FLOW = '{command: "sh -c \': x; [ -f \\"/a b\\" ]\'", timeout: 10}'


def parse(text: str) -> YamlDocument:
    return YamlDocument.parse(text.encode("utf-8"), where="config.yaml")


def text_of(document: YamlDocument) -> str:
    return document.data.decode("utf-8")


APPENDED = [
    ("", "hooks:\n" + OURS),
    ("# only\n", "# only\nhooks:\n" + OURS),
    ("# only", "# only\nhooks:\n" + OURS[:-1]),
    ("---\n", "---\nhooks:\n" + OURS),
    ("\ufeff", "\ufeffhooks:\n" + OURS),
    ("a: 1\n", "a: 1\nhooks:\n" + OURS),
    ("a: 1", "a: 1\nhooks:\n" + OURS[:-1]),
    ("a: 1\r\n", "a: 1\r\nhooks:\r\n" + OURS.replace("\n", "\r\n")),
    ("a: 1\n\n\n", "a: 1\nhooks:\n" + OURS + "\n\n"),
    ("a: 1 # note\n# goes with a\n\n# does not\n", "a: 1 # note\n# goes with a\nhooks:\n" + OURS + "\n# does not\n"),
    ("a: 1\n...\n", "a: 1\nhooks:\n" + OURS + "...\n"),
    ("a:\n- 1\n", "a:\n- 1\nhooks:\n  pre_verify:\n  " + LINES.format("  ")),
    ("a:\n    b:\n        - 1\n", "a:\n    b:\n        - 1\nhooks:\n    pre_verify:\n        " + LINES.format("        ")),
    ("a: |\n  text\n\nb: 2\n", "a: |\n  text\n\nb: 2\nhooks:\n" + OURS),
    ("a: |+\n  text\n\n", "a: |+\n  text\n\nhooks:\n" + OURS),
    ("hooks: {}\nb: 2\n", "hooks:\n" + OURS + "b: 2\n"),
    ("hooks: {}  # none\nb: 2\n", "hooks:  # none\n" + OURS + "b: 2\n"),
    ("hooks:\n  pre_verify: []\n", "hooks:\n" + OURS),
    ("hooks: { }\n", f"hooks: {{pre_verify: [{FLOW}] }}\n"),
    ("hooks: {pre_verify: [x]}\n", f"hooks: {{pre_verify: [x, {FLOW}]}}\n"),
    ("hooks: {pre_verify: [x,]}\n", f"hooks: {{pre_verify: [x, {FLOW},]}}\n"),
    ("hooks: {pre_verify: [x # one\n  , # two\n  ]}\n", f"hooks: {{pre_verify: [x # one\n  , {FLOW}, # two\n  ]}}\n"),
    ('{"a": 1}\n', f'{{"a": 1, hooks: {{pre_verify: [{FLOW}]}}}}\n'),
    ("hooks:\n  pre_verify:\n    - x # one\n    # - y\n  # behind\n", "hooks:\n  pre_verify:\n    - x # one\n    # - y\n    " + LINES.format("    ") + "  # behind\n"),
    ("hooks:\n  pre_verify:\n  - x\n  # behind\n  other: []\n", "hooks:\n  pre_verify:\n  - x\n  " + LINES.format("  ") + "  # behind\n  other: []\n"),
    ("hooks:\n  other:\n    - x\nb: 2\n", "hooks:\n  other:\n    - x\n" + OURS + "b: 2\n"),
    ("? hooks\n: pre_verify: []\n", "? hooks\n: pre_verify:\n    " + LINES.format("    ")),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), APPENDED)
def test_a_new_hook_is_lines_of_its_own_in_the_file_s_layout(before: str, after: str) -> None:
    assert text_of(parse(before).append(EVENT, HOOK)) == after


@pytest.mark.parametrize(("before", "after"), APPENDED)
def test_a_hook_that_is_removed_again_leaves_the_very_bytes(before: str, after: str) -> None:
    """The hook first, then what came with it, where nothing else is in there; as an uninstall does it."""
    old, document = parse(before), parse(after)
    document = document.remove((*EVENT, len(document.get(EVENT)) - 1))
    for path in (EVENT, EVENT[:1]):
        if old.get(path) is MISSING:
            assert "".join(document.raw(path).split()) in ("{}", "[]")
            document = document.remove(path)
    assert text_of(document) == before


REMOVED = [
    ("a: 1\nb: 2\n", ("a",), "b: 2\n"),
    ("a: 1\nb: 2", ("b",), "a: 1"),
    ("a: 1\r\nb: 2", ("b",), "a: 1"),
    ("a: 1\n", ("a",), ""),
    ("\ufeffa: 1\n", ("a",), "\ufeff"),
    ("# top\na: 1\n# end\n", ("a",), "# top\n# end\n"),
    ("a:\n  b: 1\n", ("a", "b"), "a: {}\n"),
    ("a: # note\n  # above\n  b: 1\n", ("a", "b"), "a: {} # note\n  # above\n"),
    ("a:\n- 1\n", ("a", 0), "a: []\n"),
    ("a:\n- b: 1\n", ("a", 0, "b"), "a:\n- {}\n"),
    ("a:\n- - 1\n", ("a", 0, 0), "a:\n- []\n"),
    ("a:\n- b: 1\n  c: 2\n", ("a", 0, "b"), "a:\n- c: 2\n"),
    ("a:\n- b: 1 # note\n  c: 2\n", ("a", 0, "b"), "a:\n- # note\n  c: 2\n"),
    ("a:\n- b: 1\n  # note\n  c: 2\n", ("a", 0, "b"), "a:\n- \n  # note\n  c: 2\n"),
    ("a:\n- b: 1\n  c: 2 # note\n", ("a", 0, "c"), "a:\n- b: 1\n  # note\n"),
    ("a:\n- 1 # one\n- 2\n", ("a", 0), "a:\n# one\n- 2\n"),
    ("a:\n- 1\n-\n  # inside\n  b: 2\n- 3\n", ("a", 1), "a:\n- 1\n- 3\n"),
    ("a: |\n  text\n\nb: 2\n", ("a",), "\nb: 2\n"),
    ("a: {b: 1, c: 2, d: 3}\n", ("a", "b"), "a: {c: 2, d: 3}\n"),
    ("a: {b: 1, c: 2, d: 3}\n", ("a", "d"), "a: {b: 1, c: 2}\n"),
    ("a: {b: 1}\n", ("a", "b"), "a: {}\n"),
    ("a: [1, 2,]\n", ("a", 1), "a: [1,]\n"),
    ("a: [1,]\n", ("a", 0), "a: []\n"),
    ("a: [1, # one\n  2]\n", ("a", 1), "a: [1 # one\n  ]\n"),
    ("a: [1, # one\n  2]\n", ("a", 0), "a: [ # one\n  2]\n"),
    ("a: 1\n", ("b",), "a: 1\n"),
    ("a: 1\n", (), "a: 1\n"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "path", "after"), REMOVED)
def test_a_removal_takes_out_exactly_what_is_removed(before: str, path: tuple[str | int, ...], after: str) -> None:
    assert text_of(parse(before).remove(path)) == after


SET = [
    ("a: 1 # note\n", ("a",), 2, "a: 2 # note\n"),
    ("a: 1\n", ("a",), "2", 'a: "2"\n'),
    ("a:\n", ("a",), 2, "a: 2\n"),
    ("a: # note\n", ("a",), 2, "a: 2 # note\n"),
    ("a:\n- 1\n-\n", ("a", 1), 2, "a:\n- 1\n- 2\n"),
    ("a: |\n  text\nb: 2\n", ("a",), 1, "a: 1\nb: 2\n"),
    ("a: # note\n  b: 1\nc: 2\n", ("a",), 1, "a: 1 # note\nc: 2\n"),
    ("a:\n- 1\nc: 2\n", ("a",), {"x": [1]}, "a: {x: [1]}\nc: 2\n"),
    ("a:\n- b: 1\n  c: 2\n", ("a", 0), 1, "a:\n- 1\n"),
    ("a:\n- b: 1\n", ("a", 0, "timeout"), 5, "a:\n- b: 1\n  timeout: 5\n"),
    ("a:\n- {b: 1}\n", ("a", 0, "timeout"), 5, "a:\n- {b: 1, timeout: 5}\n"),
    ("a: 1\n", ("on",), "yes", 'a: 1\n"on": "yes"\n'),
    ("a: 1\n", ("b c",), None, 'a: 1\n"b c": null\n'),
    ("a: 1\n", ("b",), 1e300, "a: 1\nb: 1.0e+300\n"),
    ("a: 1\n", ("b",), "\x7f\u2028é😀", 'a: 1\nb: "\\u007f\\u2028é😀"\n'),
    ("a: 1\n", ("b", "c"), [[1, {}], {"d": {"e": True}}], "a: 1\nb:\n  c:\n    - - 1\n      - {}\n    - d:\n        e: true\n"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "path", "value", "after"), SET)
def test_a_value_is_replaced_in_its_place_or_comes_behind_its_siblings(
    before: str, path: tuple[str | int, ...], value: Any, after: str
) -> None:
    assert text_of(parse(before).set(path, value)) == after


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("a: 1\n", ("a",), 1),
        ('a: "1"\n', ("a",), "1"),
        ("a: {b: [1]}\n", ("a",), {"b": [1]}),
        ("a: ~\n", ("b",), MISSING),
    ],
)
def test_a_value_that_is_there_already_changes_nothing(text: str, path: tuple[str, ...], value: Any) -> None:
    document = parse(text)
    assert (document.remove(path) if value is MISSING else document.set(path, value)) is document


def test_a_number_is_not_the_same_as_its_text() -> None:
    assert text_of(parse("a: 0x10\n").set(("a",), 16)) == "a: 16\n"
    assert text_of(parse("a: '1'\n").set(("a",), 1)) == "a: 1\n"


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


PUT_BACK = [
    ("a:\n  b: ours\nc: 1\n", ("a", "b"), "x: 1 # n\ny:\n- 2", "a:\n  b:\n    x: 1 # n\n    y:\n    - 2\nc: 1\n"),
    ("a:\n  - ours\n", ("a", 0), "x: 1\ny: 2", "a:\n  - x: 1\n    y: 2\n"),
    ("a:\n  - x: ours\n", ("a", 0), "{x: 1}", "a:\n  - {x: 1}\n"),
    ("a: ours\nb: 1\n", ("a",), "|\n  one\n    two", "a: |\n  one\n    two\nb: 1\n"),
    ("a:\n    b: ours\n", ("a", "b"), "'x\n  y'", "a:\n    b: 'x\n        y'\n"),
    ("a:\n    - 1\nb: 2\n", ("a",), "- 3\n- 4", "a:\n    - 3\n    - 4\nb: 2\n"),
    ("a:\n  x: 1\nb: 2\n", ("a",), "- 3", "a:\n  - 3\nb: 2\n"),
    ("a: 1\n", ("b",), "- 3\n- 4", "a: 1\nb:\n  - 3\n  - 4\n"),
    ("a: [1]\n", ("a", 0), "{x: 2}", "a: [{x: 2}]\n"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "path", "raw", "after"), PUT_BACK)
def test_a_source_text_is_put_back_with_the_indentation_of_its_place(
    before: str, path: tuple[str | int, ...], raw: str, after: str
) -> None:
    assert text_of(parse(before).set_raw(path, raw)) == after


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


def test_an_edit_gives_a_new_document_and_leaves_the_old_one() -> None:
    document = parse("a: 1\n")
    assert text_of(document.set(("a",), 2)) == "a: 2\n"
    assert text_of(document) == "a: 1\n"
    assert document.get(("a",)) == 1


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
