"""Lossless editing of YAML: an edit is a few splices into the text; other bytes stay.

New members are lines of their own in the file's layout; a removal removes exactly a member's
lines. Each edit is verified: the new text is read again, and its nodes must be the old nodes with
the same edit. An edit inside what is no plain lines (brackets, an anchor, an alias, a merge key, an
unusual layout) is refused with its position. The reader is PyYAML, like the hosts'; it is an
optional extra.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from hookctl.documents import (
    BOM,
    BREAK,
    MISSING,
    Document,
    Path,
    Splice,
    decode,
    duplicate_key,
    line_end_of,
    line_start,
    line_stop,
    not_an_object,
    spliced,
    unexpected,
    wrapped,
    wrong_shape,
)
from hookctl.documents.yaml_nodes import (
    Child,
    Node,
    Reading,
    Source,
    Style,
    Tree,
    block,
    common_indent,
    flow,
    indent_of,
    indented,
    inline_lines,
    is_list,
    is_merge,
    is_null,
    load,
    member,
    needs_lines,
    read,
    tree_of,
)
from hookctl.errors import HookctlError

_Pair = tuple[Tree, Tree]  # a key, None in a sequence, and a value
_PLAIN_LINES = "Write it in plain lines (key: value, - item), then run the command again."
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


class YamlDocument(Document):
    """An immutable YAML document; each edit gives a new one."""

    def __init__(self, text: str, where: str, reading: Reading) -> None:
        super().__init__(text, where)
        self._reading = reading

    @classmethod
    def parse(cls, data: bytes, *, where: str = "") -> YamlDocument:
        """Parse a file's bytes; errors (not_utf8, unparsable, extra_missing) name the position."""
        text = decode(data, where)
        document = cls(text, where, read(text, where))
        _ = document.value  # refuses what the host's reader cannot read
        return document

    @cached_property
    def value(self) -> Any:
        """The parsed root value, or MISSING in an empty document."""
        return MISSING if self._reading.root is None else load(self._text, self.where)

    def raw(self, path: Path) -> str:
        """The source text of the value at path, moved to the left margin; KeyError if none."""
        located = self._find(path)
        if located is None and self.get(path) is MISSING:
            raise KeyError(path)
        if located:  # else an alias or a merge key brings it there
            node = located.node
            text = self._outdented(node)
            with contextlib.suppress(HookctlError):
                if node.start == node.end or self._reading_of(text).tree() == node.tree():
                    return text
        try:
            return flow(self.get(path))
        except TypeError:
            raise self._unsupported(self.offset(path)) from None

    def offset(self, path: Path) -> int:
        """Where the value at path begins, or its nearest existing parent."""
        located, _ = self._nearest(path)
        return located.node.start if located else 0

    def check_path(self, path: Path) -> None:
        """Refuse a path through a duplicate key, an alias, or a mapping that merges another."""
        for length in range(len(path)):
            located = self._find(path[:length])
            if located is None or located.node.kind == "scalar":
                return
            self._check_holder(path[:length], located.node)
            indexes = located.node.find(path[length])
            if len(indexes) > 1:
                second_key = located.node.children[indexes[1]].key
                assert second_key
                raise duplicate_key(self, path[length], second_key.start)

    def set(self, path: Path, value: Any) -> YamlDocument:
        """Replace the value at path, or insert it after its siblings; creates missing parents."""
        return self._put(path, value)

    def set_raw(self, path: Path, text: str) -> YamlDocument:
        """Like set(), with a source text from an earlier raw()."""
        return self._put(path, self._source(path, text))

    def insert_raw(self, path: Path, text: str) -> YamlDocument:
        """Put a source text from an earlier raw() above an array's element and its comments."""
        *above, index = path
        self.check_path(path)
        located, new = self._find(tuple(above)), self._source(path, text)
        if located is None or not located.steps or not isinstance(index, int):
            raise KeyError(path)
        splices = self._insert_above(Step(located.node, index), new)
        kind, anchor, tag, children = located.node.tree()
        children = (*children[:index], (None, tree_of(new)), *children[index:])
        key = located.steps[-1].child.key
        pair = (key and key.tree(), (kind, anchor, tag, children))
        return self._verified(splices, located.steps, pair)

    def _source(self, path: Path, text: str) -> Source:
        """A source text as a new value."""
        try:
            root = self._reading_of(text).root
        except HookctlError as error:
            message = f"the source text cannot be read ({error.message})"
            raise unexpected(self, path, message) from None
        if root is None:
            root = Node("scalar", 0, 0, "tag:yaml.org,2002:null")
        return Source(text, root)

    def append(self, path: Path, value: Any) -> YamlDocument:
        """Add an element at the end of the array at path; creates the array if it is missing."""
        self.check_path(path)
        located = self._find(path)
        if located is None:
            return self._put(path, [value])
        self._check_holder(path, located.node)
        if self._is_vacant(located.node, "seq"):
            return self._put(path, [value])
        if located.node.kind != "seq":
            raise wrong_shape(self, path, "an array")
        pair = (None, self._tree(path, value))
        splices = self._insert_lines(located, None, value)
        return self._verified(splices, located.steps_to_new, pair)

    def remove(self, path: Path) -> YamlDocument:
        """Remove the member or element at path; returns the same document if there is none."""
        self.check_path(path)
        located = self._find(path)
        if not path or located is None:
            return self
        *above, step = located.steps
        splices = self._remove_lines(above, step)
        if not above and len(step.holder.children) == 1 and not step.holder.flow:
            return self._verified(splices, (), None)  # the document is empty then
        return self._verified(splices, located.steps, None)

    # Finding

    def _find(self, path: Path) -> Located | None:
        """The value written at path, not what an alias or a merge key brings there.

        Of a duplicate key the last one counts, as the host reads it.
        """
        if self._reading.root is None:
            return None
        node = self._reading.root
        steps: list[Step] = []
        for key in path:
            indexes = node.find(key)
            if not indexes:
                return None
            steps.append(Step(node, indexes[-1]))
            node = steps[-1].child.value
        return Located(node, tuple(steps))

    def _outdented(self, node: Node) -> str:
        """A node's text as it would stand at the left margin."""
        first, *lines = BREAK.split(self._text[node.start : self._content_end(node)])
        if node.children and not node.flow:
            margin = self._column(node.start)
        else:
            margin = max(0, common_indent(lines) - 2)
        return "\n".join([first, *(line[min(margin, indent_of(line)) :] for line in lines)])

    def _reading_of(self, source: str) -> Reading:
        """A value's own source text, read as a part of this document."""
        return read(source + "\n", self.where, self._reading.anchors)

    def _check_holder(self, path: Path, node: Node) -> None:
        """Refuse to edit inside what is no plain lines, such as brackets or an alias."""
        merges = [key.start for key, _ in node.children if key and is_merge(key)]
        if node.kind == "alias":
            form = f"the alias *{node.text}"
        elif node.anchor:
            form = f"named &{node.anchor} for other places"
        elif merges:
            form = "merged with another mapping (<<)"
        elif node.flow and not self._is_vacant(node, node.kind):
            form = "written in brackets"
        else:
            return
        message = f"{self.name_of(path) or 'the document'} is {form}, and nothing is edited there"
        offset = merges[0] if merges else node.start
        raise self.error_at("unsupported_yaml", offset, message, _PLAIN_LINES)

    # Editing

    def _tree(self, path: Path, value: Any) -> Tree:
        try:
            return tree_of(value)
        except (KeyError, TypeError, ValueError) as error:
            message = f"the new value cannot be written as YAML ({error!r})"
            raise unexpected(self, path, message) from None

    def _put(self, path: Path, value: Any) -> YamlDocument:
        self.check_path(path)
        new = self._tree(path, value)
        located = self._find(path)
        if located and located.node.tree() == new:
            return self
        if located and not path:
            raise wrong_shape(self, path, "a part of the document")
        if located:
            step = located.steps[-1]
            pair = (step.child.key and step.child.key.tree(), new)
            return self._verified(self._replace_lines(step, value), located.steps, pair)
        holder, length = self._nearest(path)
        is_vacant = holder and self._is_vacant(holder.node, "map")
        if is_vacant and length:
            return self._put(path[:length], wrapped(self, path[length:], value))
        if holder and (not is_vacant or is_null(holder.node)):
            return self._insert(path, length, holder, value)
        value = wrapped(self, path, value)
        if not isinstance(value, dict):
            raise wrong_shape(self, (), "an object")
        splices = self._fill(value)
        if holder:  # `{}`
            lines = self._style.line_end.join(block(value, 0, self._style))
            splices = [Splice(holder.node.start, holder.node.end, lines)]
        return self._verified(splices, (), (None, tree_of(value)))

    def _insert(self, path: Path, length: int, holder: Located, value: Any) -> YamlDocument:
        """Insert below the deepest existing parent; the value brings the missing ones."""
        key = path[length]
        if holder.node.kind != "map" or not isinstance(key, str):
            raise not_an_object(self, path[:length], key)
        value = wrapped(self, path[length + 1 :], value)
        pair = (tree_of(key), tree_of(value))
        splices = self._insert_lines(holder, key, value)
        return self._verified(splices, holder.steps_to_new, pair)

    def _verified(
        self, splices: list[Splice], steps: Sequence[Step], new: _Pair | None
    ) -> YamlDocument:
        """The spliced document, if it says exactly what was wanted: `new` at the last step."""
        text = spliced(self._text, splices)
        if steps:
            wanted = _edit_tree(self._reading.tree(), [step.child_index for step in steps], new)
        else:
            wanted = new and new[1]
        first_change = min(splice.start for splice in splices)
        try:
            reading = read(text, self.where)
        except HookctlError:
            raise self._unsupported(first_change) from None
        if reading.tree() != wanted:
            raise self._unsupported(first_change)
        return YamlDocument(text, self.where, reading)

    # Splices, in the file's layout

    def _fill(self, value: dict[str, Any]) -> list[Splice]:
        """Fill an empty document: the value goes after its comments."""
        end = len(self._text)
        line_end = self._style.line_end
        lines = line_end.join(block(value, 0, self._style))
        has_open_line = end > line_start(self._text, end) and self._text[-1] != BOM
        if has_open_line:
            return [Splice(end, end, line_end + lines)]
        return [Splice(end, end, lines + line_end)]

    def _insert_lines(self, located: Located, key: str | None, value: Any) -> list[Splice]:
        """Insert a member after the last one of a collection."""
        holder = located.node
        first = holder.children[0].key
        column = self._column(first.start if first else holder.start)
        margin = self._indent(located.steps[-1]) if located.steps else -1
        offset = self._after_comments(holder.children[-1].value.end, margin)
        return [self._new_lines(offset, member(key, value, column, self._style))]

    def _insert_above(self, step: Step, value: Source) -> list[Splice]:
        """Insert an item above another one and the comments right above that."""
        start = self._start(step)
        offset = line_start(self._text, start)
        if self._text[offset:start].strip(" "):  # as in `- - item`
            raise self._unsupported(start)
        floor = step.holder.children[step.child_index - 1].value.end if step.child_index else 0
        while offset > floor:
            line_above = line_start(self._text, offset - 1)
            if not self._text[line_above:offset].lstrip(" \t").startswith("#"):
                break
            offset = line_above
        lines = member(None, value, self._column(start), self._style)
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
            raise self._unsupported(offset)
        stop = line_stop(self._text, offset)
        return Splice(stop, stop, "".join(line_end + line for line in lines))

    def _put_below(self, old: Node, colon: int, end: int, lines: list[str]) -> list[Splice]:
        """Replace a value that ends at `end` with lines below its key, which ends at `colon`."""
        end = max(colon, end)
        if BREAK.search(self._text, colon, max(colon, old.start)):
            # Comments may stand between the key and the value.
            return [self._new_lines(colon, lines), *self._cut(old.start, end, None)]
        return [Splice(colon, end, ""), self._new_lines(end, lines)]

    def _replace_lines(self, step: Step, value: Any) -> list[Splice]:
        """Replace a child's value; a comment after it stays."""
        old, style = step.child.value, self._style
        if not needs_lines(value):
            return self._replace_inline(step, value)
        end = self._content_end(old)
        if not step.child.key:  # behind its dash
            lines = block(value, self._indent(step) + 2, style)
            text = style.line_end.join(lines).lstrip(" ")
            start = self._indicator_end(step)
            return [Splice(start, max(start, end), f" {text}")]
        kind = "seq" if is_list(value) else "map"
        if _is_in_lines(old) and old.kind == kind:
            column = self._column(old.start)
        else:
            column = self._indent(step) + (style.dash if kind == "seq" else style.unit)
        return self._put_below(old, self._indicator_end(step), end, block(value, column, style))

    def _replace_inline(self, step: Step, value: Any) -> list[Splice]:
        """Replace a child's value with one that begins in the line of its key or dash."""
        old, style = step.child.value, self._style
        end = self._content_end(old)
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

    def _remove_lines(self, above: Sequence[Step], step: Step) -> list[Splice]:
        """Remove a child; a collection without any other becomes a pair of brackets."""
        holder = step.holder
        start, end = self._start(step), self._content_end(step.child.value)
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
            raise self._unsupported(start)
        has_text_before = self._text[first:start].strip(" " + BOM)  # the dash in `- key: value`
        if has_text_before:
            if following is None:
                raise self._unsupported(start)
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

    def _unsupported(self, offset: int) -> HookctlError:
        """The error for a layout that no splice fits."""
        message = "this part of the file is written in a way that cannot be edited without loss"
        return self.error_at("unsupported_yaml", offset, message, _PLAIN_LINES)

    # The file's style

    @cached_property
    def _style(self) -> Style:
        """The line end and the indentations of the first lines that show them."""
        units: list[int] = []
        dashes: list[int] = []
        pending = [self._reading.root] if self._reading.root else []
        while pending and not (units and dashes):
            holder = pending.pop()
            pending += [value for _, value in reversed(holder.children)]
            for child in holder.children:
                if self._is_below_key(child):
                    depth = self._column(child.value.start) - self._column(child.start)
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

    def _is_vacant(self, node: Node, kind: str) -> bool:
        """Whether a node is null, or a pair of brackets of this kind with nothing in it."""
        source = "".join(self._text[node.start : node.end].split())
        return is_null(node) or (node.kind == kind and source in ("{}", "[]"))

    def _line_after(self, offset: int) -> int:
        """Where the next line begins, 0 for none; the offset itself if it begins a line."""
        if offset and offset == line_start(self._text, offset):
            return offset
        line_break = BREAK.match(self._text, line_stop(self._text, offset))
        return line_break.end() if line_break else 0

    def _column(self, offset: int) -> int:
        """How many characters stand before an offset on its line."""
        return len(self._text[line_start(self._text, offset) : offset].removeprefix(BOM))

    def _indent(self, step: Step) -> int:
        """The column of the child that a value belongs to."""
        return self._column(step.child.key.start if step.child.key else step.holder.start)

    def _comment_after(self, offset: int) -> str | None:
        """The comment after an offset on its line, or ""; None if something else stands there."""
        rest = self._text[offset : line_stop(self._text, offset)]
        if not rest.strip(" \t"):
            return ""
        return rest.lstrip(" \t") if re.match(r"[ \t]+#", rest) else None

    def _content_end(self, node: Node) -> int:
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
                raise self._unsupported(step.child.value.start)
            start = gap.end()
        return start

    def _indicator_end(self, step: Step) -> int:
        """The end of the colon or the dash of a child of a block collection."""
        key = step.child.key
        if key is None:
            return self._start(step) + 1
        colon = re.compile(r"[ \t]*:").match(self._text, key.end)
        if colon is None:
            raise self._unsupported(key.start)
        return colon.end()


def _edit_tree(tree: Tree, indexes: list[int], new: _Pair | None) -> Tree:
    """Make the same edit on the document's tree, to cross-check the text edit."""
    kind, anchor, tag, children = tree
    index, *below = indexes
    pairs = [] if new is None else [new]
    if below:
        key, value = children[index]
        pairs = [(key, _edit_tree(value, below, new))]
    return (kind, anchor, tag, (*children[:index], *pairs, *children[index + 1 :]))


def _is_in_lines(node: Node) -> bool:
    """Whether a node is a block collection."""
    return bool(node.children) and not node.flow
