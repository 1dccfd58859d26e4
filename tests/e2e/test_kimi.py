"""hookctl's promises, kept with the real Kimi Code: what it can do there, and what not."""

import json
import tomllib
from pathlib import Path

import pytest

from hookctl import hosts
from hookctl.survey.listing import list_hooks
from hookctl.survey.plugins import read_plugins

from . import kimi as driver
from .clients import Client
from .dialects import Call
from .kimi import Place, play
from .model_server import Script
from .plugins import by_own_means, machine_of
from .probe import make_probe
from .product import codes, hookctl, hookctl_json, leave_work
from .test_kimi_facts import OPERATORS, entry

pytestmark = [pytest.mark.e2e, pytest.mark.full]
OWN_FOLDERS = True
HOST = ("--host", "kimi")
BEGIN = Call("Agent", {"prompt": "MARKER", "description": "a part", "subagent_type": "coder"})


def test_a_sub_agent_is_kept_too_and_the_limit_holds_for_both(kimi: Client, place: Place) -> None:
    hookctl(place, "install", *HOST, "--set", "MAX_STOP_BLOCKS=1")
    leave_work(place)

    def turn(*calls: Call) -> tuple[int, int, list[str]]:
        said = len(codes(place))
        run = play(kimi, place, Script([*calls, "done"], limit=9, sub_marker="MARKER", sub_replies=["looked"]))
        return run.requests, run.count("sub"), codes(place)[said:]

    assert turn(BEGIN) == (3, 2, ["blocked", "blocked"]), "the sub-agent is a new tool call of the agent's"
    hookctl(place, "run", "start", "--project", str(place.project))  # else the work is the first session's
    assert turn(BEGIN, BEGIN) == (3, 4, ["blocked", "blocked", "tripped"]), "the same one again is none"


@pytest.mark.parametrize("more", ["", '[tools]\n"x y" = 1\n\n'], ids=["plain", "quoted"])
def test_a_file_that_the_client_wrote_anew_loses_our_hooks_and_nothing_else(
    kimi: Client, place: Place, more: str
) -> None:
    theirs = make_probe(place.root, "operators")
    place.settings.write_text(OPERATORS + more + entry("Stop", theirs, timeout=5) + "# end\n")
    hookctl(place, "install", *HOST)
    by_own_means(driver, kimi, place, "provider", "remove", "x")
    text = place.settings.read_text()
    assert ("# end" in text, text.count("hookctl=guard/")) == (not more, 3)
    assert hookctl_json(place, "install", *HOST)["actions"] == []
    leave_work(place)
    assert play(kimi, place, Script(["done"], limit=4)).requests == 2
    done = hookctl(place, "uninstall")
    assert done.stderr == ""
    left = tomllib.loads(place.settings.read_text())["hooks"]
    assert left == [{"event": "Stop", "command": theirs.command, "timeout": 5}]
    assert ("# end" in place.settings.read_text()) is not bool(more)
    assert (play(kimi, place, ["done"]).requests, theirs.flags()) == (1, "FF")


def test_hooks_of_plugins_are_listed_as_the_client_runs_them(kimi: Client, place: Place) -> None:
    ran = place.root / "ran"

    def plugin(folder: Path, name: str, hooks: list[dict[str, object]], *, manifest: str = "kimi.plugin.json") -> None:
        (folder / manifest).parent.mkdir(parents=True)
        (folder / manifest).write_text(json.dumps({"name": name, "version": "1.0.0", "hooks": hooks}))

    def installed(*names: str) -> None:
        path = place.settings.parent / "plugins" / "installed.json"
        path.parent.mkdir(exist_ok=True)
        about = {"source": "local-path", "installedAt": "2026-11-24T00:00:00.000Z"}
        rows = [
            {"id": name, "root": str(place.root / name), "enabled": name in names, **about} for name in ("one", "two")
        ]
        path.write_text(json.dumps({"version": 1, "plugins": rows}))

    def wrote() -> list[str]:
        ran.unlink(missing_ok=True)
        play(kimi, place, ["done"])
        return sorted(ran.read_text().split()) if ran.exists() else []

    def states() -> list[tuple[str, str]]:
        hooks = list_hooks(read_plugins(machine_of(place), hosts.load("kimi"))[0])
        return sorted((hook.owner, hook.state) for hook in hooks)

    command = f'echo "$KIMI_PLUGIN_ROOT" >> {ran}'
    plugin(place.root / "one", "one", [{"event": "SessionStart", "command": command}])
    bad = {"event": "SessionStart", "command": f"echo bad >> {ran}", "name": "x"}
    good = {"event": "SessionStart", "command": f"echo two >> {ran}"}
    plugin(place.root / "two", "two", [bad, good], manifest=".kimi-plugin/plugin.json")
    installed("one", "two")
    assert wrote() == sorted([str(place.root / "one"), "two"])
    assert states() == [("one", "runs"), ("two", "ignored"), ("two", "runs")]
    installed("two")
    assert wrote() == ["two"]
    assert states() == [("one", "off"), ("two", "ignored"), ("two", "runs")]
