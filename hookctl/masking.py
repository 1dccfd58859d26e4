"""Which values are nobody's business, and how they are shown: not at all."""

from __future__ import annotations

import re
from typing import Any

MASK = "***"
# Compiled when it is used: most calls show no value at all.
_SECRET = (
    r"(?i)api[-_]?key|token|secret|passw|passphrase|credential|authorization|private[-_]?key|access[-_]?key"
    r"|cookie|bearer|webhook|(^|[-_])(key|auth|pwd|pass|pat|dsn)$|(?-i:[a-z]Key$)"
)


def is_secret(key: str) -> bool:
    """Whether a key's name says that its value is nobody's business."""
    return bool(re.search(_SECRET, key))


def masked(value: Any, key: str = "") -> Any:
    """The value of a key with everything secret in it masked, at any depth."""
    if isinstance(value, dict):
        return {name: masked(inner, name if not is_secret(key) else key) for name, inner in value.items()}
    if isinstance(value, list):
        return [masked(inner, key) for inner in value]
    return MASK if is_secret(key) else value
