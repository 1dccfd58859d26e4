"""The words for yes and no in an environment variable, as the hook reads them."""

from __future__ import annotations

WORDS = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}


def is_true(text: str) -> bool:
    """Whether the hook reads a text as yes."""
    return WORDS.get(text.strip().lower(), False)
