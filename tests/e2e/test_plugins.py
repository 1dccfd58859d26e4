"""Plugins in the real clients: hookctl lists their hooks as running where they run, and as off where they do not."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from hookctl import hosts
from hookctl.survey.listing import list_hooks
from hookctl.survey.model import Hook
from hookctl.survey.plugins import read_plugins

from . import claude, codex, copilot, droid, gemini, openhands, qwen, tables
from . import opencode as opencode_driver
from . import pi as pi_driver
from .agent import Place
from .clients import Client
from .plugins import as_an_extension, by_own_means, from_a_marketplace, machine_of, write_marketplace, write_plugin
from .product import hookctl_json

pytestmark = pytest.mark.e2e


class Case(NamedTuple):
    """One client: how a plugin comes to it, and goes off again; `event` is what a short session has there."""

    driver: ModuleType
    install: Callable[[Client, Place, Path], object]
    switch_off: Callable[[Client, Place], object]
    owner: str
    event: str = "SessionStart"
    manifest: str = ""  # beside Claude Code's
    root: str = "CLAUDE_PLUGIN_ROOT"  # empty where a hook is not told it

    @property
    def host(self) -> str:
        return tables.name_of(self.driver)


def _codex(client: Client, place: Place, plugin: Path) -> None:
    from_a_marketplace(codex, "add")(client, place, plugin)
    assert {hook.state for hook in listed(CODEX, place)} == {"not_approved"}
    codex.approve(place, {hook.key: hook.hash.partition("/")[0] for hook in codex.list_hooks(client, place)})


def _codex_off(client: Client, place: Place) -> None:
    """Its only switch is the file, which /plugins writes, too."""
    place.config.write_text(place.config.read_text().replace("enabled = true", "enabled = false"))


def _gemini(client: Client, place: Place, plugin: Path) -> None:
    as_an_extension(gemini)(client, place, plugin)
    trusted = {str(place.project): "TRUST_FOLDER"}  # which its driver says in a variable
    (place.home / ".gemini/trustedFolders.json").write_text(json.dumps(trusted))


def _disable(driver: ModuleType) -> Callable[[Client, Place], object]:
    return lambda client, place: by_own_means(driver, client, place, "plugin", "disable", "probe@market")


def _extension_off(driver: ModuleType) -> Callable[[Client, Place], object]:
    words = ("extensions", "disable", "--scope", "workspace", "probe")
    return lambda client, place: by_own_means(driver, client, place, *words)


def _droid_off(client: Client, place: Place) -> None:
    """Its only switch is the file, which /plugins writes, too."""
    settings = json.loads(place.settings.read_text())
    place.settings.write_text(json.dumps({**settings, "enabledPlugins": {"probe@market": False}}))


def _openhands(client: Client, place: Place, plugin: Path) -> None:
    shutil.copytree(plugin, place.home / ".openhands" / "plugins" / "installed" / "probe")


def _openhands_off(client: Client, place: Place) -> None:
    program = "from openhands.sdk.plugin import installed; installed.disable_plugin('probe')"
    by_own_means(openhands, client, place, "-I", "-c", program)


CODEX = Case(codex, _codex, _codex_off, "probe@market")
CASES = [
    Case(claude, from_a_marketplace(claude, "install"), _disable(claude), "probe@market"),
    CODEX,
    Case(copilot, from_a_marketplace(copilot, "install"), _disable(copilot), "probe@market"),
    Case(gemini, _gemini, _extension_off(gemini), "probe", manifest="gemini-extension.json", root="extensionPath"),
    Case(qwen, as_an_extension(qwen), _extension_off(qwen), "probe"),
    Case(droid, from_a_marketplace(droid, "install"), _droid_off, "probe@market"),
    Case(openhands, _openhands, _openhands_off, "probe", root=""),
]


def listed(case: Case, place: Place, *, readable: bool = True) -> list[Hook]:
    """The hooks of plugins as hookctl lists them in the project; all of it has to be readable."""
    hooks, unreadable = read_plugins(machine_of(place), hosts.load(case.host))
    assert unreadable == [] or not readable
    return list_hooks(hooks)


def write_probe(case: Case, place: Place) -> Path:
    """A plugin in a marketplace, whose hook writes down where its plugin is."""
    folder = place.root / "market" / "plugins" / "probe"
    root = f"${{{case.root}}}" if case.root else ""
    command = f'cat > /dev/null; echo "{root}" >> {place.root}/ran'
    group: dict[str, Any] = {"hooks": [{"type": "command", "command": command}]}
    write_plugin(folder, {case.event: [group]})
    if case.manifest:
        (folder / case.manifest).write_text(json.dumps({"name": "probe", "version": "1.0.0"}))
    write_marketplace(place.root / "market")
    return folder


def ran(case: Case, client: Client, place: Place) -> list[str]:
    """What the hook wrote down in one session."""
    (place.root / "ran").unlink(missing_ok=True)
    case.driver.play(client, place, ["done"], timeout=300)
    return (place.root / "ran").read_text().splitlines() if (place.root / "ran").exists() else []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.host)
def test_a_hook_of_a_plugin_is_listed_as_the_client_runs_it(case: Case, stage: tuple[Client, Place]) -> None:
    client, place = stage
    case.install(client, place, write_probe(case, place))
    (root,) = ran(case, client, place)
    (hook,) = listed(case, place)
    assert (hook.owner, hook.event, hook.state) == (case.owner, case.event, "runs"), hook.reason
    assert root == hook.within.variables.get(case.root, "")
    case.switch_off(client, place)
    assert ran(case, client, place) == []
    (hook,) = listed(case, place)
    assert (hook.owner, hook.state) == (case.owner, "off")


# Which of a plugin's hooks count: the files in its folder, and what the manifest says of hooks.
USUAL, TOP, MORE = "hooks/hooks.json", "hooks.json", "more.json"
LAYOUTS: dict[str, tuple[dict[str, str], Any]] = {
    "a named file beside two others": ({USUAL: "grouped", TOP: "grouped", MORE: "grouped"}, "./more.json"),
    "a list of files": ({USUAL: "grouped", MORE: "grouped"}, ["./more.json", "./hooks/hooks.json"]),
    "hooks in the manifest": ({USUAL: "grouped"}, {}),
    "hooks without groups": ({USUAL: "flat"}, None),
    "events alone": ({USUAL: "bare"}, None),
    "a path without a dot": ({USUAL: "grouped", MORE: "grouped"}, "more.json"),
    "a number": ({USUAL: "grouped"}, 7),
}


def write_layout(case: Case, place: Place, folder: Path, files: dict[str, str], named: Any) -> None:
    """Write these files into a plugin's folder; each hook leaves a file with the name of its own."""
    names = ("gemini-extension.json", "qwen-extension.json", "plugin.json")
    manifest = next(path for name in names for path in folder.rglob(name))
    for name in (USUAL, TOP, MORE):
        (folder / name).unlink(missing_ok=True)

    def events(name: str, form: str) -> dict[str, Any]:
        hook = {"type": "command", "command": f"cat > /dev/null; touch {place.root}/tags/{name.replace('/', '-')}"}
        return {case.event: [hook if form == "flat" else {"hooks": [hook]}]}

    for name, form in files.items():
        (folder / name).write_text(json.dumps(events(name, form) if form == "bare" else {"hooks": events(name, form)}))
    about = {"name": "probe", "version": "1.0.0"}
    hooks = {} if named is None else {"hooks": events("manifest", "grouped") if named == {} else named}
    manifest.write_text(json.dumps({**about, **hooks}))


@pytest.mark.full
@pytest.mark.parametrize("case", [pytest.param(case, id=case.host) for case in CASES])
def test_those_hooks_of_a_plugin_are_listed_that_the_client_runs(case: Case, stage: tuple[Client, Place]) -> None:
    client, place = stage
    case.install(client, place, write_probe(case, place))
    (hook,) = listed(case, place)
    options = [codex.BYPASS] if case.driver is codex else []
    for label, (files, named) in LAYOUTS.items():
        if case.driver is openhands and named is not None:
            continue  # it is slow to start, and asks no manifest for hooks
        write_layout(case, place, Path(hook.file).parents[1], files, named)
        (place.root / "tags").mkdir()
        case.driver.play(client, place, ["done"], *options, timeout=300)
        ran = sorted(path.name for path in (place.root / "tags").iterdir())
        shutil.rmtree(place.root / "tags")
        hooks = [hook for hook in listed(case, place, readable=False) if hook.state in ("runs", "not_approved")]
        assert sorted(hook.command.rpartition("/")[2] for hook in hooks) == ran, label


@pytest.mark.full
def test_each_file_and_each_named_module_of_opencode_is_a_plugin(opencode: Client, tmp_path: Path) -> None:
    place = opencode_driver.Place.make(tmp_path / "place")
    code = "import {{ writeFileSync }} from 'fs'\nexport const A = async () => (writeFileSync('{}', ''), {{}})\n"
    paths = [place.settings, place.project / ".opencode" / "plugins" / "b.ts", place.root / "named.js"]
    for number, path in enumerate(paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code.format(place.root / f"ran{number}"))
    place.config.write_text(json.dumps({"plugin": [f"file://{paths[2]}"]}))
    opencode_driver.play_one_turn(opencode, place, ["done", "title"])
    assert sorted(path.name for path in place.root.glob("ran*")) == ["ran0", "ran1", "ran2"]
    hooks = listed(Case(opencode_driver, _openhands, _openhands_off, ""), place)
    assert [(hook.owner, hook.state) for hook in hooks] == [
        ("operators.js", "runs"),
        ("b.ts", "runs"),
        (f"file://{paths[2]}", "runs"),
    ]


# What Pi's settings of the user and of the project say. ROOT is the folder of the test, PI that of the user's settings.
EXTENSIONS = json.loads((Path(__file__).parent / "extensions.json").read_text())


@pytest.mark.full
@pytest.mark.parametrize("name", EXTENSIONS)
def test_each_extension_of_pi_runs_that_is_listed_so(name: str, pi: Client, tmp_path: Path) -> None:
    place = pi_driver.Place.make(tmp_path / "place", own_folders=True)
    own, projects = place.settings.parent, place.project / ".pi"
    files = [own / "a.js", own / "c" / "index.ts", projects / "extensions" / "b.ts", place.root / "named.js"]
    files += [place.root / package / "extensions" / "p.js" for package in ("pack", "other")]
    log = place.root / "ran"
    code = "import fs from 'fs'\nexport default (pi) => pi.on('session_start', () => fs.appendFileSync(LOG, NAME))\n"
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        package = json.dumps(str(path).removesuffix("/extensions/p.js") + "\n")
        path.write_text(code.replace("LOG", json.dumps(str(log))).replace("NAME", package))
    for folder, settings in zip((own.parent, projects), EXTENSIONS[name], strict=True):
        text = json.dumps(settings).replace("ROOT", str(place.root)).replace("PI", str(own.parent))
        (folder / "settings.json").write_text(text)
    (own.parent / "trust.json").write_text(json.dumps({str(place.project): True}))
    assert pi_driver.play(pi, place, ["done"]).code == 0
    runs = [hook for hook in hookctl_json(place, "hooks", "--host", "pi")["hooks"] if hook["state"] == "runs"]
    listed = [os.path.normpath(os.path.join(os.path.dirname(hook["file"]), hook["command"])) for hook in runs]
    assert sorted(listed) == sorted(log.read_text().splitlines())
