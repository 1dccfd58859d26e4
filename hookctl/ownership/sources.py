"""What one command reads: each thing once for a plan, and a broken file several times."""

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

from hookctl.documents import MISSING, Document, formats, value_at, wrong_shape
from hookctl.errors import HookctlError
from hookctl.hosts import Host, shapes
from hookctl.model import Current, Entry, HookEntry, Path, Wanted
from hookctl.ownership import store
from hookctl.ownership.engine import list_above
from hookctl.ownership.store import Records
from hookctl.system import files
from hookctl.system.folders import Folders

READ_AGAIN = 5  # times: a file that does not parse is most likely being written
READ_PAUSE = 0.05  # seconds


Found = TypeVar("Found")


class Sources:
    """What one command reads: each file once, and each settings file parsed once."""

    def __init__(
        self,
        folders: Folders,
        load: Callable[[str], files.Snapshot] = files.read_settled,
    ) -> None:
        self.folders = folders
        self._load = load
        self._known: dict[tuple[object, ...], Any] = {}

    def once(self, key: tuple[object, ...], read: Callable[[], Found]) -> Found:
        """What `read` gave, or the error that it raised, when it was asked for first."""
        if key not in self._known:
            try:
                self._known[key] = read()
            except HookctlError as error:
                self._known[key] = error
        found = self._known[key]
        if isinstance(found, HookctlError):
            raise found
        return found

    def snapshot(self, path: str) -> files.Snapshot:
        """A file as it was when it was asked for first; refuses one that cannot be read."""
        return self.once((path,), partial(self._load, path))

    def read(self, path: str, format: str) -> tuple[files.Snapshot, Document]:
        """A settings file and its document; read again if broken: it may just be written."""

        tries = 1 if (path, format) in self._known else READ_AGAIN
        for remaining_tries in reversed(range(tries)):
            snapshot = self.snapshot(path)
            parse = partial(formats.parse, format, snapshot.data or b"", where=path)
            try:
                return snapshot, self.once((path, format), parse)
            except HookctlError:
                if not remaining_tries:
                    raise
            time.sleep(READ_PAUSE)
            del self._known[path,], self._known[path, format]
        raise AssertionError("not reached")

    def names_us(self, path: str) -> bool:
        """Whether a file has a hook or a block of ours, even if the ledger does not know it."""
        try:
            return b"hookctl=" in (self.snapshot(path).data or b"")
        except HookctlError:
            return False

    def records(self, projects: Iterable[str] = ()) -> Records:
        """The records of the state folder's ledger, and of the ledgers of these projects."""
        names = tuple(projects)
        return self.once(("records", names), partial(store.read, self.folders, names))


def current_of(
    host: Host,
    document: Document,
    wants: Iterable[Wanted],
    entries: Iterable[Entry],
    *,
    null_is_nothing: bool = False,
) -> Current:
    """The current values where wants and entries belong; refuses what an edit could not handle.

    With `null_is_nothing`, a null where a container belongs counts as no container: nothing of
    ours can be in it.
    """
    root = {} if document.value is MISSING else document.value
    if not isinstance(root, dict):
        raise wrong_shape(document, (), "an object")
    items = {(one.path, one.kind): None for one in (*wants, *entries)}
    items |= {(one.follows, "leaf"): None for one in wants if one.follows}
    values: dict[Path, Any] = {}
    raw: dict[Path, str] = {}
    inside = list_above(path[:-1] for path, _ in items)
    for path, kind in items:
        if kind == "container" and path in inside:
            continue  # it is read with what is in it
        document.check_path(path)
        value = document.value
        for length, key in enumerate(path, 1):
            part, is_end = path[:length], length == len(path)
            value = value_at(value, (key,))
            if value is MISSING:
                break
            if kind == "leaf" and is_end:
                values[part], raw[part] = value, document.raw(part)
                break
            is_array = (kind == "element" and is_end) or part == host.shape.texts
            if value is None and host.null_is_absent:
                # For the host it is an empty container, and the operator gets the text back.
                value, raw[part] = [] if is_array else {}, document.raw(part)
            elif value is None and null_is_nothing:
                break
            if kind != "container" and not isinstance(value, list if is_array else dict):
                raise wrong_shape(document, part, "an array" if is_array else "an object")
            values[part] = value
    hooks: dict[str, list[HookEntry]] = {}
    for hook in shapes.elements(host.shape, root):
        raw[hook.path] = document.raw(hook.path)
        hooks.setdefault(hook.id, []).append(hook)
    return Current(values, raw, hooks)
