"""Masks every secret in the text of a settings file of any format, and leaves everything else.

The text is read as words, strings, brackets and comments, which JSON, TOML and YAML have in common.
Brackets, table headers, and otherwise the indentation tell which values belong to a key. A text
that is misread is shown with a word too many or too few masked; nothing is ever written from it.
"""

from __future__ import annotations

import json
import re
import sys
from typing import NamedTuple

from hookctl.documents.text import BREAK, Splice, line_start, spliced
from hookctl.masking import MASK, flag_of, is_secret, masked_text

_DEEPEST = 3  # a comment inside a comment inside a comment
_MOST_WALKS = 16  # for anchors within anchors; the last one hides every value with an anchor
_ANCHOR = r"&([^\s,\[\]{}]+)"
_STRING = r"\"(?:[^\"\\\r\n]|\\[^\r\n])*+\"|'[^'\r\n]*+'"
# No """ after a backslash begins a string, so an unclosed one is searched to the end only once.
_LONG_STRING = (
    r"'''(?:[^']++|'(?!''))*+'''"
    r"|(?<!\\)\"\"\"(?:[^\"\\]++|\\(?s:.)|\"(?!\"\"))*+\"\"\""
)
_COMMENT = r"#[^\r\n]*|//[^\r\n]*|/\*(?s:.*?)(?:\*/|\Z)"
# In brackets a word ends where the next token begins; outside it goes on to the end of its line.
_UNIT = r"[^\s\[\]{},=#:/\"]|:(?=[^\s,\[\]{}])|(?<=\S)/|/(?![/*])|(?<=\S)#"
_WORD = rf"(?!['\"])(?:{_UNIT})(?:{_UNIT}|[ \t]++(?={_UNIT}))*+"
_REST = r"(?:[^\r\n#]|(?<=\S)#)++"
_TOKEN = (
    rf"(?P<space>\s+)|(?P<comment>{_COMMENT})|(?P<string>{_LONG_STRING}|{_STRING})"
    r"|(?P<open>[\[{])|(?P<close>[\]}])|(?P<comma>,)|(?P<says>[:=])"
)
_IN_BRACKETS = rf"{_TOKEN}|(?P<property>[&!][^\s,\[\]{{}}]*)|(?P<word>{_WORD}|{_REST})|(?P<odd>.)"
_OUTSIDE = rf"{_TOKEN}|(?P<word>{_REST})|(?P<odd>.)"
_VALUE = rf"(?P<word>(?![\"'\[{{])(?!{_LONG_STRING}){_REST})"
_SAYS = r"(?:\s|/\*(?s:.*?)\*/|//[^\r\n]*)*+[:=]"

_PART = rf"(?:{_STRING}|[^\s\[\]{{}},#\"':=.]++)"
_KEYS = rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART})*+"
_HEADER = rf"[ \t]*\[\[?[ \t]*(?P<keys>{_KEYS})[ \t]*\]\]?(?=[ \t]*(?:#|[\r\n]|\Z))"
_PHRASE = (
    r"[^\s\[\]{},#\"':=.&*!|>%@`-][^\r\n#\"':=]*+"  # a key of several words, which only YAML has
)
_TOML_VALUE = r"[ \t]*(?:[\"'\[{+\-\d]|true|false|nan|inf)"
_KEY = rf"(?P<keys>{_KEYS})[ \t]*(?:(?<=[\"'])[ \t]*:|:(?=\s|\Z)|=(?={_TOML_VALUE}))[ \t]*"
_PHRASE_KEY = rf"(?P<keys>{_PHRASE}):(?=\s|\Z)[ \t]*"
_LEAD = r"[ \t]*(?:[-?:](?:[ \t]+|(?=[\r\n]|\Z)))*"
_PROPERTIES = r"(?:[&!][^\s,\[\]{}]*[ \t]*)*"  # YAML's anchors and tags
_INDICATOR = r"[|>][-+0-9]*|---|\.\.\."
_BEHIND = r"(?<!\S)#[^\r\n]*"  # a comment behind a plain word
_FOLLOWING = (
    r"(?:\s*#[^\r\n]*){0,50}+\s*?^([ \t]*)(-?)(?=\S)"  # the next line, behind its own comments
)
_MARK = r"([ \t]*)(//+|#+|/\*+|\*(?!/))"
_PRIVATE_KEY = (
    r"-----BEGIN [A-Z0-9 ]{0,60}+-----[A-Za-z0-9+/=\s#*]{0,8192}+"
    r"(?:-----END [A-Z0-9 ]{0,60}+-----)?"
)
_ESCAPE = (
    r"\\(?:[xuU](?P<number>(?<=x)[\da-fA-F]{2}|(?<=u)[\da-fA-F]{4}|(?<=U)[\da-fA-F]{8})"
    r"|(?P<letter>.))"
)
_LINE_ENDS = ("", "\r", "\n")  # the next character where a line, or the text, has no more
_ESCAPED = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "a": "\a",
    "v": "\v",
    "e": "\x1b",
    "0": "\0",
}
_LINE_OF_COMMENT = r"^(\s*(?://|#|/\*|\*(?![*/]))?\s*)[^\s].*?(\s*\*/)?$"


class _Level:
    """An open bracket, or the text outside all brackets: whether its next value is secret."""

    def __init__(self, is_hidden: bool) -> None:
        self.is_hidden = is_hidden  # by a key above
        self.is_secret = False  # the key of the current value is
        self.flag = ""  # of a command, whose value may be the next element
        self.ended = -1  # where the last value ended
        self.is_over = False  # the current value, by a comma

    @property
    def hides(self) -> bool:
        return self.is_hidden or self.is_secret

    def end_value(self, offset: int, flag: str = "") -> None:
        self.ended, self.flag = offset, flag

    def begin_value(self) -> None:
        """Begin an element after a comma or a dash; the flag before it is its key."""
        if self.is_over:
            self.is_secret = bool(self.flag) and is_secret(self.flag)
            self.flag, self.is_over = "", False


class _Entry(NamedTuple):
    """A key or a dash outside brackets; lines with more indentation belong to it."""

    column: int
    is_item: bool
    is_secret: bool
    key: int = -1  # where an explicit key of YAML (`? key`) begins


def redacted(text: str, shown: frozenset[str] = frozenset()) -> str:
    """The text with every secret masked, by its name or its look; the number of lines stays.

    The values in `shown`, hookctl's own commands, stay as they are wherever they stand.
    """
    return _mask(re.sub(_PRIVATE_KEY, _mask_private_key, text), _DEEPEST, shown)


def _mask_private_key(match: re.Match[str]) -> str:
    """Mask a private key of several lines; one within a line is masked with its string."""
    if "KEY" in match[0] and BREAK.search(match[0].strip()):
        return mask_lines(match[0])
    return match[0]


def _mask(text: str, depth: int, shown: frozenset[str] = frozenset()) -> str:
    """Walk through the text until no more anchors turn out to be secret, then mask."""
    shared: set[str] = set()
    for walks_left in reversed(range(_MOST_WALKS)):
        walk = _Walk(text, frozenset(shared), depth, shown)
        walk.run()
        if walk.aliases <= shared:
            break
        shared |= walk.aliases  # used under a secret key, so the anchor's value is secret
        if walks_left == 1:
            shared |= set(re.findall(_ANCHOR, text))
    return spliced(text, walk.splices)


def mask_lines(secret: str) -> str:
    """Mask each line, but keep line breaks, for a diff's line numbers, and comment marks."""
    lines = re.split(f"({BREAK.pattern})", secret)
    return "".join(re.sub(_LINE_OF_COMMENT, rf"\1{MASK}\2", line) for line in lines)


class _Walk:
    """One walk through a text, which collects the splices that mask it."""

    def __init__(
        self, text: str, shared: frozenset[str], depth: int, shown: frozenset[str]
    ) -> None:
        self.text = text
        self._shown = shown
        self.splices: list[Splice] = []
        self.aliases: set[str] = set()
        self._shared = shared
        self._depth = depth
        self._levels = [_Level(False)]
        self._entries: list[_Entry] = []
        self._is_open = False  # the last key has no value on its own line
        self._is_toml = False  # by the last key
        # The column of the key of a shown text of several lines; brackets in it end with it.
        self._text_column: int | None = None
        self._text_end = 0  # where that text ends
        self._block: int | None = None  # the column of the key of a hidden text of several lines
        self._line = self._content = 0  # where the line and its first word begin
        self._comments: list[tuple[int, int]] = []  # consecutive ones
        self._names: dict[str, bool] = {}
        self._inside, self._outside = re.compile(_IN_BRACKETS), re.compile(_OUTSIDE)
        self._says = re.compile(_SAYS)

    def run(self) -> None:
        offset = int(self.text.startswith("\ufeff"))
        self._start_line(offset)
        starts_line = True
        while offset < len(self.text):
            if starts_line and self._leaves_text():
                del self._levels[1:]
            if starts_line and len(self._levels) == 1:
                offset = self._begin_line(offset)
            pattern = self._inside if len(self._levels) > 1 else self._outside
            match = pattern.match(self.text, offset, self._stop(offset))
            if match is None:
                break
            starts_line = match.lastgroup == "space" and bool(BREAK.search(match[0]))
            if starts_line:  # the blanks after the break belong to the new line
                offset = self._follow_breaks(match)
                continue
            self._take(match)
            self._follow_breaks(match)
            offset = match.end()
        self._end_comments()

    def _follow_breaks(self, match: re.Match[str]) -> int:
        """Start a line at the last break in a token; returns where the current line begins."""
        breaks = list(BREAK.finditer(match[0]))
        if breaks:
            self._start_line(match.start() + breaks[-1].end())
        return self._line

    def _stop(self, offset: int) -> int:
        """The last possible end of a token: no token leaves the text that it is in."""
        return self._text_end if offset < self._text_end else len(self.text)

    def _ends_line(self, offset: int) -> bool:
        """Whether nothing follows on the line."""
        return self.text[offset : offset + 1] in _LINE_ENDS

    def _leaves_text(self) -> bool:
        """Whether the line is the first after a text of several lines."""
        if self._text_column is None or self._ends_line(self._content):
            return False
        if self._content - self._line > self._text_column:
            return False
        self._text_column = None
        return True

    def _start_line(self, offset: int) -> None:
        blanks = re.compile(r"[ \t]*").match(self.text, offset)
        assert blanks  # it matches everywhere
        self._line, self._content = offset, blanks.end()

    def _take(self, match: re.Match[str]) -> None:
        kind, level = match.lastgroup, self._levels[-1]
        if kind not in ("space", "comment"):
            self._end_comments()
        if kind == "comment":
            self._take_comment(*match.span())
        elif kind == "open":
            level.begin_value()
            self._levels.append(_Level(level.hides))
        elif kind == "close" and len(self._levels) > 1:
            self._levels.pop()
            self._levels[-1].end_value(match.end())
        elif kind == "comma":
            level.is_over = True
        elif kind == "property":
            level.begin_value()
            level.is_secret = level.is_secret or match[0][1:] in self._shared
        elif kind in ("string", "word"):
            end = match.start() + len(match[0].rstrip())
            self._take_scalar(match.start(), end, is_string=kind == "string")

    # Lines outside brackets

    def _begin_line(self, line: int) -> int:
        """Read a header, or dashes and a key; returns where their value begins."""
        if self._is_in_block(line) and not self._is_comment(self._content):
            return self._hide_line()
        header = re.compile(_HEADER).match(self.text, line)
        if header:
            is_value = self._is_open and self._entries[-1].column < self._content - line
            if not is_value:
                return self._begin_table(header)
        lead = re.compile(_LEAD).match(self.text, line)
        assert lead  # it matches everywhere
        end = lead.end()
        is_item = bool(lead[0].strip())
        is_blank = self._ends_line(end) and not is_item
        if is_blank or self._is_comment(end):
            return end
        self._end_comments()
        for indicator in re.finditer("[-?:]", lead[0]):
            self._take_indicator(indicator[0], line, indicator.start())
        return self._begin_entry(line, end, is_item=is_item)

    def _begin_table(self, header: re.Match[str]) -> int:
        self._end_comments()
        is_secret_table = self._is_secret(header["keys"])
        self._entries = [_Entry(-1, False, is_secret_table)]
        self._begin_value(is_secret_table)
        self._show(*header.span("keys"))
        self._is_open = False
        return header.end()

    def _is_in_block(self, line: int) -> bool:
        """Whether a line continues a hidden text, in which nothing is a key."""
        if self._block is None or self._ends_line(self._content):
            return False
        if self._content - line <= self._block:
            self._block = None
        return self._block is not None

    def _hide_line(self) -> int:
        self._end_comments()
        line = re.compile(r"[^\r\n]*").match(self.text, self._content)
        assert line  # it matches everywhere
        end = self._content + len(line[0].rstrip())
        self.splices.append(Splice(self._content, end, f'"{MASK}"'))
        return line.end()

    def _take_indicator(self, indicator: str, line: int, column: int) -> None:
        """Begin an item of a list (-), an explicit key (?) or its value (:)."""
        if indicator == "-":
            self._leave(column, is_item=True)
            self._entries.append(_Entry(column, True, False))
            self._levels[0].is_over = True
            return
        while self._entries and self._entries[-1].column > column:
            self._entries.pop()
        above = self._entries[-1] if self._entries else None
        self._leave(column, is_item=False)
        self._levels[0].flag, self._levels[0].is_over = "", False
        if indicator == "?":
            self._entries.append(_Entry(column, False, False, key=line + column + 1))
            return
        key = ""
        if above and above.column == column and above.key >= 0:
            key = re.sub(_BEHIND, "", self.text[above.key : line + column]).strip()
        self._entries.append(_Entry(column, False, self._is_secret(key)))

    def _begin_entry(self, line: int, offset: int, *, is_item: bool) -> int:
        """Read a key, if there is one, and the value's first word; returns where to go on."""
        column = offset - line
        key = self._match_key(offset)
        if key:
            is_secret_entry = self._begin_key(key, column)
            offset = key.end()
        else:
            if not self._is_open and not is_item:
                self._leave(column, is_item=False)
            self._levels[0].begin_value()
            is_secret_entry = self._levels[0].is_secret
        properties = re.compile(_PROPERTIES).match(self.text, offset)
        assert properties  # it matches everywhere
        for name in properties[0].split():
            is_secret_entry = is_secret_entry or name[1:] in self._shared
        if key:
            self._entries.append(_Entry(column, False, is_secret_entry))
        elif is_item and is_secret_entry:
            self._entries[-1] = self._entries[-1]._replace(is_secret=True)
        self._begin_value(is_secret_entry or any(entry.is_secret for entry in self._entries))
        self._is_open = bool(key) and self._ends_line(properties.end())
        if key or is_item:
            return self._take_first_word(properties.end())
        return properties.end()

    def _match_key(self, offset: int) -> re.Match[str] | None:
        key = re.compile(_KEY).match(self.text, offset)
        if key is None and self._depth == _DEEPEST:  # in a comment, several words are prose
            key = re.compile(_PHRASE_KEY).match(self.text, offset)
        return key

    def _begin_key(self, key: re.Match[str], column: int) -> bool:
        """Take a key in; whether it is secret."""
        self._leave(column, is_item=False)
        self._is_toml = key[0].rstrip().endswith("=")
        self._show(*key.span("keys"))
        self._levels[0].flag, self._levels[0].is_over = "", False
        return self._is_secret(key["keys"])

    def _take_first_word(self, offset: int) -> int:
        """Take the word that a value outside brackets begins with; returns where it ends."""
        value = re.compile(_VALUE).match(self.text, offset)
        if value is None:
            return offset
        if self._entries and value[0].startswith(("|", ">")) and self._text_column is None:
            self._begin_text(value.end())
        self._take(value)
        return value.end()

    def _begin_text(self, offset: int) -> None:
        """Find the end of a YAML text of several lines (| or >)."""
        self._text_column = self._entries[-1].column
        blank_line = r"[ \t]*+(?=[\r\n]|\Z)"
        indented_line = rf" {{{self._text_column + 1},}}[^\r\n]*+"
        lines = rf"[^\r\n]*+(?:{BREAK.pattern}(?:{blank_line}|{indented_line}))*+"
        text = re.compile(lines).match(self.text, offset)
        self._text_end = text.end() if text else 0

    def _begin_value(self, is_hidden: bool) -> None:
        level = self._levels[0]
        level.is_hidden, level.is_secret, level.ended = is_hidden, False, -1

    def _leave(self, column: int, *, is_item: bool) -> None:
        """Forget keys and dashes to which a line that begins in this column does not belong."""
        while self._entries and not self._belongs(self._entries[-1], column, is_item):
            self._entries.pop()

    def _belongs(self, entry: _Entry, column: int, is_item: bool) -> bool:
        return entry.column < column or (entry.column == column and is_item and not entry.is_item)

    def _is_comment(self, offset: int) -> bool:
        return self.text.startswith(("#", "//", "/*"), offset)

    # Keys and values

    def _take_scalar(self, start: int, end: int, *, is_string: bool) -> None:
        level, source = self._levels[-1], self.text[start:end]
        is_outside = len(self._levels) == 1
        if (is_string or not is_outside) and self._says.match(self.text, end):
            level.is_secret, level.is_over = self._is_secret(source), False
            level.end_value(-1)
            if is_outside:
                level.is_hidden = any(entry.is_secret for entry in self._entries[:-1])
            self._show(start, end)
            return
        level.begin_value()
        if self._shown and _plain(source) in self._shown:
            pass
        elif not level.hides:
            self._show(start, end)
        elif is_string:
            self._hide(start, end)
        else:
            if is_outside and self._entries and not self._is_toml:
                self._block = self._entries[-1].column  # it may go on in lines further right
            self._hide_word(start, end)
        level.end_value(end, flag_of(_plain(source)))

    def _hide_word(self, start: int, end: int) -> None:
        """Mask a word; an alias and an indicator stay, since only what they stand for is secret."""
        source = self.text[start:end]
        if source.startswith("*"):
            self.aliases.add(source[1:])
        elif re.fullmatch(_INDICATOR, source):
            self._show(start, end)
        else:
            self._hide(start, end)

    def _hide(self, start: int, end: int) -> None:
        self.splices.append(Splice(start, end, f'"{MASK}"' + _breaks(self.text[start:end])))

    def _show(self, start: int, end: int) -> None:
        """Mask the parts of a text that look like a secret; of a string, in its value."""
        source = self.text[start:end]
        plain = _plain(source)
        shown = masked_text(plain)
        if shown != plain:
            text = shown if plain == source else json.dumps(shown, ensure_ascii=False)
            self.splices.append(Splice(start, end, text + _breaks(source)))

    def _is_secret(self, source: str) -> bool:
        """Whether a key is secret: all of it, its last word, or a string in it."""
        if source not in self._names:
            names = [source.strip("\"'"), *map(_plain, re.findall(_STRING, source))]
            if source[:1] not in ("'", '"'):
                names += source.split()[-1:]
            self._names[source] = any(map(is_secret, names))
        return self._names[source]

    # Comments

    def _take_comment(self, start: int, end: int) -> None:
        if self._hides_comment(start, end):
            self._end_comments()
            self.splices.append(Splice(start, end, mask_lines(self.text[start:end])))
        else:
            self._comments.append((start, end))

    def _hides_comment(self, start: int, end: int) -> bool:
        """Whether a comment is below a secret key, or after its value on the same line."""
        level = self._levels[-1]
        if len(self._levels) == 1 and start <= self._content:
            return self._hides_line(start - self._line, end)
        is_over = 0 <= level.ended < self._line
        return level.is_hidden or (level.is_secret and not is_over)

    def _hides_line(self, column: int, end: int) -> bool:
        """The same for a comment on its own line, which may stand left of the line below."""
        secret_entries = [entry for entry in self._entries if entry.is_secret]
        if not secret_entries:
            return False
        if any(self._belongs(entry, column, False) for entry in secret_entries):
            return True
        following = re.compile(_FOLLOWING, re.MULTILINE).match(self.text, end)
        if following is None or self.text.startswith("[", following.end(1)):
            return False
        column, is_item = len(following[1]), bool(following[2])
        return any(self._belongs(entry, column, is_item) for entry in secret_entries)

    def _end_comments(self) -> None:
        """Mask consecutive comments as if their text stood there without the marks."""
        if not self._comments:
            return
        start, end = self._comments[0][0], self._comments[-1][1]
        self._comments = []
        source = self.text[start:end]
        if not self._depth:
            shown = mask_lines(source)
        else:
            # The column matters only for comments of several lines.
            column = start - line_start(self.text, start) if BREAK.search(source) else 0
            shown = _mask_comments(" " * column + source, self._depth)[column:]
        if shown != source:
            self.splices.append(Splice(start, end, shown))


def _mask_comments(source: str, depth: int) -> str:
    """Mask the text in comments; blanks stand for the marks meanwhile."""
    marks, unmarked = [], []
    for part in re.split(f"({BREAK.pattern})", source):
        mark = re.match(_MARK, part)
        start = mark.end() if mark else 0
        end_mark = re.search(r"[ \t]*\*/[ \t]*$", part[start:])
        stop = start + end_mark.start() if end_mark else len(part)
        marks.append((part[:start], part[stop:]))
        unmarked.append(" " * start + part[start:stop])
    masked_parts = re.split(f"({BREAK.pattern})", _mask("".join(unmarked), depth - 1))
    shown = []
    for (mark_before, mark_after), part in zip(marks, masked_parts, strict=True):
        shown.append(mark_before + part[len(mark_before) :] + mark_after)
    return "".join(shown)


def _plain(source: str) -> str:
    """The value of a string; any other text unchanged."""
    for quotes in ('"""', "'''"):
        if source.startswith(quotes) and source.endswith(quotes) and len(source) >= 6:
            return source[3:-3]
    if source[:1] not in ("'", '"') or re.fullmatch(_STRING, source) is None:
        return source
    if source[0] == '"' and "\\" in source:
        try:
            return str(json.loads(source))
        except ValueError:  # an escape that only TOML or YAML has
            return re.sub(_ESCAPE, _unescaped, source[1:-1])
    return source[1:-1]


def _unescaped(escape: re.Match[str]) -> str:
    """The character of an escape in TOML or YAML; an impossible number stays as it is."""
    if not escape["number"]:
        return _ESCAPED.get(escape["letter"], escape["letter"])
    number = int(escape["number"], 16)
    return chr(number) if number <= sys.maxunicode else escape[0]


def _breaks(source: str) -> str:
    """The line breaks of a text, so that a diff keeps its numbers."""
    return "".join(BREAK.findall(source))
