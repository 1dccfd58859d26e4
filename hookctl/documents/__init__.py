"""Settings files as documents: one module a format, all with the same small protocol.

A document is immutable: each edit gives a new one, already verified by parsing it again.
"""

from __future__ import annotations

from typing import Any, Protocol

from hookctl.errors import UNEXPECTED, HookctlError
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
    def where(self) -> str:
        """The file that errors name."""

    @property
    def fault(self) -> tuple[str, int, int] | None:
        """Kind, line and column of the first thing that a strict host does not read; None if there is none."""

    def require_strict(self, *, comments: bool, trailing_commas: bool) -> None:
        """Refuse (strict_host) a document that a host with these two flags does not read."""

    def check_path(self, path: Path) -> None:
        """Refuse (duplicate_key) a path through a key that stands twice: hosts differ in which one they take."""

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


def wrong_shape(document: Document, path: Path, needed: str) -> HookctlError:
    """The error for a value at path that an edit needs otherwise: `needed` says how."""
    name = ".".join(map(str, path)) or "the document"
    hint = f"Make it {needed}, then run the command again."
    return _error("wrong_shape", document, path, f"{name} is not {needed}", hint)


def unexpected(document: Document, path: Path, message: str) -> HookctlError:
    """The error for an edit that failed although it should not have: a fault of ours."""
    error = _error(
        "unexpected", document, path, message, "Nothing was written. Please report this."
    )
    error.exit_code = UNEXPECTED
    return error


def _error(code: str, document: Document, path: Path, message: str, hint: str) -> HookctlError:
    line, column = document.position(path)
    return HookctlError(code, message, path=document.where, line=line, column=column, hint=hint)
