"""Git addresses that come from a project's committed record, which a stranger may have written.

Nothing is fetched from one before a person on this machine agreed to it. Who installed a pack from
an address has agreed; their own record says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hookctl.errors import USAGE, HookctlError
from hookctl.masking import OwnText
from hookctl.model import Record
from hookctl.packs.choices import Permission


class CommittedAddress(NamedTuple):
    """A pack's git address that only the records of projects know."""

    name: str
    address: str
    commits: tuple[str, ...]
    projects: tuple[str, ...]

    @property
    def text(self) -> str:
        """What a person reads before they agree to a fetch."""
        lines = [f"{self.name} comes from git, by a project's record alone:"]
        lines += [f"  address  {self.address}"]
        lines += [f"  commit   {commit}" for commit in self.commits]
        lines += [f"  project  {project}" for project in self.projects]
        return "\n".join(lines)


def find_committed(
    name: str, address: str, records: Mapping[str, Record]
) -> CommittedAddress | None:
    """A pack's address if it is known from projects alone; None if this machine agreed to it."""
    if address in _list_agreed(records.values()):
        return None
    commits: dict[str, None] = {}
    projects: dict[str, None] = {}
    for record in records.values():
        pack = record.packs.get(name)
        if pack is not None and pack.source == address:
            commits[pack.commit] = None
            projects[record.project] = None
    return CommittedAddress(name, address, tuple(commits), tuple(projects))


def _list_agreed(records: Iterable[Record]) -> set[str]:
    """The addresses in the user's own records."""
    agreed = set()
    for record in records:
        for pack in record.packs.values():
            agreed.add(pack.consent.source)
            if record.scope != "project":
                agreed.add(pack.source)
    return agreed


def require_agreement(
    committed: CommittedAddress, permission: Permission, command: str, *, is_named: bool
) -> None:
    """Show the address and ask; an error without a yes at a terminal, or --yes and the name.

    `command` is the one that agrees.
    """
    if permission.show is not None:
        permission.show(OwnText(committed.text))
    if permission.yes and is_named:
        return
    question = f"Fetch {committed.name} from there?"
    if not permission.yes and permission.confirm is not None and permission.confirm(question):
        return
    message = f"{committed.name}: this address is known from a project's record alone"
    hint = f"If you know it, `{command}` fetches it. Nothing was fetched or written."
    raise HookctlError(
        "consent_needed", message, path=committed.address, hint=hint, exit_code=USAGE
    )
