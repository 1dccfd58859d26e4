"""A hook that is disabled does not run in the real clients, while the others do that are listed as running."""

import json
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from hookctl import hosts
from hookctl.survey.listing import take_inventory
from hookctl.survey.model import Hook
from hookctl.system.folders import Folders
from hookctl.verbs import disable, enable

from . import claude, codex, copilot, droid, gemini, grok, openhands, qwen
from .agent import Place
from .clients import Client

pytestmark = pytest.mark.e2e


class Case(NamedTuple):
    """One client, and its files with hooks beside those that hookctl writes."""

    driver: ModuleType
    others: tuple[str, ...] = ()  # ~ is HOME, else in the project
    options: tuple[str, ...] = ()

    @property
    def host(self) -> str:
        return self.driver.__name__.rpartition(".")[2]


CASES = [
    Case(claude, (".claude/settings.local.json",)),
    Case(codex),
    Case(gemini),
    Case(qwen),
    Case(
        copilot,
        ("~/.copilot/settings.json", ".github/copilot/settings.json", ".claude/settings.json"),
        (copilot.TRUST,),
    ),
    Case(grok, ("~/.grok/hooks/more.json", ".grok/hooks/more.json")),
    Case(droid, (".factory/hooks.json",)),  # which hides those in the project's settings
    Case(openhands),
]
QUICK = (claude, codex)


class Machine:
    """A place with hooks of every kind, each of which writes its word down when it runs."""

    def __init__(self, case: Case, place: Place) -> None:
        self.case, self.place = case, place
        self.host = hosts.load(case.host)
        self.ran = place.root / "ran"

    def plant(self) -> None:
        """Register hooks on a session's start in each file that the client has."""
        no_mode = self.place.root / "no-mode.sh"
        no_mode.write_text(f"#!/bin/sh\n{self._echo('no-mode')}\n")
        own = ["user", "twice", "/nowhere/gone.sh", str(no_mode)]
        self._register(self.place.settings, own, unknown="Nonsense")
        project = self.host.files["project"].format(project=self.place.project)
        self._register(Path(project), ["project", "twice"])
        for number, name in enumerate(self.case.others):
            path = Path(name.replace("~", str(self.place.home)))
            self._register(self.place.project / path, [f"other{number}"])

    def _echo(self, word: str) -> str:
        return f"cat > /dev/null; echo {word} >> {self.ran}"

    def _register(self, path: Path, words: list[str], unknown: str = "") -> None:
        """Add handlers to a file: one for each word, and one on an event that no client has."""
        value: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        events = value if path.name == "hooks.json" and self.case.driver in (droid, openhands) else None
        if events is None:
            events = value.setdefault("hooks", {})
        is_claudes = path.parent.name == ".claude"
        event = "SessionStart" if is_claudes else self.host.events["session-start"]
        for word in words:
            self._add(events, event, word if "/" in word else self._echo(word), is_claudes)
        if unknown and self.case.driver is not openhands:  # whose start such an event would cost
            self._add(events, unknown, self._echo("unknown"), is_claudes)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=1))

    def _add(self, events: dict[str, Any], event: str, command: str, is_claudes: bool) -> None:
        is_flat = "*" in self.host.shape.flat and not is_claudes
        handler = {"type": "command", "command": command}
        events.setdefault(event, []).append(handler if is_flat else {"hooks": [handler]})

    def listed(self) -> list[Hook]:
        """Every hook as hookctl lists it in the project."""
        home, environ = self.place.home, self.place.environment()
        folders = Folders(str(home / "state"), str(home / "data"), environ, str(self.place.project))
        inventory = take_inventory(folders, [self.host])
        assert inventory.unreadable == ()
        return list(inventory.hooks)

    def word(self, hook: Hook) -> str:
        is_script = hook.command.endswith("no-mode.sh")
        return "no-mode" if is_script else hook.command.partition("echo ")[2].partition(" ")[0]

    def expected(self) -> Counter[str]:
        """How often each word is written in one session, by the list."""
        times: Counter[str] = Counter()
        for hook in self.listed():
            runs_too = hook.state == "twice" and "may run it twice" in hook.reason
            if self.word(hook) and (hook.state == "runs" or runs_too):
                times[self.word(hook)] += 1
        return times

    def play(self, client: Client) -> Counter[str]:
        """How often each word is written in one session."""
        self.ran.unlink(missing_ok=True)
        self.case.driver.play(client, self.place, ["done"], *self.case.options, timeout=300)
        return Counter(self.ran.read_text().split() if self.ran.exists() else [])


def _trusted(machine: Machine, client: Client) -> Machine:
    """The machine with the trust that the client wants, step by step as the list says it."""
    place = machine.place
    if machine.case.driver is gemini:
        assert all("does not trust this folder" in hook.reason for hook in machine.listed())
        assert "runs" not in {hook.state for hook in machine.listed()}
        trusted = place.home / ".gemini" / "trustedFolders.json"
        trusted.write_text(json.dumps({str(place.project): "TRUST_FOLDER"}))
        return machine
    if machine.case.driver is grok:
        untrusted = {machine.word(hook) for hook in machine.listed() if "does not trust this folder" in hook.reason}
        assert "project" in untrusted
        assert "user" not in untrusted
        grok.trust_project(place, place.project)
        return machine
    assert "runs" not in {hook.state for hook in machine.listed()}
    assert machine.play(client) == {}
    codex.trust_project(place, place.project)
    codex.approve(place, {hook.key: hook.hash for hook in codex.list_hooks(client, place)})
    return machine


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case.host, marks=[] if case.driver in QUICK else pytest.mark.full) for case in CASES],
)
def test_a_disabled_hook_does_not_run_until_it_is_enabled(
    case: Case, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    client: Client = request.getfixturevalue(case.host)
    machine = Machine(case, case.driver.Place.make(tmp_path / "place"))
    machine.plant()
    if case.driver in (codex, gemini, grok):
        machine = _trusted(machine, client)
    place, running = machine.place, machine.expected()
    folders = Folders(str(place.home / "state"), str(place.home / "data"), place.environment(), str(place.project))
    settings = {path: path.read_bytes() for path in place.settings.parent.iterdir() if path.is_file()}
    words = {machine.word(hook): hook for hook in machine.listed() if hook.state == "runs"}
    word = "project" if "project" in words else "user"
    chosen = words[word]
    disable.disable(folders, [chosen.id], [case.host])
    assert machine.play(client) == {each: count for each, count in running.items() if each != word}
    enable.enable(folders, [chosen.id], [case.host])
    assert machine.play(client) == running
    for path, data in settings.items() if case.driver is not codex else ():  # it writes its own, too
        assert path.read_bytes() == data
