"""Whether a file has what a record says that we wrote."""

from __future__ import annotations

import json

from hookctl.errors import HookctlError
from hookctl.model import Record
from hookctl.system import files


def has_our_command(path: str, record: Record) -> bool:
    """Whether a file has a command of the record, word for word."""
    text = (read_or_none(path) or b"").decode("utf-8", "replace")
    for entry in record.entries:
        if entry.kind != "element":
            continue
        for ascii_only in (True, False):
            if json.dumps(entry.written["command"], ensure_ascii=ascii_only)[1:-1] in text:
                return True
    return False


def read_or_none(path: str) -> bytes | None:
    """The bytes of a file; None where it cannot be read."""
    try:
        return files.read(path).data
    except HookctlError:
        return None
