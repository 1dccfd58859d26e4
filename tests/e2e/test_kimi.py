"""hookctl's promises, kept with the real Kimi Code: what it can do there, and what not."""

import json
import tomllib
from pathlib import Path

import pytest

from hookctl import hosts
from hookctl.survey.listing import list_hooks, take_inventory
from hookctl.survey.model import Hook
from hookctl.survey.plugins import read_plugins
from hookctl.system.folders import Folders

from . import kimi as driver
from .clients import Client
from .dialects import Call
from .kimi import Place, play
from .model_server import Script
from .plugins import by_own_means, machine_of
from .probe import make_probe
from .product import codes, hookctl, hookctl_json, leave_work
from .test_kimi_facts import OPERATORS, entry
from .test_rules import SENTENCE

pytestmark = [pytest.mark.e2e, pytest.mark.full]
OWN_FOLDERS = True
HOST = ("--host", "kimi")
BEGIN = Call("Agent", {"prompt": "MARKER", "description": "a part", "subagent_type": "coder"})


@pytest.mark.parametrize("operators", [True, False], ids=["a file", "no file"])
def test_the_guard_blocks_once_in_a_turn_and_leaves_nothing_behind(kimi: Client, place: Place, operators: bool) -> None:
    theirs = make_probe(place.root, "operators")
    if operators:
        place.settings.write_text(OPERATORS + "# rings\n" + entry("Stop", theirs, timeout=5))
    before = place.settings.read_bytes() if operators else None

    def turn(*arguments: str) -> tuple[int, int, list[str]]:
        """One turn: its requests, the calls of the operator's hook, and the reasons of ours."""
        heard, said = len(theirs.heard()), len(codes(place))
        run = play(kimi, place, Script(["done"], limit=4), *arguments)
        assert (run.code, run.out.count("• done")) == (0, run.requests), run.errors
        return run.requests, len(theirs.heard()) - heard, codes(place)[said:]

    asked = int(operators)
    assert turn() == (1, asked, [])
    hookctl(place, "install", *HOST)
    installed = place.settings.read_bytes()
    assert turn() == (1, asked, ["no_work"])
    leave_work(place)
    assert turn() == (2, asked, ["blocked"])
    assert turn("--session", session(place)) == (2, asked, ["blocked"]), "the next prompt starts again"
    assert place.settings.read_bytes() == installed
    assert hookctl_json(place, "install", *HOST)["actions"] == []
    assert "nothing wrong" in hookctl(place, "doctor", *HOST).stdout

    hookctl(place, "uninstall")
    assert (place.settings.read_bytes() if place.settings.exists() else None) == before
    assert turn() == (1, asked, [])


def session(place: Place) -> str:
    """The last session's id, from the client's own list."""
    lines = (place.settings.parent / "session_index.jsonl").read_text().splitlines()
    return json.loads(lines[-1])["sessionId"]


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


def listed(place: Place) -> list[Hook]:
    """Every hook in the settings as hookctl lists it."""
    environ = place.environment()
    folders = Folders(str(place.home / "state"), str(place.home / "data"), environ, str(place.project))
    inventory = take_inventory(folders, [hosts.load("kimi")])
    assert inventory.unreadable == ()
    return list(inventory.hooks)


def test_the_hooks_run_that_are_listed_as_running_and_a_disabled_one_does_not(kimi: Client, place: Place) -> None:
    ran = place.root / "ran"
    words = {"first": "startup", "second": "", "twice": "", "never": "*"}
    text = "".join(entry("SessionStart", f"echo {word} >> {ran}", matcher=matcher) for word, matcher in words.items())
    text += entry("SessionStart", f"echo twice >> {ran}", timeout=9) + entry("SessionStart", "/nowhere/gone.sh")
    place.settings.write_text("# mine\n" + text)
    before = place.settings.read_bytes()

    def wrote() -> list[str]:
        ran.unlink(missing_ok=True)
        play(kimi, place, ["done"])
        return sorted(ran.read_text().split()) if ran.exists() else []

    states = {hook.command.split()[1 if "echo" in hook.command else 0]: hook for hook in reversed(listed(place))}
    assert {word: hook.state for word, hook in states.items()} == {
        "first": "runs", "second": "runs", "twice": "runs", "never": "no_tool", "/nowhere/gone.sh": "missing",
    }  # fmt: skip
    assert wrote() == ["first", "second", "twice"]
    hookctl(place, "disable", states["second"].id, *HOST)
    assert wrote() == ["first", "twice"]
    hookctl(place, "enable", states["second"].id, *HOST)
    assert wrote() == ["first", "second", "twice"]
    assert place.settings.read_bytes() == before
    place.settings.write_bytes(before + entry("Nonsense", "true").encode())
    assert {hook.state for hook in listed(place)} <= {"ignored", "unknown_event"}
    assert wrote() == []


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


def test_the_model_reads_the_rules_while_they_are_installed(kimi: Client, place: Place) -> None:
    def is_told() -> bool:
        run = play(kimi, place, ["done"])
        return SENTENCE in json.dumps(run.log[0].request.body, ensure_ascii=False)

    assert not is_told()
    hookctl(place, "install", *HOST, "--rules")
    assert is_told()
    hookctl(place, "uninstall")
    assert not is_told()
    assert not (place.settings.parent / "AGENTS.md").exists()
