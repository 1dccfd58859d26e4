"""Fuzz one door, guided by coverage: `python -m tests.fuzz DOOR SECONDS`; what was found is kept in finds/."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import sys
import tempfile
import traceback
from pathlib import Path

import atheris

LONGEST = 8 * 1024
MOST_FINDS = 40
FINDS = Path(__file__).parent / "finds"


def main(name: str, seconds: str) -> None:
    work = tempfile.mkdtemp(prefix="hookctl-fuzz-")
    with atheris.instrument_imports(include=["hookctl", "guard_under_test"]), contextlib.ExitStack() as stack:
        from tests.fuzz.doors import BY_DOOR, knock
        from tests.fuzz.world import World, quick

        stack.enter_context(quick())
        door = BY_DOOR[name]
        world = World(Path(tempfile.mkdtemp(dir=work)))
        door.prepare(world)
        seeds = Path(work) / f"seeds-{name}"
        seeds.mkdir()
        for number, data in enumerate(door.seeds()):
            if len(data) <= LONGEST:
                (seeds / str(number)).write_bytes(data)
        known: set[str] = set()

        def one_input(data: bytes) -> None:
            try:
                knock(door, world, data)
            except Exception as error:
                keep(error, data)

        def keep(error: Exception, data: bytes) -> None:
            """One input for each place that an exception comes from."""
            frame = traceback.extract_tb(error.__traceback__)[-1]
            words = " ".join(str(error).split(":")[0].split()[:4])
            label = f"{type(error).__name__} {Path(frame.filename).name}:{frame.name} {words}"
            if label in known or len(known) >= MOST_FINDS:
                return
            known.add(label)
            path = FINDS / name / hashlib.sha256(label.encode()).hexdigest()[:12]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            sys.stderr.write(f"FOUND {name} {path.name} {label}: {error}\n"[:1500])

        with contextlib.suppress(Exception):  # the fuzzer begins with the same input
            knock(door, world, b"")  # what is imported late counts for no input's time
        gc.freeze()
        options = [f"-max_total_time={seconds}", f"-max_len={LONGEST}", "-timeout=60", "-rss_limit_mb=4096"]
        os.environ.setdefault("PYTHONHASHSEED", "0")
        atheris.Setup(["fuzz", str(seeds), *options, f"-artifact_prefix={work}/"], one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
