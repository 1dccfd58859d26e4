"""YAML in the forms that people give it, and edits to try on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

from .yaml_judge import STRING, Edit, composed, read

CORPUS = Path(__file__).parents[1] / "corpus" / "hermes"

KEYS = ("hooks", "pre_verify", "model", "command", "a", "b c", "x-y", "'quoted'", '"doub: led"', "größe", "yes", "1")
SCALARS = (
    "word", "two words", "10", "-1.5", "yes", "~", "''", '""', "'it''s # one'", '"a \\" # b"', '"é😀"', "a:b", "x#y",
    "2026-11-22", "./run.sh --all", "http://127.0.0.1:80/x", "-x", "?x", "{{", '"[1, 2]"', "1e3", "0x10", "|x",
)  # fmt: skip
FLOW_SCALARS = ("word", "10", "'it''s, one'", '"a ] b"', "~", "two words", "é")
COMMENTS = ("# plain", "#", "# key: value", "# - item", "## 'quote \"", "#: {[,")
INSERTED: tuple[Any, ...] = (
    "ours", "a: b", "# no", "", "yes", "10", " x ", "é😀\n\t\u2028", 7, True, None, 0.5, 1e300, [], {},
    {"command": "sh -c ': x; \"y\"'", "timeout": 10}, [1, [2, {"x": []}], {}], {"a": {"b": ["c"]}, "on": [[1]]},
)  # fmt: skip


class _Writer:
    """Writes one document of random content in a random layout."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.unit = draw(st.sampled_from((2, 2, 4, 1)))
        self.dash = draw(st.sampled_from((0, 2, self.unit)))
        self.remarks = draw(st.booleans())
        self.lines: list[str] = []

    def pick(self, choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def often(self, times: int) -> bool:
        """One time in so many."""
        return self.draw(st.integers(1, times)) == times

    def line(self, text: str, *, remark: bool = True) -> None:
        if remark and self.remarks and self.often(5):
            text += self.pick((" ", "  ", "\t")) + self.pick(COMMENTS)
        elif self.often(12):
            text += self.pick((" ", "   "))
        self.lines.append(text)

    def between(self, column: int) -> None:
        """A comment or a blank line before the next member."""
        if self.remarks and self.often(5):
            self.lines.append(" " * column + self.pick(COMMENTS))
        if self.often(9):
            self.lines.append("")

    def mapping(self, column: int, depth: int, first: str = "") -> None:
        for key in self.draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=3, unique=True)):
            if not first:
                self.between(column)
            self.value((first or " " * column) + key + ":", column, depth, in_map=True)
            first = ""

    def sequence(self, column: int, depth: int, first: str = "") -> None:
        for _ in range(self.draw(st.integers(1, 3))):
            if not first:
                self.between(column)
            self.value((first or " " * column) + "-", column, depth, in_map=False)
            first = ""

    def value(self, head: str, column: int, depth: int, *, in_map: bool) -> None:
        kinds = ["scalar", "scalar", "flow", "empty", "block"] + ["map", "map", "seq", "seq"] * (depth < 3)
        kind = self.pick(kinds)
        if kind == "map" and in_map:
            self.line(head)
            self.mapping(column + self.unit, depth + 1)
        elif kind == "seq" and in_map:
            self.line(head)
            self.sequence(column + self.dash, depth + 1)
        elif kind == "map":
            self.mapping(column + 2, depth + 1, first=head + " ")
        elif kind == "seq":
            self.sequence(column + 2, depth + 1, first=head + " ")
        elif kind == "flow":
            self.line(head + " " + self.flow(depth))
        elif kind == "empty":
            self.line(head)
        elif kind == "block":
            self.line(head + " " + self.pick(("|", ">", "|-", ">-", "|+")))
            for _ in range(self.draw(st.integers(1, 2))):
                self.lines.append(" " * (column + self.unit) + self.pick(("text", "more # text", "a: b", "- c")))
                if self.often(6):
                    self.lines.append("")
        else:
            self.line(head + " " + self.pick(SCALARS))

    def flow(self, depth: int) -> str:
        count = self.pick((0, 1, 2, 3))
        deeper = [self.often(4) and depth < 4 for _ in range(count)]
        inner = [self.flow(depth + 1) if deep else self.pick(FLOW_SCALARS) for deep in deeper]
        blank = self.pick(("", "", " "))
        if self.draw(st.booleans()):
            keys = ("a", "b", "'c d'")
            inner = [f"{key}: {value}" for key, value in zip(keys, inner, strict=False)]
            opening, closing = "{}"
        else:
            opening, closing = "[]"
        comma = "," if inner and self.often(5) else ""
        return opening + blank + ", ".join(inner) + comma + blank + closing


@st.composite
def texts(draw: st.DrawFn) -> str:
    """One document that PyYAML reads, whose root is a mapping."""
    writer = _Writer(draw)
    if draw(st.integers(1, 8)) == 8:
        writer.lines.append("---")
    if draw(st.integers(1, 12)) == 12:
        writer.lines.append(writer.flow(0))
    else:
        writer.mapping(0, 0)
    writer.between(0)
    end = draw(st.sampled_from(("\n", "\n", "\r\n", "\r")))
    text = end.join(writer.lines) + (end if draw(st.integers(1, 6)) > 1 else "")
    return draw(st.sampled_from(("", "", "", "\ufeff"))) + text


def readable(text: str) -> bool:
    """Whether the text is one YAML document of a mapping or of nothing, by both of PyYAML's readers."""
    try:
        for loader in (yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if not isinstance(yaml.load(text.removeprefix("\ufeff"), loader), dict | type(None)):
                return False
    except yaml.YAMLError:
        return False
    return True


def edits(text: str) -> list[Edit]:
    """Every edit to try: appending to each list, a new key in each mapping, removing and replacing each value."""
    found: list[Edit] = []
    if read(text) is None:
        return [Edit("set", ("ours",), 7), Edit("append", ("ours", "list"), INSERTED[-3])]
    _walk(composed(text), (), found)
    return found


def _walk(node: Any, path: tuple[str | int, ...], found: list[Edit]) -> None:
    inserted = INSERTED[len(found) % len(INSERTED)]
    if getattr(node, "flow_style", False) and (node.value or not path):
        return  # nothing is edited inside brackets
    if isinstance(node, yaml.MappingNode):
        found.append(Edit("set", (*path, "ours"), inserted))
        found.append(Edit("append", (*path, "ours", "list"), inserted))
        names = [key.value for key, _ in node.value if key.tag == STRING]
        inner = [(key.value, value) for key, value in node.value if key.tag == STRING and names.count(key.value) == 1]
    elif isinstance(node, yaml.SequenceNode):
        found.append(Edit("append", path, inserted))
        inner = list(enumerate(node.value))
    else:
        return
    for key, value in inner:
        found.append(Edit("remove", (*path, key)))
        found.append(Edit("set", (*path, key), inserted))
        _walk(value, (*path, key), found)
