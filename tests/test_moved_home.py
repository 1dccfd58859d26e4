"""HOME is moved as a whole: the record in it moves along, and nothing is written below the old one.

A record that lies elsewhere stays as it is; what the new HOME has of ours is found there by its names.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hookctl.ownership import store
from hookctl.system import folders
from tests.conftest import Hookctl, put
from tests.disk import quiet, tree
from tests.test_crash import killed

THEIRS = '{\n   "model": "m"\n}\n'
pytestmark = pytest.mark.usefixtures("fixed_python")


inside_and_outside = pytest.mark.parametrize("home", ["inside", "outside"], indirect=True)


@pytest.fixture(autouse=True)
def home(request: pytest.FixtureRequest, isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """HOME, with hookctl's own folders inside of it, as usual, or elsewhere."""
    home = isolated / "home"
    if getattr(request, "param", "inside") == "inside":
        monkeypatch.setenv("HOOKCTL_STATE_DIR", str(home / ".local" / "state" / "hookctl"))
        monkeypatch.setenv("HOOKCTL_DATA_DIR", str(home / ".local" / "share" / "hookctl"))
    return home


def live_in(new: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take this folder for HOME, with what of hookctl's own lay in the old one."""
    here = folders.here()
    monkeypatch.setenv("HOME", str(new))
    for name, old in (("HOOKCTL_STATE_DIR", here.state), ("HOOKCTL_DATA_DIR", here.data)):
        monkeypatch.setenv(name, old.replace(f"{home}/", f"{new}/"))


@pytest.fixture
def move(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Path]:
    """Move HOME, and live in the new one."""

    def moved() -> Path:
        new = home.with_name("moved")
        home.rename(new)
        live_in(new, home, monkeypatch)
        return new

    return moved


def below(path: Path) -> list[str]:
    return [str(found) for found in path.rglob("*") if found.is_file()]


@inside_and_outside
@pytest.mark.parametrize(
    ("host", "verb"),
    [
        ("claude", "doctor --fix"),
        ("codex", "install --host codex"),
        ("gemini", "install --host gemini"),
        ("qwen", "doctor --fix"),
    ],
)
def test_a_program_that_the_settings_seek_below_the_old_one_is_named_and_found_again(
    host: str, verb: str, home: Path, move: Callable[[], Path], hookctl: Hookctl
) -> None:
    assert hookctl("install", "--host", host).code == 0
    has_moved = folders.here().data.startswith(f"{home}/")
    new = move()

    def advice() -> list[str]:
        return [finding["fix"] or "" for finding in hookctl("doctor", "--json").data["findings"]]

    def faults() -> tuple[bool, bool]:
        """Whether hooks says that the guard does nothing, and doctor that a program is gone."""
        listed = hookctl("hooks", "--host", host, "--json").data["hooks"]
        found = hookctl("doctor", "--json").data["findings"]
        is_named = any("is not there" in hook["reason"] for hook in listed)
        return is_named, "hook_missing" in [one["code"] for one in found]

    assert faults() == (has_moved, has_moved)
    assert not [fix for fix in advice() if f"{home}/" in fix]
    hookctl(*verb.split())
    assert faults() == (False, False)
    assert not [fix for fix in advice() if f"{home}/" in fix]
    others = [path for path in below(new) if "/state/" not in path and "config.toml" not in path]  # Codex's approvals
    assert not [path for path in others if f"{home}/" in Path(path).read_text("latin-1")]
    assert hookctl("uninstall").code == 0
    assert store.load(folders.here()).files == {} and not home.exists()


@inside_and_outside
def test_a_killed_run_ends_below_the_new_one_or_nowhere(home: Path, move: Callable[[], Path], hookctl: Hookctl) -> None:
    put(home / ".claude" / "settings.json", THEIRS)
    at = 20
    while True:
        assert killed(("install", "--host", "claude"), at)
        if Path(folders.here().journal).exists():
            break
        at += 15
    new = move()
    assert hookctl("status").code == 0
    assert hookctl("uninstall").code == 0
    assert not home.exists() and (new / ".claude" / "settings.json").read_text() == THEIRS
    assert below(Path(folders.here().data)) == [] and store.load(folders.here()).files == {}


def test_a_copy_of_a_home_leaves_the_original_alone(
    home: Path, isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record that lies in the copy is the copy's, and what it names lies there too."""
    put(home / ".claude" / "settings.json", THEIRS)
    hookctl("install", "--host", "claude")
    new = isolated / "copy"
    shutil.copytree(home, new)
    original = tree(home)
    live_in(new, home, monkeypatch)
    assert hookctl("uninstall", "--all", "--yes").code == 0
    assert (tree(home), (new / ".claude" / "settings.json").read_text()) == (original, THEIRS)


@pytest.mark.parametrize("home", ["outside"], indirect=True)
def test_a_home_that_is_only_away_keeps_its_record(
    home: Path, isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it is in the new HOME: it is on a disk that is not there just now."""
    put(home / ".claude" / "settings.json", THEIRS)
    hookctl("install", "--host", "claude")
    away = home.with_name("away")
    home.rename(away)
    monkeypatch.setenv("HOME", str(isolated / "work"))
    done = hookctl("uninstall", "--all", "--yes")
    assert (done.code, str(home) in done.err) == (0, True), done
    assert quiet("doctor", "--fix") in (0, 1) and quiet("install", "--host", "qwen") == 0
    assert not home.exists()
    away.rename(home)
    monkeypatch.setenv("HOME", str(home))
    assert hookctl("uninstall").code == 0
    assert (home / ".claude" / "settings.json").read_text() == THEIRS
    assert json.loads(Path(folders.here().ledger).read_text())["files"].keys() == {
        str(isolated / "work" / ".qwen" / "settings.json")
    }
