"""Where an edit of a TOML text goes: lines of a table, blocks at the end, elements between brackets.

Whatever is inserted here is taken out again by the rules for removal, to the byte.
"""

from __future__ import annotations

from collections.abc import Iterator

from hookctl.documents.text import BREAK, Splice, line_start, line_stop
from hookctl.documents.toml_scan import Node, Piece, Scan


class Places:
    """The places of a text for insertions and removals."""

    def __init__(self, text: str, scan: Scan, line_end: str) -> None:
        self._text = text
        self._scan = scan
        self._line_end = line_end
        self._begin = int(text.startswith("\ufeff"))

    # Lines

    def line(self, above: list[Piece], text: str) -> list[Splice]:
        """A new line behind a key or header; in a file without keys before the first header and its comments."""
        for piece in above:
            stop = line_stop(self._text, piece.end)
            return [Splice(stop, stop, self._line_end + self._lead(piece.start) + text)]
        if not self._scan.statements:
            return self.block([text], None)
        at = self._line_start(self._scan.statements[0].start)
        while at > self._begin and self._text[self._line_start(at - 1) : at].lstrip(
            " \t"
        ).startswith("#"):
            at = self._line_start(at - 1)
        return [Splice(at, at, text + self._line_end * 2)]

    def block(self, lines: list[str], owner: Node | None) -> list[Splice]:
        """Lines of their own at the end of the file, or of the element of an array that they belong to.

        A blank line stands between, and a final line end only where the file has one.
        """
        end, text, size = self._line_end, self._line_end.join(lines), len(self._text)
        if owner:
            stop = line_stop(self._text, max(piece.end for piece in owner.all_pieces()))
            gap = end if self._is_blank(self._next_line(stop)) else ""
            return [Splice(stop, stop, end + gap + text)]
        if size == self._begin:
            return [Splice(size, size, text + end)]
        closed = BREAK.match(self._text, size - 1)
        return [Splice(size, size, end + text + end if closed else end * 2 + text)]

    def without_lines(self, pieces: list[Piece]) -> Iterator[Splice]:
        """Without the lines of headers and keys, and where they stand alone without one of the blank lines around."""
        gone = {id(piece) for piece in pieces}
        run: list[Piece] = []
        for piece in [*self._scan.statements, None]:
            if piece and id(piece) in gone:
                run.append(piece)
            elif run:
                yield self._run(run)
                run = []

    def _run(self, run: list[Piece]) -> Splice:
        """Headers and keys that follow each other, with the comments between; that behind a single one stays."""
        stop = line_stop(self._text, run[-1].end)
        remarks = self._comments_in(run[-1].end, stop)
        if len(run) == 1 and remarks:
            return Splice(run[0].start, remarks[0][0])
        start, after = self._line_start(run[0].start), self._next_line(stop)
        above, below = (
            max(self._line_start(start - 1), self._begin),
            self._next_line(line_stop(self._text, after)),
        )
        if self._is_blank(after) and (start == self._begin or self._is_blank(above)):
            # One of the blank lines around goes too: an empty one, as an insertion makes it.
            lines = self._text[above:start], self._text[after:below]
            if start == self._begin or (lines[0] != self._line_end and lines[1] == self._line_end):
                after = below
            else:
                start = above
        if after == stop:  # the last line, and it has no line end
            start = self._break_before(start)
        return Splice(start, after)

    # Brackets

    def item(self, brackets: Node, text: str) -> list[Splice]:
        """Behind the last element of an array or inline table, on a line of its own if that one has its own."""
        if not brackets.body:
            return [Splice(brackets.start + 1, brackets.start + 1, text)]
        last = brackets.body[-1]
        at = last.end if last.comma < 0 else last.comma + 1
        before, behind = ("", ",") if last.comma >= 0 else (",", "")
        spot, gap = at, " "
        if self._has_own_line(last.start):
            spot, gap = self._line_rest(at), self._line_end + self._lead(last.start)
        return [Splice(at, at, before), Splice(spot, spot, gap + text + behind)]

    def without_items(self, pieces: list[Piece]) -> Iterator[Splice]:
        """Without elements of an array or inline table, each with its comma, or else the one before it."""
        home = pieces[0].home
        assert home
        left, taken = list(home.body), set()  # taken: the commas that are gone already
        for piece in reversed(pieces):
            index = left.index(piece)
            left.remove(piece)
            comma = -1 if piece.comma in taken else piece.comma
            stop = piece.end if comma < 0 or self._comments_in(piece.end, comma) else comma + 1
            if comma < 0 and index:
                comma = left[index - 1].comma
                taken.add(comma)
            if comma >= stop or comma in taken:
                yield Splice(comma, comma + 1)
            yield self._item(piece.start, stop, is_first=not index, is_last=index == len(left))

    def _item(self, start: int, stop: int, *, is_first: bool, is_last: bool) -> Splice:
        """An element with its line if it has one for itself, else with the blanks on one side."""
        line, line_end = self._line_start(start), line_stop(self._text, stop)
        follows = self._text[stop:line_end].lstrip(" \t")
        behind = line_end - len(follows)
        if not self._has_own_line(start):
            if is_first or (behind > stop and not is_last):
                return Splice(start, stop if is_last else behind)
            return Splice(len(self._text[:start].rstrip(" \t")), stop)
        if not follows:
            return Splice(line, self._next_line(line_end))
        remarked = follows.startswith("#") or self._comments_in(self._line_start(line - 1), line)
        if is_last and not is_first and not remarked:
            return Splice(self._break_before(line), stop)
        return Splice(start, behind)

    # Places in the text

    def _line_start(self, offset: int) -> int:
        return max(line_start(self._text, offset), self._begin)

    def _next_line(self, stop: int) -> int:
        """Where the line behind a line's stop begins; the stop itself at the end of the file."""
        found = BREAK.match(self._text, stop)
        return found.end() if found else stop

    def _break_before(self, start: int) -> int:
        """The stop of the line before the one that begins at `start`."""
        return max(len(self._text[:start].removesuffix("\n").removesuffix("\r")), self._begin)

    def _is_blank(self, start: int) -> bool:
        """Whether the line that begins at `start` has nothing on it, or there is none."""
        return not self._text[start : line_stop(self._text, start)].strip(" \t")

    def _lead(self, offset: int) -> str:
        """The blanks that the line of the offset begins with."""
        line = self._text[self._line_start(offset) : offset]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _has_own_line(self, offset: int) -> bool:
        """Whether nothing else stands before the offset on its line."""
        return self._line_start(offset) + len(self._lead(offset)) == offset

    def _line_rest(self, at: int) -> int:
        """The end of the line if nothing but blanks and a comment follows; else the same offset."""
        stop = line_stop(self._text, at)
        comments = self._comments_in(at, stop)
        return at if self._text[at : comments[0][0] if comments else stop].strip(" \t") else stop

    def _comments_in(self, start: int, end: int) -> list[tuple[int, int]]:
        return [span for span in self._scan.comments if start <= span[0] < end]
