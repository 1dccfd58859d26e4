"""Commands that mean the same with a shell and without one; some hosts have none."""

from __future__ import annotations

import re

from hookctl.hosts.shapes import split_words

_WORD = r"""(?:[\w@%+=:,./-]|'[^']*'|"[^"$`\\]*")+"""
_PLAIN = re.compile(rf"(?:~(?=/))?{_WORD}(?:[ \t]+{_WORD})*")
# Words that some shell runs itself, or that are a part of its language.
_SHELL_WORDS = re.compile(
    r"[.:]|alias|bg|bind|break|builtin|caller|case|cd|chdir|command|compgen|complete|compopt"
    r"|continue|coproc|declare|dirs|disown|do|done|echo|elif|else|enable|esac|eval|exec|exit"
    r"|export|false|fc|fg|fi|for|function|getopts|hash|help|history|if|in|jobs|kill|let|local"
    r"|logout|mapfile|popd|printf|pushd|pwd|read|readarray|readonly|return|select|set|shift"
    r"|shopt|source|suspend|test|then|time|times|trap|true|type|typeset|ulimit|umask|unalias"
    r"|unset|until|wait|while"
)


def is_plain(command: str) -> bool:
    """Whether a shell runs the same program with the same words as a host without one."""
    if not _PLAIN.fullmatch(command):
        return False
    program = split_words(command)[0]
    return not _SHELL_WORDS.fullmatch(program) and "=" not in program
