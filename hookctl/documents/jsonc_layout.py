"""Where an edit of a JSON text goes, in the file's layout.

Removing what was inserted here gives the earlier text again, to the byte. Nothing here checks that
an edit is right: JsonDocument reads the result and checks it.
"""

from __future__ import annotations

import json
import re
from typing import Any

from hookctl.documents import (
    BOM,
    BREAK,
    STRING,
    Splice,
    leading_blanks,
    line_end_of,
    line_start,
    line_stop,
    start_of_comments,
)
from hookctl.documents.scan import HOLE, Child, Container, New, Scan

_INDENTED = r"(?:^|[\r\n])([ \t]+)(?=[^ \t\r\n])"
_LONE_SURROGATE = "[\ud800-\udfff]"


class Layout:
    """The splices that insert into a text and remove from it, in its layout."""

    def __init__(self, text: str, scan: Scan) -> None:
        self._text, self._shadow = text, scan.shadow
        self._comments, self._commas = scan.comments, scan.commas
        self._line_end = line_end_of(text)
        # Values are on lines of their own if they are in the file, or it is empty.
        is_empty = scan.start < 0 or not text[scan.start + 1 : scan.end - 1].strip()
        self._many_lines = is_empty or bool(BREAK.search(text, scan.start, scan.end))
        colon = re.search(STRING + r"[ \t\r\n]*:([ \t]?)", self._shadow)  # as the first one
        self._colon = ": " if self._many_lines or (colon and colon[1]) else ":"
        self._comma = ", " if self._colon == ": " else ","
        # One step more is the blanks of the first indented line that does not begin in a comment.
        self._unit = "  "
        for match in re.finditer(_INDENTED, text):
            if scan.shadow[match.end()] not in " \t\r\n":
                self._unit = match[1]
                break

    # Inserting

    def fill(self, new: New) -> list[Splice]:
        """A value in an empty document, after its comments."""
        text = self._member(None, new, "") + self._line_end
        end = len(self._text)
        if self._comments and not BREAK.search(self._text[-1]):
            text = self._line_end + text
        return [Splice(end, end, text)]

    def replace(self, child: Child, new: New) -> list[Splice]:
        """Another value in the place of a child's."""
        text = self._member(None, new, self._indent_at(child.value))
        return [Splice(child.value, child.end, text)]

    def insert(self, container: Container, key: str | None, new: New) -> list[Splice]:
        """A new child at the end of a container."""
        if not container.starts:
            return self._insert_first(container, key, new)
        last = container.child(-1)
        comma = self._trailing_comma(last.end, container.close)
        end = last.end if comma is None else comma + 1
        if not BREAK.search(self._text, container.start, container.starts[0]):
            return [self._insert_inline(container, last, key, new)]
        indent = self._child_indent(container)
        member = self._line_end + indent + self._member(key, new, indent)
        offset = self._end_of_line_with_comments(end)
        if comma is not None:
            return [Splice(offset, offset, member + ",")]
        return [Splice(end, end, ","), Splice(offset, offset, member)]

    def insert_above(self, container: Container, index: int, new: New) -> list[Splice]:
        """A new element above another one and the comments right above that."""
        start = container.starts[index]
        indent = self._blanks_before(start)
        if indent is None:
            member = self._member(None, new, self._indent_at(start), one_line=True)
            return [Splice(start, start, member + self._comma)]
        offset = line_start(self._text, start)
        offset = start_of_comments(self._text, offset, container.start, self._shadow)
        member = self._member(None, new, indent)
        return [Splice(offset, offset, indent + member + "," + self._line_end)]

    def _insert_first(self, container: Container, key: str | None, new: New) -> list[Splice]:
        """A new child in an empty container, after the comments in it."""
        start, end = container.start + 1, container.close
        comments = self._comments_in(start, end)
        offset = comments[-1][1] if comments else start
        if not self._many_lines:
            return [Splice(offset, end, self._member(key, new, "", one_line=True))]
        base = self._indent_at(container.start)
        indent = base + self._unit
        member = self._line_end + indent + self._member(key, new, indent)
        if comments and BREAK.search(self._text, offset, end):
            return [Splice(offset, offset, member)]
        return [Splice(offset, end, member + self._line_end + base)]

    def _insert_inline(
        self, container: Container, last: Child, key: str | None, new: New
    ) -> Splice:
        """A new last child on the line of the others, so that no line is laid out anew."""
        separator = self._comma
        if len(container.starts) > 1:
            between = self._text[container.child(-2).end : last.start]
            if re.fullmatch(r",[ \t]*", between):
                separator = between
        member = self._member(key, new, self._indent_at(container.start), one_line=True)
        comma = self._trailing_comma(last.end, container.close)
        if comma is None:
            return Splice(last.end, last.end, separator + member)
        return Splice(comma + 1, comma + 1, separator[1:] + member + ",")

    def _child_indent(self, container: Container) -> str:
        """The indentation of children: of the last one that begins a line, or else the unit more
        than the line in which the object or array begins.
        """
        for start in reversed(container.starts):
            indent = self._blanks_before(start)
            if indent is not None:
                return indent
        return self._indent_at(container.start) + self._unit

    def _member(self, key: str | None, new: New, indent: str, *, one_line: bool = False) -> str:
        """The text of a value, with its key if it has one; further lines begin with `indent`."""
        if self._many_lines and not one_line:
            text = _json(new.value, indent=self._unit).replace("\n", self._line_end + indent)
        else:
            text = _json(new.value, separators=(self._comma, self._colon))
        if new.source is not None:
            text = text.replace(_json(HOLE), new.source, 1)
        return text if key is None else _json(key) + self._colon + text

    # Removing

    def remove(self, container: Container, index: int) -> list[Splice]:
        """A child taken out, with its comma."""
        child, is_last = container.child(index), index == len(container.starts) - 1
        comments = self._comments_in(container.start, container.close)
        is_alone = all(child.start <= start < child.end for start, _ in comments)
        if len(container.starts) == 1 and is_alone:
            return [Splice(container.start + 1, container.close)]
        if is_last:
            comma = self._trailing_comma(child.end, container.close)
        else:
            comma = self._shadow.index(",", child.end)
        if comma is not None and self._comments_in(child.end, comma):
            # A comment between the value and its comma stays, so the two are removed separately.
            return [*self._cut(child.start, child.end), Splice(comma, comma + 1)]
        if not is_last and comma is not None:
            next_start = container.starts[index + 1]
            if not self._text[comma + 1 : next_start].strip(" \t"):
                return [Splice(child.start, next_start)]
        if comma is not None:
            return self._cut(child.start, comma + 1)
        if index == 0:
            return self._cut(child.start, child.end)
        return self._remove_last(container.child(index - 1), child)

    def _remove_last(self, before: Child, child: Child) -> list[Splice]:
        """The last child taken out, with the comma before it."""
        comma = self._shadow.index(",", before.end)
        begins_line = self._blanks_before(child.start) is not None
        ends_line = self._is_blank(child.end, line_stop(self._text, child.end))
        if (begins_line and ends_line) or self._comments_in(comma, child.start):
            return [Splice(comma, comma + 1), *self._cut(child.start, child.end)]
        return [Splice(comma, child.end)]

    def _cut(self, start: int, end: int) -> list[Splice]:
        """Remove a span: its lines if it is alone on them, else the blanks on one side too."""
        begins_line = self._blanks_before(start) is not None
        line_break = BREAK.match(self._text, line_stop(self._text, end))
        if begins_line and line_break and not self._text[end : line_break.start()].strip(" \t"):
            return [Splice(line_start(self._text, start), line_break.end())]
        after_blanks = end + len(leading_blanks(self._text[end:]))
        is_between = after_blanks > end or begins_line
        if is_between and self._text[after_blanks] not in "\r\n":
            return [Splice(start, after_blanks)]
        return [Splice(len(self._text[:start].rstrip(" \t")), end)]

    # Positions in the text

    def _trailing_comma(self, start: int, end: int) -> int | None:
        for comma in self._commas:
            if start <= comma < end:
                return comma
        return None

    def _indent_at(self, offset: int) -> str:
        """The indentation of the line that holds the offset."""
        start = line_start(self._text, offset)
        return leading_blanks(self._text[start:offset].removeprefix(BOM))

    def _blanks_before(self, offset: int) -> str | None:
        """The blanks before the offset if nothing else stands before it on its line."""
        start = offset
        while start and self._text[start - 1] in " \t":
            start -= 1
        if start and self._text[start - 1] not in "\r\n":
            return None
        return self._text[start:offset]

    def _end_of_line_with_comments(self, offset: int) -> int:
        """The end of the offset's line with the comments on it; the offset if values follow."""
        stop = line_stop(self._text, offset)
        for start, end in self._comments:
            if offset <= start < stop < end:  # a block comment of several lines
                last_stop = line_stop(self._text, end)
                stop = last_stop if self._is_blank(end, last_stop) else end
        return stop if self._is_blank(offset, stop) else offset

    def _is_blank(self, start: int, end: int) -> bool:
        """Whether a span has nothing but blanks and comments."""
        return not self._shadow[start:end].strip()

    def _comments_in(self, start: int, end: int) -> list[tuple[int, int]]:
        """The comments that begin in a span."""
        return [span for span in self._comments if start <= span[0] < end]


def _json(value: Any, **style: Any) -> str:
    """The value as JSON; escapes only lone surrogates, which UTF-8 cannot hold."""
    text = json.dumps(value, ensure_ascii=False, **style)
    return re.sub(_LONE_SURROGATE, lambda match: f"\\u{ord(match[0]):04x}", text)
