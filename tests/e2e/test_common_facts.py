"""What every client does in its own words: its version, one request without a hook, its folders and its sessions."""

import json
import subprocess
from typing import Any, NamedTuple

import pytest

from hookctl import hosts

from . import acceptance, codex, everywhere
from .agent import Place
from .clients import Client
from .probe import BLOCK, Probe, make_probe

pytestmark = pytest.mark.e2e

DRIVERS = {case.host: case.driver for case in everywhere.CASES}


class Words(NamedTuple):
    """How one client says what the tests of this file ask for."""

    moved_file: str = ""  # the settings file in the folder that the variable names
    resume: tuple[str, ...] = ()  # goes on with the last session
    turn: str = ""  # the field that tells a new prompt


WORDS = {
    "claude": Words("settings.json", ("--continue",), "prompt_id"),
    "codex": Words("hooks.json", ("resume", "--last", "go on"), "turn_id"),
    "gemini": Words(".gemini/settings.json", ("--resume", "latest"), "prompt"),
    "qwen": Words("settings.json", ("--continue",), "prompt_id"),
    "copilot": Words("hooks/operators.json"),
}


class Host:
    """One client in a place of its own."""

    def __init__(self, name: str, client: Client, place: Place) -> None:
        self.name, self.client, self.place = name, client, place
        self.words = WORDS.get(name, Words())
        cases = {case.scope: case for case in acceptance.CASES if case.host == name and not case.home_file}
        self.case, self.projects = cases.get("user"), cases.get("project")
        self.options = self.projects.arguments if self.projects else ()

    def register(self, path: Any, hook: Probe | str) -> None:
        """Write the operator's settings with one stop hook."""
        command = hook if isinstance(hook, str) else hook.command
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.case.operators_file.replace("COMMAND", json.dumps(command)))

    def play(self, *arguments: str, reply: str = "done", **options: Any) -> Any:
        return DRIVERS[self.name].play(self.client, self.place, [reply], *arguments, *self.options, **options)


def run_with(*names: str) -> pytest.MarkDecorator:
    """Run a test with these clients; Claude Code on every change, the others with HOOKCTL_TESTS=all."""
    rows = [pytest.param(name, marks=[] if name == "claude" else [pytest.mark.full]) for name in names]
    return pytest.mark.parametrize("name", rows)


@pytest.fixture
def host(request: pytest.FixtureRequest, name: str, tmp_path: Any) -> Host:
    return Host(name, request.getfixturevalue(name), DRIVERS[name].Place.make(tmp_path / "place"))


ALL = [name for name in DRIVERS if name != "openhands"]  # which is no program


@run_with(*ALL)
def test_the_client_is_the_pinned_version(host: Host) -> None:
    environment = {**host.place.environment(), "XDG_CACHE_HOME": str(host.client.program.parent / "unpacked")}
    done = subprocess.run(
        [*host.client.command, "--version"], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert host.client.version in done.stdout


@run_with(*(name for name in ALL if name not in ("opencode", "grok")))
def test_without_a_hook_the_model_is_asked_once(host: Host) -> None:
    files = [host.place.settings, *([host.place.config] if isinstance(host.place, codex.Place) else [])]
    before = [path.read_bytes() if path.exists() else None for path in files]
    run = host.play()
    assert (run.requests, run.code) == (1, 0)
    assert "done" in run.out
    beside = {entry.request.path for entry in run.log if entry.kind != "main"}
    assert beside <= {"/api/v1/models"}, "there is side traffic that the server does not know"
    assert [path.read_bytes() if path.exists() else None for path in files] == before


@run_with("claude", "codex")
def test_a_run_leaves_the_settings_file_as_it_was(host: Host) -> None:
    host.register(host.place.settings, make_probe(host.place.root, answers=(BLOCK, "")))
    before = host.place.settings.read_bytes() + b"\n\n"
    host.place.settings.write_bytes(before)
    assert host.play().requests == 2
    assert host.place.settings.read_bytes() == before


@run_with("codex", "gemini", "qwen", "copilot", "droid")
def test_the_model_is_told_the_reason_of_a_block(host: Host) -> None:
    host.register(host.place.settings, make_probe(host.place.root, answers=(BLOCK, "")))
    run = host.play()
    assert run.requests == 2
    assert json.loads(BLOCK)["reason"] in json.dumps(run.log[-1].request.body)


@run_with(*WORDS)
def test_the_config_folder_variable_replaces_the_one_in_the_home(host: Host) -> None:
    usual, moved = make_probe(host.place.root, "usual"), make_probe(host.place.root, "moved")
    folder = host.place.home / "elsewhere"
    host.register(host.place.settings, usual)
    host.register(folder / host.words.moved_file, moved)
    environment = {host.client.pins["variables"]["config_folder"]: str(folder)}
    assert host.play(environment=environment).requests == 1
    assert (usual.flags(), moved.flags()) == ("", "F")


@run_with("claude", "gemini", "qwen")
def test_settings_of_a_folder_above_the_start_folder_are_not_read(host: Host) -> None:
    probe, project = make_probe(host.place.root), host.place.project
    host.register(host.projects.settings(host.place), probe)
    (project / ".git").mkdir()
    (project / "sub").mkdir()
    assert host.play(cwd=project / "sub").requests == 1
    assert probe.flags() == ""


@run_with("claude", "codex", "gemini", "qwen", "copilot", "droid")
def test_a_hook_starts_in_the_folder_that_the_agent_was_started_in(host: Host) -> None:
    probe, start = make_probe(host.place.root), host.place.project / "sub"
    host.register(host.place.settings, "sh ./seen")
    start.mkdir()
    (start / "seen").write_text(probe.command)
    host.play(cwd=start)
    assert probe.flags() == "F"
    assert hosts.load(host.name).environment.starts_there


@run_with("claude", "codex", "gemini", "qwen")
def test_a_resumed_session_keeps_its_id_and_brings_a_new_turn(host: Host) -> None:
    probe = make_probe(host.place.root)
    host.register(host.place.settings, probe)
    host.play(reply="one")
    # Codex has the prompt among the words that resume a session.
    host.play(*host.words.resume, reply="two", **({} if "go on" in host.words.resume else {"prompt": "go on"}))
    first, second = (heard.payload for heard in probe.heard())
    assert first["session_id"] == second["session_id"]
    assert first[host.words.turn] != second[host.words.turn]


@run_with("qwen", "copilot", "droid")
def test_the_project_variable_in_quotes_finds_a_file_of_any_project(host: Host) -> None:
    probe, project = make_probe(host.place.root), host.place.root / "a pro'j$ect"
    variable = host.client.pins["variables"]["project"]
    host.register(project / host.projects.project_file, f'"${variable}"/.hookctl/hook')
    program = project / ".hookctl" / "hook"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{probe.command}\n")
    program.chmod(0o755)
    host.play(cwd=project)
    assert probe.flags() == "F"
