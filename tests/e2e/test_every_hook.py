"""The machine with hooks of eighteen hosts: a client runs those that are listed as running, and no other of its own."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hookctl import hosts
from tests.conftest import Hookctl, put
from tests.test_every_hook import Machine, approval, as_listed, machine  # noqa: F401

from . import claude, codex, copilot, gemini, grok, hermes, opencode, qwen
from .agent import Place
from .clients import Client
from .dialects import chat
from .everywhere import EVERY, Case
from .model_server import Script, serve
from .test_managed import with_files

pytestmark = pytest.mark.e2e

UNMARKED = {"h14": "its `cd` fails", "h47": "h46, which is missing, refuses each call before it"}
HALF = {"h07": "a shell runs the lines above the one that it cannot read"}
SCOPES = ("user", "project", "local")  # in whose files a hook can be disabled; a plugin is switched off by the client


def leave_marks(root: Path, url: str) -> None:
    """Let each hook of the machine write its number down in place of doing nothing; all stay on their lines."""
    ran = root / "ran"
    put(root / "bin" / "mark", f'#!/bin/sh\necho "$1" | tee -a {ran}\n').chmod(0o755)
    write = f'process.getBuiltinModule("fs").appendFileSync("{ran}", "h%d\\n")'
    instead = {
        "echo": "mark",
        f": > {ran}": 'mark "$1"',
        f"open('{ran}', 'w')": "import os, sys; os.system('mark ' + sys.argv[1])",
        "https://example.org": url,
        "() => {}": f"() => {{ {write % 75} }}",
        "async () => ({})": f"async () => {{ {write % 76}; return {{}} }}",
        **{approval(f"echo h{number}"): approval(f"mark h{number}") for number in (28, 29)},
    }
    for path in [*(root / "home").rglob("*"), *(root / "etc").rglob("*")]:
        if path.is_file():
            text = path.read_text()
            for old, new in instead.items():
                text = text.replace(old, new)
            path.write_text(text)


def log_in(case: Case, place: Place, client: Client) -> Client:
    """Add what the client's user has beside hooks: a login, and trust where the list was made with it."""
    place.tmp.mkdir()
    place.project.symlink_to(place.home / "app" / "web")
    if case.driver is claude:
        managed = (place.root / "etc" / "managed-settings.json").read_text()
        return with_files(client, place, {"/etc/claude-code/managed-settings.json": managed})
    if case.driver is gemini:
        login = json.dumps({name: value for name, value in gemini.BASE.items() if name != "security"})[1:-1]
        text = place.settings.read_text().replace('"hooksConfig"', f'{login}, "hooksConfig"')
        auth = json.dumps(gemini.BASE["security"])[1:-1]
        place.settings.write_text(text.replace('"folderTrust"', f'{auth}, "folderTrust"'))
    if case.driver is qwen:
        (place.root / "no-system-settings.json").write_text(json.dumps(qwen.BASE))
    if case.driver is hermes:
        place.settings.write_text(f"{place.settings.read_text()}\n{hermes.BASE}")
    if case.driver is copilot:
        put(place.home / ".copilot" / "config.json", json.dumps({"trustedFolders": [str(place.home / "app")]}))
    if case.driver in (copilot, grok):  # which know an empty .git for what it is
        subprocess.run(["git", "init", "-q", str(place.home / "app")], check=True)
    return client


@pytest.mark.parametrize("case", EVERY)
def test_a_client_runs_what_is_listed_as_running_and_a_disabled_hook_not_until_it_is_enabled(
    case: Case,
    request: pytest.FixtureRequest,
    hookctl: Hookctl,
    machine: Machine,  # noqa: F811
    isolated: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = case.driver.Place(isolated)
    path = f"{isolated / 'bin'}:{place.environment()['PATH']}"
    monkeypatch.setenv("PATH", path)
    replies: list[Any] = [case.shell("true"), case.writes(place), "done"]
    options = [option for option in case.options if option not in (codex.BYPASS, hermes.ACCEPT)]
    if case.driver is claude:
        replies.insert(2, claude.subagent("SUB"))
        options = ["--allowedTools", "Bash,Write,Task"]
    play = opencode.play_one_turn if case.driver is opencode else case.driver.play
    environment = {**dict(case.environment), "PATH": path}

    def session() -> list[str]:
        """The hooks that ran."""
        for path in (isolated / "ran", place.project / "made.txt"):
            path.unlink(missing_ok=True)
        asked = len(server.log)
        script = Script(replies, sub_marker="SUB")
        assert play(client, place, script, *options, timeout=300, environment=environment).requests > 1
        ran = (isolated / "ran").read_text().split() if (isolated / "ran").exists() else []
        return ran + [entry.request.path[1:] for entry in server.log[asked:]]

    with serve(Script(["ok"]), chat) as server:
        leave_marks(isolated, server.url)
        client = log_in(case, place, request.getfixturevalue(case.host))
        listed = hookctl("hooks", "--json").data["hooks"]
        assert sorted(map(as_listed, listed)) == sorted(machine.expected)
        ran = session()
        own = [(as_listed(hook)[4], hook) for hook in listed if hook["host"] == case.host]
        numbers, running = {number for number, _ in own}, {number for number, hook in own if hook["state"] == "runs"}
        assert {*ran} & numbers == running - {*UNMARKED} | numbers & {*HALF}
        assert all(ran.count(number) == 1 for number, hook in own if hook["state"] == "twice")
        title = hosts.load(case.host).title
        others = {as_listed(hook)[4] for hook in listed if title in [agent["agent"] for agent in hook["also_read_by"]]}
        if case.driver is grok:  # one bad entry costs it another agent's file, and a project's is not trusted
            others = set()
        assert {*ran} - numbers == others
        can = [hook for _, hook in own if hook["state"] == "runs" and hook["scope"] in SCOPES]
        twins = {number for number, hook in own if hook["state"] == "twice"}
        for hook in [hook for hook in can if as_listed(hook)[4] in {*ran} - twins][:1]:
            file = Path(hook["file"])
            before = file.read_bytes()
            assert hookctl("disable", hook["id"]).code == 0
            assert {*session()} == {*ran} - {as_listed(hook)[4]}
            assert hookctl("enable", hook["id"]).code == 0
            assert (file.read_bytes(), {*session()}) == (before, {*ran})
