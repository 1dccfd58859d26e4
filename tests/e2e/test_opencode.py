"""hookctl's promises, kept with the real OpenCode: installed by the command line, served, and taken out again."""

import json
from pathlib import Path

import pytest

from .clients import Client
from .model_server import Script
from .opencode import Place, play, step
from .product import KEPT, LIMIT, codes, decisions, hookctl, leave_work

pytestmark = [pytest.mark.e2e, pytest.mark.full]

HOST = ("--host", "opencode")
MODEL = {"providerID": "mock", "modelID": "mock"}

# What an operator has before hookctl comes: a plugin that writes down when a session is idle.
OPERATORS_PLUGIN = """\
import { appendFileSync } from "node:fs"
export const Mine = async () => ({
    event: async ({ event }) => {
      if (event.type === "session.idle") appendFileSync(LOG, "idle\\n")
    },
})"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A home in which OpenCode has one plugin of the operator's."""
    place = Place.make(tmp_path / "place", own_folders=True)
    place.settings.write_text(OPERATORS_PLUGIN.replace("LOG", json.dumps(str(place.root / "idle"))))
    return place


def heard(place: Place) -> int:
    """How often the operator's plugin has seen an idle session."""
    log = place.root / "idle"
    return len(log.read_text().splitlines()) if log.exists() else 0


def plugins(place: Place) -> dict[str, bytes]:
    """The operator's folder of plugins."""
    return {path.name: path.read_bytes() for path in place.settings.parent.iterdir()}


def test_the_guard_keeps_the_agent_lets_it_go_and_leaves_nothing_behind(opencode: Client, place: Place) -> None:
    before = plugins(place)
    leave_work(place)
    assert play(opencode, place, ["done"]).requests == 1
    assert heard(place) == 1

    hookctl(place, "install", *HOST)
    hookctl(place, "install", *HOST)
    second = step("prompt", text="second", agent="plan")
    run = play(opencode, place, Script(["done"], limit=30), second)
    assert (run.code, run.requests, codes(place)) == (0, 2 * (LIMIT + 1), KEPT * 2)
    assert heard(place) == 1 + run.requests
    reason = "Work remains (2)."
    assert [prompt["text"][: len(reason)] for prompt in run.prompts] == [
        "begin", *[reason] * LIMIT, "second", *[reason] * LIMIT,
    ]  # fmt: skip
    # A session that plans goes on planning.
    assert [prompt["agent"] for prompt in run.prompts] == ["build"] * (LIMIT + 1) + ["plan"] * (LIMIT + 1)
    assert [prompt["model"] for prompt in run.prompts] == [MODEL] * run.requests
    assert "stopped blocking after 5 blocks" in (place.home / ".local/share/opencode/log/opencode.log").read_text()

    hookctl(place, "uninstall")
    assert plugins(place) == before
    assert play(opencode, place, ["done"]).requests == 1
    assert len(decisions(place)) == 2 * (LIMIT + 1)
