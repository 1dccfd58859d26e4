"""The guard's options as the hook reads them: the environment first, then config.json."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from hookctl.settings.words import WORDS
from hookctl.system.package_data import read_data

LIMIT_KEY = "MAX_STOP_BLOCKS"  # the limit's own variable
_OF_THE_FILE = ("show_env",)  # no variable gives it
_NO_OPTIONS = ("$schema", "hosts")
_TYPES = {"integer": int, "boolean": bool, "array": list, "string": str}


def schema() -> dict[str, Any]:
    """The JSON Schema of every option, by the option's name."""
    properties = json.loads(read_data("schemas", "guard-config.schema.json"))["properties"]
    return {name: rule for name, rule in properties.items() if name not in _NO_OPTIONS}


def in_effect(config: Mapping[str, Any], env: Mapping[str, str]) -> dict[str, Any]:
    """The options with a value that the hook can read; all others have their defaults."""
    options = {}
    for name, rule in schema().items():
        variable = LIMIT_KEY if name == "max_stop_blocks" else f"HOOKCTL_{name.upper()}"
        text = "" if name in _OF_THE_FILE else env.get(variable, "")
        for value in (_parse(text, rule), config.get(name)):
            if _is_valid(value, rule):
                options[name] = value
                break
    limit = _parse(env.get(options.get("limit_env", ""), ""), {"type": "integer"})
    if limit and limit > 0:
        options["max_stop_blocks"] = limit
    return options


def _parse(text: str, rule: dict[str, Any]) -> Any:
    """The value of a variable; None where the hook cannot read it."""
    text = text.strip()
    kind = rule.get("type", "string")
    if kind == "integer":
        is_number = re.fullmatch(r"-?[0-9]{1,18}", text)
        return int(text) if is_number else None
    if kind == "boolean":
        return WORDS.get(text.lower())
    if kind == "array" and text:
        return [word.strip() for word in text.split(",")]
    return text


def _is_text(text: str) -> bool:
    """Whether a text may stand in a path or a variable: no NUL, and no half of a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _is_valid(value: Any, rule: dict[str, Any]) -> bool:
    if type(value) is not _TYPES[rule.get("type", "string")]:
        return False
    words = value if isinstance(value, list) else [value]
    known = rule.get("items", rule).get("enum", words)
    if isinstance(value, list) and not all(isinstance(word, str) for word in value):
        return False
    for word in words:
        if isinstance(word, str) and not (word.strip() and _is_text(word)):
            return False
        if word not in known:
            return False
    return bool(words)
