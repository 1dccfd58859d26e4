"""What each command looks like at a terminal of 80 and 120 columns: `python -m tests.screens --write` takes it anew.

The commands of a first hour run one after the other at a real pseudo-terminal, in a home of their own. Colours are
written as <green>, so that a person can read what is in tests/screens/.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from .served import CLIENT, server_of_hookctl

FOLDER = Path(__file__).parent / "screens"
KINDS = {"80": {}, "120": {}, "80-plain": {"NO_COLOR": "1"}}  # a file's name to what else is in the environment
STOP = """echo '{"session_id": "s1", "cwd": "'"$PWD"'", "stop_hook_active": false}' | \
sh -c "$(sed -n 's/.*"command": "\\(.*\\)",/\\1/p' ~/.claude/settings.json | head -1)" > /dev/null"""
COMMANDS = (
    "hookctl --help",
    "hookctl demo --fast",
    "hookctl install --help",
    "hookctl status",
    "hookctl plan --host claude",
    "hookctl install --host claude",
    "hookctl install --host claude",
    "hookctl status",
    "hookctl doctor",
    "hookctl run remaining 3",
    f"{STOP}; hookctl log",
    "hookctl run status",
    "hookctl doctor",
    'sed -i \'s/"5"/"7"/\' ~/.claude/settings.json; hookctl install --host claude',
    "hookctl status",
    "hookctl install --host codex --host gemini",
    "hookctl status",
    "hookctl status --verbose",
    "hookctl hooks",
    "hookctl doctor",
    "hookctl hosts",
    "hookctl hosts codex",
    "hookctl install --host clode",
    "echo '{\"a\": 1' > ~/.gemini/settings.json; hookctl uninstall --yes",
    "hookctl doctor",
    "hookctl restore ~/.claude/settings.json --list",
    "rm ~/.gemini/settings.json; hookctl uninstall",
    "hookctl status",
)
_NAMES = {"0": "</>", "2": "<dim>", "31": "<red>", "32": "<green>", "33": "<yellow>", "36": "<cyan>"}


def at_a_terminal(command: str, columns: int, environ: Mapping[str, str], cwd: Path) -> str:
    """What a command prints at a terminal of so many columns."""
    pid, screen = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        os.chdir(cwd)
        os.execve("/bin/sh", ["sh", "-c", command], dict(environ))
    shown = b"".join(_read(screen))
    os.waitpid(pid, 0)
    os.close(screen)
    return shown.decode().replace("\r\n", "\n")


def _read(screen: int) -> Iterator[bytes]:
    while True:
        try:
            data = os.read(screen, 65536)
        except OSError:  # the last process has closed it
            return
        if not data:
            return
        yield data


def play(kind: str) -> str:
    """The whole first hour as one text."""
    # The same length everywhere: it decides where lines end.
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="screens-") as folder:
        return _play(Path(folder), kind)


def home_in(root: Path, more: Mapping[str, str]) -> tuple[dict[str, str], Path]:
    """A home with a project below a folder: the environment of its commands, and the project."""
    home, project = root / "home", root / "home" / "project"
    for folder in (project / ".git", home / ".claude", root / "bin"):
        folder.mkdir(parents=True)
    program = root / "bin" / "hookctl"
    program.write_text(CLIENT.format(python=sys.executable, address=server_of_hookctl()))
    program.chmod(0o755)
    environ = {
        "HOME": str(home), "PATH": f"{root}/bin:/usr/bin:/bin", "TERM": "xterm", "LANG": "C.UTF-8", "TZ": "UTC",
        "HOOKCTL_NOW": str(int(time.time())), **more,
    }  # fmt: skip
    return environ, project


def _play(root: Path, kind: str) -> str:
    environ, project = home_in(root, KINDS[kind])
    columns = int(kind.partition("-")[0])
    parts = []
    for command in COMMANDS[: None if kind == "80" else 17]:  # the others show other widths and no colours
        said = command.replace(STOP, "an agent stops")
        parts.append(f"$ {said}\n{at_a_terminal(command, columns, environ, project)}")
    return readable("\n".join(parts), root)


def readable(text: str, root: Path) -> str:
    """The text without what changes from run to run, and with its colours in words."""
    text = re.sub(r"\033\[([0-9;]+)m", lambda match: _NAMES[match[1]], text)
    assert "\033" not in text
    text = text.replace(str(root), "$ROOT")
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "$DATE     $TIME  ", text)
    text = re.sub(r"(\$TIME {3,})\d+", r"\1N", text)  # bytes of a file with paths of this machine
    text = re.sub(r"\b\d+(\s+)s(\s+)ago", r"N\1s\2ago", text)
    text = re.sub(r"\bsince(\s+)\d+(\s+)s\b", r"since\1N\2s", text)
    text = re.sub(r"guard_[0-9a-f]{16}", "guard_$HASH", text)
    # An ID of a command with such paths.
    text = re.sub(r"\b[0-9a-f]{8}(  (?:</>)?guard/)", r"01234567\1", text)
    return re.sub(r"/\S*/python3(?:\.\d+)?", "$PYTHON", text)


def visible(line: str) -> str:
    """A line as it is seen."""
    return re.sub("|".join(map(re.escape, _NAMES.values())), "", line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the files of tests/screens/")
    if not parser.parse_args().write:
        parser.error("nothing to do without --write")
    for kind in KINDS:
        (FOLDER / f"{kind}.txt").write_text(play(kind))


if __name__ == "__main__":
    main()
