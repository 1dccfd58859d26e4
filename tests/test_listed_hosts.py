"""Hosts with one list of all hooks, in TOML and in JSON: made up here, each a data file beside the others."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hookctl import hosts
from tests.conftest import Hookctl, put
from tests.manifest import hook as pack_hook
from tests.manifest import manifest

pytestmark = pytest.mark.usefixtures("fixed_python")

ROOT = Path(__file__).parents[1]
PACK = manifest(
    "notify",
    pack_hook("stop", "true done", id="done"),
    pack_hook("pre-tool", "true asked", id="asked", matcher="Bash", timeout=7),
    protocol="host",
)
WREN = """# mine
title = "x"   # kept

[[hooks]]
# rings
name = "bell"
type = "after_turn"
command = "bell"

[other]
x = 1

# the last
[[hooks]]
name = "look"
type = "before_tool"
match = "re:edit.*"
command = "look"
"""
KITE = """{
  "version": "v1",
  "hooks": [
    {"name": "bell", "trigger": "Stop", "action": {"type": "command", "command": "bell"}, "enabled": true},
    {"name": "ask", "trigger": "BeforeTool", "matcher": "edit", "action": {"type": "agent", "prompt": "be kind"}}
  ]
}
"""


class Made(NamedTuple):
    """A made-up host: its settings file, and what somebody has there."""

    name: str
    file: Path
    mine: str

    def items(self) -> list[dict[str, Any]]:
        """The list in the file."""
        text = self.file.read_text()
        document = tomllib.loads(text) if self.name == "wren" else json.loads(text)
        hooks: list[dict[str, Any]] = document.get("hooks", [])
        return hooks


def data_of(name: str) -> str:
    """The example of the documents, as the file of this host."""
    (text,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "adding-a-host.md").read_text(), re.S)
    text = text.replace('name = "robin"', f'name = "{name}"').replace("robin", name).replace("Robin", name.title())
    changes = {
        'format = "json"': 'format = "toml"',
        "comments = false": "comments = true",
        "hooks.json": "hooks.toml",
        'pre-tool = "BeforeTool"': 'pre-tool = "before_tool"',
        'stop = "Stop"': 'stop = "after_turn"',
        'fields = { type = "command" }': 'event = "type"\nnames = { matcher = "match" }\nfields = { name = "{name}" }',
    }
    if name == "kite":
        changes = {
            'fields = { type = "command" }': 'event = "trigger"\nfields = { name = "{name}", type = "command" }\n'
            'top = { version = "v1" }\nnames = { command = "action.command", type = "action.type" }',
        }
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new, -1 if old == "hooks.json" else 1)
    return text + '\n[tools]\nshell = ["run"]\n'


@pytest.fixture(params=["wren", "kite"])
def made(request: pytest.FixtureRequest, isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    name = request.param
    folder = shutil.copytree(Path(hosts.path_of("claude")).parent, isolated / "hosts")
    put(folder / f"{name}.toml", data_of(name))
    monkeypatch.setattr(hosts, "_FOLDER", str(folder))
    hosts.load.cache_clear()
    mine = WREN if name == "wren" else KITE
    ending = "toml" if name == "wren" else "json"
    return Made(name, put(isolated / "home" / f".{name}" / f"hooks.{ending}", mine), mine)


@pytest.fixture
def pack(isolated: Path) -> str:
    return str(put(isolated / "notify.toml", PACK))


def ours(made: Made) -> list[dict[str, Any]]:
    return [item for item in made.items() if "hookctl=" in json.dumps(item)]


def test_a_hook_of_ours_has_the_host_s_own_form(made: Made, pack: str, hookctl: Hookctl) -> None:
    assert hookctl("install", pack, "--host", made.name).code == 0
    asked, done = sorted(ours(made), key=lambda item: item["name"])
    if made.name == "wren":
        command = asked.pop("command")
        assert asked == {"type": "before_tool", "name": "notify-asked", "match": "Bash", "timeout": 7}
        assert done["type"] == "after_turn" and "match" not in done
    else:
        command = asked["action"].pop("command")
        assert asked == {
            "trigger": "BeforeTool", "name": "notify-asked", "action": {"type": "command"}, "matcher": "Bash",
            "timeout": 7,
        }  # fmt: skip
        assert done["trigger"] == "Stop"
    assert command == ": hookctl=notify/asked; true asked"
    assert made.items()[:2] == (tomllib.loads if made.name == "wren" else json.loads)(made.mine)["hooks"]


@pytest.mark.parametrize("old", ['flat = ["*"]', "positions = true"])
def test_a_list_has_no_say_in_what_only_maps_have(made: Made, isolated: Path, hookctl: Hookctl, old: str) -> None:
    file = isolated / "hosts" / f"{made.name}.toml"
    put(file, file.read_text().replace("[registration]\n", f"[registration]\n{old}\n"))
    assert hookctl("hosts").code == 4
    put(file, file.read_text().replace(f"{old}\n", "").replace("event = ", "# event = "))
    assert hookctl("hosts").code == 4, "names without an event"


def test_a_hook_without_an_event_does_not_run_and_can_be_disabled_like_any_other(made: Made, hookctl: Hookctl) -> None:
    name = "before_tool" if made.name == "wren" else "BeforeTool"
    text = put(made.file, made.mine.replace(f'"{name}"', "5", 1)).read_text()
    (hook,) = [one for one in hookctl("hooks", "--json").data["hooks"] if not one["event"]]
    assert (hook["state"], hook["reason"]) == ("unknown_event", "it names no event")
    shown = hookctl("hooks").out
    assert "no event\n" in shown and "it names no event" in shown
    assert hookctl("disable", hook["id"]).code == 0
    assert len(made.items()) == 1
    assert hookctl("hooks", "--json").data["hooks"][-1]["state"] == "disabled"
    assert hookctl("enable", hook["id"]).code == 0
    assert made.file.read_text() == text
