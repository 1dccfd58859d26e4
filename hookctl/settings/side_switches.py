"""Switches of a host outside the file of its hooks, and the variables that go before them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from hookctl.documents import MISSING
from hookctl.hosts import Host, config_folder, load, settings_path
from hookctl.hosts.model import FolderTrust, OtherAgent
from hookctl.settings.targets import Read, read_settings, readable

_YES = ("1", "true", "yes", "on")
_NO = ("0", "false", "no", "off")


def is_yes(word: str) -> bool:
    """Whether a variable's text says yes, as most programs read it."""
    return word.strip().lower() in _YES


def value(
    host: Host, place: FolderTrust | OtherAgent, environ: Mapping[str, str], read: Read
) -> Any:
    """What a switch of a host says: its variable with a word for yes or no, else its key."""
    word = environ.get(place.variable, "")
    if is_yes(word) or word.strip().lower() in _NO:
        return is_yes(word)
    if not place.switch:
        return MISSING
    if place.settings:
        path = place.settings.format(config=config_folder(host, environ))
        document = readable(path, path.rpartition(".")[2], read)
    else:
        host = load(host.name)
        document = readable(settings_path(host, "user", environ), host.format, read)
    return document.get(tuple(place.switch)) if document else MISSING


def leaves_alone(agent: OtherAgent, environ: Mapping[str, str], read: Read = read_settings) -> bool:
    """Whether another agent is told not to read the files of a host, which it reads by itself."""
    if not agent.switch:
        return False
    host = load(agent.host)
    path = agent.settings.format(config=config_folder(host, environ))
    if not environ.get(agent.variable) and not os.path.lexists(path):
        return False  # no format is loaded for nothing
    return value(host, agent, environ, read) is False
