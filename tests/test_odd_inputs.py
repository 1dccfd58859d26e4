"""What is no file, and far too much of one, at every door: an error that names it, nothing changed, in bounded time."""

from __future__ import annotations

import os
import resource
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from hookctl.system import folders
from tests.conftest import Hookctl, put
from tests.manifest import hook, manifest

MIB = 1024 * 1024
SECONDS = 10  # for a command, on a busy machine; a tenth of it is usual
PACK = manifest("p", hook("stop", "{files}/p.sh"), protocol="host", files=["p.sh"])
SETTINGS = "home/.claude/settings.json"
INSTALL, UNINSTALL, PLAN = (
    ("install", "--host", "claude"),
    ("uninstall", "--host", "claude"),
    ("plan", "--host", "claude"),
)
READING = (("status",), ("doctor",), ("hooks",))
PACKED = (("plan", "../pack", "--host", "claude"), ("install", "../pack", "--host", "claude"))
Command = tuple[str, ...]


class Door(NamedTuple):
    """A file that hookctl reads, the commands that need it, and those that do without."""

    name: str
    path: str
    refusing: tuple[Command, ...] = ()
    bearing: tuple[Command, ...] = ()
    installed: bool = False


def of_scope(scope: str) -> tuple[Command, ...]:
    return tuple((*command, "--scope", scope) for command in (INSTALL, PLAN, UNINSTALL))


DOORS = [
    Door("settings", SETTINGS, (INSTALL, (*INSTALL, "--force"), PLAN, UNINSTALL), READING),
    Door(
        "ledger", "state/ledger.json", (INSTALL, UNINSTALL, ("status",)), (("doctor",), ("run", "status"), ("hooks",))
    ),
    Door("shared", "work/.claude/settings.json", of_scope("project"), READING),
    Door("local", "work/.claude/settings.local.json", of_scope("local"), READING),
    Door("journal", "state/journal.json", (INSTALL, UNINSTALL), (("status",), ("doctor",))),
    Door("committed", "work/.hookctl/ledger.json", of_scope("project")[:1], (("status",), ("doctor",))),
    Door("pack", "pack/pack.toml", PACKED),
    Door("config", "data/guard/claude.json", (), (INSTALL, ("status",), ("doctor",)), installed=True),
    Door("hook", "data/hook.py", (), (("status",), ("doctor",)), installed=True),
    Door("backups", SETTINGS, (), (("restore", f"../{SETTINGS}", "--list"),), installed=True),
    Door("task", "work/.hookctl/run/task.json", (), (("run", "status"), ("status",), ("doctor",))),
    Door("owner", "work/.hookctl/run/OWNER", (), (("run", "status"), ("status",))),
]


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b"{")
        file.truncate(100 * MIB)


def blank(path: Path) -> None:
    path.write_bytes(b"{" + b" " * (100 * MIB) + b"}")


def deep(path: Path) -> None:
    path.write_text('{"a":' * 10_000 + "1" + "}" * 10_000)


def unclosed(path: Path) -> None:
    path.write_text('{"a": ' * 200_000)


def nul(path: Path) -> None:
    path.write_bytes(b'{"a": "\0"}\0')


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def node(path: Path) -> None:
    os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5))  # /dev/zero


def loop(path: Path) -> None:
    path.symlink_to(path.name)


def folder(path: Path) -> None:
    path.mkdir()


KINDS = [huge, blank, deep, unclosed, nul, pipe, device, *([node] if os.geteuid() == 0 else []), loop, folder]
ALL = os.environ.get("HOOKCTL_TESTS") == "all"
PAIRS = [
    pytest.param(door, make, id=f"{door.name}-{make.__name__}")
    for row, door in enumerate(DOORS)
    for column, make in enumerate(KINDS)
    # Each door and each kind a few times; a repository may bring any kind of settings.
    if ALL or door.name in ("shared", "local") or (row + column) % 3 == 0
]


def prepare(isolated: Path, door: Door, make: Callable[[Path], None], hookctl: Hookctl) -> Path:
    if door.installed:
        assert hookctl(*INSTALL).code == 0
    put(isolated / "pack" / "pack.toml", PACK)
    put(isolated / "pack" / "p.sh", "true\n")
    path = isolated / door.path
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    make(path)
    return path


def everything(isolated: Path, odd: Path) -> dict[str, object]:
    """What lies there, of the odd file its size alone; without the lock, which hookctl may take before it looks."""
    found: dict[str, object] = {}
    for path in sorted(isolated.rglob("*")):
        about = path.lstat()
        data = path.read_bytes() if path.is_file() and path != odd else None
        found[str(path.relative_to(isolated))] = about.st_mode, path == odd and about.st_size, data
    found.pop("state/lock", None)
    return found


@pytest.mark.parametrize(("door", "make"), PAIRS)
def test_an_odd_file_is_named_and_nothing_changes(
    door: Door, make: Callable[[Path], None], isolated: Path, hookctl: Hookctl, fixed_python: None
) -> None:
    path = prepare(isolated, door, make, hookctl)
    before = everything(isolated, path)
    for command in (*door.refusing, *door.bearing):
        start = time.process_time()
        done = hookctl(*command)
        said = done.out + done.err
        assert done.code in ((4,) if command in door.refusing else (0, 1, 4)), (command, done)
        assert "Traceback" not in said and time.process_time() - start < SECONDS
        assert done.code != 4 or path.name in said
        assert everything(isolated, path) == before, command


def memory(limit: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


@pytest.mark.parametrize(
    "door", [door for door in DOORS if door.name in ("settings", "ledger", "pack")], ids=lambda door: door.name
)
def test_a_file_of_100_mb_takes_no_memory_for_it(door: Door, isolated: Path, hookctl: Hookctl) -> None:
    prepare(isolated, door, blank, hookctl)
    done = subprocess.run(
        [sys.executable, "-m", "hookctl", *door.refusing[0]], capture_output=True, text=True, timeout=60,
        stdin=subprocess.DEVNULL, preexec_fn=memory(220 * MIB), check=False,
    )  # fmt: skip
    assert done.returncode == 4 and "larger than" in done.stderr, done


# Limits of the machine

LIMITS = [
    *((resource.RLIMIT_FSIZE, number) for number in (0, 100, 2000, 9000)),
    *((resource.RLIMIT_NOFILE, number) for number in (5, 6, 8, 12)),
]


@pytest.mark.parametrize("verb", [INSTALL, UNINSTALL], ids=lambda verb: verb[0])
@pytest.mark.parametrize(("kind", "number"), LIMITS, ids=lambda value: str(value))
def test_a_limit_of_the_shell_stops_a_run_and_changes_nothing(
    kind: int, number: int, verb: tuple[str, ...], settings: Path, isolated: Path, hookctl: Hookctl
) -> None:
    put(settings, theirs := '{"model": "m", "note": "' + "x" * 6000 + '"}')
    if verb == UNINSTALL:
        assert hookctl(*INSTALL).code == 0
    before = settings.read_text()
    done = subprocess.run(
        [sys.executable, "-B", "-m", "hookctl", *verb], capture_output=True, text=True, timeout=60, check=False,
        stdin=subprocess.DEVNULL, preexec_fn=lambda: resource.setrlimit(kind, (number, number)),
    )  # fmt: skip
    assert done.returncode in (0, 1, 4) and "Traceback" not in done.stderr, done
    if done.returncode:
        assert settings.read_text() == before and done.stderr
        if kind == resource.RLIMIT_FSIZE:
            assert "File too large" in done.stderr and not folders.here().has_unfinished_run()
    for command in (INSTALL, UNINSTALL):
        assert hookctl(*command).code == 0
    assert settings.read_text() == theirs


@pytest.mark.parametrize(("where", "step"), [("home", 2), ("state", 9), ("data", 15)])
def test_a_disk_that_is_full_changes_nothing(where: str, step: int, tmp_path: Path) -> None:
    """No room, no inodes, or read-only: the install fails or is whole, and the next one with room is as ever."""
    step = 1 if ALL else step
    command = ["unshare", "-rm", sys.executable, "-m", "tests.small_disk", str(tmp_path / "disks"), where, str(step)]
    try:
        probe = subprocess.run([*command[:2], "mount", "-t", "tmpfs", "none", "/tmp"], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("unshare is not here")
    if probe.returncode:
        pytest.skip("no mount namespace can be made here")
    root = str(Path(__file__).parents[1])
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=root,
        env={**os.environ, "PYTHONPATH": root},
    )
    *faults, last = done.stdout.splitlines() or [done.stderr]
    assert faults == [], faults
    _, tried, _, failed = last.split()
    assert 1 <= int(failed) < int(tried), last
