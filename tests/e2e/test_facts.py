"""What the real clients do that hookctl relies on, a table each in tables/; expected values are in pins/.

Here are those whose hooks stand in JSON as Claude Code's do, and what all clients do in their own words; the others are
in test_facts_of_others.py.
"""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hookctl import hosts
from tests.matching import OF_SHELL

from . import acceptance, claude, codex, copilot, droid, everywhere, facts, gemini, grok, qwen
from .agent import Place
from .clients import Client, pins_of
from .facts import Came, Entries, Fact
from .hooks import group, handler
from .probe import BLOCK, Probe, make_probe

pytestmark = [pytest.mark.e2e, pytest.mark.full]


def start_git(place: Place) -> None:
    subprocess.run(["git", "init", "-q", str(place.project)], env=place.environment(), check=True)


# Codex


def refused_by_codex(run: Any) -> list[str]:
    """What the model was told of the first three calls, as far as it is ours."""
    outputs = [item["output"] for item in run.log[-1].request.body["input"] if "output" in item]
    return [output[: len("Command blocked by PreToolUse hook: no.")] for output in outputs[:3]]


def lists_both_files(came: Came) -> bool:
    names = [Path(hook.key.partition(":")[0]).name for hook in codex.list_hooks(came.client, came.place)]
    return names == ["hooks.json", "config.toml"]


def starts_where_the_session_began(came: Came) -> bool:
    """Whichever folder's file has the hook."""
    heard = [came.probes[name].heard()[0] for name in ("root", "sub")]
    places = {call.environment["PWD"] for call in heard} | {call.payload["cwd"] for call in heard}
    return places == {str(came.place.project / "sub")}


def leave_no_repository(place: Place) -> None:
    (place.project / ".git" / "HEAD").unlink()


def lists_those_of_the_start_folder(came: Came) -> bool:
    below = came.place.project / "sub"
    below.mkdir()
    return [len(codex.list_hooks(came.client, came.place, folder)) for folder in (None, below)] == [1, 0]


# Copilot CLI

NAMES = pins_of("copilot")["variables"]


def write_for_copilot(path: Path, events: Entries, more: Mapping[str, Any]) -> str:
    if path.parent.name == ".claude":
        return facts.claude_like()(path, events, more)
    entries: dict[str, list[dict[str, Any]]] = {event: [] for event in events}
    for event, hooks in events.items():
        for hook, fields in hooks:
            default = {} if "timeout" in fields else {"timeoutSec": 10}
            entries[event].append(handler(hook, **{**default, **fields}))
    return json.dumps({"version": 1, "hooks": entries})


def tells_an_error(came: Came) -> bool:
    failed, ended = came.payloads("failed")[0], came.payloads("ended")[0]
    assert (failed["toolName"], type(failed["error"])) == ("view", str)
    assert (ended["toolName"], ended["toolResult"]["resultType"]) == ("bash", "success")
    return came.told("AFTER-FAILURE")


def are_told_their_own_folder(came: Came) -> bool:
    folders = {"root": came.place.project, "it": came.place.project / "sub"}
    heard = [(name, call) for name, probe in came.probes.items() for call in probe.heard()]
    return all(call.environment[NAMES["project"]] == str(folders[name]) for name, call in heard)


# Factory Droid


def write_for_droid(path: Path, events: Entries, more: Mapping[str, Any]) -> str:
    """Settings, or a hooks.json: there the events stand at the root."""
    text = facts.claude_like()(path, events, more)
    return json.dumps(json.loads(text)["hooks"]) if path.name == "hooks.json" else text


# Gemini CLI

GEMINI = pins_of("gemini")["variables"]


def refused_by_gemini(run: Any) -> list[str]:
    """The errors of the first three calls, as the model was told them."""
    parts = [part for content in run.log[-1].request.body["contents"] for part in content["parts"]]
    answers = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
    return [answer.get("error") for answer in answers[:3]]


def tools_are_told_neither(came: Came) -> None:
    (heard,) = came.probes["it"].heard()
    assert heard.environment[GEMINI["session"]] == heard.payload["session_id"]
    tools = {line.partition("=")[0] for line in (came.place.project / "environment").read_text().splitlines()}
    assert tools.isdisjoint({GEMINI["session"], GEMINI["project"]}) and "GEMINI_CLI" in tools


# Grok Build

GROK = pins_of("grok")["variables"]


def grok_flags(probe: Probe) -> str:
    """What each stop of a turn said of being forced: F or T."""
    return "".join("FT"[heard.payload["stopHookActive"]] for heard in probe.heard() if grok.ends_turn(heard.payload))


def one_prompt(came: Came) -> bool:
    return len({payload["promptId"] for payload in came.payloads() if grok.ends_turn(payload)}) == 1


def tools_are_told_the_session_alone(came: Came) -> None:
    for heard in came.probes["it"].heard():
        told = [heard.environment[GROK[name]].rstrip("/") for name in ("session", "itself", "workspace")]
        assert told == [heard.payload["session_id"], heard.payload["hookEventName"], str(came.place.project)]
    tools = (came.place.project / "env").read_text()
    assert f"{GROK['session']}={told[0]}" in tools and GROK["itself"] not in tools


def refused_by_grok(run: Any) -> list[str]:
    return [told for told in run.told("tool") if told.startswith("Hook denied")]


def told_first(count: int) -> Any:
    """The results of the first calls."""
    return lambda run: run.told("tool")[:count]


def refused_by_qwen(run: Any) -> list[str]:
    return [content[0]["text"] for content in run.told("tool")[:4]]


MATCHERS_OF_GROK = [
    Fact(f"the matcher {matcher!r} {'fits' if fits else 'does not fit'}",
         {"PreToolUse": [{"probe": "it", "matcher": matcher}]}, replies=[grok.shell("true"), "done"],
         options=(grok.YOLO,), heard=int(fits))
    for matcher, fits in OF_SHELL["grok"].items()
]  # fmt: skip


HOSTS = {
    "claude": facts.read(claude, globals()),
    "codex": facts.read(codex, globals(), refusals=refused_by_codex),
    "copilot": facts.read(copilot, globals(), write=write_for_copilot, refusals=told_first(1)),
    "droid": facts.read(droid, globals(), write=write_for_droid, refusals=told_first(3)),
    "gemini": facts.read(gemini, globals(), write=facts.claude_like(gemini.BASE), refusals=refused_by_gemini),
    "grok": facts.read(grok, globals(), *MATCHERS_OF_GROK, flags=grok_flags, refusals=refused_by_grok),
    "qwen": facts.read(qwen, globals(), write=facts.claude_like(qwen.BASE), refusals=refused_by_qwen),
}


@facts.table(HOSTS)
def test_fact(client: Client, tmp_path: Path, host: str, fact: Fact) -> None:
    facts.play(HOSTS[host], client, HOSTS[host].driver.Place.make(tmp_path / "place"), fact)


# What every client does in its own words: its version, one request without a hook, its folders and its sessions.

AGENTS = {case.host: case for case in everywhere.CASES}


class Host:
    """One client in a place of its own."""

    def __init__(self, name: str, client: Client, place: Place) -> None:
        self.name, self.client, self.place = name, client, place
        self.agent = AGENTS[name]
        cases = {case.scope: case for case in acceptance.CASES if case.host == name and not case.home_file}
        self.case, self.projects = cases.get("user"), cases.get("project")
        self.options = self.projects.arguments if self.projects else ()

    def register(self, path: Any, hook: Probe | str) -> None:
        """Write the operator's settings with one stop hook."""
        command = hook if isinstance(hook, str) else hook.command
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(acceptance.operators_file(self.case.file, command))

    def play(self, *arguments: str, reply: str = "done", **options: Any) -> Any:
        return self.agent.driver.play(self.client, self.place, [reply], *arguments, *self.options, **options)


def run_with(*names: str) -> pytest.MarkDecorator:
    """Run a test with these clients."""
    return pytest.mark.parametrize("host", names)


@pytest.fixture
def own(client: Client, host: str, tmp_path: Any) -> Host:
    return Host(host, client, AGENTS[host].driver.Place.make(tmp_path / "place"))


ALL = [name for name in AGENTS if name != "openhands"]  # which is no program


@run_with(*ALL)
def test_the_client_is_the_pinned_version(own: Host) -> None:
    environment = {**own.place.environment(), "XDG_CACHE_HOME": str(own.client.program.parent / "unpacked")}
    done = subprocess.run(
        [*own.client.command, "--version"], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert own.client.version in done.stdout


@run_with(*(name for name in ALL if name not in ("opencode", "grok")))
def test_without_a_hook_the_model_is_asked_once(own: Host) -> None:
    files = [own.place.settings, *([own.place.config] if isinstance(own.place, codex.Place) else [])]
    before = [path.read_bytes() if path.exists() else None for path in files]
    run = own.play()
    assert (run.requests, run.code) == (1, 0)
    assert "done" in run.out
    beside = {entry.request.path for entry in run.log if entry.kind != "main"}
    assert beside <= {"/api/v1/models"}, "there is side traffic that the server does not know"
    assert [path.read_bytes() if path.exists() else None for path in files] == before


@run_with("codex", "gemini", "qwen", "copilot", "droid")
def test_the_model_is_told_the_reason_of_a_block(own: Host) -> None:
    own.register(own.place.settings, make_probe(own.place.root, answers=(BLOCK, "")))
    run = own.play()
    assert run.requests == 2
    assert json.loads(BLOCK)["reason"] in json.dumps(run.log[-1].request.body)


@run_with(*(name for name, agent in AGENTS.items() if agent.moved_file))
def test_the_config_folder_variable_replaces_the_one_in_the_home(own: Host) -> None:
    usual, moved = make_probe(own.place.root, "usual"), make_probe(own.place.root, "moved")
    folder = own.place.home / "elsewhere"
    own.register(own.place.settings, usual)
    own.register(folder / own.agent.moved_file, moved)
    environment = {own.client.pins["variables"]["config_folder"]: str(folder)}
    assert own.play(environment=environment).requests == 1
    assert (usual.flags(), moved.flags()) == ("", "F")


@run_with("claude", "gemini", "qwen")
def test_settings_of_a_folder_above_the_start_folder_are_not_read(own: Host) -> None:
    probe, project = make_probe(own.place.root), own.place.project
    own.register(own.projects.settings(own.place), probe)
    (project / ".git").mkdir()
    (project / "sub").mkdir()
    assert own.play(cwd=project / "sub").requests == 1
    assert probe.flags() == ""


@run_with("claude", "codex", "gemini", "qwen", "copilot", "droid")
def test_a_hook_starts_in_the_folder_that_the_agent_was_started_in(own: Host) -> None:
    probe, start = make_probe(own.place.root), own.place.project / "sub"
    own.register(own.place.settings, "sh ./seen")
    start.mkdir()
    (start / "seen").write_text(probe.command)
    own.play(cwd=start)
    assert probe.flags() == "F"
    assert hosts.load(own.name).environment.starts_there


@run_with("claude", "codex", "gemini", "qwen")
def test_a_resumed_session_keeps_its_id_and_brings_a_new_turn(own: Host) -> None:
    probe = make_probe(own.place.root)
    own.register(own.place.settings, probe)
    own.play(reply="one")
    # Codex has the prompt among the words that resume a session.
    own.play(*own.agent.resume, reply="two", **({} if "go on" in own.agent.resume else {"prompt": "go on"}))
    first, second = (heard.payload for heard in probe.heard())
    assert first["session_id"] == second["session_id"]
    assert first[own.agent.turn] != second[own.agent.turn]


@run_with("qwen", "copilot", "droid")
def test_the_project_variable_in_quotes_finds_a_file_of_any_project(own: Host) -> None:
    probe, project = make_probe(own.place.root), own.place.root / "a pro'j$ect"
    variable = own.client.pins["variables"]["project"]
    own.register(project / own.projects.project_file, f'"${variable}"/.hookctl/hook')
    program = project / ".hookctl" / "hook"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{probe.command}\n")
    program.chmod(0o755)
    own.play(cwd=project)
    assert probe.flags() == "F"


@run_with("droid")
def test_a_new_prompt_begins_with_a_flag_that_is_not_set_and_has_no_event(own: Host) -> None:
    root = own.place.root
    stop, prompt = make_probe(root, "stop", answers=(BLOCK, "", BLOCK, "")), make_probe(root, "prompt")
    hooks = {"Stop": [group(stop)], "UserPromptSubmit": [group(prompt)]}
    own.place.settings.write_text(json.dumps({"hooks": hooks}))
    run = droid.converse(own.client, own.place, ["done"], "one", "two")
    assert (run.requests, stop.flags(), prompt.heard()) == (4, "FTFT", [])
    assert len({heard.payload["session_id"] for heard in stop.heard()}) == 1
