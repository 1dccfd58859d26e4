"""What the runs of all clients have in common: a place of their own, a scripted model, a process group, a count.

A client's driver is a module with its pins' name that makes a place and says how the client is started there.
"""

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

from .clients import Client
from .dialects import Dialect, Reply
from .model_server import Logged, ModelServer, Script, serve

_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"


@dataclass(frozen=True)
class Place:
    """Everything that one test may touch: a home, a project and a folder for temporary files, all of its own."""

    FILE: ClassVar[str]  # the client's settings file at user scope, from the home
    CONFIG: ClassVar[str] = ""  # a further file or folder of it
    BASE: ClassVar[str] = ""  # what its settings need in order to let it start
    root: Path
    own_folders: bool = False  # hookctl's folders lie in the home, as without variables, and not beside it

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def tmp(self) -> Path:
        return self.root / "tmp"

    @property
    def settings(self) -> Path:
        return self.home / self.FILE

    @property
    def config(self) -> Path:
        return self.home / self.CONFIG

    @classmethod
    def make(cls, root: Path, *, own_folders: bool = False) -> Self:
        """Make a home as the client's user has it, and an empty project."""
        place = cls(root, own_folders)
        place.lay_out()
        return place

    def lay_out(self) -> None:
        """Make the folders and the settings; a client that needs more has more to lay out."""
        for folder in (self.settings.parent, self.project, self.tmp):
            folder.mkdir(parents=True)
        if self.BASE:
            self.settings.write_text(self.BASE)

    def make_repository(self) -> None:
        """Make the project a repository; an empty .git makes none."""
        for folder in ("objects", "refs"):
            (self.project / ".git" / folder).mkdir(parents=True)
        (self.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")

    def environment(self) -> dict[str, str]:
        """Return an environment built from nothing, for the client and for hookctl alike."""
        return {
            "HOME": str(self.home),
            "PATH": _PATH,
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "TMPDIR": str(self.tmp),
            "NO_PROXY": "127.0.0.1",
        }


@dataclass(frozen=True)
class Run:
    """What one run left: its exit code, its output and its requests."""

    code: int
    out: str
    errors: str
    log: list[Logged]

    @property
    def requests(self) -> int:
        """How often the main agent asked the model."""
        return self.count("main")

    def count(self, kind: str) -> int:
        return sum(1 for entry in self.log if entry.kind == kind)

    @property
    def last_messages(self) -> list[dict[str, Any]]:
        """The conversation as it stood in the last request of the main agent."""
        return [entry.request.body["messages"] for entry in self.log if entry.kind == "main"][-1]

    def told(self, role: str) -> list[Any]:
        """What the model was told in a role by then."""
        return [message["content"] for message in self.last_messages if message["role"] == role]


R = TypeVar("R", bound=Run)
P = TypeVar("P", bound=Place)


class Start(NamedTuple):
    """How a client is called in a place: beside the place's own environment, and with these words before the test's."""

    command: Sequence[str]
    environment: Mapping[str, str]


def starts(*words: str, **environment: str) -> Callable[[Client, Any, str, str], Start]:
    """How a client is called with these words and variables, in which URL, PROMPT, ROOT, TMP and BESIDE are put."""

    def call(client: Client, place: Place, url: str, prompt: str) -> Start:
        beside = str(client.program.parent)
        named = {"URL": url, "PROMPT": prompt, "ROOT": str(place.root), "TMP": str(place.tmp), "BESIDE": beside}

        def filled(text: str) -> str:
            return re.sub(r"\b(URL|PROMPT|ROOT|TMP|BESIDE)\b", lambda found: named[found[1]], text)

        return Start([*client.command, *map(filled, words)], {name: filled(text) for name, text in environment.items()})

    return call


class Running(Generic[R]):
    """A client that was started; `finish` waits for it."""

    def __init__(self, process: subprocess.Popen[bytes], server: ModelServer, logs: Path, kind: type[R]) -> None:
        self.process = process
        self.server = server
        self._logs = logs
        self._kind = kind

    def finish(self, timeout: float = 60) -> R:
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            end_group(self.process)
            raise AssertionError(f"the client was still running after {timeout} s, see {self._logs}") from None
        if self.server.failures:
            raise self.server.failures[0]
        out, errors = ((self._logs / name).read_text("utf-8", "replace") for name in ("stdout", "stderr"))
        return self._kind(code, out, errors, list(self.server.log))


@dataclass(frozen=True)
class Driver(Generic[P, R]):
    """One client: the API that it speaks, and how it is called with a prompt and the model server's address."""

    dialect: Dialect
    call: Callable[[Client, P, str, str], Start]
    kind: type[R] = Run  # type: ignore[assignment]

    def play(self, client: Client, place: P, replies: Sequence[Reply] | Script, *arguments: str, **options: Any) -> R:
        """Run the client from its start to its end; options as for `start`, and `timeout` in seconds."""
        timeout = options.pop("timeout", 60)
        with self.start(client, place, replies, *arguments, **options) as running:
            return running.finish(timeout)

    @contextlib.contextmanager
    def start(
        self,
        client: Client,
        place: P,
        replies: Sequence[Reply] | Script,
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        prompt: str = "begin",
        typed: str = "",
    ) -> Iterator[Running[R]]:
        """Start the client in a process group of its own, which ends with the block at the latest; `typed` is stdin."""
        script = replies if isinstance(replies, Script) else Script(replies)
        logs = _next_folder(place.root / "runs")
        with serve(script, self.dialect, logs / "requests.jsonl") as server:
            start = self.call(client, place, server.url, prompt)
            stdin = logs / "stdin"
            stdin.write_text(typed)
            with stdin.open("rb") as said, (logs / "stdout").open("wb") as out, (logs / "stderr").open("wb") as err:
                process = subprocess.Popen(
                    [*start.command, *arguments],
                    cwd=cwd or place.project,
                    env={**place.environment(), **start.environment, **(environment or {})},
                    stdin=said,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,
                )
            try:
                yield Running(process, server, logs, self.kind)
            finally:
                end_group(process)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End what is left of a process group that we started."""
    for sign, patience in ((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, sign)
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline and _lives(process):
            time.sleep(0.02)
    process.wait()


def _lives(process: subprocess.Popen[bytes]) -> bool:
    process.poll()
    try:
        os.killpg(process.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return _states(process.pid) != {"Z"}


def _states(group: int) -> set[str]:
    """The states of a group's processes, where there is a /proc; the dead that init has still to collect are Z."""
    states = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, its_group, *_ = path.read_text("utf-8", "replace").rpartition(")")[2].split()
            states |= {state} if int(its_group) == group else set()
    return states


def _next_folder(parent: Path) -> Path:
    parent.mkdir(exist_ok=True)
    folder = parent / str(len(list(parent.iterdir())) + 1)
    folder.mkdir()
    return folder
