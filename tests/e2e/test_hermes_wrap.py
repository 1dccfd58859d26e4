"""Another tool's hook that always denies, wrapped on Hermes, which runs no shell: the agent ends at the limit."""

import shlex
from pathlib import Path

import pytest

from .clients import Client
from .hermes import ACCEPT, BASE, YOLO, Place, play, write_file
from .model_server import Script
from .probe import BLOCK
from .product import decisions, hookctl

pytestmark = [pytest.mark.e2e, pytest.mark.full]
OWN_FOLDERS = True

LIMIT = 2  # Hermes grants three
OFF = ("install", "--host", "hermes", "--mode", "off", "--set", f"max_stop_blocks={LIMIT}")
# The operator's own layout, with words that a shell and Hermes split alike.
OPERATORS = """\
hooks:
    pre_verify:   # before it is done
    -   command: 'FILE  "go on"'  # theirs
        timeout: 5
"""


@pytest.fixture
def script(place: Place) -> Path:
    """A program that denies every stop, and writes each down; it stands in the settings."""
    file = place.root / "on_stop.sh"
    answer = shlex.quote(BLOCK)
    file.write_text(f'#!/bin/sh\ncat > /dev/null\necho "$1" >> {file}.called\necho {answer}\n')
    file.chmod(0o755)
    place.settings.write_text(OPERATORS.replace("FILE", str(file)) + BASE)
    return file


def count_denials(hermes: Client, place: Place, script: Path, *replies: object) -> int:
    called = Path(f"{script}.called")
    called.write_text("")
    run = play(hermes, place, Script([write_file(place), *replies], limit=12), YOLO, ACCEPT, timeout=120)
    assert run.code == 0, run.errors
    words = called.read_text().splitlines()
    assert set(words) == {"go on"}
    return len(words)


def test_it_ends_at_the_limit_and_uninstall_gives_the_bytes_back(hermes: Client, place: Place, script: Path) -> None:
    before = place.settings.read_bytes()
    assert count_denials(hermes, place, script, "done") == hermes.pins["cap"]["default"]
    said = hookctl(place, *OFF, "--wrap", "on_stop.sh")
    assert "only after you have agreed" in said.stdout + said.stderr
    assert count_denials(hermes, place, script, "done") == LIMIT
    assert [line["decision"] for line in decisions(place)] == ["block"] * (LIMIT - 1) + ["release"]
    place.settings.write_bytes(place.settings.read_bytes() + b"# theirs, too\n")
    hookctl(place, "uninstall")
    assert place.settings.read_bytes() == before + b"# theirs, too\n"
