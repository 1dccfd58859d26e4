"""What doctor looks at: one module a subject, each a function from what is there to findings. Nothing is written."""

from __future__ import annotations

from typing import NamedTuple

from hookctl.documents.jsonc import JsonDocument
from hookctl.folders import Folders
from hookctl.hosts import Host
from hookctl.model import Live, PackRecord, Record


class Finding(NamedTuple):
    """One thing that doctor found; docs/doctor.md explains every code."""

    code: str
    level: str  # error | warning | info
    message: str
    host: str = ""
    path: str = ""
    fix: str = ""


class Scene(NamedTuple):
    """One settings file of one host, with what the ledger says of it."""

    folders: Folders
    host: Host
    path: str  # as people know it; links are not resolved
    document: JsonDocument | None  # None where it cannot be read
    record: Record | None
    live: Live | None

    @property
    def guard(self) -> PackRecord | None:
        return self.record.packs.get("guard") if self.record else None

    def find(self, code: str, level: str, message: str, fix: str = "", path: str = "") -> Finding:
        """A finding about this file, unless it names another path."""
        return Finding(code, level, message, self.host.name, path or self.path, fix)
