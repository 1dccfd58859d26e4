"""What the tests know of a client as data: its table, tables/CLIENT.toml.

A text that begins with = is an expression: of the client's pins, the `words` of the table, its driver, and of what the
reader names; a list takes in what such an element has for a list. {place.home} is the home of the test's place.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from . import hooks
from .clients import pins_of
from .dialects import Call, Reply


def name_of(driver: Any) -> str:
    """The client's name, as its fixture and its files have it."""
    return str(driver.__name__.rpartition(".")[2])


def read(driver: Any, part: str, names: Mapping[str, Any] = {}) -> Any:
    """A part of a client's table, or an empty one."""
    data = tomllib.loads(Path(__file__).with_name("tables").joinpath(f"{name_of(driver)}.toml").read_text())
    pins = json.loads(json.dumps(pins_of(name_of(driver))), object_hook=lambda values: SimpleNamespace(**values))
    scope = {**vars(hooks), **vars(driver), **names, **vars(pins), **data.get("words", {})}

    def value(given: Any) -> Any:
        if isinstance(given, str):
            return eval(given[1:], scope) if given.startswith("=") else given
        if isinstance(given, dict):
            return {value(name): value(each) for name, each in given.items()}
        if not isinstance(given, list):
            return given
        values = []
        for each in given:
            found = value(each)
            values += found if isinstance(each, str) and isinstance(found, list) else [found]
        return values

    return value(data.get(part, {}))


def placed(value: Any, place: Any) -> Any:
    """A value of a table with the folders of a place."""
    if isinstance(value, str):
        return re.sub(r"\{place\.(\w+)\}", lambda found: str(getattr(place, found[1])), value)
    if isinstance(value, dict):
        return {placed(name, place): placed(each, place) for name, each in value.items()}
    return [placed(each, place) for each in value] if isinstance(value, list) else value


def reply(driver: Any, given: Any) -> Reply:
    """A reply of the model: a text, a command for the `shell`, or a `tool` and its `input`."""
    if not isinstance(given, dict):
        return given
    return driver.shell(given["shell"]) if "shell" in given else Call(given["tool"], given["input"])
