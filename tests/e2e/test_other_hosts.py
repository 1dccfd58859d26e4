"""What the guard does with seven clients beyond the story that all clients share."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from . import claude, copilot
from .acceptance import operators_file
from .agent import Place
from .clients import Client
from .dialects import Reply
from .everywhere import CASES, Case
from .model_server import Script
from .probe import BLOCK, make_probe
from .product import codes, data_folder, decisions, hookctl, leave_work

pytestmark = pytest.mark.e2e

LIMIT = 2
INSTALL = ("install", "--set", f"MAX_STOP_BLOCKS={LIMIT}")
KEPT = ["blocked"] * LIMIT + ["tripped"]
BASH = '{"permissions": {"allow": ["Bash"]}}'


@dataclass(frozen=True)
class Host:
    """A client in a place of its own, with work in hand."""

    case: Case
    client: Client
    place: Place

    @property
    def name(self) -> str:
        return self.case.host

    @property
    def tool(self) -> str:
        """The shell tool's name as a hook is told."""
        return "Bash" if self.name == "codex" else self.case.shell("").tool

    def play(self, *replies: Reply, arguments: Sequence[str] = (), **options: str) -> list[str]:
        """Run the client and return the guard's reasons of this run."""
        before = len(codes(self.place))
        script = Script(replies, limit=30)
        run = self.case.driver.play(self.client, self.place, script, *self.case.options, *arguments, **options)
        assert run.code == 0, run.errors
        return codes(self.place)[before:]


NAMES = ("claude", "codex", "gemini", "qwen", "copilot", "droid", "grok")
THESE = {case.host: case for case in CASES if case.host in NAMES}


def mark(name: str, *values: object) -> object:
    return pytest.param(name, *values, id=name)


@pytest.fixture(params=[*map(mark, THESE)])
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Host:
    case = THESE[request.param]
    # At project scope a hook finds its state as without variables.
    place = case.driver.Place.make(tmp_path / "place", own_folders=True)
    if case.driver is claude:
        place.settings.write_text(BASH)
    leave_work(place)
    return Host(case, request.getfixturevalue(request.param), place)


def run_with(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("host", [*map(mark, names)], indirect=True)


def test_new_tool_calls_are_progress(host: Host) -> None:
    hookctl(host.place, *INSTALL, "--host", host.name)
    first, second = (host.case.shell(f"true {number}") for number in (1, 2))
    said = host.play("one", first, "two", second, "three")
    late = int(host.name == "claude" and len(said) > LIMIT + 3)  # whose transcript may tell of a call a stop later
    assert said == ["blocked"] * (LIMIT + 2 + late) + ["tripped"]


@pytest.mark.parametrize(
    ("host", "resume"), [mark(name, case.resume) for name, case in THESE.items() if case.resume], indirect=["host"]
)
def test_a_person_s_next_prompt_begins_anew(host: Host, resume: Sequence[str]) -> None:
    hookctl(host.place, *INSTALL, "--host", host.name)
    assert host.play("one") == KEPT
    options = {} if "go on" in resume else {"prompt": "go on"}
    assert host.play("two", arguments=resume, **options) == KEPT
    assert len({decision["session"] for decision in decisions(host.place)}) == 1


FILES = ("claude", "codex", "gemini", "grok")


@run_with(*FILES)
def test_a_foreign_hook_that_always_blocks_is_ended(host: Host) -> None:
    foreign = make_probe(host.place.root, "foreign", answers=(BLOCK,))
    host.place.settings.write_text(operators_file(f"{host.name}.json", foreign.command))
    hookctl(host.place, *INSTALL, "--host", host.name, "--mode", "guard")
    assert host.play("done") == ["allowed"] * (LIMIT - 1) + ["stop_loop"]


@run_with(*FILES)
def test_an_agent_that_did_not_call_the_tool_is_reminded_once(host: Host) -> None:
    hookctl(host.place, "install", "--host", host.name, "--mode", "guard", "--nudge", host.tool)
    assert host.play("one", "two") == ["nudged", "allowed"]
    assert host.play(host.case.shell("true 1"), "done") == ["allowed"]


def test_without_its_program_the_agent_just_stops_and_its_tools_run(host: Host) -> None:
    hookctl(host.place, *INSTALL, "--host", host.name, "--dispatch", "*")
    shutil.rmtree(data_folder(host.place))
    assert host.play(host.case.shell("echo > ran"), "done") == []
    assert (host.place.project / "ran").exists()


@run_with("copilot")
@pytest.mark.parametrize("hosts", [["claude"], ["vscode"], ["claude", "copilot", "vscode"]], ids=" and ".join)
def test_another_ones_registration_in_a_project_does_for_copilot_and_counts_once(host: Host, hosts: list[str]) -> None:
    for name in hosts:
        hookctl(host.place, "install", "--host", name, "--scope", "project")
    assert host.play("done", arguments=(copilot.TRUST,)) == ["blocked"] * 5 + ["tripped"]
    assert {entry["host"] for entry in decisions(host.place)} == {"copilot"}


@run_with("droid")
@pytest.mark.parametrize(
    ("event", "wrapped", "file"),
    [("Stop", False, "hooks.json"), ("SessionEnd", False, "settings.json"), ("Stop", True, "settings.json")],
    ids=["it has the stop", "it has another event", "Droid does not read it"],
)
def test_no_hook_of_the_operator_s_is_hidden(host: Host, event: str, wrapped: bool, file: str) -> None:
    place = host.place
    probes = {name: make_probe(place.root, name) for name in ("settings", "hooks")}
    place.settings.write_text(operators_file("droid.json", probes["settings"].command))
    hooks = {event: [{"hooks": [{"type": "command", "command": probes["hooks"].command}]}]}
    place.settings.with_name("hooks.json").write_text(json.dumps({"hooks": hooks} if wrapped else hooks))
    before = _bytes(place)

    host.play("done")
    ran = [name for name, probe in probes.items() if probe.heard()]
    hookctl(place, *INSTALL, "--host", "droid")
    assert [name for name, data in _bytes(place).items() if data != before[name]] == [file]
    assert host.play("done") == KEPT
    assert [name for name, probe in probes.items() if len(probe.heard()) > 1] == ran
    hookctl(place, "uninstall")
    assert _bytes(place) == before


def _bytes(place: Place) -> dict[str, bytes]:
    return {name: place.settings.with_name(name).read_bytes() for name in ("settings.json", "hooks.json")}
