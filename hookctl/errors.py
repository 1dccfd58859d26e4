"""The exception for expected failures, and the exit codes."""

from __future__ import annotations

import errno
import re
from collections.abc import Collection, Iterable
from typing import Any

OUT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)  # of a process, or of the machine

OK = 0
FAILED = 1  # an error was found, or a conflict stopped the command
USAGE = 2
UNEXPECTED = 3
UNREADABLE = 4  # something could not be read, parsed or checked; nothing was written
PENDING = 10  # plan --exit-code: a settings file would change
TIMED_OUT = 124  # verify: the time is used up
INTERRUPTED = 130
_FIELDS = ("code", "message", "path", "line", "column", "hint")


class HookctlError(Exception):
    """An expected failure: a stable code, what is wrong, where, and what to do next."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        path: str = "",
        line: int = 0,
        column: int = 0,
        hint: str = "",
        exit_code: int = UNREADABLE,
    ) -> None:
        super().__init__(message)
        self.code, self.message, self.hint, self.exit_code = code, message, hint, exit_code
        self.path, self.line, self.column = path, line, column

    def reworded(self, message: str, hint: str) -> HookctlError:
        """The same error, at the same place, in other words."""
        fields: dict[str, Any] = {**self.as_dict(), "message": message, "hint": hint}
        return HookctlError(**fields, exit_code=self.exit_code)

    def as_dict(self) -> dict[str, object]:
        """The error as the result envelope has it."""
        return {name: getattr(self, name) for name in _FIELDS}

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}:{self.column}" if self.line else self.path
        text = f"{where}: {self.message}" if self.path else self.message
        end = "" if text[-1:] in (".", "!", "?", ":") else "."
        return f"{text}{end} {self.hint}" if self.hint else text


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint's first sentence with the closest known name; empty if none is close."""
    import difflib  # late: only for a misspelt name

    names = {name.lower(): name for name in known}
    # claude-code means claude, and openai-codex means codex, although it resembles opencode.
    matches = [part for part in re.split(r"[-_ ]", word.lower()) if part in names]
    if not matches:  # vscode is as near to codex as a misspelled short name: 0.73
        matches = difflib.get_close_matches(word.lower(), names, 1, cutoff=0.75)
    return f"Did you mean {names[matches[0]]}? " if matches else ""


def require_known(what: str, word: str, known: Collection[str]) -> None:
    """Refuse (usage) a word that is none of the known ones, and name them."""
    if word not in known:
        hint = f"{nearest(word, known)}Use one of: {', '.join(known)}."
        raise usage_error(f"unknown {what} {word!r}", hint)


def usage_error(message: str, hint: str, path: str = "") -> HookctlError:
    """The error of a command that was given wrong options (exit 2)."""
    return HookctlError("usage", message, path=path, hint=hint, exit_code=USAGE)
