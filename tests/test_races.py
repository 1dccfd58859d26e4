"""Several programs at once: nothing is torn, and no completed write of somebody else's is lost."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hookctl.ownership import execute, run, store
from hookctl.system import files, folders
from tests.conftest import Hookctl, put
from tests.disk import INSTALL, PROJECT, UNINSTALL, temporary
from tests.manifest import hook, manifest

ROUNDS = int(os.environ.get("HOOKCTL_TEST_ROUNDS", "2"))
THEIRS = b'{\n  "model": "m",\n  "n": 0\n}\n'
PACK = manifest("{name}", hook("stop", "true {name}"), protocol="host", env={"{key}": "1"})


def together(*commands: tuple[str, ...]) -> list[tuple[int, str]]:
    """Start them all at once; exit code and messages of each."""
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "hookctl", *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True,
        )
        for command in commands
    ]  # fmt: skip
    return [(process.wait(60), process.communicate()[1]) for process in running]


def codes(*commands: tuple[str, ...]) -> list[int]:
    return [code for code, _ in together(*commands)]


def errors(hookctl: Hookctl) -> list[str]:
    """The codes of what doctor finds wrong; whether the hook can be run here is another matter."""
    findings = hookctl("doctor", "--host", "claude", "--json").data["findings"]
    return [f["code"] for f in findings if f["level"] == "error" and f["code"] != "self_test_failed"]


def test_two_installs_at_once_are_one(settings: Path, isolated: Path, hookctl: Hookctl) -> None:
    put(settings, THEIRS)
    assert hookctl(*INSTALL).code == 0
    installed, book = settings.read_bytes(), Path(folders.here().ledger).read_bytes()
    assert hookctl(*UNINSTALL).code == 0
    for _ in range(ROUNDS):
        assert codes(INSTALL, INSTALL, INSTALL) == [0, 0, 0]
        assert (settings.read_bytes(), Path(folders.here().ledger).read_bytes()) == (installed, book)
        assert temporary(isolated) == []
        assert hookctl(*UNINSTALL).code == 0
        assert settings.read_bytes() == THEIRS


@pytest.mark.parametrize(("name", "code"), [("one", 0), ("two", 1)], ids=["the same", "a conflict"])
def test_who_waited_for_the_lock_plans_anew_and_may_have_nothing_to_do(
    name: str, code: int, isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, pack in enumerate(("one", "two")):
        text = PACK.format(name=pack, key="K").replace('K = "1"', f'K = "{number}"')
        put(isolated / f"{pack}.toml", text)
    open_lock, executed = run._open_lock, []

    def wait_longer(*arguments: Any) -> int:
        monkeypatch.setattr(run, "_open_lock", open_lock)
        assert hookctl("install", str(isolated / "one.toml"), "--host", "claude").code == 0
        monkeypatch.setattr(execute, "execute", lambda *plan: executed.append(plan))
        return open_lock(*arguments)

    monkeypatch.setattr(run, "_open_lock", wait_longer)
    assert hookctl("install", str(isolated / f"{name}.toml"), "--host", "claude").code == code
    assert executed == []


def test_an_install_and_an_uninstall_at_once_end_as_one_of_the_two(
    settings: Path, isolated: Path, hookctl: Hookctl
) -> None:
    put(settings, THEIRS)
    assert hookctl(*INSTALL).code == 0
    installed = settings.read_bytes()
    for number in range(ROUNDS):
        pair = (INSTALL, UNINSTALL) if number % 2 else (UNINSTALL, INSTALL)
        assert codes(*pair, *pair) == [0, 0, 0, 0]
        pages = store.load(folders.here()).files
        assert settings.read_bytes() == (installed if pages else THEIRS)
        assert temporary(isolated) == []
        assert hookctl(*INSTALL).code == 0
        assert errors(hookctl) == []
    assert hookctl(*UNINSTALL).code == 0
    assert settings.read_bytes() == THEIRS


def test_scopes_and_projects_at_once_keep_each_others_pages(settings: Path, isolated: Path, hookctl: Hookctl) -> None:
    places = [("--project", str(isolated / name), *PROJECT) for name in ("a", "b")]
    files = [settings, *(isolated / name / ".claude" / "settings.json" for name in ("a", "b"))]
    for file in files:
        put(file, THEIRS)
    for _ in range(ROUNDS):
        assert codes(INSTALL, *((*INSTALL, *place) for place in places)) == [0, 0, 0]
        pages = store.read(folders.here(), [str(isolated / "a"), str(isolated / "b")])
        assert {path: set(page.packs) for path, page in pages.items()} == {str(file): {"guard"} for file in files}
        assert codes(UNINSTALL, *((*UNINSTALL, *place) for place in places)) == [0, 0, 0]
        assert [file.read_bytes() for file in files] == [THEIRS] * 3
        assert store.load(folders.here()).files == {}
        assert temporary(isolated) == []


def test_who_waits_for_the_lock_says_so_once(settings: Path, isolated: Path) -> None:
    with run.locked_run(folders.here(), print):
        waiting = subprocess.Popen(
            [sys.executable, "-m", "hookctl", *INSTALL], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert waiting.stderr is not None and "waiting for another hookctl" in waiting.stderr.readline()
        time.sleep(0.3)
        assert waiting.poll() is None
        assert not settings.exists()
    assert "waiting for another hookctl" not in waiting.communicate()[1]
    assert waiting.returncode == 0
    assert settings.exists()


# A settings file that another program has just truncated is waited for; only an old empty one is empty.
THEIRS_OF_EMPTY_FILES = b'{\n  "model": "m"\n}\n'

waits = pytest.mark.usefixtures("fixed_python", "real_wait")


@pytest.fixture
def real_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hookctl.system.files.SETTLE", 2.0)


@contextmanager
def truncated(path: Path, seconds: float) -> Iterator[None]:
    """The file is empty, and another program gives it its bytes again some seconds later."""
    data = path.read_bytes()
    stream = path.open("wb")

    def fill() -> None:
        stream.write(data)
        stream.close()

    timer = threading.Timer(seconds, fill)
    timer.start()
    yield
    timer.join()


@waits
@pytest.mark.parametrize("seconds", [0.1, 0.5, 1.2])
def test_an_install_waits_for_the_bytes(seconds: float, settings: Path, hookctl: Hookctl) -> None:
    put(settings, THEIRS_OF_EMPTY_FILES)
    with truncated(settings, seconds):
        assert hookctl(*INSTALL).code == 0
    assert b'"model": "m"' in settings.read_bytes() and b"hookctl=guard/stop" in settings.read_bytes()
    assert hookctl(*UNINSTALL).code == 0
    assert settings.read_bytes() == THEIRS_OF_EMPTY_FILES


@waits
def test_a_file_that_was_read_while_it_was_empty_is_compared_once_it_has_its_bytes(settings: Path) -> None:
    put(settings, THEIRS_OF_EMPTY_FILES)
    with truncated(settings, 0.3), pytest.raises(files.Changed):
        files.replace(files.Snapshot(str(settings), b"", 1), b"ours")
    assert settings.read_bytes() == THEIRS_OF_EMPTY_FILES


@waits
@pytest.mark.parametrize("verb", ["uninstall", "doctor --fix", "restore"])
def test_every_other_verb_waits_too(verb: str, settings: Path, hookctl: Hookctl) -> None:
    """An uninstall that took the file for empty would leave its entries behind."""
    put(settings, THEIRS_OF_EMPTY_FILES)
    assert hookctl(*INSTALL).code == 0
    installed = settings.read_bytes()
    arguments = [*verb.split(), *([str(settings)] if verb == "restore" else [])]
    with truncated(settings, 0.5):
        hookctl(*arguments)
    assert settings.read_bytes() == (installed if "--fix" in verb else THEIRS_OF_EMPTY_FILES)


@waits
def test_an_old_empty_file_is_not_waited_for(settings: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> None:
    put(settings, b"")
    later = time.time() + 60
    monkeypatch.setattr(time, "time", lambda: later)
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    assert hookctl(*INSTALL).code == 0
    assert slept == []
    assert hookctl(*UNINSTALL).code == 0
    assert settings.read_bytes() == b""
