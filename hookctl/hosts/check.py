"""Faults of the hosts' files; it takes long, so those that come with hookctl are not checked often.

Theirs are looked for after a failure only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import jsonschema

from hookctl.documents import formats
from hookctl.errors import HookctlError
from hookctl.hosts import names, path_of, read_table
from hookctl.system.package_data import read_data


def faults() -> Iterator[HookctlError]:
    """The first fault of each host's file that has one."""
    for name in names():
        error = find_fault(name)
        if error:
            yield error


def require_valid(name: str) -> None:
    """Refuse a host's file that is not valid TOML or does not match the schema."""
    error = find_fault(name)
    if error:
        raise error


def find_fault(name: str) -> HookctlError | None:
    """The first fault of a host's file, with the file and the key; None if it has none."""
    path = path_of(name)
    try:
        value = formats.parse("toml", read_table(name), where=path).value
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
