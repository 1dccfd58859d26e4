"""The command that replaces another tool's Stop hook, so that its denials end at a limit.

`: hookctl=guard/wrap-HASH; set -- COMMAND;
if ...; then exec hook.py wrap "$1"; else eval "set --; $1"; fi`

Without the launcher or Python the hook runs as it did before, and its own command can be read from
the wrapping one. Because of `exec`, a host that ends the shell ends the hook.
"""

from __future__ import annotations

import re
import shlex

from hookctl.hosts import load, names
from hookctl.hosts.shapes import head, split_words
from hookctl.model import WRAP
from hookctl.packs import guard
from hookctl.packs.guard import IS_FILE, ON_PATH, WORD
from hookctl.settings.targets import GUARD, OWN, Target, in_sh, quote
from hookctl.system import files
from hookctl.system.packages import HOOK

ALONE = 'eval "set --; $1"'  # the other hook, in the shell that the host started
# Every command that a released version wrote for a wrapped hook, on any host and with any paths.
_FILE = IS_FILE.format("(?P<file>.{1,5000})", "(?P=file)")
_READY = f"(?P<lead>.{{0,400}}&& )?{_FILE}"
_PYTHON = rf"\[ -x (?P<python>{WORD}) \]; then exec (?P=python)|{ON_PATH}; then exec python3"
_WORDS = "(?:wrap )?stop --host [a-z]+(?: --config [a-z0-9-]+)?"
_FORM = (
    rf": hookctl={WRAP}[0-9a-f]{{8}}; set -- (?P<original>{WORD}); if {_READY} && "
    rf'(?:{_PYTHON}) -I -S (?P=file) (?P<words>{_WORDS}) "\$1"; else {re.escape(ALONE)}; fi'
)


def id_of(original: str) -> str:
    """The id of a wrapped hook, from its original command."""
    return WRAP + files.digest(original.encode("utf-8", "surrogatepass"))[:8]


def command(original: str, target: Target, config: str, python: str) -> str:
    """The command that runs `original` through the guard, or directly if our file is missing."""
    path = guard.launcher_of(config)
    file, call = in_sh(target, path), guard.call(target, path, python)
    has_python = ON_PATH if target.shared else f"[ -x {quote(target.host, python)} ]"
    lead = target.host.environment.finds_project * target.shared
    is_ready = f"{lead}[ -f {file} ] && [ -r {file} ] && {has_python}"
    guarded = f'exec {call} wrap stop {guard.registration(target.host, config)} "$1"'
    choice = f"if {is_ready}; then {guarded}; else {ALONE}; fi"
    return f"{head(id_of(original))}set -- {shlex.quote(original)}; {choice}"


def is_shared_command(text: str, target: Target) -> bool:
    """Whether a released version writes this command into the project's settings of this host."""
    match, name, where = _match(text), target.host.name, target.host.environment
    if match is None or match["python"]:
        return False
    former = where.in_command_0_2_0 or where.in_command
    return (match["lead"] or "", match["file"], match["words"]) in (
        (where.finds_project, f"{where.in_command}/{OWN}/{HOOK}", f"wrap stop --host {name}"),
        ("", f"{former}/{OWN}/{GUARD}/{name}/wrap.py", f"stop --host {name}"),
    )


def original_of(text: str) -> str | None:
    """The original command inside a wrapping one, with any paths; None if it is none of ours."""
    match = _match(text)
    return "".join(split_words(match["original"])) if match else None


def _match(text: str) -> re.Match[str] | None:
    match = re.fullmatch(_FORM, text)
    if not match or not text.startswith(head(id_of("".join(split_words(match["original"]))))):
        return None
    # Anything else there would be run, and nobody would be shown it.
    environments = [load(name).environment for name in names()]
    folders = {one.in_command for one in environments} | {
        one.in_command_0_2_0 for one in environments
    }
    shared = "|".join(map(re.escape, folders - {""}))
    own = rf"(?:{WORD})|(?:{shared})/{OWN}/(?:{HOOK}|{GUARD}/[a-z]+/wrap\.py)"
    is_lead = match["lead"] in (None, *(one.finds_project for one in environments))
    return match if is_lead and re.fullmatch(own, match["file"]) else None
