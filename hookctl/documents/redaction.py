"""Masks every secret in a text, and leaves the rest as it is; the number of lines stays.

The file's own reader gives the keys and values. Between them are only punctuation and comments,
which are shown only if nothing in them or beside them is secret.
"""

from __future__ import annotations

import json
import re

from hookctl.documents import BREAK, Document, Path, Scalar
from hookctl.masking import MASK, by_look, flag_of, is_secret, masked_text

_COMMENT = r"#[^\r\n]*|//[^\r\n]*|/\*(?s:.*?)\*/"
_LINE_OF_COMMENT = r"^(\s*(?://|#|/\*|\*(?![*/]))?\s*)[^\s].*?(\s*\*/)?$"
_PRIVATE_KEY = (
    r"-----BEGIN [A-Z0-9 ]{0,60}+-----[A-Za-z0-9+/=\s#*]{0,8192}+"
    r"(?:-----END [A-Z0-9 ]{0,60}+-----)?"
)
# A line that ends with a name whose value begins on the next one.
_OPENED = r"([\w.-]++)[\"'`]?[ \t]*[:=][ \t]*[\[{(|>\"'`+-]*[ \t]*$"


def redacted(document: Document, shown: frozenset[str] = frozenset()) -> str:
    """A document's text with every secret masked, by its name or its look.

    The values in `shown`, hookctl's own commands, stay as they are wherever they stand.
    """
    text = document.data.decode("utf-8")
    secrets = _Secrets()
    parts: list[str] = []
    done, was_secret = 0, False
    for scalar in document.scalars():
        secret = secrets.has(scalar)
        hides_gap = was_secret or (secret and not scalar.is_key)
        parts.append(_gap(text[done : scalar.start], hides_gap))
        source = text[scalar.start : scalar.end]
        if scalar.text in shown:
            parts.append(source)
        else:
            parts.append(_masked(source, scalar.text, secret and not scalar.is_key))
        done, was_secret = scalar.end, secret
    return "".join([*parts, _gap(text[done:], was_secret)])


def redacted_text(text: str) -> str:
    """A text of no settings format with every secret masked, by its name or its look."""
    text = re.sub(_PRIVATE_KEY, lambda match: mask_lines(match[0]), text)
    parts = re.split(f"({BREAK.pattern})", text)
    is_hidden = False
    for number, line in enumerate(parts[::2]):
        if not line.strip():
            is_hidden = False
        parts[number * 2] = mask_lines(line) if is_hidden else masked_text(line)
        opened = re.search(_OPENED, line[-200:])
        is_hidden = is_hidden or bool(opened and is_secret(opened[1]))
    return "".join(parts)


def mask_lines(secret: str) -> str:
    """Mask each line, but keep line breaks, for a diff's line numbers, and comment marks."""
    lines = re.split(f"({BREAK.pattern})", secret)
    return "".join(re.sub(_LINE_OF_COMMENT, rf"\1{MASK}\2", line) for line in lines)


class _Secrets:
    """Which places are secret: below such a key, after such a flag, or shared with others."""

    def __init__(self) -> None:
        self._names: dict[str | int, bool] = {}
        self._after_flags: set[Path] = set()

    def has(self, scalar: Scalar) -> bool:
        path = scalar.path
        is_found = scalar.is_shared
        for length, name in enumerate(path, 1):
            if name not in self._names:
                self._names[name] = isinstance(name, str) and is_secret(name)
            is_found = is_found or self._names[name] or path[:length] in self._after_flags
        if path and isinstance(path[-1], int) and is_secret(flag_of(scalar.text)):
            self._after_flags.add((*path[:-1], path[-1] + 1))
        return is_found


def _masked(source: str, plain: str, is_hidden: bool) -> str:
    """A key or a value, masked where it is secret or has a secret in it."""
    shown = MASK if is_hidden else masked_text(plain)
    is_long = bool(BREAK.search(source))
    if is_long and (shown != plain or masked_text(source) != source):
        return mask_lines(source)
    if shown == plain:
        return source
    return shown if plain == source and not is_hidden else json.dumps(shown, ensure_ascii=False)


def _gap(source: str, is_hidden: bool) -> str:
    """What stands between two values, its comments masked if any of them may be secret."""
    if not source.strip(" \t\r\n,:=[]{}"):
        return source
    words = re.findall(r"\w[\w.-]*+", source)
    is_hidden = is_hidden or by_look(source) != source or any(map(is_secret, words))
    if is_hidden:
        source = re.sub(_COMMENT, lambda match: mask_lines(match[0]), source)
    return by_look(source, mask_lines)
