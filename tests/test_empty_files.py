"""A settings file that another program has just truncated is waited for; only an old empty one is empty."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hookctl.system import files
from tests.conftest import Hookctl, put
from tests.disk import INSTALL, UNINSTALL

THEIRS = b'{\n  "model": "m"\n}\n'

pytestmark = pytest.mark.usefixtures("fixed_python", "real_wait")


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


@pytest.mark.parametrize("seconds", [0.1, 0.5, 1.2])
def test_an_install_waits_for_the_bytes(seconds: float, settings: Path, hookctl: Hookctl) -> None:
    put(settings, THEIRS)
    with truncated(settings, seconds):
        assert hookctl(*INSTALL).code == 0
    assert b'"model": "m"' in settings.read_bytes() and b"hookctl=guard/stop" in settings.read_bytes()
    assert hookctl(*UNINSTALL).code == 0
    assert settings.read_bytes() == THEIRS


def test_a_file_that_was_read_while_it_was_empty_is_compared_once_it_has_its_bytes(settings: Path) -> None:
    put(settings, THEIRS)
    with truncated(settings, 0.3), pytest.raises(files.Changed):
        files.replace(files.Snapshot(str(settings), b"", 1), b"ours")
    assert settings.read_bytes() == THEIRS


@pytest.mark.parametrize("verb", ["uninstall", "doctor --fix", "restore"])
def test_every_other_verb_waits_too(verb: str, settings: Path, hookctl: Hookctl) -> None:
    """An uninstall that took the file for empty would leave its entries behind."""
    put(settings, THEIRS)
    assert hookctl(*INSTALL).code == 0
    installed = settings.read_bytes()
    arguments = [*verb.split(), *([str(settings)] if verb == "restore" else [])]
    with truncated(settings, 0.5):
        hookctl(*arguments)
    assert settings.read_bytes() == (installed if "--fix" in verb else THEIRS)


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
