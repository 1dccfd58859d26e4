"""What one command reads: each thing once for a plan, and a broken file several times."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from hookctl.documents import MISSING, Document, formats, value_at, wrong_shape
from hookctl.errors import HookctlError
from hookctl.hosts import Host, shapes
from hookctl.ledger import store
from hookctl.ledger.store import Records
from hookctl.model import Current, Entry, Hooks, Path, Wanted
from hookctl.settings.targets import read_inside
from hookctl.system import files, interpreter
from hookctl.system.folders import Folders

if TYPE_CHECKING:  # late: most calls are about the guard, and nothing is disabled
    from hookctl.ledger.disabled import DisabledFile

READ_AGAIN = 5  # times: a file that does not parse is most likely being written
READ_PAUSE = 0.05  # seconds


class Sources:
    """What one command reads several times: once for a plan, and what takes a process once."""

    def __init__(self, folders: Folders) -> None:
        self.folders = folders
        self._python: tuple[str, str] | None = None
        self._on_path: dict[str, tuple[str, ...]] = {}
        self._versions: dict[str, str] = {}
        self.forget()

    def forget(self) -> None:
        """Read everything again, for another plan."""
        self._snapshots: dict[str, files.Snapshot] = {}
        self._documents: dict[tuple[str, str], tuple[files.Snapshot, Document]] = {}
        self._records: dict[tuple[str, ...], Records] = {}
        self._disabled: dict[str, DisabledFile] | None = None
        # Whether `hookctl disable` keeps anything, of whichever file.
        self.has_disabled = os.path.lexists(self.folders.disabled)

    def snapshot(self, path: str, project: str) -> files.Snapshot:
        """A file of hookctl's own; in a project never through a link that leads out of it."""
        if path not in self._snapshots:
            read = partial(read_inside, project) if project else files.read
            self._snapshots[path] = read(path)
        return self._snapshots[path]

    def read(self, path: str, format: str) -> tuple[files.Snapshot, Document]:
        """A settings file and its document."""
        if (path, format) not in self._documents:
            self._documents[path, format] = read_document(path, format)
        return self._documents[path, format]

    def records(self, projects: Iterable[str] = ()) -> Records:
        """The records of the state folder's ledger, and of the ledgers of these projects."""
        names = tuple(projects)
        if names not in self._records:
            self._records[names] = store.read(self.folders, names)
        return self._records[names]

    def disabled(self) -> dict[str, DisabledFile]:
        """What `hookctl disable` keeps, by the changed file."""
        if self._disabled is None:
            from hookctl.ledger import disabled  # late: few have anything disabled

            self._disabled = disabled.load(self.folders)
        return self._disabled

    def backup(self, sha: str) -> bytes | None:
        """The bytes with this SHA-256 from before one of our writes, if they are kept."""
        from hookctl.system import backups  # late: most plans look at no backup

        return backups.find_backup(self.folders.state, sha)

    def python(self) -> tuple[str, str]:
        """The Python for the hooks, and a warning or ''; searched once for a command."""
        if self._python is None:
            self._python = interpreter.choose(self.folders.environ)
        return self._python

    def python_on_path(self, project: str) -> tuple[str, ...]:
        """The warnings about the `python3` that a project's hooks run; asked once for a command."""
        if project not in self._on_path:
            self._on_path[project] = interpreter.on_path(self.folders.environ, project)
        return self._on_path[project]

    def version(self, host: Host) -> str:
        """The version of a host's client, or ''; asked once for a command."""
        from hookctl.hosts.version import ask_client  # late: most plans change nothing

        if host.name not in self._versions:
            self._versions[host.name] = ask_client(host, self.folders).version
        return self._versions[host.name]


def read_document(path: str, format: str) -> tuple[files.Snapshot, Document]:
    """The file and its document; read again if broken: another program may be writing it."""
    for remaining_tries in reversed(range(READ_AGAIN)):
        snapshot = files.read_settled(path)
        try:
            return snapshot, formats.parse(format, snapshot.data or b"", where=path)
        except HookctlError:
            if not remaining_tries:
                raise
            time.sleep(READ_PAUSE)
    raise AssertionError("not reached")


def has_files(folder: str) -> bool:
    """Whether there is any file in the folder, or in a folder below it."""
    return any(names for *_, names in os.walk(folder))


def look(
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
    items = [(want.path, want.kind) for want in wants]
    items += [(entry.path, entry.kind) for entry in entries]
    values: dict[Path, Any] = {}
    raw: dict[Path, str] = {}
    for path, kind in items:
        document.check_path(path)
        found, texts = _read_along(host, document, path, kind, null_is_nothing=null_is_nothing)
        values |= found
        raw |= texts
    hooks = shapes.elements(host.shape, root)
    for hook in hooks:
        raw[hook.path] = document.raw(hook.path)
    return Current(values, raw, Hooks(hooks))


def _read_along(
    host: Host, document: Document, path: Path, kind: str, *, null_is_nothing: bool
) -> tuple[dict[Path, Any], dict[Path, str]]:
    """The existing values along a path, and the source texts that may have to be restored.

    Refuses a container of another type.
    """
    values: dict[Path, Any] = {}
    raw: dict[Path, str] = {}
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
            # For the host it is an empty container, and the operator's, who gets the text back.
            value, raw[part] = [] if is_array else {}, document.raw(part)
        elif value is None and null_is_nothing:
            break
        if kind != "container":
            _require_container(document, part, value, is_array=is_array)
        values[part] = value
    return values, raw


def _require_container(document: Document, path: Path, value: Any, *, is_array: bool) -> None:
    if is_array and not isinstance(value, list):
        raise wrong_shape(document, path, "an array")
    if not is_array and not isinstance(value, dict):
        raise wrong_shape(document, path, "an object")
