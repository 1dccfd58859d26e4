"""One table of figures, measured now: `python -m tests.figures`; `--write` puts it into docs/security.md.

Each row stands for some test files. What their helpers count (faults, rounds, inputs) is read from files that
the run leaves; where they count nothing, each case is one.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.__main__ import fuzz
from tests.fuzz.doors import BY_DOOR
from tests.museum.groups import GROUPS

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "security.md"
HEAD = ["| what | tried | outcome |", "| --- | --- | --- |"]


class Row(NamedTuple):
    """A line of the table: what is counted, the tests behind it, and what it is called if nothing fails."""

    what: str
    counted: str  # the name in `tests.counting`; empty: each case is one
    files: tuple[str, ...]
    well: str


ROWS = [
    Row("fault points: a call that changes a file kills the run or fails; disks without room", "faults",
        ("test_crash.py", "test_syscalls.py", "test_pending_run.py", "test_odd_inputs.py"), "all survived"),
    Row("rounds of several programs that write at once", "rounds", ("test_races.py", "test_interleaving.py"),
        "nothing lost"),
    Row(f"inputs of the fuzzer, at {len(BY_DOOR)} doors", "inputs", ("fuzz",), "none mishandled"),
    Row("broken settings files, packs and records", "",
        ("test_hostile_settings.py", "test_odd_inputs.py", "documents/test_refusals.py",
         "documents/test_yaml_refusals.py"), "all refused by their place, nothing written"),
    Row("hostile repositories", "",
        ("test_hostile_repository.py", "test_root_project.py", "test_known_programs.py"),
        "all kept out"),
    Row("hostile users of the machine", "", ("test_whose.py", "templates/test_whose_project.py"), "all kept out"),
    Row("hostile packs", "", ("test_consent.py", "test_trust.py"), "all kept out"),
    Row(f"scenes of the museum's {len(GROUPS)} groups", "", ("museum",), "all passed"),
]  # fmt: skip


class Ran(NamedTuple):
    """What one run of pytest came to."""

    passed: int
    failed: int
    skipped: int
    counts: dict[str, int]


def run(files: tuple[str, ...], environ: dict[str, str]) -> Ran:
    """Run these test files in a process of their own."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        paths = [str(ROOT / "tests" / name) for name in files if (ROOT / "tests" / name).exists()]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *paths]
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False,
            env={**os.environ, **environ, "PYTHONPATH": str(ROOT), "HOOKCTL_TEST_COUNTS": folder},
        )  # fmt: skip
        if not report.exists():
            raise SystemExit(done.stdout + done.stderr)
        cases = list(ElementTree.parse(report).iter("testcase"))
        failed = sum(1 for case in cases if case.find("failure") is not None or case.find("error") is not None)
        skipped = sum(1 for case in cases if case.find("skipped") is not None)
        if failed:
            print(done.stdout[-4000:], file=sys.stderr)
        counts: dict[str, int] = {}
        for path in Path(folder).glob("*.json"):
            for name, number in json.loads(path.read_text()).items():
                counts[name] = counts.get(name, 0) + number
        return Ran(len(cases) - failed - skipped, failed, skipped, counts)


def figure(row: Row, options: argparse.Namespace) -> tuple[int, int]:
    """How much was tried for a row, and how much of it went wrong."""
    environ = {
        "HOOKCTL_TESTS": "all",
        "HOOKCTL_TEST_ROUNDS": str(options.rounds),
        "HOOKCTL_TEST_STRIDE": str(options.stride),
    }
    ran = run(row.files, environ)
    tried = ran.counts.get(row.counted, 0) if row.counted else ran.passed + ran.failed
    failed = ran.failed
    if row.counted == "inputs" and options.seconds:
        for name in BY_DOOR:
            done = fuzz(name, options.seconds)
            tried, failed = tried + done.inputs, failed + done.mishandled
    if ran.skipped:
        print(f"{row.what}: {ran.skipped} cases cannot run on this machine", file=sys.stderr)
    return tried, failed


def line(row: Row, tried: int, failed: int) -> str:
    return f"| {row.what} | {tried:,} | {f'**{failed} failed**' if failed else row.well} |"


def renewed(page: str, table: list[str], command: str) -> str:
    """The page with this table, and with the command that it comes from."""
    lines = re.sub(r"`python -m tests\.figures[^`]*`", f"`{command}`", page).splitlines()
    begin = lines.index(HEAD[0])
    end = next((n for n in range(begin, len(lines)) if not lines[n].startswith("|")), len(lines))
    return "\n".join([*lines[:begin], *table, *lines[end:]]) + "\n"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.figures", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="of each race")
    parser.add_argument("--stride", type=int, default=41, help="1 tries every fault, N every Nth")
    parser.add_argument("--seconds", type=int, default=10, help="of the fuzzer, for each door")
    parser.add_argument("--write", action="store_true", help="put the table into docs/security.md")
    options = parser.parse_args(arguments)
    table, wrong = list(HEAD), 0
    print("\n".join(HEAD), flush=True)
    for row in ROWS:
        tried, failed = figure(row, options)
        wrong += failed + (tried == 0)
        table.append(line(row, tried, failed))
        print(table[-1], flush=True)
    if options.write and not wrong:
        amounts = f"--rounds {options.rounds} --stride {options.stride} --seconds {options.seconds}"
        PAGE.write_text(renewed(PAGE.read_text(), table, f"python -m tests.figures {amounts}"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
