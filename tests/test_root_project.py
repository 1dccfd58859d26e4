"""A project at the root of all, as some containers have one. Planned and read only: nothing may be written there."""

from __future__ import annotations

import os

import pytest

from hookctl import hosts, packs
from hookctl.ownership import committed
from hookctl.ownership.install import plan_install
from hookctl.ownership.plan import Plan
from hookctl.ownership.sources import Sources
from hookctl.packs.choices import Choice
from hookctl.settings import targets
from hookctl.system import folders, interpreter
from hookctl.work import run_files

ROOT = "/"

pytestmark = pytest.mark.skipif(
    any(os.path.lexists(f"/{name}") for name in (".claude", ".hookctl")), reason="this machine has a project at /"
)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "choose", lambda environ: ("/usr/bin/python3", ""))
    monkeypatch.setattr(interpreter, "on_path", lambda environ, project: ())


def planned(scope: str) -> Plan:
    here = folders.here()
    place = targets.find(hosts.load("claude"), scope, here, ROOT)
    return plan_install(Sources(here), packs.load("guard"), [place], Choice())


def test_its_committed_ledger_is_read_as_it_was_written() -> None:
    plan = planned("project")
    changes = {change.path: change.after for change in plan.changes}
    found = committed.load(folders.here(), ROOT, changes["/.hookctl/ledger.json"], {})
    (record,) = filter(None, plan.records.values())
    assert list(found) == ["/.claude/settings.json"]
    (read,) = found.values()
    assert (read.known_as, read.project) == ("/.claude/settings.json", ROOT)
    in_order = [sorted(page.entries, key=lambda e: (e.kind, e.path)) for page in (read, record)]
    assert in_order[0] == in_order[1]
    assert (read.created_file, read.created_dirs, read.packs) == (True, record.created_dirs, record.packs)
    assert record.created_dirs == ("/.claude", "/.hookctl")


def test_the_links_above_a_runs_file_in_it_are_looked_at_up_to_the_root() -> None:
    files = run_files.RunFiles(ROOT, None, "/.hookctl/run/task.json", {}, "", 0)
    assert run_files._list_linkable(files, files.task_path) == ["/.hookctl", "/.hookctl/run", "/.hookctl/run/task.json"]
