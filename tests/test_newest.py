"""Which clients are behind: what is asked, the table, and what is written."""

import re

import pytest

from hookctl import hosts

from .e2e.clients import CLIENTS, FILE

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
