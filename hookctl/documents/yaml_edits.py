"""Which splices into a YAML text make an edit: lines of our own in the file's layout, and exactly a member's lines.

Nothing here decides whether an edit is right: the document reads what came of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from hookctl.documents.text import BREAK, Splice, line_start, line_stop, position_of
from hookctl.documents.yaml_nodes import Child, Node
from hookctl.documents.yaml_text import Source, Style, block, flow, indented, key_text, member
from hookctl.errors import HookctlError

_COMMENT = r"(?:(?<=[ \t\r\n])|^)#[^\r\n]*"


class Step(NamedTuple):
    """A collection on the way to a value, and which of its children the way goes through."""

    holder: Node
    at: int

    @property
    def child(self) -> Child:
        return self.holder.children[self.at]


class Found(NamedTuple):
    """A value, and the way to it from the root."""

    node: Node
    way: tuple[Step, ...]


class Edits:
    """The edits of one text, each as a few splices."""

    def __init__(self, text: str, where: str, root: Node | None) -> None:
        self._text = text
        self._where = where
        self._root = root

    def fill(self, value: dict[str, Any]) -> list[Splice]:
        """Fill an empty document: the value goes after its comments."""
        end = len(self._text)
        lines = self._style.line_end.join(block(value, 0, self._style))
        begun = end > line_start(self._text, end) and self._text[-1] != "\ufeff"
        return [
            Splice(
                end, end, self._style.line_end + lines if begun else lines + self._style.line_end
            )
        ]

    def insertion(self, found: Found, key: str | None, value: Any) -> list[Splice]:
        """A new member behind the last one of a collection."""
        holder = found.node
        if holder.flow:
            step = found.way[-1] if found.way else None
            return self._unfolded(step, key, value) or self._flow_insertion(holder, key, value)
        first = holder.children[0].key
        column = self.column(first.start if first else holder.start)
        margin = self._indent(found.way[-1]) if found.way else -1
        at = self._behind_comments(holder.children[-1].value.end, margin)
        return [self._new_lines(at, member(key, value, column, self._style))]

    def _behind_comments(self, at: int, margin: int) -> int:
        """Behind the comments that follow further in than `margin`: they go with what is there."""
        comment = re.compile(r"[ \t]*(#)[^\r\n]*")
        while line := self._line_after(at):
            found = comment.match(self._text, line)
            if found is None or found.start(1) - line <= margin:
                break
            at = found.end()
        return at

    def _new_lines(self, at: int, lines: list[str]) -> Splice:
        """Lines of ours behind the line that ends the text before `at`, with its comment."""
        line_end = self._style.line_end
        if at == line_start(self._text, at) and at:
            return Splice(at, at, "".join(line + line_end for line in lines))
        stop = line_stop(self._text, at)
        if self._rest(at) is None:
            raise self.odd(at)
        return Splice(stop, stop, "".join(line_end + line for line in lines))

    def _unfolded(self, step: Step | None, key: str | None, value: Any) -> list[Splice] | None:
        """Where an empty `{}` or `[]` stands right behind its key, the new member goes below in lines of its own."""
        colon = self._colon(step) if step and not step.holder.flow else None
        if (
            step is None
            or colon is None
            or self._text[colon : step.child.value.end] not in (" {}", " []")
        ):
            return None
        assert step.child.key is not None
        further = self._style.dash if key is None else self._style.unit
        lines = member(key, value, self.column(step.child.key.start) + further, self._style)
        return [
            Splice(colon, step.child.value.end, ""),
            self._new_lines(step.child.value.end, lines),
        ]

    def _flow_insertion(self, holder: Node, key: str | None, value: Any) -> list[Splice]:
        if isinstance(value, Source) and (value.stands_alone or value.node.block):
            raise self.odd(holder.start)
        new = flow(value) if key is None else f"{key_text(key)}: {flow(value)}"
        if not holder.children:
            return [Splice(holder.start + 1, holder.start + 1, new)]
        last = holder.children[-1].value.end
        comma = self._comma(last, holder.end - 1)
        if comma is None:
            return [Splice(last, last, f", {new}")]
        return [Splice(comma + 1, comma + 1, f" {new},")]

    def replacement(self, step: Step, value: Any) -> list[Splice]:
        """Another value in a child's place; a comment behind it stays."""
        old, end, style = step.child.value, self.content_end(step.child.value), self._style
        alone = isinstance(value, Source) and value.stands_alone
        below = bool(old.children) and not old.flow and step.child.key is not None
        if alone and step.child.key is None:
            lines = block(value, self.column(old.start), style)
            return [Splice(old.start, end, style.line_end.join(lines).lstrip(" "))]
        if alone:
            return self._below_its_key(step, value, end)
        first, *more = value.lines if isinstance(value, Source) else [flow(value)]
        text = style.line_end.join([first, *indented(more, self._indent(step) + style.unit)])
        if below:
            colon = self._indicator_end(step)
            return [Splice(colon, colon, " " + text), *self._cut(old.start, end, None)]
        lead = (
            " "
            if old.start == old.end and self._text[old.start - 1 : old.start] not in (" ", "")
            else ""
        )
        return [Splice(old.start, end, lead + text)]

    def _below_its_key(self, step: Step, value: Source, end: int) -> list[Splice]:
        """A block collection that is put back in lines below its key."""
        old, colon = step.child.value, self._indicator_end(step)
        further = self._style.dash if value.node.kind == "seq" else self._style.unit
        there = bool(old.children) and not old.flow
        column = (
            self.column(old.start)
            if there and old.kind == value.node.kind
            else self._indent(step) + further
        )
        lines = block(value, column, self._style)
        if there:
            return [self._new_lines(colon, lines), *self._cut(old.start, end, None)]
        return [Splice(colon, end, ""), self._new_lines(end, lines)]

    def removal(self, above: Sequence[Step], step: Step) -> list[Splice]:
        """A child taken out; a collection that it leaves empty becomes a pair of brackets."""
        holder = step.holder
        if holder.flow:
            return self._flow_removal(step)
        start, end = self._start(step), self.content_end(step.child.value)
        if len(holder.children) > 1:
            following = (
                self._start(Step(holder, step.at + 1))
                if step.at + 1 < len(holder.children)
                else None
            )
            return self._cut(start, end, following)
        if not above:
            return self._cut(start, end, None)
        empty = "{}" if holder.kind == "map" else "[]"
        behind = self._indicator_end(above[-1])
        if line_start(self._text, start) == line_start(self._text, behind):
            return [Splice(start, end, empty)]
        return [Splice(behind, behind, " " + empty), *self._cut(start, end, None)]

    def _flow_removal(self, step: Step) -> list[Splice]:
        holder, at = step.holder, step.at
        child = holder.children[at]
        start, end = child.start, child.value.end
        is_last = at == len(holder.children) - 1
        following = holder.end - 1 if is_last else holder.children[at + 1].start
        own = self._comma(end, following)
        if own is not None and not is_last and "#" not in self._text[end:following]:
            return [Splice(start, following, "")]
        if at == 0 or not is_last:
            comma = [] if own is None else [Splice(own, own + 1, "")]
            return [Splice(start, end, ""), *comma]
        before = holder.children[at - 1].value.end
        comma = self._comma(before, start)
        if comma is None:
            raise self.odd(start)
        if "#" in self._text[comma:start]:
            return [Splice(comma, comma + 1, ""), Splice(start, end, "")]
        return [Splice(comma, end, "")]

    def _cut(self, start: int, end: int, following: int | None) -> list[Splice]:
        """Take a span out with its lines; a comment behind it stays."""
        first, rest = line_start(self._text, start), self._rest(end)
        if rest is None:
            raise self.odd(start)
        if self._text[first:start].strip(" \ufeff"):  # something stands before it: `- key: value`
            if following is None:
                raise self.odd(start)
            if "#" not in self._text[end:following]:
                return [Splice(start, following, "")]
        elif not rest:
            return [self._lines(first, end)]
        return [Splice(start, line_stop(self._text, end) - len(rest), "")]

    def _lines(self, first: int, end: int) -> Splice:
        """Whole lines taken out; the last line of a file without a final line break takes the break before along."""
        stop = BREAK.match(self._text, line_stop(self._text, end))
        first += self._text.startswith("\ufeff", first)
        if stop:
            return Splice(first, stop.end(), "")
        before = re.compile(r"(?:\r\n|\r|\n)?\Z").search(self._text, 0, first)
        assert before is not None
        return Splice(before.start(), line_stop(self._text, end), "")

    def odd(self, offset: int) -> HookctlError:
        """The refusal of what no splice of ours would fit."""
        message = "this part of the file is written in a way that cannot be edited without loss"
        hint = "Write it in plain lines (key: value, - item), then run the command again."
        line, column = position_of(self._text, offset)
        return HookctlError(
            "unsupported_yaml", message, path=self._where, line=line, column=column, hint=hint
        )

    # The file's style

    @cached_property
    def _style(self) -> Style:
        """Taken from the first that shows it."""
        found = BREAK.search(self._text)
        unit = dash = None
        pending = [self._root] if self._root else []
        while pending and (unit is None or dash is None):
            holder = pending.pop()
            pending += [value for _, value in reversed(holder.children)]
            for key, value in holder.children if not holder.flow else ():
                if (
                    key
                    and value.children
                    and not value.flow
                    and line_start(self._text, value.start) > key.start
                ):
                    further = self.column(value.start) - self.column(key.start)
                    if value.kind == "map":
                        unit = unit or further
                    else:
                        dash = further if dash is None else dash
        return Style(found[0] if found else "\n", unit or 2, 2 if dash is None else dash)

    # Places in the text

    def _line_after(self, offset: int) -> int:
        """Where the next line begins; 0 if there is none. An offset at the start of a line ended the one before."""
        if offset and offset == line_start(self._text, offset):
            return offset
        found = BREAK.match(self._text, line_stop(self._text, offset))
        return found.end() if found else 0

    def column(self, offset: int) -> int:
        """How many characters stand before an offset on its line."""
        return len(self._text[line_start(self._text, offset) : offset].removeprefix("\ufeff"))

    def _indent(self, step: Step) -> int:
        """The column of the child that a value belongs to."""
        return self.column(step.child.key.start if step.child.key else step.holder.start)

    def _rest(self, offset: int) -> str | None:
        """The comment behind an offset on its line, or nothing; None if something else stands there."""
        rest = self._text[offset : line_stop(self._text, offset)]
        if not rest.strip(" \t"):
            return ""
        return rest.lstrip(" \t") if re.match(r"[ \t]+#", rest) else None

    def content_end(self, node: Node) -> int:
        """Behind the last character of a node; a block scalar's own end is where the next line begins."""
        last = node
        while not last.flow and last.children:
            last = last.children[-1].value
        return (
            node.start + len(self._text[node.start : node.end].rstrip(" \t\r\n"))
            if last.block
            else node.end
        )

    def _start(self, step: Step) -> int:
        """Where a child of a block collection begins: its key, or its dash."""
        key = step.child.key
        if key:
            if self._colon(step) is None:
                raise self.odd(key.start)
            return key.start
        start = step.holder.start if step.at == 0 else step.holder.children[step.at - 1].value.end
        while not self._text.startswith("-", start):
            gap = re.compile(rf"[ \t\r\n]+|{_COMMENT}").match(self._text, start)
            if gap is None:
                raise self.odd(step.child.value.start)
            start = gap.end()
        return start

    def _indicator_end(self, step: Step) -> int:
        """Behind the colon or the dash of a child of a block collection."""
        start = self._start(step)
        colon = self._colon(step) if step.child.key else start + 1
        assert colon is not None
        return colon

    def _colon(self, step: Step) -> int | None:
        """Behind the colon of a member whose key stands before it on the same line, and not behind a `?`."""
        key = step.child.key
        if key is None or self._text[
            line_start(self._text, key.start) : key.start
        ].rstrip().endswith("?"):
            return None
        found = re.compile(r"[ \t]*:").match(self._text, key.end)
        return found.end() if found else None

    def _comma(self, start: int, end: int) -> int | None:
        """The comma between two places of a flow collection."""
        gap = re.sub(_COMMENT, lambda match: " " * len(match[0]), self._text[start:end])
        return start + gap.index(",") if "," in gap else None
