"""Finds the script that a hook's command runs, from the command's text alone.

Nothing is run. Where only a shell could know, because of a condition, a substitution, or a variable
with an unknown value, there is no answer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hookctl.hosts.shapes import FAILS_OPEN


class Script(NamedTuple):
    """A script or program, and how a command ends without it."""

    path: str  # an absolute one, or the name alone of a program that is looked for on PATH
    status: int  # of the whole command where it is not there; 0: the host sees another one
    is_started: bool = False  # by the command itself, so that it must be executable
    interpreter: str = ""  # the program that is given the script; empty: none, or it is not known


class _Interpreter(NamedTuple):
    status: int  # where there is no such script
    flags: str  # a pattern for options without a value
    valued: tuple[str, ...] = ()  # options whose value is the next word


_SHELL = _Interpreter(2, r"-[abefhkmnprtuvxlEi]+|--(?:login|posix|norc|noprofile)", ("-o", "-eo"))
_SHELL_TEXT = "-[eulx]*c"  # the option behind which a shell is given a command
_INTERPRETERS = (
    (r"python[0-9.]*|pypy[0-9.]*", _Interpreter(2, r"-[bBdEiIOPqRsSuvx]+|-[WX].+", ("-W", "-X"))),
    (r"sh|dash", _SHELL),
    (r"bash|zsh|ksh", _SHELL._replace(status=127, valued=("-o", "-O", "-euo", "-eo", "-eux"))),
    (r"node|nodejs", _Interpreter(1, r"--(?!eval|print|check|test)[a-z-]+(?:=.*)?", ("-r",))),
    (r"ruby|perl", _Interpreter(2, r"-[wWTt]+|-[IMr].+", ("-I", "-r"))),
    (r"bun|deno|tsx|ts-node|php", _Interpreter(1, r"-A|--(?!eval)[a-z-]+(?:=.*)?")),
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
_LOSES_STATUS = (";", "|", "&", "\n")
_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_VARIABLE = rf"\$(?:({_NAME})|\{{({_NAME})(?::?-[^{{}}]*)?\}})"
_QUOTED = r"'[^']*'|\"(?:\\.|[^\"\\])*\""
_TOKEN = (  # an operator, a word, or a quote without an end
    r"(?P<operator>&&|\|\||;;|[0-9]*(?:>>|>&|<<|<>|[<>])|&>>?|[;&|()\n])"
    rf"|(?P<word>(?:\\.|{_QUOTED}|[^\s;&|<>()'\"\\])+)|['\"\\].*"
)
_ASSIGNMENT = re.compile(rf"{_NAME}=")
# What hookctl puts before a pack's command: the mark, on some hosts the trap for a failure, and a
# condition on the pack's first file.
_OWN_HEAD = re.compile(r": hookctl=[A-Za-z0-9._/-]+; ")
_CONDITION, _END_OF_CONDITION = "[ -f ", " ] || exit 0; "


def find_scripts(command: str, variables: Mapping[str, str], start: str = "") -> list[Script]:
    """What a command runs first: an interpreter and its script, or a program."""
    folder: str | None = start
    for words, operator in _commands(_without_own_head(command), variables):
        if not _is_preparation(words, operator):
            break
        if words[0] == "cd":
            name = words[1]
            folder = None if folder is None or name is None else os.path.join(folder, name)
    if folder is None or operator in ("||", "?"):  # `||`: the author knows what may be missing
        return []
    scripts = _find(words, folder, variables)
    if "()" in command:  # a name may be that of a function in it
        scripts = [script for script in scripts if "/" in script.path]
    if operator in _LOSES_STATUS:
        return [script._replace(status=0) for script in scripts]
    return scripts


def name_program(command: str) -> str:
    """The program or script that matters in a command, without arguments: they may be secret."""
    variables = dict.fromkeys(["HOME", *re.findall(_NAME, command)], "/-")
    for script in find_scripts(command, variables, "/")[-1:]:
        name = os.path.basename(script.path)
        if _FILE_NAME.fullmatch(name):
            return f"{script.interpreter} {name}".strip() if "/" in script.path else name
    return ""


def _interpreter(name: str) -> _Interpreter | None:
    known = (kind for pattern, kind in _INTERPRETERS if re.fullmatch(pattern, name))
    return next(known, None)


def _without_own_head(command: str) -> str:
    head = _OWN_HEAD.match(command)
    if head is None:
        return command
    rest = command[head.end() :].removeprefix(FAILS_OPEN)
    condition, end, behind = rest.partition(_END_OF_CONDITION)
    return behind if end and condition.startswith(_CONDITION) else rest


def _is_preparation(words: list[str | None], operator: str) -> bool:
    if len(words) == 2 and words[0] == "cd":
        return operator == "&&"
    return bool(words) and words[0] in (":", "set", "export", "true") and operator in (";", "&&")


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
    """What the words of a command run; a relative name is one in `folder`, if that is known."""
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
    found = [script._replace(is_started=True) for script in _locate(folder, first, 127)]
    if _FILE_NAME.fullmatch(first.replace(" ", "_")) and not is_runner and first not in _OF_SHELLS:
        found = [Script(first, 127)]
    kind = _interpreter(name)
    if kind is None:
        return found
    if kind.flags == _SHELL.flags and re.fullmatch(_SHELL_TEXT, (rest or [""])[-1] or ""):
        given = find_scripts("".join(filter(None, rest[-2:-1])), variables, folder)
    else:
        _skip_options(rest, kind.flags, kind.valued)
        given = _locate(folder, rest[-1] if rest else None, kind.status)
    return [*found, *(script._replace(interpreter=script.interpreter or name) for script in given)]


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
        if _ASSIGNMENT.match(word):
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
