"""One lossless edit against reading and writing the same text with json: `python -m tests.bench.bench_documents`."""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hookctl.documents.jsonc import JsonDocument

AIM = "below 4"
KEYS, KEYS_AIM = 60_000, "below 6"
REWRITE = "import json; v = json.loads(open('s').read()); open('o', 'w').write(json.dumps(v, indent=2))"
YARDSTICK = "json.loads + json.dumps(indent=2)"


def settings(size: int) -> str:
    """Make a settings file of about that many characters, in the form that Claude Code writes."""
    count = size // 400
    value: dict[str, Any] = {
        "$schema": "https://json.schemastore.org/claude-code-settings.json",
        "env": {f"TOOL_{at}": f"value {at}" for at in range(count // 2)},
        "permissions": {
            "allow": [f"Bash(tool-{at} run:*)" for at in range(count)],
            "deny": [f"Read(./secrets/{at}/**)" for at in range(count // 2)],
        },
        "hooks": {
            event: [
                {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": f"~/{at}.sh", "timeout": 10}]}
                for at in range(count // 2)
            ]
            for event in ("PreToolUse", "PostToolUse", "Stop")
        },
    }
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def commented(text: str) -> str:
    """Give every tenth line a remark, as in a hand-kept file."""
    return "\n".join(f"{line} // why" if at % 10 == 1 else line for at, line in enumerate(text.split("\n")))


def ratio(text: str, plain: str, rounds: int) -> float:
    """Compare an edit of `text` with the yardstick on `plain`, taking turns; medians of CPU time."""
    data = text.encode("utf-8")

    def edit() -> None:
        assert JsonDocument.parse(data).set(("env", "MAX_STOP_BLOCKS"), "3").data

    def rewrite() -> None:
        value = json.loads(plain)
        value["env"]["MAX_STOP_BLOCKS"] = "3"
        assert json.dumps(value, indent=2, ensure_ascii=False)

    times: dict[Callable[[], None], list[float]] = {edit: [], rewrite: []}
    for _ in range(rounds):
        for run, taken in times.items():
            start = time.process_time()
            run()
            taken.append(time.process_time() - start)
    return statistics.median(times[edit]) / statistics.median(times[rewrite])


def processor_time(command: list[str], folder: Path) -> float:
    """Run a command in a folder that is its home, and tell its CPU time."""
    names = {"XDG_CONFIG_HOME": "c", "XDG_DATA_HOME": "d", "XDG_STATE_HOME": "st", "CLAUDE_CONFIG_DIR": ".claude"}
    env = {**os.environ, "HOME": str(folder), **{name: str(folder / path) for name, path in names.items()}}
    env["PYTHONPATH"] = str(Path(__file__).parents[2])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def process_ratio(count: int, rounds: int) -> float:
    """Compare an install into settings of so many keys with a process that reads and writes them, taking turns."""
    text = json.dumps({f"key_{at}": f"value number {at} of many" for at in range(count)}, indent=2) + "\n"
    times: dict[str, list[float]] = {"install": [], "rewrite": []}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / ".claude").mkdir()
            for path in (folder / ".claude" / "settings.json", folder / "s"):
                path.write_text(text)
            times["install"].append(processor_time(["-m", "hookctl", "install", "--host", "claude"], folder))
            times["rewrite"].append(processor_time(["-c", REWRITE], folder))
    return statistics.median(times["install"]) / statistics.median(times["rewrite"])


def rows() -> list[tuple[str, str, float, str]]:
    """What, yardstick, ratio, aim."""
    found = []
    for name, size, rounds in (("10 kB", 10_000, 300), ("1 MB", 1_000_000, 9)):
        text = settings(size)
        found.append((f"lossless edit, {name} ({len(text)} characters)", YARDSTICK, ratio(text, text, rounds), AIM))
        what = f"lossless edit, {name} with comments"
        found.append((what, f"{YARDSTICK}, without comments", ratio(commented(text), text, rounds), AIM))
    what = f"install into a file of {KEYS} keys, as a process"
    found.append((what, f"a process of {YARDSTICK}", process_ratio(KEYS, 5), KEYS_AIM))
    return found


if __name__ == "__main__":
    for what, yardstick, measured, aim in rows():
        print(f"{what}: {measured:.2f} x {yardstick} ({aim})")
