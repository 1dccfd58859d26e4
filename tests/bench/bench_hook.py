"""How much CPU time a call of the runtime hook takes, against the bare interpreter and against itself."""

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HOOK = Path(__file__).parents[2] / "templates" / "guard" / "hook.py"
PYTHON = shutil.which("python3", path="/usr/bin") or getattr(sys, "_base_executable", sys.executable)
BARE = [PYTHON, "-I", "-S", "-c", "pass"]
ROUNDS = 31


def cpu(command: list[str], stdin: bytes, environment: dict[str, str]) -> float:
    """Run a command; its CPU seconds, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=stdin, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


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


def rows() -> list[tuple[str, str, float, str]]:
    """Return (what, yardstick, ratio, aim): medians of runs that take turns."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        hook = Path(shutil.copy(HOOK, root))
        for name in ("idle", "busy/.hookctl/run"):
            (root / name).mkdir(parents=True)
        (root / "busy/.hookctl/run/task.json").write_text('{"remaining": 2, "heartbeat": "t"}')
        environment = {
            "PATH": os.defpath,
            "HOME": folder,
            "HOOKCTL_STATE_DIR": str(root / "state"),
            "MAX_STOP_BLOCKS": "0",
        }

        def stop(project: str, **fields: Any) -> tuple[list[str], bytes]:
            payload = {"session_id": "S1", "prompt_id": "p", "cwd": str(root / project), **fields}
            return [PYTHON, "-I", "-S", str(hook), "stop", "--host", "claude"], json.dumps(payload).encode()

        def with_transcript(name: str, size: int, one_line: bool = False) -> tuple[list[str], bytes]:
            path = write_transcript(root / name, size, one_line)
            return stop("busy", session_id=name, transcript_path=str(path))

        cases = {
            "bare": (BARE, b""),
            "nothing": stop("idle"),
            "state": stop("busy"),
            "256 KiB": with_transcript("small", 256 * 1024),
            "500 MB": with_transcript("large", 500_000_000),
            "500 MB, one line": with_transcript("line", 500_000_000, one_line=True),
        }
        times: dict[str, list[float]] = {name: [] for name in cases}
        for _ in range(ROUNDS):
            for name, (command, stdin) in cases.items():
                times[name].append(cpu(command, stdin, environment))
    median = {name: statistics.median(values) for name, values in times.items()}
    interpreter = "python3 -I -S -c pass"
    return [
        ("hook, nothing to do", interpreter, median["nothing"] / median["bare"], "below 1.5"),
        ("hook, a decision with state", interpreter, median["state"] / median["bare"], "below 2.5"),
        ("hook, 500 MB transcript", "256 KiB transcript", median["500 MB"] / median["256 KiB"], "below 1.2"),
        ("hook, 500 MB in one line", "256 KiB transcript", median["500 MB, one line"] / median["256 KiB"], "below 1.2"),
    ]


if __name__ == "__main__":
    for what, yardstick, ratio, aim in rows():
        print(f"{what:30} {ratio:5.2f} x {yardstick:24} {aim}")
