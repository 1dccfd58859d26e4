"""The command that replaces anybody's hook while receipts are written for it.

`: hookctl-trace=ID; set -- COMMAND;
if ...; then exec trace.py EVENT ... "$0" "$1"; else eval "set --; $1"; fi`

The mark is not that of our own hooks: the hook stays its owner's. Without trace.py or Python it
runs as before, and its own command can be read from this one.
"""

from __future__ import annotations

import re
import shlex

from hookctl.hosts.shapes import split_words
from hookctl.model import TRACED
from hookctl.packs.guard import condition_and_call
from hookctl.packs.wrapping import ALONE, WORD
from hookctl.settings.targets import Target
from hookctl.system.packages import TRACER
from hookctl.values import NamedTuple


class Traced(NamedTuple):
    """What a tracing command says."""

    id: str
    original: str
    until: int  # in seconds since the epoch


def command(
    original: str, id: str, event: str, target: Target, folder: str, python: str, until: int
) -> str:
    """The command that runs `original` with a receipt, or directly if our file is missing."""
    is_ready, call = condition_and_call(target, f"{folder}/{TRACER}", python)
    options = (
        f"{shlex.quote(event)} --host {target.host.name} --id {shlex.quote(id)} --until {until}"
    )
    choice = f'if {is_ready}; then exec {call} {options} "$0" "$1"; else {ALONE}; fi'
    return f"{TRACED}{id}; set -- {shlex.quote(original)}; {choice}"


def is_traced(text: object) -> bool:
    """Whether a command begins as those of a trace do."""
    return isinstance(text, str) and text.startswith(TRACED)


def read_command(text: object) -> Traced | None:
    """What is inside a tracing command, with any paths; None where it is none of ours."""
    if not isinstance(text, str) or not text.startswith(TRACED):
        return None
    condition = rf"\[ -f (?P<file>{WORD}) \] && \[ -r (?P=file) \] && \[ -x (?P<python>{WORD}) \]"
    options = rf"{WORD} --host [a-z]+ --id {WORD} --until (?P<until>[0-9]{{1,12}})"
    call = rf'exec (?P=python) -I -S (?P=file) {options} "\$0" "\$1"'
    begin = rf"{re.escape(TRACED)}(?P<id>[0-9a-f]+(?:#[0-9]+)?); set -- (?P<original>{WORD}); if "
    match = re.fullmatch(f"{begin}{condition}; then {call}; else {re.escape(ALONE)}; fi", text)
    if match is None:
        return None
    original = "".join(split_words(match["original"]))
    return Traced(match["id"], original, int(match["until"]))


def own_command(text: str) -> str:
    """A hook's own command, where it is traced too."""
    traced = read_command(text)
    return traced.original if traced else text
