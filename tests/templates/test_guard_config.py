"""What install starts from and checks against agrees with what the hook reads."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from hookctl import hosts
from hookctl.packs import choices, guard

from .lab import Lab, own_programs, package_in
from .modules import module

SCHEMA: dict[str, Any] = json.loads((Path(__file__).parents[2] / "schemas" / "guard-config.schema.json").read_text())
SETTINGS = {name: value for name, value in SCHEMA["properties"].items() if name not in ("hosts", "wraps")}
DEFAULTS, WORDS = module("settings").DEFAULTS, module("settings").WORDS
TYPES = {str: "string", int: "integer", bool: "boolean", list: "array"}


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["additionalProperties"] is False


def test_schema_and_hook_have_the_same_knobs_defaults_types_and_words() -> None:
    assert {name: knob["default"] for name, knob in SETTINGS.items()} == DEFAULTS
    words = {name: knob.get("enum") or knob.get("items", {}).get("enum") for name, knob in SETTINGS.items()}
    assert {name: tuple(values) for name, values in words.items() if values} == WORDS
    for name, knob in SETTINGS.items():
        assert knob["description"].endswith(".")
        assert knob.get("type", "string") == TYPES[type(DEFAULTS[name])]


@pytest.mark.parametrize("name", hosts.names())
def test_the_configuration_that_install_starts_from_is_valid_and_changes_no_default(name: str) -> None:
    host = hosts.load(name)
    config = guard.configuration(choices.Settings(), "", host)
    Draft202012Validator(SCHEMA).validate({**config, "hosts": guard.host_table(host)})
    assert config == {setting: DEFAULTS[setting] for setting in config}


def test_the_usual_call_imports_none_of_the_dear_modules(lab: Lab) -> None:
    """Each of them alone costs as much as the whole call."""
    lab.is_served = False
    lab.task(remaining=2)
    own_programs(lab.top)
    module = package_in(lab.top) / "call.py"
    end = '        posix.write(2, " ".join(set(sys.modules) & {"json", "hashlib", "os", "re", "enum"}).encode())\n'
    text = module.read_text().replace("        posix._exit(0)", end + "        posix._exit(0)")
    module.write_text("import sys\n" + text)
    assert end in module.read_text()
    assert lab.stops("01") == "BB"
