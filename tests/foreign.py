"""Programs that take no lock: they read a settings file, change it, and write it back in the ways that are common."""

from __future__ import annotations

import json
import os
import random
import threading
from collections.abc import Callable
from pathlib import Path

from tests.conftest import put

Write = Callable[[Path, bytes], None]


def truncating(path: Path, data: bytes) -> None:
    """As most editors and hosts do it."""
    put(path, data)


def renaming(path: Path, data: bytes) -> None:
    """As careful programs do it."""
    os.replace(put(path.with_suffix(".theirs"), data), path)


def numbered(data: bytes | None, number: int) -> bytes:
    """The document with `n` set to the number, and all its other values."""
    return json.dumps({**json.loads(data or b"{}"), "n": number}, indent=2).encode()


class Foreign:
    """Somebody who reads the file, counts its `n` up and writes it back, again and again, until told to stop.

    As only they change `n`, a number that is not the one they wrote last is a write of theirs that was lost. With
    `memory` they write the document back that they read first, and only their number is new. Between two writes they
    pause for up to `pause` seconds.
    """

    def __init__(self, path: Path, write: Write, pause: float, *, memory: bool = False) -> None:
        self.path, self.write, self.pause, self.memory = path, write, pause, memory
        self.random = random.Random(pause)
        self.lost: list[int] = []
        self.torn: list[bytes] = []
        self.last = json.loads(path.read_bytes())["n"]
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work)

    def __enter__(self) -> Foreign:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()
        self._read()

    def _work(self) -> None:
        first = self.path.read_bytes()
        while not self._over.wait(self.random.uniform(0, self.pause)):
            data = self._read()
            if data is not None:
                self.last += 1
                self.write(self.path, numbered(first if self.memory else data, self.last))

    def _read(self) -> bytes | None:
        """The bytes of the file; looks for what is wrong with them."""
        data = self.path.read_bytes()
        try:
            found = json.loads(data)["n"]
        except ValueError:
            self.torn.append(data)
            return None
        if found != self.last:
            self.lost.append(self.last)
        return data
