"""An agent without hookctl writes down its work: with the permission that docs/teams.md names, and only then."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from . import claude, codex, gemini, qwen
from .agent import Place
from .clients import Client
from .dialects import Call
from .product import hookctl

pytestmark = pytest.mark.e2e
PAGE = (Path(__file__).parents[2] / "docs" / "teams.md").read_text()
TASK = ".hookctl/run/task.json"
WORK = '{"remaining": 1}'


def writes(name: str) -> Callable[[Path], Call]:
    return lambda path: Call(name, {"file_path": str(path), "content": WORK})


def write_by_shell(path: Path) -> Call:
    return codex.shell(f"mkdir -p {path.parent} && echo '{WORK}' > {path}")


def option(host: str) -> tuple[str, ...]:
    """The command-line option that the page has for a host."""
    (words,) = re.findall(rf"^\| {host} \| `[a-z ]*(--[^`]+)` \|", PAGE, re.MULTILINE)
    return tuple(words.split())


def allow(place: Place) -> None:
    """Put the page's permission beside what install wrote into the project's settings."""
    (block,) = re.findall(r"(?s)```json\n(.*?)```", PAGE)
    path = place.project / ".claude" / "settings.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **json.loads(block)}))


def nothing(place: Place) -> None:
    pass


HOSTS = [
    (claude, writes("Write"), allow, ()),
    (codex, write_by_shell, nothing, option("Codex CLI")),
    (gemini, writes("write_file"), nothing, option("Gemini CLI")),
    (qwen, writes("write_file"), nothing, option("Qwen Code")),
]


@pytest.mark.parametrize(
    ("driver", "call", "permit", "options"),
    [pytest.param(*row, id=row[0].__name__, marks=[] if row[0] is claude else [pytest.mark.full]) for row in HOSTS],
)
def test_the_permission_of_the_page_is_needed_and_enough(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    driver: ModuleType,
    call: Callable[[Path], Call],
    permit: Callable[[Place], None],
    options: tuple[str, ...],
) -> None:
    host = driver.__name__.rpartition(".")[2]
    client: Client = request.getfixturevalue(host)
    place = driver.Place.make(tmp_path / "place", own_folders=True)
    hookctl(place, "install", "--host", host, "--scope", "project")
    task = place.project / TASK
    driver.play(client, place, [call(task), "done"])
    assert not task.exists()
    permit(place)
    run = driver.play(client, place, [call(task), "one", "two", "three", "four", "five", "six"], *options)
    assert task.read_text().strip() == WORK
    if host == "claude":  # elsewhere a person approves the project's hooks first
        assert run.requests > 2, "the guard knows of the work"
    if permit is allow:
        driver.play(client, place, [call(place.project / "other"), "done"])
        assert not (place.project / "other").exists(), "it is for that folder alone"
