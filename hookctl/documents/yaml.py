"""Lossless editing of YAML: an edit is a few splices into the text; other bytes stay.

New members are lines of their own in the file's layout; a removal removes exactly a member's
lines. An edit inside what is no plain lines (brackets, an anchor, an alias, a merge key, an
unusual layout) is refused with its position. The reader is PyYAML, which the hosts use and whose
events carry the offset of everything: an optional extra, imported when the first file is read.
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import sys
from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

from hookctl.documents import (
    BOM,
    BREAK,
    DEPTH,
    MISSING,
    Document,
    New,
    Path,
    Splice,
    comparable,
    error_at,
    line_start,
    line_stop,
    start_of_comments,
    too_deep,
    unparsable,
    whole_lines,
    wrong_shape,
)
from hookctl.errors import HookctlError

_PLAIN_LINES = "Write it in plain lines (key: value, - item), then run the command again."
_TO_DASH = re.compile(r"(?:[ \t\r\n]+|(?:(?<=[ \t\r\n])|^)#[^\r\n]*)*+-")
# A key, and the indentation of the line below it: of a member, and of an item.
_BELOW = r"(?:^|[\r\n])( *)[^\s#-][^\r\n]*:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n)\1"
_UNIT, _DASH = _BELOW + r"( +)[^\s#-]", _BELOW + r"( *)- "
_KINDS = {"mapping": "map", "sequence": "seq", "scalar": "scalar"}
# An alias behind a key, an item or the start of what it is in.
_ALIAS = re.compile(r"(?:[^*#]|#[^\r\n]*)*(\*[^\s,\[\]{}]+)")
_NO_ALIAS = "Write the value out instead of the alias, then run the command again."
VALUES = 1_000_000  # with every alias written out; comparing two such documents takes a second
STRING = "tag:yaml.org,2002:str"
NULL = "tag:yaml.org,2002:null"
MERGE = "tag:yaml.org,2002:merge"  # of a key << that merges another mapping
_PLAIN_KEY = r"(?!(?i:y|n|yes|no|on|off|true|false|null)$)[A-Za-z_][A-Za-z0-9_-]*"
# Characters that JSON allows in a string and YAML forbids, or reads as a line break.
_ESCAPED = "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]"
# Characters that YAML 1.1 does not allow in a file.
_UNPRINTABLE = r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"


class YamlDocument(Document):
    """An immutable YAML document; each edit gives a new one."""

    def __init__(self, text: str, where: str) -> None:
        super().__init__(text, where)
        self._root, value = read(text, where)
        self.value = MISSING if self._root is None else value

    def raw(self, path: Path) -> str:
        """The source text of the value at path, moved to the left margin; KeyError if none."""
        node, value = self._find(path), self.get(path)
        if value is MISSING:
            raise KeyError(path)
        text, said = "", MISSING
        if node:
            first, *lines = BREAK.split(self._text[node.start : self._content_end(node)])
            margin = max(0, common_indent(lines) - 2)
            margin = self._column(node.start) if node.is_in_lines else margin
            text = "\n".join([first, *(line[min(margin, indent_of(line)) :] for line in lines)])
        with contextlib.suppress(HookctlError):
            _, said = read(text + "\n", self.where)
        if node is None or comparable(said) != comparable(value):  # an alias or a merge key
            raise self._unsupported(self.offset(path))
        return text

    def _new(self, path: Path, value: Any) -> New:
        return New(comparable(value), written(value, self._style))

    def _source(self, path: Path, text: str) -> New:
        root, value = read(text + "\n", self.where)
        kind, (first, *more) = "scalar", BREAK.split(text)
        if root and root.is_in_lines:
            kind = root.kind
        else:  # those of a value on its key's line lose their common indentation
            depth = common_indent(more)
            more = [line[depth:] for line in more]
        return New(comparable(value), Lines(kind, [first, *more]))

    def _unfit(self, path: Path, splices: Sequence[Splice]) -> HookctlError:
        return self._unsupported(min(splice.start for splice in splices))

    def _check_holder(self, path: Path, node: Node) -> None:
        """Refuse to edit inside what is not in plain lines, such as brackets or an alias."""
        is_merged = any(one.key and one.key.tag == MERGE for one in node.children)
        is_odd = self._text[node.start : node.start + 1] in tuple("[{&*!")
        if is_merged or (is_odd and not self._is_vacant(node, node.kind)):
            name = self.name_of(path) or "the document"
            message = f"{name} is not written in plain lines, and nothing is edited there"
            raise self.error_at("unsupported_yaml", node.start, message, _PLAIN_LINES)

    # Splices, in the file's layout

    def _fill(self, root: Node | None, new: New) -> list[Splice]:
        """Fill an empty document after its comments, or the brackets that are all of it."""
        end = len(self._text)
        if not isinstance(new.tree, dict) or (root and root.kind != "map"):
            raise wrong_shape(self, (), "an object")
        lines = [*written(new.value, self._style).lines]
        if root:
            return [Splice(root.start, root.end, self._line_end.join(lines))]
        lines.insert(0 if end > line_start(self._text, end) else len(lines), "")
        return [Splice(end, end, self._line_end.join(lines))]

    def _insert(self, holder: Node, key: str | None, new: New) -> list[Splice]:
        first, last = holder.children[0], holder.children[-1]
        column = self._column(first.key.start if first.key else holder.start)
        lines = member(key, written(new.value, self._style), self._style)
        return [self._new_lines(last.end, indented(lines, column))]

    def _insert_above(self, node: Node, new: New) -> list[Splice]:
        start = self._start(node)
        offset = line_start(self._text, start)
        if self._text[offset:start].strip(" "):  # as in `- - item`
            raise self._unsupported(start)
        floor = node.holder.children[node.index - 1].end if node.holder and node.index else 0
        offset = start_of_comments(self._text, offset, floor)
        lines = indented(member(None, new.value, self._style), self._column(start))
        return [Splice(offset, offset, "".join(line + self._line_end for line in lines))]

    def _new_lines(self, offset: int, lines: list[str]) -> Splice:
        """Insert lines where a line begins at `offset`; else below its line, with its comment."""
        if offset == line_start(self._text, offset) and offset:
            return Splice(offset, offset, "".join(line + self._line_end for line in lines))
        if self._comment_after(offset) is None:
            raise self._unsupported(offset)
        stop = line_stop(self._text, offset)
        return Splice(stop, stop, "".join(self._line_end + line for line in lines))

    def _replace(self, old: Node, value: New) -> list[Splice]:
        if old.holder is None:
            raise wrong_shape(self, (), "a part of the document")
        end, indicator_end = self._content_end(old), self._indicator_end(old)
        indent, style = self._column((old.key or old.holder).start), self._style
        new = written(value.value, style)
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
        message = "this part of the file is written in a way that cannot be edited without loss"
        return self.error_at("unsupported_yaml", offset, message, _PLAIN_LINES)

    @cached_property
    def _style(self) -> Style:
        unit, dash = (re.search(pattern, self._text) for pattern in (_UNIT, _DASH))
        return Style(len(unit[2]) if unit else 2, len(dash[2]) if dash else 2)

    # Positions in the text

    def _is_vacant(self, node: Node, kind: str) -> bool:
        """Whether a node is null, or a pair of brackets of this kind with nothing in it."""
        source = "".join(self._text[node.start : node.end].split())
        is_empty = node.kind == kind and source in ("{}", "[]")
        return is_empty or (node.tag == NULL and not source.startswith("&"))

    def _column(self, offset: int) -> int:
        return offset - line_start(self._text, offset)

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
        if not last.is_block:
            return node.end
        return node.start + len(self._text[node.start : node.end].rstrip(" \t\r\n"))

    def _start(self, node: Node) -> int:
        """Where a child of a block collection begins: its key, or its dash."""
        if node.key:
            self._indicator_end(node)  # refuses `? key`
            return node.key.start
        start = node.holder.children[node.index - 1].end if node.index else node.holder.start
        to_dash = _TO_DASH.match(self._text, start)
        if to_dash is None:
            raise self._unsupported(node.start)
        return to_dash.end() - 1

    def _indicator_end(self, node: Node) -> int:
        """The end of the colon or the dash of a child of a block collection."""
        if node.key is None:
            return self._start(node) + 1
        colon = re.compile(r"[ \t]*:").match(self._text, node.key.end)
        if colon is None:
            raise self._unsupported(node.key.start)
        return colon.end()


class Node:
    """A value and its span in the text, its anchor and tag included, and all that is in it."""

    is_flow = is_block = False  # a scalar in the | or > style ends where the next line begins

    def __init__(
        self,
        node: Any,
        text: str,
        where: str,
        known: dict[int, Node],
        holder: Node | None = None,
        key: Node | None = None,
    ) -> None:
        shift = int(text.startswith(BOM))  # which the reader does not count
        self.kind = _KINDS[node.id]  # map | seq | scalar | alias
        self.start, self.end = node.start_mark.index + shift, node.end_mark.index + shift
        self.tag, self.content = node.tag, node.value
        self.holder, self.key, self.children = holder, key, list[Node]()
        self.index = len(holder.children) if holder else 0
        self.values = 0  # itself, what is in it and what its aliases stand for; 0 while it is read
        target = known.setdefault(id(node), self)
        if target is not self:
            before = holder.children[-1].end if holder.children else holder.start
            alias = _ALIAS.match(text, key.end if key else before)
            self.kind, self.tag, (self.start, self.end) = "alias", "", alias.span(1)
            self.values = target.values
            if not target.values:
                message = f"the value {alias[1].replace('*', '&')} contains itself"
                raise error_at("unsupported_yaml", text, where, self.start, message, _NO_ALIAS)
            return
        if self.kind == "scalar":
            self.is_block, self.values = node.style in ("|", ">"), 1
            return
        self.is_flow = bool(node.flow_style)
        for item in node.value:
            name, value = item if self.kind == "map" else (None, item)
            its_key = name and Node(name, text, where, known, self)
            self.children.append(Node(value, text, where, known, self, its_key))
        if self.is_in_lines:  # it ends with its last child, not where the reader has it
            self.end = self.children[-1].end
        self.values = 1 + sum(child.values for child in self.children)
        if self.values > VALUES:
            message = f"its aliases make more than {VALUES:,} values of it"
            raise error_at("unsupported_yaml", text, where, self.start, message, _NO_ALIAS)

    def find(self, key: str | int) -> list[Node]:
        """The children under a key; more than one for a duplicate key."""
        if isinstance(key, int):
            return self.children[key : key + 1] if self.kind == "seq" and key >= 0 else []
        named = (one for one in self.children if one.key and one.key.tag == STRING)
        return [one for one in named if one.key.content == key]

    @property
    def entry(self) -> int:
        """Where its key begins, or it."""
        return self.key.start if self.key else self.start

    @property
    def is_in_lines(self) -> bool:
        """Whether it is a block collection."""
        return bool(self.children) and not self.is_flow


@cache
def reader(where: str = "") -> Any:
    """PyYAML, or the error that says how to install it."""
    try:
        import yaml  # late: it need not be installed
    except ImportError:
        message = (
            "settings here are YAML, and reading YAML is an optional part of hookctl"
            " that is not installed"
        )
        hint = f"`{shlex.quote(sys.executable)} -m pip install PyYAML`; with uv or pipx install "
        hint += "`'.[yaml]'`, with uvx add `--with PyYAML`. Then run the command again."
        raise HookctlError("extra_missing", message, path=where, hint=hint) from None
    return yaml


@cache
def _loader() -> Any:
    """The safe loader, in C if there is one, like the hosts'; its errors name the position."""
    yaml = reader()

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        def construct_object(self, node: Any, deep: bool = False) -> Any:
            try:
                return super().construct_object(node, deep)
            except (ValueError, TypeError, LookupError, ArithmeticError) as error:
                problem = f"this value cannot be read ({error})"
                raise yaml.constructor.ConstructorError(
                    None, None, problem, node.start_mark
                ) from None

    return Loader


def read(text: str, where: str) -> tuple[Node | None, Any]:
    """The root node, None in an empty document, and the plain value, as the host reads it.

    Unparsable, with the position, if the host cannot read it.
    """
    yaml, plain, depth = reader(where), text.removeprefix(BOM), 0
    try:
        for event in yaml.parse(plain, _loader()):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > DEPTH:
                raise too_deep(text, where)
        loader = _loader()(plain)
        node = loader.get_single_node()
        root = Node(node, text, where, {}) if node else None
        value = loader.construct_document(node) if node else None
    except RecursionError:  # a long chain of mappings that merge each other
        raise too_deep(text, where) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        if mark:
            offset = mark.index + text.startswith(BOM)
            reason = error.problem or error.context or "it cannot be read"
            reason = re.sub(r"[ ,]*(['\"]).{2,}\1", "", reason)  # a name of theirs
            message = f"not valid YAML: {reason}"
        else:  # a forbidden character; the reader gives its position in bytes
            character = re.compile(_UNPRINTABLE).search(text, int(text.startswith(BOM)))
            offset = character.start() if character else 0
            message = f"the character U+{ord(text[offset]):04X} is not allowed in YAML"
        raise unparsable(text, where, offset, message) from None
    if root and root.kind == "scalar" and root.start == root.end:
        root = None
    return root, value


# Writing


class Style(NamedTuple):
    """How many blanks a collection is indented by below its key."""

    unit: int = 2  # a mapping
    dash: int = 2  # a list; 0 in some files


class Lines(NamedTuple):
    """A value to be written, as the lines that it has at the left margin."""

    kind: str  # map | seq, in lines below its key; scalar for a value on the line of its key
    lines: list[str]


def written(value: Any, style: Style) -> Lines:
    """A value as lines; TypeError or ValueError for what YAML does not have."""
    if isinstance(value, Lines):
        return value
    if not isinstance(value, dict | list) or not value:
        return Lines("scalar", [flow(value)])
    lines = []
    pairs = value.items() if isinstance(value, dict) else ((None, inner) for inner in value)
    for key, inner in pairs:
        lines += member(key, written(inner, style), style)
    return Lines("map" if isinstance(value, dict) else "seq", lines)


def member(key: str | None, value: Lines, style: Style) -> list[str]:
    """The lines of a mapping's member, or of a sequence's item."""
    head = "-" if key is None else f"{key_text(key)}:"
    first, *more = value.lines
    if value.kind == "scalar":
        return [f"{head} {first}", *indented(more, style.unit)]
    if key is None:
        return [f"{head} {first}", *indented(more, 2)]
    return [head, *indented(value.lines, style.dash if value.kind == "seq" else style.unit)]


def indent_of(line: str) -> int:
    """The number of blanks that a line begins with."""
    return len(line) - len(line.lstrip(" "))


def common_indent(lines: list[str]) -> int:
    """The smallest indentation of these lines, blank ones left out."""
    return min((indent_of(line) for line in lines if line.strip()), default=0)


def indented(lines: list[str], column: int) -> list[str]:
    """Lines with more indentation, blank ones as they are."""
    return [" " * column + line if line.strip() else line for line in lines]


def key_text(key: str) -> str:
    """A key's text, without quotes if every reader reads it as a string."""
    return key if re.fullmatch(_PLAIN_KEY, key) else flow(key)


def flow(value: Any) -> str:
    """A scalar, or an empty collection, on one line."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return re.sub(_ESCAPED, lambda match: f"\\u{ord(match[0]):04x}", text)
