"""The splices that make an edit of a YAML text, in the file's layout.

Nothing here checks that an edit is right: YamlDocument reads the result and checks it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from hookctl.documents import BOM, BREAK, Splice, error_at, line_end_of, line_start, line_stop
from hookctl.documents.yaml_nodes import Child, Node
from hookctl.documents.yaml_text import (
    Source,
    Style,
    block,
    indented,
    inline_lines,
    is_list,
    is_null,
    member,
    needs_lines,
)
from hookctl.errors import HookctlError

PLAIN_LINES = "Write it in plain lines (key: value, - item), then run the command again."
_COMMENT = r"(?:(?<=[ \t\r\n])|^)#[^\r\n]*"


class Step(NamedTuple):
    """A collection on the path to a value, and the index of the child on that path."""

    holder: Node
    child_index: int

    @property
    def child(self) -> Child:
        return self.holder.children[self.child_index]


class Located(NamedTuple):
    """A value, and the steps to it from the root."""

    node: Node
    steps: tuple[Step, ...]

    @property
    def steps_to_new(self) -> tuple[Step, ...]:
        """The steps to a child that would be appended to this collection."""
        return (*self.steps, Step(self.node, len(self.node.children)))


class Edits:
    """The edits of one text, each as a few splices."""

    def __init__(self, text: str, where: str, root: Node | None) -> None:
        self._text = text
        self._where = where
        self._root = root

    def fill(self, value: dict[str, Any]) -> list[Splice]:
        """Fill an empty document: the value goes after its comments."""
        end = len(self._text)
        line_end = self._style.line_end
        lines = line_end.join(block(value, 0, self._style))
        has_open_line = end > line_start(self._text, end) and self._text[-1] != BOM
        if has_open_line:
            return [Splice(end, end, line_end + lines)]
        return [Splice(end, end, lines + line_end)]

    def insert(self, located: Located, key: str | None, value: Any) -> list[Splice]:
        """Insert a member after the last one of a collection."""
        holder = located.node
        first = holder.children[0].key
        column = self.column(first.start if first else holder.start)
        margin = self._indent(located.steps[-1]) if located.steps else -1
        offset = self._after_comments(holder.children[-1].value.end, margin)
        return [self._new_lines(offset, member(key, value, column, self._style))]

    def insert_above(self, step: Step, value: Source) -> list[Splice]:
        """Insert an item above another one and the comments right above that."""
        start = self._start(step)
        offset = line_start(self._text, start)
        if self._text[offset:start].strip(" "):  # as in `- - item`
            raise self.unsupported(start)
        floor = step.holder.children[step.child_index - 1].value.end if step.child_index else 0
        while offset > floor:
            line_above = line_start(self._text, offset - 1)
            if not self._text[line_above:offset].lstrip(" \t").startswith("#"):
                break
            offset = line_above
        lines = member(None, value, self.column(start), self._style)
        return [Splice(offset, offset, "".join(line + self._style.line_end for line in lines))]

    def _after_comments(self, offset: int, margin: int) -> int:
        """After the comments that follow with more indentation than `margin`."""
        pattern = re.compile(r"[ \t]*(#)[^\r\n]*")
        while line := self._line_after(offset):
            comment = pattern.match(self._text, line)
            if comment is None or comment.start(1) - line <= margin:
                break
            offset = comment.end()
        return offset

    def _new_lines(self, offset: int, lines: list[str]) -> Splice:
        """Insert lines where a line begins at `offset`; else below its line, with its comment."""
        line_end = self._style.line_end
        if offset == line_start(self._text, offset) and offset:
            return Splice(offset, offset, "".join(line + line_end for line in lines))
        if self._comment_after(offset) is None:
            raise self.unsupported(offset)
        stop = line_stop(self._text, offset)
        return Splice(stop, stop, "".join(line_end + line for line in lines))

    def _put_below(self, old: Node, colon: int, end: int, lines: list[str]) -> list[Splice]:
        """Replace a value that ends at `end` with lines below its key, which ends at `colon`."""
        end = max(colon, end)
        if BREAK.search(self._text, colon, max(colon, old.start)):
            # Comments may stand between the key and the value.
            return [self._new_lines(colon, lines), *self._cut(old.start, end, None)]
        return [Splice(colon, end, ""), self._new_lines(end, lines)]

    def replace(self, step: Step, value: Any) -> list[Splice]:
        """Replace a child's value; a comment after it stays."""
        old, style = step.child.value, self._style
        if not needs_lines(value):
            return self._replace_inline(step, value)
        end = self.content_end(old)
        if not step.child.key:  # behind its dash
            lines = block(value, self._indent(step) + 2, style)
            text = style.line_end.join(lines).lstrip(" ")
            start = self._indicator_end(step)
            return [Splice(start, max(start, end), f" {text}")]
        kind = "seq" if is_list(value) else "map"
        if _is_in_lines(old) and old.kind == kind:
            column = self.column(old.start)
        else:
            column = self._indent(step) + (style.dash if kind == "seq" else style.unit)
        return self._put_below(old, self._indicator_end(step), end, block(value, column, style))

    def _replace_inline(self, step: Step, value: Any) -> list[Splice]:
        """Replace a child's value with one that begins in the line of its key or dash."""
        old, style = step.child.value, self._style
        end = self.content_end(old)
        first, *more = inline_lines(value)
        text = style.line_end.join([first, *indented(more, self._indent(step) + style.unit)])
        if not text:  # null: the blanks before it go too
            return [Splice(len(self._text[: old.start].rstrip(" \t")), end, "")]
        if step.child.key and _is_in_lines(old):  # the old value is in the lines below the key
            colon = self._indicator_end(step)
            return [Splice(colon, colon, " " + text), *self._cut(old.start, end, None)]
        is_empty = old.start == old.end
        if is_empty and self._text[old.start - 1 : old.start] not in (" ", ""):
            text = " " + text
        return [Splice(old.start, end, text)]

    def remove(self, above: Sequence[Step], step: Step) -> list[Splice]:
        """Remove a child; a collection without any other becomes a pair of brackets."""
        holder = step.holder
        start, end = self._start(step), self.content_end(step.child.value)
        if step.child_index + 1 < len(holder.children):
            return self._cut(start, end, self._start(Step(holder, step.child_index + 1)))
        if len(holder.children) > 1 or not above:
            return self._cut(start, end, None)
        empty = "{}" if holder.kind == "map" else "[]"
        indicator_end = self._indicator_end(above[-1])
        if line_start(self._text, start) == line_start(self._text, indicator_end):
            return [Splice(start, end, empty)]
        empty_value = Splice(indicator_end, indicator_end, " " + empty)
        return [empty_value, *self._cut(start, end, None)]

    def _cut(self, start: int, end: int, following: int | None) -> list[Splice]:
        """Remove a span with its lines; a comment after it stays."""
        first, comment = line_start(self._text, start), self._comment_after(end)
        if comment is None:
            raise self.unsupported(start)
        has_text_before = self._text[first:start].strip(" " + BOM)  # the dash in `- key: value`
        if has_text_before:
            if following is None:
                raise self.unsupported(start)
            if "#" not in self._text[end:following]:
                return [Splice(start, following, "")]
        elif not comment:
            return [self._cut_lines(first, end)]
        return [Splice(start, line_stop(self._text, end) - len(comment), "")]

    def _cut_lines(self, first: int, end: int) -> Splice:
        """Remove whole lines; if the last one has no line break, the one before them goes."""
        stop = line_stop(self._text, end)
        first += self._text.startswith(BOM, first)
        line_break = BREAK.match(self._text, stop)
        if line_break:
            return Splice(first, line_break.end(), "")
        break_before = re.compile(r"(?:\r\n|\r|\n)?\Z").search(self._text, 0, first)
        assert break_before is not None
        return Splice(break_before.start(), stop, "")

    def unsupported(self, offset: int) -> HookctlError:
        """The error for a layout that no splice fits."""
        message = "this part of the file is written in a way that cannot be edited without loss"
        return error_at("unsupported_yaml", self._text, self._where, offset, message, PLAIN_LINES)

    # The file's style

    @cached_property
    def _style(self) -> Style:
        """The line end and the indentations of the first lines that show them."""
        units: list[int] = []
        dashes: list[int] = []
        pending = [self._root] if self._root else []
        while pending and not (units and dashes):
            holder = pending.pop()
            pending += [value for _, value in reversed(holder.children)]
            for child in holder.children:
                if self._is_below_key(child):
                    depth = self.column(child.value.start) - self.column(child.start)
                    if child.value.kind != "map":
                        dashes.append(depth)
                    elif depth:  # none behind an explicit `? key`
                        units.append(depth)
        line_end = line_end_of(self._text)
        return Style(line_end, units[0] if units else 2, dashes[0] if dashes else 2)

    def _is_below_key(self, child: Child) -> bool:
        """Whether a member's value is a collection in lines below its key."""
        if child.key is None or not _is_in_lines(child.value):
            return False
        return line_start(self._text, child.value.start) > child.key.start

    # Positions in the text

    def is_vacant(self, node: Node, kind: str) -> bool:
        """Whether a node is null, or a pair of brackets of this kind with nothing in it."""
        source = "".join(self._text[node.start : node.end].split())
        return is_null(node) or (node.kind == kind and source in ("{}", "[]"))

    def _line_after(self, offset: int) -> int:
        """Where the next line begins, 0 for none; the offset itself if it begins a line."""
        if offset and offset == line_start(self._text, offset):
            return offset
        line_break = BREAK.match(self._text, line_stop(self._text, offset))
        return line_break.end() if line_break else 0

    def column(self, offset: int) -> int:
        """How many characters stand before an offset on its line."""
        return len(self._text[line_start(self._text, offset) : offset].removeprefix(BOM))

    def _indent(self, step: Step) -> int:
        """The column of the child that a value belongs to."""
        return self.column(step.child.key.start if step.child.key else step.holder.start)

    def _comment_after(self, offset: int) -> str | None:
        """The comment after an offset on its line, or ""; None if something else stands there."""
        rest = self._text[offset : line_stop(self._text, offset)]
        if not rest.strip(" \t"):
            return ""
        return rest.lstrip(" \t") if re.match(r"[ \t]+#", rest) else None

    def content_end(self, node: Node) -> int:
        """The end of a node's last character; a block scalar's `end` is the next line."""
        last = node
        while not last.flow and last.children:
            last = last.children[-1].value
        if not last.block:
            return node.end
        return node.start + len(self._text[node.start : node.end].rstrip(" \t\r\n"))

    def _start(self, step: Step) -> int:
        """Where a child of a block collection begins: its key, or its dash."""
        if step.child.key:
            self._indicator_end(step)  # refuses `? key`
            return step.child.key.start
        start = step.holder.start
        if step.child_index > 0:
            start = step.holder.children[step.child_index - 1].value.end
        while not self._text.startswith("-", start):
            gap = re.compile(rf"[ \t\r\n]+|{_COMMENT}").match(self._text, start)
            if gap is None:
                raise self.unsupported(step.child.value.start)
            start = gap.end()
        return start

    def _indicator_end(self, step: Step) -> int:
        """The end of the colon or the dash of a child of a block collection."""
        key = step.child.key
        if key is None:
            return self._start(step) + 1
        colon = re.compile(r"[ \t]*:").match(self._text, key.end)
        if colon is None:
            raise self.unsupported(key.start)
        return colon.end()


def _is_in_lines(node: Node) -> bool:
    """Whether a node is a block collection."""
    return bool(node.children) and not node.flow
