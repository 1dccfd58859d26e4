"""Lossless reading and editing of settings files: one module a format, all with one protocol.

A document is immutable: each edit gives a new one, already verified by parsing it again.
The modules here may import `system` and the values at the root.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from hookctl.errors import UNEXPECTED, HookctlError
from hookctl.model import Path as Path
from hookctl.values import NamedTuple


class Missing:
    """The value of a path that a document does not have."""

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING = Missing()


class Scalar(NamedTuple):
    """A key, or a value that is no container: where it stands, and what it says."""

    start: int
    end: int
    path: Path  # of the value; of a key the path to its value
    text: str  # without quotes and escapes
    is_key: bool = False
    is_shared: bool = False  # an alias shows it at another path, too


class Document(Protocol):
    """The methods of every format; errors are HookctlError with file, line and column."""

    @property
    def where(self) -> str:
        """The file name that errors show."""

    @property
    def fault(self) -> tuple[str, int, int] | None:
        """Kind, line and column of the first thing that a strict host cannot read, or None."""

    def require_strict(
        self, *, comments: bool, trailing_commas: bool, plain_comments: bool = False
    ) -> None:
        """Refuse (strict_host) a document that a host with these flags cannot read.

        With `plain_comments` it reads comments, but not every one: see scan.odd_in_comment.
        """

    def scalars(self) -> Iterator[Scalar]:
        """Every key and value in the order of the text; between them are marks and comments."""

    def check_path(self, path: Path) -> None:
        """Refuse (duplicate_key) a path through a duplicate key: hosts use different ones."""

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
        """Line and column (from 1) of the value at path, or of its nearest existing parent."""

    def set(self, path: Path, value: Any) -> Document:
        """Replace the value at path, or insert it after its siblings; creates missing parents."""

    def set_raw(self, path: Path, text: str) -> Document:
        """Like set(), with a source text from an earlier raw()."""

    def append(self, path: Path, value: Any) -> Document:
        """Add an element at the end of the array at path; creates the array if it is missing."""

    def remove(self, path: Path) -> Document:
        """Remove the member or element at path; returns the same document if there is none."""


def wrong_shape(document: Document, path: Path, needed: str) -> HookctlError:
    """The error for a value at path that is not what an edit needs; `needed` names that."""
    name = ".".join(map(str, path)) or "the document"
    hint = f"Make it {needed}, then run the command again."
    return _error("wrong_shape", document, path, f"{name} is not {needed}", hint)


def unexpected(document: Document, path: Path, message: str) -> HookctlError:
    """The error for an edit that failed because of a bug in hookctl."""
    error = _error(
        "unexpected", document, path, message, "Nothing was written. Please report this."
    )
    error.exit_code = UNEXPECTED
    return error


def _error(code: str, document: Document, path: Path, message: str, hint: str) -> HookctlError:
    line, column = document.position(path)
    return HookctlError(code, message, path=document.where, line=line, column=column, hint=hint)
