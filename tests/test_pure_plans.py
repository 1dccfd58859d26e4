"""A plan is made of what was read before it: the same sources give the same plan with the disk gone."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from hookctl import hosts, packs
from hookctl.model import Put
from hookctl.packs.choices import Choice, Request
from hookctl.packs.pack import load_file
from hookctl.planner.install import plan_install
from hookctl.planner.plan import Plan
from hookctl.planner.sources import Sources
from hookctl.planner.uninstall import Leaving, plan_uninstall
from hookctl.settings import targets
from hookctl.system.folders import here

from .conftest import Hookctl, put

PACK = Path(__file__).parent / "packs" / "notify"


def clear(folder: Path) -> None:
    """Take everything off the disk that a plan could read."""
    for path in folder.iterdir():
        shutil.rmtree(path)


def install(sources: Sources, targets: list[targets.Target], choice: Choice, name: str) -> Plan:
    pack = load_file(str(PACK)) if name == "notify" else packs.load(name)
    return plan_install(sources, pack, targets, choice)


@pytest.mark.parametrize("host", hosts.names())
@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("installed", [(), ("guard",), ("guard", "notify")], ids=["none", "guard", "both"])
def test_a_plan_asks_the_disk_once(
    hookctl: Hookctl, isolated: Path, host: str, scope: str, installed: tuple[str, ...]
) -> None:
    if scope not in hosts.load(host).scopes:
        return
    for name in installed:
        assert hookctl("install", str(PACK) if name == "notify" else name, "--host", host, "--scope", scope).code == 0
    folders = here()
    target = targets.find(hosts.load(host), scope, folders, "" if scope == "user" else folders.cwd)
    plans: dict[str, Callable[[Sources], Plan]] = {
        "install": partial(install, targets=[target], choice=Choice(Request()), name="guard"),
        "pack": partial(install, targets=[target], choice=Choice(Request()), name="notify"),
    }
    if installed:
        leaving = [Leaving(target, installed)]
        projects = [folders.cwd] if target.shared else []
        plans["uninstall"] = partial(plan_uninstall, leaving=leaving, loaded={}, projects=projects)
    sources = {name: Sources(folders) for name in plans}
    first = {name: make(sources[name]) for name, make in plans.items()}
    clear(isolated)
    for name, make in plans.items():
        assert make(sources[name]) == first[name], name


def test_the_same_edits_of_a_document_give_the_same_document_again(settings: Path) -> None:
    put(settings, "{}")
    shape, sources, edits = hosts.load("claude").shape, Sources(here()), (Put(("a",), 1),)
    document = sources.read(str(settings), "json")[1]
    edited = sources.edit(shape, document, edits)
    assert sources.edit(shape, document, edits) is edited
    assert sources.edit(shape, document, (Put(("a",), True),)).value == {"a": True}
