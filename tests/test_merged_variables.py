"""Variables that two packs want follow one rule on every host that gives hooks variables; status shows the values."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from hookctl import hosts
from hookctl.hosts import settings_path
from tests.conftest import Hookctl, put

WITH_VARIABLES = [name for name in hosts.names() if hosts.load(name).env_path]


class Two:
    """Two packs and one host."""

    def __init__(self, folder: Path, hookctl: Hookctl, host: str) -> None:
        self.folder, self.hookctl, self.host = folder, hookctl, host
        path = settings_path(hosts.load(host), "user", {"HOME": str(folder / "home")})
        self.settings = Path(path)

    def install(self, name: str, env: str, *options: str) -> int:
        text = f'[pack]\nname = "{name}"\nversion = "1"\nprotocol = "host"\n[env]\n{env}\n'
        text += '[[hooks]]\nevent = "stop"\ncommand = "true"\n'
        pack = put(self.folder / f"{name}.toml", text)
        self.outcome = self.hookctl("install", str(pack), "--host", self.host, *options)
        return self.outcome.code

    def values(self, key: str) -> set[str]:
        """Every value of a variable in the settings."""
        found: set[str] = set()

        def walk(value: Any) -> None:
            for name, inner in value.items() if isinstance(value, dict) else ():
                if name == key:
                    found.add(inner)
            for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
                walk(inner)

        walk(json.loads(self.settings.read_text()))
        return found


@pytest.fixture(params=WITH_VARIABLES)
def two(isolated: Path, hookctl: Hookctl, request: pytest.FixtureRequest) -> Two:
    return Two(isolated, hookctl, request.param)


def level(value: int, rule: str = "max") -> str:
    return f'LEVEL = {{ value = "{value}", merge = "{rule}" }}'


def test_both_get_what_the_common_rule_gives_and_the_rest_comes_back(two: Two) -> None:
    assert two.install("one", level(3)) == 0
    assert two.values("LEVEL") == {"3"}
    assert two.install("two", level(7)) == 0
    assert two.values("LEVEL") == {"7"}
    assert two.install("one", level(3)) == 0
    assert two.outcome.out == "nothing to do\n"
    assert two.hookctl("uninstall", "two").code == 0
    assert two.values("LEVEL") == {"3"}
    assert two.hookctl("uninstall", "one").code == 0
    assert not two.settings.exists()


@pytest.mark.parametrize(("rule", "expected"), [("min", "3"), ("first", "3"), ("max", "7")])
def test_every_rule(two: Two, rule: str, expected: str) -> None:
    assert two.install("one", level(3, rule)) == 0
    assert two.install("two", level(7, rule)) == 0
    assert two.values("LEVEL") == {expected}


@pytest.mark.parametrize("other", ['LEVEL = "7"', level(7, "min")])
def test_without_a_rule_in_common_it_is_a_conflict(two: Two, other: str) -> None:
    assert two.install("one", level(3)) == 0
    before = two.settings.read_bytes()
    assert two.install("two", other) == 1
    assert 'env.LEVEL: one wants "3", two wants "7"' in two.outcome.err
    assert two.settings.read_bytes() == before
    assert two.install("two", other, "--force") == 0
    assert "7" in two.values("LEVEL")
    assert two.install("two", other) == 0, "what was forced is settled"


def test_in_a_clone_the_hooks_of_a_pack_that_somebody_else_installed_stay(isolated: Path, hookctl: Hookctl) -> None:
    """What a committed ledger says of them is not trusted."""
    two = Two(isolated, hookctl, "copilot")
    here = ("--scope", "project", "--project", str(isolated))
    assert two.install("one", level(3), *here) == 0
    (two.settings,) = isolated.rglob("*hookctl*.json") or [two.settings]
    shutil.rmtree(isolated / "state")
    assert two.install("two", level(7), *here) == 0
    assert two.values("LEVEL") == {"3", "7"}


def test_equal_values_are_no_conflict(two: Two) -> None:
    assert two.install("one", 'LEVEL = "3"') == 0
    assert two.install("two", level(3)) == 0


def test_status_shows_the_values(two: Two) -> None:
    assert two.install("one", level(3)) == 0
    assert two.install("two", level(7)) == 0
    assert "LEVEL=7" in two.hookctl("status", "--verbose").out
