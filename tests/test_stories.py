"""Stories: what somebody types, what hookctl answers, and what is then in the files, byte for byte.

A story is a text (tests/stories/*.txt). It is played, written down again as it really went, and must be the same text:

    -- home/.claude/settings.json --    this file is written; in brackets what bytes cannot say in a text:
                                        (absent), (crlf), (bom), (no final newline)
    $ hookctl install --host claude     a shell runs this; its stdout follows, `! ` before a line of stderr, and [1]
                                        for its exit status, if that is not 0
    == home/.claude/settings.json ==    the file is shown as it is

$ROOT stands for the folder of the story, $PYTHON for the hooks' interpreter, $HASH for that of a
settings file's path, or of the hook's package.
Commands run in $WORK, a folder in it. Claude Code's program is on PATH, no other agent's.
A blank line before a heading belongs to nobody.

`HOOKCTL_TEST_GOLDEN=write` writes each story down as it went: read the difference before you keep it.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from unittest import mock

import pytest

import hookctl.__main__ as main
from hookctl import hosts
from hookctl.system import interpreter

from .conftest import Outcome, programs, put
from .served import CLIENT, server_of_hookctl

STORIES = sorted((Path(__file__).parent / "stories").glob("*.txt"))
WRITE = os.environ.get("HOOKCTL_TEST_GOLDEN") == "write"
_HEADING = r"(?m)^(?=(?:-- .+ --|== .+ ==|\$ .+)$)"
_BOM = b"\xef\xbb\xbf"
# What this process can do without a shell, and the parts of a command that need not be in one shell.
_PLAIN = (
    r"((?:[A-Z_]+=[\w$=.,:/-]* )*)hookctl((?! verify)(?: (?:\$ROOT)?[\w=.,:/-]+)*)"
    r"( > /dev/null(?: 2>&1)?| 2> /dev/null| 2>&1)?"
)
_STATE = r"(?:^|; )(?:cd|export|umask|for|\.)(?: |;|$)|&&|\("
_PART = r"(?:[^;'\"]|'[^']*'|\"[^\"]*\")+"


def _without_git(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables but git's own: an author's name in one of them would change what a story shows."""
    return {name: value for name, value in environ.items() if not name.startswith("GIT_")}


class Stage:
    """Where a story is played: a home, a project and a clock of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        text = CLIENT.format(python=sys.executable, address=server_of_hookctl())
        program = put(root / "bin" / "hookctl", text)
        program.chmod(0o755)
        put(root / "bin" / "claude", f"#!/bin/sh\necho {hosts.load('claude').client.seen}\n").chmod(0o755)
        # A person of Codex, who approves every hook of a file under /hooks.
        approve = put(root / "bin" / "approve", f'#!/bin/sh\nexec {sys.executable} -m tests.approving "$@"\n')
        approve.chmod(0o755)
        self.environ = {
            **_without_git(os.environ), "PATH": f"{root}/bin:/usr/bin:/bin:{programs()}",
            "TZ": "UTC", "HOOKCTL_NOW": "1000000000",
            "ROOT": str(root), "PYTHONPATH": str(Path(__file__).parents[1]),
        }  # fmt: skip
        self.python = self.environ["PYTHON"] = interpreter.choose(self.environ)[0]

    def play(self, text: str) -> str:
        """The story as it really goes."""
        head, *parts = re.split(_HEADING, text)
        return head + "".join(f"{self.part(part.rstrip(chr(10)))}\n\n" for part in parts).rstrip("\n") + "\n"

    def part(self, part: str) -> str:
        heading, _, body = part.partition("\n")
        if heading.startswith("$ "):
            return self.told("\n".join([heading, *self.run(heading[2:])]))
        match = re.fullmatch(r"(--|==) (\S+)(?: \((.+)\))? \1", heading)
        assert match, heading
        path = self.root / match[2]
        if match[1] == "--":
            self.write(path, self.meant(body), match[3] or "")
        return self.shown(match[1], path)

    def meant(self, text: str) -> str:
        text = text.replace("$WORK", str(self.root / "work"))
        return text.replace("$ROOT", str(self.root)).replace("$PYTHON", self.python)

    def told(self, text: str) -> str:
        text = text.replace(str(self.root / "work"), "$WORK")
        text = text.replace(str(self.root), "$ROOT").replace(self.python, "$PYTHON")
        text = re.sub(r"(the file was written at )[-0-9]{10} [:0-9]{8}", r"\1$TIME", text)
        return re.sub(r"(claude-(?:local-)?|guard_)[0-9a-f]{16}", r"\1$HASH", text)

    def write(self, path: Path, body: str, flags: str) -> None:
        text = body if "no final newline" in flags else body + "\n"
        data = text.replace("\n", "\r\n" if "crlf" in flags else "\n").encode()
        put(path, (_BOM if "bom" in flags else b"") + data)

    def shown(self, mark: str, path: Path) -> str:
        """A file's heading, with what its text cannot say, and its text."""
        name = path.relative_to(self.root)
        if not os.path.lexists(path):
            return f"{mark} {name} (absent) {mark}"
        data = path.read_bytes()
        flags = ["bom"] if data.startswith(_BOM) else []
        text = data.removeprefix(_BOM).decode()
        if "\r\n" in text and "\n" not in text.replace("\r\n", ""):
            flags, text = [*flags, "crlf"], text.replace("\r\n", "\n")
        flags += [] if text.endswith("\n") else ["no final newline"]
        said = f" ({', '.join(flags)})" if flags else ""
        return self.told(f"{mark} {name}{said} {mark}\n{text}").removesuffix("\n")

    def run(self, command: str) -> Iterator[str]:
        parts = [command] if re.search(_STATE, command) else re.findall(_PART, command)
        done = [self.part_of_command(part.strip()) for part in parts]
        yield from "".join(outcome.out for outcome in done).splitlines()
        yield from (f"! {line}" for line in "".join(outcome.err for outcome in done).splitlines())
        yield from [f"[{done[-1].code}]"] if done[-1].code else []

    def part_of_command(self, part: str) -> Outcome:
        first, _, rest = part.partition(" | ")
        plain = re.fullmatch(_PLAIN, first)
        if not plain or re.search(_STATE, part):
            return self.in_shell(part)
        to = plain[3] or ""
        done = self.in_process(plain[1], plain[2], is_one_stream=to == " 2>&1")
        out = "" if to.startswith(" >") else done.out
        err = "" if "2>" in to else done.err
        if not rest:
            return Outcome(done.code, out, err)
        piped = self.in_shell(rest, out)
        return piped._replace(err=err + piped.err)

    def in_process(self, variables: str, arguments: str, *, is_one_stream: bool) -> Outcome:
        """The same as in a shell, and ten times as fast."""
        out, argv = io.StringIO(), [str(self.root / "bin" / "hookctl")]
        err = out if is_one_stream else io.StringIO()
        environ = dict(variable.split("=", 1) for variable in self.filled(variables))
        with (
            mock.patch.dict(os.environ, {**self.environ, **environ}, clear=True), mock.patch.object(sys, "argv", argv),
            contextlib.chdir(self.root / "work"), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err),
        ):  # fmt: skip
            time.tzset()
            code = main.run(self.filled(arguments))
        time.tzset()
        return Outcome(code, out.getvalue(), err.getvalue())

    def filled(self, words: str) -> list[str]:
        return words.replace("$ROOT", str(self.root)).split()

    def in_shell(self, command: str, stdin: str = "") -> Outcome:
        done = subprocess.run(
            ["sh", "-c", command], capture_output=True, text=True, env=self.environ, cwd=self.root / "work",
            input=stdin, timeout=60,
        )  # fmt: skip
        return Outcome(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_a_story_goes_as_it_is_told(isolated: Path, path: Path) -> None:
    text = path.read_bytes().decode()
    played = Stage(isolated).play(text)
    if WRITE:
        path.write_bytes(played.encode())
    assert played == text


def test_there_are_stories() -> None:
    assert len(STORIES) >= 12
