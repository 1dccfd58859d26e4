"""An independent judge of edits in JSON with comments, TOML and YAML: other readers, and no code of the package."""

import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, takewhile
from typing import Any

import yaml

from .table import Edit

Path = tuple[str | int, ...]
Tree = Any  # ("map", tag, [(Tree, Tree), ...]), ("seq", tag, [Tree, ...]) or ("scalar", tag, text); None: empty
BOM = "\N{BYTE ORDER MARK}"
BLANKS = " \t\r\n"
STRINGS = {
    "json": r'"(?:\\.|[^"\\])*"',
    "toml": r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\])*"|\'[^\']*\'',
}
COMMENTS = {"json": r"//[^\r\n]*|/\*.*?\*/", "toml": r"#[^\r\n]*"}
TOKENS = {
    format: re.compile(rf"{STRINGS[format]}|{COMMENTS[format]}|\s|[^\s\"'#/,:=\[\]{{}}]+|.", re.DOTALL)
    for format in STRINGS
}
# Brackets that lines of YAML come in the place of; and what goes with a member, and is none of it.
EMPTY = re.compile(r"\s*(?:\{\s*\}|\[\s*\])")
BLANK = re.compile(r"\s+(?=[\]}])")


# What a text says: every pair in its order, every scalar as it is spelled
def tagged(value: Any) -> Tree:
    if isinstance(value, dict):
        return ("map", "map", sorted((tagged(key), tagged(inner)) for key, inner in value.items()))
    if isinstance(value, list):
        return ("seq", "seq", [tagged(inner) for inner in value])
    is_text = isinstance(value, str)
    return value if isinstance(value, tuple) else ("scalar", type(value).__name__, value if is_text else repr(value))


@lru_cache(16)
def read(format: str, text: str) -> Tree:
    """The tree of a text: TOML's members are sorted, and YAML's aliases written out."""
    if format == "toml":
        return tagged(tomllib.loads(text.removeprefix(BOM)))
    if format == "yaml":
        node = composed(text)
        return None if node is None or node.start_mark.index == node.end_mark.index else _of_node(node)
    bare = plain(text)
    spelled: dict[str, Any] = dict.fromkeys(("parse_int", "parse_float"), lambda digits: ("scalar", "number", digits))
    pairs = {"object_pairs_hook": lambda pairs: ("map", "map", [(tagged(key), tagged(value)) for key, value in pairs])}
    return tagged(json.loads(bare, **spelled, **pairs)) if bare.strip(BLANKS) else None


def plain(text: str) -> str:
    """JSON without byte order mark, comments and trailing commas, each character in its place."""
    parts = TOKENS["json"].findall(text.removeprefix(BOM))
    bare = "".join(re.sub(r"[^\r\n]", " ", part) if is_comment(part) else part for part in parts)
    return re.sub(rf"({STRINGS['json']})|,(?=\s*[\]}}])", lambda found: found[1] or " ", bare, flags=re.DOTALL)


@lru_cache(16)
def composed(text: str) -> yaml.Node | None:
    return yaml.compose(text.removeprefix(BOM), yaml.SafeLoader)


def _of_node(node: yaml.Node) -> Tree:
    tag = node.tag.removeprefix("tag:yaml.org,2002:")
    if isinstance(node, yaml.MappingNode):
        return ("map", tag, [(_of_node(key), _of_node(value)) for key, value in node.value])
    if isinstance(node, yaml.SequenceNode):
        return ("seq", tag, [_of_node(item) for item in node.value])
    return ("scalar", tag, node.value)


def tree_of(format: str, value: Any) -> Tree:
    """The tree of a plain value, by way of another writer."""
    if format == "toml":
        return tagged(value)
    return read(
        format, json.dumps(value) if format == "json" else yaml.safe_dump(value, allow_unicode=True, sort_keys=False)
    )


def value_of(tree: Tree) -> Any:
    """The plain value of JSON's tree, the last of a key's values winning."""
    kind, tag, inner = tree
    if kind == "map":
        return {key[2]: value_of(value) for key, value in inner}
    if kind == "seq":
        return [value_of(item) for item in inner]
    return inner if tag == "str" else json.loads({"None": "null"}.get(inner, inner.lower()))


def at(tree: Tree, path: Path) -> Tree:
    """What stands at a path; None where nothing does."""
    for key in path:
        kind, _, inner = tree or ("", "", ())
        if kind != ("map" if isinstance(key, str) else "seq"):
            return None
        found = [value for name, value in inner if name[2] == key] if kind == "map" else inner[key:][:1]
        tree = found[-1] if found else None
    return tree


def edited(format: str, tree: Tree, edit: Edit) -> Tree:
    """The same edit on plain lists."""
    if not edit.path:
        new = tree_of(format, edit.arguments[0])
        return ("seq", "seq", [*(tree[2] if tree else ()), new]) if edit.method == "append" else new
    head, rest = edit.path[0], edit.path[1:]
    kind, tag, inner = tree or ("map", "map", [])
    inside, is_last = edit._replace(path=rest), edit.method == "remove" and not rest
    if kind == "seq":
        if is_last:
            return (kind, tag, inner[:head] + inner[head + 1 :])
        return (
            kind,
            tag,
            [edited(format, item, inside) if number == head else item for number, item in enumerate(inner)],
        )
    name = ("scalar", "str", head)
    if is_last:
        return (kind, tag, [pair for pair in inner if pair[0] != name])
    if name in [key for key, _ in inner]:
        pairs = [(key, edited(format, value, inside) if key == name else value) for key, value in inner]
    else:
        pairs = inner if edit.method == "remove" else [*inner, (name, edited(format, None, inside))]
    return (kind, tag, sorted(pairs) if format == "toml" else pairs)


def line_ends(text: str) -> set[str]:
    return set(re.findall(r"\r\n|\r|\n", text))


def is_comment(token: str) -> bool:
    return token.startswith(("//", "/*", "#"))


@lru_cache(16)
def tokens(format: str, text: str) -> list[str]:
    """Strings, comments, single blanks and what stands between them; in YAML a comment stands between its tokens."""
    if format != "yaml":
        return TOKENS[format].findall(text)
    found, end = [], 0
    for start, stop in (*_yaml_comments(text), (len(text), len(text))):
        found += [*re.findall(r"\s|\S+", text[end:start]), *([text[start:stop]] if stop > start else [])]
        end = stop
    return found


def _yaml_comments(text: str) -> list[tuple[int, int]]:
    shift, end, found = len(text) - len(text.removeprefix(BOM)), 0, []
    gaps = []
    for token in yaml.scan(text[shift:], yaml.SafeLoader):
        start = token.start_mark.index + shift
        gaps.append((end, start))
        if isinstance(token, yaml.ScalarToken) and token.style in ("|", ">"):
            gaps.append((start, re.compile(r"[^\r\n]*").match(text, start).end()))  # type: ignore[union-attr]
        end = max(end, token.end_mark.index + shift)
    for first, last in (*gaps, (end, len(text))):
        for comment in re.compile(r"(?<![^\s\ufeff])#[^\r\n]*").finditer(text, first, last):
            found.append(comment.span())
    return found


def comments(format: str, text: str) -> list[str]:
    return list(filter(is_comment, tokens(format, text)))


def is_thinned(more: Sequence[str], less: Iterable[str]) -> bool:
    """Is `less` the same with some left out and none added?"""
    rest = iter(more)
    return all(one in rest for one in less)


def node_at(text: str, path: Path) -> tuple[int, Any]:
    """Where a member of YAML begins, and its value."""
    node, start = composed(text), 0
    for head in path:
        pairs = reversed(node.value) if isinstance(node, yaml.MappingNode) else enumerate(node.value)  # type: ignore[union-attr]
        key, node = next(pair for pair in pairs if getattr(pair[0], "value", pair[0]) == head)
        start = getattr(key, "start_mark", node.start_mark).index
    return start, node


def span(format: str, text: str, path: Path) -> tuple[int, int, int]:
    """Where a member's key (or an item) begins in JSON or YAML, where its value does, and where that ends."""
    if format == "yaml":
        start, node = node_at(text, path)
        last = node
        while not isinstance(last, yaml.ScalarNode) and not last.flow_style:
            last = last.value[-1][1] if isinstance(last, yaml.MappingNode) else last.value[-1]
        shift = text.startswith(BOM)
        return start + shift, node.start_mark.index + shift, last.end_mark.index + shift
    tree, passed, key_at = read(format, text), 0, 0
    for head in path:
        kind, _, inner = tree
        passed += 1
        for number, one in enumerate(inner):
            name, value = (one[0][2], one[1]) if kind == "map" else (number, one)
            key_at, passed = passed, passed + 2 * (kind == "map")
            if name == head:
                tree = value
                break
            passed += size(value)
    ends = [0, *accumulate(map(len, tokens(format, text)))]
    own = [number for number, token in enumerate(tokens(format, text)) if not is_trivial(token) and token != BOM]
    return ends[own[key_at]], ends[own[passed]], ends[own[passed + size(tree) - 1] + 1]


def size(tree: Tree) -> int:
    """How many tokens a value of JSON has, but for commas."""
    kind, _, inner = tree
    return 1 if kind == "scalar" else 2 + sum(2 + size(one[1]) if kind == "map" else size(one) for one in inner)


def is_trivial(token: str) -> bool:
    return token.isspace() or is_comment(token) or token == ","


def judge(format: str, before: bytes, after: bytes, edit: Edit) -> None:
    """Fail unless `after` is the document wanted, and all that is not of the edit is where it was."""
    old, new = before.decode("utf-8"), after.decode("utf-8")
    tree, there = read(format, old), read(format, new)
    wanted, path = edited(format, tree, edit), edit.path
    while there != wanted and format != "json" and edit.method == "remove" and path and at(wanted, path[:-1])[2] == []:
        path = path[:-1]  # it goes as a whole
        wanted = edited(format, tree, edit._replace(path=path)) if path else None
    assert there == wanted, "another document than wanted"
    if wanted == tree:
        assert old == new, "nothing to do, and yet a change"
        return
    assert len(line_ends(old)) > 1 or line_ends(new) <= (line_ends(old) or {"\n"}), "another line end"
    assert new.startswith(BOM) == old.startswith(BOM)
    if tree is None:
        assert new.startswith(old), "what stood in the empty document is gone"
    elif edit.method == "append" or at(tree, edit.path) is None:
        _judge_insertion(format, old, new, edit)
    elif format == "toml":
        assert is_thinned(comments(format, old), comments(format, new)), "a comment is new"
    else:
        _judge_change(format, old, new, edit)


def _judge_insertion(format: str, old: str, new: str, edit: Edit) -> None:
    start = _same(old, new)
    empties = (EMPTY if format == "yaml" else BLANK).finditer(old)
    olds = [old, f"{old[:start]},{old[start:]}", *(old[: one.start()] + old[one.end() :] for one in empties)]
    assert any(_is_one_insertion(each, new) for each in olds), "what stood there is changed"
    if format != "json" or _has_lines(old, edit.path):
        # What comes on a line of its own comes on a new one, below what stands behind another member.
        assert format != "json" or new.count("\n") + new.count("\r") > old.count("\n") + old.count("\r")
        assert is_thinned(_line_comments(format, new), _line_comments(format, old)), "a comment was moved"


def _has_lines(text: str, path: Path) -> bool:
    """Has JSON's container at a path, or above it, its members on lines of their own?"""
    tree = read("json", text)
    while at(tree, path) is None:
        path = path[:-1]
    _, _, inner = at(tree, path)
    first = 0 if at(tree, path)[0] == "seq" else inner[0][0][2] if inner else ""
    return bool(inner) and bool(line_ends(text[span("json", text, path)[1] : span("json", text, (*path, first))[0]]))


def _is_one_insertion(old: str, new: str) -> bool:
    start = _same(old, new)
    return len(new) >= len(old) and (start == len(old) or old.endswith(new[start - len(old) :]))


def _judge_change(format: str, old: str, new: str, edit: Edit) -> None:
    key, start, end = span(format, old, edit.path)
    kept = [*comments(format, old[:key]), *comments(format, old[end:])] if format == "json" else []
    if edit.method == "set" and format == "json":
        assert new.startswith(old[:start]) and new.endswith(old[end:]) and len(new) >= start + len(old) - end
        value = new[start : len(new) - len(old) + end]
        assert value.strip(BLANKS) == value and json.loads(value) == edit.arguments[0]
    elif format == "json":
        assert comments(format, new) == kept, "a comment is lost"
        gone, came = _difference(tokens(format, old), tokens(format, new))
        assert is_thinned(gone, came) and all(is_trivial(token) for token in came), "something is new"
        around = (reversed(tokens(format, old[:key])), tokens(format, old[end:]))
        beside = [next(one for one in part if not one.isspace() and not is_comment(one)) for part in around]
        inside = tokens(format, old[key:end]).count(",")
        assert gone.count(",") - came.count(",") == inside + ("," in beside), "one comma goes, a trailing one stays"
    else:
        outside = [token for start, token in _placed(format, old) if not key <= start < end and is_comment(token)]
        assert is_thinned(comments(format, new), outside), "a comment is lost"
        assert is_thinned(comments(format, old), comments(format, new)), "a comment is new"


def _difference(one: list[str], two: list[str]) -> tuple[list[str], list[str]]:
    """What is left of both without what they begin and end with alike."""
    start = _same(one, two)
    end = _same(one[start:][::-1], two[start:][::-1])
    return one[start : len(one) - end], two[start : len(two) - end]


def _same(one: Sequence[str], two: Sequence[str]) -> int:
    """How much both begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False)))


def _line_comments(format: str, text: str) -> list[tuple[str, str]]:
    """Each comment to the end of a line, with what stands before it there, or the end of a container."""
    found = []
    for start, token in _placed(format, text):
        if is_comment(token) and token[:2] != "/*":
            line = re.split(r"[\r\n]", text[:start])[-1].replace(",", "")
            line = EMPTY.sub("", line) if format == "yaml" else re.sub(r".*[\]}]", "]", line)
            found.append((line.removeprefix(BOM).strip(), token))
    return found


def _placed(format: str, text: str) -> list[tuple[int, str]]:
    words = tokens(format, text)
    return [*zip([0, *accumulate(map(len, words))], words, strict=False)]
