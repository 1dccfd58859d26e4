"""Finds what keeps a hook's program from running: a file that is gone, its mode, its syntax.

No script is run. A shell, or node, is asked whether a script has its syntax (`sh -n`), and Python
compiles it.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import warnings
from collections.abc import Callable, Mapping

from hookctl.errors import HookctlError
from hookctl.hosts import Host
from hookctl.hosts.shapes import split_words
from hookctl.masking import masked_text
from hookctl.model import WRAP
from hookctl.packs import guard
from hookctl.packs.guard import WORD, original_of
from hookctl.packs.runner import END
from hookctl.settings.targets import GUARD, OWN
from hookctl.survey import model
from hookctl.survey.machine import Machine
from hookctl.survey.model import Hook, Obstacle, command_of, is_powershell
from hookctl.survey.scripts import Script, find_scripts
from hookctl.system import owners, project
from hookctl.system.packages import CONFIGS, HOOK, PACKAGES, packages_named, version_of
from hookctl.system.processes import ask

_LARGEST = 1 << 20  # bytes of a script that is compiled
REPAIR = "`hookctl doctor --fix` puts it back"
_NOT_FOUND = 127  # the status with which a shell ends then
_SECONDS = 5  # for a shell to read a script
_OF_WINDOWS = re.compile(r"""["']?[A-Za-z]:[\\/]""")
_PYTHON = re.compile(r"python(?:3(?:\.\d+)?)?")
_OPTIONS = {  # of the programs that can read a script without running it
    **dict.fromkeys(("sh", "dash", "bash", "ksh"), ("-n",)),
    "zsh": ("-f", "-n"),
    **dict.fromkeys(("node", "nodejs"), ("--check",)),
}
_FIRST = re.compile(rf"\[ -f ({WORD}) \] && \[ -r \1 \] \|\| exit 0; ")  # a pack's first file


class Programs:
    """The programs of hooks on this machine, each looked at once."""

    def __init__(self, machine: Machine, *, compiles: bool = True) -> None:
        self._machine = machine
        self._compiles = compiles
        self._faults: dict[tuple[Script, bool], Obstacle | None] = {}

    def add_fault(self, hook: Hook) -> Hook:
        """The hook with what keeps its program from running, where the host loads it."""
        unread = (*model.UNREAD, *([model.OFF] if hook.plugin else ()))
        own = [obstacle.state for obstacle in hook.obstacles if not obstacle.is_shared]
        if hook.event == model.MODULE or not {*own}.isdisjoint(unread):
            return hook
        fault = self._find_fault(hook)
        found = (*hook.obstacles, fault) if fault else hook.obstacles
        return hook._replace(obstacles=tuple(sorted(found, key=lambda one: one.is_shared)))

    def _find_fault(self, hook: Hook) -> Obstacle | None:
        file, environment = hook.within, hook.within.host.environment
        if lost := self._name_lost(hook):
            return Obstacle(model.MISSING, lost, status=_NOT_FOUND)
        command, folder = _command_of(hook), self._machine.start_of(file.host)
        if hook.own_id and command:
            text = command
            if file.scope == "project":  # its commands name no folder of this machine
                text = command.replace(environment.finds_project, "")
                name = f"{environment.in_command}/{OWN}/"
                text = text.replace(name, f"{shlex.quote(folder)}/{OWN}/")
            lost = self._find_lost_program(text)
            if lost:
                return Obstacle(model.MISSING, f"{lost} is not there", REPAIR)
            command = _command_inside(hook.own_id, command, text)
        variables = {"HOME": self._machine.environ["HOME"], **file.variables}
        start = folder if _is_direct(hook) else ""
        if file.scope in ("project", "local"):
            if environment.project:  # the folder whose settings these are
                variables[environment.project] = folder
            start = folder if environment.starts_there else start
        for script in find_scripts(command, variables, start):
            fault = self._judge(script, file.host)
            if fault and ("/" in script.path or not hook.own_id):
                return fault
        return None

    def _name_lost(self, hook: Hook) -> str:
        """What a hook needs that is not there: PowerShell, a folder, the program that it names."""
        fields, host = hook.fields, hook.within.host
        environ, start = self._machine.environ, self._machine.start_of(host)
        if is_powershell(host, fields):
            is_there = any(_find_program(name, environ) for name in ("pwsh", "powershell"))
            return "" if is_there else "its command needs pwsh, which is not there"
        folder = fields.get(host.environment.folder)
        if isinstance(folder, str) and not os.path.isdir(os.path.join(start, folder)):
            return f"its folder {os.path.join(start, folder)} is not there"
        if _OF_WINDOWS.match(_command_of(hook)):
            return "its command names a program of Windows"
        return ""

    def _find_lost_program(self, command: str) -> str:
        python, path, _ = guard.read(command)
        first = _FIRST.search(command)  # of a pack whose protocol is the host's
        path = path or (os.path.join(*split_words(first[1])) if first else "")
        if path and not os.path.isfile(path):
            return path
        for package in self._packages_of(path, command) if os.path.basename(path) == HOOK else ():
            if not os.path.isdir(package):
                return package
        is_there = not python or _find_program(python, self._machine.environ)
        return "" if is_there else python

    def _packages_of(self, launcher: str, command: str) -> list[str]:
        try:
            data = self._machine.reader.snapshot(launcher).data or b""
        except HookctlError:
            return []
        names = packages_named(data)
        if version_of(data) and f"{HOOK} run " not in command.replace("'", ""):
            names = [name for name in names if not name.startswith("runner_")]
        top = os.path.dirname(launcher)
        if not version_of(data):  # 0.2.0's
            top = top.removesuffix(f"/{PACKAGES}").partition(f"/{CONFIGS}/")[0]
        return [os.path.join(top, PACKAGES, name) for name in names]

    def _judge(self, script: Script, host: Host) -> Obstacle | None:
        key = (script, host.handlers.makes_executable)
        if key not in self._faults:
            fault = find_broken(script, self._machine.environ, host)
            is_compiled = self._compiles and not fault and "/" in script.path
            problem = self._compile(script) if is_compiled else ""
            if problem:
                reason = f"{script.path} does not compile: {problem}"
                fault = Obstacle(model.NO_COMPILE, reason)
            self._faults[key] = fault
        return self._faults[key]

    # The syntax of a script.

    def _compile(self, script: Script) -> str:
        interpreter = script.interpreter
        if not interpreter and script.is_started and os.path.isfile(script.path):
            interpreter = os.path.basename(find_interpreter(script.path))
        try:
            text = self._machine.reader.snapshot(script.path).data if interpreter else None
        except (HookctlError, ValueError):  # no file can have this name
            return ""
        if text is None or len(text) > _LARGEST:
            return ""
        return find_syntax_fault(interpreter, script.path, text, self._find_reader)

    def _find_reader(self, interpreter: str) -> str:
        """The path of an interpreter, unless it is the project's or anybody could change it."""
        machine = self._machine
        program = _find_program(interpreter, machine.environ) or ""
        is_own = project.is_inside(machine.cwd_project, program, machine.folders.home)
        is_safe = os.path.isabs(program) and not is_own and not owners.find_fault(program)
        return program if is_safe else ""


def find_syntax_fault(
    interpreter: str, path: str, text: bytes, find: Callable[[str], str | None]
) -> str:
    """What is wrong with the syntax of a script; '' where nothing is, or it is not known."""
    if _PYTHON.fullmatch(interpreter):
        return _compile_python(text)
    program = find(interpreter) if interpreter in _OPTIONS else None
    return _ask_interpreter(program, interpreter, path) if program else ""


def _ask_interpreter(program: str, interpreter: str, path: str) -> str:
    call = [program, *_OPTIONS[interpreter], path]
    environ = {"PATH": os.defpath, "LC_ALL": "C"}  # no variable makes it load anything else
    said = ask(call, environ, _SECONDS)
    return _first_problem(said.err, path) if said.status else ""


def _compile_python(text: bytes) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "script", "exec", dont_inherit=True)
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        return f"{where}{error.msg}"
    except (ValueError, RecursionError, MemoryError, OverflowError):
        return "Python cannot read it"
    return ""


def _command_of(hook: Hook) -> str:
    fields, host = hook.fields, hook.within.host
    if fields.get("type", "command") != "command":
        return ""
    key = command_of(host, fields)
    if not key or is_powershell(host, fields):
        return ""
    return shlex.quote(fields[key]) if _is_direct(hook) else str(fields[key])


def _is_direct(hook: Hook) -> bool:
    """Whether the host starts a hook's command without a shell, with a list of arguments."""
    host, fields = hook.within.host, hook.fields
    knows = "args" in host.handlers.fields or "exec" in fields
    return "args" in fields and knows and isinstance(fields.get("command", fields.get("exec")), str)


def _command_inside(own_id: str, command: str, text: str) -> str:
    """The command of another tool or of a pack that one of our commands runs; '' for none."""
    if own_id.startswith(WRAP):
        return original_of(command) or ""
    if own_id.startswith(f"{GUARD}/"):
        return ""
    if f"/{HOOK} run " not in text.replace("'", ""):
        return text  # of protocol host: it has no runner
    words = split_words(re.sub(f"{END}$", "", text))
    inner = words[-1]
    if "--files" in words:
        inner = inner.replace("{files}", shlex.quote(words[words.index("--files") + 1]))
    return inner


def _first_problem(said: str, path: str) -> str:
    number = re.search(rf"{re.escape(path)}:(?: line)? ?(\d+)", said)
    problem = "syntax error"
    for line in said.splitlines():
        if "error" in line.lower():
            problem = re.sub(r"^(?:line )?\d+: ", "", line.rpartition(f"{path}: ")[2])
            break
    return f"line {number[1]}: {problem}" if number else problem


def find_broken(script: Script, environ: Mapping[str, str], host: Host) -> Obstacle | None:
    """What keeps a script from being run; None if no obstacle is seen."""
    path, status = script.path, script.status
    if "/" not in path:
        reason, is_there = f"{masked_text(path)} is not on PATH", _find_program(path, environ)
        return None if is_there else Obstacle(model.MISSING, reason, status=status)
    if _is_missing(path):
        return Obstacle(model.MISSING, f"{path} is not there", status=status)
    if not script.is_started or not os.path.isfile(path):
        return None
    if not os.access(path, os.X_OK) and not host.handlers.makes_executable:
        fix = f"chmod +x {shlex.quote(path)}"
        return Obstacle(model.NOT_EXECUTABLE, f"{path} is not executable", fix, status and 126)
    name = find_interpreter(path)
    if os.path.isabs(name):
        is_there = not _is_missing(name)
    else:
        is_there = not name or bool(_find_program(name, environ))
    reason = f"{path} needs {name}, which is not there"
    return None if is_there else Obstacle(model.MISSING, reason, status=status)


def _find_program(name: str, environ: Mapping[str, str]) -> str | None:
    return shutil.which(name, path=environ.get("PATH", ""))


def find_interpreter(path: str) -> str:
    """The interpreter that a script's first line names, or ''."""
    try:
        with open(path, "rb") as file:
            line = file.readline(256).decode("utf-8", "replace")
    except (OSError, ValueError):  # ValueError: no file can have this name
        return ""
    words = line[2:].split() if line.startswith("#!") else []
    if words and os.path.basename(words[0]) == "env" and not _is_missing(words[0]):
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return words[0] if words else ""


def _is_missing(path: str) -> bool:
    """Whether nothing is there; a path that cannot be looked at counts as there."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        pass
    return False
