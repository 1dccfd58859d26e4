"""What is wrong with a host's file; looked for only where something went wrong, since it costs more than most calls."""

from __future__ import annotations

import json
from collections.abc import Iterator

from hookctl.documents import formats
from hookctl.errors import HookctlError
from hookctl.hosts import names, path_of
from hookctl.system.folders import asset


def faults() -> Iterator[HookctlError]:
    """The hosts' files that are no TOML, or do not keep to the schema: each with what is wrong first."""
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
        wrong = next(validator.iter_errors(value), None)
        if wrong:
            key = ".".join(map(str, wrong.absolute_path))
            message = f"{key}: {wrong.message}" if key else wrong.message
            hint = "Mend this file: docs/adding-a-host.md and schemas/host.schema.json have what it may say."
            yield HookctlError("invalid_host", message, path=path, hint=hint)
