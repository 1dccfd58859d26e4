"""Reads the files of plugins: they are a stranger's, so each is small, regular and in its folder.

What cannot be read is written down; nothing is ever run.
"""

from __future__ import annotations

import glob
import itertools
import os
from collections.abc import Iterable, Mapping

from hookctl.documents import MISSING, Document, formats
from hookctl.errors import HookctlError
from hookctl.masking import plain
from hookctl.settings.targets import Read, read_settings
from hookctl.survey.model import Unreadable
from hookctl.system import files

MOST_FOLDERS = 200  # plugins of one kind, and hooks files of one plugin
_MOST_BYTES = 1 << 20
_MOST_BYTES_OF_ALL = 8 << 20


class PluginReader:
    """Reads each file once, and keeps what could not be read."""

    def __init__(
        self,
        places: Mapping[str, str],
        managed: tuple[str, ...] = (),
        read: Read = read_settings,
    ) -> None:
        self._places = places  # what stands for a placeholder in a path
        self._managed = managed
        self._read = read  # of the host's own files
        self._documents: dict[str, Document | None] = {}
        self._left = _MOST_BYTES_OF_ALL
        self.unreadable: list[Unreadable] = []

    def note(self, path: str, message: str, line: int = 0) -> None:
        """Write down that something cannot be read."""
        found = Unreadable(path, line, message)
        if found not in self.unreadable:
            self.unreadable.append(found)

    def document(self, path: str, within: str = "") -> Document | None:
        """The document of a file; None where there is none, or it cannot be read.

        A plugin's file must lie in its folder: `within`. Without one it is the host's own.
        """
        if path not in self._documents:
            try:
                self._documents[path] = self._parse(path, within)
            except HookctlError as error:
                self.note(path, error.message, error.line)
                self._documents[path] = None
        return self._documents[path]

    def values(self, path: str, within: str = "") -> dict[str, object]:
        """The values of a file; empty where there are none."""
        document = self.document(path, within)
        return document.value if document and isinstance(document.value, dict) else {}

    def _parse(self, path: str, within: str) -> Document | None:
        if not os.path.lexists(path):
            return None
        format = "toml" if path.endswith(".toml") else "json"
        if within:
            data = self._read_confined(path, within)
            if data is None:
                return None
            document = formats.parse(format, data, where=path)
        else:
            document = self._read(path, format)[1]
        return None if document.value is MISSING else document

    def _read_confined(self, path: str, within: str) -> bytes | None:
        """The bytes of a stranger's file; None where it is too large, or not in its folder."""
        real = os.path.realpath(path)
        if not is_inside(real, os.path.realpath(within)):
            self.note(path, "a link leads out of the plugin")
            return None
        size = os.path.getsize(real) if os.path.isfile(real) else 0
        if size > _MOST_BYTES:
            self.note(path, "the file is larger than 1 MiB")
            return None
        self._left -= size
        if self._left < 0:
            self.note(path, "there are more than 8 MiB of such files")
            return None
        data = files.read_resolved(real, path).data
        if data is None:
            self.note(path, "a link to a file that is not there")
        return data

    def expand(self, pattern: str) -> list[str]:
        """The paths that a pattern of a host's file stands for, also of files that are not there.

        A pattern with a placeholder that has no value here stands for none.
        """
        if pattern == "{managed}":
            return [path for managed in self._managed for path in sorted(glob.glob(managed))]
        is_plain = "*" not in pattern
        for name, value in self._places.items():
            placeholder = "{" + name + "}"
            if placeholder in pattern and not value:
                return []
            value = value.rstrip("/")
            pattern = pattern.replace(placeholder, value if is_plain else glob.escape(value))
        if is_plain:
            return [pattern]
        found = sorted(itertools.islice(glob.iglob(pattern), MOST_FOLDERS + 1))
        if len(found) > MOST_FOLDERS:
            self.note(os.path.dirname(found[0]), f"only {MOST_FOLDERS} plugins are looked at")
        return found[:MOST_FOLDERS]

    def expand_all(self, patterns: Iterable[str]) -> list[str]:
        """The paths of several patterns, each once."""
        return list(dict.fromkeys(path for each in patterns for path in self.expand(each)))


def is_inside(path: str, folder: str) -> bool:
    """Whether a real path is below a real folder."""
    return path.startswith(folder.rstrip("/") + "/")


def printable(name: str) -> str:
    """A name from a stranger's file, short and on one line."""
    text = plain(name)
    return text if len(text) <= 100 else f"{text[:99]}…"
