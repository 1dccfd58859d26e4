"""Git addresses that come from a project's committed record, which a stranger may have written.

Nothing is fetched from one before a person on this machine agreed to it. Who installed a pack from
an address has agreed; their own record says so.
"""

from __future__ import annotations

from collections.abc import Mapping

from hookctl.errors import USAGE, HookctlError
from hookctl.masking import OwnText
from hookctl.model import Record
from hookctl.packs.choices import Permission


def require_agreement(
    name: str,
    address: str,
    records: Mapping[str, Record],
    permission: Permission,
    command: str,
    *,
    is_named: bool,
) -> None:
    """Ask about an address that only projects know; `command` is the one that agrees."""
    lines = [f"{name} comes from git, by a project's record alone:", f"  address  {address}"]
    commits: dict[str, None] = {}
    projects: dict[str, None] = {}
    for record in records.values():
        for pack_name, pack in record.packs.items():
            if address in (pack.consent.source, record.scope != "project" and pack.source):
                return
            if pack_name == name and pack.source == address:
                commits[f"  commit   {pack.commit}"] = None
                projects[f"  project  {record.project}"] = None
    if permission.show is not None:
        permission.show(OwnText("\n".join([*lines, *commits, *projects])))
    if permission.yes and is_named:
        return
    question = f"Fetch {name} from there?"
    if not permission.yes and permission.confirm is not None and permission.confirm(question):
        return
    message = f"{name}: this address is known from a project's record alone"
    hint = f"If you know it, `{command}` fetches it. Nothing was fetched or written."
    raise HookctlError("consent_needed", message, path=address, hint=hint, exit_code=USAGE)
