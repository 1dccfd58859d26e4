"""How much CPU time a call of the runtime hook takes, against the bare interpreter and against itself."""

import json
import os
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.bench import cpu, medians
from tests.templates.lab import lay
from tests.templates.runner_bench import Bench

PYTHON = shutil.which("python3", path="/usr/bin") or getattr(sys, "_base_executable", sys.executable)
BARE = [PYTHON, "-I", "-S", "-c", "pass"]
SHELL = ["/bin/sh", "-c", ":"]
ROUNDS = 31


def write_transcript(path: Path, size: int, one_line: bool = False) -> Path:
    """Write a transcript of that size, the bulk of it a hole in the file; without a line break if so wanted."""
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}
    entry = {
        "type": "assistant",
        "message": {"role": "assistant", "content": [call, {"type": "text", "text": "x" * 500}]},
    }
    line = json.dumps(entry).encode() + b"\n"
    tail = b"x" * (256 * 1024) if one_line else b"\n" + line * (256 * 1024 // len(line))
    with path.open("wb") as file:
        file.seek(max(0, size - len(tail)))
        file.write(tail)
    return path


class Stop(NamedTuple):
    """A call of the hook that is measured: the command, and the host's JSON."""

    command: list[str]
    stdin: bytes


def stop(hook: Path, project: Path, session: str, transcript: Path | None = None) -> Stop:
    payload = {"session_id": session, "prompt_id": "p", "cwd": str(project)}
    if transcript:
        payload["transcript_path"] = str(transcript)
    return Stop([PYTHON, "-I", "-S", str(hook), "stop", "--host", "claude"], json.dumps(payload).encode())


def run(root: Path) -> Stop:
    """A call of the runner round a command that does nothing."""
    bench = Bench(root)
    words = bench.command("claude", "PreToolUse", ":")
    payload = bench.tool_call("claude", "Bash", {"command": "ls"})
    return Stop([PYTHON, *words[1:]], json.dumps(payload).encode())


def arrange(root: Path) -> tuple[dict[str, Stop], dict[str, str]]:
    """The calls that are measured, and their environment."""
    installed, shared = root / "data", root / "team" / ".hookctl"
    for folder in (installed, shared):
        lay(folder)
    idle, busy = root / "idle", root / "busy"
    idle.mkdir()
    (busy / ".hookctl/run").mkdir(parents=True)
    (busy / ".hookctl/run/task.json").write_text('{"remaining": 2, "heartbeat": "t"}')
    small = write_transcript(root / "small", 256 * 1024)
    large = write_transcript(root / "large", 500_000_000)
    line = write_transcript(root / "line", 500_000_000, one_line=True)
    environment = {
        "PATH": os.defpath,
        "HOME": str(root),
        "HOOKCTL_STATE_DIR": str(root / "state"),
        "MAX_STOP_BLOCKS": "0",
    }
    hook, source = installed / "hook.py", shared / "hook.py"
    return {
        "bare": Stop(BARE, b""),
        "shell": Stop(SHELL, b""),
        "runner": run(root / "runner"),
        "idle": stop(hook, idle, "S1"),
        "decision": stop(hook, busy, "S1"),
        "idle, source": stop(source, idle, "S2"),
        "decision, source": stop(source, busy, "S2"),
        "small": stop(hook, busy, "S3", small),
        "large": stop(hook, busy, "S4", large),
        "line": stop(hook, busy, "S5", line),
    }, environment


def rows() -> list[tuple[str, str, float, str]]:
    """Return (what, yardstick, ratio, aim): medians of runs that take turns."""
    with tempfile.TemporaryDirectory() as folder:
        stops, environment = arrange(Path(folder).resolve())
        calls = {name: partial(cpu, call.command, environment, call.stdin) for name, call in stops.items()}
        medians(calls, 1)  # writes the bytecode
        median = medians(calls, ROUNDS)
    interpreter, transcript = "python3 -I -S -c pass", "256 KiB transcript"
    no_runner = median["bare"] + median["shell"]
    return [
        ("hook, nothing to do", interpreter, median["idle"] / median["bare"], "below 1.3"),
        ("hook, a decision with state", interpreter, median["decision"] / median["bare"], "below 1.4"),
        ("the same without bytecode, idle", interpreter, median["idle, source"] / median["bare"], "below 2.8"),
        ("the same without bytecode", interpreter, median["decision, source"] / median["bare"], "below 2.8"),
        ("runner, its command does nothing", f"{interpreter} + sh -c :", median["runner"] / no_runner, "below 1.6"),
        ("hook, 500 MB transcript", transcript, median["large"] / median["small"], "below 1.2"),
        ("hook, 500 MB in one line", transcript, median["line"] / median["small"], "below 1.2"),
    ]
