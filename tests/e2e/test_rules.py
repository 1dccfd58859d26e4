"""A block of rules reaches the model: every client that runs here reads the file that hookctl writes it into."""

import json
from pathlib import Path

import pytest

from hookctl import hosts
from hookctl.packs import programs

from .acceptance import CASES, Case
from .agent import Place
from .clients import Client
from .probe import make_probe
from .product import hookctl

pytestmark = pytest.mark.e2e
# A sentence of the block, as it stands on one line of it.
SENTENCE = programs.load_pack("guard").rules.splitlines()[2]
FILES = ("AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "QWEN.md", "copilot-instructions.md")
TOLD = [case for case in CASES if case.scope in hosts.load(case.host).rules and not case.home_file]


def files_in(folder: Path) -> dict[str, bytes]:
    """Every file with instructions for an agent below a folder."""
    return {str(path): path.read_bytes() for path in folder.rglob("*.md") if path.name in FILES}


@pytest.mark.parametrize("case", TOLD, ids=lambda case: case.id)
def test_the_model_reads_the_rules_while_they_are_installed(case: Case, stage: tuple[Client, Place]) -> None:
    client, place = stage
    case.prepare(place)
    case.write_operators_file(place, make_probe(place.root, "operators"))

    def is_told() -> bool:
        run = case.driver.play(client, place, ["done"], *case.arguments, environment={"SKILLS": "1"})
        assert run.code == 0, run.errors
        main = [json.dumps(entry.request.body, ensure_ascii=False) for entry in run.log if entry.kind == "main"]
        return SENTENCE in main[0]

    assert not is_told()
    before = files_in(place.root)
    hookctl(place, "install", "--host", case.host, "--scope", case.scope, "--rules")
    assert is_told()
    hookctl(place, "uninstall", "--scope", case.scope)
    assert files_in(place.root) == before
    assert not is_told()
