"""Plugins of the clients: a folder in Claude Code's layout, a marketplace of this machine, each client's commands."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from hookctl.survey.machine import Machine
from hookctl.system.folders import Folders

from .agent import Place
from .clients import Client

Install = Callable[[Client, Place, Path], list[str]]  # what the client needs then is returned
_NOWHERE = "http://127.0.0.1:9"


def by_own_means(
    driver: ModuleType, client: Client, place: Place, *arguments: str, may_fail: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run one of the client's own commands, without a model."""
    quiet = getattr(driver, "QUIET", None)
    environment = quiet or driver.DRIVER.call(client, place, _NOWHERE, "").environment
    done = subprocess.run(
        [*client.command, *arguments],
        cwd=place.project,
        env={**place.environment(), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert may_fail or done.returncode == 0, f"{client.name} {' '.join(arguments)}: {done.stdout}\n{done.stderr}"
    return done


def from_a_marketplace(driver: ModuleType, verb: str) -> Install:
    """A plugin comes from the marketplace that it lies in."""

    def install(client: Client, place: Place, plugin: Path) -> list[str]:
        by_own_means(driver, client, place, "plugin", "marketplace", "add", str(plugin.parents[1]))
        by_own_means(driver, client, place, "plugin", verb, f"{plugin.name}@market")
        return []

    return install


def as_an_extension(driver: ModuleType) -> Install:
    """It is installed where it lies."""

    def install(client: Client, place: Place, plugin: Path) -> list[str]:
        by_own_means(driver, client, place, "extensions", "install", str(plugin), "--consent")
        return []

    return install


def machine_of(place: Place) -> Machine:
    state = str(place.home / ".local/state/hookctl")
    return Machine(Folders(state, state, {"HOME": str(place.home)}, str(place.project)), {})


def write_plugin(folder: Path, hooks: dict[str, Any]) -> None:
    """Write a plugin in Claude Code's layout, called as its folder, with these hooks."""
    (folder / ".claude-plugin").mkdir(parents=True)
    (folder / "hooks").mkdir()
    about = {"name": folder.name, "version": "1.0.0", "description": "for a test"}
    (folder / ".claude-plugin" / "plugin.json").write_text(json.dumps(about))
    (folder / "hooks" / "hooks.json").write_text(json.dumps({"hooks": hooks}, indent=2))


def write_marketplace(folder: Path) -> None:
    """Make a folder a marketplace of that name, with the plugins in its own folder `plugins`."""
    names = sorted(path.name for path in (folder / "plugins").iterdir())
    plugins = [{"name": name, "source": f"./plugins/{name}", "description": "for a test"} for name in names]
    about = {"name": folder.name, "owner": {"name": "tests"}, "plugins": plugins}
    (folder / ".claude-plugin").mkdir()
    (folder / ".claude-plugin" / "marketplace.json").write_text(json.dumps(about))
