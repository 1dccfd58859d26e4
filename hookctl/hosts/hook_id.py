"""The digest that names a hook, whoever put it there."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hookctl.system import files

LENGTH = 12  # characters of an ID
_SHORT = 8  # that people see: enough for the commands that take one


def digest(host: str, scope: str, event: str, matcher: str, command: str) -> str:
    """The digest of a hook; an ID is its beginning."""
    text = json.dumps([host, scope, event, matcher, command])
    return files.digest(text.encode("ascii"))


def number(names: Sequence[str]) -> list[str]:
    """The IDs of hooks, from the digests of all of them: a repeated one gets its number."""
    seen: dict[str, int] = {}
    ids = []
    for name in names:
        count = seen[name] = seen.get(name, 0) + 1
        ids.append(name[:LENGTH] + (f"#{count}" if count > 1 else ""))
    return ids


def shorten(id: str) -> str:
    """The beginning of an ID, with the number of a repeat."""
    name, sign, number = id.partition("#")
    return name[:_SHORT] + sign + number
