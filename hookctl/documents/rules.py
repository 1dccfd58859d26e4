"""Blocks of rules in a text that people write for an agent, such as CLAUDE.md or AGENTS.md.

A block is the text between two marker lines, one block for each pack; all other bytes are not
ours. As a document the file is a map from each pack to the text of its block.

The first marker line says what an insertion added beside the block, so that a removal removes just
that: usually an empty line above; nothing at the top of a file; and a line break where the text
above had none at its end.
"""

from __future__ import annotations

import re
from functools import cached_property

from hookctl.documents import (
    BOM,
    BREAK,
    MISSING,
    Document,
    Missing,
    Path,
    Splice,
    spliced,
)

_TOP, _JOINED = "top", "joined"  # nothing added above; an empty line and a line break
_MARK = re.compile(
    r"(?<![^\r\n\ufeff])"  # a line of its own
    r"<!-- hookctl=(?P<pack>[a-z0-9-]+) (?P<kind>begin|end)(?: \((?P<note>top|joined)\))? -->"
    r"[ \t]*(?P<line_break>\r\n|\r|\n|\Z)"
)


class RulesDocument(Document):
    """An immutable text with blocks of rules; a block that is there twice is never edited."""

    @cached_property
    def value(self) -> dict[str, str] | Missing:
        """The text of each pack's block, or MISSING in an empty file.

        Where the markers of a pack do not make one block, its text is all that they stand around.
        """
        if not self._text.removeprefix(BOM):
            return MISSING
        return {pack: _plain(self.raw((pack,))) for pack in self._marks}

    def raw(self, path: Path) -> str:
        """The source text of a pack's block; KeyError if there is none.

        Where the marker lines do not make one block, it is all that they stand around.
        """
        marks = self._marks[str(path[0])]
        if self.is_clear(str(path[0])):
            return self._text[marks[0].end() : marks[1].start()]
        return self._text[marks[0].start() : marks[-1].end()]

    def is_clear(self, pack: str) -> bool:
        """Whether the marker lines of a pack, if it has any, make one block."""
        return [mark["kind"] for mark in self._marks.get(pack, ())] in ([], ["begin", "end"])

    def offset(self, path: Path) -> int:
        marks = self._marks.get(str(path[0]), ()) if path else ()
        return marks[0].start() if marks else 0

    def set(self, path: Path, value: str) -> RulesDocument:
        pack = str(path[0])
        line_break = self._block(pack)[0]["line_break"] if pack in self._marks else "\n"
        return self.set_raw(path, value.replace("\n", line_break) + line_break)

    def set_raw(self, path: Path, text: str) -> RulesDocument:
        pack = str(path[0])
        if pack in self._marks:
            begin, end = self._block(pack)
            text = spliced(self._text, [Splice(begin.end(), end.start(), text)])
            return RulesDocument(text, self.where)
        above = self._text.removeprefix(BOM)
        line_break = (BREAK.findall(above) or ["\n"])[-1]
        note, added = "", line_break
        if not above:
            note, added = f" ({_TOP})", ""
        elif not above.endswith(("\n", "\r")):
            note, added = f" ({_JOINED})", line_break * 2
        begin, end = f"<!-- hookctl={pack} begin{note} -->", f"<!-- hookctl={pack} end -->"
        lines = [begin, *_plain(text).split("\n"), end, ""]
        return RulesDocument(self._text + added + line_break.join(lines), self.where)

    def remove(self, path: Path) -> RulesDocument:
        """Remove a pack's block with what was added beside it; the same document if it has none."""
        pack = str(path[0])
        if pack not in self._marks:
            return self
        begin, end = self._block(pack)
        # Behind a block with \\r, a \\n is the first character of the text below.
        is_theirs = (begin["line_break"], end["line_break"]) == ("\r", "\r\n")
        start, stop = begin.start(), end.end() - is_theirs
        above = self._text[:start].removeprefix(BOM)
        breaks = BREAK.findall(above[len(above.rstrip("\r\n")) :])
        has_empty_line = len(breaks) > 1 or "".join(breaks) == above
        if begin["note"] != _TOP and has_empty_line:  # those that came with it
            is_joined = begin["note"] == _JOINED and stop == len(self._text)
            start -= len("".join(breaks[-1 - is_joined :]))
        return RulesDocument(spliced(self._text, [Splice(start, stop)]), self.where)

    @cached_property
    def _marks(self) -> dict[str, list[re.Match[str]]]:
        marks: dict[str, list[re.Match[str]]] = {}
        for match in _MARK.finditer(self._text):
            marks.setdefault(match["pack"], []).append(match)
        return marks

    def _block(self, pack: str) -> list[re.Match[str]]:
        if not self.is_clear(pack):
            message = f"the marker lines of {pack} do not make one block"
            hint = "Leave one of its blocks, with one begin line and one end line, or none."
            raise self.error_at("rules_doubled", self.offset((pack,)), message, hint)
        return self._marks[pack]


def marks_in(text: str) -> list[str]:
    """The marker lines in a text, which may be none in the text of a block."""
    return [match[0].strip() for match in _MARK.finditer(text)]


def _plain(text: str) -> str:
    """The text between marker lines with line breaks as \\n, and without empty lines around it."""
    return BREAK.sub("\n", text).strip("\n")
