"""The guard's programs under a tracer: lays down a stand-in for the interpreter that notes each step from line to line.

The lab starts hooks with the interpreter that HOOKCTL_PYTHON_UNDER_TEST names. The stand-in runs a
program of the guard as that interpreter would, and appends what it stepped through to a file a process.
Everything else it leaves to the interpreter.
"""

from __future__ import annotations

import zlib
from pathlib import Path

from tests.templates.lab import PYTHON

ROOT = Path(__file__).resolve().parents[1]
GUARD = ROOT / "templates" / "guard"
_STAND_IN = """\
#!{python} -IS
import atexit, dis, os, posix, sys, threading, zlib

words = sys.argv[1:]
if words[:2] != ["-I", "-S"] or len(words) < 3 or os.path.basename(words[2]) not in ("hook.py", "wrap.py"):
    os.execv({python!r}, [{python!r}, *words])
file = words[2]
try:
    began_in = os.getcwd()
except OSError:
    began_in = "/"
above = os.path.dirname(os.path.normpath(os.path.join(began_in, file))) + "/"
sys.argv = words[2:]
steps, last = set(), {{}}  # of frames the line before
names, ends = {{}}, [dis.opmap.get(name) for name in ("RETURN_VALUE", "RETURN_CONST", "YIELD_VALUE")]


def sum_of(path):
    try:
        with open(path, "rb") as stream:
            return zlib.crc32(b"".join(line for line in stream if not line.startswith(b"PACKAGE = ")))
    except OSError:
        return None  # an upgrade took it away


def name_of(code):
    path = code.co_filename
    if path[:1] == "<":
        return ""
    if path not in names:
        whole = os.path.normpath(os.path.join(began_in, path))
        names[path] = ""
        if whole.startswith(above) and sum_of(whole) in {sums!r}:
            names[path] = whole[len(above):]
    return names[path]


def trace(frame, event, _):
    code = frame.f_code
    name = name_of(code)
    if not name:
        return None
    if event == "call":
        last[frame] = -code.co_firstlineno
    elif event == "line":
        steps.add((name, last.get(frame, -code.co_firstlineno), frame.f_lineno))
        last[frame] = frame.f_lineno
    elif event == "return":
        if code.co_code[frame.f_lasti] in ends:
            steps.add((name, last.get(frame, 0), -code.co_firstlineno))
        last.pop(frame, None)
    return trace


def save():
    sys.settrace(None)
    if not steps:
        return
    text = "".join("%s %d %d\\n" % step for step in sorted(steps.copy()))
    handle = posix.open("{folder}/%d" % posix.getpid(), posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND, 0o600)
    posix.write(handle, text.encode())
    posix.close(handle)
    steps.clear()


def saved_before(function):
    def call(*arguments):
        try:
            save()
        except OSError:
            pass
        return function(*arguments)

    return call


posix._exit = os._exit = saved_before(posix._exit)
posix.execv = os.execv = saved_before(posix.execv)
atexit.register(save)
main = sys.modules["__main__"].__dict__
with open(file, "rb") as stream:
    code = compile(stream.read(), file, "exec")
main["__file__"] = file
threading.settrace(trace)
sys.settrace(trace)
exec(code, main)
"""


def lay_stand_in(folder: Path) -> Path:
    """Put the stand-in beside a folder for what it notes, for tests that run hooks as another user too; its path."""
    notes = folder / "notes"
    notes.mkdir(parents=True)
    notes.chmod(0o777)
    folder.chmod(0o755)
    path = folder / "python"
    path.write_text(_STAND_IN.format(python=PYTHON, folder=notes, sums=_sums()))
    path.chmod(0o755)
    return path


def _sums() -> set[int]:
    """What tells the guard's files as they are from those that a test has changed."""
    sums = set()
    for path in [*GUARD.glob("*.py"), *GUARD.glob("guard/*.py")]:
        lines = path.read_bytes().splitlines(keepends=True)
        sums.add(zlib.crc32(b"".join(line for line in lines if not line.startswith(b"PACKAGE = "))))
    return sums


def steps(folder: Path) -> dict[Path, set[tuple[int, int]]]:
    """What was noted, for each file of the templates."""
    found: dict[Path, set[tuple[int, int]]] = {}
    for note in (folder / "notes").iterdir():
        whole, _, _ = note.read_text().rpartition("\n")  # a full disk cuts a note off
        for line in whole.splitlines():
            name, before, after = line.rsplit(" ", 2)
            module = name.rpartition("/")[2]
            path = GUARD / "guard" / module if name.startswith("guard_") else GUARD / module
            found.setdefault(path, set()).add((int(before), int(after)))
    return found
