"""The command that stands in the place of another tool's Stop hook, so that its denials have an end.

`: hookctl=guard/wrap-HASH; set -- COMMAND; if ... then wrap.py "$1"; else eval "$1"; fi`: without our file or Python
the hook runs as it did before, and its own command can be read out of ours.
"""

from __future__ import annotations

import hashlib
import re
import shlex

from hookctl.hosts.shapes import head
from hookctl.places import GUARD, Place, in_sh

PROGRAM = "wrap.py"
_PREFIX = f"{GUARD}/wrap-"
_QUOTED = r"""(?:'[^']*'|"'"|[\w@%+=:,./-])+"""


def wraps(id: str) -> bool:
    """Whether an element's id is that of a wrapped hook."""
    return id.startswith(_PREFIX)


def id_of(original: str) -> str:
    """The id of a wrapped hook, by its own command."""
    return _PREFIX + hashlib.sha256(original.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def command(original: str, place: Place, folder: str, python: str) -> str:
    """The command that runs `original` under the guard's eyes, or by itself where ours is not to be had."""
    file = in_sh(place, f"{folder}/{PROGRAM}")
    program = "python3" if place.shared else shlex.quote(python)
    there = "command -v python3 >/dev/null 2>&1" if place.shared else f"[ -x {program} ]"
    guarded = f'{program} -I -S {file} stop --host {place.host.name} "$1"'
    ready = f"[ -f {file} ] && [ -r {file} ] && {there}"
    return f'{head(id_of(original))}set -- {shlex.quote(original)}; if {ready}; then {guarded}; else eval "$1"; fi'


def original_of(text: str) -> str | None:
    """The hook's own command, out of a command of ours wherever its files lie; None if it is not one word for word."""
    begin = rf"{re.escape(': hookctl=' + _PREFIX)}[0-9a-f]{{8}}; set -- (?P<original>{_QUOTED}); if "
    path = r"(?P<file>[^\n;]+?)"
    there = rf"\[ -f {path} \] && \[ -r (?P=file) \] && (?:\[ -x [^\n;]+? \]|command -v python3 >/dev/null 2>&1); then "
    match = re.fullmatch(rf'{begin}{there}[^\n;]+ -I -S (?P=file) stop --host [a-z]+ "\$1"; else eval "\$1"; fi', text)
    if match is None:
        return None
    original = "".join(shlex.split(match["original"]))
    return original if text.startswith(head(id_of(original))) else None
