"""Tables of rows: rows/NAME.txt, a row a line, cells between ` | `.

In a cell that is a document `\\n`, `\\r`, `\\t`, `\\\\` and `\\u0041` are characters, and `\\xff` is a byte. `${NAME}`
is a text that a line `NAME = ...` has further up. `#` begins a remark. Paths and values are JSON.
"""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent / "rows"
ESCAPED = re.compile(rb"\\(u[0-9a-f]{4}|x[0-9a-f]{2}|[nrt\\])")
NAMED = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"\\": b"\\"}


def read_table(name: str, folder: Path = FOLDER) -> list[list[str]]:
    """The cells of each row."""
    rows: list[list[str]] = []
    texts: dict[str, str] = {}
    for line in (folder / f"{name}.txt").read_text("utf-8").split("\n"):
        named = re.fullmatch(r"([A-Z]+) = (.*)", line)
        if named:
            texts[named[1]] = named[2]
        elif line and not line.startswith("#"):
            text = re.sub(r"\$\{([A-Z]+)\}", lambda name: texts[name[1]], line)
            rows.append(re.sub(r" \|$", " | ", text).split(" | "))
    return rows


def document_of(cell: str) -> bytes:
    """The document that a cell stands for."""

    def character(found: "re.Match[bytes]") -> bytes:
        name = found[1]
        if name[:1] == b"x":
            return bytes([int(name[1:], 16)])
        return chr(int(name[1:], 16)).encode() if name[:1] == b"u" else NAMED[name]

    return ESCAPED.sub(character, cell.encode())


class Edit(NamedTuple):
    """A method of a document and its arguments, as `set ["a", 0] {"b": 1}` has them."""

    method: str
    path: tuple[str | int, ...]
    arguments: tuple[Any, ...]

    @classmethod
    def read(cls, cell: str) -> "Edit":
        method, _, rest = cell.partition(" ")
        path, end = json.JSONDecoder().raw_decode(rest)
        value = rest[end + 1 :]
        return cls(method, tuple(path), (json.loads(value),) if value else ())

    def of(self, document: Any) -> Any:
        """What it makes of a document."""
        return getattr(document, self.method)(self.path, *self.arguments)
