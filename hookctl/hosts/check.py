"""Faults of the hosts' files, checked only after a failure, since that takes long."""

from __future__ import annotations

import json
from collections.abc import Iterator

from hookctl.documents import formats
from hookctl.errors import HookctlError
from hookctl.hosts import names, path_of
from hookctl.system.folders import asset


def faults() -> Iterator[HookctlError]:
    """The first fault of each host's file that is not valid TOML or does not match the schema."""
    import jsonschema

    with open(asset("schemas", "host.schema.json"), encoding="utf-8") as stream:
        validator = jsonschema.Draft202012Validator(json.load(stream))
    for name in names():
        path = path_of(name)
        try:
            with open(path, "rb") as stream:
                value = formats.parse("toml", stream.read(), where=path).value
        except HookctlError as error:
            yield error
            continue
        for fault in validator.iter_errors(value):
            key = ".".join(map(str, fault.absolute_path))
            message = f"{key}: {fault.message}" if key else fault.message
            hint = "Fix this file: docs/adding-a-host.md and schemas/host.schema.json describe it."
            yield HookctlError("invalid_host", message, path=path, hint=hint)
            break
