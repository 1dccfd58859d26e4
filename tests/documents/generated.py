"""Documents in the forms that people and programs give them, and the edits to try on each."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .judge import BLANKS, BOM, Edit, Node, line_ends, nodes, plain

CORPUS = Path(__file__).parents[1] / "corpus" / "claude"

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


def canonical(value: Any, form: str) -> str:
    """Write a value the way programs do."""
    spelled: dict[str, Any] = {
        "two spaces": {"indent": 2},
        "four spaces": {"indent": 4},
        "tabs": {"indent": "\t"},
        "one line": {},
        "minified": {"separators": (",", ":")},
    }[form]
    return json.dumps(value, ensure_ascii=False, **spelled)


FORMS = ("two spaces", "four spaces", "tabs", "one line", "minified")

# By hand: one-line and many-line containers side by side, in all the ways that are not what a program writes.
BY_HAND = (
    '{\n  "a": [1, 2, 3], "b": {"c": 1},\n  "d": [\n    1,\n    2\n  ],\n\n  "e": { "f": [], "g": {} }\n}\n',
    '{ "a": 1\n, "b": [ 1\n       , 2\n       ]\n, "c": {}\n}\n',
    '{"a": {\n\t"b": 1,\n\t"c": [{"d": 1}, {"e": 2}]}, "f": [{\n\t"g": 1}]}',
    '{\n\n\n    "a"  :  1  ,\n    "bb" :  [ ]  ,\n    "ccc":  { }\n\n}\n\n\n',
    '[\n{"a": 1},\n{"a": 2}\n]\n',
    '[1,2 , 3]',
    '{"a":[[[[1]]]],"b":{"c":{"d":{"e":1}}}}',
    '{\n"a": 1,\n"b": {\n"c": [\n1\n]\n}\n}\n',
    '   {"\\u0061\\/": "\\u00e9\\ud83d\\ude00\\ud800", "a": 1e3, "z": [-0.0, 1.0, 100000000000000000000]}   ',
    '{\n  "a": [\n    {"x": 1}, {"y": 2},\n    {"z": 3}\n  ],\n  "s": "}{][,:\\"\\\\"\n}',
    '{"a": {}, "b": [], "c": {"d": {}}}\n',
    '{\n  "a":\n  {\n    "b":\n    [\n      1\n    ]\n  }\n}\n',
)  # fmt: skip

REMARKS = (
    '/* , ] } // */', '/**/', '// it\'s "odd" {\n', '/* two\n   lines: "a": [1, */', '/* " */', '// /* not open\n',
    '/***/', '// "old": true,\n', '//\n', '/*/ still in */', '// \\\n',
)  # fmt: skip


def jsonc(text: str, seed: int, *, everywhere: bool = False) -> str:
    """Put comments between the tokens, at the ends of lines and around the document, and commas before brackets."""
    chance = random.Random(seed)
    end = "\r\n" if "\r\n" in text else "\n"
    bare, out = plain(text), []
    in_string = escaped = False
    for at, char in enumerate(text):
        if in_string:
            in_string = escaped or char != '"'
            escaped = char == "\\" and not escaped
            out.append(char)
            continue
        if char in "]}" and bare[:at].rstrip(BLANKS)[-1] not in "[{" and chance.random() < 0.5:
            behind = len("".join(out).rstrip(BLANKS)) if chance.random() < 0.8 else -1
            joined = "".join(out)
            # Behind a line comment the comma would be part of it.
            if behind >= 0 and "//" not in joined[joined.rfind("\n", 0, behind) + 1 : behind]:
                out = [joined[:behind] + "," + joined[behind:]]
            else:
                out.append(",")
        if char in '{}[],:"\n' and chance.random() < (0.9 if everywhere else 0.15):
            remark = chance.choice(REMARKS)
            out.append(remark.replace("\n", end) if char != "\n" else " " + remark.rstrip("\n").replace("\n", end))
        out.append(char)
        in_string = char == '"'
    head = chance.choice(("", "// mine" + end, "/* mine */ "))
    tail = chance.choice(("", "// the end", "/* end */" + end))
    return head + "".join(out) + tail


def _crlf(text: str) -> str:
    return text.replace("\n", "\r\n") if line_ends(text) <= {"\n"} else text


def _minified(text: str) -> str:
    """Leave out the blanks between the tokens."""
    out, in_string, escaped = [], False, False
    for char in text:
        if in_string or char not in BLANKS:
            out.append(char)
        if in_string:
            in_string = escaped or char != '"'
            escaped = char == "\\" and not escaped
        else:
            in_string = char == '"'
    return "".join(out)


def _reindented(text: str, unit: str) -> str:
    out = []
    for line in text.split("\n"):
        body = line.lstrip(" \t")
        out.append(line[: len(line) - len(body)].replace("  ", unit) + body)
    return "\n".join(out)


VARIANTS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "crlf": _crlf,
    "cr": lambda text: text.replace("\r\n", "\n").replace("\n", "\r"),
    "bom": lambda text: text if text.startswith(BOM) else BOM + text,
    "no final newline": lambda text: text.rstrip("\r\n"),
    "tabs": lambda text: _reindented(text, "\t"),
    "four spaces": lambda text: _reindented(text, "    "),
    "minified": _minified,
}


def corpus() -> Iterator[tuple[str, str]]:
    """Give the settings files of the corpus that are strict JSON or empty."""
    for path in sorted(CORPUS.glob("*.json")):
        yield path.name, path.read_bytes().decode("utf-8")


def documents() -> Iterator[tuple[str, str]]:
    """Give every comment-free document of the tests, by name."""
    yield from corpus()
    for form in FORMS:
        yield f"settings, {form}", canonical(json.loads(SETTINGS_TEXT.replace("Infinity", "1.5")), form) + "\n"
    yield "settings, infinite number", SETTINGS_TEXT.replace("Infinity", "1e400")
    for number, text in enumerate(BY_HAND):
        yield f"by hand {number}", text


def commented() -> Iterator[tuple[str, str]]:
    """Give the same with comments and trailing commas in odd places."""
    for seed, (name, text) in enumerate(documents()):
        if (not text.startswith(BOM) and line_ends(text) <= {"\n"}) or "\r\n" in text:
            yield f"{name}, comments", jsonc(text.removeprefix(BOM), seed)
    for seed, text in enumerate(BY_HAND):
        for again in range(3):
            yield f"by hand {seed}, comments everywhere {again}", jsonc(text, 100 * again + seed, everywhere=True)


INSERTED: tuple[Any, ...] = (
    "ours", 7, True, None, 0.5, [], {}, {"type": "command", "command": 'a "b" ö 😀', "timeout": 10},
    [1, [2, {"x": []}]],
)  # fmt: skip


def edits(text: str) -> Iterator[Edit]:
    """Give the edits to try on a document: every kind of insertion, replacement and removal, in every container."""
    root = nodes(text)
    chance = random.Random(len(text))
    if root is None or root.kind == "object":
        yield Edit("set", ("ours",), "1")
        yield Edit("set", ("ours", "inner"), {"x": [1]})
        yield Edit("append", ("ours", "list"), {"x": 1})
    if root is not None:
        for path, node in _walk(root, ()):
            yield from _edits_at(path, node, chance)


def _walk(node: Node, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Node]]:
    yield path, node
    for place, value in enumerate(node.values):
        key = node.keys[place] if node.kind == "object" else place
        if node.keys.count(str(key)) < 2:  # a path through a key that is there twice is refused
            yield from _walk(value, (*path, key))


def _edits_at(path: tuple[str | int, ...], node: Node, chance: random.Random) -> Iterator[Edit]:
    if node.kind == "scalar":
        if path:
            yield Edit("set", path, chance.choice(INSERTED))
        return
    if node.kind == "object":
        yield Edit("set", (*path, "ours"), chance.choice(INSERTED))
        yield Edit("set", (*path, "ours", "inner", "deep"), chance.choice(INSERTED))
        yield Edit("append", (*path, "ours"), chance.choice(INSERTED))
    else:
        yield Edit("append", path, chance.choice(INSERTED))
        yield Edit("append", path, {"hooks": [{"type": "command"}]})
    for place in sorted({0, len(node.values) // 2, len(node.values) - 1} if node.values else ()):
        key: str | int = node.keys[place] if node.kind == "object" else place
        if node.keys.count(str(key)) < 2:
            yield Edit("remove", (*path, key))
