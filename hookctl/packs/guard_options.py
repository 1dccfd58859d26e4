"""The guard's options as the hook reads them: the environment first, then config.json."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from hookctl.system.package_data import guard_module, read_data

_NO_OPTIONS = ("$schema", "hosts", "wraps")


def schema() -> dict[str, Any]:
    """The JSON Schema of every option, by the option's name."""
    properties = json.loads(read_data("schemas", "guard-config.schema.json"))["properties"]
    return {name: rule for name, rule in properties.items() if name not in _NO_OPTIONS}


def variables_of(env: Mapping[str, str]) -> Callable[[str], str]:
    """A function that gives a variable's value to the guard's code: '' if it is not set."""
    return lambda name: env.get(name, "")


def confine(config: dict[str, Any], root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """A project's own configuration without values that lead out of it, as the hook reads it."""
    kept: dict[str, Any] = guard_module("settings").confine(config, root, variables_of(environ))
    return kept


def value_in_effect(name: str, config: Any, env: Mapping[str, str]) -> Any:
    """The value that the hook uses: of a valid variable, else of config.json, else the default."""
    guard = guard_module("settings")
    known = config if isinstance(config, dict) else {}
    return guard.read_setting(name, guard.DEFAULTS[name], known, variables_of(env))


def is_true(text: str) -> bool:
    """Whether the hook reads the text of a variable as yes."""
    return bool(guard_module("files").is_true(text))


def whole_number(text: str) -> int | None:
    """The whole number that the hook reads in a text; None if it reads none."""
    number: int | None = guard_module("files").whole_number(text)
    return number


def switches_off(name: str, value: str) -> bool:
    """Whether a variable turns the hook off."""
    return name == "HOOKCTL_DISABLE" and is_true(value)


def read_settings(config: Mapping[str, Any], env: Mapping[str, str]) -> Any:
    """Every setting under its name, as the hook reads them where no file locks the guard."""
    usable = {name: value for name, value in config.items() if _is_usable(value)}
    return guard_module("settings").Settings(usable, env=variables_of(env))


def _is_usable(value: Any) -> bool:
    """Whether every text of a value is allowed in a path: no NUL and no lone surrogate."""
    for text in value if isinstance(value, list) else [value]:
        try:
            if isinstance(text, str) and "\0" in text.encode().decode():
                return False
        except UnicodeEncodeError:
            return False
    return True


def is_valid(value: Any, rule: Mapping[str, Any]) -> bool:
    """Whether a value keeps to the schema of its option."""
    kind = rule.get("type", "string")
    if type(value) is not {"integer": int, "boolean": bool, "string": str, "array": list}[kind]:
        return False
    if kind == "integer":
        return bool(rule.get("minimum", value) <= value <= rule.get("maximum", value))
    if kind == "array":
        fits = all(is_valid(item, rule["items"]) for item in value)
        return fits and len(value) >= rule.get("minItems", 0)
    is_word = value in rule.get("enum", [value])
    return is_word and (kind == "boolean" or bool(re.search(rule.get("pattern", ""), value)))
