"""Finds the script or program that a hook's command runs, and what keeps it from running.

From the command's text alone, a file that is gone, its mode, its syntax. No script is run. A shell,
or node, is asked whether a script has its syntax (`sh -n`), and Python compiles it. Where only a
shell could know what runs, because of a condition, a substitution, or a variable with an unknown
value, there is no answer.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from hookctl.errors import HookctlError
from hookctl.hosts import Host
from hookctl.hosts.shapes import split_words
from hookctl.masking import masked_text
from hookctl.model import WRAP
from hookctl.packs import guard
from hookctl.packs.runner import END
from hookctl.settings.targets import GUARD, OWN
from hookctl.survey import model
from hookctl.survey.machine import Machine
from hookctl.survey.model import Hook, Obstacle, command_of, is_powershell
from hookctl.system import files, owners, project
from hookctl.system.packages import HOOK, PACKAGES, TABLE, packages_named, version_of
from hookctl.system.processes import ask

_LARGEST = 1 << 20  # bytes of a script that is compiled
REPAIR = "`hookctl doctor --fix` puts it back"
_SECONDS = 5  # for a shell to read a script
_OF_WINDOWS = re.compile(r"""["']?[A-Za-z]:[\\/]""")
_OPTIONS = {  # of the programs that can read a script without running it
    **dict.fromkeys(("sh", "dash", "bash", "ksh"), ("-n",)),
    "zsh": ("-f", "-n"),
    **dict.fromkeys(("node", "nodejs"), ("--check",)),
}
_FIRST = re.compile(rf"\[ -f ({guard.WORD}) \] && \[ -r \1 \] \|\| exit 0; ")  # a pack's first file


class Programs:
    """The programs of hooks on this machine, each looked at once."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
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
            return Obstacle(model.MISSING, lost, status=127)  # as a shell ends then
        command, folder = _command_of(hook), self._machine.start_of(file.host)
        if hook.own_id and command:
            text = command
            if file.scope == "project":  # its commands name no folder of this machine
                top = project.find_repository(folder) if environment.project_is_repository else ""
                if top not in ("", folder):
                    reason = f"{file.host.title} looks for its program in the repository, {top}"
                    fix = f"`hookctl install --scope project --project {shlex.quote(top)}`"
                    return Obstacle(model.HIDDEN, reason, fix)
                text = command.replace(environment.finds_project, "")
                name = f"{environment.in_command}/{OWN}/"
                text = text.replace(name, f"{shlex.quote(folder)}/{OWN}/")
            if lost := self._find_lost_program(text):
                return Obstacle(model.MISSING, f"{lost} is not there", REPAIR)
            command = _command_inside(hook.own_id, command, text)
        if not command:  # it is the guard's, or a shell runs none
            return None
        variables = {"HOME": self._machine.environ["HOME"], **file.variables}
        start = folder if _is_direct(hook) else ""
        if file.scope in ("project", "local"):
            if environment.project:  # the folder whose settings these are
                variables[environment.project] = folder
            start = folder if environment.starts_there else start
        for script in find_scripts(command, variables, start):
            fault = self._check(script, file.host)
            if fault:
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
        if os.path.basename(path) == HOOK:
            launcher, top = files.read_or_none(path) or b"", os.path.dirname(path)
            has_packs = os.path.lexists(os.path.join(top, TABLE))
            for name in packages_named(launcher) if version_of(launcher) else ():
                package = os.path.join(top, PACKAGES, name)
                if not os.path.isdir(package) and (has_packs or not name.startswith("runner_")):
                    return package
        is_there = not python or _find_program(python, self._machine.environ)
        return "" if is_there else python

    def _check(self, script: Script, host: Host) -> Obstacle | None:
        key = (script, host.handlers.makes_executable)
        if key not in self._faults:
            fault = find_broken(script, self._machine.environ, host)
            problem = self._compile(script) if not fault and "/" in script.path else ""
            if problem:
                fault = Obstacle(model.NO_COMPILE, f"{script.path} does not compile: {problem}")
            self._faults[key] = fault
        return self._faults[key]

    # The syntax of a script.

    def _compile(self, script: Script) -> str:
        interpreter, text = script.interpreter, None
        if not interpreter and script.is_started and os.path.isfile(script.path):
            interpreter = os.path.basename(find_interpreter(script.path))
        with contextlib.suppress(HookctlError, ValueError):  # ValueError: no file has this name
            text = self._machine.reader.snapshot(script.path).data if interpreter else None
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
    if re.fullmatch(r"python(?:3(?:\.\d+)?)?", interpreter):
        return _compile_python(text)
    program = find(interpreter) if interpreter in _OPTIONS else None
    if not program:
        return ""
    environ = {"PATH": os.defpath, "LC_ALL": "C"}  # no variable makes it load anything else
    said = ask([program, *_OPTIONS[interpreter], path], environ, _SECONDS)
    number = re.search(rf"{re.escape(path)}:(?: line)? ?(\d+)", said.err)
    errors = [line for line in said.err.splitlines() if "error" in line.lower()]
    problem = errors[0].rpartition(f"{path}: ")[2] if errors else "syntax error"
    problem = re.sub(r"^(?:line )?\d+: ", "", problem)
    where = f"line {number[1]}: " if number else ""
    return f"{where}{problem}" if said.status else ""


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
        return guard.original_of(command) or ""
    if own_id.startswith(f"{GUARD}/"):
        return ""
    if f"/{HOOK} run " not in text.replace("'", ""):
        return _FIRST.sub("", text)  # of protocol host: it has no runner
    words = split_words(re.sub(f"{END}$", "", text))
    inner = words[-1]
    if "--files" in words:
        inner = inner.replace("{files}", shlex.quote(words[words.index("--files") + 1]))
    return inner


def find_broken(script: Script, environ: Mapping[str, str], host: Host) -> Obstacle | None:
    """What keeps a script from being run; None if no obstacle is seen."""
    path, status = script.path, script.status
    if "/" not in path:
        reason, is_there = f"{masked_text(path)} is not on PATH", _find_program(path, environ)
        return None if is_there else Obstacle(model.MISSING, reason, status=status)
    if not os.path.exists(path):
        return Obstacle(model.MISSING, f"{path} is not there", status=status)
    if not script.is_started or not os.path.isfile(path):
        return None
    if not os.access(path, os.X_OK) and not host.handlers.makes_executable:
        fix = f"chmod +x {shlex.quote(path)}"
        return Obstacle(model.NOT_EXECUTABLE, f"{path} is not executable", fix, status and 126)
    name = find_interpreter(path)
    is_there = os.path.exists(name) if os.path.isabs(name) else _find_program(name, environ)
    reason = f"{path} needs {name}, which is not there"
    return Obstacle(model.MISSING, reason, status=status) if name and not is_there else None


def _find_program(name: str, environ: Mapping[str, str]) -> str | None:
    return shutil.which(name, path=environ.get("PATH", ""))


def find_interpreter(path: str) -> str:
    """The interpreter that a script's first line names, or ''."""
    line = ""  # ValueError: no file can have this name
    with contextlib.suppress(OSError, ValueError), open(path, "rb") as file:
        line = file.readline(256).decode("utf-8", "replace")
    words = line[2:].split() if line.startswith("#!") else []
    if words and os.path.basename(words[0]) == "env" and os.path.exists(words[0]):
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return words[0] if words else ""


# What a command runs.


class Script(NamedTuple):
    """A script or program, and how a command ends without it."""

    path: str  # an absolute one, or the name alone of a program that is looked for on PATH
    status: int  # of the whole command where it is not there; 0: the host sees another one
    is_started: bool = False  # by the command itself, so that it must be executable
    interpreter: str = ""  # the program that is given the script; empty: none, or it is not known


_SHELL = r"-[abefhkmnprtuvxlEi]+|--(?:login|posix|norc|noprofile)"
_SHELL_TEXT = "-[eulx]*c"  # the option behind which a shell is given a command
# Of each interpreter: the status where there is no such script, a pattern for its options without a
# value, and those whose value is the next word.
_INTERPRETERS: tuple[tuple[str, int, str, tuple[str, ...]], ...] = (
    (r"python[0-9.]*|pypy[0-9.]*", 2, r"-[bBdEiIOPqRsSuvx]+|-[WX].+", ("-W", "-X")),
    (r"sh|dash", 2, _SHELL, ("-o", "-eo")),
    (r"bash|zsh|ksh", 127, _SHELL, ("-o", "-O", "-euo", "-eo", "-eux")),
    (r"node|nodejs", 1, r"--(?!eval|print|check|test)[a-z-]+(?:=.*)?", ("-r",)),
    (r"ruby|perl", 2, r"-[wWTt]+|-[IMr].+", ("-I", "-r")),
    (r"bun|deno|tsx|ts-node|php", 1, r"-A|--(?!eval)[a-z-]+(?:=.*)?", ()),
)
# A program that runs another one: its options without and with a value.
_PREFIXES: dict[str, tuple[str, tuple[str, ...]]] = {
    "exec": ("", ()),
    "nohup": ("", ()),
    "command": ("", ()),
    "time": ("-p", ()),
    "nice": (r"-[0-9]+|--adjustment=.*", ("-n",)),
    "ionice": (r"-[ct][0-9]|-t", ("-c", "-n")),
    "setsid": (r"-[fwc]+", ()),
    "stdbuf": (r"-[ioe].+", ()),
    "sudo": (r"-[nEHSkib]+|--[a-z-]+(?:=.*)?", ("-u", "-g")),
    "env": (r"-[i]|--ignore-environment|--unset=.*", ("-u",)),
    "timeout": (r"--(?:foreground|preserve-status)|--[a-z-]+=.*", ("-s", "-k")),
}
_RUNNERS = ("uv", "poetry", "pipenv", "pdm", "rye", "deno", "bun")
_RUNNER_FLAGS = (
    r"-[qAs]|--(?:quiet|no-project|isolated|frozen|locked|offline|no-sync|script|allow-[a-z]+)"
    r"|--[a-z-]+=.*"
)
_RUNNER_VALUES = ("--project", "--directory", "--with", "--python", "-p", "--env-file", "--extra")
_SCRIPT_ENDS = (".py", ".ts", ".js")
_FILE_NAME = re.compile(r"[\w.@+-]{1,60}")
_KEYWORDS = ("if", "for", "while", "until", "case", "[", "[[", "test", "{", "!", "which", "eval")
_OF_SHELLS = {
    *_KEYWORDS,
    *(":", "true", "set", "export", "unset", "local", "cd", "pushd", "mkdir", "umask", "trap"),
    *("type", "echo", "printf", "cat", "sleep", ".", "source", "exit", "then", "else", "elif"),
    *("alias", "break", "builtin", "command", "continue", "declare", "dirs", "exec", "fg", "do"),
    *("getopts", "hash", "history", "jobs", "kill", "let", "popd", "read", "readonly", "}", "("),
    *("return", "shift", "shopt", "times", "typeset", "ulimit", "unalias", "wait"),
}
_PREPARING = ([":"], ["set"], ["export"], ["true"], ["trap"])  # the first word of what runs nothing
_LOSES_STATUS = (";", "|", "&", "\n")
_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_VARIABLE = rf"\$(?:({_NAME})|\{{({_NAME})(?::?-[^{{}}]*)?\}})"
_QUOTED = r"'[^']*'|\"(?:\\.|[^\"\\])*\""
_TOKEN = (  # an operator, a word, or a quote without an end
    r"(?P<operator>&&|\|\||;;|[0-9]*(?:>>|>&|<<|<>|[<>])|&>>?|[;&|()\n])"
    rf"|(?P<word>(?:\\.|{_QUOTED}|[^\s;&|<>()'\"\\])+)|['\"\\].*"
)


def find_scripts(command: str, variables: Mapping[str, str], start: str = "") -> list[Script]:
    """What a command runs first: an interpreter and its script, or a program."""
    folder: str | None = start
    for words, operator in _commands(command, variables):
        if len(words) == 2 and words[0] == "cd" and operator == "&&":
            name = words[1]
            folder = None if folder is None or name is None else os.path.join(folder, name)
        elif words[:1] not in _PREPARING or operator not in (";", "&&"):
            break
    if folder is None or operator in ("||", "?"):  # `||`: the author knows what may be missing
        return []
    scripts = _find(words, folder, variables)
    if "()" in command:  # a name may be that of a function in it
        scripts = [script for script in scripts if "/" in script.path]
    return [one._replace(status=0) for one in scripts] if operator in _LOSES_STATUS else scripts


def replace_word(
    command: str, variables: Mapping[str, str], start: str, path: str, text: str
) -> str:
    """The command with a text in place of each word that names this file."""

    def replace(token: re.Match[str]) -> str:
        value = _value(token["word"], variables) if token["word"] else None
        return text if value and os.path.join(start, value) == path else token[0]

    return re.sub(_TOKEN, replace, command, flags=re.DOTALL)


def name_program(command: str) -> str:
    """The program or script that matters in a command, without arguments: they may be secret."""
    variables = dict.fromkeys(["HOME", *re.findall(_NAME, command)], "/-")
    for script in find_scripts(command, variables, "/")[-1:]:
        name = os.path.basename(script.path)
        if _FILE_NAME.fullmatch(name):
            return f"{script.interpreter} {name}".strip() if "/" in script.path else name
    return ""


def _commands(command: str, variables: Mapping[str, str]) -> Iterator[tuple[list[str | None], str]]:
    """The words of each command, without redirections, and the operator behind it.

    A word is None where its value is not known, and the operator "?" where the file is missing.
    """
    words: list[str | None] = []
    is_redirected = False  # the next word is a file
    for token in re.finditer(_TOKEN, command, re.DOTALL):
        if token[0].startswith("#"):
            break
        if not token["operator"]:
            if not is_redirected:
                words.append(_value(token[0], variables) if token["word"] else None)
            is_redirected = False
        elif re.search("[<>]", token[0]) and not is_redirected:
            is_redirected = True
        else:
            yield words, "?" if is_redirected else token[0]
            words, is_redirected = [], False
    yield words, "?" if is_redirected else ""


def _value(word: str, variables: Mapping[str, str]) -> str | None:
    """A word without its quotes, and with the values of its variables."""
    parts: list[str] = []
    if word.startswith("~"):
        word = re.sub("^~(?=/|$)", "$HOME", word)
        if word[0] == "~":
            return None
    for part in re.findall(rf"{_QUOTED}|(?:\\.|[^'\"])+", word, re.DOTALL):
        text, is_bare = part.strip('"'), part[0] not in "'\""
        if part[0] == "'":
            parts.append(part[1:-1])
            continue
        text = re.sub(_VARIABLE, lambda match: variables.get(match[1] or match[2]) or "$", text)
        if re.search(r"[$`]", text) or (is_bare and re.search(r"[*?]|.\[", text)):
            return None
        parts.append(re.sub(r"(?s)\\(.)", r"\1", text))
    return "".join(parts)


def _find(words: list[str | None], folder: str, variables: Mapping[str, str]) -> list[Script]:
    """What the words of a command run, each with the status where it is not there.

    A relative name is one in `folder`, if that is known.
    """
    rest = words[::-1]  # reversed, so that the first word can be taken off at once
    is_runner = _skip_prefixes(rest)
    first = rest.pop() if rest else None
    if not first or first in _KEYWORDS:
        return []
    if is_runner and first.endswith(_SCRIPT_ENDS):
        return _locate(folder, first, 2)
    name = os.path.basename(first)
    if name in (".", "source"):
        return _locate(folder, rest[-1] if rest else None, 1)
    is_name = _FILE_NAME.fullmatch(first.replace(" ", "_"))  # a quoted one may have blanks
    if is_name and not is_runner and first not in _OF_SHELLS:
        found = [Script(first, 127)]
    else:
        found = [script._replace(is_started=True) for script in _locate(folder, first, 127)]
    for _, status, flags, valued in [row for row in _INTERPRETERS if re.fullmatch(row[0], name)]:
        if flags == _SHELL and re.fullmatch(_SHELL_TEXT, (rest or [""])[-1] or ""):
            given = find_scripts("".join(filter(None, rest[-2:-1])), variables, folder)
        else:
            _skip_options(rest, flags, valued)
            given = _locate(folder, rest[-1] if rest else None, status)
        found += [script._replace(interpreter=script.interpreter or name) for script in given]
    return found


def _locate(folder: str, name: str | None, status: int) -> list[Script]:
    """A script by its absolute path; none where that is not known."""
    if not name or name.startswith("-") or (status == 127 and "/" not in name):  # on PATH
        return []
    path = os.path.join(folder, name.removeprefix("./"))
    return [Script(path, status)] if os.path.isabs(path) else []


def _skip_prefixes(words: list[str | None]) -> bool:
    """Take assignments, and programs that run another one, off the end of reversed words.

    Whether the last of these programs was a runner, which is given a script itself.
    """
    is_runner = False
    while words and words[-1] is not None:
        word = words[-1]
        name = os.path.basename(word)
        if re.match(f"{_NAME}=", word):
            is_runner = False
            words.pop()
        elif name in _PREFIXES:
            is_runner = False
            words.pop()
            _skip_options(words, *_PREFIXES[name])
            if name == "timeout" and words:
                words.pop()
        elif name in _RUNNERS and words[-2:-1] == ["run"]:
            is_runner = True
            del words[-2:]
            _skip_options(words, _RUNNER_FLAGS, _RUNNER_VALUES)
            if words and words[-1] and words[-1].endswith(_SCRIPT_ENDS):
                break
        else:
            break
    return is_runner


def _skip_options(words: list[str | None], flags: str, valued: tuple[str, ...]) -> None:
    """Take options off the end of reversed words; all words where an option is unknown."""
    while words and (words[-1] is None or words[-1].startswith("-")):
        word = words.pop()
        if word == "--":
            return
        if word in valued:
            del words[-1:]
        elif word is None or not re.fullmatch(flags, word):
            words.clear()
