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
    done = f"{pack} is uninstalled. Backups of your settings and the log stay in {report.tilde(folders.state)}."
    text = report.plan_text(plan, dry_run=dry_run, done=done)
    return Result(report.plan_data(plan, dry_run=dry_run), tuple(text), tuple(_elsewhere(folders, pack, plan)))


def _elsewhere(folders: Folders, pack: str, plan: planner.Plan) -> list[str]:
    """Where the pack is installed besides: another value of a variable such as CLAUDE_CONFIG_DIR led there."""
    looked_at = {file.key for file in plan.files}
    records = ledger.load(folders.ledger)
    others = [ledger.place_of(records, key) for key, record in records.items()
              if key not in looked_at and pack in record.packs]  # fmt: skip
    if not others:
        return []
    return [f"{pack} stays installed in {', '.join(others)}; `hookctl uninstall --all` takes it out there too"]


def places(folders: Folders, hosts: list[Host], *, everywhere: bool) -> list[tuple[Host, str, str]]:
    """The settings files that an uninstall looks at, and the keys of their pages where it goes by those."""
    if everywhere:
        records = ledger.load(folders.ledger)
        return [(known.load(record.host), ledger.place_of(records, key), key) for key, record in records.items()]
    return [(host, known.settings_path(host, "user", folders.environ), "") for host in hosts]
