"""One lossless edit against reading and writing the same text with json."""

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from hookctl.documents.jsonc import JsonDocument
from tests.bench import cpu, ratio

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


def edited(text: str, plain: str, rounds: int) -> float:
    """Compare an edit of `text` with the yardstick on `plain`."""
    data = text.encode("utf-8")

    def edit() -> float:
        start = time.process_time()
        assert JsonDocument.parse(data).set(("env", "MAX_STOP_BLOCKS"), "3").data
        return time.process_time() - start

    def rewrite() -> float:
        start = time.process_time()
        value = json.loads(plain)
        value["env"]["MAX_STOP_BLOCKS"] = "3"
        assert json.dumps(value, indent=2, ensure_ascii=False)
        return time.process_time() - start

    return ratio(edit, rewrite, rounds)


def installed(count: int, rounds: int) -> float:
    """Compare an install into settings of so many keys with a process that reads and writes them."""
    text = json.dumps({f"key_{at}": f"value number {at} of many" for at in range(count)}, indent=2) + "\n"

    def run(*command: str) -> float:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for path in (folder / ".claude" / "settings.json", folder / "s"):
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
            environ = {"HOME": name, "PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2])}
            return cpu([sys.executable, *command], environ, folder=folder)

    return ratio(lambda: run("-m", "hookctl", "install", "--host", "claude"), lambda: run("-c", REWRITE), rounds)


def rows() -> list[tuple[str, str, float, str]]:
    """What, yardstick, ratio, aim."""
    found = []
    for name, size, rounds in (("10 kB", 10_000, 300), ("1 MB", 1_000_000, 9)):
        text = settings(size)
        found.append((f"lossless edit, {name} ({len(text)} characters)", YARDSTICK, edited(text, text, rounds), AIM))
        what = f"lossless edit, {name} with comments"
        found.append((what, f"{YARDSTICK}, without comments", edited(commented(text), text, rounds), AIM))
    what = f"install into a file of {KEYS} keys, as a process"
    found.append((what, f"a process of {YARDSTICK}", installed(KEYS, 5), KEYS_AIM))
    return found
