"""An independent judge of edits: reads JSON with comments in its own slow way and shares no code with the package."""

import json
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

Path = tuple[str | int, ...]
Span = tuple[int, int]
Tree = Any  # ("object", [(key, Tree), ...]), ("array", [Tree, ...]), ("number", text), a string, True, False or None

BOM = "\N{BYTE ORDER MARK}"
BLANKS = " \t\r\n"


class Edit(NamedTuple):
    verb: str  # set, append or remove
    path: Path
    value: Any = None

    def __str__(self) -> str:
        return f"{self.verb} {list(self.path)} {self.value!r}"


class Node(NamedTuple):
    """A value of the text: where it lies and what is in it."""

    kind: str  # object, array or scalar
    start: int
    end: int
    keys: list[str]
    starts: list[int]  # of the member's key or of the element
    values: "list[Node]"

    def inner(self, key: str | int) -> "Node | None":
        if self.kind == "object" and key in self.keys:
            return self.values[self.keys.index(key)] if isinstance(key, str) else None
        if self.kind == "array" and isinstance(key, int) and 0 <= key < len(self.values):
            return self.values[key]
        return None


@lru_cache(8)
def comments(text: str) -> list[Span]:
    """Find the comments, one character at a time."""
    spans: list[Span] = []
    state, start, at = "code", 0, 0
    while at < len(text):
        char, pair = text[at], text[at : at + 2]
        if state == "code":
            if char == '"':
                state = "string"
            elif pair in ("//", "/*"):
                state, start = pair, at
                at += 1
        elif state == "string":
            if char == "\\":
                at += 1
            elif char == '"':
                state = "code"
        elif state == "//" and char in "\r\n":
            spans.append((start, at))
            state = "code"
        elif state == "/*" and pair == "*/":
            at += 1
            spans.append((start, at + 1))
            state = "code"
        at += 1
    if state == "//":
        spans.append((start, len(text)))
    return spans


@lru_cache(8)
def plain(text: str) -> str:
    """Say the same without byte order mark, comments and trailing commas, each character in its place."""
    chars = list(text)
    if text.startswith(BOM):
        chars[0] = " "
    for start, end in comments(text):
        for at in range(start, end):
            chars[at] = chars[at] if chars[at] in "\r\n" else " "
    in_string = escaped = False
    comma = -1
    for at, char in enumerate(chars):
        if in_string:
            in_string = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            in_string, comma = True, -1
        elif char == ",":
            comma = at
        elif char not in BLANKS:
            if char in "]}" and comma >= 0:
                chars[comma] = " "
            comma = -1
    return "".join(chars)


@lru_cache(8)
def read(text: str) -> Tree:
    """Read the document with every pair in its order and every number as it is spelled; None for an empty one."""
    bare = plain(text)
    if not bare.strip(BLANKS):
        return ("empty",)
    return json.loads(
        bare,
        object_pairs_hook=lambda pairs: ("object", pairs),
        parse_int=lambda digits: ("number", digits),
        parse_float=lambda digits: ("number", digits),
    )


def tree_of(value: Any) -> Tree:
    return read(json.dumps(value))


def value_of(tree: Tree) -> Any:
    """Turn a tree into the plain value, the last of a key's values winning."""
    if isinstance(tree, list):
        return [value_of(element) for element in tree]
    if isinstance(tree, tuple):
        return {key: value_of(value) for key, value in tree[1]} if tree[0] == "object" else json.loads(tree[1])
    return tree


def edited(tree: Tree, edit: Edit) -> Tree:
    """Do the edit on plain pair lists."""
    return _edited(tree, edit, edit.path)


def _edited(tree: Tree, edit: Edit, path: Path) -> Tree:
    if not path:
        if edit.verb == "append":
            return [*([] if tree == ("empty",) else tree), tree_of(edit.value)]
        return tree_of(edit.value)
    head, rest = path[0], path[1:]
    if tree == ("empty",):
        tree = ("object", []) if isinstance(head, str) else []
    if isinstance(head, str):
        return ("object", _pairs(tree[1], edit, head, rest))
    assert isinstance(tree, list)
    if not rest and edit.verb == "remove":
        return tree[:head] + tree[head + 1 :]
    return [_edited(element, edit, rest) if at == head else element for at, element in enumerate(tree)]


def _pairs(pairs: list[tuple[str, Tree]], edit: Edit, head: str, rest: Path) -> list[tuple[str, Tree]]:
    there = [key for key, _ in pairs]
    if edit.verb == "remove" and not rest:
        return [pair for pair in pairs if pair[0] != head]
    if head in there:
        return [(key, _edited(value, edit, rest) if key == head else value) for key, value in pairs]
    return [*pairs, (head, _edited(("empty",), edit, rest))] if edit.verb != "remove" else pairs


@lru_cache(8)
def nodes(text: str) -> Node | None:
    """Parse the (valid) document into nodes by recursive descent."""
    bare = plain(text)
    start = _skip(bare, 0)
    return _node(bare, start) if start < len(bare) else None


def _skip(bare: str, at: int) -> int:
    while at < len(bare) and bare[at] in BLANKS:
        at += 1
    return at


def _string_end(bare: str, at: int) -> int:
    at += 1
    while bare[at] != '"':
        at += 2 if bare[at] == "\\" else 1
    return at + 1


def _node(bare: str, start: int) -> Node:
    if bare[start] == '"':
        return Node("scalar", start, _string_end(bare, start), [], [], [])
    if bare[start] not in "{[":
        at = start
        while at < len(bare) and bare[at] not in BLANKS + ",]}":
            at += 1
        return Node("scalar", start, at, [], [], [])
    node = Node("object" if bare[start] == "{" else "array", start, 0, [], [], [])
    at = _skip(bare, start + 1)
    while bare[at] not in "]}":
        node.starts.append(at)
        if node.kind == "object":
            end = _string_end(bare, at)
            node.keys.append(json.loads(bare[at:end]))
            at = _skip(bare, _skip(bare, end) + 1)
        node.values.append(_node(bare, at))
        at = _skip(bare, node.values[-1].end)
        if bare[at] == ",":
            at = _skip(bare, at + 1)
    return node._replace(end=at + 1)


def judge(before: bytes, after: bytes, edit: Edit) -> None:
    """Fail unless `after` is the document wanted, and every byte that is not of the edit is where it was."""
    old, new = before.decode("utf-8"), after.decode("utf-8")
    assert read(new) == edited(read(old), edit), "another document than wanted"
    root, path = nodes(old), edit.path
    if root is None:
        assert new.startswith(old), "what stood in the empty document is gone"
        return
    node = root
    while path and (inner := node.inner(path[0])):
        if edit.verb == "remove" and len(path) == 1:
            _judge_removal(old, new, node, path[0])
            break
        node, path = inner, path[1:]
    else:
        if edit.verb == "remove":
            assert old == new, "nothing to remove, and yet a change"
        elif path or edit.verb == "append":
            _judge_insertion(old, new, node)
        else:
            _judge_replacement(old, new, node, edit.value)
    kinds, grown = line_ends(old), line_ends(new)
    assert len(kinds) > 1 or grown <= (kinds or {"\n"}), f"line ends {kinds} became {grown}"


def line_ends(text: str) -> set[str]:
    """Say which kinds of line break a text has."""
    return {end for end in ("\r\n", "\n", "\r") if end in (text if end == "\r\n" else text.replace("\r\n", ""))}


def lines(text: str) -> list[str]:
    """Split at the three line ends only (str.splitlines knows more), and keep them."""
    breaks = [at for at in range(1, len(text) + 1) if text[at - 1] in "\r\n" and text[at - 1 : at + 1] != "\r\n"]
    return [text[start:end] for start, end in pairwise([0, *breaks, len(text)])]


def _between(old: str, new: str, start: int, end: int) -> tuple[str, str]:
    """Give old[start:end] and what stands there now; all around it must be as it was."""
    assert new.startswith(old[:start]), "a byte before the edit changed"
    assert new.endswith(old[end:]) and len(new) >= start + len(old) - end, "a byte behind the edit changed"
    return old[start:end], new[start : len(new) - len(old) + end]


def _judge_replacement(old: str, new: str, node: Node, value: Any) -> None:
    text = _between(old, new, node.start, node.end)[1]
    assert text.strip(BLANKS) == text and json.loads(text) == value


def _judge_insertion(old: str, new: str, node: Node) -> None:
    was, now = _between(old, new, node.values[-1].end if node.values else node.start + 1, node.end - 1)
    if not node.values:
        assert [was[a:b] for a, b in comments(was)] == [now[a:b] for a, b in comments(now)], "a comment is lost"
        assert not was.strip(BLANKS) or now.startswith(was.rstrip(BLANKS)), "a comment in an empty container moved"
        return
    in_comment, grown = {at for start, end in comments(was) for at in range(start, end)}, 0
    if not any(char == "," and at not in in_comment for at, char in enumerate(was)):
        was, grown = "," + was, 1
    # Many-line: a new line, and none before what stands behind the last member on its own line.
    many_lines = bool(line_ends(old[node.start : node.starts[0]]))
    line = next((at for at, char in enumerate(was) if char in "\r\n" and at - grown not in in_comment), 0)
    assert any(
        now.startswith(was[:at]) and now.endswith(was[at:]) and (not many_lines or (at >= line and now[at] in "\r\n"))
        for at in range(len(was) + 1)
        if len(now) > len(was)
    ), "what stood behind the last member changed"


def _judge_removal(old: str, new: str, node: Node, key: str | int) -> None:
    place = node.keys.index(key) if isinstance(key, str) else key
    first, last = place == 0, place == len(node.values) - 1
    start, end = node.starts[place], node.values[place].end
    left = node.start + 1 if first else node.values[place - 1].end
    right = node.end - 1 if last else node.starts[place + 1]
    _, now = _between(old, new, left, right)
    around = old[left:start] + "\0" + old[end:right]
    assert [around[a:b] for a, b in comments(around)] == [now[a:b] for a, b in comments(now)], "a comment is lost"
    assert is_thinned(around.replace("\0", ""), now), "something is new after a removal"
    assert _bare_commas(now) == max(_bare_commas(around) - 1, 0), "one comma goes, a trailing one stays"
    rest = now.replace(",", "")
    for line in lines(around):
        whole = line.replace(",", "").strip(BLANKS) if "\0" not in line else ""
        assert whole in rest, f"lost: {line!r}"
        rest = rest[rest.index(whole) + len(whole) :]


def _bare_commas(text: str) -> int:
    spans = comments(text)
    return sum(1 for at, char in enumerate(text) if char == "," and not any(a <= at < b for a, b in spans))


def is_thinned(more: str, less: str) -> bool:
    """Say whether `less` is `more` with characters left out and none added."""
    rest = iter(more)
    return all(char in rest for char in less)
