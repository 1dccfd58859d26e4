"""A plugin file of ours: JSON settings inside fixed code, edited as a settings file is.

The settings are a JSON document of their own, and the code around them comes from templates/. A file whose code is not
ours word for word is refused: it is another program's, or somebody's own work by now.
"""

from __future__ import annotations

import hashlib
import json
from itertools import takewhile
from typing import Any

from hookctl.documents import Path
from hookctl.documents.jsonc import JsonDocument
from hookctl.documents.scan import decode
from hookctl.documents.text import position_of
from hookctl.errors import HookctlError
from hookctl.system.folders import asset

# The settings stand between these two lines, in every version.
_START = "\nconst settings =\n"
_END = "// From here on every file of this version is the same; hookctl does not touch one that differs.\n"

# The SHA-256 of the code (what stands before the settings and behind them) of earlier versions, which the next install
# brings up to date.
_EARLIER: tuple[str, ...] = ()


class PluginDocument:
    """An immutable plugin file; each edit gives a new one, and one without settings is no file at all."""

    fault = None  # JavaScript has comments and trailing commas

    def __init__(self, settings: JsonDocument, code: tuple[str, str]) -> None:
        self._settings = settings  # behind as many empty lines as the file has before them, so that errors name its own
        self._code = code
        self.where = settings.where

    @classmethod
    def parse(cls, data: bytes, *, where: str = "") -> PluginDocument:
        """Read the bytes of a file; errors name `where`, line and column (not_utf8, unparsable, foreign_file)."""
        text = decode(data, where)
        if not text.strip():
            return cls._around(text, _code(), where)
        before, settings, behind = _parts(text)
        if (before, behind) != _code() and _digest(before + behind) not in _EARLIER:
            raise _foreign(text, where)
        return cls._around(settings, (before, behind), where)

    @classmethod
    def _around(cls, settings: str, code: tuple[str, str], where: str) -> PluginDocument:
        above = "\n" * code[0].count("\n")
        return cls(JsonDocument.parse((above + settings).encode(), where=where), code)

    @property
    def data(self) -> bytes:
        """The bytes of the file; none where there are no settings left."""
        return self._file(self._own(self._settings)).encode()

    @property
    def value(self) -> Any:
        """The settings, or MISSING in an empty document."""
        return self._settings.value

    def require_strict(self, *, comments: bool, trailing_commas: bool) -> None:
        """Refuse nothing: the host reads whatever JavaScript allows."""

    def get(self, path: Path) -> Any:
        """The parsed value at path, or MISSING."""
        return self._settings.get(path)

    def raw(self, path: Path) -> str:
        """The source text of the value at path; KeyError if there is none."""
        return self._settings.raw(path)

    def position(self, path: Path) -> tuple[int, int]:
        """Line and column of the value at path, or of its nearest existing parent."""
        return self._settings.position(path)

    def check_path(self, path: Path) -> None:
        """Refuse (duplicate_key) a path through a key that its object has twice: the host reads the last one."""
        self._settings.check_path(path)

    def set(self, path: Path, value: Any) -> PluginDocument:
        """Replace the value at path, or insert it after its siblings; creates missing parents."""
        return self._with(self._settings.set(path, value))

    def set_raw(self, path: Path, text: str) -> PluginDocument:
        """Like set(), with a source text from an earlier raw()."""
        return self._with(self._settings.set_raw(path, text))

    def append(self, path: Path, value: Any) -> PluginDocument:
        """Add an element at the end of the array at path; creates the array if it is missing."""
        return self._with(self._settings.append(path, value))

    def remove(self, path: Path) -> PluginDocument:
        """Remove the member or element at path; returns the same document if there is none.

        With the last entry the whole file goes, unless there is a remark in it.
        """
        rest = self._settings.remove(path)
        if rest is self._settings or not _is_bare(rest.value):
            return self._with(rest)
        remarked = "".join(self._own(rest).split()) != _compact(rest.value)
        return self._with(rest) if remarked else self._around("", self._code, self.where)

    def renewed(self) -> PluginDocument:
        """The document with the code of this version; the same one where it has that."""
        return (
            self
            if self._code == _code()
            else self._around(self._own(self._settings), _code(), self.where)
        )

    def _with(self, settings: JsonDocument) -> PluginDocument:
        return self if settings is self._settings else PluginDocument(settings, self._code)

    def _own(self, settings: JsonDocument) -> str:
        """The settings as they stand in the file."""
        return settings.data.decode()[self._lines :]

    @property
    def _lines(self) -> int:
        return self._code[0].count("\n")

    def _file(self, settings: str) -> str:
        return self._code[0] + settings + self._code[1] if settings.strip() else settings


def _template() -> str:
    with open(asset("templates", "opencode", "plugin.js"), encoding="utf-8") as stream:
        return stream.read()


def _parts(text: str) -> tuple[str, str, str]:
    """What stands before the settings, the settings, and what stands behind them; "" for parts that are not there."""
    before, start, rest = text.partition(_START)
    settings, end, behind = rest.rpartition(_END)
    return before + start, settings, end + behind


def _code() -> tuple[str, str]:
    before, _, behind = _parts(_template())
    return before, behind


def _is_bare(value: Any) -> bool:
    """Whether there is nothing in it but containers."""
    return value == [] or (isinstance(value, dict) and all(map(_is_bare, value.values())))


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()


def _foreign(text: str, where: str) -> HookctlError:
    """The refusal of a file whose code is not ours, with the first place where it differs."""
    before, behind = _code()
    found, _, found_behind = _parts(text)
    at = _same(before, found)
    if found == before:
        at = len(text) - len(found_behind) + _same(behind, found_behind)
    line, column = position_of(text, at)
    message = "this file is not as hookctl writes it"
    hint = "If it is another program's, move it away; if its code was edited, remove it. Then run the command again."
    return HookctlError("foreign_file", message, path=where, line=line, column=column, hint=hint)


def _same(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
