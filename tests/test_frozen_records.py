"""What a released version left is read, brought up to date and taken out again by every later one, to the byte."""

from __future__ import annotations

import difflib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookctl import __version__
from tests import frozen_records as frozen
from tests.frozen_records import BEFORE, EDITS, HOME, KEPT, TOP, WORK, hookctl

if sys.platform != "linux":
    pytest.skip("the records have the paths of a Linux machine", allow_module_level=True)

ADVICE = (
    "today's hookctl leaves other records than {version} does. If that is meant, and {version} is not released: "
    "`python -m tests.frozen_records` writes them anew. If it is released, they stay: raise the version and run the "
    "same command, which puts the new version's beside them; the tests below show that the old ones are still read."
)
VERSIONS = sorted({path.stem.removesuffix("-killed") for path in KEPT.glob("*.txt")}, key=lambda v: v.split("."))
NEWEST = max(VERSIONS, key=lambda version: [int(number) for number in version.split(".")])


@pytest.fixture(autouse=True)
def scene(isolated: Path) -> Iterator[None]:
    with frozen.place():
        yield


def lay(version: str, name: str = "") -> None:
    frozen.lay((KEPT / f"{version}{name}.txt").read_text())


def format_of(text: str, version: str) -> list[str]:
    """The lines without what changes in every version or run: digests, times, the programs and the hosts' facts."""
    text = re.sub(r'(?m)^( *"hosts": )\{\n(?:^  .*\n)*?^ ?\}', r"\1{}", text)
    text = re.sub(r"\b[0-9a-f]{64}\b", "$SHA256", text)
    text = re.sub(r"\b\d{20}-", "$TIME-", text)
    text = re.sub(r'"ms":\d+', '"ms":$TIME', text)
    text = re.sub(rf'("(?:version|hookctl)": )"{re.escape(version)}"', r'\1"$VERSION"', text)
    sections = re.split("(?m)^(?=== )", text)
    return "".join(sorted(section for section in sections if "/hookctl.js" not in section)).splitlines()


@pytest.mark.parametrize("name", frozen.SCENES)
def test_todays_records_are_those_of_the_newest_version_that_is_kept(name: str) -> None:
    kept = format_of((KEPT / f"{NEWEST}{name}.txt").read_text(), NEWEST)
    today = format_of(frozen.joined(frozen.SCENES[name]()), __version__)
    changes = "\n".join(difflib.unified_diff(kept, today, NEWEST, "today", lineterm=""))
    assert not changes, f"{ADVICE.format(version=NEWEST)}\n{changes}"


def test_every_version_that_is_released_has_its_records() -> None:
    released = json.loads((Path(frozen.programs.__file__).parent / "released.json").read_text())
    assert set(released) <= set(VERSIONS)
    assert not set(VERSIONS) - {*released, __version__}


def settings() -> dict[str, str]:
    """The texts of the files that were there before hookctl, as they are now."""
    return {name: (TOP / name).read_text() for name in BEFORE}


def take_all_out() -> None:
    hookctl("uninstall --all --yes")
    left = {name: text.replace(*EDITS.get(name, ("", "")), 1) for name, text in BEFORE.items()}
    assert settings() == left, "as they were, with what a person changed since"
    assert not (HOME / ".codex/hooks.json").exists()
    assert not (HOME / ".config").exists() and not (HOME / ".pi").exists()
    assert not (HOME / ".local/share/hookctl").exists()
    assert sorted(path.name for path in WORK.iterdir()) == [".claude", ".git", ".hookctl"]
    assert not (WORK / ".hookctl/ledger.json").exists()


@pytest.mark.parametrize("version", VERSIONS)
def test_it_is_brought_up_to_date_and_then_taken_out(version: str) -> None:
    lay(version)
    hookctl("upgrade --yes")
    hookctl("enable bell/ring")
    if version != "0.2.0":  # whose programs stay for open sessions; those of the fixture are made up
        assert json.loads(hookctl("check --json"))["data"]["findings"] == []
    take_all_out()


@pytest.mark.parametrize("version", VERSIONS)
def test_an_install_that_was_killed_is_completed(version: str) -> None:
    lay(version, "-killed")
    assert "interrupted" in hookctl("status")
    hookctl(frozen.KILLED)
    assert not (frozen.STATE / "journal.json").exists()
    commands = (HOME / ".claude/settings.json").read_text() + (HOME / ".gemini/settings.json").read_text()
    assert commands.count(": hookctl=bell/look") == 2
    hookctl("uninstall --all --yes")
    assert settings() == BEFORE


def test_the_records_of_a_released_version_are_never_written_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frozen, "is_released", lambda version: True)
    with pytest.raises(SystemExit, match="stay"):
        frozen.main()
