"""Documents by chance: in the forms that programs and people give them, nearly right ones, and edits to try."""

import json
import random
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

from hookctl.errors import HookctlError

from .judge import BOM, Tree, line_ends, node_at, read
from .table import Edit

SETTINGS: dict[str, Any] = {
    "$schema": "https://json.schemastore.org/claude-code-settings.json",
    "env": {"EDITOR": "vim", "MESSAGE": 'a "quoted" // { not a comment } /* nor this */, ]', "EMPTY": ""},
    "permissions": {"allow": ["Bash(ls:*)", "Bash(git:*)", "Read(~/日本/**)"], "deny": [], "ask": ["WebFetch"]},
    "hooks": {
        "Stop": [
            {"hooks": [{"type": "command", "command": "~/.claude/hooks/bell.sh", "timeout": 10}]},
            {"matcher": "", "hooks": [{"type": "command", "command": "echo 'ä, ö' 😀"}]},
        ],
        "PreToolUse": [],
        "Notification": [{"hooks": [], "_tag": None}],
    },
    "empty": {},
    "ratios": [0.5, 1e400, -0.0, 12345678901234567890, [1, [2]], True, False, None],
    "a:b": {",": ":", "]": "}"},
    "statusLine": {"type": "command"},
}
# The judge reads what json.dumps writes of it; infinity is spelled as settings files would.
SETTINGS_TEXT = json.dumps(SETTINGS, ensure_ascii=False)
FORMS: dict[str, dict[str, Any]] = {  # the ways in which programs write
    "two spaces": {"indent": 2}, "four spaces": {"indent": 4}, "tabs": {"indent": "\t"}, "one line": {},
    "minified": {"separators": (",", ":")},
}  # fmt: skip
INSERTED: tuple[Any, ...] = (
    "ours", "a: b", "# no", "", "yes", "10", " x ", "é😀\n\t\u2028", 7, True, 0.5, 1.5e300, [], {}, None,
    {"type": "command", "command": "a \"b\" ö 😀 sh -c ': x'", "timeout": 10}, [1, [2, {"x": []}], {}],
    {"a": {"b": ["c"]}, "on": [[1]]},
)  # fmt: skip


def edits(format: str, text: str, *values: Any) -> Iterator[Edit]:
    """Every kind of insertion, replacement and removal in every container, with these values or others by chance."""
    chance = random.Random(len(text))
    values = values or [value for value in INSERTED if value is not None or format == "json"]
    tree = read(format, text)
    for path, (kind, _, inner) in _walk(tree or ("map", "map", []), ()):
        node = node_at(text, path)[1] if format == "yaml" and tree else None
        if getattr(node, "flow_style", False) and (inner or not path):
            continue  # nothing is edited inside brackets
        if kind == "map":
            yield Edit("set", (*path, "ours"), (chance.choice(values),))
            yield Edit("set", (*path, "ours", "inner", "deep"), (chance.choice(values),))
            yield Edit("append", (*path, "ours", "list"), (chance.choice(values),))
            names = [key[2] for key, _ in inner if key[:2] == ("scalar", "str")]
            members: list[str | int] = [name for name in names if names.count(name) == 1]
        else:
            yield Edit("append", path, (chance.choice(values),))
            members = list(range(len(inner)))
        for member in {*members[:1], *members[-1:], *members[len(members) // 2 :][:1]}:
            yield Edit("remove", (*path, member), ())
            yield Edit("set", (*path, member), (chance.choice(values),))


def _walk(tree: Tree, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Tree]]:
    """The containers; a path through a key that is there twice is refused."""
    kind, _, inner = tree
    if kind == "scalar":
        return
    yield path, tree
    keys = [key for key, _ in inner] if kind == "map" else []
    for number, one in enumerate(inner):
        name, value = (one[0][2], one[1]) if kind == "map" else (number, one)
        if kind == "seq" or (one[0][:2] == ("scalar", "str") and keys.count(one[0]) == 1):
            yield from _walk(value, (*path, name))


REMARKS = (
    '/* , ] } // */', '/**/', '// it\'s "odd" {\n', '/* two\n   lines: "a": [1, */', '/* " */', '// /* not open\n',
    '/***/', '// "old": true,\n', '//\n', '/*/ still in */', '// \\\n',
)  # fmt: skip
KEYS = st.sampled_from(["a", "b", "env", "hooks", "a:b", "{", '"', "\\", "é", "//", ",]"]) | st.text(max_size=4)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8),
    st.sampled_from(["// no", "/* no */", ",}", '"', "\\", "\ud800", "😀\u2028"]),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=10
)
GAPS = st.sampled_from(["", "", "", " ", "\n", "\n  ", "\n    ", "\t", "  "])


@st.composite
def json_texts(draw: st.DrawFn, *, remarks: bool = False, object_only: bool = False) -> str:
    """Lay out a value by chance: blanks, and if asked for comments and trailing commas, between any two tokens."""
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))

    def gap() -> str:
        text = draw(GAPS)
        if remarks and draw(st.integers(0, 4)) == 0:
            text += draw(st.sampled_from(REMARKS)) + draw(GAPS)
        return text

    def laid_out(value: Any) -> str:
        if isinstance(value, float) and draw(st.booleans()):
            return draw(st.sampled_from(["1e400", "-0.0", "1.50", "1E3", "12345678901234567890"]))  # by hand
        if not isinstance(value, list | dict):
            is_lone = isinstance(value, str) and any("\ud800" <= char <= "\udfff" for char in value)
            return json.dumps(value, ensure_ascii=is_lone or not draw(st.booleans()))
        first, last = ("{", "}") if isinstance(value, dict) else ("[", "]")
        if not value:
            return first + (gap() if remarks else "") + last
        if isinstance(value, dict):
            parts = [laid_out(key) + gap() + ":" + gap() + laid_out(inner) for key, inner in value.items()]
        else:
            parts = [laid_out(inner) for inner in value]
        members = ",".join(gap() + part + gap() for part in parts)
        return first + members + ("," + gap() if remarks and draw(st.integers(0, 3)) == 0 else "") + last

    value = draw(st.dictionaries(KEYS, VALUES, max_size=5) if object_only else VALUES)
    text = draw(st.sampled_from(["", BOM])) + gap() + laid_out(value) + gap()
    return text.replace("\r\n", "\n").replace("\n", end)


NAMES = ["a", "b", "hooks", "Stop", "state", '"b c"', "'a.b'", '"k:stop:0:0"', '"\\u0061x"', '"é"']
WRITTEN = {next(iter(tomllib.loads(f"{name} = 1"))): name for name in NAMES}
DOTTED = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(".".join) | st.sampled_from(
    ["hooks.Stop", "a . b"]
)
SPELLED = [
    "1", "-0.0", "1_000", "0xFF", "nan", "-nan", "inf", "true", "1979-05-27 07:32:00Z", "07:32:00", "2024-02-29",
    '"x"', "'x # no'", '"\\" # no \\\\"', '"""x"""', '"""\n[a]\n# no\n\\""" "" """', "'''x\n''# no'''", '""', "''",
    "[]", "[ ]", "[1, 2]", "[1,2,]", "[\n  1, # one\n  2 # two\n]", "[ # c\n]", "[[1], [nan]]", "[\n\t1,\n\t2,\n]",
    "{}", "{ }", "{ b = 1 }", "{b=1,a={c=[1]}}", "{ a.b = 1, a.c = 2 }", "[{ a = 1 }, { a = 2 }]",
    "[\n  { hooks = [{ command = 'x' }] }, # c\n]", '{ "b c" = "# no", x = """\n""" }', "[1 # one\n , 2\n ]",
]  # fmt: skip
REMARK = st.sampled_from(["", "", "", " # c", '  # \'a\' """ [b]', "#", "\t"])
INDENT = st.sampled_from(["", "", "", "  ", "\t"])
LINES = st.one_of(
    st.tuples(INDENT, DOTTED, st.sampled_from([" = ", "=", "\t=  "]), st.sampled_from(SPELLED), REMARK).map("".join),
    st.tuples(INDENT, DOTTED, REMARK).map(lambda parts: f"{parts[0]}[{parts[1]}]{parts[2]}"),
    st.tuples(INDENT, DOTTED, REMARK).map(lambda parts: f"{parts[0]}[[ {parts[1]} ]]{parts[2]}"),
    st.sampled_from(["[[hooks.Stop]]", "[[hooks.Stop.hooks]]", "[hooks]", "[hooks.state]", "[[a]]", "[a.b]", "[a]"]),
    st.sampled_from(["", "", "# c", "  # d = 1", "#", " "]),
)


@st.composite
def toml_texts(draw: st.DrawFn) -> str:
    """Lines that are TOML together: each is taken if what there is so far can still be read."""
    lines: list[str] = []
    for line in draw(st.lists(LINES, max_size=12)):
        try:
            tomllib.loads("\n".join([*lines, line]))
        except tomllib.TOMLDecodeError:
            continue
        lines.append(line)
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n", "\n", "\n\n"]))
    return draw(st.sampled_from(["", "", "", "\ufeff"])) + (text if draw(st.booleans()) else text.replace("\n", "\r\n"))


TOML_VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text(st.characters(codec="utf-8"), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
PIECES = st.sampled_from(
    ["[", "]", "[[", "]]", "{", "}", ",", "=", ".", '"', "'", '"""', "'''", "\\", "#", "a", "b", "1", "-", "nan", "\n",
     "\r\n", "\r", " ", "\t", "\ufeff", "\0", "é", "a = 1\n", "[a]\n", "[[hooks.Stop]]\n", "<<<<<<< x\n", "2024-02-29"]
)  # fmt: skip


def nearly(texts: st.SearchStrategy[str]) -> st.SearchStrategy[bytes]:
    """Any bytes, pieces in a row, and texts of which a part is cut out or replaced by a piece."""

    def cut(text: str) -> st.SearchStrategy[str]:
        parts = st.tuples(st.integers(0, len(text)), st.integers(0, 3), PIECES | st.just(""))
        return parts.map(lambda part: text[: part[0]] + part[2] + text[part[0] + part[1] :])

    rows = st.lists(PIECES, max_size=14).map("".join)
    return st.binary(max_size=60) | (rows | texts.flatmap(cut)).map(str.encode)


# YAML is that of files, and how else they may be written

CORPUS = Path(__file__).parents[1] / "corpus" / "hermes"
VARIANTS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "crlf": lambda text: text.replace("\n", "\r\n") if line_ends(text) <= {"\n"} else text,
    "bom": lambda text: BOM + text.removeprefix(BOM),
    "no final newline": lambda text: text.rstrip("\r\n"),
}


def is_readable(text: str) -> bool:
    """Is it one YAML document of a mapping or of nothing, by both of PyYAML's readers?"""
    try:
        for loader in (yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if not isinstance(yaml.load(text.removeprefix(BOM), loader), dict | type(None)):
                return False
    except yaml.YAMLError:
        return False
    return True


YAML = {
    (path.stem, name): change(path.read_bytes().decode("utf-8"))
    for path in sorted(CORPUS.glob("*.yaml"))
    for name, change in VARIANTS.items()
    if is_readable(change(path.read_bytes().decode("utf-8")))
}


def call_everything(
    document: Any, path: tuple[str | int, ...], source: str, expected: Callable[[HookctlError], bool]
) -> None:
    """Read and edit at a path in every way; what is raised must be expected."""
    for action in (
        lambda: document.value,
        lambda: document.get(path),
        lambda: document.raw(path),
        lambda: document.position(path),
        lambda: document.check_path(path),
        lambda: document.set(path, {"x": [1]}),
        lambda: document.set_raw(path, source),
        lambda: document.append(path, "y"),
        lambda: document.append(path, {"y": [{}]}),
        lambda: document.remove(path),
        lambda: document.require_strict(comments=False, trailing_commas=False),
    ):
        try:
            action()
        except HookctlError as error:
            assert expected(error), error
        except KeyError:
            pass
