"""Lossless editing of YAML: an edit is a few splices into the text; other bytes stay.

New members are lines of their own in the file's layout; a removal removes exactly a member's
lines. An edit inside what is no plain lines (brackets, an anchor, an alias, a merge key, an
unusual layout) is refused with its position. The reader is PyYAML, an optional extra.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from hookctl.documents import (
    BREAK,
    MISSING,
    Document,
    New,
    Path,
    Splice,
    comparable,
    decode,
    line_end_of,
    line_start,
    line_stop,
    next_line,
    start_of_comments,
    unexpected,
    whole_lines,
    wrong_shape,
)
from hookctl.documents.yaml_nodes import (
    MERGE,
    NULL,
    Lines,
    Node,
    Style,
    common_indent,
    flow,
    indent_of,
    indented,
    member,
    read,
    source_lines,
    written,
)
from hookctl.errors import HookctlError

_PLAIN_LINES = "Write it in plain lines (key: value, - item), then run the command again."
_GAP = re.compile(r"[ \t\r\n]+|(?:(?<=[ \t\r\n])|^)#[^\r\n]*")


class YamlDocument(Document):
    """An immutable YAML document; each edit gives a new one."""

    def __init__(self, text: str, where: str) -> None:
        super().__init__(text, where)
        self._root, value = read(text, where)
        self.value = MISSING if self._root is None else value
        self._tree = comparable(self.value or {})
        self._line_end = line_end_of(text)

    @classmethod
    def parse(cls, data: bytes, *, where: str = "") -> YamlDocument:
        """Parse a file's bytes; errors (not_utf8, unparsable, extra_missing) name the position."""
        return cls(decode(data, where), where)

    def raw(self, path: Path) -> str:
        """The source text of the value at path, moved to the left margin; KeyError if none."""
        node, value = self._find(path), self.get(path)
        if value is MISSING:
            raise KeyError(path)
        try:
            if node:  # else an alias or a merge key brings it there
                text = self._outdented(node)
                if _is_source_of(value, text, self.where):
                    return text
            return flow(value)
        except TypeError:
            raise self._unsupported(self.offset(path)) from None

    def _outdented(self, node: Node) -> str:
        """A node's text as it would stand at the left margin."""
        first, *lines = BREAK.split(self._text[node.start : self._content_end(node)])
        margin = self._column(node.start) if node.is_in_lines else max(0, common_indent(lines) - 2)
        return "\n".join([first, *(line[min(margin, indent_of(line)) :] for line in lines)])

    def _new(self, path: Path, value: Any) -> New:
        try:
            return New(comparable(value), written(value, self._style))
        except (TypeError, ValueError) as error:
            message = f"the new value cannot be written as YAML ({error})"
            raise unexpected(self, path, message) from None

    def _source(self, path: Path, text: str) -> New:
        try:
            root, value = read(text + "\n", self.where)
        except HookctlError as error:
            message = f"the source text cannot be read ({error.message})"
            raise unexpected(self, path, message) from None
        return New(comparable(value), source_lines(text, root))

    def _reread(self, text: str, path: Path, new: New) -> YamlDocument:
        return YamlDocument(text, self.where)

    def _unfit(self, path: Path, splices: Sequence[Splice]) -> HookctlError:
        return self._unsupported(min(splice.start for splice in splices))

    def _check_holder(self, path: Path, node: Node) -> None:
        """Refuse to edit inside what is not in plain lines, such as brackets or an alias."""
        offsets = [one.key.start for one in node.children if one.key and one.key.tag == MERGE]
        if self._text[node.start : node.start + 1] in tuple("[{&*!"):
            offsets = [] if self._is_vacant(node, node.kind) else [node.start]
        if offsets:
            name = self.name_of(path) or "the document"
            message = f"{name} is not written in plain lines, and nothing is edited there"
            raise self.error_at("unsupported_yaml", offsets[0], message, _PLAIN_LINES)

    # Splices, in the file's layout

    def _fill(self, root: Node | None, new: New) -> list[Splice]:
        """Fill an empty document after its comments, or the brackets that are all of it."""
        end = len(self._text)
        if not isinstance(new.tree, dict) or (root and root.kind != "map"):
            raise wrong_shape(self, (), "an object")
        text = self._line_end.join(written(new.value, self._style).lines)
        if root:
            return [Splice(root.start, root.end, text)]
        if end > line_start(self._text, end):
            return [Splice(end, end, self._line_end + text)]
        return [Splice(end, end, text + self._line_end)]

    def _insert(self, holder: Node, key: str | None, new: New) -> list[Splice]:
        first, last = holder.children[0], holder.children[-1]
        column = self._column(first.key.start if first.key else holder.start)
        margin = self._indent(holder) if holder.holder else -1
        offset = self._after_comments(last.end, margin)
        lines = member(key, written(new.value, self._style), self._style)
        return [self._new_lines(offset, indented(lines, column))]

    def _insert_above(self, node: Node, new: New) -> list[Splice]:
        start = self._start(node)
        offset = line_start(self._text, start)
        if self._text[offset:start].strip(" "):  # as in `- - item`
            raise self._unsupported(start)
        floor = node.holder.children[node.index - 1].end if node.holder and node.index else 0
        offset = start_of_comments(self._text, offset, floor)
        lines = indented(member(None, new.value, self._style), self._column(start))
        return [Splice(offset, offset, "".join(line + self._line_end for line in lines))]

    def _after_comments(self, offset: int, margin: int) -> int:
        """After the comments that follow with more indentation than `margin`."""
        line = offset
        if not offset or offset != line_start(self._text, offset):
            line = next_line(self._text, offset)
        while comment := re.compile(r"([ \t]*)#[^\r\n]*").match(self._text, line):
            if len(comment[1]) <= margin:
                break
            offset = comment.end()
            line = next_line(self._text, offset)
        return offset

    def _new_lines(self, offset: int, lines: list[str]) -> Splice:
        """Insert lines where a line begins at `offset`; else below its line, with its comment."""
        if offset == line_start(self._text, offset) and offset:
            return Splice(offset, offset, "".join(line + self._line_end for line in lines))
        if self._comment_after(offset) is None:
            raise self._unsupported(offset)
        stop = line_stop(self._text, offset)
        return Splice(stop, stop, "".join(self._line_end + line for line in lines))

    def _replace(self, node: Node, new: New) -> list[Splice]:
        """Replace a value; a comment after it stays."""
        if node.holder is None:
            raise wrong_shape(self, (), "a part of the document")
        return self._replace_lines(node, written(new.value, self._style))

    def _replace_lines(self, old: Node, new: Lines) -> list[Splice]:
        end, indicator_end = self._content_end(old), self._indicator_end(old)
        indent, style = self._indent(old), self._style
        if new.kind == "scalar" or not old.key:  # it begins on the line of its key or dash
            depth = style.unit if new.kind == "scalar" else 2
            first, *more = new.lines
            text = self._line_end.join([first, *indented(more, indent + depth)])
            if old.key and old.is_in_lines:
                space = Splice(indicator_end, indicator_end, f" {text}")
                return [space, *self._cut(old.start, end, None)]
            start = len(self._text[: old.start].rstrip(" \t"))
            if new.kind == "scalar" and text and start < old.start:  # its blanks stay
                return [Splice(old.start, end, text)]
            return [Splice(start, max(start, end), text and f" {text}")]
        column = indent + (style.dash if new.kind == "seq" else style.unit)
        if old.is_in_lines and old.kind == new.kind:
            column = self._column(old.start)
        lines = indented(new.lines, column)
        if BREAK.search(self._text, indicator_end, max(indicator_end, old.start)):
            # Comments may stand between the key and the value.
            return [self._new_lines(indicator_end, lines), *self._cut(old.start, end, None)]
        end = max(indicator_end, end)
        return [Splice(indicator_end, end), self._new_lines(end, lines)]

    def _remove(self, node: Node) -> list[Splice]:
        """Remove a child; a collection without any other becomes a pair of brackets."""
        holder = node.holder
        assert holder
        start, end = self._start(node), self._content_end(node)
        if node.index + 1 < len(holder.children):
            return self._cut(start, end, self._start(holder.children[node.index + 1]))
        if node.index or not holder.holder:
            return self._cut(start, end, None)
        empty = "{}" if holder.kind == "map" else "[]"
        indicator_end = self._indicator_end(holder)
        if line_start(self._text, start) == line_start(self._text, indicator_end):
            return [Splice(start, end, empty)]
        return [Splice(indicator_end, indicator_end, f" {empty}"), *self._cut(start, end, None)]

    def _cut(self, start: int, end: int, following: int | None) -> list[Splice]:
        """Remove a span with its lines; a comment after it stays."""
        first, comment = line_start(self._text, start), self._comment_after(end)
        has_text_before = self._text[first:start].strip(" ")  # the dash in `- key: value`
        if comment is None or (has_text_before and following is None):
            raise self._unsupported(start)
        if has_text_before and "#" not in self._text[end:following]:
            return [Splice(start, following or end)]
        if comment or has_text_before:
            return [Splice(start, line_stop(self._text, end) - len(comment))]
        return [whole_lines(self._text, first, end)]

    def _unsupported(self, offset: int) -> HookctlError:
        """The error for a layout that no splice fits."""
        message = "this part of the file is written in a way that cannot be edited without loss"
        return self.error_at("unsupported_yaml", offset, message, _PLAIN_LINES)

    @cached_property
    def _style(self) -> Style:
        """The indentations of the first lines that show them."""
        units: list[int] = []
        dashes: list[int] = []
        pending = [self._root] if self._root else []
        while pending and not (units and dashes):
            node = pending.pop()
            pending += reversed(node.children)
            is_below = node.key and line_start(self._text, node.start) > node.key.start
            if node.key and is_below and node.is_in_lines:
                depth = self._column(node.start) - self._column(node.key.start)
                if node.kind != "map":
                    dashes.append(depth)
                elif depth:  # none behind an explicit `? key`
                    units.append(depth)
        return Style(units[0] if units else 2, dashes[0] if dashes else 2)

    # Positions in the text

    def _is_vacant(self, node: Node, kind: str) -> bool:
        """Whether a node is null, or a pair of brackets of this kind with nothing in it."""
        source = "".join(self._text[node.start : node.end].split())
        is_empty = node.kind == kind and source in ("{}", "[]")
        return is_empty or (node.tag == NULL and not source.startswith("&"))

    def _column(self, offset: int) -> int:
        """How many characters stand before an offset on its line."""
        return offset - line_start(self._text, offset)

    def _indent(self, node: Node) -> int:
        """The column of a child's key, or of its dash."""
        above = node.key or node.holder
        assert above
        return self._column(above.start)

    def _comment_after(self, offset: int) -> str | None:
        """The comment after an offset on its line, or ""; None if something else stands there."""
        rest = self._text[offset : line_stop(self._text, offset)]
        if not rest.strip(" \t"):
            return ""
        return rest.lstrip(" \t") if re.match(r"[ \t]+#", rest) else None

    def _content_end(self, node: Node) -> int:
        """The end of a node's last character; a block scalar's `end` is the next line."""
        last = node
        while last.is_in_lines:
            last = last.children[-1]
        if not last.block:
            return node.end
        return node.start + len(self._text[node.start : node.end].rstrip(" \t\r\n"))

    def _start(self, node: Node) -> int:
        """Where a child of a block collection begins: its key, or its dash."""
        if node.key:
            self._indicator_end(node)  # refuses `? key`
            return node.key.start
        assert node.holder
        start = node.holder.children[node.index - 1].end if node.index else node.holder.start
        while not self._text.startswith("-", start):
            gap = _GAP.match(self._text, start)
            if gap is None:
                raise self._unsupported(node.start)
            start = gap.end()
        return start

    def _indicator_end(self, node: Node) -> int:
        """The end of the colon or the dash of a child of a block collection."""
        if node.key is None:
            return self._start(node) + 1
        colon = re.compile(r"[ \t]*:").match(self._text, node.key.end)
        if colon is None:
            raise self._unsupported(node.key.start)
        return colon.end()


def _is_source_of(value: Any, text: str, where: str) -> bool:
    """Whether a text of its own says a value."""
    try:
        _, said = read(text + "\n", where)
    except HookctlError:
        return False
    return comparable(said) == comparable(value)
