"""A hook as a host's shell runs it, alone and with a receipt of a trace: the same text that hookctl registers."""

import contextlib
import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

from hookctl import hosts
from hookctl.packs import tracing
from hookctl.packs.programs import load_runner
from hookctl.packs.runner import host_file
from hookctl.settings.targets import Target

from .lab import PYTHON
from .runner_bench import laid_runner

FAR = 9_999_999_999  # no test lasts so long


class TraceLab:
    """The runner's files with trace.py, as they are while hooks are traced, and an empty project."""

    def __init__(self, root: Path) -> None:
        self.root, self.project, self.state = root, root / "project", root / "state"
        (self.project / ".git").mkdir(parents=True)
        self.runtime = root / "runtime"
        shutil.copytree(laid_runner(), self.runtime)
        self.runtime.chmod(0o700)
        runner = load_runner()
        (self.runtime / "trace.py").write_bytes(runner.tracer)
        table = host_file(hosts.load("claude"), [], str(self.state), runner.launcher)
        (self.runtime / "claude.json").write_bytes(table)
        self.started: list[subprocess.Popen[bytes]] = []
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(root), "LANG": "C"}

    def text(self, command: str, event: str = "PreToolUse", until: int = FAR) -> str:
        """What stands in the settings while this command is traced."""
        target = Target(hosts.load("claude"), "user", str(self.root / "settings.json"))
        return tracing.command(command, "abc123", event, target, str(self.runtime), PYTHON, until)

    def start(self, command: str, shell: str = "/bin/sh", **how: Any) -> "subprocess.Popen[bytes]":
        """Start a text as a host does."""
        how = {"env": self.environment, "cwd": self.project, **how}
        self.started.append(subprocess.Popen([shell, "-c", command], **how))
        return self.started[-1]

    def close(self) -> None:
        """End what a test has started, and close what it read from."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    with contextlib.suppress(BrokenPipeError):
                        stream.close()

    def run(self, command: str, **how: Any) -> "subprocess.CompletedProcess[bytes]":
        shell = how.pop("shell", "/bin/sh")
        how = {"env": self.environment, "cwd": self.project, "input": b"", "timeout": 120, **how}
        if "stdin" in how or how["input"] is None:
            del how["input"]
        how = {"capture_output": True, **how}
        return subprocess.run([shell, "-c", command], check=False, **how)

    def both(self, command: str, **how: Any) -> "subprocess.CompletedProcess[bytes]":
        """Run a command alone and traced; sure that the host sees the same, and that there is one receipt more."""
        number = len(self.receipts())
        alone = self.run(command, **how)
        assert len(self.receipts()) == number
        traced = self.run(self.text(command), **how)
        seen = [(each.returncode, each.stdout, each.stderr) for each in (alone, traced)]
        assert seen[0] == seen[1], command
        assert len(self.receipts()) == number + 1, command
        return traced

    def receipts(self) -> list[dict[str, Any]]:
        files = sorted(self.state.glob("guard/*/runs.jsonl"))
        return [json.loads(line) for file in files for line in file.read_bytes().splitlines()]

    @property
    def receipt(self) -> dict[str, Any]:
        return self.receipts()[-1]


def wait_until(is_true: Any) -> None:
    """Wait for what must come, however slow the machine is."""
    end = time.monotonic() + 60
    while not is_true():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.01)


def children_of(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
