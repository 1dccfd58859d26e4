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
from hookctl.packs.guard import condition_and_call
from hookctl.settings.targets import GUARD, OWN, Target
from hookctl.system import files
from hookctl.system.packages import WRAPPER

ALONE = 'eval "set --; $1"'  # the other hook, in the shell that the host started
WORD = r"""(?:'[^']*'|"'"|[\w@%+=:,./-])+"""


def id_of(original: str) -> str:
    """The id of a wrapped hook, from its original command."""
    return WRAP + files.digest(original.encode("utf-8", "surrogatepass"))[:8]


def command(original: str, target: Target, folder: str, python: str) -> str:
    """The command that runs `original` through the guard, or directly if our file is missing."""
    is_ready, call = condition_and_call(target, f"{folder}/{WRAPPER}", python)
    guarded = f'exec {call} stop --host {target.host.name} "$1"'
    choice = f"if {is_ready}; then {guarded}; else {ALONE}; fi"
    return f"{head(id_of(original))}set -- {shlex.quote(original)}; {choice}"


def is_shared_command(text: str, target: Target) -> bool:
    """Whether hookctl writes this command into the project's settings of this host."""
    match = re.match(rf": hookctl={WRAP}[0-9a-f]{{8}}; set -- (?P<original>{WORD}); if ", text)
    if match is None:
        return False
    original = "".join(split_words(match["original"]))
    folder = f"{target.project}/{OWN}/{GUARD}/{target.host.name}"
    return text == command(original, target, folder, "")


@functools.cache
def _project_forms() -> str:
    """A pattern for the project's folder as hosts write it in a command."""
    forms = {load(name).environment.in_command for name in names()}
    return "(?:" + "|".join(re.escape(form) for form in sorted(forms) if form) + ")"


def original_of(text: str) -> str | None:
    """The original command inside a wrapping one, with any paths; None if it is none of ours."""
    if not text.startswith(f": hookctl={WRAP}"):
        return None
    shared = rf"{_project_forms()}/{OWN}/{GUARD}/[a-z]+/{WRAPPER}"
    file = rf"\[ -f (?P<file>{WORD}|{shared}) \] && \[ -r (?P=file) \]"
    on_path = "command -v python3 >/dev/null 2>&1; then exec python3"
    python = rf"(?:\[ -x (?P<python>{WORD}) \]; then exec (?P=python)|{on_path})"
    call = rf'-I -S (?P=file) stop --host [a-z]+ "\$1"; else {re.escape(ALONE)}; fi'
    begin = rf": hookctl={WRAP}[0-9a-f]{{8}}; set -- (?P<original>{WORD}); if "
    match = re.fullmatch(f"{begin}{file} && {python} {call}", text)
    if match is None:
        return None
    original = "".join(split_words(match["original"]))
    return original if text.startswith(head(id_of(original))) else None
