"""hookctl uninstall: take out exactly what is ours, and keep what the operator changed."""

from __future__ import annotations

from hookctl import hosts as known
from hookctl import ledger, planner, report
from hookctl.folders import Folders
from hookctl.hosts import Host
from hookctl.model import Result


def uninstall(folders: Folders, pack: str, hosts: list[Host], *, everywhere: bool, dry_run: bool) -> Result:
    """Take the pack out of these hosts' user settings, or `everywhere` that the ledger knows of."""

    def make() -> planner.Plan:
        return planner.plan_uninstall(folders, pack, places(folders, hosts, everywhere=everywhere))

    plan = make() if dry_run else planner.carry_out(folders, make, report.say)
    text = report.plan_text(plan, dry_run=dry_run, done=f"{pack} is uninstalled.")
    return Result(report.plan_data(plan, dry_run=dry_run), tuple(text))


def places(folders: Folders, hosts: list[Host], *, everywhere: bool) -> list[tuple[Host, str]]:
    """The settings files that an uninstall looks at."""
    if everywhere:
        records = ledger.load(folders.ledger)
        return [(known.load(record.host), record.known_as or path) for path, record in records.items()]
    return [(host, known.settings_path(host, "user", folders.environ)) for host in hosts]
