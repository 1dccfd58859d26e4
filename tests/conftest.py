"""Every test gets a home, a state and a data folder of its own; nothing may touch the developer's agents."""

from __future__ import annotations

import atexit
import functools
import gc
import itertools
import json
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hookctl import cli
from hookctl.__main__ import run
from hookctl.checks import self_test
from hookctl.hosts import Host, matchers
from hookctl.ownership import sources
from hookctl.system import interpreter
from tests import syscalls
from tests.served import run_served

_HOSTS_OWN = (
    "CLAUDE_", "CODEX_", "GEMINI_", "QWEN_", "COPILOT_", "HERMES_", "FACTORY_", "OPENHANDS_", "OH_", "OPENCODE_",
    "ANTHROPIC_",
)  # fmt: skip
STRACE_REQUIRED = os.environ.get("HOOKCTL_STRACE") == "require"
_ask, _ask_guard = interpreter.ask, self_test._ask
_command_once, _program_once = functools.cache(cli.command), functools.cache(cli.program)
_OF_THE_SYSTEM = {
    "/usr/bin", "/usr/local/bin", *map(os.path.dirname, filter(None, (sys.executable, shutil.which("python3"))))
}  # fmt: skip
# A version manager's shim, which may be the first python3, takes ten times as long as Python.
_WITH_PYTHON = os.path.dirname(shutil.which("python3", path="/usr/bin") or sys._base_executable)  # type: ignore[attr-defined]
_answers: dict[str, Any] = {}
_numbers = itertools.count()
_MEMORY, _MEMORY_NEEDED = "/dev/shm", 1 << 30


@functools.cache
def _answer_of_the_system(program: str) -> tuple[str, tuple[int, int]] | None:
    return _ask(program)


def ask_once(program: str) -> tuple[str, tuple[int, int]] | None:
    """A Python of this machine is asked once for all tests: it stays as it is. Any other one each time."""
    return _answer_of_the_system(program) if os.path.dirname(program) in _OF_THE_SYSTEM else _ask(program)


def ask_guard_once(place: str, host: Host, *question: Any) -> Any:
    """The guard gives the same answer to the same self-test, wherever it is laid out, and the home."""
    key = repr((host.name, host.data, question))
    key = key.replace(os.path.dirname(os.environ["HOME"]), "")
    if key not in _answers:
        _answers[key] = _ask_guard(place, host, *question)
    return _answers[key]


def pytest_configure() -> None:
    """Give the tests what a shell or a machine may keep from them: signals that end a process, and fast folders."""
    # A shell starts a background job deaf to Ctrl-C, and nohup to the terminal's end; so would be what tests start.
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
    if "TMPDIR" not in os.environ and has_memory_folder():
        os.environ["TMPDIR"] = tempfile.tempdir = _MEMORY


def has_memory_folder() -> bool:
    """Is there a folder in memory, for programs too? On a disk most of the suite's time is folders made and removed."""
    try:
        system = os.statvfs(_MEMORY)
    except OSError:
        return False
    is_fit = not system.f_flag & (os.ST_NOEXEC | os.ST_RDONLY) and os.access(_MEMORY, os.W_OK)
    return is_fit and system.f_bavail * system.f_frsize > _MEMORY_NEEDED


def pytest_collection_finish() -> None:
    """What was collected stays to the end: no use in looking through it for garbage again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A fresh folder until the test ends; for pytest's own, all others are listed to find a free number."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = tmp_path_factory.mktemp(f"{name}_{next(_numbers)}", numbered=False)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh HOME; the folder of the test."""
    for name in list(os.environ):
        if name.startswith(("XDG_", "HOOKCTL_", *_HOSTS_OWN)) and not name.startswith(("HOOKCTL_TEST", "HOOKCTL_E2E")):
            monkeypatch.delenv(name)
    monkeypatch.setattr(matchers, "_left", [2.0])  # as in a process of its own
    monkeypatch.delenv("MAX_STOP_BLOCKS", raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)  # lines that go to no terminal keep their width
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("HOOKCTL_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("HOOKCTL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # there is no power to fail here, and half the time to win
    monkeypatch.setattr(interpreter, "ask", ask_once)
    monkeypatch.setattr(self_test, "_ask", ask_guard_once)
    # What the command line has to build in each process is built once.
    monkeypatch.setattr(cli, "program", _program_once)
    monkeypatch.setattr(cli, "command", _command_once)
    monkeypatch.setattr("hookctl.system.files.SETTLE", 0)  # tests write their empty files just now,
    monkeypatch.setattr(sources, "READ_PAUSE", 0)  # and torn ones that stay so
    monkeypatch.setenv("PATH", f"{_WITH_PYTHON}:{os.environ['PATH']}:{programs()}")
    monkeypatch.chdir(work)
    return tmp_path


@functools.cache
def programs() -> str:
    """A folder with the programs that other people's hooks name in the tests: else each would be missing."""
    folder = tempfile.mkdtemp(prefix="hookctl-programs-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in PROGRAMS:
        path = Path(folder, name)
        path.write_text("#!/bin/sh\nexit 0\n")
        path.chmod(0o755)
    return folder


PROGRAMS = (
    "ab", "b", "bad", "bell", "check", "check-it", "count", "crash", "create", "flat", "go-on", "last", "late", "lint",
    "look", "lost", "make", "mine", "new", "nightly", "node", "notify", "notify-send", "npm", "old", "one", "other",
    "ralph-stop", "ring", "ruby", "say", "story-automator", "theirs", "three", "two", "u", "x", "zero",
)  # fmt: skip


@pytest.fixture
def fixed_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same interpreter everywhere, and none that is looked for."""
    monkeypatch.setattr("hookctl.system.interpreter.choose", lambda environ: ("/usr/bin/python3", ""))
    monkeypatch.setattr("hookctl.system.interpreter.on_path", lambda environ, project: ())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the versions of the real clients that ran, whichever process ran them."""
    reports = [report for kind in ("passed", "failed", "error") for report in terminalreporter.getreports(kind)]
    # What could not even be collected has no properties.
    properties = [pair for report in reports for pair in getattr(report, "user_properties", ())]
    ran = {value for name, value in properties if name == "client"}
    if ran:
        terminalreporter.write_line("clients: " + ", ".join(sorted(ran)))


@pytest.fixture
def settings(isolated: Path) -> Path:
    """Where Claude Code's user settings would be; the file does not exist yet."""
    return isolated / "home" / ".claude" / "settings.json"


class Outcome(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def result(self) -> dict[str, Any]:
        """The envelope on stdout."""
        return json.loads(self.out)

    @property
    def data(self) -> dict[str, Any]:
        return self.result["data"]


Hookctl = Callable[..., Outcome]


def agreed(arguments: Sequence[str]) -> list[str]:
    """The arguments, with consent to any pack that is installed: few tests are about that."""
    words = list(arguments)
    if words[:1] == ["uninstall"] and {"--all", "--json"} <= set(words):
        words.append("--yes")
    if words[:1] == ["restore"] and not {"--list", "--dry-run"} & set(words):
        words.append("--yes")
    if words[:1] == ["install"]:
        words[1:1] = ["--yes", "--accept-changed"]
    return words


@pytest.fixture
def hookctl(capsys: pytest.CaptureFixture[str]) -> Hookctl:
    """Run the command line in this process."""

    def call(*arguments: str, agrees: bool = True) -> Outcome:
        capsys.readouterr()
        code = run(agreed(arguments) if agrees else list(arguments))
        out, err = capsys.readouterr()
        return Outcome(code, out, err)

    return call


@pytest.fixture
def process() -> Hookctl:
    """Run the command line as a process of its own, without a terminal."""

    def call(*arguments: str, agrees: bool = True, **environ: str) -> Outcome:
        command = [sys.executable, "-m", "hookctl", *(agreed(arguments) if agrees else arguments)]
        done = run_served(command, b"", {**os.environ, **environ}, os.getcwd())
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


@pytest.fixture(scope="session")
def strace() -> None:
    """Skips where there is no strace, or with HOOKCTL_STRACE=require fails."""
    missing = syscalls.unavailable()
    if missing and STRACE_REQUIRED:
        pytest.fail(missing)
    if missing:
        pytest.skip(missing)


def put(path: Path, data: bytes | str) -> Path:
    """A file with these bytes, its folders made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path
