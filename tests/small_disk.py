"""Installs on disks that are too small, each mounted for it: `unshare -rm python -m tests.small_disk TOP WHERE STEP`.

Prints a line for each fault, and at the end how many installs were tried and how many of them failed as they should.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.disk import INSTALL, UNINSTALL, temporary
from tests.fuzz.world import World, quick

THEIRS = b'{\n  "model": "m",\n  "note": "' + b"x" * 6000 + b'"\n}\n'
PAGES, INODES = 80, 70  # more than an install needs


def mount(where: Path, *options: str) -> None:
    where.mkdir(mode=0o700, parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join(("mode=700", *options)), "none", str(where)], check=True)


def remount(where: Path, *options: str) -> None:
    subprocess.run(["mount", "-o", ",".join(("remount", *options)), str(where)], check=True)


def limits(step: int) -> Iterator[tuple[str, ...]]:
    """Disks from far too small to large enough, then one that may not be written at all."""
    yield from ((f"size={4 * pages}k",) for pages in range(1, PAGES, step))
    yield from ((f"nr_inodes={number}",) for number in range(2, INODES, step))
    yield ("ro",)


def main(top: Path, where: str, step: int) -> None:
    tried = failed = 0
    with quick():
        for number, limit in enumerate(limits(step)):
            place = top / str(number)
            for fault in faults(place, where, limit):
                print(f"{where} {limit}: {fault}")
            tried, failed = tried + 1, failed + (place / "failed").exists()
    print(f"tried {tried} failed {failed}")
    sys.stdout.flush()
    os._exit(0)


def faults(top: Path, where: str, limit: tuple[str, ...]) -> Iterator[str]:
    """What is wrong after an install on such a disk, and after the next one with room enough."""
    world = World(top)
    mount(top / where, "size=1m", "nr_inodes=200")
    settings = world.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_bytes(THEIRS)
    try:
        remount(top / where, *limit)
    except subprocess.CalledProcessError:  # smaller than what lies there
        return
    try:
        said = world.hookctl(*INSTALL, "--json")
        code, text = said.code, said.out
    except AssertionError as error:
        yield f"unexpected: {error}"
        code, text = 3, ""
    if code:
        (top / "failed").touch()
        if code not in (1, 4) or '"message"' not in text:
            yield f"ends with {code}: {text[:200]}"
        if settings.read_bytes() != THEIRS:
            yield f"the settings changed on code {code}"
    remount(top / where, "rw", "size=1m", "nr_inodes=200")
    for command in (INSTALL, UNINSTALL):
        if world.hookctl(*command).code:
            yield f"{command[0]} fails with room enough"
    if settings.read_bytes() != THEIRS:
        yield "uninstall does not give the bytes back"
    if temporary(top):
        yield f"left behind: {temporary(top)}"


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
