"""The command that replaces another tool's Stop hook, so that its denials end at a limit.

`: hookctl=guard/wrap-HASH; set -- COMMAND;
if ...; then exec wrap.py "$1"; else eval "set --; $1"; fi`

Without wrap.py or Python the hook runs as it did before, and its own command can be read from the
wrapping one. Because of `exec`, a host that ends the shell ends the hook.
"""

from __future__ import annotations

import functools
import re
import shlex

from hookctl.hosts import load, names
from hookctl.hosts.shapes import head, split_words
from hookctl.model import WRAP
from hookctl.packs import commands
from hookctl.packs.commands import IS_FILE, ON_PATH, WORD
from hookctl.settings.targets import GUARD, OWN, Target, in_sh, quote
from hookctl.system import files
from hookctl.system.packages import WRAPPER

ALONE = 'eval "set --; $1"'  # the other hook, in the shell that the host started


def id_of(original: str) -> str:
    """The id of a wrapped hook, from its original command."""
    return WRAP + files.digest(original.encode("utf-8", "surrogatepass"))[:8]


def command(original: str, target: Target, folder: str, python: str) -> str:
    """The command that runs `original` through the guard, or directly if our file is missing."""
    path = f"{folder}/{WRAPPER}"
    file, call = in_sh(target, path), commands.call(target, path, python)
    has_python = ON_PATH if target.shared else f"[ -x {quote(target.host, python)} ]"
    is_ready = f"{commands.lead(target)}[ -f {file} ] && [ -r {file} ] && {has_python}"
    guarded = f'exec {call} stop --host {target.host.name} "$1"'
    choice = f"if {is_ready}; then {guarded}; else {ALONE}; fi"
    return f"{head(id_of(original))}set -- {shlex.quote(original)}; {choice}"


def original_of(text: str) -> str | None:
    """The original command inside a wrapping one, with any paths; None if it is none of ours."""
    match = _match(text) if text.startswith(f": hookctl={WRAP}") else None
    return _original_in(match) if match else None


def is_shared_command(text: str, target: Target) -> bool:
    """Whether a released version writes this command into the project's settings of this host."""
    match = _match(text, target.host.name)
    return match is not None and match["python"] is None


def _match(text: str, host: str = "") -> re.Match[str] | None:
    match = _forms(host).fullmatch(text)
    return match if match and text.startswith(head(id_of(_original_in(match)))) else None


def _original_in(match: re.Match[str]) -> str:
    return "".join(split_words(match["original"]))


@functools.cache
def _forms(only: str) -> re.Pattern[str]:
    """The commands that released versions write for a host; '': for any."""
    file = IS_FILE.format(f"(?P<file>{WORD})", "(?P=file)")
    own = rf"{file} && \[ -x (?P<python>{WORD}) \]; then exec (?P=python) -I -S (?P=file)"
    calls = [f"{own} stop --host [a-z]+"]
    for host in map(load, [only] if only else names()):
        environment = host.environment
        now = (environment.finds_project, environment.in_command)
        for lead, project in (now, ("", environment.in_command_0_2_0)):
            path = re.escape(f"{project}/{OWN}/{GUARD}/{host.name}/{WRAPPER}")
            is_ready = f"{re.escape(lead)}{IS_FILE.format(path, path)} && {ON_PATH}"
            call = f"{is_ready}; then exec python3 -I -S {path} stop --host {host.name}"
            calls += [call] * bool(project)
    begin = rf": hookctl={WRAP}[0-9a-f]{{8}}; set -- (?P<original>{WORD}); if "
    return re.compile(rf'{begin}(?:{"|".join(calls)}) "\$1"; else {re.escape(ALONE)}; fi')
