"""A plugin's own folder in its commands, where a variable stands for it."""

from __future__ import annotations

import re
from collections.abc import Mapping


def expand(command: str, roots: Mapping[str, str]) -> str:
    """A command with the folder in the place of the variables; other variables stay."""
    if not roots:
        return command
    names = "|".join(map(re.escape, roots))
    pattern = rf"\$(?:\{{({names})\}}|({names})\b)"
    return re.sub(pattern, lambda match: roots[match[1] or match[2]], command)
