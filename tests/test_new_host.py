"""A host is one data file: the example in docs/adding-a-host.md works as it is put beside the others."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hookctl import hosts
from tests.conftest import Hookctl, put
from tests.trees import tree

ROOT = Path(__file__).parents[1]
MINE = '{\n\t"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "true"}]}]}\n}\n'


@pytest.fixture
def robin(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings file of a host that nobody knew before, with a hook in it."""
    (text,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "adding-a-host.md").read_text(), re.S)
    folder = shutil.copytree(Path(hosts.path_of("claude")).parent, isolated / "hosts")
    text = text.replace('block = \'{"decision":"block","reason":%s}\'', 'block = \'{"verdict":"go on","because":%s}\'')
    text = text.replace('# project = "ROBIN_PROJECT"', 'project = "ROBIN_PROJECT"')
    put(folder / "robin.toml", text + '\n[cap]\nkey = "ROBIN_CAP"\ndefault = 6\noff = "0"\n')
    monkeypatch.setattr(hosts, "_FOLDER", str(folder))
    return put(isolated / "home" / ".robin" / "hooks.json", MINE)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[guard]", "[gard]", "'gard' was unexpected"),
        ('root = ["hooks"]', 'rot = ["hooks"]', "registration: "),
        ('root = ["hooks"]', 'root = "hooks"', "registration.root: 'hooks' is not of type 'array'"),
        ('timeout_unit = "seconds"', 'timeout_unit = "minutes"', "timeout_unit: 'minutes' is not one of"),
        ('name = "robin"', 'name = "rabbit"', "name: 'rabbit' is not the name of this file"),
        ("in_command = ", "# in_command = ", "environment: 'in_command' is a required property"),
        ('in_command = "."', 'in_command = ""', "environment.in_command: '' "),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "command",
    [("hosts",), ("plan", "--host", "robin"), ("install", "--host", "robin", "--scope", "project"), ("doctor",)],
    ids=lambda command: command[0],
)
def test_a_slip_in_a_new_host_s_file_is_named_with_its_file_and_key(
    robin: Path, isolated: Path, hookctl: Hookctl, old: str, new: str, said: str, command: tuple[str, ...]
) -> None:
    file = isolated / "hosts" / "robin.toml"
    assert old in file.read_text()
    put(file, file.read_text().replace(old, new, 1))
    before = tree(isolated)
    outcome = hookctl(*command)
    assert (outcome.code, outcome.out) == (4, "")
    assert said in outcome.err and str(file) in outcome.err and "docs/adding-a-host.md" in outcome.err
    assert tree(isolated) == before


def stop(settings: Path, isolated: Path) -> str:
    """What the guard's hook says to a stop of the new host, by the command that stands in its file."""
    (command,) = re.findall(r'"(: hookctl=guard/stop; (?:[^"\\]|\\.)*)"', settings.read_text())
    payload = json.dumps({"session_id": "s", "cwd": str(isolated / "work")})
    done = subprocess.run(json.loads(f'"{command}"'), shell=True, input=payload, capture_output=True, text=True)
    return done.stdout


def test_the_guard_speaks_the_words_of_a_new_host(robin: Path, isolated: Path, hookctl: Hookctl) -> None:
    assert hookctl("install", "--host", "robin").code == 0
    assert hookctl("run", "remaining", "3").code == 0
    said = [stop(robin, isolated) for _ in range(6)]
    assert [json.loads(text)["verdict"] for text in said[:5]] == ["go on"] * 5
    assert "Work remains (3)" in json.loads(said[0])["because"]
    assert list(json.loads(said[5])) == ["systemMessage"]


def test_all_verbs_know_a_new_host(robin: Path, isolated: Path, hookctl: Hookctl) -> None:
    assert "Robin" in hookctl("hosts", "robin").out
    assert hookctl("install", "--host", "robin").code == 0
    assert "Robin" in hookctl("status").out
    assert [one["code"] for one in hookctl("doctor", "--host", "robin", "--json").data["findings"]
            if one["level"] != "info"] == []  # fmt: skip
    assert hookctl("install", "--host", "robin").out == "nothing to do\n"
    assert hookctl("uninstall", "--host", "robin").code == 0
    assert robin.read_text() == MINE
