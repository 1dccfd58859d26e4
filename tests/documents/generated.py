"""A document in the forms that programs give it, remarks, and the edits to try on any document."""

import json
import random
from collections.abc import Iterator
from typing import Any

from .judge import Edit, Node, nodes

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

REMARKS = (
    '/* , ] } // */', '/**/', '// it\'s "odd" {\n', '/* two\n   lines: "a": [1, */', '/* " */', '// /* not open\n',
    '/***/', '// "old": true,\n', '//\n', '/*/ still in */', '// \\\n',
)  # fmt: skip

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
