"""The records of all ledgers: the state folder's, and those of projects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hookctl.documents import formats
from hookctl.errors import HookctlError
from hookctl.ledger import store
from hookctl.model import Record
from hookctl.system import files
from hookctl.system import project as project_folder
from hookctl.system.folders import Folders


class Records(dict[str, Record]):
    """The records by the real path of their settings file.

    `projects` has the project of each file that lies in one, and `ledgers` the bytes that the
    records of a project were read from: what is planned for them holds for no others.
    """

    def __init__(
        self,
        records: Mapping[str, Record],
        projects: Mapping[str, str],
        ledgers: dict[str, bytes | None],
    ) -> None:
        super().__init__(records)
        self.projects, self.ledgers = projects, ledgers

    def add(self, more: Records) -> None:
        """Take in the records of another reading."""
        self.update(more)
        self.ledgers.update(more.ledgers)


def find_readable(folders: Folders) -> tuple[list[str], list[HookctlError]]:
    """The known projects whose ledgers can be read, and the errors of the others.

    Known are the current project and those that the state folder has a stub of.
    """
    projects: list[str] = []
    problems: list[HookctlError] = []
    _, stubs = _load_state(folders)
    for project in _known_projects(folders, stubs):
        try:
            _load_project(folders, project, stubs)
            projects.append(project)
        except HookctlError as error:
            problems.append(error)
    return projects, problems


def read(folders: Folders, projects: Iterable[str] = ()) -> Records:
    """The records of the state folder's ledger, and of the ledgers of these projects."""
    records, stubs = _load_state(folders)
    ledgers: dict[str, bytes | None] = {}
    for project in dict.fromkeys(projects):
        if project:
            records |= _load_project(folders, project, stubs, ledgers)
    projects_by_key = {key: stub.project for key, stub in stubs.items()}
    return Records(records, projects_by_key, ledgers)


def read_known(folders: Folders) -> tuple[dict[str, Record], list[HookctlError]]:
    """Every known record, and the errors of the projects whose ledgers cannot be read."""
    problems: list[HookctlError] = []
    records, stubs = _load_state(folders)
    for project in _known_projects(folders, stubs):
        try:
            records |= _load_project(folders, project, stubs)
        except HookctlError as error:
            problems.append(error)
    return records, problems


def _load_state(folders: Folders) -> tuple[dict[str, Record], dict[str, Record]]:
    """The whole records of the state folder's ledger, and its stubs.

    A stub only says that a project has a ledger of its own, which holds the record.
    """
    records: dict[str, Record] = {}
    stubs: dict[str, Record] = {}
    for key, record in store.load(folders).items():
        if record.format == "plugin":
            formats.remember(record.sha256_after)
        if record.scope == "project":
            stubs[store.real_path(key)] = record  # the project may lie behind a link by now
        else:
            records[key] = record
    return records, stubs


def _known_projects(folders: Folders, stubs: Mapping[str, Record]) -> list[str]:
    projects = []
    root = project_folder.search(folders.cwd, folders.environ)
    if not project_folder.is_foreign(root):
        projects.append(root)
    for stub in stubs.values():
        if stub.project:
            projects.append(store.real_path(stub.project))
    return list(dict.fromkeys(projects))


def _load_project(
    folders: Folders,
    project: str,
    stubs: Mapping[str, Record],
    ledgers: dict[str, bytes | None] | None = None,
) -> dict[str, Record]:
    """The records of a project; the bytes that they stand in are put into `ledgers`."""
    from hookctl.ledger import committed  # late: most calls are about no project

    project_folder.require_own(project)
    data = files.read(committed.ledger_path(project)).data
    if ledgers is not None:
        ledgers[project] = data
    return committed.load(folders, project, data, stubs)
