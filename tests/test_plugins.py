"""The hooks of plugins, from folders made as the hosts make them; tests/e2e/test_plugins.py asks the real ones."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hookctl import hosts
from hookctl.hosts import codex
from hookctl.hosts.loading import Unreadable
from hookctl.settings.switches import FileRules
from hookctl.survey.listing import list_hooks
from hookctl.survey.machine import Machine
from hookctl.survey.model import Hook
from hookctl.survey.plugins import read_plugins
from hookctl.system.folders import Folders
from tests.conftest import Hookctl, put
from tests.documents.table import document_of
from tests.texts import rows

OWN = {"type": "command", "command": "echo hi"}
GROUP = {"hooks": [OWN]}


class Reading(NamedTuple):
    hooks: list[Hook]
    unreadable: list[Unreadable]


@pytest.fixture
def home(isolated: Path) -> Path:
    return isolated / "home"


@pytest.fixture
def work(isolated: Path) -> Path:
    return isolated / "work"


def find(home: Path, host: str, start: Path | None = None) -> Reading:
    folders = Folders(str(home / "state"), str(home / "data"), {"HOME": str(home)}, str(start or home.parent / "work"))
    return Reading(*read_plugins(Machine(folders, {}), hosts.load(host)))


def listed(found: Reading) -> list[Hook]:
    return list_hooks(found.hooks)


def states(home: Path, host: str, start: Path | None = None) -> list[tuple[str, str]]:
    """Plugin and state of each hook; everything could be read."""
    found = find(home, host, start)
    assert found.unreadable == []
    return [(hook.owner, hook.state) for hook in listed(found)]


def write(path: Path, value: object) -> Path:
    return put(path, json.dumps(value))


def plugin(
    folder: Path, manifest: str = ".claude-plugin/plugin.json", event: str = "Stop", command: str = "echo hi",
    **more: Any,
) -> Path:  # fmt: skip
    """Write a plugin with one hook, called as its folder."""
    if manifest:
        write(folder / manifest, {"name": folder.name, "version": "1.0.0", **more})
    write(folder / "hooks" / "hooks.json", {"hooks": {event: [{"hooks": [{**OWN, "command": command}]}]}})
    return folder


class Case(NamedTuple):
    """One plugin of a host, and what the host says of it."""

    make: Callable[[Path, Path], object]
    on: Callable[[Path, Path], object]
    off: Callable[[Path, Path], object]
    owner: str = "probe"
    without_a_word: str = "runs"  # the state where the switch says nothing


def _claude(home: Path, work: Path) -> None:
    folder = plugin(home / ".claude/plugins/cache/market/probe/1.0.0")
    entry = {"scope": "user", "installPath": str(folder)}
    write(folder / ".claude-plugin/plugin.json", {"name": "probe"})
    write(home / ".claude/plugins/installed_plugins.json", {"version": 2, "plugins": {"probe@market": [entry]}})


def _copilot(home: Path, work: Path) -> None:
    folder = plugin(home / ".copilot/installed-plugins/market/probe")
    entry = {"name": "probe", "marketplace": "market", "cache_path": str(folder)}
    put(home / ".copilot/config.json", f"// managed\n{json.dumps({'installedPlugins': [entry]})}")


def _droid(home: Path, work: Path) -> None:
    folder = plugin(home / ".factory/plugins/cache/m-1/probe-1/x", ".factory-plugin/plugin.json")
    record = {"schemaVersion": 1, "pluginId": "probe@market", "entry": {"scope": "user", "installPath": str(folder)}}
    write(home / ".factory/plugins/installed_plugins/probe-market-user-1.json", record)


def _enabled(make: Callable[[Path, Path], object], place: str) -> Case:
    def switched(value: bool) -> Callable[[Path, Path], object]:
        enabled = {"enabledPlugins": {"probe@market": value, "other@market": True}}
        return lambda home, work: write(home / place, enabled)

    return Case(make, switched(True), switched(False), "probe@market", "off")


def _rules(place: str, *rules: str) -> Callable[[Path, Path], object]:
    return lambda home, work: write(
        home / place, {"probe": {"overrides": [rule.replace("WORK", str(work)) for rule in rules]}}
    )


def _installed(value: bool) -> Callable[[Path, Path], object]:
    about = {"extensions": {"probe": {"name": "probe", "enabled": value}}}
    return lambda home, work: write(home / ".openhands/plugins/installed/.installed.json", about)


def _gemini(home: Path, work: Path) -> None:
    write(home / ".gemini/settings.json", {"security": {"folderTrust": {"enabled": False}}})
    plugin(home / ".gemini/extensions/probe", "gemini-extension.json", "AfterAgent")


RULES = "extensions/extension-enablement.json"
CASES = {
    "claude": _enabled(_claude, ".claude/settings.json"),
    "copilot": _enabled(_copilot, ".copilot/settings.json"),
    "droid": _enabled(_droid, ".factory/settings.json"),
    "gemini": Case(_gemini, _rules(f".gemini/{RULES}", "!/*", "WORK/*"), _rules(f".gemini/{RULES}", "!WORK/*")),
    "qwen": Case(
        lambda home, work: plugin(home / ".qwen/extensions/probe", "qwen-extension.json"),
        _rules(f".qwen/{RULES}", "!/*", "WORK/"),
        _rules(f".qwen/{RULES}", "WORK/*", "!WORK/"),
    ),
    "openhands": Case(
        lambda home, work: plugin(home / ".openhands/plugins/installed/probe"), _installed(True), _installed(False)
    ),
}


@pytest.mark.parametrize("host", CASES)
def test_a_plugin_is_on_or_off_by_the_hosts_own_switch(host: str, home: Path, work: Path) -> None:
    case = CASES[host]
    case.make(home, work)
    assert states(home, host) == [(case.owner, case.without_a_word)]
    case.on(home, work)
    assert states(home, host) == [(case.owner, "runs")]
    case.off(home, work)
    assert states(home, host) == [(case.owner, "off")]
    (hook,) = listed(find(home, host))
    assert hook.scope == "plugin"
    assert hook.reason.endswith((".json",))


@pytest.mark.parametrize(
    ("user", "project", "local", "state"),
    [
        (True, None, None, "runs"),
        (True, False, None, "off"),
        (False, True, None, "runs"),
        (True, False, True, "runs"),
        (True, True, False, "off"),
    ],
)
def test_the_first_settings_file_with_a_word_counts(
    user: bool, project: bool | None, local: bool | None, state: str, home: Path, work: Path
) -> None:
    _claude(home, work)
    places = {
        home / ".claude/settings.json": user,
        work / ".claude/settings.json": project,
        work / ".claude/settings.local.json": local,
    }
    for path, value in places.items():
        write(path, {} if value is None else {"enabledPlugins": {"probe@market": value}})
    assert states(home, "claude") == [("probe@market", state)]


@pytest.mark.parametrize(("rules", "state"), [row[1:] for row in rows("plugins-on-and-off") if row[0] == "gemini"])
def test_the_last_rule_for_the_folder_counts(rules: str, state: str, home: Path, work: Path) -> None:
    _gemini(home, work)
    text = json.dumps({"probe": {"overrides": json.loads(rules)}}).replace("WORK", str(work))
    put(home / ".gemini/extensions/extension-enablement.json", text)
    assert states(home, "gemini") == [("probe", state)]


def marketplace(home: Path, folder: Path, name: str = "probe", **more: Any) -> Path:
    """A marketplace that is a folder, and is known; where its plugin is to be."""
    entry = {"name": name, "source": f"./plugins/{name}", **more}
    write(folder / ".claude-plugin/marketplace.json", {"name": "market", "plugins": [{"name": "first"}, entry]})
    source = {"source": {"source": "directory", "path": str(folder)}}
    write(home / ".claude/plugins/known_marketplaces.json", {"market": source})
    return folder / "plugins" / name


def test_a_marketplace_on_this_machine_is_read_in_place(home: Path, work: Path) -> None:
    _claude(home, work)
    CASES["claude"].on(home, work)
    inside = plugin(marketplace(home, work / "market"), command="echo there")
    (hook,) = listed(find(home, "claude"))
    assert (hook.command, hook.file) == ("echo there", str(inside / "hooks/hooks.json"))
    os.rename(inside, work / "gone")
    found = find(home, "claude")
    assert listed(found) == []
    assert [entry.path for entry in found.unreadable] == [str(inside)]
    CASES["claude"].off(home, work)
    assert find(home, "claude") == Reading([], [])


def test_plugins_among_claude_codes_skills_need_no_installation(home: Path, work: Path) -> None:
    plugin(home / ".claude/skills/mine")
    plugin(work / ".claude/skills/theirs")
    plugin(home / ".claude/skills/none", manifest="")
    assert states(home, "claude") == [("mine@skills-dir", "runs"), ("theirs@skills-dir", "runs")]
    write(home / ".claude/settings.json", {"enabledPlugins": {"theirs@skills-dir": False}})
    assert states(home, "claude") == [("mine@skills-dir", "runs"), ("theirs@skills-dir", "off")]
    write(home / ".claude/settings.json", {"enabledPlugins": {"mine@skills-dir": False}})
    assert states(home, "claude") == [("mine@skills-dir", "off"), ("theirs@skills-dir", "runs")]


@pytest.mark.parametrize(
    ("versions", "chosen"),
    [(("9.0.0", "10.0.0"), "10.0.0"), (("2", "local", "3"), "local"), (("1.0.0-a", "1"), "1.0.0-a")],
)
def test_codex_takes_the_highest_version(versions: tuple[str, ...], chosen: str, home: Path) -> None:
    put(home / ".codex/config.toml", '[plugins."probe@market"]\nenabled = true\n')
    for version in versions:
        plugin(home / ".codex/plugins/cache/market/probe" / version)
    (hook,) = listed(find(home, "codex"))
    assert (hook.owner, Path(hook.file).parts[-3]) == ("probe@market", chosen)


@pytest.mark.parametrize(("config", "state"), [row[1:] for row in rows("plugins-on-and-off") if row[0] == "codex"])
def test_codex_runs_a_hook_of_a_plugin_that_is_on_and_approved(config: str, state: str, home: Path) -> None:
    plugin(home / ".codex/plugins/cache/market/probe/1.0.0")
    key, hash = "probe@market:hooks/hooks.json:stop:0:0", codex.trusted_hash("Stop", GROUP, OWN)
    put(home / ".codex/config.toml", document_of(config).decode().replace("KEY", key).replace("HASH", hash))
    assert states(home, "codex") == [("probe@market", state)]


def test_gemini_switches_single_hooks_off_by_name_or_by_the_command_as_it_is_run(
    home: Path, work: Path, hookctl: Hookctl
) -> None:
    folder = home / ".gemini/extensions/probe"
    plugin(folder, "gemini-extension.json")
    hooks = [{**OWN, "command": 'sh "${extensionPath}/a"'}, {**OWN, "name": "mine"}, OWN]
    write(folder / "hooks/hooks.json", {"hooks": {"AfterAgent": [{"hooks": hooks}]}})
    put(folder / "a", "")
    settings = {"security": {"folderTrust": {"enabled": False}}}
    for disabled, states in (
        ([], ["runs", "runs", "runs"]),
        (["mine", f'sh "{folder}/a"', 7], ["off", "off", "runs"]),
        (['sh "${extensionPath}/a"'], ["runs", "runs", "runs"]),
    ):
        write(home / ".gemini/settings.json", {**settings, "hooksConfig": {"disabled": disabled}})
        done = hookctl("hooks", "--host", "gemini", "--json")
        assert [hook["state"] for hook in json.loads(done.out)["data"]["hooks"]] == states


def test_of_openhands_plugins_with_one_name_the_projects_counts(home: Path, work: Path) -> None:
    put(work / ".git/HEAD", "ref: refs/heads/main\n")
    sub = work / "sub"
    plugin(sub / ".openhands/plugins/probe", ".plugin/plugin.json", command="sub")
    plugin(work / ".agents/plugins/probe", command="work")
    plugin(home / ".agents/plugins/probe", command="home")
    plugin(home / ".openhands/plugins/bare", manifest="", command="bare")
    hooks = listed(find(home, "openhands", sub))
    assert [(hook.command, hook.state) for hook in hooks] == [
        ("sub", "runs"),
        ("work", "hidden"),
        ("home", "hidden"),
        ("bare", "runs"),
    ]
    assert str(sub) in hooks[1].reason


def test_cursors_plugins_have_its_own_layout(home: Path) -> None:
    hooks = {"version": 1, "hooks": {"stop": [{"command": "echo hi"}]}}
    for place in ("local/mine", "cache/market/probe/abc", "cache/market/probe/def"):
        write(home / ".cursor/plugins" / place / "hooks/hooks.json", hooks)
    os.utime(home / ".cursor/plugins/cache/market/probe/abc", (1, 1))
    hooks_found = listed(find(home, "cursor"))
    assert [(hook.owner, hook.event) for hook in hooks_found] == [("mine", "stop"), ("probe@market", "stop")]
    assert "/def/" in hooks_found[1].file
    assert "which plugins are on" in hooks_found[0].reason


def test_opencodes_plugins_are_files_and_packages(home: Path, work: Path) -> None:
    for path in (home / ".config/opencode/plugin/a.js", work / ".opencode/plugins/b.ts"):
        put(path, "export const A = async () => ({})\n")
    put(home / ".config/opencode/plugin/hookctl.js", "// ours is among the settings\n")
    put(work / "opencode.json", '{\n  // and one of npm\n  "plugin": [\n    "some-plugin@1"\n  ]\n}\n')
    hooks = listed(find(home, "opencode"))
    assert [(hook.owner, hook.event, hook.state, hook.line) for hook in hooks] == [
        ("a.js", "plugin", "runs", 1),
        ("b.ts", "plugin", "runs", 1),
        ("some-plugin@1", "plugin", "runs", 4),
    ]


def test_what_pi_does_not_load_is_listed_as_off_and_its_rules_as_nothing(hookctl: Hookctl, isolated: Path) -> None:
    agent = isolated / "home/.pi/agent"
    put(agent / "extensions/a.js", "export default () => {}\n")
    packages = ["npm:a", {"source": "npm:b"}, {"source": "npm:c", "extensions": []}, {"source": 5}, 5]
    packages += [{"source": "npm:d", "autoload": False}, {"source": "npm:e", "autoload": False, "extensions": ["x.ts"]}]
    rules = ["/x.ts", "/x.ts", "~/y.ts", "-extensions/a.js", "+extensions/z.js", "*.ts", "!*y*", 5]
    write(agent / "settings.json", {"packages": packages, "extensions": rules})
    found = hookctl("hooks", "--host", "pi", "--json").data["hooks"]
    assert [(hook["owner"], hook["state"]) for hook in found] == [
        ("a.js", "off"),
        ("/x.ts", "runs"),
        ("~/y.ts", "off"),
        ("npm:a", "runs"),
        ("npm:b", "runs"),
        ("npm:c", "off"),
        ("npm:d", "off"),
        ("npm:e", "runs"),
    ]
    assert found[0]["reason"] == f'extensions has "-extensions/a.js" in {agent}/settings.json'
    assert [hook["reason"] for hook in found if hook["owner"] in ("npm:c", "npm:d")] == [
        "its extensions is []",
        "its autoload is false, and it has no extensions",
    ]


def test_a_glob_of_many_stars_is_tried_on_a_deep_path_once() -> None:
    folders = "/f" * 60
    assert FileRules("/f", ["!" + "**/" * 8 + "x"]).find_off(f"{folders}/b.js") == ""


MORE = {"hooks": {"SessionStart": [GROUP]}}


@pytest.mark.parametrize(("host", "named", "events"), rows("plugins-that-name-hooks"))
def test_a_manifest_may_name_hooks(host: str, named: str, events: str, home: Path, work: Path) -> None:
    place, manifest = {
        "claude": (".claude/skills/probe", ".claude-plugin/plugin.json"),
        "codex": (".codex/plugins/cache/market/probe/1", ".codex-plugin/plugin.json"),
        "qwen": (".qwen/extensions/probe", "qwen-extension.json"),
        "droid": (".factory/plugins/cache/m/probe/x", ".factory-plugin/plugin.json"),
        "copilot": (".copilot/installed-plugins/_direct/probe", ".plugin/plugin.json"),
    }[host]
    folder = plugin(home / place, manifest, hooks=json.loads(named))
    write(folder / "more.json", MORE)
    record = {"pluginId": "probe@market", "entry": {"installPath": str(folder)}}
    write(home / ".factory/plugins/installed_plugins/probe.json", record)
    write(home / ".copilot/config.json", {"installedPlugins": [{"name": "probe", "cache_path": str(folder)}]})
    found = find(home, host)
    assert [hook.event for hook in listed(found)] == events.split()
    assert found.unreadable == []


@pytest.mark.parametrize(("host", "manifest", "reason"), rows("plugins-lost"))
def test_a_manifest_may_cost_the_whole_plugin(host: str, manifest: str, reason: str, home: Path) -> None:
    place, name, event = {
        "claude": (".claude/skills/probe", ".claude-plugin/plugin.json", "Stop"),
        "codex": (".codex/plugins/cache/market/probe/1", ".codex-plugin/plugin.json", "Stop"),
        "gemini": (".gemini/extensions/probe", "gemini-extension.json", "AfterAgent"),
        "qwen": (".qwen/extensions/probe", "qwen-extension.json", "Stop"),
    }[host]
    put(home / ".codex/config.toml", '[plugins."probe@market"]\n')
    folder = plugin(home / place, event=event)
    put(folder / name, manifest)
    write(home / ".gemini/settings.json", {"security": {"folderTrust": {"enabled": False}}})
    (hook,) = listed(find(home, host))
    assert (hook.state == "ignored") is (reason != "no")
    assert reason == "no" or hook.reason.endswith(f"{name} {reason}")


# On the command line.
def test_the_command_lists_them_with_what_is_in_their_way(home: Path, work: Path, hookctl: Hookctl) -> None:
    folder = plugin(home / ".claude/skills/probe", command='sh "${CLAUDE_PLUGIN_ROOT}/x.sh"')
    broken = put(home / ".claude/skills/bad/hooks/hooks.json", "{")
    write(home / ".claude/skills/bad/.claude-plugin/plugin.json", {"name": "bad"})

    def look() -> dict[str, Any]:
        done = hookctl("hooks", "--host", "claude", "--json")
        assert done.code == 0
        data: dict[str, Any] = json.loads(done.out)["data"]
        return data

    (hook,) = look()["hooks"]
    assert (hook["owner"], hook["scope"], hook["state"]) == ("probe@skills-dir", "plugin", "missing")
    assert hook["reason"] == f"{folder}/x.sh is not there"
    assert [file["path"] for file in look()["unreadable"]] == [str(broken)]
    put(folder / "x.sh", "exit 0\n")
    assert look()["hooks"][0]["state"] == "runs"
    write(home / ".claude/settings.json", {"disableAllHooks": True})
    assert look()["hooks"][0]["state"] == "off"
    assert "disableAllHooks" in look()["hooks"][0]["reason"]


def _put(make: Callable[[Path], object]) -> Callable[[Path], object]:
    """Something else in the place of the file with the hooks."""

    def change(folder: Path) -> None:
        path = folder / "hooks/hooks.json"
        path.rename(folder.parent.parent / "elsewhere.json")
        make(path)

    return change


def _text(data: bytes | str) -> Callable[[Path], object]:
    return lambda folder: put(folder / "hooks/hooks.json", data)


def _names(*names: str) -> Callable[[Path], object]:
    about = {"name": "probe", "hooks": list(names)}
    return lambda folder: write(folder / ".claude-plugin/plugin.json", about)


BAD = {
    "link out": (_put(lambda path: path.symlink_to("../../../elsewhere.json")), "hooks/hooks.json"),
    "link in a circle": (_put(lambda path: path.symlink_to("hooks.json")), "hooks/hooks.json"),
    "fifo": (_put(os.mkfifo), "hooks/hooks.json"),
    "folder": (_put(Path.mkdir), "hooks/hooks.json"),
    "17 MiB": (_text(b" " * (17 << 20)), "hooks/hooks.json"),
    "no JSON": (_text('{"hooks": {'), "hooks/hooks.json"),
    "comment": (_text('{"hooks": {}} // no'), "hooks/hooks.json"),
    "no UTF-8": (_text(b'{"hooks": "\xff"}'), "hooks/hooks.json"),
    "deep": (_text("[" * 5000), "hooks/hooks.json"),
    "a list": (_text("[]"), "hooks/hooks.json"),
    "a text": (_text('{"hooks": "x"}'), "hooks/hooks.json"),
    "upwards": (_names("./../../../secret.json"), ".claude-plugin/plugin.json"),
    "not there": (_names("./none.json"), "none.json"),
    "manifest": (lambda folder: put(folder / ".claude-plugin/plugin.json", "{"), ".claude-plugin/plugin.json"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_read_is_said_and_the_other_plugins_are_listed(name: str, home: Path) -> None:
    break_it, at = BAD[name]
    plugin(home / ".claude/skills/good")
    folder = plugin(home / ".claude/skills/probe")
    break_it(folder)
    found = find(home, "claude")
    assert [entry.path for entry in found.unreadable] == [str(folder / at)]
    assert all(entry.message for entry in found.unreadable)
    assert "good@skills-dir" in [hook.owner for hook in listed(found)]
    assert len(listed(found)) == (2 if at != "hooks/hooks.json" else 1)


def test_a_flood_of_plugins_is_bounded(home: Path) -> None:
    for number in range(205):
        plugin(home / f".claude/skills/p{number}")
    found = find(home, "claude")
    assert len(listed(found)) == 200
    assert [entry.path for entry in found.unreadable] == [str(home / ".claude/skills")]
