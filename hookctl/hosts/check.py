"""Checks the text of a host's file against the schema; it takes long, so it is done seldom."""

from __future__ import annotations

import json

import jsonschema

from hookctl.documents import formats
from hookctl.errors import HookctlError
from hookctl.system.package_data import read_data


def find_fault(name: str, path: str, text: bytes) -> HookctlError | None:
    """The first fault of a host's file, with the file and the key; None if it has none."""
    try:
        value = formats.parse("toml", text, where=path).value
    except HookctlError as error:
        return error
    schema = json.loads(read_data("schemas", "host.schema.json"))
    for fault in jsonschema.Draft202012Validator(schema).iter_errors(value):
        key = ".".join(map(str, fault.absolute_path))
        return _invalid(path, f"{key}: {fault.message}" if key else fault.message)
    if value["name"] != name:
        return _invalid(path, f"name: {value['name']!r} is not the name of this file")
    return None


def _invalid(path: str, message: str) -> HookctlError:
    hint = "Fix this file: docs/adding-a-host.md and schemas/host.schema.json describe it."
    return HookctlError("invalid_host", message, path=path, hint=hint)
