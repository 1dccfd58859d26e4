"""A full disk, no inodes left, a limit on the size of files: a clear error, and everything as before."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookctl.system import folders
from tests.conftest import Hookctl, put

THEIRS = '{"model": "m"}\n'
INSTALL, UNINSTALL = ("install", "--host", "claude"), ("uninstall",)


def call(*arguments: str, limit: int = resource.RLIM_INFINITY) -> subprocess.CompletedProcess[str]:
    """hookctl as a process whose files may not become larger than the limit."""

    def lower() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [sys.executable, "-B", "-m", "hookctl", *arguments]
    return subprocess.run(command, capture_output=True, text=True, preexec_fn=lower, timeout=60)


def files_of(*tops: Path) -> dict[str, bytes]:
    found = {}
    for top in tops:
        for path in top.rglob("*"):
            if path.is_file() and "backups" not in path.parts and path.name != "lock":
                found[str(path)] = path.read_bytes()
    return found


def check_refusal(done: subprocess.CompletedProcess[str], reason: str) -> None:
    assert done.returncode == 1, done
    assert reason in done.stderr and "Traceback" not in done.stderr and "unexpected" not in done.stderr
    assert not folders.here().has_unfinished_run()


@pytest.mark.parametrize("verb", [INSTALL, UNINSTALL])
@pytest.mark.parametrize("limit", [0, 100, 1024, 4096])
def test_a_limit_on_the_size_of_files(
    limit: int, verb: tuple[str, ...], isolated: Path, settings: Path, hookctl: Hookctl
) -> None:
    put(settings, THEIRS)
    if verb == UNINSTALL:
        assert hookctl(*INSTALL).code == 0
    before = files_of(isolated)
    done = call(*verb, limit=limit)
    if done.returncode == 0:
        assert verb == UNINSTALL and limit == 4096  # it writes less
        return
    check_refusal(done, "File too large")
    assert files_of(isolated) == before
    assert call(*verb).returncode == 0


@pytest.fixture
def disk(request: pytest.FixtureRequest, isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A small disk that HOME and hookctl's folders are on."""
    disk = isolated / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", request.param, "none", str(disk)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        for name in ("HOME", "HOOKCTL_STATE_DIR", "HOOKCTL_DATA_DIR"):
            monkeypatch.setenv(name, str(disk / name))
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


DISKS = [
    "size=16k",
    "size=48k",
    "size=96k",
    "size=128k",
    "nr_inodes=8",
    "nr_inodes=16",
    "nr_inodes=24",
    "nr_inodes=30",
]


@pytest.mark.parametrize("disk", DISKS, indirect=True)
def test_a_full_disk(disk: Path) -> None:
    settings = put(disk / "HOME" / ".claude" / "settings.json", THEIRS)
    done = call(*INSTALL)
    check_refusal(done, "No space left on device")
    left = files_of(disk)
    assert left.pop(str(settings)) == THEIRS.encode()
    assert list(left) == []
