"""TOML 1.1 in the words of 1.0, which is all that tomllib reads before Python 3.15.

Some hosts read 1.1: line breaks, comments and a trailing comma in an inline table, the escapes
`\\e` and `\\xHH`, and a time without seconds.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from hookctl.documents import position_of

_TOKEN = (
    r"(?P<gap>[ \t]+)|(?P<break>\r\n|\n|\r)|(?P<comment>#[^\r\n]*)|(?P<mark>[\[\]{{}},])"
    r"|(?P<string>{string})|(?P<bare>[^\s,\[\]{{}}#\"']+)|(?P<other>.)"
)
_BETWEEN = re.compile(r"(?:[ \t\r\n]++|#[^\r\n]*+)*+[,}]")  # members of an inline table
_ESCAPE = re.compile(r"\\(?:x(?P<hex>[0-9A-Fa-f]{2})|(?P<escape>e)|.)", re.DOTALL)
_SHORT_TIME = re.compile(r"((?:\d{4}-\d\d-\d\d[Tt])?\d\d:\d\d)(?![\d:.])")


class Translation(NamedTuple):
    """A text in TOML 1.0, and where each of its parts comes from."""

    text: str
    source: str
    starts: tuple[int, ...]  # of each part in the text
    origins: tuple[int, ...]  # of each part in the source

    def place_in_source(self, line: int, column: int) -> tuple[int, int]:
        """Line and column in the source for a place in the text."""
        lines = self.text.split("\n")
        offset = sum(len(above) + 1 for above in lines[: line - 1]) + column - 1
        part = max(0, bisect_right(self.starts, offset) - 1)
        origin = self.origins[part] + offset - self.starts[part]
        following = [*self.origins, len(self.source)][part + 1]
        return position_of(self.source, min(origin, following))


def translate(source: str, string: str) -> Translation:
    """A text with its parts of TOML 1.1 in the words of 1.0; `string` is the pattern of strings.

    What is neither stays as it is, for the reader to refuse.
    """
    parts: list[str] = []
    origins: list[int] = []
    brackets: list[str] = []
    before: list[int] = []  # the parts since the last bracket that are no gap
    may_break: bool | None = None  # behind the last part that is no gap
    for match in re.finditer(_TOKEN.format(string=string), source, re.DOTALL):
        kind, text = match.lastgroup, match[0]
        if kind == "other":  # a quote without an end, which a line break less would close
            return Translation(source, source, (), ())
        in_table = brackets[-1:] == ["{"]
        if in_table and kind in ("break", "comment"):
            if may_break is None:
                is_after_mark = not before or parts[before[-1]] in ("{", ",")
                may_break = is_after_mark or bool(_BETWEEN.match(source, match.end()))
            text = "" if may_break else text
        elif kind == "string" and text.startswith('"'):
            text = _ESCAPE.sub(_old_escape, text)
        elif kind == "bare":
            text = _SHORT_TIME.sub(r"\1:00", text, count=1)
        elif text == "}" and len(before) > 1 and _is_trailing_comma(parts, before):
            parts[before[-1]] = ""
        if kind not in ("gap", "break", "comment"):
            may_break = None
        parts.append(text)
        origins.append(match.start())
        if kind == "mark" and text in "[{":
            brackets.append(text)
            before = []
        elif kind == "mark" and text in "]}":
            del brackets[-1:]
            before = [len(parts) - 1]
        elif kind not in ("gap", "break", "comment"):
            before.append(len(parts) - 1)
    starts = [0]
    for part in parts:
        starts.append(starts[-1] + len(part))
    return Translation("".join(parts), source, tuple(starts[:-1]), tuple(origins))


def _is_trailing_comma(parts: list[str], before: list[int]) -> bool:
    """Whether a comma behind a value is the last part before a closing bracket."""
    return parts[before[-1]] == "," and parts[before[-2]] != ","


def _old_escape(match: re.Match[str]) -> str:
    if match["hex"]:
        return f"\\u00{match['hex']}"
    return "\\u001b" if match["escape"] else match[0]
