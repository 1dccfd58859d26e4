"""Finds what keeps a hook's program from running: a file that is gone, its mode, its syntax.

No script is run. A shell, or node, is asked whether a script has its syntax (`sh -n`), and Python
compiles it.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import time
import warnings

from hookctl.checks.gather_hooks import find_broken, find_interpreter, find_scripts
from hookctl.checks.machine import Machine
from hookctl.checks.scripts import NOT_EXECUTABLE as HAS_NO_MODE
from hookctl.checks.scripts import Script
from hookctl.errors import HookctlError
from hookctl.hosts import Host
from hookctl.hosts.shapes import split_words
from hookctl.model import WRAP
from hookctl.packs import guard
from hookctl.packs.guard import WORD
from hookctl.packs.runner import END
from hookctl.packs.wrapping import original_of
from hookctl.settings.targets import GUARD, OWN
from hookctl.survey import states
from hookctl.survey.model import (
    MISSING,
    MODULE,
    NO_COMPILE,
    NOT_EXECUTABLE,
    Handler,
    HookFile,
    Obstacle,
)
from hookctl.system import owners, project
from hookctl.system.packages import CONFIGS, HOOK, PACKAGES, packages_named, version_of

_LARGEST = 1 << 20  # bytes of a script that is compiled
_SECONDS = 5  # for a shell to read a script
_SECONDS_OF_ALL = 10  # for all scripts; the syntax of those behind is not looked at
_PYTHON = re.compile(r"python(?:3(?:\.\d+)?)?")
_OPTIONS = {  # of the programs that can read a script without running it
    **dict.fromkeys(("sh", "dash", "bash", "ksh"), ("-n",)),
    "zsh": ("-f", "-n"),
    **dict.fromkeys(("node", "nodejs"), ("--check",)),
}
_FIRST = re.compile(rf"\[ -f ({WORD}) \] && \[ -r \1 \] \|\| exit 0; ")  # a pack's first file


class Programs:
    """The programs of hooks on this machine, each looked at once."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._faults: dict[tuple[Script, bool], Obstacle | None] = {}
        self._readers: dict[str, str] = {}
        self._left: float = _SECONDS_OF_ALL

    def add_faults(self, file: HookFile) -> HookFile:
        """The file with what keeps its programs from running, where the host loads their hooks."""
        handlers = []
        for handler in file.handlers:
            if handler.event != MODULE and states.is_loaded(file, handler):
                handler = handler._replace(broken=self._find_fault(file, handler))
            handlers.append(handler)
        return file._replace(handlers=tuple(handlers))

    def _find_fault(self, file: HookFile, handler: Handler) -> Obstacle | None:
        command, folder = _command_of(file.host, handler), self._machine.start_of(file.host)
        if handler.own_id and command:
            text = command
            if file.scope == "project":  # its commands name no folder of this machine
                environment = file.host.environment
                text = command.replace(environment.finds_project, "")
                name = f"{environment.in_command}/{OWN}/"
                text = text.replace(name, f"{shlex.quote(folder)}/{OWN}/")
            lost = self._find_lost_program(text)
            if lost:
                return Obstacle(MISSING, f"{lost} is not there")
            command = _command_inside(handler.own_id, command, text)
        home = self._machine.environ["HOME"]
        for script in find_scripts(home, file.host, file.scope, command, folder, file.variables):
            fault = self._judge(script, file.host)
            if fault:
                return fault
        return None

    def _find_lost_program(self, command: str) -> str:
        """The program that one of our commands runs, and that is not there; or ''."""
        python, path, _ = guard.read(command)
        first = _FIRST.search(command)  # of a pack whose protocol is the host's
        path = path or (os.path.join(*split_words(first[1])) if first else "")
        if path and not os.path.isfile(path):
            return path
        for package in self._packages_of(path, command) if os.path.basename(path) == HOOK else ():
            if not os.path.isdir(package):
                return package
        is_there = not python or shutil.which(python, path=self._machine.environ.get("PATH", ""))
        return "" if is_there else python

    def _packages_of(self, launcher: str, command: str) -> list[str]:
        """The folders of the packages that a command of ours needs."""
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
            self._faults[key] = self._look_at(script, host)
        return self._faults[key]

    def _look_at(self, script: Script, host: Host) -> Obstacle | None:
        """What keeps a script from running on a host."""
        broken = find_broken(script, self._machine.environ, host)
        if broken:
            state = NOT_EXECUTABLE if broken.problem == HAS_NO_MODE else MISSING
            fix = f"chmod +x {shlex.quote(broken.path)}" if state == NOT_EXECUTABLE else ""
            return Obstacle(state, f"{broken.path} {broken.problem}", fix)
        problem = self._compile_in_time(script)
        return (
            Obstacle(NO_COMPILE, f"{script.path} does not compile: {problem}") if problem else None
        )

    # The syntax of a script.

    def _compile_in_time(self, script: Script) -> str:
        """The same as `_compile`, as long as the time for all scripts lasts: there may be many."""
        if self._left <= 0:
            return ""
        begin = time.monotonic()
        problem = self._compile(script)
        self._left -= time.monotonic() - begin
        return problem

    def _compile(self, script: Script) -> str:
        """What is wrong with the syntax of a script; '' where nothing is, or it is not known."""
        interpreter = script.interpreter
        if not interpreter and script.is_started and os.path.isfile(script.path):
            interpreter = os.path.basename(find_interpreter(script.path))
        if not is_compiled(interpreter):
            return ""
        try:
            text = self._machine.reader.snapshot(script.path).data
        except (HookctlError, ValueError):  # no file can have this name
            return ""
        if text is None or len(text) > _LARGEST:
            return ""
        if interpreter not in _OPTIONS:
            return compile_python(text)
        program = self._find_reader(interpreter)
        return ask_interpreter(program, interpreter, script.path) if program else ""

    def _find_reader(self, interpreter: str) -> str:
        """The path of an interpreter, unless it is the project's or anybody could change it."""
        if interpreter not in self._readers:
            machine = self._machine
            program = shutil.which(interpreter, path=machine.environ.get("PATH", "")) or ""
            is_safe = os.path.isabs(program) and not project.is_inside(
                machine.cwd_project, program, machine.folders.home
            )
            self._readers[interpreter] = (
                program if is_safe and not owners.find_fault(program) else ""
            )
        return self._readers[interpreter]


def is_compiled(interpreter: str) -> bool:
    """Whether the syntax of its scripts can be looked at."""
    return interpreter in _OPTIONS or bool(_PYTHON.fullmatch(interpreter))


def ask_interpreter(program: str, interpreter: str, path: str) -> str:
    """What the program of an interpreter says about the syntax of a script, on one line."""
    call = [program, *_OPTIONS[interpreter], path]
    environ = {"PATH": os.defpath, "LC_ALL": "C"}  # no variable makes it load anything else
    try:
        process = subprocess.run(
            call,
            capture_output=True,
            timeout=_SECONDS,
            stdin=subprocess.DEVNULL,
            cwd="/",
            env=environ,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    if process.returncode == 0:
        return ""
    return _first_problem(process.stderr.decode("utf-8", "replace"), path)


def compile_python(text: bytes) -> str:
    """What is wrong with the syntax of a Python program; '' where nothing is."""
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


def _command_of(host: Host, handler: Handler) -> str:
    """The command that a shell runs for a hook; '' where it is of another type."""
    fields = handler.fields
    if fields.get("type", "command") != "command":
        return ""
    for key in host.registration.commands:
        command = fields.get(key)
        if isinstance(command, str):
            is_of_sh = key != "powershell" and fields.get("shell", "bash") != "powershell"
            if is_of_sh and "args" in fields:  # without a shell
                return shlex.quote(command)
            return command if is_of_sh else ""
    return ""


def _command_inside(own_id: str, command: str, text: str) -> str:
    """The command of another tool or of a pack that one of our commands runs; '' for none.

    `text` is the command with the project's path in it.
    """
    if own_id.startswith(WRAP):
        return original_of(command) or ""
    if own_id.startswith(f"{GUARD}/"):
        return ""
    if f"/{HOOK} run " not in text.replace("'", ""):
        return text  # of protocol host: it has no runner
    try:
        words = split_words(re.sub(f"{END}$", "", text))
    except ValueError:
        return ""
    inner = words[-1]
    if "--files" in words:
        inner = inner.replace("{files}", shlex.quote(words[words.index("--files") + 1]))
    return inner


def _first_problem(said: str, path: str) -> str:
    """What a shell or node says is wrong, and on which line."""
    number = re.search(rf"{re.escape(path)}:(?: line)? ?(\d+)", said)
    problem = "syntax error"
    for line in said.splitlines():
        if "error" in line.lower():
            problem = re.sub(r"^(?:line )?\d+: ", "", line.rpartition(f"{path}: ")[2])
            break
    return f"line {number[1]}: {problem}" if number else problem
