"""Lossless editing of JSON and JSONC: an edit is a few splices into the text; other bytes stay.

The standard library's scanner reads the *shadow* of a text: the text with blanks in place of
everything that strict JSON does not allow, so that both have the same offsets. Each edit is
verified: the new text is read again, and its tree must be the old tree with the same edit made on
plain values. So a wrong rule about commas or comments leads to a refusal, never to a lost setting.
Removing what was inserted gives the earlier text again, to the byte.
"""

from __future__ import annotations

import gc
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import takewhile
from typing import Any, NamedTuple

from hookctl.documents import (
    BOM,
    BREAK,
    DEPTH,
    MISSING,
    STRING,
    Document,
    New,
    Path,
    Splice,
    decode,
    error_at,
    is_too_deep,
    last_index,
    leading_blanks,
    line_start,
    line_stop,
    spliced,
    start_of_comments,
    too_deep,
    unparsable,
)
from hookctl.errors import HookctlError
from hookctl.system import read_data
from hookctl.system.files import digest

# The comparison tree: a number is its source text as bytes, so that 1.0, 1e3 and 20 digits stay
# themselves; of a duplicate key only the last one has its plain name; all else is the plain value.
Tree = Any

# Most files are strict JSON, so these are compiled only when they are used.
_COMMENTS = STRING + r'|(?P<match>//[^\r\n]*|/\*.*?\*/)|(?P<open>"|/\*)'
# A trailing one; none without a value before it.
_COMMAS = STRING + r'|[\[{:,][ \t\r\n]*+,|(?P<match>,)(?=[ \t\r\n]*[}\]])|(?P<open>")'
_CONSTANTS = STRING + r"|(?P<match>NaN|-?Infinity)"
HOLE = "\0"  # in a new value: a given source text
_BLANKS = re.compile(r"[ \t\r\n]*")
_COMMA = r"[ \t\r\n]*+,?[ \t\r\n]*+"
# The key of a member; and it, with a scalar and the comma behind that unless the value is nested.
_KEY = rf"{STRING}[ \t\r\n]*+:[ \t\r\n]*+"
_CHILD = rf"(?:{_KEY})?(?P<scalar>(?:{STRING}|[^ \t\r\n\"\[\]{{}},:]++){_COMMA})?"
_INDENTED = r"(?:^|[\r\n])([ \t]+)(?=[^ \t\r\n])"


class JsonDocument(Document):
    """An immutable JSON or JSONC document; each edit gives a new one."""

    def __init__(self, text: str, where: str, *, strict: bool = False) -> None:
        super().__init__(text, where)
        self._scan = scanned = scan(text, where, strict=strict)
        self._tree = scanned.tree
        self._shadow, self._comments = scanned.shadow, scanned.comments
        if scanned.start >= 0:
            span = (scanned.start, scanned.start, scanned.end)
            self._root = Node(self._shadow, self._tree, span)

    @cached_property
    def value(self) -> Any:
        root = self._root
        if root is None:
            return MISSING
        try:
            return json.loads(self._shadow[root.start : root.end])
        except ValueError as error:  # an integer of thousands of digits
            raise self.error_at(
                "unparsable", root.start, f"this file cannot be read ({error})", "Make it shorter."
            ) from None

    def require_strict(self, *, comments: bool, trailing_commas: bool) -> None:
        faults = []
        if not comments:
            faults += [(begin, "comment") for begin, _ in self._comments]
        if not trailing_commas:
            faults += [(offset, "trailing comma") for offset in self._scan.commas]
        if faults:
            offset, kind = min(faults)
            message = f"there is a {kind}, which this host does not read"
            raise self.error_at("strict_host", offset, message, "Remove it.")

    def _new(self, path: Path, value: Any) -> New:
        text = json.dumps(value, allow_nan=False)
        return New(scan(text, self.where, strict=True).tree, value)

    def _source(self, path: Path, text: str) -> New:
        given = scan(text, self.where, strict=False)
        if (given.start, given.end) != (0, len(text)):
            raise ValueError("the source text is not just a value")
        return New(given.tree, HOLE, given)

    def _reread(self, text: str, path: Path, new: New) -> Any:
        """The edited document, which must be as strict as before."""
        scans = (self._scan, *filter(None, [new.source]))
        is_lenient = any(one.comments or one.commas for one in scans)
        after = type(self)(text, self.where, strict=not is_lenient)
        # All but the last one: nothing says that an entry still begins where that one did.
        *known, last = self._root.known if self._root and self._root.known else (0,)
        if known and text.startswith(self._text[:last]):
            after._root.known = known
        return after

    # The layout of the file

    @cached_property
    def _layout(self) -> Layout:
        start, end = self._scan.start, self._scan.end
        is_empty = start < 0 or not self._text[start + 1 : end - 1].strip()
        many_lines = is_empty or bool(BREAK.search(self._text, start, end))
        colon = re.search(STRING + r"[ \t\r\n]*:([ \t]?)", self._shadow)  # as the first one
        blank = " " if many_lines or (colon and colon[1]) else ""
        indented = re.finditer(_INDENTED, self._text)
        units = (one[1] for one in indented if self._shadow[one.end()] not in " \t\r\n")
        return Layout(many_lines, f",{blank}", f":{blank}", next(units, "  "))

    # Inserting

    def _fill(self, node: Any, new: New) -> list[Splice]:
        text = self._member(None, new, "") + self._line_end
        end = len(self._text)
        if self._comments and not BREAK.search(self._text[-1]):
            text = self._line_end + text
        return [Splice(end, end, text)]

    def _replace(self, node: Node, new: New) -> list[Splice]:
        text = self._member(None, new, self._indent_at(node.start))
        return [Splice(node.start, node.end, text)]

    def _insert(self, holder: Node, key: str | None, new: New) -> list[Splice]:
        if not holder.tree:
            return self._insert_first(holder, key, new)
        last = holder.child(-1)
        comma = self._comma_behind(last)
        end = last.end if comma is None else comma + 1
        if not BREAK.search(self._text, holder.start, holder.child(0).entry):
            return [self._insert_inline(holder, last, key, new)]
        # As the last child that begins a line.
        indents = (self._blanks_before(entry) for entry in reversed(holder.entries))
        indent = next((one for one in indents if one is not None), None)
        if indent is None:
            indent = self._indent_at(holder.start) + self._layout.unit
        member = self._line_end + indent + self._member(key, new, indent)
        offset = line_stop(self._text, end)  # of the line with the comments on it
        for begin, stop in self._comments:
            if end <= begin < offset < stop:  # a block comment of several lines
                last_stop = line_stop(self._text, stop)
                offset = stop if self._shadow[stop:last_stop].strip() else last_stop
        if self._shadow[end:offset].strip():  # values follow
            offset = end
        if comma is not None:
            return [Splice(offset, offset, member + ",")]
        return [Splice(end, end, ","), Splice(offset, offset, member)]

    def _insert_above(self, node: Node, new: New) -> list[Splice]:
        """A new element above another one and the comments right above that."""
        start = node.start
        indent = self._blanks_before(start)
        if indent is None:
            member = self._member(None, new, self._indent_at(start), one_line=True)
            return [Splice(start, start, member + self._layout.comma)]
        offset = line_start(self._text, start)
        offset = start_of_comments(self._text, offset, node.holder.start, self._shadow)
        member = self._member(None, new, indent)
        return [Splice(offset, offset, indent + member + "," + self._line_end)]

    def _insert_first(self, holder: Node, key: str | None, new: New) -> list[Splice]:
        start, end = holder.start + 1, holder.end - 1
        comments = self._comments_in(start, end)
        offset = comments[-1][1] if comments else start
        if not self._layout.many_lines:
            return [Splice(offset, end, self._member(key, new, "", one_line=True))]
        base = self._indent_at(holder.start)
        indent = base + self._layout.unit
        member = self._line_end + indent + self._member(key, new, indent)
        if comments and BREAK.search(self._text, offset, end):
            return [Splice(offset, offset, member)]
        return [Splice(offset, end, member + self._line_end + base)]

    def _insert_inline(self, holder: Node, last: Node, key: str | None, new: New) -> Splice:
        """A new last child on the line of the others, so that no line is laid out anew."""
        separator = self._layout.comma
        if len(holder.tree) > 1:
            between = self._text[holder.child(-2).end : last.entry]
            if re.fullmatch(r",[ \t]*", between):
                separator = between
        member = self._member(key, new, self._indent_at(holder.start), one_line=True)
        comma = self._comma_behind(last)
        if comma is None:
            return Splice(last.end, last.end, separator + member)
        return Splice(comma + 1, comma + 1, separator[1:] + member + ",")

    def _member(self, key: str | None, new: New, indent: str, *, one_line: bool = False) -> str:
        """The text of a value, with its key if it has one; further lines begin with `indent`."""
        layout = self._layout
        if layout.many_lines and not one_line:
            text = _json(new.value, indent=layout.unit).replace("\n", self._line_end + indent)
        else:
            text = _json(new.value, separators=(layout.comma, layout.colon))
        if new.source is not None:
            text = text.replace(_json(HOLE), new.source.text, 1)
        return text if key is None else _json(key) + layout.colon + text

    # Removing

    def _remove(self, node: Node) -> list[Splice]:
        holder = node.holder
        comments = self._comments_in(holder.start, holder.end)
        is_alone = all(node.entry <= start < node.end for start, _ in comments)
        if len(holder.tree) == 1 and is_alone:
            return [Splice(holder.start + 1, holder.end - 1)]
        comma = self._comma_behind(node)
        if comma is None and node.index:  # the last one, with the comma before it
            comma = self._shadow.index(",", holder.child(node.index - 1).end)
            begins_line = self._blanks_before(node.entry) is not None
            behind = self._shadow[node.end : line_stop(self._text, node.end)].strip()
            if (begins_line and not behind) or self._comments_in(comma, node.entry):
                return [Splice(comma, comma + 1), *self._cut(node.entry, node.end)]
            return [Splice(comma, node.end)]
        if comma is None:
            return self._cut(node.entry, node.end)
        if self._comments_in(node.end, comma):
            # A comment between the value and its comma stays, so the two are removed separately.
            return [*self._cut(node.entry, node.end), Splice(comma, comma + 1)]
        for following in holder.entries[node.index + 1 : node.index + 2]:
            if not self._text[comma + 1 : following].strip(" \t"):
                return [Splice(node.entry, following)]
        return self._cut(node.entry, comma + 1)

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

    def _comma_behind(self, node: Node) -> int | None:
        """The comma behind a child, which may be a trailing one."""
        after = skip_blanks(self._shadow, node.end)
        if self._shadow[after] == ",":
            return after
        return next((comma for comma in self._scan.commas if node.end <= comma < after), None)

    def _indent_at(self, offset: int) -> str:
        start = line_start(self._text, offset)
        return leading_blanks(self._text[start:offset].removeprefix(BOM))

    def _blanks_before(self, offset: int) -> str | None:
        """The blanks before the offset if nothing else stands before it on its line."""
        start = offset
        while start and self._text[start - 1] in " \t":
            start -= 1
        begins_line = not start or self._text[start - 1] in "\r\n"
        return self._text[start:offset] if begins_line else None

    def _comments_in(self, start: int, end: int) -> list[tuple[int, int]]:
        return [span for span in self._comments if start <= span[0] < end]


def _json(value: Any, **style: Any) -> str:
    """The value as JSON; escapes only lone surrogates, which UTF-8 cannot hold."""
    text = json.dumps(value, ensure_ascii=False, **style)
    return re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text)


class Layout(NamedTuple):
    """How a file is written."""

    many_lines: bool  # values are on lines of their own: they are in the file, or it is empty
    comma: str
    colon: str
    unit: str  # one step more: the blanks of the first indented line that begins in no comment


class Scan(NamedTuple):
    """A text that was read: its shadow, its tree, its comments and trailing commas."""

    text: str
    shadow: str
    start: int  # of the root value; -1 in an empty document
    end: int
    tree: Tree
    comments: tuple[tuple[int, int], ...] = ()
    commas: frozenset[int] = frozenset()  # trailing ones


class Node:
    """A value; what is in it is found when it is asked for."""

    known: Sequence[int] = ()  # the first of its entries, as far as they are known

    def __init__(
        self,
        shadow: str,
        tree: Tree,
        span: tuple[int, int, int],
        holder: Node | None = None,
        index: int = 0,
    ) -> None:
        self.shadow, self.tree = shadow, tree
        self.entry, self.start, self.end = span  # the entry begins with its key, or it
        self.holder, self.index = holder, index

    @cached_property
    def entries(self) -> list[int]:
        """Where the members or elements begin, in their order."""
        self.known = found = [*self.known]
        shadow, find_children = self.shadow, re.compile(_CHILD).finditer
        offset = found.pop() if found else skip_blanks(shadow, self.start + 1)
        while True:
            for match in find_children(shadow, offset):
                if match.lastgroup is None:  # what is nested, or the closing bracket
                    break
                found.append(match.start())
            offset = match.end()
            if shadow[offset] in "}]":
                return found
            found.append(match.start())
            _, end = _DECODER.scan_once(shadow, offset)
            offset = re.compile(_COMMA).match(shadow, end).end()  # type: ignore[union-attr]

    def child(self, index: int) -> Node:
        """The member or element at an index; a negative one counts from the end."""
        entry = start = self.entries[index]
        if isinstance(self.tree, dict):
            start = re.compile(_KEY).match(self.shadow, entry).end()  # type: ignore[union-attr]
        tree, end = _DECODER.scan_once(self.shadow, start)
        return Node(self.shadow, tree, (entry, start, end), self, index % len(self.tree))

    def find(self, key: str | int) -> list[Node]:
        """What is under a key, or at an index; more than one for a duplicate key."""
        if isinstance(self.tree, list):
            if isinstance(key, str) and key in self.tree:
                key = last_index(self.tree, key)  # a text in an array is its own key
            is_inside = isinstance(key, int) and 0 <= key < len(self.tree)
            return [self.child(int(key))] if is_inside else []
        if not isinstance(self.tree, dict) or key not in self.tree:
            return []  # without a look at thousands of others
        names = [name[0] if isinstance(name, tuple) else name for name in self.tree]
        return [self.child(index) for index, name in enumerate(names) if name == key]


def _refuse_constant(name: str) -> None:  # which the standard library would read
    raise ArithmeticError(f"{name} is not a number in JSON")


def _members(pairs: list[tuple[str, Tree]]) -> Tree:
    """The tree of an object, in which a name that comes again later has a number."""
    members: dict[Any, Tree] = dict(pairs)
    if len(members) == len(pairs):
        return members
    left, members = Counter(name for name, _ in pairs), {}
    for name, value in pairs:
        left[name] -= 1
        members[(name, left[name]) if left[name] else name] = value
    return members


_DECODER = json.JSONDecoder(
    object_pairs_hook=_members,
    parse_int=str.encode,
    parse_float=str.encode,
    parse_constant=_refuse_constant,
)


def scan(text: str, where: str, *, strict: bool) -> Scan:
    """Read a text, in which comments and trailing commas may be if it need not be strict JSON.

    Unparsable, with the position, if it is not JSON.
    """
    is_collecting = gc.isenabled()
    gc.disable()  # a large document is a lot of small tuples, none of them garbage
    shadow, commas = " " + text[1:] if text.startswith(BOM) else text, []
    try:
        try:
            return _read(text, shadow)
        except json.JSONDecodeError:  # nearly every file is strict JSON, and its own shadow
            if strict:
                raise
        # In two passes: a single pattern would look for the closing bracket through comments.
        comments = tuple(_spans_outside_strings(_COMMENTS, shadow))
        shadow = _blank_out(shadow, comments)
        if re.search(r",[ \t\r\n]*[}\]]", shadow):
            commas = list(_spans_outside_strings(_COMMAS, shadow))
            shadow = _blank_out(shadow, commas)
        places = frozenset(start for start, _ in commas)
        return _read(text, shadow)._replace(comments=comments, commas=places)
    except json.JSONDecodeError as error:
        raise _unparsable(text, where, error) from None
    except RecursionError:
        raise too_deep(text, where) from None
    finally:
        if is_collecting:
            gc.enable()


def _spans_outside_strings(pattern: str, shadow: str) -> Iterator[tuple[int, int]]:
    """The matches outside strings, up to an unclosed string: nothing after it can be read."""
    for match in re.finditer(pattern, shadow, re.DOTALL):
        if match.lastgroup == "open":
            return
        if match.lastgroup:
            yield match.span()


def _blank_out(shadow: str, spans: Iterable[tuple[int, int]]) -> str:
    """The shadow with blanks for everything in these spans except line breaks."""
    blank = re.compile(r"[^\r\n]").sub
    return spliced(shadow, [Splice(*span, blank(" ", shadow[slice(*span)])) for span in spans])


def _read(text: str, shadow: str) -> Scan:
    start = skip_blanks(shadow, 0)
    if start == len(shadow):
        return Scan(text, shadow, -1, -1, MISSING)
    try:
        tree, end = _DECODER.raw_decode(shadow, start)
    except ArithmeticError as error:
        constant, _ = next(_spans_outside_strings(_CONSTANTS, shadow))
        raise json.JSONDecodeError(str(error), shadow, constant) from None
    after = skip_blanks(shadow, end)
    if after < len(shadow):
        raise json.JSONDecodeError("Extra data", shadow, after)
    has_many = shadow.count("[") + shadow.count("{") > DEPTH  # few documents need a closer look
    if has_many and is_too_deep(tree):
        raise RecursionError
    return Scan(text, shadow, start, end, tree)


def skip_blanks(shadow: str, offset: int) -> int:
    """The next offset that is not blank."""
    return _BLANKS.match(shadow, offset).end()  # type: ignore[union-attr]  # it matches everywhere


_PLAIN = {
    "Expecting value": "a value is missing here",
    "Expecting property name enclosed in double quotes": "a name in double quotes is expected here",
    "Illegal trailing comma": "a comma is not allowed before the closing bracket",
    "Expecting ',' delimiter": "a comma or the closing bracket is missing here",
    "Expecting ':' delimiter": "a colon is missing here",
    "Extra data": "extra text after the end of the document",
    "Invalid control character at": "line break or control character inside a string",
}


def _unparsable(text: str, where: str, error: json.JSONDecodeError) -> HookctlError:
    # What was scanned is `text` with blanks for comments, and perhaps for trailing commas.
    offset, reason = error.pos, error.msg
    plain = [words for start, words in _PLAIN.items() if reason.startswith(start)]
    message = f"not valid JSON: {plain[0] if plain else reason}"
    at_end = skip_blanks(error.doc, offset) >= len(text) or reason.startswith("Unterminated string")
    if text.startswith("/*", offset):
        message = "this comment has no end, or is not allowed here"
    return unparsable(text, where, offset, message, at_end=at_end)


# A plugin of ours in a host: JSON settings inside fixed code, edited like a settings file.

# The settings stand between these two lines, in every version.
_START = "\nconst settings =\n"
_END = (
    "// From here on every file of this version is the same;"
    " hookctl does not touch one that differs.\n"
)

_HINT = (
    "If it is another program's, move it away. If its code was edited, undo that edit; or keep what"
    " is yours in it elsewhere, and remove it. Then run the command again."
)

# The SHA-256 of the code (before and after the settings) of earlier versions, which the next
# install replaces.
_EARLIER = (
    "6d9193e075b5be7e4bccc7cdcc1a23465fab4e889ca83dda43cacb7d274999e4",  # plugin 2
    "e2e3815055610cd3db59a5e6c43e4442e25510e38c9659b904bab55542d65228",  # plugin 2
)


class PluginDocument(JsonDocument):
    """An immutable plugin file; each edit gives a new one. Without settings it has no bytes.

    Its JSON text has an empty line for each line of code above, so that errors name the file's.
    """

    def __init__(self, settings: str, where: str, host: str, code: tuple[str, str]) -> None:
        self._host, self._code = host, code
        super().__init__("\n" * code[0].count("\n") + settings, where, strict=True)

    @classmethod
    def parse(  # type: ignore[override]
        cls, data: bytes, *, where: str = "", host: str = "opencode", is_ours: bool = False
    ) -> PluginDocument:
        """Parse the bytes of a host's plugin; errors name the position.

        They are not_utf8, unparsable and foreign_file. With `is_ours` the code is that of some
        version of hookctl, and stays as it is.
        """
        text = decode(data, where)
        if not text.strip():
            return cls(text, where, host, current_code(host))
        (before, settings, after), ours = _split(text), current_code(host)
        is_known = digest((before + after).encode()) in _EARLIER or (is_ours and bool(settings))
        if (before, after) != ours and not is_known:
            pairs = zip(ours[0] + settings + ours[1], text, strict=False)
            offset = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            message = "this file is not as hookctl writes it"
            raise error_at("foreign_file", text, where, offset, message, _HINT)
        return cls(settings, where, host, (before, after))

    def _reread(self, text: str, path: Path, new: New) -> PluginDocument:
        settings = text[self._code[0].count("\n") :]
        return PluginDocument(settings, self.where, self._host, self._code)

    @property
    def data(self) -> bytes:
        """The bytes of the file; none if there are no settings left."""
        before, after = self._code
        text = self._settings
        return (before + text + after if text.strip() else text).encode()

    @property
    def has_settings(self) -> bool:
        """Whether there is anything in it but empty containers."""
        return self.value is not MISSING and not _is_empty(self.value)

    def renewed(self) -> PluginDocument:
        code = current_code(self._host)
        if self._code == code:
            return self
        return PluginDocument(self._settings, self.where, self._host, code)

    @property
    def _settings(self) -> str:
        """The settings as they are in the file, without the empty lines for the code above."""
        return self._text[self._code[0].count("\n") :]


def _split(text: str) -> tuple[str, str, str]:
    """The code before the settings, the settings, and the code after them; "" for missing parts."""
    before, start, rest = text.partition(_START)
    settings, end, after = rest.rpartition(_END)
    return before + start, settings, end + after


@cache
def current_code(host: str) -> tuple[str, str]:
    """This version's code of a host's plugin, before and after the settings.

    The first line is the host's own; what all plugins have in common stands between it and the
    rest of the host's.
    """
    first, _, own = read_data("templates", host, "plugin.js").decode().partition("\n")
    common = read_data("templates", "plugin", "common.js").decode()
    before, _, after = _split(f"{first}\n{common}")
    return before, after + own


def _is_empty(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_empty, value.values()))
    return value == []
