"""Each row of tests/switches.py in front of its real client: the hooks that run are those that the row names."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.switches import CASES, Case, texts_of

from . import codex, copilot, grok, hermes
from .agent import Place
from .clients import Client
from .test_managed import HOSTS, with_files

pytestmark = pytest.mark.e2e

OPTIONS = {name: row[1] for name, row in HOSTS.items()}
OPTIONS |= {"copilot": (copilot.TRUST,), "hermes": (hermes.ACCEPT,)}
RUN = [case for case in CASES if case.sure == "run"]


def mark(case: Case) -> Any:
    first = next(other for other in RUN if other.host == case.host and (other.added or other.environ))
    marks = [] if case is first else [pytest.mark.full]  # the first switch of each is tried on every change
    return pytest.param(case, id=f"{case.host} {case.added} {case.environ}"[:90], marks=marks)


def write(place: Place, name: str, text: str) -> None:
    """A file of the home or the project; what the client's own start needs of it stays."""
    path = place.home / name[2:] if name.startswith("~/") else place.project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.suffix == ".json":
        text = json.dumps({**json.loads(path.read_text()), **json.loads(text)})
    elif path.exists():
        hooks = json.loads(text)["hooks"]
        text = f"{path.read_text()}\nhooks: {json.dumps(hooks)}\n"
    path.write_text(text)


def play(case: Case, client: Client, place: Place, ran: Path) -> set[str]:
    driver: Any = import_module(f"tests.e2e.{case.host}")
    texts = texts_of(case, f"sh -c 'cat > /dev/null; echo %s >> {ran}'")
    client = with_files(client, place, {name: text for name, text in texts.items() if name.startswith("/etc/")})
    for name, text in texts.items():
        if not name.startswith("/etc/"):
            write(place, name, text)
    if case.host == "codex":
        codex.trust_project(place, place.project)
        codex.approve(place, {hook.key: hook.hash for hook in codex.list_hooks(client, place)})
    if case.host == "grok":
        grok.trust_project(place, place.project)
    environment = {**HOSTS.get(case.host, (None, (), {}))[2], **case.environ}
    driver.play(client, place, ["done"], *OPTIONS.get(case.host, ()), environment=environment, timeout=120)
    return set(ran.read_text().split()) if ran.exists() else set()


@pytest.mark.parametrize("case", [mark(case) for case in RUN])
def test_a_client_runs_what_its_switches_leave(case: Case, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    driver: Any = import_module(f"tests.e2e.{case.host}")
    place = driver.Place.make(tmp_path / "place")
    assert play(case, request.getfixturevalue(case.host), place, tmp_path / "ran") == set(case.runs.split())
