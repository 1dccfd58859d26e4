"""One run of the real Claude Code, headless, in a place of its own, against a scripted model."""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from .clients import Client
from .dialects import Call, Reply, anthropic
from .model_server import Logged, ModelServer, Script, serve

_KEY = "sk-ant-api03-made-up-for-tests-" + "0" * 24
_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
_QUIET = (
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_TELEMETRY",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_BUG_COMMAND",
    "DISABLE_COST_WARNINGS",
)


@dataclass(frozen=True)
class Place:
    """Everything that one test may touch: a home, a project and a folder for temporary files, all of its own."""

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
        return self.home / ".claude" / "settings.json"

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


class Run(NamedTuple):
    """What one run left: its requests, its stream of JSON lines and its exit code."""

    code: int
    lines: list[dict[str, Any]]
    errors: str
    log: list[Logged]

    @property
    def requests(self) -> int:
        """How often the main agent asked the model."""
        return self.count("main")

    @property
    def result(self) -> str | None:
        """The reply's text as the user gets it; Claude Code throws it away where it overrides a hook."""
        return self.ending.get("result")

    @property
    def session(self) -> str:
        return self.ending["session_id"]

    @property
    def ending(self) -> dict[str, Any]:
        """The stream's last result line."""
        return next((line for line in reversed(self.lines) if line.get("type") == "result"), {})

    @property
    def texts(self) -> list[str]:
        """What the main agent said, as the stream showed it."""
        blocks = [block for line in self.lines if line["type"] == "assistant" for block in line["message"]["content"]]
        return [block["text"] for block in blocks if block["type"] == "text"]

    @property
    def was_overridden(self) -> bool:
        """Whether Claude Code ended the turn against a hook's block."""
        return any(line["key"] == "stop-hook-block-cap" for line in self.system_lines("notification"))

    def hooks(self, event: str) -> list[dict[str, Any]]:
        """How each call of a hook on this event ended."""
        return [line for line in self.system_lines("hook_response") if line["hook_event"] == event]

    def count(self, kind: str) -> int:
        return sum(1 for entry in self.log if entry.kind == kind)

    def system_lines(self, subtype: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line.get("type") == "system" and line.get("subtype") == subtype]


class Running:
    """A client that was started; `finish` waits for it."""

    def __init__(self, process: subprocess.Popen[bytes], server: ModelServer, out: Path, err: Path) -> None:
        self.process = process
        self.server = server
        self._out = out
        self._err = err

    def finish(self, timeout: float = 60) -> Run:
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            end_group(self.process)
            raise AssertionError(f"the client was still running after {timeout} s, see {self._out}") from None
        if self.server.failures:
            raise self.server.failures[0]
        lines = [json.loads(line) for line in self._out.read_text("utf-8").splitlines() if line.startswith("{")]
        return Run(code, lines, self._err.read_text("utf-8", "replace"), list(self.server.log))


def make_place(root: Path, *, own_folders: bool = False) -> Place:
    """Make a home as it is after Claude Code's own first start, and an empty project."""
    place = Place(root, own_folders)
    for folder in (place.home / ".claude", place.project, place.tmp):
        folder.mkdir(parents=True)
    trust = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    state = {
        "hasCompletedOnboarding": True,
        "customApiKeyResponses": {"approved": [_KEY[-20:]]},
        "projects": {str(place.project): trust},
    }
    (place.home / ".claude.json").write_text(json.dumps(state))
    return place


def play(
    client: Client,
    place: Place,
    replies: Sequence[Reply] | Script,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    prompt: str = "begin",
    timeout: float = 60,
) -> Run:
    """Run the client from its start to its end."""
    with start(client, place, replies, *arguments, environment=environment, cwd=cwd, prompt=prompt) as running:
        return running.finish(timeout)


@contextlib.contextmanager
def start(
    client: Client,
    place: Place,
    replies: Sequence[Reply] | Script,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    prompt: str = "begin",
) -> Iterator[Running]:
    """Start the client in a process group of its own, which ends with the block at the latest."""
    script = replies if isinstance(replies, Script) else Script(replies)
    logs = _next_folder(place.root / "runs")
    with serve(script, anthropic, logs / "requests.jsonl") as server:
        out, err = logs / "stdout.jsonl", logs / "stderr.txt"
        command = [str(client.program), "-p", prompt, "--output-format", "stream-json", "--verbose"]
        with out.open("wb") as out_file, err.open("wb") as err_file:
            process = subprocess.Popen(
                [*command, "--include-hook-events", *arguments],
                cwd=cwd or place.project,
                env={**place.environment(), **_client_environment(place, server.url), **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=out_file,
                stderr=err_file,
                start_new_session=True,
            )
        try:
            yield Running(process, server, out, err)
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
    return True


def _client_environment(place: Place, url: str) -> dict[str, str]:
    return {
        "ANTHROPIC_API_KEY": _KEY,
        "ANTHROPIC_BASE_URL": url,
        "CLAUDE_CODE_MAX_RETRIES": "0",
        "CLAUDE_CODE_TMPDIR": str(place.tmp),
        **dict.fromkeys(_QUIET, "1"),
    }


def _next_folder(parent: Path) -> Path:
    parent.mkdir(exist_ok=True)
    folder = parent / str(len(list(parent.iterdir())) + 1)
    folder.mkdir()
    return folder


def bash(command: str, **more: Any) -> Call:
    """Return a call of the Bash tool; the settings must allow the command."""
    return Call("Bash", {"command": command, "description": "a step", **more})


def subagent(marker: str) -> Call:
    """Return a call that starts a subagent and waits for it; its prompt carries the marker."""
    task = {"description": "look", "prompt": f"{marker}: look", "subagent_type": "general-purpose"}
    return Call("Task", {**task, "run_in_background": False})


def transcript(place: Place, session: str, config: Path | None = None) -> list[dict[str, Any]]:
    """Return a session's transcript as Claude Code wrote it."""
    path = next((config or place.home / ".claude").glob(f"projects/*/{session}.jsonl"))
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
