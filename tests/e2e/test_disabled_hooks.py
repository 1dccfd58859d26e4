"""A hook that is disabled does not run in the real clients, while the others do; enabled it runs again."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookctl.system.folders import Folders
from hookctl.verbs import disable, enable

from . import codex, gemini, grok
from .clients import Client
from .test_listed_hooks import CASES, QUICK, Case, Machine, _trusted

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case.host, marks=[] if case.driver in QUICK else pytest.mark.full) for case in CASES],
)
def test_a_disabled_hook_does_not_run_until_it_is_enabled(
    case: Case, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    client: Client = request.getfixturevalue(case.host)
    machine = Machine(case, case.driver.Place.make(tmp_path / "place"))
    machine.plant()
    if case.driver in (codex, gemini, grok):
        machine = _trusted(machine, client)
    place, running = machine.place, machine.expected()
    folders = Folders(str(place.home / "state"), str(place.home / "data"), place.environment(), str(place.project))
    settings = {path: path.read_bytes() for path in place.settings.parent.iterdir() if path.is_file()}
    words = {machine.word(hook): hook for hook in machine.listed() if hook.state == "runs"}
    word = "project" if "project" in words else "user"
    chosen = words[word]
    disable.disable(folders, [chosen.id], [case.host])
    assert machine.play(client) == {each: count for each, count in running.items() if each != word}
    enable.enable(folders, [chosen.id], [case.host])
    assert machine.play(client) == running
    for path, data in settings.items() if case.driver is not codex else ():  # it writes its own, too
        assert path.read_bytes() == data
