"""Chooses the module for a settings format, by the format's name in a host file."""

from functools import lru_cache
from importlib import import_module

from hookctl.documents import LISTED, Document
from hookctl.documents.jsonc import JsonDocument, PluginDocument
from hookctl.system.files import digest

# The formats that are a program of ours with the settings in it, and the host that loads it.
PROGRAMS = {"plugin": "opencode", "extension": "pi"}

# The SHA-256 of plugins that hookctl's record says we wrote.
_OURS: set[str] = set()


def remember(digest: str) -> None:
    """Take a plugin with this SHA-256 for ours, whichever version of hookctl wrote it."""
    _OURS.add(digest)


@lru_cache(maxsize=16)  # as many settings files as there are hosts
def parse(format: str, data: bytes, *, where: str = "") -> Document:
    """The document in a settings file's bytes; errors name `where`, line and column.

    A document never changes, so the same bytes are parsed only once in a run. A format with a
    listing is the one before the colon.
    """
    format, _, listing = format.partition(LISTED)
    if listing:
        from hookctl.documents.listed import ListedDocument, Listing  # late: few hosts have a list

        return ListedDocument(parse(format, data, where=where), Listing.parse(listing))
    if format in PROGRAMS:
        is_ours = digest(data) in _OURS
        return PluginDocument.parse(data, where=where, host=PROGRAMS[format], is_ours=is_ours)
    if format in ("toml", "yaml", "rules"):
        module = import_module(f"hookctl.documents.{format}")  # late, too
        format_class: type[Document] = getattr(module, f"{format.title()}Document")
        return format_class.parse(data, where=where)
    return JsonDocument.parse(data, where=where)
