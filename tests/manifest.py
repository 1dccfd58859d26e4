"""The text of a pack file, for tests that need a pack and not a certain text of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence


def manifest(
    name: str, *hooks: str, version: str = "1", files: Sequence[str] = (), env: Mapping[str, str] | None = None,
    rules: str = "", **pack: str | list[str],
) -> str:  # fmt: skip
    """A pack of this name, with hooks as `hook` has them; `pack` are further keys of its first table."""
    parts = [_table("[pack]", {"name": name, "version": version, **pack})]
    parts += [_table("[rules]", {"text": rules})] if rules else []
    parts += [_table("[env]", env)] if env else []
    parts += [_table("[files]", {"include": list(files)})] if files else []
    return "\n".join([*parts, *hooks])


def hook(event: str, command: str, **fields: str | int | bool | list[str]) -> str:
    """A hook of a pack."""
    return _table("[[hooks]]", {"event": event, **fields, "command": command})


def _table(head: str, values: Mapping[str, object]) -> str:
    return "".join([f"{head}\n", *(f"{key} = {json.dumps(value)}\n" for key, value in values.items())])
