"""The runtime hook as a host runs it: a process of its own, with JSON on stdin and nearly no environment."""

import atexit
import contextlib
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hookctl import hosts
from hookctl.packs import guard
from hookctl.packs.programs import load_programs
from tests.served import run_served

TEMPLATES = Path(__file__).parents[2] / "templates" / "guard"
# Of every host, as the configuration has it of one that others' registrations run on.
TABLE = {name: guard.host_table(hosts.load(name))[name] for name in hosts.names()}
PYTHON = (
    os.environ.get("HOOKCTL_PYTHON_UNDER_TEST")
    or shutil.which("python3", path="/usr/bin")
    or getattr(sys, "_base_executable", sys.executable)
)

SPOILT_CONTENTS = {
    "noise": bytes(range(256)) * 1000,
    "nul": b"\0\0",
    "deep": b"[" * 60_000,
    "digits": b'{"remaining": ' + b"9" * 60_000 + b"}",
}
WAKE_TEXT = "<task-notification>\n<task-id>b1</task-id>\n</task-notification>"


class Lab:
    """A data folder with the hook, an empty project and an empty state folder."""

    def __init__(self, root: Path) -> None:
        self.root, self.project = root, root / "project"
        self.use(root / "ours")
        self.state, self.home, self.transcript = root / "state", root / "home", root / "transcript.jsonl"
        self.run = self.project / ".hookctl" / "run"
        for folder in (self.run, self.home):
            folder.mkdir(parents=True)
        link_programs(self.top)
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.home), "HOOKCTL_STATE_DIR": str(self.state)}
        self.payload: dict[str, Any] = {"session_id": "S1", "cwd": str(self.project)}
        self.host, self.python = "claude", PYTHON
        self.folder = self.state / "guard" / name_of(self.project)
        self.user: int | None = None  # who runs the hook, if somebody else
        self.is_served = True  # else the hook is a process from its start
        self.said = ""  # what the hook answered last
        self.wrapped: Any = None  # another tool's hook, run by `hook.py wrap`

    # what an operator, an agent or a host does

    def use(self, top: Path) -> None:
        """Call the launcher in this folder from now on."""
        self.top, self.hook, self.configuration = top, top / "hook.py", top / "guard" / "claude.json"

    def config(self, **knobs: Any) -> "Lab":
        self.configuration.write_text(json.dumps({**knobs, "hosts": TABLE}))
        return self

    def task(self, **values: Any) -> "Lab":
        (self.run / "task.json").write_text(json.dumps(values))
        return self

    def second(self, **knobs: Any) -> str:
        """The name of another registration's configuration: the same, or one of its own if given."""
        guard = self.configuration.parent
        path = guard / f"claude-{len(list(guard.iterdir()))}.json"
        path.write_text(json.dumps({**knobs, "hosts": TABLE}) if knobs else self.configuration.read_text())
        return path.stem

    def mark(self, name: str, text: str = "") -> None:
        (self.run / name).write_text(text)

    def arm(self, until: object = 9_000_000_000) -> None:
        """What `hookctl run start` does for keepalive."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "ACTIVE").write_text(str(until))

    def append(self, entry: Any) -> None:
        self.payload["transcript_path"] = str(self.transcript)
        with self.transcript.open("a") as file:
            file.write((entry if isinstance(entry, str) else json.dumps(entry)) + "\n")

    def says(self, text: str = "I think") -> None:
        self.append(
            {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}}
        )

    def calls(self, command: str, name: str = "Bash") -> None:
        item = {"type": "tool_use", "id": "t", "name": name, "input": {"command": command}}
        self.append({"type": "assistant", "message": {"role": "assistant", "content": [item]}})

    def asks(self, text: str = "please go on", **fields: Any) -> None:
        self.append({"type": "user", "message": {"role": "user", "content": text}, **fields})

    # the hook

    def words(self, config: str = "") -> list[str]:
        """What tells the launcher host and configuration; without a name it is that of `config()`."""
        config = config or self.configuration.stem
        return ["--host", self.host, *(["--config", config] if config != self.host else [])]

    def command(self, event: str, config: str = "") -> list[str]:
        return [self.python, "-I", "-S", str(self.hook), event, *self.words(config)]

    def run_command(
        self, command: list[str], stdin: bytes | None = None, cwd: Path | None = None
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run a command as a host does; without other input it gets the payload."""
        stdin = json.dumps(self.payload).encode() if stdin is None else stdin
        if command[1:3] == ["-I", "-S"] and self.is_served:
            return run_served(command, stdin, self.environment, cwd or self.root, self.user)
        return subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            env=self.environment,
            cwd=cwd or self.root,
            timeout=60,
            check=False,
        )

    def on_a_full_disk(self, event: str, size: int) -> "subprocess.CompletedProcess[bytes]":
        """Run the hook where no file grows beyond so many bytes."""
        limit = f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))"
        code = f"import os, resource, sys; {limit}; os.execv(sys.argv[1], sys.argv[1:])"
        return self.run_command([PYTHON, "-c", code, *self.command(event)])

    def raw(self, event: str, stdin: bytes, config: str = "") -> str:
        """Run the hook; its stdout, once it is sure that the exit status is 0 and stderr empty."""
        done = self.run_command(self.command(event, config), stdin)
        assert (done.returncode, done.stderr) == (0, b""), done
        self.said = done.stdout.decode()
        return self.said

    def call(self, event: str, config: str = "", **fields: Any) -> str:
        return self.raw(event, json.dumps({**self.payload, **fields}).encode(), config)

    def stop(self, active: bool | None = False, config: str = "", **fields: Any) -> str:
        """One stop, as a letter: Allow, Block, Release, H for a turn that is ended."""
        flag = {} if active is None else {"stop_hook_active": active}
        return letter(self.call("stop", config, **flag, **fields))

    def stops(self, flags: str, **fields: Any) -> str:
        return "".join(self.stop({"0": False, "1": True, "-": None}[flag], **fields) for flag in flags)

    def attempt(self, argument: object, tool: str = "Task", **fields: Any) -> str:
        """One tool call that the host asks about, as a letter: Allow, D for refused, E if that ends the turn."""
        stdout = self.call("pre-tool", **{"tool_name": tool, "tool_input": {"prompt": argument}, **fields})
        if not stdout:
            return "A"
        return "E" if json.loads(stdout).get("continue") is False else "D"

    def attempts(self, argument: object, times: int, **fields: Any) -> str:
        return "".join(self.attempt(argument, **fields) for _ in range(times))

    # what it leaves behind

    def log(self) -> list[dict[str, Any]]:
        lines = [path.read_text().splitlines() for path in sorted(self.state.glob("guard/**/events.jsonl"))]
        return [json.loads(line) for part in lines for line in part]

    def codes(self) -> list[str]:
        return [line["code"] for line in self.log()]

    def session_file(self) -> Path:
        (path,) = self.state.glob("guard/*/????????????????.json")
        return path

    def session(self) -> dict[str, Any]:
        return json.loads(self.session_file().read_text())

    def edit(self, **values: object) -> None:
        """Make the session's state what it would be much later."""
        self.session_file().write_text(json.dumps({**self.session(), **values}))

    def tree(self) -> list[Path]:
        """Everything that lies there, but for what Python keeps beside the package's modules."""
        return sorted(path for path in self.root.rglob("*") if "__pycache__" not in path.parts)

    def place(self, where: str) -> Path:
        """A path in the state folder, where P is the project's folder and S the session."""
        return self.state / where.replace("P", self.folder.name).replace("S.", name_of("S1") + ".")

    @property
    def breadcrumb(self) -> Path:
        return self.folder / "RESPAWN_REQUESTED"


def lay(top: Path) -> None:
    """Put the programs into a folder, private as an install makes it, with a guard without any setting."""
    for name, data in load_programs().all.items():
        path = top / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(data)
    (top / "guard").mkdir(mode=0o700)
    (top / "guard" / "claude.json").write_text(json.dumps({"hosts": TABLE}))
    for made in (top, top / "runtime"):
        made.chmod(0o700)


@functools.cache
def laid_programs() -> str:
    """A folder with the programs, laid once; their bytecode is there, as after a first call."""
    folder = tempfile.mkdtemp(prefix="programs-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    lay(Path(folder))
    for package in Path(folder, "runtime").iterdir():
        subprocess.run([PYTHON, "-I", "-S", "-m", "compileall", "-q", str(package)], check=True)
        (package / "__pycache__").chmod(0o700)
    return folder


def link_programs(top: Path) -> None:
    """Put the programs into a folder: a launcher of its own, and links to the packages, which all tests share."""
    laid = Path(laid_programs())
    for folder in (top, top / "runtime", top / "guard"):
        folder.mkdir(0o700)
    for package in (laid / "runtime").iterdir():
        (top / "runtime" / package.name).symlink_to(package)
    for name in ("hook.py", "guard/claude.json"):
        (top / name).write_bytes((laid / name).read_bytes())


def own_programs(top: Path) -> None:
    """Have a copy of the packages in such a folder, which a test may change."""
    for package in (top / "runtime").iterdir():
        if package.is_symlink():
            package.unlink()
            shutil.copytree(Path(laid_programs(), "runtime", package.name), package)


def spoil(path: Path, how: str) -> None:
    """Put something at a path that is not the file one would expect there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if how == "fifo":
        os.mkfifo(path)
    elif how == "folder":
        path.mkdir()
    elif how == "loop":
        path.symlink_to(path.name)
    elif how in ("zero", "full"):
        path.symlink_to(f"/dev/{how}")
    else:
        path.write_bytes(SPOILT_CONTENTS[how])


def package_in(top: Path, name: str = "guard") -> Path:
    """The package of this name that a launcher in this folder starts."""
    (package,) = (top / "runtime").glob(f"{name}_*")
    return package


def name_of(text: str | Path) -> str:
    """The hook's name for a session, or for a folder."""
    text = os.path.realpath(text) if isinstance(text, Path) else text
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def letter(stdout: str) -> str:
    if not stdout:
        return "A"
    answer = json.loads(stdout)
    if answer.get("decision") in ("block", "deny", "continue") or "followup_message" in answer:
        return "B"
    if answer.get("continue") is False:
        return "H"
    assert set(answer) == {"systemMessage"} or answer.get("decision") == "allow", answer
    return "R"


@contextlib.contextmanager
def never_falling(count: Callable[[], int], pause: float) -> Iterator[None]:
    """Meanwhile somebody looks at a count again and again."""
    seen: list[int] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(pause):
            seen.append(count())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
    assert len(seen) > 1 and seen == sorted(seen)


def run_and_kill(command: Sequence[str], environ: Mapping[str, str], payload: object, after: float | None) -> None:
    """Run a hook, and kill it after some seconds; None: never."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environ)
    assert process.stdin
    process.stdin.write(json.dumps(payload).encode())
    process.stdin.close()
    if after is not None:
        time.sleep(after)
        process.kill()
    process.wait(timeout=60)
