"""Where an edit of a TOML text goes: lines of a table, blocks at the end, items in brackets.

Removing what was inserted here gives the earlier text again, to the byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from hookctl.documents import BREAK, Splice, leading_blanks, line_start, line_stop
from hookctl.documents.toml_scan import Node, Piece, Scan


class Layout:
    """The splices that insert into a text and remove from it, in its layout."""

    def __init__(self, text: str, scan: Scan, line_end: str) -> None:
        self._text = text
        self._scan = scan
        self._line_end = line_end
        self._begin = int(text.startswith("\ufeff"))

    # Lines

    def insert_line(self, above: list[Piece], text: str) -> list[Splice]:
        """Insert a line after the first of `above`, else before the first header."""
        if above:
            stop = line_stop(self._text, above[0].end)
            return [Splice(stop, stop, self._line_end + self._indent_at(above[0].start) + text)]
        if not self._scan.statements:
            return self.insert_block([text], None)
        return self._insert_above(self._scan.statements[0], text)

    def insert_above(self, table: Node, text: str) -> list[Splice]:
        """Insert lines above a table and its comments."""
        return self._insert_above(min(table.all_pieces(), key=attrgetter("start")), text)

    def _insert_above(self, piece: Piece, text: str) -> list[Splice]:
        """Insert lines above a statement and the comments right above it."""
        offset = self._above_comments(piece.start)
        return [Splice(offset, offset, text + self._line_end * 2)]

    def _above_comments(self, offset: int) -> int:
        """Where the offset's line begins, or the first of the comments right above it."""
        offset = self._line_start(offset)
        while offset > self._begin:
            line_above = self._line_start(offset - 1)
            if not self._text[line_above:offset].lstrip(" \t").startswith("#"):
                break
            offset = line_above
        return offset

    def insert_block(self, lines: list[str], owner: Node | None) -> list[Splice]:
        """Insert lines at the end of the file, or of the array element that owns them.

        A blank line separates them, and they have a final line end only where the file has one.
        """
        line_end = self._line_end
        text = line_end.join(lines)
        if owner:
            stop = line_stop(self._text, max(piece.end for piece in owner.all_pieces()))
            has_blank_below = self._is_blank(self._next_line(stop))
            lead = line_end * 2 if has_blank_below else line_end
            return [Splice(stop, stop, lead + text)]
        size = len(self._text)
        if size == self._begin:
            return [Splice(size, size, text + line_end)]
        if BREAK.match(self._text, size - 1):
            return [Splice(size, size, line_end + text + line_end)]
        return [Splice(size, size, line_end * 2 + text)]

    def remove_lines(self, pieces: list[Piece]) -> Iterator[Splice]:
        """Remove the lines of headers and keys, and one of the blank lines around them."""
        removed = {id(piece) for piece in pieces}
        run: list[Piece] = []
        for piece in [*self._scan.statements, None]:
            if piece and id(piece) in removed:
                run.append(piece)
            elif run:
                yield self._remove_run(run)
                run = []

    def _remove_run(self, run: list[Piece]) -> Splice:
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

    # Brackets

    def insert_item(self, brackets: Node, text: str) -> list[Splice]:
        """Insert after the last item, on a line of its own if that one begins its line."""
        if not brackets.body:
            return [Splice(brackets.start + 1, brackets.start + 1, text)]
        last = brackets.body[-1]
        has_comma = last.comma >= 0
        end = last.comma + 1 if has_comma else last.end
        offset, separator = end, " "
        if self._begins_line(last.start):
            offset = self._after_line_comment(end)
            separator = self._line_end + self._indent_at(last.start)
        if has_comma:
            return [Splice(offset, offset, separator + text + ",")]
        return [Splice(end, end, ","), Splice(offset, offset, separator + text)]

    def insert_item_above(self, item: Piece, text: str) -> list[Splice]:
        """Insert above an item, on a line of its own if that one begins its line."""
        if not self._begins_line(item.start):
            return [Splice(item.start, item.start, text + ", ")]
        offset = self._above_comments(item.start)
        return [Splice(offset, offset, self._indent_at(item.start) + text + "," + self._line_end)]

    def remove_items(self, pieces: list[Piece]) -> Iterator[Splice]:
        """Remove items in brackets, each with the comma after it, or the one before if it is the
        last.
        """
        home = pieces[0].home
        assert home
        remaining = list(home.body)
        removed_commas: set[int] = set()
        for piece in reversed(pieces):
            index = remaining.index(piece)
            remaining.remove(piece)
            comma = -1 if piece.comma in removed_commas else piece.comma
            stop = comma + 1
            if comma < 0 or self._comments_in(piece.end, comma):
                stop = piece.end
            if comma < 0 and index:
                comma = remaining[index - 1].comma
                removed_commas.add(comma)
            if comma >= stop or comma in removed_commas:
                yield Splice(comma, comma + 1)
            is_last = index == len(remaining)
            yield self._remove_item(piece.start, stop, is_first=not index, is_last=is_last)

    def _remove_item(self, start: int, stop: int, *, is_first: bool, is_last: bool) -> Splice:
        """Remove an item: its line if it is alone there, else the blanks on one side too."""
        line, line_end = self._line_start(start), line_stop(self._text, stop)
        rest = self._text[stop:line_end].lstrip(" \t")
        rest_start = line_end - len(rest)
        if not self._begins_line(start):
            if is_first or (rest_start > stop and not is_last):
                return Splice(start, stop if is_last else rest_start)
            return Splice(len(self._text[:start].rstrip(" \t")), stop)
        if not rest:
            return Splice(line, self._next_line(line_end))
        is_comment_near = rest.startswith("#") or bool(
            self._comments_in(self._line_start(line - 1), line)
        )
        if is_last and not is_first and not is_comment_near:
            return Splice(self._break_before(line), stop)
        return Splice(start, rest_start)

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

    def _begins_line(self, offset: int) -> bool:
        """Whether nothing but blanks stands before the offset on its line."""
        return self._line_start(offset) + len(self._indent_at(offset)) == offset

    def _after_line_comment(self, offset: int) -> int:
        """The end of the line if only blanks and a comment follow; else the same offset."""
        stop = line_stop(self._text, offset)
        comments = self._comments_in(offset, stop)
        rest_end = comments[0][0] if comments else stop
        return offset if self._text[offset:rest_end].strip(" \t") else stop

    def _comments_in(self, start: int, end: int) -> list[tuple[int, int]]:
        """The comments that begin in a span."""
        return [span for span in self._scan.comments if start <= span[0] < end]
