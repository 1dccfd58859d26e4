"""Every settings file that hookctl writes, as the hosts' documents have it: where it lies and what stands in it.

Written down here and not taken from the hosts' data files, so that the tests have a second word on them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from tests.documents.table import document_of
from tests.texts import rows

CORPUS = Path(__file__).parent / "corpus"


class Kind(NamedTuple):
    """A kind of settings file: that of one host in one of the ways in which it may stand."""

    name: str  # of its corpus and of its documented shape
    host: str
    files: dict[str, str]  # by scope, below the folder of a test
    stop: tuple[str, ...]  # where the list of the guard's stop hooks is; with `event`, the list of all, and the event
    format: str = "json"
    comments: bool = False
    byte_order_mark: bool = True  # whether the host reads a file that begins with one
    seed: str = ""  # what makes the host's settings stand this way; empty: they do without any file
    flat: bool = False  # the list holds handlers, and no groups of them
    event: str = ""  # the field of a hook with its event, where one list has all of them; `flat` then, too

    @property
    def suffix(self) -> str:
        return next(iter(self.files.values())).rpartition(".")[2]

    def path(self, top: Path, scope: str) -> Path:
        return top / self.files[scope]

    def document(self, hooks: list[Any]) -> Any:
        """A document with these stop hooks, or groups of them."""
        if self.event:
            hooks = [{self.event: self.stop[-1], **hook} for hook in hooks]
        value: Any = hooks
        for key in reversed(self.stop[:-1] if self.event else self.stop):
            value = {key: value}
        return value

    def corpus(self) -> list[Path]:
        """The look-alikes of this kind that can be edited."""
        return sorted((CORPUS / self.name).glob(f"*.{self.suffix}"))


def _scope(file: str) -> str:
    return "user" if file.startswith("home/") else "local" if ".local." in file else "project"


def _read(name: str, host: str, format: str, stop: str, special: str, files: str, seed: str) -> Kind:
    words = special.split(", ")
    event = next((word.removeprefix("event ") for word in words if word.startswith("event ")), "")
    return Kind(
        name, host, {_scope(file): file for file in files.split(", ")}, tuple(stop.split()), format,
        "comments" in words, "no byte order mark" not in words, "" if seed == "-" else document_of(seed).decode(),
        "flat" in words, event,
    )  # fmt: skip


KINDS = [_read(*row) for row in rows("hostfiles")]
BY_NAME = {kind.name: kind for kind in KINDS}
