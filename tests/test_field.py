"""Settings files of the sort that people have: what runs of them, and what hookctl says, a row a file.

What is expected was seen on the real clients, in front of which tests/e2e/test_field.py plays the same rows; where one
is not `played`, the host's documents say so. A hook is a word that its command writes down.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.approving import approve
from tests.conftest import Hookctl, Outcome, put
from tests.texts import rows

TOOLS = {  # by host: the names of its shell and of what writes a file, which are called
    "claude": ("Bash", "Write"), "codex": ("Bash", "apply_patch"), "copilot": ("bash", "create"),
    "droid": ("Execute", "Create"), "gemini": ("run_shell_command", "write_file"),
    "qwen": ("run_shell_command", "write_file"), "cursor": ("Shell", "Write"),
}  # fmt: skip


class Row(NamedTuple):
    """Files, and what is true of them. `~` is HOME, a path without it is one of the project, MARKS where words go."""

    says: str
    host: str
    files: Mapping[str, Any]  # a text, or a value of JSON
    runs: str = ""  # words of the hooks that run
    not_runs: str = ""  # of those that do not; @EVENT: all of that event
    fires: Mapping[str, str] = {}  # what an event runs, as "stop" or "pre-tool TOOL"; without it the event is not asked
    doctor: str = ""  # the file that doctor names at level error or warning, before the install and after it
    doctor_says: str = ""  # an expression for the message, beside what `starts` and `loud` ask for
    loud: bool = False  # the client reads nothing of the file that install writes into, or does not start
    starts: bool = True  # the client
    approved: tuple[str, ...] = ()  # files of Codex whose hooks are approved
    trusted: bool = False  # Codex trusts the project
    managed: str = ""  # words of hooks that are listed as managed ones
    played: bool = True  # the client was run on it

    @property
    def ran(self) -> set[str]:
        """What runs in a session that calls the shell, writes a file and ends."""
        return {word for words in self.fires.values() for word in words.split()}


WHOLE = "not start|whole|no hook|nothing"  # what doctor says of a file of which nothing is read


def _written(value: Any) -> Any:
    """A value of a row, with a handler that writes a word down for each `$word`."""
    if isinstance(value, dict):
        return {key: _written(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_written(inner) for inner in value]
    if isinstance(value, str) and value.startswith("$"):
        return {"type": "command", "command": f"echo {value[1:]} >> MARKS"}
    return value


def _read(says: str, host: str, files: str, runs: str, not_runs: str, fires: str, more: str) -> Row:
    events = dict(event.split(": ") for event in fires.split(", ") if event != "-")
    words = {event: "" if words == "nothing" else words for event, words in events.items()}
    return Row(
        says, host, _written(json.loads(files)), "" if runs == "-" else runs, "" if not_runs == "-" else not_runs,
        words,
        **({} if more == "-" else json.loads(more)),
    )  # fmt: skip


ROWS = [_read(*row) for row in rows("field")]


def path_of(name: str, home: Path, project: Path, etc: Path) -> Path:
    """Where a file of a row lies."""
    if name.startswith("~/"):
        return home / name[2:]
    return etc / name.removeprefix("/etc/") if name.startswith("/etc/") else project / name


def lay_out(
    row: Row, home: Path, project: Path, etc: Path, marks: Path, base: Mapping[str, Any] = {}
) -> dict[str, Path]:
    """Write a row's files, the user's settings with what a client needs to start, and what Codex has to be told."""
    paths = {name: path_of(name, home, project, etc) for name in row.files}
    for name, value in row.files.items():
        more = base if name.startswith("~/") and name.endswith("/settings.json") else {}
        text = value if isinstance(value, str) else json.dumps({**more, **value})
        put(paths[name], text.replace("MARKS", str(marks)))
    if row.approved or row.trusted:
        config = home / ".codex" / "config.toml"
        own = config.read_text() if config.exists() else ""
        config.unlink(missing_ok=True)
        for name in row.approved:
            approve(paths[name])
        told = config.read_text() if config.exists() else ""
        if row.trusted:
            told += f"[projects.{json.dumps(str(project))}]\ntrust_level = 'trusted'\n"
        # A key at the root, and a list of tables, may not stand behind a table.
        is_behind = own.startswith("[") and not own.startswith("[[hooks]]")
        config.write_text(told + own if is_behind else own + told)
    return paths


class Stage:
    """A row's files, and hookctl there."""

    def __init__(self, row: Row, root: Path, hookctl: Hookctl) -> None:
        self.row, self.hookctl = row, hookctl
        self.marks = root / "marks"
        put(root / "work" / ".git" / "HEAD", "ref: refs/heads/main\n")
        self.paths = lay_out(row, root / "home", root / "work", root / "etc", self.marks)
        self.shown = {name: Path(name) if name.startswith("/etc") else path for name, path in self.paths.items()}

    def bytes(self) -> dict[str, bytes]:
        return {name: path.read_bytes() for name, path in self.paths.items()}

    def page(self, *arguments: str) -> Any:
        return self.hookctl(*arguments, "--host", self.row.host, "--json").data

    def hooks(self) -> None:
        """What runs is said to run, and what does not is not."""
        page = self.page("hooks")
        unreadable = {one["path"] for one in page["unreadable"]}

        def states(word: str) -> set[str]:
            return {hook["state"] for hook in page["hooks"] if self._is(hook, word)}

        for word in self.row.runs.split():
            assert states(word) == {"runs"}, word
        for word in self.row.not_runs.split():
            assert "runs" not in states(word), word
            assert states(word) or word[0] in "@=" or unreadable & {*map(str, self.shown.values())}, word
        for word in self.row.managed.split():
            assert {hook["scope"] for hook in page["hooks"] if self._is(hook, word)} == {"managed"}, word

    def _is(self, hook: Mapping[str, Any], word: str) -> bool:
        if word[0] == "=":  # of a type
            return "echo" not in hook["command"]
        if word[0] == "@":
            return hook["event"] == word[1:] or word[1:] in hook["command"]
        return bool(re.search(rf"\b{word} >>", hook["command"]))

    def doctor(self) -> None:
        """It names the file, and not only before the install."""
        assert self._named(), "before the install"
        self.hookctl("install", "--host", self.row.host)
        assert self._named(), "after the install"

    def _named(self) -> list[str]:
        file = str(self.shown[self.row.doctor])
        says = self.row.doctor_says or ("not start" if not self.row.starts else WHOLE if self.row.loud else "")
        return [
            one["message"] for one in self.page("doctor")["findings"]
            if one["level"] in ("error", "warning") and (one["path"] == file or file in one["message"])
            and re.search(says, one["message"])
        ]  # fmt: skip

    def install(self) -> None:
        """It writes nothing, or says that nothing comes of it."""
        before = self.bytes()
        done = self.hookctl("install", "--host", self.row.host)
        file = str(self.shown[self.row.doctor])
        is_refused = done.code != 0 and self.bytes() == before
        assert is_refused or (file in done.err and "installed" not in done.out), done

    def fire(self) -> None:
        """Each event runs what the client runs."""
        for event, words in self.row.fires.items():
            kind, _, tool = event.partition(" ")
            inputs = {TOOLS[self.row.host][0]: {"command": "touch shell-ran"}}
            call = ["--tool", tool, "--input", json.dumps(inputs.get(tool, {"file_path": "made.txt"}))] if tool else []
            self.marks.unlink(missing_ok=True)
            self.page("fire", kind, *call, "--run-project", "--yes")
            ran = set(self.marks.read_text().split()) if self.marks.exists() else set()
            assert ran - {*self.row.managed.split()} == set(words.split()) - {*self.row.managed.split()}, event
        for hook in self.page("hooks")["hooks"]:
            if re.search(r"\b(ps|text) >>", hook["command"]):
                self.hookctl("fire", hook["event"], "--hook", hook["id"])
        assert not self.marks.exists() or not {"ps", "text"} & {*self.marks.read_text().split()}

    def bytes_stay(self) -> None:
        """What is installed can be taken away, however odd the file."""
        before = self.bytes()
        for verb in ("install", "install", "uninstall"):
            self.hookctl(verb, "--host", self.row.host)
        assert self.bytes() == before


def etc_of(row: Row) -> bool:
    return any(name.startswith("/etc/") for name in row.files)


@pytest.fixture
def with_etc(isolated: Path) -> Hookctl:
    """The command line as a process that has the test's own /etc."""
    etc = isolated / "etc"
    etc.mkdir()
    if not shutil.which("unshare") or subprocess.run(in_namespace(etc, "true"), capture_output=True).returncode:
        pytest.skip("this user cannot have a mount namespace")

    def call(*arguments: str, agrees: bool = True) -> Outcome:
        agreed = ["--yes"] if arguments[0] == "install" else []
        command = [sys.executable, "-m", "hookctl", *arguments, *agreed]
        done = subprocess.run(in_namespace(etc, *command), capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return Outcome(done.returncode, done.stdout, done.stderr)

    return call


def in_namespace(etc: Path, *command: str) -> list[str]:
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", *user, "--mount", "sh", "-c", 'mount --bind "$0" /etc && exec "$@"', str(etc), *command]


def aspects(row: Row) -> Iterator[str]:
    """What is asked of a row."""
    yield "hooks"
    yield from ["doctor"] if row.doctor else []
    yield from ["install"] if row.loud else []
    yield from ["fire"] if row.fires and not row.managed else []
    yield from ["bytes_stay"] if not etc_of(row) else []


def cases() -> Iterator[Any]:
    """Each row with each aspect."""
    for row in ROWS:
        for aspect in aspects(row):
            name = f"{aspect}: {row.says}"
            yield pytest.param(row, aspect, id=name)


@pytest.mark.parametrize(("row", "aspect"), [*cases()])
def test_what_is_said_of_a_file(
    row: Row, aspect: str, request: pytest.FixtureRequest, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "powershell" in str(row.files) and shutil.which("pwsh"):
        pytest.skip("PowerShell is there")
    fixture: Callable[..., Any] = request.getfixturevalue("with_etc" if etc_of(row) else "hookctl")
    getattr(Stage(row, isolated, fixture), aspect)()
