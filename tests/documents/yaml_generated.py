"""Edits to try on any YAML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from .yaml_judge import STRING, Edit, composed, read

CORPUS = Path(__file__).parents[1] / "corpus" / "hermes"

INSERTED: tuple[Any, ...] = (
    "ours", "a: b", "# no", "", "yes", "10", " x ", "é😀\n\t\u2028", 7, True, None, 0.5, 1e300, [], {},
    {"command": "sh -c ': x; \"y\"'", "timeout": 10}, [1, [2, {"x": []}], {}], {"a": {"b": ["c"]}, "on": [[1]]},
)  # fmt: skip


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
