"""hookctl completion: a script that completes hookctl's commands, options and values in a shell.

The script has everything in it. typer's own scripts ask hookctl at each TAB instead: one start of Python in bash, two
with rich in fish, and in zsh the apostrophes of the help get lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hookctl import events, hosts, packs
from hookctl.errors import USAGE, HookctlError
from hookctl.model import Result
from hookctl.packs.presets import PRESETS
from hookctl.packs.settings import MODES
from hookctl.places import SCOPES

if TYPE_CHECKING:
    from typer.core import TyperCommand, TyperGroup

SHELLS = ("bash", "zsh", "fish")
_PATHS = {
    "pack": "files", "file": "files", "python": "files", "command": "files",
    "project": "folders", "hook_dir": "folders",
}  # fmt: skip


class _Parameter(NamedTuple):
    """An option, or an argument by its place, and what may follow it."""

    names: tuple[str, ...]  # none: an argument
    label: str
    help: str
    takes_value: bool
    several: bool
    words: tuple[str, ...]
    paths: str  # files | folders; empty: none

    @property
    def offers(self) -> bool:
        return bool(self.words or self.paths)


class _Command(NamedTuple):
    """A command with its options and arguments."""

    name: str
    help: str
    options: tuple[_Parameter, ...]
    arguments: tuple[_Parameter, ...]


def completion(shell: str, table: TyperGroup, choices: Mapping[str, Sequence[str]]) -> Result:
    """The script for one shell, from the command line's own table; `choices` has what only the command line knows."""
    scripts: dict[str, Callable[[list[_Command]], list[str]]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    if shell not in scripts:
        raise HookctlError("usage", f"unknown shell {shell!r}", hint=f"Shells: {', '.join(SHELLS)}.", exit_code=USAGE)
    values = {
        "host": (*hosts.names(), "all"), "pack": packs.names(), "mode": MODES, "shell": SHELLS,
        "preset": (*PRESETS, "none"), "scope": SCOPES,
        "render.scope": (*SCOPES, "managed"), "code": tuple(events.CODES),
        "decision": events.DECISIONS, **choices,
    }  # fmt: skip
    lines = scripts[shell]([_command(name, command, values) for name, command in table.commands.items()])
    return Result({"shell": shell, "script": "\n".join(lines) + "\n"}, tuple(lines))


def _command(name: str, command: TyperCommand, values: Mapping[str, Sequence[str]]) -> _Command:
    found = []
    for parameter in command.params:
        own = parameter.name or ""
        option = parameter.param_type_name == "option"
        found.append(
            _Parameter(
                tuple(one for one in (*parameter.opts, *parameter.secondary_opts) if one.startswith("--")),
                own.strip("_"),
                (getattr(parameter, "help", None) or "").split("\n")[0],
                not (option and parameter.is_flag),
                parameter.multiple or parameter.nargs == -1,
                tuple(values.get(f"{name}.{own}", values.get(own, ()))),
                _PATHS.get(own, ""),
            )
        )
    found.append(_Parameter(("--help",), "help", "Show this message and exit.", False, False, (), ""))
    options = tuple(parameter for parameter in found if parameter.names)
    arguments = tuple(parameter for parameter in found if not parameter.names)
    return _Command(name, (command.help or "").split("\n")[0], options, arguments)


def _bash(commands: list[_Command]) -> list[str]:
    """What follows is looked up by command and option, or by command and the number of arguments so far."""
    names = " ".join(command.name for command in commands)
    cases = [f'/0) words="{names} --version --help" ;;']
    for command in commands:
        for option in command.options:
            cases += [f"{command.name}/{name}) {_bash_value(option)} ;;" for name in option.names if option.offers]
        for place, argument in enumerate(command.arguments):
            spot = "*" if argument.several else place
            cases += [f"{command.name}/{spot}) {_bash_value(argument)} ;;"] if argument.offers else []
    options = [f'{c.name}) options="{" ".join(n for o in c.options for n in o.names)}" ;;' for c in commands]
    return [
        "# Completes hookctl in bash. Load it from ~/.bashrc, or keep it as",
        "# ~/.local/share/bash-completion/completions/hookctl; make it anew after an upgrade.",
        "_hookctl() {",
        "    local cur=${COMP_WORDS[COMP_CWORD]} command= option= options= words= paths= place=0 i word",
        "    for ((i = 1; i < COMP_CWORD; i++)); do",
        "        word=${COMP_WORDS[i]}",
        "        # bash takes --host=claude apart into three words",
        '        if [[ $option ]]; then [[ $word == "=" ]] || option=; continue; fi',
        "        case $word in",
        f"            {' | '.join(_valued(commands))}) option=$word ;;",
        "            -*) ;;",
        "            *) if [[ $command ]]; then place=$((place + 1)); else command=$word; fi ;;",
        "        esac",
        "    done",
        '    [[ $cur == "=" ]] && cur=',
        "    case $command/${option:-$place} in",
        *(f"        {case}" for case in cases),
        "    esac",
        "    case $command in",
        *(f"        {case}" for case in options),
        "    esac",
        '    if [[ -z $option && ( $cur == -* || -z $words$paths ) ]]; then words+=" $options" paths=; fi',
        "    # readline completes paths by itself where nothing else fits",
        "    case $paths in",
        "        files) ;;",
        "        folders) compopt +o default -o dirnames 2>/dev/null ;;",
        "        *) compopt +o default 2>/dev/null ;;",
        "    esac",
        '    COMPREPLY=($(compgen -W "$words" -- "$cur"))',
        "}",
        "complete -o default -F _hookctl hookctl",
    ]


def _valued(commands: list[_Command]) -> list[str]:
    """The options that a value follows, which is then no argument."""
    return sorted({name for c in commands for option in c.options if option.takes_value for name in option.names})


def _bash_value(parameter: _Parameter) -> str:
    words = f'words="{" ".join(parameter.words)}"'
    return f"{words} paths={parameter.paths}" if parameter.paths else words


def _zsh(commands: list[_Command]) -> list[str]:
    described = [f"        {_quoted(f'{command.name}:{command.help}')}" for command in commands]
    cases = []
    for command in commands:
        specs = [_zsh_option(option) for option in command.options]
        specs += [_zsh_argument(argument, at) for at, argument in enumerate(command.arguments, 1) if argument.offers]
        cases.append(f"        {command.name}) _arguments {' '.join(specs)} ;;")
    return [
        "#compdef hookctl",
        "# Completes hookctl in zsh. Keep it as _hookctl in a folder of $fpath, or load it from ~/.zshrc behind",
        "# compinit; make it anew after an upgrade.",
        "_hookctl() {",
        "    local curcontext=$curcontext state line",
        "    local -a commands",
        "    local -A opt_args",
        "    commands=(",
        *described,
        "    )",
        "    _arguments -C '(- *)--version[Print the version.]' '(- *)--help[Show this message and exit.]' \\",
        "        '1: :->command' '*:: :->rest' && return",
        "    case $state in",
        "        command) _describe -t commands command commands; return ;;",
        "    esac",
        "    case $words[1] in",
        *cases,
        "    esac",
        "}",
        'if [[ $funcstack[1] == _hookctl ]]; then _hookctl "$@"; else compdef _hookctl hookctl; fi',
    ]


def _zsh_option(option: _Parameter) -> str:
    text = option.help.replace("\\", "\\\\").replace("]", "\\]")
    value = f":{option.label}:{_zsh_value(option)}" if option.takes_value else ""
    star = "*" if option.several else ""
    return " ".join(_quoted(f"{star}{name}{'=' if value else ''}[{text}]{value}") for name in option.names)


def _zsh_argument(argument: _Parameter, at: int) -> str:
    return _quoted(f"{'*' if argument.several else at}:{argument.label}:{_zsh_value(argument)}")


def _zsh_value(parameter: _Parameter) -> str:
    words = f"({' '.join(parameter.words)})" if parameter.words else ""
    paths = {"files": "_files", "folders": "_files -/", "": ""}[parameter.paths]
    if words and paths:
        return f'{{_alternative "words:{parameter.label}:{words}" "paths:path:{paths}"}}'
    return words or paths or " "


def _fish(commands: list[_Command]) -> list[str]:
    lines = [
        "# Completes hookctl in fish. Keep it as ~/.config/fish/completions/hookctl.fish, and make it anew after an",
        "# upgrade.",
        "",
        "# Succeeds behind this command; with a number only where so many arguments of its stand already.",
        "function __hookctl_at",
        "    set -l plain",
        "    set -l option",
        "    for word in (commandline -opc)[2..]",
        "        if test -n \"$option\"",
        "            set option",
        "            continue",
        "        end",
        "        switch $word",
        f"            case {' '.join(_valued(commands))}",
        "                set option $word",
        "            case '-*'",
        "            case '*'",
        "                set -a plain $word",
        "        end",
        "    end",
        '    test "$plain[1]" = "$argv[1]"; or return 1',
        '    test (count $argv) = 1; or test (count $plain) = (math "$argv[2]" + 1)',
        "end",
        "",
        "complete -c hookctl -f",
        "complete -c hookctl -n '__hookctl_at \"\"' -l version -d 'Print the version.'",
        "complete -c hookctl -n '__hookctl_at \"\"' -l help -d 'Show this message and exit.'",
    ]
    for command in commands:
        at = f"__hookctl_at {command.name}"
        lines.append(f"complete -c hookctl -n '__hookctl_at \"\"' -a {command.name} -d {_fish_quoted(command.help)}")
        for place, argument in enumerate(command.arguments):
            where = at if argument.several else f"{at} {place}"
            lines += [f"complete -c hookctl -n '{where}' {_fish_value(argument)}"] if argument.offers else []
        for option in command.options:
            names = " ".join(f"-l {name[2:]}" for name in option.names)
            value = f" -r {_fish_value(option)}" if option.takes_value else ""
            lines.append(f"complete -c hookctl -n '{at}' {names}{value} -d {_fish_quoted(option.help)}")
    return lines


def _fish_value(parameter: _Parameter) -> str:
    """Paths come from fish itself; it has no option for folders only, but a function."""
    folders = ["(__fish_complete_directories)"] if parameter.paths == "folders" else []
    words = " ".join([*parameter.words, *folders])
    return ("-F" if parameter.paths == "files" else "-f") + (f" -a '{words}'" if words else "")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
