"""A hook of another tool that always denies, wrapped at each scope of each host: the agent ends at the limit."""

from pathlib import Path

import pytest

from tests.manifest import hook, manifest

from . import codex as driver
from .acceptance import CASES, Case
from .agent import Place
from .clients import Client
from .everywhere import receipts
from .hooks import verdict
from .model_server import Script
from .probe import BLOCK, Probe, make_probe
from .product import LIMIT, decisions, hookctl, hookctl_json

pytestmark = [pytest.mark.e2e, pytest.mark.full]

# Of the others hooks are no commands in settings, or have an end of their own before the limit.
WRAPPED = [case for case in CASES if case.host not in ("kimi", "pi", "vibe")]


def register(case: Case, place: Place) -> Probe:
    """Prepare the place and put another tool's hook into the settings."""
    case.prepare(place)
    denial = verdict("deny") if case.host == "openhands" else BLOCK
    foreign = make_probe(place.root / "other tool's", "foreign", answers=(denial,))
    case.write_operators_file(place, foreign)
    path = case.settings(place)
    if case.host == "copilot":  # a wrap takes the usual key
        path.write_text(path.read_text().replace('"bash"', '"command"'))
    return foreign


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in WRAPPED])
def test_it_ends_at_the_limit_and_uninstall_gives_the_bytes_back(case: Case, stage: tuple[Client, Place]) -> None:
    client, place = stage
    foreign, turn, limit = register(case, place), case.turn(place), LIMIT if case.cap == LIMIT else case.cap - 1
    before, where = case.texts(place), ("--host", case.host, "--scope", case.scope)
    hookctl(place, "install", *where, "--mode", "off", "--wrap", "foreign", "--set", f"max_stop_blocks={limit}")
    run = case.driver.play(client, place, Script(turn, limit=LIMIT * 4), *case.arguments, timeout=120)
    assert (run.code, run.requests, case.heard(foreign)) == (0, len(turn) + limit - 1, limit), run.errors
    assert [line["decision"] for line in decisions(place)] == ["block"] * (limit - 1) + ["release"]
    assert "nothing to do" in hookctl(place, "install", *where).stdout
    if case.scope == "project":
        assert hookctl_json(place, "check")["findings"] == []
    hookctl(place, "uninstall", *where)
    assert case.texts(place) == before


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in WRAPPED if case.scope == "user"])
def test_it_does_not_run_where_a_pack_replaces_it(case: Case, stage: tuple[Client, Place]) -> None:
    client, place = stage
    foreign, turn = register(case, place), case.turn(place)
    before, file = case.texts(place), place.root / "pack.toml"
    file.write_text(manifest("notify", hook("Stop", "true"), replaces=["/other tool"]))
    hookctl(place, "install", str(file), "--host", case.host)
    case.driver.play(client, place, Script(turn, limit=LIMIT * 4), *case.arguments, timeout=120)
    assert (case.heard(foreign), receipts(place)) == (0, [("Stop", "none")])
    hookctl(place, "uninstall", "notify", "--host", case.host)
    assert case.texts(place) == before


def test_the_approval_of_the_hook_without_its_wrap_holds_again_afterwards(codex: Client, tmp_path: Path) -> None:
    case = next(case for case in CASES if case.host == "codex" and case.scope == "user")
    place = case.driver.Place.make(tmp_path / "place", own_folders=True)
    register(case, place)
    driver.approve(place, {hook.key: hook.hash for hook in driver.list_hooks(codex, place)})
    config = place.config.read_bytes()
    [before] = driver.list_hooks(codex, place)
    hookctl(place, "install", "--host", "codex", "--mode", "off", "--wrap", "foreign")
    [wrapped] = driver.list_hooks(codex, place)
    assert (wrapped.key, wrapped.trust, wrapped.hash == before.hash) == (before.key, "modified", False)
    hookctl(place, "uninstall")
    assert driver.list_hooks(codex, place) == [before]
    assert (before.trust, place.config.read_bytes()) == ("trusted", config)
