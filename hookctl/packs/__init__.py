"""The packs that come with hookctl: one TOML file each."""

from __future__ import annotations

import os
from typing import Any

from hookctl.errors import USAGE, HookctlError

_FOLDER = os.path.dirname(__file__)


def names() -> list[str]:
    """The built-in packs."""
    return sorted(name[:-5] for name in os.listdir(_FOLDER) if name.endswith(".toml"))


def load(name: str) -> dict[str, Any]:
    """The built-in pack of this name; an unknown one is a usage error that names those there are."""
    if name not in names():
        hint = f"Built-in packs: {', '.join(names())}."
        raise HookctlError("usage", f"unknown pack {name!r}", hint=hint, exit_code=USAGE)
    import tomllib

    with open(os.path.join(_FOLDER, f"{name}.toml"), "rb") as stream:
        return tomllib.load(stream)
