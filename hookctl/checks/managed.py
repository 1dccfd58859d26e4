"""Managed settings, which hookctl only reads: can the host use them?"""

from __future__ import annotations

import glob
import sys
from collections.abc import Iterator

from hookctl import files
from hookctl.checks import Finding, Here
from hookctl.checks.settings import wrong_keys
from hookctl.documents import formats
from hookctl.errors import HookctlError
from hookctl.hosts import reading


def check(here: Here) -> Iterator[Finding]:
    """A managed file that is no JSON keeps the host from starting; a bad key there costs only itself."""
    for pattern in here.host.data["files"].get("managed", {}).get(sys.platform, []):
        for path in sorted(glob.glob(pattern)):
            yield from _one(here, path)


def _one(here: Here, path: str) -> Iterator[Finding]:
    fix, title = "Ask whoever manages this machine.", here.host.title
    try:
        document = formats.parse(here.host.format, files.read(path).data or b"{}", where=path)
        reading.require(here.host, document)
    except HookctlError as error:
        where = f"line {error.line}, column {error.column}: " if error.line else ""
        message = f"{where}{error.message}; {title} does not start with such managed settings"
        yield here.find("managed_invalid", "error", message, fix, path)
        return
    for name, wrong, _ in wrong_keys(here.host, document):
        message = f"{name} {wrong}; {title} drops that key of the managed settings"
        yield here.find("wrong_type", "warning", message, fix, path)
