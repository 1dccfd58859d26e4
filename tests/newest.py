"""Which clients of the real-client tests are behind, and do the tests pass with the newest?

    python -m tests.newest                        # asks npm and PyPI; 1 if a client is behind
    python -m tests.newest --run --write claude   # its tests with the newest; where they pass, that is written

It asks with npm and pip, as they are set up here. Without --run, --write writes versions that are marked as not run,
and --run runs the tests of these as well. Nothing is written where a test fails. PYTEST_ADDOPTS has further options
for pytest. It ends with 0 if each client is at its newest version, and the tests have passed with it, or do so now.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .e2e.clients import CLIENTS, FILE, for_this_machine

ROOT = Path(__file__).parents[1]


class Unasked(Exception):
    """A registry has no answer; says why."""


def ask(about: Mapping[str, Any]) -> str:
    """The newest version of a client's package that its registry has."""
    package = for_this_machine(about["package"]).split()[0]
    if about.get("registry") == "pypi":
        python = ["--python-version", about["python"]] if "python" in about else []
        said = _run([sys.executable, "-m", "pip", "index", "versions", *python, package])
        found = re.match(r"\S+ \(([^()\s]+)\)", said)
    else:
        said = _run(["npm", "view", package, "version"])
        found = re.fullmatch(r"(\d\S*)\s*", said)
    if not found:
        raise Unasked(f"{package}: no version in the answer {said.strip()[:60]!r}")
    return found[1]


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    except FileNotFoundError:
        raise Unasked(f"{command[0]} is not on the PATH") from None
    except subprocess.TimeoutExpired as error:
        raise Unasked(f"{command[-1]}: no answer within {error.timeout:.0f} s") from None
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise Unasked(f"`{' '.join(command)}` failed: {last}")
    return done.stdout


def passes(name: str, version: str) -> bool:
    """Do all tests of a client pass with this version? What pytest says goes to the terminal."""
    print(f"\n{name} {version}:", flush=True)
    wanted = {"HOOKCTL_TESTS": "all", "HOOKCTL_E2E": "require", "HOOKCTL_TEST_CLIENTS": f"{name}={version}"}
    command = [sys.executable, "-m", "pytest", "-q", "tests/e2e"]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **wanted}).returncode == 0


def write(name: str, version: str, sure: str) -> None:
    """Put a client's version into its table, with the day and how sure it is."""
    before, head, table = FILE.read_text().partition(f"[{name}]\n")
    table, gap, after = table.partition("\n\n")
    values = {"version": f'"{version}"', "seen": str(datetime.date.today()), "sure": f'"{sure}"'}
    for key, value in values.items():
        table = re.sub(rf"(?m)^{key} = .*$", f"{key} = {value}", table)
    FILE.write_text(before + head + table + gap + after)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.newest", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=f"one of {', '.join(CLIENTS)}; none: all")
    parser.add_argument("--run", action="store_true", help="run the tests of those behind, with the newest version")
    parser.add_argument("--write", action="store_true", help=f"write the newest versions into {FILE.relative_to(ROOT)}")
    options = parser.parse_args()
    if unknown := [name for name in options.clients if name not in CLIENTS]:
        parser.error(f"unknown client {unknown[0]}: one of {', '.join(CLIENTS)}")
    due, asked = compare(options.clients or list(CLIENTS))
    passed = True
    for name, newest in due.items():
        outcome = passes(name, newest) if options.run else None
        if options.run:
            print(f"{name} {newest}: {'all tests passed' if outcome else 'tests failed'}")
        if options.write and outcome is not False:
            write(name, newest, "run" if outcome else "not run")
        passed = passed and outcome is True
    return 0 if asked and passed else 1


def compare(names: Sequence[str]) -> tuple[dict[str, str], bool]:
    """Print the table; return those that are behind or not run, with their newest versions, and: did all answer?"""
    due: dict[str, str] = {}
    unasked = 0
    print(f"{'client':12}{'here':12}newest")
    for name in names:
        here, sure = CLIENTS[name]["version"], CLIENTS[name]["sure"]
        try:
            newest = ask(CLIENTS[name])
        except Unasked as error:
            unasked += 1
            newest, state = "?", str(error)
        else:
            state = "behind" if newest != here else "" if sure == "run" else sure
            due.update({name: newest} if state else {})
        print(f"{name:12}{here:12}{newest:12}{state}".rstrip(), flush=True)
    return due, not unasked


if __name__ == "__main__":
    sys.exit(main())
