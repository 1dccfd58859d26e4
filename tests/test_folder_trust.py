"""Which folders the new hosts trust, by the lists that they keep."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hookctl import hosts
from hookctl.settings.approval import is_untrusted

from .conftest import put

FILES = {"vibe": ".vibe/trusted_folders.toml", "grok": ".grok/trusted_folders.toml", "pi": ".pi/agent/trust.json"}
PI_SETTINGS = ".pi/agent/settings.json"


def listed(trusted: object, untrusted: object) -> str:
    """The lists of Mistral Vibe."""
    return f"trusted = {json.dumps(trusted)}\nuntrusted = {json.dumps(untrusted)}\n"


TRUSTED = [
    ("vibe", 'untrusted = ["PROJECT"]\ntrusted = ["PROJECT"]\n'),
    ("vibe", listed(["/"], "x")),
    ("vibe", listed([5, "a\0", "PROJECT"], 5)),
    ("grok", '[folders."PROJECT"]\ntrusted = true\n'),
    ("grok", '[folders."ABOVE"]\ntrusted = true\n[folders."PROJECT"]\ndecided_at = 1\n'),
    ("pi", '{"PROJECT": true}'),
    ("pi", '{"ABOVE": true, "PROJECT": null}'),
]
UNTRUSTED = [
    *((host, "") for host in FILES),
    ("vibe", listed([], [])),
    ("vibe", listed(5, [])),
    ("vibe", listed(["PROJECT/sub", "PROJECT2"], [])),
    ("grok", '[folders."PROJECT"]\ntrusted = false\n'),
    ("grok", '[folders."PROJECT"]\ntrusted = "true"\n'),
    ("pi", '{"ABOVE": true, "PROJECT": false}'),
]


@pytest.fixture
def project(isolated: Path) -> Path:
    folder = (isolated / "above" / "project").resolve()
    folder.mkdir(parents=True)
    return folder


def distrusts(host: str, project: Path, isolated: Path) -> bool:
    return is_untrusted(hosts.load(host), "project", str(project), {"HOME": str(isolated / "home")})


def write(host: str, text: str, project: Path, isolated: Path) -> None:
    text = text.replace("PROJECT", str(project)).replace("ABOVE", str(project.parent))
    put(isolated / "home" / FILES[host], text)


@pytest.mark.parametrize(("host", "text"), TRUSTED)
def test_a_trusted_folder(host: str, text: str, project: Path, isolated: Path) -> None:
    write(host, text, project, isolated)
    assert distrusts(host, project, isolated) is False


@pytest.mark.parametrize(("host", "text"), UNTRUSTED)
def test_one_that_is_not(host: str, text: str, project: Path, isolated: Path) -> None:
    write(host, text, project, isolated)
    assert distrusts(host, project, isolated) is True
    assert is_untrusted(hosts.load(host), "user", str(project), {"HOME": str(isolated / "home")}) is False


@pytest.mark.parametrize("host", FILES)
def test_without_a_list_none_is_trusted(host: str, project: Path, isolated: Path) -> None:
    assert distrusts(host, project, isolated) is True


@pytest.mark.parametrize(("value", "trusts"), [('"always"', True), ('"ask"', False), ("true", False), ("false", False)])
def test_pi_s_settings_may_trust_every_folder(value: str, trusts: bool, project: Path, isolated: Path) -> None:
    put(isolated / "home" / PI_SETTINGS, f'{{"defaultProjectTrust": {value}}}')
    assert distrusts("pi", project, isolated) is not trusts
