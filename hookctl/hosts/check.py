"""Faults of the hosts' files, checked only after a failure, since that takes long."""

from __future__ import annotations

import json
from collections.abc import Iterator

import jsonschema

from hookctl.documents import formats
from hookctl.errors import HookctlError
from hookctl.hosts import names, path_of, read_table
from hookctl.system.package_data import read_data


def faults() -> Iterator[HookctlError]:
    """The first fault of each host's file that is not valid TOML or does not match the schema."""
    schema = json.loads(read_data("schemas", "host.schema.json"))
    validator = jsonschema.Draft202012Validator(schema)
    for name in names():
        path = path_of(name)
        try:
            value = formats.parse("toml", read_table(name), where=path).value
        except HookctlError as error:
            yield error
            continue
        for fault in validator.iter_errors(value):
            key = ".".join(map(str, fault.absolute_path))
            message = f"{key}: {fault.message}" if key else fault.message
            hint = "Fix this file: docs/adding-a-host.md and schemas/host.schema.json describe it."
            yield HookctlError("invalid_host", message, path=path, hint=hint)
            break
