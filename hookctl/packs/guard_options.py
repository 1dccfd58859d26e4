"""The guard's options as the hook reads them: the environment first, then config.json."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
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


def find_faults(name: str, value: Any, rule: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The faults of one value by its schema: each place, and what is wrong there."""
    kind, is_number = (
        rule.get("type", ""),
        isinstance(value, int | float) and not isinstance(value, bool),
    )
    if kind and not _has_type(kind, value):
        yield name, f"{value!r} is not of type {kind!r}"
    if "enum" in rule and value not in rule["enum"]:
        yield name, f"{value!r} is not one of {rule['enum']!r}"
    if is_number and value < rule.get("minimum", value):
        yield name, f"{value!r} is less than the minimum of {rule['minimum']!r}"
    if is_number and value > rule.get("maximum", value):
        yield name, f"{value!r} is greater than the maximum of {rule['maximum']!r}"
    if isinstance(value, str) and not re.search(rule.get("pattern", ""), value):
        yield name, f"{value!r} does not match {rule['pattern']!r}"
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from find_faults(f"{name}.{number}", item, rule.get("items", {}))
        if len(value) < rule.get("minItems", 0):
            yield name, f"{value!r} should be non-empty"


def _has_type(kind: str, value: Any) -> bool:
    """Whether a value is of one of the JSON Schema types that our schemas use."""
    if kind == "integer":
        whole = isinstance(value, float) and value.is_integer()
        return whole or (isinstance(value, int) and not isinstance(value, bool))
    return isinstance(value, {"boolean": bool, "string": str, "array": list}[kind])
