"""What of a YAML text may be shown: the places where a mask goes, and all else stays byte for byte."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from hookctl.documents.redaction import Mask, Splice, joined, line_by_line
from hookctl.documents.scan import BREAK
from hookctl.documents.yaml_nodes import STRING, Node, Reading
from hookctl.documents.yaml_text import scalar
from hookctl.masking import MASK, flag_of

_COMMENT = r"(?:(?<=[ \t\r\n\ufeff])|^)#[^\r\n]*"
_MARK = r"([ \t]*#+)([ \t]*)(.*)"
# A key whose value comes on the next lines, in a line that is commented out.
_OPEN_KEY = r"(?:- +)*['\"]?([^'\"#:]+)['\"]?[ \t]*:[ \t]*(?:[|>][-+0-9]*)?(?:[ \t]*#.*)?"
Secret = Callable[[str], bool]


class _Scalar(NamedTuple):
    node: Node
    is_key: bool
    hidden: bool  # by a key above it


class _Reach(NamedTuple):
    """A member with a secret key: from the key to the end of its value, and the key's column."""

    start: int
    end: int
    column: int


def masks(text: str, found: Reading, secret: Secret, mask: Mask | None) -> Iterator[Splice]:
    """Every scalar under a secret key; with `mask` also every comment there, and what it masks in the other texts."""
    if found.root is None:
        scalars, reaches = [], []
    else:
        walk = _Walk(text, found, secret)
        scalars, reaches = list(walk.scalars(found.root, False)), walk.reaches
    gone = []  # block scalars that are masked, and with them a comment in their first line
    for node, is_key, hidden in scalars:
        breaks = "".join(BREAK.findall(text, node.start, node.end))  # so that a diff keeps its numbers
        if hidden and not is_key:
            gone.append((node.start, node.end))
            yield node.start, node.end, f'"{MASK}"{breaks}'
        elif mask and node.tag == STRING:
            shown = mask(node.text, lambda _: MASK)
            if shown != node.text:
                gone.append((node.start, node.end))
                yield node.start, node.end, scalar(shown) + breaks
    if mask:
        for splice in _comments(text, scalars, reaches, secret, mask):
            if not any(start <= splice[0] < end for start, end in gone):
                yield splice


class _Walk:
    """The scalars of a document in their order, and the members under secret keys."""

    def __init__(self, text: str, found: Reading, secret: Secret) -> None:
        self.text = text
        self.secret = secret
        self.reaches: list[_Reach] = []
        self._shared: set[str] = set()  # anchors whose values stand under a secret key elsewhere
        while found.root is not None:
            before = len(self._shared)
            self._share(found.root, False)
            if len(self._shared) == before:
                break

    def _share(self, node: Node, hidden: bool) -> None:
        hidden = hidden or node.anchor in self._shared
        if node.kind == "alias" and hidden:
            self._shared.add(node.text)
        for key, value, below in self._members(node, hidden):
            if key:
                self._share(key, False)
            self._share(value, below)

    def scalars(self, node: Node, hidden: bool, is_key: bool = False) -> Iterator[_Scalar]:
        hidden = hidden or node.anchor in self._shared
        if node.kind == "scalar":
            yield _Scalar(node, is_key, hidden)
        for key, value, below in self._members(node, hidden):
            if key:
                yield from self.scalars(key, False, True)
            if below:
                start = (key or value).start
                line = max(self.text.rfind("\n", 0, start), self.text.rfind("\r", 0, start)) + 1
                self.reaches.append(_Reach(start, value.end, start - line))
            yield from self.scalars(value, below, is_key)

    def _members(self, node: Node, hidden: bool) -> Iterator[tuple[Node | None, Node, bool]]:
        """The children, and whether each is hidden; in a list also what follows the flag of a command."""
        flag = ""
        for key, value in node.children:
            named = self.secret(key.text) if key else bool(flag) and self.secret(flag)
            yield key, value, hidden or named
            flag = flag_of(value.text) if key is None and value.tag == STRING else ""


def _comments(
    text: str, scalars: list[_Scalar], reaches: list[_Reach], secret: Secret, mask: Mask
) -> Iterator[Splice]:
    loose: list[tuple[int, int]] = []
    for start, end, behind in _comment_spans(text, scalars):
        if any(_reaches(text, reach, start, behind) for reach in reaches):
            yield start, end, re.sub(r"^(#+[ \t]*).*", rf"\1{MASK}", text[start:end])
        else:
            loose.append((start, end))
    for start, end in joined(text, loose):
        group = _commented_out(text[start:end], secret)
        shown = mask(group, line_by_line)
        if shown != text[start:end]:
            yield start, end, shown


def _comment_spans(text: str, scalars: list[_Scalar]) -> Iterator[tuple[int, int, int]]:
    """Each comment, and where the scalar before it ends; outside scalars a # behind a blank is nothing else."""
    pattern, at = re.compile(_COMMENT, re.MULTILINE), 0
    for node in [*(one.node for one in scalars), None]:
        stop = node.start if node else len(text)
        if node and node.block:  # its first line may have one
            found = BREAK.search(text, node.start)
            stop = found.start() if found else node.end
        for match in pattern.finditer(text, at, stop):
            yield *match.span(), at
        at = node.end if node else stop


def _reaches(text: str, reach: _Reach, comment: int, behind: int) -> bool:
    """Whether a comment is inside a member, or behind it on its line, or goes on below it further in."""
    if reach.start <= comment < reach.end:
        return True
    if comment < reach.end or behind > reach.end:
        return False
    line = max(text.rfind("\n", 0, comment), text.rfind("\r", 0, comment)) + 1
    return line < reach.end or comment - line > reach.column


def _commented_out(group: str, secret: Secret) -> str:
    """Comments in which what stands below a secret key is masked."""
    parts, level = [], -1
    for part in re.split(f"({BREAK.pattern})", group):
        match = re.fullmatch(_MARK, part)
        if match and match[3]:
            mark, gap, rest = match.groups()
            if level >= 0 and (len(gap) > level or (len(gap) == level and rest.startswith("-"))):
                part = f"{mark}{gap}{MASK}"
            else:
                key = re.fullmatch(_OPEN_KEY, rest)
                level = len(gap) if key and secret(key[1].strip()) else -1
        parts.append(part)
    return "".join(parts)
