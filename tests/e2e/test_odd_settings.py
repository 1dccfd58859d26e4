"""What the real clients make of odd settings that hookctl has rules for."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookctl.documents import formats
from hookctl.errors import HookctlError
from hookctl.hosts import Host, load, loading
from tests.test_entries_of_hosts import CLAUDES_BAD, CLAUDES_GOOD, CODEX_BAD, CODEX_GOOD

from . import claude as anthropic_client
from . import codex as openai
from . import gemini as google
from . import qwen as qwen_code
from . import tables
from .clients import Client
from .plugins import by_own_means

pytestmark = [pytest.mark.e2e, pytest.mark.full]

# Comments, and configurations of Codex with whether it reads them, and hookctl, which refuses what it is not sure of.
ODD = json.loads(Path(__file__).with_name("odd_texts.json").read_text())


def is_read(host: Host, text: str) -> bool:
    document = formats.parse(host.format, text.encode(), where="x")
    return loading.refusal(host, document) is None


def contents(host: str, event: str, *hooks: object) -> loading.Contents:
    """What hookctl says of a file with these hooks, each in a group of its own."""
    text = json.dumps({"hooks": {event: [{"hooks": [hook]} for hook in hooks]}})
    return loading.read(load(host), formats.parse(load(host).format, text.encode()))


@pytest.mark.parametrize("text", ODD["comments"])
@pytest.mark.parametrize("driver", [google, qwen_code], ids=["gemini", "qwen"])
def test_comments_keep_no_client_from_starting(
    request: pytest.FixtureRequest, tmp_path: Path, driver: Any, text: str
) -> None:
    name = tables.name_of(driver)
    place = driver.Place.make(tmp_path / "place")
    place.settings.write_bytes(text.encode())
    run = driver.play(request.getfixturevalue(name), place, ["done"])
    starts = run.code != 52 if driver is google else "settings.json" not in run.errors
    assert starts == is_read(load(name), text), (run.code, run.errors)


def test_claude_s_own_doctor_names_the_very_hooks_that_hookctl_names(claude: Client, tmp_path: Path) -> None:
    place = anthropic_client.Place.make(tmp_path / "place")
    hooks = [*(handler for handler, _ in CLAUDES_BAD), *CLAUDES_GOOD]
    place.settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]} for hook in hooks]}}))
    said = by_own_means(anthropic_client, claude, place, "doctor", may_fail=True).stdout
    for number, hook in enumerate(hooks):
        named = f"hooks.PreToolUse.{number}.hooks.0: Invalid" in said
        assert named == bool(contents("claude", "PreToolUse", hook).faults), hook


@pytest.mark.parametrize("text", ODD["configs"])
def test_codex_reads_toml_1_1_that_hookctl_reads_or_refuses(codex: Client, tmp_path: Path, text: str) -> None:
    place = openai.Place.make(tmp_path / "place")
    place.config.write_text(text)
    said = by_own_means(openai, codex, place, "features", "list", may_fail=True)
    try:
        formats.parse("toml", text.encode())
        is_read = True
    except HookctlError:
        is_read = False
    assert [said.returncode == 0, is_read] == ODD["configs"][text]


@pytest.mark.parametrize("hook", [*CODEX_BAD, *CODEX_GOOD], ids=str)
def test_codex_loses_the_file_for_the_very_hooks_that_hookctl_names(codex: Client, tmp_path: Path, hook: Any) -> None:
    place = openai.Place.make(tmp_path / "place")
    good = {"type": "command", "command": "good"}
    place.settings.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [good]}, {"hooks": [hook]}]}}))
    assert (openai.list_hooks(codex, place) == []) == bool(contents("codex", "Stop", good, hook).whole)
