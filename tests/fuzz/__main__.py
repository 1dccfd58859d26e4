"""Fuzz every door for some seconds: `python -m tests.fuzz --seconds 60 [--target json ...]`; what was found is kept."""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

FINDS = Path(__file__).parent / "finds"
ROOT = Path(__file__).parents[2]


class Tried(NamedTuple):
    """What one door was asked, and what it did not bear."""

    name: str
    inputs: int
    mishandled: int


def fuzz(name: str, seconds: int) -> Tried:
    """Fuzz one door, guided by coverage where atheris is installed, else by chance."""
    with tempfile.TemporaryDirectory(prefix="hookctl-fuzz-") as work:
        before = set(FINDS.glob("*/*"))
        module = "coverage_guided" if importlib.util.find_spec("atheris") else "by_chance"
        command = [sys.executable, "-m", f"tests.fuzz.{module}", name, str(seconds), work, str(FINDS)]
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", cwd=ROOT, check=False, stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=seconds * 3 + 300,
        )  # fmt: skip
        found = set(FINDS.glob("*/*")) - before
        for line in done.stderr.splitlines():
            if line.startswith("FOUND"):
                print(line, file=sys.stderr)
        runs = re.findall(r"^Done (\d+) runs", done.stderr, re.MULTILINE)
        if not runs:
            print(done.stderr[-3000:], file=sys.stderr)
            return Tried(name, 0, max(1, len(found)))
        return Tried(name, int(runs[-1]), len(found))


def main(arguments: list[str]) -> int:
    from tests.fuzz.doors import BY_DOOR

    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=int, default=30, help="for each door")
    parser.add_argument("--target", action="append", choices=sorted(BY_DOOR), help="only this door; may be repeated")
    options = parser.parse_args(arguments)
    start, total, mishandled = time.monotonic(), 0, 0
    for name in options.target or BY_DOOR:
        tried = fuzz(name, options.seconds)
        total, mishandled = total + tried.inputs, mishandled + tried.mishandled
        print(f"{name:12} {tried.inputs:>9} inputs, {tried.mishandled} mishandled", flush=True)
    print(f"{'all':12} {total:>9} inputs, {mishandled} mishandled, {time.monotonic() - start:.0f} s")
    return 1 if mishandled else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
