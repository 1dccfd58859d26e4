"""How a registered command starts a program of ours, and what such a command says.

`: hookctl=PACK/ID; PYTHON -I -S HOOK ARGUMENTS; exit 0`: whatever becomes of the two files, the
host sees 0.
"""

from __future__ import annotations

import re

from hookctl.hosts import Host
from hookctl.hosts.shapes import split_words
from hookctl.packs.slots import FILES_FORM
from hookctl.settings.targets import OWN, Target, in_sh, quote
from hookctl.system.packages import HOOK

WORD = r"""(?:'[^']*'|"'"|[A-Za-z0-9_@%+=:,./-])+"""  # quoted by shlex
_ABSOLUTE = rf"(?='?/){WORD}"
_QUIET = " 2>/dev/null"
# Whether both files are there: 0.2.0 asked that before each call, now only a wrapped hook does.
IS_FILE = r"\[ -f {0} \] && \[ -r {1} \]"
ON_PATH = "command -v python3 >/dev/null 2>&1"
_STARTED = re.compile(
    rf": hookctl=[^;]*; (?:set -- {WORD}; if )?"
    rf"(?:{IS_FILE.format(FILES_FORM, FILES_FORM)} && (?:\[ -x {WORD} \]|{ON_PATH})"
    rf"(?: && |; then exec ))?(?P<python>{WORD}) -I -S (?P<hook>{FILES_FORM}) "
)


def lead(target: Target) -> str:
    """What stands before a command that names the project's folder, where the host gives none."""
    return target.host.environment.finds_project if target.shared else ""


def call(target: Target, path: str, python: str) -> str:
    """The call of a program of ours, without its arguments."""
    program = "python3" if target.shared else quote(target.host, python)
    return f"{program} -I -S {in_sh(target, path)}"


def end(host: Host) -> str:
    """What stands behind the arguments; a host must not take what the shell says for an answer."""
    return (_QUIET if host.registration.quiet else "") + "; "


def end_form(host: Host) -> str:
    """A pattern for it, with that of 0.2.0."""
    return f"(?:{_QUIET})?; " if host.registration.quiet else "; "


def files_form(host: Host) -> str:
    """A pattern for what {files} becomes."""
    old = re.escape(host.environment.in_command_0_2_0)
    return f"(?:{FILES_FORM}|{old}/{OWN}/packs/[a-z0-9-]+)" if old else FILES_FORM


def start_forms(host: Host, folder: str) -> str:
    """A pattern for the start of a launcher, up to its arguments, wherever it lies.

    `folder` is the launcher's in a project's .hookctl. The groups are `python`, which a command of
    project scope does not have, and `hook`.
    """
    environment, launcher = host.environment, f"/{OWN}/{folder}/{HOOK}"
    files_0_2_0 = IS_FILE.format(f"(?P<file>{WORD})", "(?P=file)")
    own_0_2_0 = rf"{files_0_2_0} && \[ -x (?P<program>{WORD}) \] && "
    same = "(?=(?P=program) -I -S (?P=file) )"
    own = rf"(?:{own_0_2_0}{same})?(?P<python>{_ABSOLUTE}) -I -S (?P<hook>{_ABSOLUTE})"
    path = environment.in_command + launcher
    shared = re.escape(f"{environment.finds_project}python3 -I -S {path}")
    path = re.escape((environment.in_command_0_2_0 or environment.in_command) + launcher)
    shared_0_2_0 = f"{IS_FILE.format(path, path)} && {ON_PATH} && python3 -I -S {path}"
    return f"(?:{own}|{shared}|{shared_0_2_0})"


def read(command: str) -> tuple[str, str, str]:
    """Interpreter, program of ours and arguments of a registered command; '' if it has none."""
    match = _STARTED.match(command)
    if match is None:
        return "", "", ""
    python, hook = ("".join(split_words(match[name])) for name in ("python", "hook"))
    return python, hook, command[match.end() :]
