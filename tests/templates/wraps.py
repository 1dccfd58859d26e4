"""Another tool's Stop hook as a host runs it through `hook.py wrap`: a process of its own, with JSON on stdin."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from .lab import PYTHON, Lab

DENIAL = """echo '{"decision":"block","reason":"go on"}'"""


class Wrapped:
    """The command of another tool that `hook.py wrap` runs."""

    def __init__(self, lab: Lab, command: str = DENIAL) -> None:
        self.lab, self.command, self.forced = lab, command, False

    def words(self, config: str = "") -> list[str]:
        lab = self.lab
        return [PYTHON, "-I", "-S", str(lab.hook), "wrap", "stop", *lab.words(config), self.command]

    def payload(self, **fields: Any) -> bytes:
        return json.dumps({**self.lab.payload, **fields}).encode()

    def run(self, stdin: bytes | None = None, config: str = "") -> "subprocess.CompletedProcess[bytes]":
        return self.lab.run_command(self.words(config), stdin)

    def stop(self, config: str = "", active: bool | None = None, **fields: Any) -> str:
        """One stop, as a letter: the denial is passed on (B), let go with words (R) or without any (A)."""
        active = self.forced if active is None else active
        letter = self._letter(self.payload(stop_hook_active=active, **fields), config)
        self.forced = letter == "B"
        return letter

    def _letter(self, payload: bytes, config: str) -> str:
        done = self.run(payload, config)
        assert not (done.stderr and b"Traceback" in done.stderr), done
        if done.returncode == 2:
            return "B"
        assert done.returncode == 0, done
        answer = json.loads(done.stdout) if done.stdout.strip() else {}
        is_release = set(answer) == {"systemMessage"} or answer.get("decision") == "allow"
        return "A" if not answer else "R" if is_release else "B"

    def stops(self, times: int, **fields: Any) -> str:
        return "".join(self.stop(**fields) for _ in range(times))


def alive(pid: int) -> bool:
    """Whether a process runs, and is not just waiting to be reaped."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
