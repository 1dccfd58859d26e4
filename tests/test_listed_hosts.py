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
from tests.trees import tree

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


@pytest.mark.parametrize("was_there", [True, False])
@pytest.mark.parametrize("first", ["guard", "notify"])
def test_two_packs_come_and_go_in_any_order(
    made: Made, pack: str, isolated: Path, hookctl: Hookctl, was_there: bool, first: str
) -> None:
    if not was_there:
        made.file.unlink()
    before = tree(isolated / "home")
    for name in ("guard", pack):
        assert hookctl("install", name, "--host", made.name).code == 0
    installed = made.file.read_bytes()
    for name in ("guard", pack):
        assert "nothing to do" in hookctl("install", name, "--host", made.name).out
    assert hookctl("install", "guard", "--host", made.name, "--force").code == 0
    assert made.file.read_bytes() == installed
    second = "guard" if first == "notify" else "notify"
    assert hookctl("uninstall", first, "--host", made.name).code == 0
    assert {item["name"].partition("-")[0] for item in ours(made)} == {second}
    assert hookctl("uninstall", second, "--host", made.name).code == 0
    after = {name: about[2:] for name, about in tree(isolated / "home").items()}
    assert after == {name: about[2:] for name, about in before.items()}


def test_hooks_of_others_that_come_between_stay(made: Made, pack: str, hookctl: Hookctl) -> None:
    for name in ("guard", pack):
        assert hookctl("install", name, "--host", made.name).code == 0
    if made.name == "wren":
        late = '\n# late\n[[hooks]]\ntype = "after_turn"\nname = "late"\ncommand = "late"\n'
        put(made.file, made.file.read_text() + late)
        left = made.mine + late
    else:
        late = '{"name": "late", "trigger": "Stop", "action": {"type": "command", "command": "late"}}'
        put(made.file, made.file.read_text().replace('"hooks": [', f'"hooks": [\n    {late},', 1))
        left = made.mine.replace('"hooks": [', f'"hooks": [\n    {late},', 1)
    assert "nothing to do" in hookctl("install", pack, "--host", made.name).out
    for name in ("notify", "guard"):
        assert hookctl("uninstall", name, "--host", made.name).code == 0
    assert made.file.read_text() == left


def test_a_value_of_a_person_is_kept_and_force_puts_ours_back(made: Made, pack: str, hookctl: Hookctl) -> None:
    assert hookctl("install", pack, "--host", made.name).code == 0
    installed = made.file.read_text()
    pattern = "timeout = 7" if made.name == "wren" else '"timeout": 7'
    put(made.file, installed.replace(pattern, f"{pattern}7"))
    assert "timeout" in hookctl("install", pack, "--host", made.name).out
    assert f"{pattern}7" in made.file.read_text()
    assert hookctl("install", pack, "--host", made.name, "--force").code == 0
    assert made.file.read_text() == installed
    assert hookctl("uninstall", "notify", "--host", made.name).code == 0
    assert made.file.read_text() == made.mine


def test_every_hook_is_listed_with_its_event_and_line(made: Made, pack: str, hookctl: Hookctl) -> None:
    assert hookctl("install", pack, "--host", made.name).code == 0
    hooks = hookctl("hooks", "--host", made.name, "--json").data["hooks"]
    rows = made.file.read_text().splitlines()
    events = {"bell": "stop", "look": "pre-tool", "notify/asked": "pre-tool", "notify/done": "stop"}
    for hook in hooks:
        name = next((name for name in events if name in (hook["command"] or "")), "")
        if name:
            assert hook["event"] in (events.pop(name), *hosts.load(made.name).events.values()), hook
            where = rows[hook["line"] - 1]
            assert where == "[[hooks]]" or where.strip().startswith("{"), hook
    assert set(events) <= ({"look"} if made.name == "kite" else set()), hooks
    assert [hook for hook in hooks if hook["matcher"] == "Bash"]


@pytest.mark.parametrize("edits", [False, True])
def test_what_is_disabled_comes_back(made: Made, pack: str, hookctl: Hookctl, edits: bool) -> None:
    assert hookctl("install", pack, "--host", made.name).code == 0
    ids = [hook["id"] for hook in hookctl("hooks", "--host", made.name, "--json").data["hooks"]]
    assert len(ids) == 4
    installed, items = made.file.read_text(), sorted(map(repr, made.items()))
    for id in ids:
        assert hookctl("disable", id, "--host", made.name).code == 0, id
        assert len(made.items()) < 4
    before, after = ("# mine", "# edited") if made.name == "wren" else ('"v1"', '"v1", "x": 1')
    if edits:
        put(made.file, made.file.read_text().replace(before, after))
    for id in reversed(ids):
        assert hookctl("enable", id, "--host", made.name).code == 0, id
    if edits:  # the order within each event is kept, not that of the list
        assert sorted(map(repr, made.items())) == items
    else:
        assert made.file.read_text() == installed
    assert hookctl("uninstall", "notify", "--host", made.name).code == 0
    if edits:
        assert sorted(made.file.read_text().replace(",", "").split()) == sorted(
            made.mine.replace(before, after).replace(",", "").split()
        )
    else:
        assert made.file.read_text() == made.mine


def test_doctor_finds_nothing_and_names_a_hook_without_an_event(made: Made, isolated: Path, hookctl: Hookctl) -> None:
    file = isolated / "hosts" / f"{made.name}.toml"
    events = ["before_tool", "after_turn"] if made.name == "wren" else ["BeforeTool", "Stop"]
    put(file, f"{file.read_text()}\n[handlers]\nevents = {events}\n")
    assert hookctl("install", "--host", made.name).code == 0
    assert hookctl("status").code == 0

    def found() -> list[str]:
        findings = hookctl("doctor", "--host", made.name, "--json").data["findings"]
        return [one["message"] for one in findings if one["level"] != "info"]

    assert found() == []
    name = "before_tool" if made.name == "wren" else "Stop"
    put(made.file, made.mine.replace(f'"{name}"', "5", 1))
    assert hookctl("install", "--host", made.name).code == 0
    line = 14 if made.name == "wren" else 4
    (lost,) = [hook for hook in hookctl("hooks", "--host", made.name, "--json").data["hooks"] if not hook["event"]]
    assert (lost["state"], lost["line"]) == ("unknown_event", line)


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
