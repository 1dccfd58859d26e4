"""A hook of another tool that always denies, wrapped on five hosts: the agent ends at the limit."""

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from . import codex, copilot, droid, gemini, grok, qwen
from .acceptance import CODEX_FILE, COPILOT_FILE, DROID_FILE, GEMINI_FILE, GROK_FILE, QWEN_FILE
from .agent import Place, Run
from .clients import Client
from .model_server import Script
from .probe import BLOCK
from .product import LIMIT, decisions, hookctl, hookctl_json

pytestmark = [pytest.mark.e2e, pytest.mark.full]

_HOSTS = {
    "codex": (codex, CODEX_FILE, (codex.YOLO,)),
    "gemini": (gemini, GEMINI_FILE, (gemini.YOLO,)),
    "grok": (grok, GROK_FILE, (grok.YOLO,)),
    "qwen": (qwen, QWEN_FILE, (qwen.YOLO,)),
    "droid": (droid, DROID_FILE, ()),
    "copilot": (copilot, COPILOT_FILE.replace("bash", "command"), ()),
}


@dataclass(frozen=True)
class Host:
    """A client in a place of its own, with another tool's hook that always denies."""

    client: Client
    driver: ModuleType
    place: Place
    file: str
    options: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.client.name

    def register(self, command: str) -> bytes:
        self.place.settings.write_text(self.file.replace("COMMAND", json.dumps(command)))
        self.approve()
        return self.place.settings.read_bytes()

    def approve(self) -> None:
        """Approve every hook anew on Codex, as the person does under /hooks."""
        if self.name != "codex":
            return
        hooks = codex.list_hooks(self.client, self.place)
        self.place.config.write_text("")
        codex.approve(self.place, {hook.key: hook.hash for hook in hooks})

    def wrap(self, text: str, *options: str, code: int = 0) -> str:
        words = ("install", "--host", self.name, "--mode", "off", "--wrap", text)
        done = hookctl(self.place, *words, *options, code=code)
        return done.stdout + done.stderr

    def play(self, *replies: object) -> Run:
        run = self.driver.play(self.client, self.place, Script(replies, limit=LIMIT * 4), *self.options)
        assert run.code == 0, run.errors
        return run


@pytest.fixture(params=_HOSTS)
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Host:
    driver, file, options = _HOSTS[request.param]
    place = driver.Place.make(tmp_path / "place", own_folders=True)
    return Host(request.getfixturevalue(request.param), driver, place, file, options)


class Foreign(NamedTuple):
    """A script that denies every stop, and writes each down but for Grok Build's at the session's end."""

    script: Path

    @property
    def command(self) -> str:
        return shlex.join(["/bin/sh", str(self.script)])

    def count_calls(self) -> int:
        return self.script.with_suffix(".called").read_text().count("\n")


@pytest.fixture
def foreign(host: Host) -> Foreign:
    folder = host.place.root / "other tool's"
    folder.mkdir()
    script = folder / "foreign.sh"
    called = shlex.quote(str(script.with_suffix(".called")))
    script.write_text(f'grep -q \'"reason":"shutdown"\' || echo called >> {called}\necho {shlex.quote(BLOCK)}\n')
    return Foreign(script)


def test_it_ends_at_the_limit_and_uninstall_gives_the_bytes_back(host: Host, foreign: Foreign) -> None:
    before = host.register(foreign.command)
    host.wrap("foreign")
    host.approve()
    run = host.play("done")
    assert (run.requests, foreign.count_calls()) == (LIMIT, LIMIT)
    assert [line["decision"] for line in decisions(host.place)] == ["block"] * (LIMIT - 1) + ["release"]
    hookctl(host.place, "uninstall")
    assert host.place.settings.read_bytes() == before


def test_a_tool_call_in_between_starts_the_count_again(host: Host, foreign: Foreign) -> None:
    host.register(foreign.command)
    host.wrap("foreign")
    host.approve()
    run = host.play("one", "two", host.driver.shell("true 1"), "three", "on and on")
    assert run.requests in (3 + LIMIT, 4 + LIMIT)  # the transcript may tell of the call a stop later
    assert decisions(host.place)[-1]["code"] == "tripped"


def run_with(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("host", names, indirect=True)


@run_with("gemini", "grok", "qwen")
def test_a_command_with_a_variable_is_refused(host: Host, foreign: Foreign) -> None:
    before = host.register(f"{foreign.command} $HOME")
    assert "cannot be wrapped, because of its variables" in host.wrap("foreign", code=2)
    assert host.place.settings.read_bytes() == before


@run_with("codex")
def test_the_approval_of_the_hook_without_its_wrap_holds_again_afterwards(host: Host, foreign: Foreign) -> None:
    host.register(foreign.command)
    config = host.place.config.read_bytes()
    [before] = codex.list_hooks(host.client, host.place)
    host.wrap("foreign")
    [wrapped] = codex.list_hooks(host.client, host.place)
    assert (wrapped.key, wrapped.trust, wrapped.hash == before.hash) == (before.key, "modified", False)
    hookctl(host.place, "uninstall")
    assert codex.list_hooks(host.client, host.place) == [before]
    assert (before.trust, host.place.config.read_bytes()) == ("trusted", config)


@run_with("codex")
def test_unwrapped_by_hand_the_approval_holds_again_too(host: Host, foreign: Foreign) -> None:
    host.register(foreign.command)
    before = codex.list_hooks(host.client, host.place)
    host.wrap("foreign")
    hookctl(host.place, "install", "--host", "codex", "--wrap", "")
    assert codex.list_hooks(host.client, host.place) == before


@run_with("codex")
def test_it_says_that_the_hook_waits_for_an_approval(host: Host, foreign: Foreign) -> None:
    host.register(foreign.command)
    hookctl(host.place, "install", "--host", "codex")
    host.approve()
    done = hookctl(host.place, "install", "--host", "codex", "--wrap", "foreign")
    said = " ".join((done.stdout + done.stderr).split())
    assert "approve it under /hooks" in said
    trusts = [hook.trust for hook in codex.list_hooks(host.client, host.place)]
    assert trusts == ["modified", "trusted"]


@run_with("copilot")
def test_a_hook_in_another_file_of_the_folder_is_wrapped_once_it_is_moved(host: Host, foreign: Foreign) -> None:
    ours, theirs = host.place.settings, host.place.settings.with_name("theirs.json")
    theirs.write_text(host.file.replace("COMMAND", json.dumps(foreign.command)))
    cap = host.client.pins["cap"]["default"]
    assert host.play("done").requests == cap + 1
    assert "names no hook" in host.wrap("foreign", code=2)
    theirs.rename(ours)
    host.wrap("foreign")
    host.approve()
    assert host.play("done").requests == LIMIT


_PROJECT = {
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "grok": ".grok/hooks/hookctl.json",
    "qwen": ".qwen/settings.json",
    "droid": ".factory/settings.json",
    "copilot": ".github/hooks/hookctl.json",
}


def test_a_project_s_hook_is_wrapped_there(host: Host, foreign: Foreign) -> None:
    place, scope = host.place, ("--host", host.name, "--scope", "project")
    (place.project / ".git").mkdir(exist_ok=True)
    file = place.project / _PROJECT[host.name]
    file.parent.mkdir(parents=True)
    file.write_text(host.file.replace("COMMAND", json.dumps(foreign.command)))
    before = file.read_bytes()
    if host.name == "codex":
        codex.trust_project(place, place.project)
    trust = {"codex": (codex.BYPASS,), "copilot": (copilot.TRUST,), "grok": (grok.TRUST,)}.get(host.name, ())
    hookctl(place, "install", *scope, "--mode", "off", "--wrap", "foreign")
    run = host.driver.play(host.client, place, Script(["done"], limit=LIMIT * 4), *host.options, *trust)
    assert (run.requests, foreign.count_calls()) == (LIMIT, LIMIT)
    assert "nothing to do" in hookctl(place, "install", *scope).stdout
    assert hookctl_json(place, "check")["findings"] == []
    hookctl(place, "uninstall", *scope)
    assert file.read_bytes() == before
