"""How heavy hookctl is, counted: `python -m tests.bench.walk [--checkout DIR]`.

Each command runs as a process of its own in a home of its own, where a settings file stands already. Counted are
functions with a name: no lambdas, comprehensions, class bodies or modules, and no making of a class. A call across is
one whose caller is in another module. `tests/test_weight.py` has the aims, and holds the figures at their number of the
day. One copy of this file can measure any checkout.
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
    "imported": "imported",
    "crossings": "calls across",
    "settings": "opens of settings.json",
    "processes": "processes",
}
Figures = dict[str, dict[str, int]]
_STARTING = ("subprocess.Popen", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "os.exec")
_OPTIMIZED = 0x1  # inspect.CO_OPTIMIZED: the code of a function has it, that of a class or module has not


class Trace:
    """What the profiler and the audit hook of a process see of hookctl."""

    def __init__(self, package: str) -> None:
        self._package = package + os.sep
        self._functions: set[CodeType] = set()
        self.figures = dict.fromkeys(COLUMNS, 0)

    def on_profile(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Count a call, if it is one of hookctl's own functions."""
        if event != "call" or not self._is_counted(frame.f_code):
            return
        module = frame.f_code.co_filename
        self._functions.add(frame.f_code)
        caller = self._calling_module(frame)
        self.figures["functions"] = len(self._functions)
        self.figures["calls"] += 1
        self.figures["crossings"] += caller not in ("", module)

    def on_audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Count an open of a file that is watched, and a process."""
        if event == "open" and isinstance(arguments[0], str):
            self.figures["settings"] += os.path.basename(arguments[0]) == "settings.json"
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
    """The figures of each command, one after the other in one temporary home, where a settings file stands."""
    with tempfile.TemporaryDirectory(prefix="walk-") as folder:
        top = Path(folder).resolve()
        settings = top / "home" / ".claude" / "settings.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(SETTINGS)
        environ = {
            **dict.fromkeys(ORDINARY, "1"), "PATH": os.defpath, "HOME": str(top / "home"), "NO_COLOR": "1",
            "HOOKCTL_STATE_DIR": str(top / "state"), "HOOKCTL_DATA_DIR": str(top / "data"),
        }  # fmt: skip
        return {name: _measure_command(checkout, top, command, environ) for name, command in COMMANDS.items()}


def _measure_command(checkout: Path, top: Path, command: tuple[str, ...], environ: dict[str, str]) -> dict[str, int]:
    result = top / "figures.json"
    script = os.path.abspath(__file__)
    call = [sys.executable, "-P", script, "--trace", str(result), "--checkout", str(checkout), "--", *command]
    done = subprocess.run(call, cwd=top / "home", env=environ, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return json.loads(result.read_text())


def table(figures: Figures) -> list[str]:
    """The figures as lines, a command each; tests/test_weight.py has the aims."""
    rows = [["", *COLUMNS.values()], *([command, *map(str, counts.values())] for command, counts in figures.items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def main() -> None:
    """Measure a checkout, or be the process that is measured."""
    parser = argparse.ArgumentParser(prog="tests.bench.walk", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--checkout", default=str(CHECKOUT), help="default: this one")
    parser.add_argument("--trace", help=argparse.SUPPRESS)
    parser.add_argument("command", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    checkout = Path(options.checkout).resolve()
    if options.trace:
        sys.exit(trace(str(checkout), options.trace, options.command))
    print(*table(measure(checkout)), sep="\n")


if __name__ == "__main__":
    main()
