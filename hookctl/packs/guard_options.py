"""The guard's options as the hook reads them: the environment first, then config.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hookctl.packs.guard_package import guard_module
from hookctl.system.package_data import read_data

LIMIT_KEY = "MAX_STOP_BLOCKS"  # the limit's own variable
_NO_OPTIONS = ("$schema", "hosts")


def schema() -> dict[str, Any]:
    """The JSON Schema of every option, by the option's name."""
    properties = json.loads(read_data("schemas", "guard-config.schema.json"))["properties"]
    return {name: rule for name, rule in properties.items() if name not in _NO_OPTIONS}


def in_effect(config: Mapping[str, Any], env: Mapping[str, str]) -> dict[str, Any]:
    """The options with a value that the hook can read; all others have their defaults."""
    guard = guard_module("settings")

    def value_of(name: str) -> str:
        return env.get(name, "")

    options = {}
    for name, default in guard.DEFAULTS.items():
        value = guard.find_setting(name, default, config, value_of)
        if value is not None and _is_usable(value):
            options[name] = value
    limit = guard_module("values").whole_number(value_of(options.get("limit_env", "")))
    if limit and limit > 0:
        options["max_stop_blocks"] = limit
    return options


def _is_usable(value: Any) -> bool:
    """Whether every text of a value may stand in a path: no NUL, and no half of a character."""
    for text in value if isinstance(value, list) else [value]:
        try:
            if isinstance(text, str) and "\0" in text.encode().decode():
                return False
        except UnicodeEncodeError:
            return False
    return True
