"""Which clients are behind: what is asked, the table, and what is written."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hookctl import hosts

from . import newest
from .e2e.clients import CLIENTS, FILE

TODAY = newest.datetime.date.today()


def client(version: str, sure: str = "run") -> dict[str, Any]:
    return {"package": "made-up", "version": version, "sure": sure}


THREE = {"old": client("1.9.0"), "new": client("2.0.0"), "unsure": client("2.0.0", "not run")}


def ask(about: Mapping[str, Any]) -> str:
    return "2.0.0"


@pytest.mark.parametrize(
    ("words", "passed", "code", "written"),
    [
        (["--run"], True, 0, []),
        (["--run"], False, 1, []),
        (["--run", "--write"], True, 0, [("old", "2.0.0", "run"), ("unsure", "2.0.0", "run")]),
        (["--run", "--write"], False, 1, []),
        (["--write"], None, 1, [("old", "2.0.0", "not run"), ("unsure", "2.0.0", "not run")]),
        (["--write", "new"], None, 0, []),
    ],
)
def test_what_is_written_is_what_passed_or_is_marked(
    words: list[str], passed: bool | None, code: int, written: list[tuple[str, str, str]]
) -> None:
    seen: list[tuple[str, str, str]] = []
    ran: list[str] = []

    def passes(name: str, version: str) -> bool:
        assert passed is not None, "tests were run unasked"
        ran.append(name)
        return passed

    assert newest.main(words, THREE, ask, passes, lambda *row: seen.append(row)) == code
    assert (ran, seen) == (["old", "unsure"] if "--run" in words else [], written)


@pytest.mark.parametrize("name", CLIENTS)
def test_a_version_is_written_into_the_client_s_own_table(name: str, tmp_path: Path) -> None:
    file = tmp_path / "clients.toml"
    file.write_text(FILE.read_text())
    newest.write(name, "99.0.1", "not run", file)
    more = {"version": "99.0.1", "seen": TODAY, "sure": "not run"}
    assert tomllib.loads(file.read_text()) == {**CLIENTS, name: {**CLIENTS[name], **more}}


# One file of versions.


@pytest.mark.parametrize("name", CLIENTS)
def test_the_tests_were_run_with_the_version_that_the_host_s_data_names(name: str) -> None:
    seen = hosts.load(name).client.seen
    assert (seen, CLIENTS[name]["sure"]) == (CLIENTS[name]["version"], "run")


def test_no_other_file_beside_it_names_a_client_s_version() -> None:
    versions = re.compile("|".join(rf"(?<![\w.]){re.escape(about['version'])}(?![\w.])" for about in CLIENTS.values()))
    files = [path for path in FILE.parent.rglob("*.*") if path.suffix in (".py", ".toml") and path != FILE]
    assert len(files) > 80
    assert {path.name: found for path in files if (found := versions.findall(path.read_text()))} == {}
