"""From a format's name, as a host's file has it, to the module that reads and edits it."""

from __future__ import annotations

from functools import lru_cache

from hookctl.documents import Document
from hookctl.documents.jsonc import JsonDocument


def renewed(document: Document) -> Document:
    """The document with the code around its settings as this version has it; only a plugin has any."""
    return document.renewed() if hasattr(document, "renewed") else document


@lru_cache(maxsize=16)  # as many settings files as there are hosts
def parse(format: str, data: bytes, *, where: str = "") -> Document:
    """The document that a settings file's bytes hold; errors name `where`, line and column.

    A document never changes, so the same bytes are read once, however often a run asks for them.
    """
    if format == "toml":
        from hookctl.documents.toml import TomlDocument

        return TomlDocument.parse(data, where=where)
    if format == "yaml":
        from hookctl.documents.yaml import YamlDocument

        return YamlDocument.parse(data, where=where)
    if format == "plugin":
        from hookctl.documents.plugin import PluginDocument

        return PluginDocument.parse(data, where=where)
    return JsonDocument.parse(data, where=where)
