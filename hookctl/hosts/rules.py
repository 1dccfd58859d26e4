"""The file with instructions for the agent, where a pack may have a block of rules.

As a settings file it has a block for each pack, and no hooks: see `documents/rules.py`.
"""

from __future__ import annotations

import os

from hookctl.hosts import Host, variants
from hookctl.hosts.model import HookFormat
from hookctl.hosts.shapes import Shape

FORMAT = "rules"


def host_of_file(host: Host) -> Host:
    """The host as its file with instructions has it: blocks of text, and no hooks."""
    return host._replace(
        format=FORMAT, shape=Shape(), registration=HookFormat(), env_path=(), data={}
    )


def path_beside(host: Host, scope: str, settings: str, project: str) -> str:
    """The file with instructions of the scope that a settings file is of; '' where none is known.

    A user's own lies in the same folder of the host as the settings, wherever that was moved.
    """
    pattern = host.rules.get(scope, "")
    return pattern.format(config=_config_of(host, settings), project=project.rstrip("/"))


def _config_of(host: Host, settings: str) -> str:
    """The host's own folder, from the path of a user's settings file in it."""
    for known in (host, *(variant for _, variant in variants(host))):
        inside = known.files["user"].removeprefix("{config}")
        if settings.endswith(inside):
            return settings.removesuffix(inside)
    return os.path.dirname(settings)
