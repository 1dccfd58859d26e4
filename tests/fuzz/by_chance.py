"""One door without atheris: seeds that are bent by chance, as many as the time allows."""

from __future__ import annotations

import hashlib
import random
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.doors import BY_DOOR, knock
from tests.fuzz.world import World, quick

SPICE = [b"\0", b"\xff", b"{", b"}", b"[" * 300, b'"', b"\r", b"9" * 40, b"null", b"-", b"#", b"/*", b",", b":", b"&a"]


def bent(data: bytes, chance: random.Random) -> bytes:
    """The bytes with a few pieces cut, doubled or replaced."""
    for _ in range(chance.randrange(6)):
        start = chance.randrange(len(data) + 1)
        stop = min(len(data), start + chance.randrange(60))
        middle = chance.choice([b"", data[start:stop] * 2, chance.choice(SPICE), chance.randbytes(3)])
        data = data[:start] + middle + data[stop:]
    return data


def main(name: str, seconds: str, work: str, finds: str) -> None:
    door, chance, known, tried = BY_DOOR[name], random.Random(name), set(), 0
    end = time.monotonic() + int(seconds)
    with quick():
        world = World(Path(tempfile.mkdtemp(dir=work)))
        door.prepare(world)
        seeds = list(door.seeds())
        while time.monotonic() < end:
            data, tried = bent(chance.choice(seeds), chance), tried + 1
            try:
                knock(door, world, data)
            except Exception as error:
                label = f"{type(error).__name__} {str(error)[:60]}"
                if label not in known:
                    known.add(label)
                    path = Path(finds) / name / hashlib.sha256(label.encode()).hexdigest()[:12]
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(data)
                    sys.stderr.write(f"FOUND {name} {path.name} {label}\n")
    sys.stderr.write(f"Done {tried} runs in {seconds} second(s)\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
