"""What of a settings file may be shown, whatever its format: every secret is masked, and all else stays as it is.

The text is read as words, strings, brackets and comments, which is what JSON, TOML and YAML have in common. What stands
below a key is told by brackets, by the table's header, and outside of them by how far a line is indented. A text that
is read wrongly is shown with a word too many masked, or too few below a secret key; nothing is ever written from it.
"""

from __future__ import annotations

import json
import re
import sys
from typing import NamedTuple

from hookctl.documents.text import BREAK, Splice, line_start, spliced
from hookctl.masking import MASK, flag_of, is_secret, masked_text

_DEEPEST = 3  # a comment inside a comment inside a comment
_MOST_WALKS = 16  # for names of names of names; the last one hides whatever has a name
_ANCHOR = r"&([^\s,\[\]{}]+)"
_STRING = r"\"(?:[^\"\\\r\n]|\\[^\r\n])*+\"|'[^'\r\n]*+'"
# One that is never closed is looked for to the end only once: what follows a backslash does not begin another.
_LONG_STRING = (
    r"'''(?:[^']++|'(?!''))*+'''"
    r"|(?<!\\)\"\"\"(?:[^\"\\]++|\\(?s:.)|\"(?!\"\"))*+\"\"\""
)
_COMMENT = r"#[^\r\n]*|//[^\r\n]*|/\*(?s:.*?)(?:\*/|\Z)"
# In brackets a word ends where the next thing begins; outside it goes on to the end of its line.
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
_PRIVATE_KEY = r"-----BEGIN [A-Z0-9 ]{0,60}+-----[A-Za-z0-9+/=\s#*]{0,8192}+(?:-----END [A-Z0-9 ]{0,60}+-----)?"
_ESCAPE = r"\\(?:[xuU](?P<number>(?<=x)[\da-fA-F]{2}|(?<=u)[\da-fA-F]{4}|(?<=U)[\da-fA-F]{8})|(?P<letter>.))"
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
    """An open bracket, or the text outside of all: what the next value in it stands under."""

    def __init__(self, is_hidden: bool) -> None:
        self.is_hidden = is_hidden  # by a key above
        self.is_secret = False  # the key of the value that comes or has just come
        self.flag = ""  # of a command, whose value may be the next element
        self.ended = -1  # where the last value ended
        self.is_over = False  # there is a comma behind it

    @property
    def hides(self) -> bool:
        return self.is_hidden or self.is_secret

    def end_value(self, at: int, flag: str = "") -> None:
        self.ended, self.flag = at, flag

    def begin_value(self) -> None:
        """An element behind a comma or a dash: the flag before it is its key."""
        if self.is_over:
            self.is_secret = bool(self.flag) and is_secret(self.flag)
            self.flag, self.is_over = "", False


class _Entry(NamedTuple):
    """A key or a dash outside of brackets; what is indented further belongs to it."""

    column: int
    is_item: bool
    is_secret: bool
    key: int = -1  # where an explicit key of YAML begins


def redacted(text: str) -> str:
    """The text with every secret masked, by its name or its look; it has as many lines as before."""
    return _redacted(re.sub(_PRIVATE_KEY, _without_key, text), _DEEPEST)


def _without_key(match: re.Match[str]) -> str:
    """A private key over several lines; one within a line is a string's or a command's own matter."""
    return (
        line_by_line(match[0]) if "KEY" in match[0] and BREAK.search(match[0].strip()) else match[0]
    )


def _redacted(text: str, depth: int) -> str:
    shared: set[str] = set()
    for walks_left in reversed(range(_MOST_WALKS)):
        walk = _Walk(text, frozenset(shared), depth)
        walk.run()
        if walk.aliases <= shared:
            break
        shared |= walk.aliases  # what stands under a secret key elsewhere
        if walks_left == 1:
            shared |= set(re.findall(_ANCHOR, text))
    return spliced(text, walk.splices)


def line_by_line(hidden: str) -> str:
    """As many lines as before, so that a diff keeps its numbers, with the marks of comments."""
    lines = re.split(f"({BREAK.pattern})", hidden)
    return "".join(re.sub(_LINE_OF_COMMENT, rf"\1{MASK}\2", line) for line in lines)


class _Walk:
    """One walk through a text, which notes the places where a mask goes."""

    def __init__(self, text: str, shared: frozenset[str], depth: int) -> None:
        self.text = text
        self.splices: list[Splice] = []
        self.aliases: set[str] = set()
        self._shared = shared
        self._depth = depth
        self._levels = [_Level(False)]
        self._entries: list[_Entry] = []
        self._is_open = False  # the last key has no value on its own line
        self._is_toml = False  # by the last key
        self._text_column: int | None = (
            None  # the column above a shown text, whose brackets end with it
        )
        self._text_end = 0  # where that text ends
        self._block: int | None = None  # the column above a hidden text of several lines
        self._line = self._content = 0  # where the line begins, and what it says
        self._comments: list[tuple[int, int]] = []  # that follow each other
        self._names: dict[str, bool] = {}
        self._inside, self._outside = re.compile(_IN_BRACKETS), re.compile(_OUTSIDE)
        self._says = re.compile(_SAYS)

    def run(self) -> None:
        at = int(self.text.startswith("\ufeff"))
        self._start_line(at)
        starts_line = True
        while at < len(self.text):
            if starts_line and self._leaves_text():
                del self._levels[1:]
            if starts_line and len(self._levels) == 1:
                at = self._begin_line(at)
            match = (self._inside if len(self._levels) > 1 else self._outside).match(
                self.text, at, self._stop(at)
            )
            if match is None:
                break
            starts_line = match.lastgroup == "space" and bool(BREAK.search(match[0]))
            if starts_line:  # the blanks of the new line are its own
                at = self._follow_breaks(match)
                continue
            self._take(match)
            self._follow_breaks(match)
            at = match.end()
        self._end_comments()

    def _follow_breaks(self, match: re.Match[str]) -> int:
        """Start the last line that a token begins; where the line begins."""
        breaks = list(BREAK.finditer(match[0]))
        if breaks:
            self._start_line(match.start() + breaks[-1].end())
        return self._line

    def _stop(self, at: int) -> int:
        """Where a token ends at the latest: none goes on behind the text that it is in."""
        return self._text_end if at < self._text_end else len(self.text)

    def _leaves_text(self) -> bool:
        """Whether a line is the first behind a text of several lines."""
        if self._text_column is None or self.text[self._content : self._content + 1] in (
            "",
            "\r",
            "\n",
        ):
            return False
        if self._content - self._line > self._text_column:
            return False
        self._text_column = None
        return True

    def _start_line(self, at: int) -> None:
        blanks = re.compile(r"[ \t]*").match(self.text, at)
        assert blanks  # it matches everywhere
        self._line, self._content = at, blanks.end()

    def _take(self, match: re.Match[str]) -> None:
        kind, level = match.lastgroup, self._levels[-1]
        if kind not in ("space", "comment"):
            self._end_comments()
        if kind == "comment":
            self._comment(*match.span())
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
            self._scalar(
                match.start(), match.start() + len(match[0].rstrip()), is_string=kind == "string"
            )

    # Lines outside of brackets

    def _begin_line(self, at: int) -> int:
        """Read a header, or dashes and a key; where their value begins."""
        if self._is_in_block(at) and not self._is_comment(self._content):
            return self._hide_line()
        header = re.compile(_HEADER).match(self.text, at)
        if header and not (self._is_open and self._entries[-1].column < self._content - at):
            self._end_comments()
            self._entries = [_Entry(-1, False, self._is_secret(header["keys"]))]
            self._begin_value(self._entries[0].is_secret)
            self._show(*header.span("keys"))
            self._is_open = False
            return header.end()
        lead = re.compile(_LEAD).match(self.text, at)
        assert lead  # it matches everywhere
        end = lead.end()
        if (
            self.text[end : end + 1] in ("", "\r", "\n") and not lead[0].strip()
        ) or self._is_comment(end):
            return end
        self._end_comments()
        for indicator in re.finditer("[-?:]", lead[0]):
            self._indicate(indicator[0], at, indicator.start())
        return self._begin_entry(at, end, is_item=bool(lead[0].strip()))

    def _is_in_block(self, at: int) -> bool:
        """Whether a line goes on with a hidden text, of which nothing is a key."""
        if self._block is None or self.text[self._content : self._content + 1] in ("", "\r", "\n"):
            return False
        if self._content - at <= self._block:
            self._block = None
        return self._block is not None

    def _hide_line(self) -> int:
        self._end_comments()
        line = re.compile(r"[^\r\n]*").match(self.text, self._content)
        assert line  # it matches everywhere
        self.splices.append(
            Splice(self._content, self._content + len(line[0].rstrip()), f'"{MASK}"')
        )
        return line.end()

    def _indicate(self, indicator: str, line: int, column: int) -> None:
        """Begin an item of a list, or an explicit key or its value."""
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

    def _begin_entry(self, line: int, at: int, *, is_item: bool) -> int:
        key = re.compile(_KEY).match(self.text, at)
        if key is None and self._depth == _DEEPEST:  # in a comment, several words are prose
            key = re.compile(_PHRASE_KEY).match(self.text, at)
        column = at - line
        if key:
            self._leave(column, is_item=False)
            secret = self._is_secret(key["keys"])
            self._is_toml = key[0].rstrip().endswith("=")
            self._show(*key.span("keys"))
            self._levels[0].flag, self._levels[0].is_over = "", False
            at = key.end()
        else:
            if not self._is_open and not is_item:
                self._leave(column, is_item=False)
            self._levels[0].begin_value()
            secret = self._levels[0].is_secret
        properties = re.compile(_PROPERTIES).match(self.text, at)
        assert properties  # it matches everywhere
        secret = secret or any(name[1:] in self._shared for name in properties[0].split())
        if key:
            self._entries.append(_Entry(column, False, secret))
        elif is_item and secret:
            self._entries[-1] = self._entries[-1]._replace(is_secret=True)
        self._begin_value(secret or any(entry.is_secret for entry in self._entries))
        value = re.compile(_VALUE).match(self.text, properties.end()) if key or is_item else None
        self._is_open = bool(key) and self.text[properties.end() : properties.end() + 1] in (
            "",
            "\r",
            "\n",
        )
        if value is None:
            return properties.end()
        if self._entries and value[0].startswith(("|", ">")) and self._text_column is None:
            self._text_column = self._entries[-1].column
            lines = rf"[^\r\n]*+(?:{BREAK.pattern}(?:[ \t]*+(?=[\r\n]|\Z)| {{{self._text_column + 1},}}[^\r\n]*+))*+"
            text = re.compile(lines).match(self.text, value.end())
            self._text_end = text.end() if text else 0
        self._take(value)
        return value.end()

    def _begin_value(self, is_hidden: bool) -> None:
        level = self._levels[0]
        level.is_hidden, level.is_secret, level.ended = is_hidden, False, -1

    def _leave(self, column: int, *, is_item: bool) -> None:
        """Forget keys and dashes to which a line that begins in this column does not belong."""
        while self._entries and not self._belongs(self._entries[-1], column, is_item):
            self._entries.pop()

    def _belongs(self, entry: _Entry, column: int, is_item: bool) -> bool:
        return entry.column < column or (entry.column == column and is_item and not entry.is_item)

    def _is_comment(self, at: int) -> bool:
        return self.text.startswith(("#", "//", "/*"), at)

    # Keys and values

    def _scalar(self, start: int, end: int, *, is_string: bool) -> None:
        level, source = self._levels[-1], self.text[start:end]
        if (is_string or len(self._levels) > 1) and self._says.match(self.text, end):
            level.is_secret, level.is_over, level.ended, level.flag = (
                self._is_secret(source),
                False,
                -1,
                "",
            )
            if len(self._levels) == 1:
                level.is_hidden = any(entry.is_secret for entry in self._entries[:-1])
            self._show(start, end)
            return
        level.begin_value()
        if (
            level.hides
            and not is_string
            and len(self._levels) == 1
            and self._entries
            and not self._is_toml
        ):
            self._block = self._entries[-1].column  # it may go on in lines that are further right
        if level.hides and not is_string and source.startswith("*"):
            self.aliases.add(source[1:])
        elif level.hides and not (not is_string and re.fullmatch(_INDICATOR, source)):
            self.splices.append(Splice(start, end, f'"{MASK}"' + _breaks(source)))
        else:
            self._show(start, end)
        level.end_value(end, flag_of(_plain(source)))

    def _show(self, start: int, end: int) -> None:
        """Mask what looks like a secret in a text; a string is changed as what it says."""
        source = self.text[start:end]
        plain = _plain(source)
        shown = masked_text(plain)
        if shown != plain:
            text = shown if plain == source else json.dumps(shown, ensure_ascii=False)
            self.splices.append(Splice(start, end, text + _breaks(source)))

    def _is_secret(self, source: str) -> bool:
        if source not in self._names:
            strings = re.findall(_STRING, source)
            last_words = source.split()[-1:] if source[:1] not in ("'", '"') else []
            self._names[source] = any(
                map(is_secret, [source.strip("\"'"), *last_words, *map(_plain, strings)])
            )
        return self._names[source]

    # Comments

    def _comment(self, start: int, end: int) -> None:
        if self._hides_comment(start, end):
            self._end_comments()
            self.splices.append(Splice(start, end, line_by_line(self.text[start:end])))
        else:
            self._comments.append((start, end))

    def _hides_comment(self, start: int, end: int) -> bool:
        """Whether a comment is below a secret key, or behind its value on the same line."""
        level = self._levels[-1]
        if len(self._levels) == 1 and start <= self._content:
            return self._hides_line(start - self._line, end)
        is_over = 0 <= level.ended < self._line
        return level.is_hidden or (level.is_secret and not is_over)

    def _hides_line(self, column: int, end: int) -> bool:
        """The same for a comment that has its line for itself, which may stand further left than what follows."""
        secret = [entry for entry in self._entries if entry.is_secret]
        if not secret:
            return False
        columns = [(column, False)]
        following = re.compile(_FOLLOWING, re.MULTILINE).match(self.text, end)
        if following and not self.text.startswith("[", following.end(1)):
            columns.append((len(following[1]), bool(following[2])))
        return any(self._belongs(entry, at, is_item) for entry in secret for at, is_item in columns)

    def _end_comments(self) -> None:
        """Read comments that follow each other as the text that they would be without their marks."""
        if not self._comments:
            return
        start, end = self._comments[0][0], self._comments[-1][1]
        self._comments = []
        source = self.text[start:end]
        # Only what goes on in further lines needs its column.
        column = start - line_start(self.text, start) if BREAK.search(source) else 0
        shown = (
            _unmarked(" " * column + source, self._depth)[column:]
            if self._depth
            else line_by_line(source)
        )
        if shown != source:
            self.splices.append(Splice(start, end, shown))


def _unmarked(source: str, depth: int) -> str:
    marks, bare = [], []
    for part in re.split(f"({BREAK.pattern})", source):
        mark = re.match(_MARK, part)
        lead = mark.end() if mark else 0
        tail = re.search(r"[ \t]*\*/[ \t]*$", part[lead:])
        stop = lead + tail.start() if tail else len(part)
        marks.append((part[:lead], part[stop:]))
        bare.append(" " * lead + part[lead:stop])
    shown = re.split(f"({BREAK.pattern})", _redacted("".join(bare), depth - 1))
    return "".join(
        lead + part[len(lead) :] + tail for (lead, tail), part in zip(marks, shown, strict=True)
    )


def _plain(source: str) -> str:
    """What a string says; any other text as it stands."""
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
    """The character of an escape in TOML or YAML; a number of no character stays as it is."""
    if not escape["number"]:
        return _ESCAPED.get(escape["letter"], escape["letter"])
    number = int(escape["number"], 16)
    return chr(number) if number <= sys.maxunicode else escape[0]


def _breaks(source: str) -> str:
    """The line breaks of a text, so that a diff keeps its numbers."""
    return "".join(BREAK.findall(source))
