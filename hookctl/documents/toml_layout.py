"""Where an edit of a TOML text goes: lines of a table, and blocks at the end.

Removing what was inserted here gives the earlier text again, to the byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hookctl.documents import BREAK, Splice, leading_blanks, line_start, line_stop
from hookctl.documents.toml_scan import Statement


class Layout:
    """The splices that insert into a text and remove from it, in its layout."""

    def __init__(
        self,
        text: str,
        statements: list[Statement],
        comments: list[tuple[int, int]],
        line_end: str,
    ) -> None:
        self._text = text
        self._statements = statements
        self._comments = comments
        self._line_end = line_end
        self._begin = int(text.startswith("\ufeff"))

    def insert_line(self, above: list[Statement], text: str) -> list[Splice]:
        """Insert a line after the first of `above`, else before the first header."""
        if above:
            stop = line_stop(self._text, above[0].end)
            return [Splice(stop, stop, self._line_end + self._indent_at(above[0].start) + text)]
        if not self._statements:
            return self.insert_block([text], ())
        return self.insert_above(self._statements[0], text)

    def insert_above(self, statement: Statement, text: str) -> list[Splice]:
        """Insert lines above a statement and the comments right above it."""
        offset = self._line_start(statement.start)
        while offset > self._begin:
            line_above = self._line_start(offset - 1)
            if not self._text[line_above:offset].lstrip(" \t").startswith("#"):
                break
            offset = line_above
        return [Splice(offset, offset, text + self._line_end * 2)]

    def insert_block(self, lines: list[str], owner: Sequence[Statement]) -> list[Splice]:
        """Insert lines at the end of the file, or of the array element that owns them.

        A blank line separates them, and they have a final line end only where the file has one.
        """
        line_end = self._line_end
        text = line_end.join(lines)
        if owner:
            stop = line_stop(self._text, owner[-1].end)
            has_blank_below = self._is_blank(self._next_line(stop))
            lead = line_end * 2 if has_blank_below else line_end
            return [Splice(stop, stop, lead + text)]
        size = len(self._text)
        if size == self._begin:
            return [Splice(size, size, text + line_end)]
        if BREAK.match(self._text, size - 1):
            return [Splice(size, size, line_end + text + line_end)]
        return [Splice(size, size, line_end * 2 + text)]

    def remove_lines(self, statements: Sequence[Statement]) -> Iterator[Splice]:
        """Remove the lines of headers and keys, and one of the blank lines around them."""
        removed = {statement.start for statement in statements}
        run: list[Statement] = []
        for statement in [*self._statements, None]:
            if statement and statement.start in removed:
                run.append(statement)
            elif run:
                yield self._remove_run(run)
                run = []

    def _remove_run(self, run: list[Statement]) -> Splice:
        """Remove consecutive statements and the comments between; a single one's comment stays."""
        stop = line_stop(self._text, run[-1].end)
        comments = self._comments_in(run[-1].end, stop)
        if len(run) == 1 and comments:
            return Splice(run[0].start, comments[0][0])
        start, after = self._with_blank_line(self._line_start(run[0].start), self._next_line(stop))
        if after == stop:  # the last line, and it has no line end
            start = self._break_before(start)
        return Splice(start, after)

    def _with_blank_line(self, start: int, after: int) -> tuple[int, int]:
        """The span of whole lines, with one of the two blank lines around it if both are there.

        An insertion makes an empty line, so an empty one is taken rather than one with blanks.
        """
        above = max(self._line_start(start - 1), self._begin)
        below = self._next_line(line_stop(self._text, after))
        is_first = start == self._begin
        if not self._is_blank(after) or not (is_first or self._is_blank(above)):
            return start, after
        is_above_empty = self._text[above:start] == self._line_end
        is_below_empty = self._text[after:below] == self._line_end
        if is_first or (is_below_empty and not is_above_empty):
            return start, below
        return above, after

    # Positions in the text

    def _line_start(self, offset: int) -> int:
        return max(line_start(self._text, offset), self._begin)

    def _next_line(self, stop: int) -> int:
        """Where the line after a line's stop begins; the stop itself at the end of the file."""
        line_break = BREAK.match(self._text, stop)
        return line_break.end() if line_break else stop

    def _break_before(self, start: int) -> int:
        """The stop of the line before the one that begins at `start`."""
        return max(len(self._text[:start].removesuffix("\n").removesuffix("\r")), self._begin)

    def _is_blank(self, start: int) -> bool:
        """Whether the line that begins at `start` has nothing on it, or there is none."""
        return not self._text[start : line_stop(self._text, start)].strip(" \t")

    def _indent_at(self, offset: int) -> str:
        """The blanks at the start of the offset's line."""
        return leading_blanks(self._text[self._line_start(offset) : offset])

    def _comments_in(self, start: int, end: int) -> list[tuple[int, int]]:
        """The comments that begin in a span."""
        return [span for span in self._comments if start <= span[0] < end]
