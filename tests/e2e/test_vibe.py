"""hookctl's promises, kept with the real Mistral Vibe beyond the story that all clients share."""

import pytest

from tests.test_entries_of_hosts import DROPPED, TAKEN, text_of

from .clients import Client
from .model_server import Script
from .probe import make_probe
from .product import hookctl_json
from .test_vibe_facts import hook, write
from .vibe import YOLO, Place, play, shell

pytestmark = [pytest.mark.e2e, pytest.mark.full]
OWN_FOLDERS = True


def test_the_hooks_that_are_listed_as_running_run_and_no_other(vibe: Client, place: Place) -> None:
    names = ("user", "project", "twice", "second", "own")
    probes = {name: make_probe(place.root, name) for name in names}
    write(
        place.settings,
        hook("post_agent", probes["user"], name="same"),
        hook("post_agent", probes["twice"], name="twice"),
        hook("pre_tool", probes["second"], name="twice"),
        hook("post_tool", probes["own"], name="own"),
    )
    write(place.project / ".vibe" / "hooks.toml", hook("post_agent", probes["project"], name="same"))

    def check(*options: str) -> set[str]:
        """What runs, which is what is listed as running."""
        before = {name: len(probe.heard()) for name, probe in probes.items()}
        assert play(vibe, place, Script([shell("true"), "done"], limit=9), YOLO, *options).code == 0
        ran = {name for name, probe in probes.items() if len(probe.heard()) > before[name]}
        by_command = {probe.command: name for name, probe in probes.items()}
        rows = hookctl_json(place, "hooks", "--host", "vibe")["hooks"]
        listed = {by_command[row["command"]] for row in rows if row["state"] == "runs"}
        assert ran == listed
        return ran

    assert check() == {"user", "twice", "own"}
    trust = f'trusted = ["{place.project}"]\nuntrusted = []\n'
    (place.config / vibe.pins["trust"]["file"]).write_text(trust)
    assert check() == {"project", "twice", "own"}


def test_what_the_client_drops_is_what_is_listed_as_dropped(vibe: Client, place: Place) -> None:
    """One file with every hook that it takes, and every one that it does not."""
    entries = [*TAKEN, *(fields for fields, _ in DROPPED)]
    ran = place.root / "ran"
    hooks = [text_of(fields, number, f"echo {number} >> {ran}") for number, fields in enumerate(entries)]
    write(place.settings, *hooks)
    assert play(vibe, place, Script([shell("true"), "done"], limit=9), YOLO).code == 0
    states = {hook["line"]: hook["state"] for hook in hookctl_json(place, "hooks", "--host", "vibe")["hooks"]}
    listed = {number for number, line in enumerate(sorted(states)) if states[line] == "runs"}
    assert {*map(int, ran.read_text().split())} == listed == set(range(len(TAKEN)))
