"""What a settings file says now, as far as it concerns us: read with care, compared by meaning."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from hookctl import files
from hookctl.documents import MISSING, Document, formats, wrong_shape
from hookctl.errors import HookctlError
from hookctl.hosts import Host, shapes
from hookctl.model import Entry, Live, Path, Want

READ_AGAIN = 5  # times, since a file that does not parse is most likely being written
READ_PAUSE = 0.05  # seconds


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


def look(host: Host, document: Document, wants: Iterable[Want], entries: Iterable[Entry]) -> Live:
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
                raise wrong_shape(document, path, "an array" if array and length == len(place.path) else "an object")
            values[path] = value
            if leaf:
                raw[path] = document.raw(path)
    elements = shapes.elements(host.shape, root)
    return Live(values, raw | {element.path: document.raw(element.path) for element in elements}, elements)
