"""Where this hookctl was installed from, so that advice names the right source."""

from __future__ import annotations

import json
import shlex
import sys
from importlib import metadata
from typing import Any
from urllib.parse import unquote, urlsplit


def install_command(extra: str, package: str) -> str:
    """The command that adds an extra from hookctl's own source; else just the extra's package."""
    requirement = _requirement(extra, _direct_url()) or shlex.quote(package)
    return f"{shlex.quote(sys.executable)} -m pip install {requirement}"


def _direct_url() -> dict[str, Any]:
    """The installer's note about the source; empty for an install from an index."""
    try:
        text = metadata.distribution("hookctl").read_text("direct_url.json")
        value = json.loads(text or "{}")
    except (metadata.PackageNotFoundError, OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _requirement(extra: str, source: dict[str, Any]) -> str:
    """The words behind `pip install` that name the source with an extra; '' if there is none."""
    url = source.get("url")
    if not isinstance(url, str) or not url:
        return ""
    details = source.get("dir_info")
    if isinstance(details, dict) and url.startswith("file:"):
        option = "-e " if details.get("editable") is True else ""
        return option + shlex.quote(f"{unquote(urlsplit(url).path)}[{extra}]")
    details = source.get("vcs_info")
    if isinstance(details, dict):
        commit = details.get("commit_id")
        url = f"{details.get('vcs')}+{url}" + (f"@{commit}" if commit else "")
    return shlex.quote(f"hookctl[{extra}] @ {url}")
