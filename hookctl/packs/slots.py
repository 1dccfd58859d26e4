"""The placeholders of a pack's commands, and what stands in quotes of sh."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

PLACEHOLDERS = ("files", "host", "event")
# Behind {files}: the rest of the word, quotes in it included.
_REST = re.compile(r"(?:[^\s;&|<>():\"']|\"[^\"]*\"|'[^']*')*")
_EXPANDED = re.compile(r"[$`*?\[\\]")  # with one of these only the shell knows which file is meant
_KNOWN = r"(?<!\$)\{(?:files|host|event)\}"  # ${host} is the shell's
# Behind @ or % it belongs to a revision or a format, behind - to a default.
_UNKNOWN = r"(?<![$@%-])\{[A-Za-z_][A-Za-z0-9_-]*\}"
# What is expanded in double quotes may hold simple quotes only: where others end is hard to tell.
_CALL = r"""\$\((?:[^()"'`\\]|'[^']*'|"[^"`\\(){}]*")*+\)"""
_EXPANSION = rf"""{_CALL}|\$\{{[^{{}}"'`\\]*\}}|`[^`"'\\]*`"""
_DOUBLE = rf"""(?:[^"\\`$]|\\.|{_EXPANSION}|\$(?![({{]))*+"""
_CLOSED = rf"""'[^']*'|"{_DOUBLE}"|`[^`\\]*`|(?<![^\s;&|<>()])\#.*"""
_TOKEN = re.compile(
    rf"""(?P<closed>{_CLOSED})|(?P<open>\$?'|["`])|\\.|(?P<slot>{_KNOWN}|{_UNKNOWN})""", re.DOTALL
)
_TITLES = {"'": "single quotes", '"': "double quotes", "`": "backticks", "#": "a comment"}


class Slot(NamedTuple):
    """A placeholder in a command."""

    start: int
    end: int
    name: str  # files | host | event, or what is none of them
    inside: str = ""  # what it stands in; empty where it may be replaced


class Unreadable(ValueError):
    """A command whose quotes have no end, or hide which placeholders stand inside them."""


def slots(command: str) -> Iterator[Slot]:
    """The placeholders of a command, and what looks like one outside quotes, in order."""
    for match in _TOKEN.finditer(command):
        if match["slot"]:
            yield Slot(match.start(), match.end(), match["slot"][1:-1])
        elif match["closed"]:
            for inner in re.finditer(_KNOWN, match[0]):
                at = match.start() + inner.start()
                yield Slot(at, at + len(inner[0]), inner[0][1:-1], _TITLES[match[0][0]])
        elif match["open"] == "$'":
            raise Unreadable("$'...' means different things to different shells")
        elif match["open"]:
            if match["open"] not in command[match.end() :]:
                raise Unreadable(f"{match['open']} is opened and never closed")
            if re.search(_KNOWN, command):
                raise Unreadable(f"what stands inside {match['open']} cannot be followed")
            return


def fill(command: str, values: Mapping[str, str]) -> Iterator[str]:
    """The pieces of a command with the values of its placeholders, each a piece of its own."""
    at = 0
    for slot in slots(command):
        yield command[at : slot.start]
        yield values[slot.name]
        at = slot.end
    yield command[at:]


def list_named_files(command: str) -> Iterator[str]:
    """The files that a command names below {files}; not those that it only writes."""
    for slot in slots(command):
        if slot.name != "files" or command[: slot.start].rstrip().endswith(">"):
            continue
        match = _REST.match(command, slot.end)
        rest = match[0] if match else ""
        if rest.startswith("/") and not _EXPANDED.search(rest):
            name = re.sub("[\"']", "", rest).lstrip("/")
            yield posixpath.normpath(name) if name else ""
