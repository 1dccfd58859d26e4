"""What a person changed is information, its first advice is to leave it, and each thing is said once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Hookctl

GUARD = ("install", "--host", "claude")


def edit(settings: Path, old: str, new: str) -> None:
    text = settings.read_text()
    assert old in text
    settings.write_text(text.replace(old, new))


@pytest.fixture
def raised(hookctl: Hookctl, settings: Path, fixed_python: None) -> Path:
    """The guard, with a limit that somebody raised by hand; its cap follows at the next install."""
    assert hookctl(*GUARD).code == 0
    edit(settings, '"MAX_STOP_BLOCKS": "5"', '"MAX_STOP_BLOCKS": "9"')
    assert hookctl(*GUARD).code == 0
    return settings


def test_a_raised_limit_is_no_warning_and_the_first_advice_is_to_leave_it(raised: Path, hookctl: Hookctl) -> None:
    (finding,) = [one for one in hookctl("doctor", "--json").data["findings"] if one["code"] == "entry_edited"]
    assert finding["level"] == "info"
    assert finding["fix"].startswith("Leave it as it is; ")
    assert hookctl("doctor", "--strict").code == 0
    assert "no errors, no warnings" in hookctl("doctor").out


def test_what_is_kept_is_said_once(raised: Path, hookctl: Hookctl) -> None:
    outcome = hookctl(*GUARD)
    assert outcome.out.count("MAX_STOP_BLOCKS kept") == 1
    assert outcome.out.endswith("nothing to do\n")
    assert "Next:" not in outcome.out
    assert '    = MAX_STOP_BLOCKS kept: your value is "9"\n' in hookctl("uninstall").out


def test_an_edit_that_goes_with_its_hook_is_not_called_kept(raised: Path, hookctl: Hookctl) -> None:
    edit(raised, '"timeout": 10', '"timeout": 30')
    outcome = hookctl("uninstall", "--dry-run", "--json")
    (removed,) = [action for action in outcome.data["actions"] if action["id"]]
    assert removed["reason"] == "removed with the hook: your timeout=30"
    assert [action["path"] for action in outcome.data["kept"]] == [["env", "MAX_STOP_BLOCKS"]]
    lines = [line for line in hookctl("uninstall").out.splitlines() if "Stop hook" in line]
    assert lines == ["    - Stop hook (guard): removed with the hook: your timeout=30"]
