"""One lossless edit against reading and writing the same text with json: `python tests/bench/bench_documents.py`."""

import json
import statistics
import time
from collections.abc import Callable
from typing import Any

from hookctl.documents.jsonc import JsonDocument

AIM = "below 4"
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


def rows() -> list[tuple[str, str, float, str]]:
    """What, yardstick, ratio, aim."""
    found = []
    for name, size, rounds in (("10 kB", 10_000, 300), ("1 MB", 1_000_000, 9)):
        text = settings(size)
        found.append((f"lossless edit, {name} ({len(text)} characters)", YARDSTICK, ratio(text, text, rounds), AIM))
        what = f"lossless edit, {name} with comments"
        found.append((what, f"{YARDSTICK}, without comments", ratio(commented(text), text, rounds), AIM))
    return found


if __name__ == "__main__":
    for what, yardstick, measured, aim in rows():
        print(f"{what}: {measured:.2f} x {yardstick} ({aim})")
