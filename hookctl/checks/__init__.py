"""What doctor looks at: one module a subject, each a function from what is there to findings. Nothing is written."""

from __future__ import annotations

import os
import shlex
from typing import NamedTuple

from hookctl import project
from hookctl.documents import Document
from hookctl.effects import Switch
from hookctl.folders import Folders
from hookctl.hosts import Host
from hookctl.model import Live, PackRecord, Record
from hookctl.places import GUARD, Place, standing
from hookctl.scopes import Source, sources


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
    place: Place
    document: Document | None  # None where it cannot be read
    record: Record | None
    live: Live | None

    @property
    def host(self) -> Host:
        return self.place.host

    @property
    def path(self) -> str:
        """As people know it; links are not resolved."""
        return self.place.path

    @property
    def guard(self) -> PackRecord | None:
        return self.record.packs.get(GUARD) if self.record else None

    @property
    def start(self) -> str:
        """The folder that the host is started in: the project, or at user scope the working folder."""
        return self.place.project or self.folders.cwd

    @property
    def sources(self) -> list[Source]:
        """The settings files that the host reads there."""
        user = self.path if self.place.scope == "user" else standing(self.host, "user", self.folders.environ)[1]
        return sources(self.folders, self.host, user, self.start)

    @property
    def reaching(self) -> list[Source]:
        """Those whose variables reach the guard's hook in this file: all of them, or where a hook has its own, this."""
        own = [source for source in self.sources if source.path == self.path]
        return own if self.host.env_field and own else self.sources

    @property
    def install(self) -> str:
        """The command that installs the guard in this settings file."""
        return self.install_of(GUARD)

    def install_of(self, pack: str) -> str:
        """The command that installs a pack in this settings file."""
        page = self.record.packs.get(pack) if self.record else None
        # What a committed ledger names as a pack's file is a stranger's word.
        source = page.source if page and not self.place.shared else ""
        name = "" if pack == GUARD else f" {shlex.quote(source) if source else pack}"
        where = "" if self.place.scope == "user" else f" --scope {self.place.scope}"
        if self.place.project and self.place.project != project.find(self.folders.cwd, self.folders.environ):
            where += f" --project {shlex.quote(self.place.project)}"
        return f"hookctl install{name} --host {self.host.name}{where}"

    def find(self, code: str, level: str, message: str, fix: str = "", path: str = "") -> Finding:
        """A finding about this file, unless it names another path."""
        return Finding(code, level, message, self.host.name, path or self.path, fix)


class Here(NamedTuple):
    """One host as it is started in the working folder: the settings files that it reads there."""

    folders: Folders
    host: Host
    scenes: tuple[Scene, ...]  # of this host, wherever they are
    sources: tuple[Source, ...]  # those first whose values win
    disabling: Switch | None = None  # what switches all hooks off

    @property
    def project(self) -> str:
        """The project as the hook finds it: from the host's own variable, else from the working folder."""
        named = self.folders.environ.get(self.host.data["environment"].get("project", ""), "")
        return project.find(named if os.path.isdir(named) else self.folders.cwd, self.folders.environ)

    def find(self, code: str, level: str, message: str, fix: str = "", path: str = "") -> Finding:
        """A finding about this host."""
        return Finding(code, level, message, self.host.name, path, fix)
