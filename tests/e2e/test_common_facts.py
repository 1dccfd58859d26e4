"""What every client does in its own words: its version, one request without a hook, its folders and its sessions."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hookctl import hosts

from . import claude, codex, copilot, droid, gemini, grok, kimi, opencode, pi, qwen, vibe
from .agent import Place
from .clients import Client
from .hooks import group, handler
from .probe import BLOCK, Probe, make_probe

pytestmark = pytest.mark.e2e


@dataclass(frozen=True)
class Host:
    """How one client is asked the questions of this file."""

    driver: ModuleType
    event: str = "Stop"  # the stop, in the client's settings
    base: Mapping[str, Any] | None = None  # what its settings need beside the hooks
    arguments: tuple[str, ...] = ()
    project_file: str = ""  # the settings file in a project
    moved_file: str = ""  # the settings file in the folder that the variable names
    resume: tuple[str, ...] = ()  # goes on with the last session
    turn: str = ""  # the field that tells a new prompt

    @property
    def name(self) -> str:
        return self.driver.__name__.rpartition(".")[2]

    def register(self, path: Path, hook: Probe | str) -> None:
        """Write settings with one stop hook."""
        entry = handler(hook, timeoutSec=10) if self.driver is copilot else group(hook)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**(self.base or {}), "hooks": {self.event: [entry]}}))


HOSTS = {
    "claude": Host(
        claude,
        project_file=".claude/settings.json",
        moved_file="settings.json",
        resume=("--continue",),
        turn="prompt_id",
    ),
    "codex": Host(
        codex, arguments=(codex.BYPASS,), moved_file="hooks.json", resume=("resume", "--last", "go on"), turn="turn_id"
    ),
    "gemini": Host(
        gemini,
        "AfterAgent",
        gemini.BASE,
        project_file=".gemini/settings.json",
        moved_file=".gemini/settings.json",
        resume=("--resume", "latest"),
        turn="prompt",
    ),
    "qwen": Host(
        qwen,
        base=qwen.BASE,
        project_file=".qwen/settings.json",
        moved_file="settings.json",
        resume=("--continue",),
        turn="prompt_id",
    ),
    "copilot": Host(
        copilot,
        "agentStop",
        {"version": 1},
        (copilot.TRUST,),
        project_file=".github/hooks/hookctl.json",
        moved_file="hooks/operators.json",
    ),
    "droid": Host(droid, project_file=".factory/settings.json"),
    "grok": Host(grok),
    "kimi": Host(kimi),
    "opencode": Host(opencode),
    "pi": Host(pi),
    "vibe": Host(vibe),
}


def run_with(*names: str) -> pytest.MarkDecorator:
    """Run a test with these clients; Claude Code on every change, the others with HOOKCTL_TESTS=all."""
    rows = [pytest.param(name, marks=[] if name == "claude" else [pytest.mark.full]) for name in names]
    return pytest.mark.parametrize("name", rows)


@pytest.fixture
def host(name: str) -> Host:
    return HOSTS[name]


@pytest.fixture
def client(request: pytest.FixtureRequest, name: str) -> Client:
    return request.getfixturevalue(name)


@pytest.fixture
def place(host: Host, tmp_path: Path) -> Place:
    return host.driver.Place.make(tmp_path / "place")


@run_with(*HOSTS)
def test_the_client_is_the_pinned_version(client: Client, place: Place) -> None:
    environment = {**place.environment(), "XDG_CACHE_HOME": str(client.program.parent / "unpacked")}
    done = subprocess.run(
        [*client.command, "--version"], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert client.version in done.stdout


@run_with("claude", "codex", "gemini", "qwen", "copilot", "droid", "kimi", "pi", "vibe")
def test_without_a_hook_the_model_is_asked_once(client: Client, host: Host, place: Place) -> None:
    files = [place.settings, *([place.config] if isinstance(place, codex.Place) else [])]
    before = [path.read_bytes() if path.exists() else None for path in files]
    run = host.driver.play(client, place, ["done"])
    assert (run.requests, run.code) == (1, 0)
    assert "done" in run.out
    assert len(run.log) == 1, "there is side traffic that the server does not know"
    assert [path.read_bytes() if path.exists() else None for path in files] == before


@run_with("claude", "codex")
def test_a_run_leaves_the_settings_file_as_it_was(client: Client, host: Host, place: Place) -> None:
    host.register(place.settings, make_probe(place.root, answers=(BLOCK, "")))
    before = place.settings.read_bytes() + b"\n\n"
    place.settings.write_bytes(before)
    assert host.driver.play(client, place, ["done"], *host.arguments).requests == 2
    assert place.settings.read_bytes() == before


@run_with("codex", "gemini", "qwen", "copilot", "droid")
def test_the_model_is_told_the_reason_of_a_block(client: Client, host: Host, place: Place) -> None:
    host.register(place.settings, make_probe(place.root, answers=(BLOCK, "")))
    run = host.driver.play(client, place, ["done"], *host.arguments)
    assert run.requests == 2
    assert json.loads(BLOCK)["reason"] in json.dumps(run.log[-1].request.body)


@run_with("claude", "codex", "gemini", "qwen", "copilot")
def test_the_config_folder_variable_replaces_the_one_in_the_home(client: Client, host: Host, place: Place) -> None:
    usual, moved = make_probe(place.root, "usual"), make_probe(place.root, "moved")
    folder = place.home / "elsewhere"
    host.register(place.settings, usual)
    host.register(folder / host.moved_file, moved)
    environment = {client.pins["variables"]["config_folder"]: str(folder)}
    assert host.driver.play(client, place, ["done"], *host.arguments, environment=environment).requests == 1
    assert (usual.flags(), moved.flags()) == ("", "F")


@run_with("claude", "gemini", "qwen")
def test_settings_of_a_folder_above_the_start_folder_are_not_read(client: Client, host: Host, place: Place) -> None:
    probe = make_probe(place.root)
    host.register(place.project / host.project_file, probe)
    (place.project / ".git").mkdir()
    (place.project / "sub").mkdir()
    assert host.driver.play(client, place, ["done"], cwd=place.project / "sub").requests == 1
    assert probe.flags() == ""


@run_with("claude", "codex", "gemini", "qwen", "copilot", "droid")
def test_a_hook_starts_in_the_folder_that_the_agent_was_started_in(client: Client, host: Host, place: Place) -> None:
    probe = make_probe(place.root)
    host.register(place.settings, "sh ./seen")
    start = place.project / "sub"
    start.mkdir()
    (start / "seen").write_text(probe.command)
    host.driver.play(client, place, ["done"], *host.arguments, cwd=start)
    assert probe.flags() == "F"
    assert hosts.load(host.name).environment.starts_there


@run_with("claude", "codex", "gemini", "qwen")
def test_a_resumed_session_keeps_its_id_and_brings_a_new_turn(client: Client, host: Host, place: Place) -> None:
    probe = make_probe(place.root)
    host.register(place.settings, probe)
    host.driver.play(client, place, ["one"], *host.arguments)
    host.driver.play(client, place, ["two"], *host.resume, *host.arguments, **prompt_of(host))
    first, second = (heard.payload for heard in probe.heard())
    assert first["session_id"] == second["session_id"]
    assert first[host.turn] != second[host.turn]


def prompt_of(host: Host) -> dict[str, str]:
    """The prompt of a resumed session; Codex has it among the words that resume it."""
    return {} if "go on" in host.resume else {"prompt": "go on"}


@run_with("qwen", "copilot", "droid")
def test_the_project_variable_in_quotes_finds_a_file_of_any_project(client: Client, host: Host, place: Place) -> None:
    probe, project = make_probe(place.root), place.root / "a pro'j$ect"
    host.register(project / host.project_file, f'"${client.pins["variables"]["project"]}"/.hookctl/hook')
    program = project / ".hookctl" / "hook"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{probe.command}\n")
    program.chmod(0o755)
    host.driver.play(client, place, ["done"], *host.arguments, cwd=project)
    assert probe.flags() == "F"
