"""Settings files as documents: one module a format, all with the same small protocol.

A document is immutable: each edit gives a new one, already verified by parsing it again.
"""

from __future__ import annotations

from typing import Any, Protocol

from hookctl.model import Path as Path


class Missing:
    """The value of a path that a document does not have."""

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING = Missing()


class Document(Protocol):
    """What every format offers; errors are HookctlError with file, line and column."""

    @property
    def data(self) -> bytes:
        """The bytes of the file, byte order mark and line ends included."""

    @property
    def value(self) -> Any:
        """The parsed root value, or MISSING in an empty document."""

    def get(self, path: Path) -> Any:
        """The parsed value at path, or MISSING."""

    def raw(self, path: Path) -> str:
        """The source text of the value at path; KeyError if there is none."""

    def position(self, path: Path) -> tuple[int, int]:
        """Line and column (both from 1) of the value at path; of the nearest parent if there is none."""

    def set(self, path: Path, value: Any) -> Document:
        """Replace the value at path, or insert it behind its siblings; missing parents are made."""

    def set_raw(self, path: Path, text: str) -> Document:
        """The same with a source text that an earlier raw() gave."""

    def append(self, path: Path, value: Any) -> Document:
        """Add an element to the end of the array at path; a missing array and its parents are made."""

    def remove(self, path: Path) -> Document:
        """Take out the member or element at path; the same document if there is none."""
