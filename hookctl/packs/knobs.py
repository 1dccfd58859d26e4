"""The guard's knobs as the hook takes them: the environment over config.json, what cannot be read left out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from hookctl.settings.words import WORDS
from hookctl.system.folders import asset

LIMIT_KEY = "MAX_STOP_BLOCKS"  # the limit's own variable
_NO_KNOBS = ("$schema", "hosts")
_KINDS = {"integer": int, "boolean": bool, "array": list, "string": str}


def schema() -> dict[str, Any]:
    """Every knob's JSON Schema, by its name."""
    with open(asset("schemas", "guard-config.schema.json"), encoding="utf-8") as stream:
        return {
            name: about
            for name, about in json.load(stream)["properties"].items()
            if name not in _NO_KNOBS
        }


def in_effect(config: Mapping[str, Any], env: Mapping[str, str]) -> dict[str, Any]:
    """The knobs that are set to something that the hook can read; the others have their defaults."""
    found = {}
    for name, about in schema().items():
        text = env.get(LIMIT_KEY if name == "max_stop_blocks" else f"HOOKCTL_{name.upper()}", "")
        values = (_from_text(text, about), config.get(name))
        value = next((value for value in values if _fits(value, about)), None)
        found |= {} if value is None else {name: value}
    return found


def _from_text(text: str, about: dict[str, Any]) -> Any:
    kind, text = about.get("type", "string"), text.strip()
    if kind == "integer":
        return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else None
    if kind == "boolean":
        return WORDS.get(text.lower())
    return [word.strip() for word in text.split(",")] if kind == "array" and text else text


def _fits(value: Any, about: dict[str, Any]) -> bool:
    kind = _KINDS[about.get("type", "string")]
    words = value if isinstance(value, list) else [value]
    known = about.get("items", about).get("enum", words)
    filled = all(not isinstance(word, str) or word.strip() for word in words)
    return type(value) is kind and bool(words) and filled and all(word in known for word in words)
