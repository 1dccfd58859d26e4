"""What one command reads: each file once a plan, and bytes that are still the same parsed only once."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from hookctl.documents import MISSING, Document, formats, wrong_shape
from hookctl.errors import HookctlError
from hookctl.hosts import Host, shapes
from hookctl.hosts.shapes import Shape
from hookctl.model import Current, Edit, Entry, Path, Wanted
from hookctl.system import files, interpreter
from hookctl.system.folders import Folders

READ_AGAIN = 5  # times, since a file that does not parse is most likely being written
READ_PAUSE = 0.05  # seconds


class Sources:
    """The settings files that a command plans with, and the Python that its hooks run with."""

    def __init__(self, folders: Folders) -> None:
        self.folders = folders
        self._read: dict[tuple[str, str], tuple[files.Snapshot, Document]] = {}
        self._edited: dict[str, tuple[Document, list[tuple[type, Edit]], Document]] = {}
        self._python: tuple[str, str] | None = None

    def forget(self) -> None:
        """Look at every file again, for another plan."""
        self._read = {}

    def read(self, path: str, format: str) -> tuple[files.Snapshot, Document]:
        """The file and its document, as they were when this plan first asked for them."""
        key = path, format
        if key not in self._read:
            self._read[key] = read_document(path, format)
        return self._read[key]

    def edit(self, shape: Shape, document: Document, edits: tuple[Edit, ...]) -> Document:
        """The document with these edits; a plan that comes to the same ones again gets the same document."""
        known, kinds = self._edited.get(document.where), [(type(edit), edit) for edit in edits]
        if known is None or known[0] is not document or known[1] != kinds:
            known = document, kinds, shapes.apply(shape, document, edits)
            self._edited[document.where] = known
        return known[2]

    def python(self) -> tuple[str, str]:
        """The Python for the hooks, and a warning or an empty text; looked for once a command."""
        if self._python is None:
            self._python = interpreter.choose(self.folders.environ)
        return self._python


def read_document(path: str, format: str) -> tuple[files.Snapshot, Document]:
    """The file and its document; one that does not parse is read again, since somebody may be writing it."""
    for rest in reversed(range(READ_AGAIN)):
        snapshot = files.read(path)
        try:
            return snapshot, formats.parse(format, snapshot.data or b"", where=path)
        except HookctlError:
            if not rest:
                raise
            time.sleep(READ_PAUSE)
    raise AssertionError("not reached")


def look(
    host: Host, document: Document, wants: Iterable[Wanted], entries: Iterable[Entry]
) -> Current:
    """The live values at the places that concern us; refuses shapes and doubled keys that an edit would meet."""
    root = {} if document.value is MISSING else document.value
    if not isinstance(root, dict):
        raise wrong_shape(document, (), "an object")
    values: dict[Path, Any] = {}
    raw: dict[Path, str] = {}
    for place in (*wants, *entries):
        document.check_path(place.path)
        array = place.kind == "element"
        for length in range(1, len(place.path) + 1):
            path = place.path[:length]
            value = document.get(path)
            if value is MISSING:
                break
            leaf = length == len(place.path) and place.kind == "leaf"
            fits = leaf or isinstance(value, list if array and length == len(place.path) else dict)
            if not fits and place.kind != "container":
                raise wrong_shape(
                    document,
                    path,
                    "an array" if array and length == len(place.path) else "an object",
                )
            values[path] = value
            if leaf:
                raw[path] = document.raw(path)
    elements = shapes.elements(host.shape, root)
    return Current(
        values, raw | {element.path: document.raw(element.path) for element in elements}, elements
    )
