"""hookctl's promises, kept with the real Claude Code: installed by the command line, run, and taken out again."""

import json
import tempfile
from pathlib import Path

import pytest

from .acceptance import CLAUDE_FILE
from .claude import Place, bash, play
from .clients import Client
from .model_server import Script
from .probe import Probe, make_probe
from .product import LIMIT, codes, hookctl, leave_work

pytestmark = pytest.mark.e2e

CORPUS = Path(__file__).parent.parent / "corpus" / "claude"


def write_operators_file(path: Path, probe: Probe) -> bytes:
    """Write the operator's settings around a Stop hook and return their bytes."""
    path.write_text(CLAUDE_FILE.replace("COMMAND", json.dumps(probe.command)))
    return path.read_bytes()


@pytest.fixture
def operators_hook(place: Place) -> Probe:
    """A Stop hook that the operator has beside ours; it only listens."""
    return make_probe(place.root, "operators")


@pytest.fixture
def installed(place: Place, operators_hook: Probe) -> Place:
    """A place where hookctl was installed into an operator's settings, and two things are still to do."""
    write_operators_file(place.settings, operators_hook)
    hookctl(place, "install", "--host", "claude")
    leave_work(place)
    return place


def test_endless_progress_is_let_go_before_the_host_overrides_it(claude: Client, installed: Place) -> None:
    def beat(number: int) -> None:
        hookctl(installed, "run", "heartbeat", "--project", str(installed.project))

    run = play(claude, installed, Script([f"reply {number}" for number in range(1, 16)], before=beat))
    cap = claude.pins["cap"]["default"]
    assert codes(installed) == ["blocked"] * cap + ["host_cap"]
    assert (run.requests, run.result) == (cap + 1, f"reply {cap + 1}")
    assert not run.was_overridden


def test_a_cap_of_the_operator_s_own_is_kept_and_respected(claude: Client, place: Place, operators_hook: Probe) -> None:
    write_operators_file(place.settings, operators_hook)
    text = place.settings.read_text()
    place.settings.write_text(text.replace('"PAGER"', f'"{claude.pins["cap"]["key"]}": "3", "PAGER"'))
    hookctl(place, "install", "--host", "claude")
    leave_work(place)
    run = play(claude, place, ["done"])
    assert codes(place) == ["blocked"] * 3 + ["host_cap"]
    assert (run.requests, run.result, run.was_overridden) == (4, "done", False)


@pytest.mark.parametrize("name", ["tabs-stop-two-groups", "crlf-one-line-arrays", "bom"])
def test_the_host_reads_our_entries_in_files_of_all_styles(claude: Client, place: Place, name: str) -> None:
    before = (CORPUS / f"{name}.json").read_bytes()
    place.settings.write_bytes(before)
    hookctl(place, "install", "--host", "claude")
    leave_work(place)
    assert play(claude, place, ["done"]).requests == LIMIT + 1
    hookctl(place, "uninstall")
    assert place.settings.read_bytes() == before


def test_an_agent_that_waits_for_a_background_task_is_not_kept(claude: Client, installed: Place) -> None:
    run = play(claude, installed, [bash("sleep 1.5", run_in_background=True), "waiting", "woken"])
    assert codes(installed) == ["background"] + ["blocked"] * LIMIT + ["tripped"]
    assert (run.requests, run.result) == (2 + LIMIT + 1, "woken")


def test_a_config_folder_of_the_operator_s_own_is_used(claude: Client, place: Place, operators_hook: Probe) -> None:
    folder = place.home / "my claude"
    folder.mkdir()
    before = write_operators_file(folder / "settings.json", operators_hook)
    environment = {claude.pins["variables"]["config_folder"]: str(folder)}
    hookctl(place, "install", "--host", "claude", environment=environment)
    leave_work(place)
    assert not place.settings.exists()
    assert play(claude, place, ["done"], environment=environment).requests == LIMIT + 1
    hookctl(place, "uninstall", environment=environment)
    assert (folder / "settings.json").read_bytes() == before
    assert play(claude, place, ["done"], environment=environment).requests == 1


def test_nothing_is_written_elsewhere(claude: Client, installed: Place) -> None:
    shared = [Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), Path(tempfile.gettempdir())]
    before = {entry for folder in shared if folder.is_dir() for entry in folder.iterdir()}
    run = play(claude, installed, [bash("true 1"), "done"])
    assert run.requests == 1 + LIMIT + 1

    expected = {"home", "project", "tmp", "state", "data", "runs"}
    probes = {entry.name for entry in installed.root.iterdir() if entry.name.startswith(("probe", "operators"))}
    assert {entry.name for entry in installed.root.iterdir()} - probes == expected
    in_project = {str(path.relative_to(installed.project)) for path in installed.project.rglob("*") if path.is_file()}
    assert in_project == {".hookctl/.gitignore", ".hookctl/run/task.json"}
    in_home = {path.relative_to(installed.home).parts[0] for path in installed.home.rglob("*") if path.is_file()}
    assert in_home <= {".claude", ".claude.json", ".cache"}
    assert [path for path in installed.home.rglob("*hookctl*")] == []

    new = {entry for folder in shared if folder.is_dir() for entry in folder.iterdir()} - before
    ours = ("claude", "hookctl", run.session)
    # Other tests run the command line meanwhile, which has folders of its own there.
    written = [entry for entry in new if not entry.name.startswith("hookctl-")]
    assert [entry for entry in written if any(word in entry.name for word in ours)] == []
