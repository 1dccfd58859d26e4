"""How heavy hookctl is, counted: `python -m tests.bench.walk [--json] [--checkout DIR]`.

Each command runs as a process of its own in a home of its own, where a settings file stands already. Counted are
functions with a name: no lambdas, comprehensions, class bodies or modules, and no making of a class. A change of
module is a call in another module than the call before it; a call across is one whose caller is in another module.
Below the commands stand the system calls of a first install that change a file (with strace). `tests/test_weight.py`
holds the figures at their number of the day. One copy of this file can measure any checkout.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

CHECKOUT = Path(os.path.abspath(os.path.join(__file__, os.pardir, os.pardir, os.pardir)))
SETTINGS = '{\n  "model": "opus",\n  "permissions": {\n    "allow": ["Bash(ls:*)"]\n  }\n}\n'
ORDINARY = [f"ORDINARY_{number}" for number in range(31)]  # with the five below about as many as a shell has
COMMANDS = {
    "first install": ("install", "--host", "claude"),
    "install with nothing to do": ("install", "--host", "claude"),
    "doctor": ("doctor", "--host", "claude"),
    "uninstall": ("uninstall", "--host", "claude"),
}
COLUMNS = {
    "functions": "functions called",
    "calls": "calls",
    "modules": "modules",
    "changes": "changes of module",
    "imported": "imported",
    "crossings": "calls across",
    "settings": "opens of settings.json",
    "config": "opens of config.json",
    "processes": "processes",
}
AIMS = {
    "first install": {"functions": 300, "crossings": 350, "settings": 4},
    "install with nothing to do": {"functions": 200, "crossings": 180, "imported": 40},
    "doctor": {"functions": 330, "crossings": 450, "settings": 4, "config": 4},
    "uninstall": {"functions": 300, "crossings": 400},
}
CALLS_AIM = 120
Figures = dict[str, dict[str, int]]
_STARTING = ("subprocess.Popen", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "os.exec")
_OPTIMIZED = 0x1  # inspect.CO_OPTIMIZED: the code of a function has it, that of a class or module has not


class Trace:
    """What the profiler and the audit hook of a process see of hookctl."""

    def __init__(self, package: str) -> None:
        self._package = package + os.sep
        self._functions: set[CodeType] = set()
        self._modules: set[str] = set()
        self._last = ""
        self.figures = dict.fromkeys(COLUMNS, 0)

    def on_profile(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Count a call, if it is one of hookctl's own functions."""
        if event != "call" or not self._is_counted(frame.f_code):
            return
        module = frame.f_code.co_filename
        self._functions.add(frame.f_code)
        self._modules.add(module)
        caller = self._calling_module(frame)
        self.figures["functions"] = len(self._functions)
        self.figures["modules"] = len(self._modules)
        self.figures["calls"] += 1
        self.figures["changes"] += self._last not in ("", module)
        self.figures["crossings"] += caller not in ("", module)
        self._last = module

    def on_audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Count an open of a file that is watched, and a process."""
        if event == "open" and isinstance(arguments[0], str):
            name = os.path.basename(arguments[0])
            self.figures["settings"] += name == "settings.json"
            self.figures["config"] += name == "config.json"
        self.figures["processes"] += event in _STARTING

    def _is_counted(self, code: CodeType) -> bool:
        is_function = code.co_flags & _OPTIMIZED and not code.co_name.startswith("<")
        is_ours = code.co_filename.startswith(self._package) and code.co_filename != f"{self._package}values.py"
        return bool(is_function) and is_ours

    def _calling_module(self, frame: FrameType) -> str:
        """The module of hookctl that made the call, if need be by way of a library; empty for the first one."""
        caller = frame.f_back
        while caller and not caller.f_code.co_filename.startswith(self._package):
            caller = caller.f_back
        return caller.f_code.co_filename if caller else ""


def trace(checkout: str, result: str, command: list[str]) -> int:
    """Run one command of that checkout in this process, and write what it took to `result`."""
    sys.path.insert(0, checkout)
    from hookctl.__main__ import run

    seen = Trace(os.path.join(checkout, "hookctl"))
    sys.addaudithook(seen.on_audit)
    sys.setprofile(seen.on_profile)
    code = run(command)
    sys.setprofile(None)
    seen.figures["imported"] = sum(name.partition(".")[0] == "hookctl" for name in sys.modules)
    Path(result).write_text(json.dumps(seen.figures))
    return code


def measure(checkout: Path) -> Figures:
    """The figures of each command, one after the other in one temporary home."""
    with tempfile.TemporaryDirectory(prefix="walk-") as folder:
        top = Path(folder).resolve()
        environ = _prepare(top)
        return {name: _measure_command(checkout, top, command, environ) for name, command in COMMANDS.items()}


def _prepare(top: Path) -> dict[str, str]:
    """Make a home with a settings file in it; the environment for commands there."""
    settings = top / "home" / ".claude" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(SETTINGS)
    return {
        **dict.fromkeys(ORDINARY, "1"), "PATH": os.defpath, "HOME": str(top / "home"), "NO_COLOR": "1",
        "HOOKCTL_STATE_DIR": str(top / "state"), "HOOKCTL_DATA_DIR": str(top / "data"),
    }  # fmt: skip


def count_calls(checkout: Path) -> int | None:
    """The system calls of a first install that change a file; None where strace does not work."""
    from tests import syscalls  # late: a process that is traced does not find it

    if syscalls.unavailable():
        return None
    with tempfile.TemporaryDirectory(prefix="walk-") as folder:
        top = Path(folder).resolve()
        environ = {**_prepare(top), "PYTHONPATH": str(checkout), "PYTHONSAFEPATH": "1"}
        calls = syscalls.recorded(top, top / "log", *COMMANDS["first install"], environ=environ)
        return sum(call.changes for call in calls)


def _measure_command(checkout: Path, top: Path, command: tuple[str, ...], environ: dict[str, str]) -> dict[str, int]:
    result = top / "figures.json"
    script = os.path.abspath(__file__)
    call = [sys.executable, "-P", script, "--trace", str(result), "--checkout", str(checkout), "--", *command]
    done = subprocess.run(call, cwd=top / "home", env=environ, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return json.loads(result.read_text())


def table(figures: Figures, calls: int | None) -> list[str]:
    """The figures as lines, a command each, with their aims; and the system calls."""
    rows = [["", *COLUMNS.values()]]
    for command, counts in figures.items():
        aims = AIMS.get(command, {})
        cells = [f"{counts[key]} (<= {aims[key]})" if key in aims else str(counts[key]) for key in COLUMNS]
        rows.append([command, *cells])
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    number = "unknown" if calls is None else calls
    lines.append(f"system calls of a first install that change a file: {number} (<= {CALLS_AIM})")
    return lines


def main() -> None:
    """Measure a checkout, or be the process that is measured."""
    parser = argparse.ArgumentParser(prog="tests.bench.walk", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument("--checkout", default=str(CHECKOUT), help="default: this one")
    parser.add_argument("--trace", help=argparse.SUPPRESS)
    parser.add_argument("command", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    checkout = Path(options.checkout).resolve()
    if options.trace:
        sys.exit(trace(str(checkout), options.trace, options.command))
    figures, calls = measure(checkout), count_calls(checkout)
    print(
        json.dumps({**figures, "system calls": calls}, indent=2) if options.json else "\n".join(table(figures, calls))
    )


if __name__ == "__main__":
    main()
