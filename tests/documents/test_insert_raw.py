"""A source text goes above an element of a list, and the comments of both stay where they belong."""

from __future__ import annotations

import pytest

from hookctl.documents import formats
from hookctl.errors import HookctlError

YAML = ["h:", "  # a", "  - n: a # ta", "    t: 1", "  # b", "  # b2", "  - n: b", ""]
JSON = ['{"h": [', "  // a", '  {"n": "a"}, // ta', "  // b", "  /* b2 */", '  {"n": "b"} // tb', "]}", ""]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("format", "lines", "new", "index", "at"),
    [
        ("yaml", YAML, ["  - n: x # tx", "    t: 2"], 0, 1),
        ("yaml", YAML, ["  - n: x # tx", "    t: 2"], 1, 4),
        ("json", JSON, ['  {"n": "x" /* c */},'], 0, 1),
        ("json", JSON, ['  {"n": "x"},'], 1, 3),
    ],
)
def test_the_lines_go_above_an_element_and_its_comments(
    format: str, lines: list[str], new: list[str], index: int, at: int, line_end: str
) -> None:
    text = "\n".join(line[4:] for line in new) if format == "yaml" else new[0].strip().removesuffix(",")
    document = formats.parse(format, line_end.join(lines).encode(), where="x")
    wanted = line_end.join([*lines[:at], *new, *lines[at:]])
    assert document.insert_raw(("h", index), text).data.decode() == wanted


@pytest.mark.parametrize(
    ("format", "text", "raw", "wanted"),
    [
        ("yaml", "h:\n- n: |\n    # x\n- n: 2\n", "n: x", "h:\n- n: |\n    # x\n- n: x\n- n: 2\n"),
        ("toml", "h = [{ n = 1 }, { n = 2 }]", "{ n = 0 }", "h = [{ n = 1 }, { n = 0 }, { n = 2 }]"),
        ("json", '{"h":[{"n":1},{"n":2}]}', '{"n":0}', '{"h":[{"n":1},{"n":0},{"n":2}]}'),
    ],
)
def test_what_stands_on_one_line_or_looks_like_a_comment(format: str, text: str, raw: str, wanted: str) -> None:
    document = formats.parse(format, text.encode(), where="x")
    assert document.insert_raw(("h", 1), raw).data.decode() == wanted


def test_a_layout_that_has_no_line_for_it_is_refused() -> None:
    document = formats.parse("yaml", b"h:\n- - n: 1\n", where="x")
    with pytest.raises(HookctlError, match="without loss"):
        document.insert_raw(("h", 0, 0), "n: x")
