"""What one setting says: of a switch, in the first place that has it; and a host's own gates.

A place is a settings file, or a variable.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from hookctl.documents import MISSING
from hookctl.hosts import Host, config_folder, load, loading
from hookctl.hosts.model import OtherAgent, SwitchRule
from hookctl.settings.targets import Read, read_settings, readable

_YES = ("1", "true", "yes", "on")
_NO = ("0", "false", "no", "off")


def _as_word(value: Any) -> Any:
    word = value.strip().lower() if isinstance(value, str) else ""
    return word in _YES if word in (*_YES, *_NO) else value


def read_value(
    rule: SwitchRule, place: str, environ: Mapping[str, str], read: Read, layout: Host | None = None
) -> Any:
    """What a path or $VARIABLE says, a boolean where it is a word for yes or no; or MISSING.

    `layout` is that of a file with hooks.
    """
    if place.startswith("$"):
        value: Any = _as_word(environ.get(place[1:], ""))
        return value if isinstance(value, bool) else MISSING
    if not os.path.lexists(place):  # no format is loaded for nothing
        return MISSING
    document = readable(place, layout.format if layout else place.rpartition(".")[2], read)
    if document is None or (layout and loading.refusal(layout, document)):
        return MISSING
    return _as_word(document.get(tuple(rule.key)))


def is_off(rule: SwitchRule, value: Any) -> bool:
    """Whether a value switches off, or one in a list."""
    values = value if isinstance(value, list) else [value]
    return any(value == off and type(value) is type(off) for value in values for off in rule.off)


def read_gate(rule: SwitchRule, host: Host, environ: Mapping[str, str], read: Read) -> bool | None:
    """Whether a switch of the host itself is off, by the first place that has it.

    None where no place has it, or says something else than off or a word for on.
    """
    config = config_folder(host, environ)
    for place in rule.files:
        path = place if place.startswith("$") else place.format(config=config)
        value = read_value(rule, path, environ, read)
        if value is not MISSING:
            return is_off(rule, value) or (False if isinstance(value, bool) else None)
    return None


def leaves_alone(agent: OtherAgent, environ: Mapping[str, str], read: Read = read_settings) -> bool:
    """Whether another agent is told not to read the files of a host, which it reads by itself."""
    if not agent.switch.files:
        return False
    return read_gate(agent.switch, load(agent.host), environ, read) is True
