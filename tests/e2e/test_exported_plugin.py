"""A pack exported as a plugin, in clients that load plugins: it refuses there, also when its own source is gone."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from tests.manifest import hook, manifest

from . import claude, codex, copilot, droid, openhands, qwen
from .agent import Place, Run
from .clients import Client
from .dialects import Call
from .model_server import Script
from .plugins import by_own_means, write_marketplace
from .product import hookctl

pytestmark = pytest.mark.e2e

PACK = manifest("judge", hook("PreToolUse", "python3 {files}/judge.py", matcher="MATCHER"), files=["judge.py"])
JUDGE = """\
import json, sys

if "rm -rf" in json.load(sys.stdin)["tool_input"].get("command", ""):
    print("removing by force is not allowed", file=sys.stderr)
    sys.exit(2)
"""
JUDGE_IN_JSON = """\
import json, sys

answer = {"permissionDecision": "deny", "permissionDecisionReason": "removing by force is not allowed"}
if "rm -rf" in json.load(sys.stdin)["tool_input"].get("command", ""):
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", **answer}}))
"""


def _beside_the_command(client: Client, place: Place, plugin: Path) -> list[str]:
    place.settings.write_text(json.dumps({"permissions": {"allow": ["Bash"]}}))  # Copilot reads it and does not mind
    return ["--plugin-dir", str(plugin)]


def _from_a_marketplace(client: Client, place: Place, plugin: Path) -> list[str]:
    by_own_means(codex, client, place, "plugin", "marketplace", "add", str(plugin.parents[1]))
    by_own_means(codex, client, place, "plugin", "add", "judge@market")
    return [codex.YOLO, codex.BYPASS]


def _as_an_extension(client: Client, place: Place, plugin: Path) -> list[str]:
    by_own_means(qwen, client, place, "extensions", "install", str(plugin), "--consent")
    return [qwen.YOLO]


def _in_droids_cache(client: Client, place: Place, plugin: Path) -> list[str]:
    by_own_means(droid, client, place, "plugin", "marketplace", "add", str(plugin.parents[1]))
    by_own_means(droid, client, place, "plugin", "install", "judge@market")
    return ["--auto", "high"]


def _in_the_home(client: Client, place: Place, plugin: Path) -> list[str]:
    shutil.copytree(plugin, place.home / ".agents" / "plugins" / "judge")
    return []


class Case(NamedTuple):
    """One client, and how a plugin comes to it; what it needs then is returned."""

    driver: ModuleType
    install: Callable[[Client, Place, Path], list[str]]
    judge: str = JUDGE
    matcher: str = "Bash"

    @property
    def host(self) -> str:
        return self.driver.__name__.rpartition(".")[2]

    def shell(self, command: str) -> Call:
        return self.driver.bash(command) if self.driver is claude else self.driver.shell(command)


REFUSING = [
    Case(claude, _beside_the_command),
    Case(codex, _from_a_marketplace),
    Case(copilot, _beside_the_command, JUDGE_IN_JSON),  # of a status 2 its model learns no reason
    Case(qwen, _as_an_extension),
    Case(droid, _in_droids_cache, matcher="*"),  # it holds a matcher against names of its own
]
WITHOUT_A_FOLDER = [Case(openhands, _in_the_home, matcher="*")]  # it tells no hook where its plugin is
QUICK = (claude, codex)


def _each(cases: list[Case]) -> pytest.MarkDecorator:
    marks = [[] if case.driver in QUICK else [pytest.mark.full] for case in cases]
    several = [pytest.param(case, id=case.host, marks=mark) for case, mark in zip(cases, marks, strict=True)]
    return pytest.mark.parametrize("case", several)


def play(case: Case, client: Client, place: Place) -> Run:
    """Export the pack, remove it, load the plugin, and let the agent make a harmless call and one that is refused."""
    pack, market = place.root / "judge", place.root / "market"
    pack.mkdir()
    (pack / "judge.py").write_text(case.judge)
    (pack / "pack.toml").write_text(PACK.replace("MATCHER", case.matcher))
    (market / "plugins").mkdir(parents=True)
    plugin = market / "plugins" / "judge"
    hookctl(place, "pack", "export", str(pack), "--as", "claude-plugin", "-o", str(plugin))
    shutil.rmtree(pack)
    write_marketplace(market)
    options = case.install(client, place, plugin)
    calls = [case.shell("touch kept"), case.shell("touch gone; rm -rf gone2"), "done"]
    return case.driver.play(client, place, Script(calls, limit=8), *options, timeout=300)


def told(run: Run) -> str:
    """Everything that the model was told."""
    return json.dumps([entry.request.body for entry in run.log], ensure_ascii=False)


@_each(REFUSING)
def test_an_exported_plugin_refuses_a_call_and_the_model_reads_why(case: Case, stage: tuple[Client, Place]) -> None:
    client, place = stage
    run = play(case, client, place)
    assert (place.project / "kept").exists()
    assert not (place.project / "gone").exists()
    assert "removing by force is not allowed" in told(run)


@_each(WITHOUT_A_FOLDER)
def test_an_exported_plugin_refuses_nothing_where_its_files_cannot_be_found(
    case: Case, stage: tuple[Client, Place]
) -> None:
    client, place = stage
    play(case, client, place)
    assert (place.project / "kept").exists()
    assert (place.project / "gone").exists()
