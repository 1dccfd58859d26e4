"""The records as a version of hookctl leaves them, kept in `tests/records/VERSION.txt` for all later versions.

`python -m tests.frozen_records` plays the scene below and keeps every file that it leaves. A version that is
released has a line in released.json; its records are never written again.

The records hold digests of files that name their own place, so the scene lies in a folder of one name, and one test
at a time has it. Programs are made up: they are no records, and a later version has other ones anyway; those of 0.2.0
and how they answer are in `tests.made_by_0_2_0`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from hookctl import __version__
from hookctl.__main__ import run
from hookctl.ownership import execute
from hookctl.packs import programs
from hookctl.system import read_data
from tests import texts

TOP = Path("/tmp/hookctl-records")
HOME, WORK, PACKS, REPOSITORY = TOP / "home", TOP / "work", TOP / "packs", TOP / "repository"
STATE, DATA = HOME / ".local/state/hookctl", HOME / ".local/share/hookctl"
KEPT = Path(__file__).parent / "records"
PYTHON = "/usr/bin/python3"
NOW = "1800000000"
# The agent's process as the guard knows it: here it is that of the tests.
_PROCESS, _MADE_UP = r'(?<="process":")\d+ \d+ [0-9a-f]{8}:\d+', "99 99 00000000:99"

CHIME = """[pack]
name = "chime"
version = "3"
protocol = "host"

[[hooks]]
event = "stop"
command = "true chime"
"""
# What is there before hookctl comes: as a person wrote it, and no program would.
SCENE = (Path(__file__).parent / "rows" / "frozen-scene.txt").read_text()
BEFORE = {name: text for name, _, text in texts.parsed(SCENE, TOP)}
USER, PROJECT = "--yes", "--yes --scope project"
COMMANDS = [
    f"install {USER} --host claude --force --wrap theirs --rules --set latch=false",
    f"install {USER} --host codex",
    f"install {USER} --host gemini --host hermes --mode keepalive",
    f"install {USER} --host opencode --host pi --dispatch Bash:5/60",
    f"install {USER} --host kimi",
    f"install {USER} ../packs/bell --host claude --host gemini --host kimi",
    f"install {USER} git+file://{REPOSITORY} --host codex",
    f"install {PROJECT} --host claude --host codex",
    f"install {PROJECT} ../packs/bell --host claude",
    "install --yes ../packs/bell --host claude --scope local",
]
# What a person changes then: a text of theirs, and a field of one of our hooks.
EDITS = {
    "home/.gemini/settings.json": ('"theme": "dark"', '"theme": "light"'),
    "home/.codex/hooks.json": ('"timeout": 10', '"timeout": 12'),
}
LATER = [
    "disable bell/ring --host claude",
    "disable {check-it}",
    "disable guard --host hermes",
    "disable bell/look --host kimi",
    "run remaining 3",
]
STOP = {"session_id": "s", "transcript_path": "", "hook_event_name": "Stop", "stop_hook_active": False}
BASH = {"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "true"}}


# The place
@contextlib.contextmanager
def place() -> Iterator[None]:
    """The scene's folder, empty, with nobody else in it, and the environment in which hookctl runs there."""
    with texts.alone(TOP):
        for folder in (HOME, WORK / ".git"):
            folder.mkdir(parents=True)
        _make_repository()
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        own = {"HOME": str(HOME), "HOOKCTL_STATE_DIR": str(STATE), "HOOKCTL_DATA_DIR": str(DATA),
               "HOOKCTL_NOW": NOW, "NO_COLOR": "1"}  # fmt: skip
        with (
            contextlib.chdir(WORK), mock.patch.dict(os.environ, {**kept, **own}, clear=True),
            mock.patch("hookctl.system.interpreter.choose", lambda environ: (PYTHON, "")),
            mock.patch("hookctl.system.interpreter.on_path", lambda environ, project: ()),
        ):  # fmt: skip
            yield


def _make_repository() -> None:
    """A repository with a pack, whose one commit has the same name each time."""
    date = "2027-01-15T08:00:00Z"
    fixed = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
             for what, value in (("NAME", "a"), ("EMAIL", "a@b"), ("DATE", date))}  # fmt: skip
    environ = {"PATH": os.environ["PATH"], "HOME": str(HOME), "GIT_CONFIG_NOSYSTEM": "1", **fixed}
    REPOSITORY.mkdir()
    (REPOSITORY / "pack.toml").write_text(CHIME)
    for command in ("init -q -b main", "add .", "commit -q --no-gpg-sign -m pack"):
        subprocess.run(["git", *command.split()], cwd=REPOSITORY, env=environ, check=True)


def hookctl(command: str, code: int = 0) -> str:
    """What a command prints, run in this process; it must end with this code."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        done = run(command.split())
    assert done == code, f"{command}: {done}\n{said.getvalue()}"
    return said.getvalue()


# The scenes
@contextlib.contextmanager
def _made_up_programs() -> Iterator[None]:
    """Packages of one small module each, and a launcher that only names them."""
    launcher = b'VERSION = ""\nGUARD = "guard"\nRUNNER = "runner"\n'

    def read(*path: str) -> bytes:
        return launcher if path[0] == "templates" else read_data(*path)

    with (
        mock.patch.object(programs, "read_folder", lambda *path, ending: {f"{path[-1]}.py": b"# of the fixture\n"}),
        mock.patch.object(programs, "read_data", read),
    ):
        programs.load_programs.cache_clear()
        try:
            yield
        finally:
            programs.load_programs.cache_clear()


def play() -> dict[str, str]:
    """The sections of the scene: several hosts, scopes and packs, with what people do to them."""
    _write(BEFORE)
    with _made_up_programs():
        for command in COMMANDS:
            hookctl(command)
        for name, (old, new) in EDITS.items():
            text = (TOP / name).read_text()
            assert old in text, name
            (TOP / name).write_text(text.replace(old, new, 1))
        hooks = json.loads(hookctl("hooks --json"))["data"]["hooks"]
        id = next(hook["id"] for hook in hooks if hook["command"] == "check-it")
        for command in LATER:
            hookctl(command.replace("{check-it}", id))
    os.utime(WORK / ".hookctl/run/task.json", (int(NOW), int(NOW)))  # the guard looks at its age
    _use_hooks()
    return sections()


def _use_hooks() -> None:
    """Ask guard and runner, for what they keep; the real ones, which are there for that long."""
    shutil.copytree(DATA, TOP / "kept")
    for name, data in programs.load_programs().all.items():
        path = DATA / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    for event, payload in (("Stop", STOP), ("Stop", STOP), ("PreToolUse", BASH)):
        ask(event, payload)
    shutil.rmtree(DATA)
    shutil.move(TOP / "kept", DATA)


def ask(event: str, payload: dict[str, object]) -> list[str]:
    """What our hooks in Claude Code's user settings answer."""
    groups = json.loads((HOME / ".claude/settings.json").read_text())["hooks"][event]
    answers = []
    for command in [hook["command"] for group in groups for hook in group["hooks"]]:
        if command.startswith(": hookctl=") and "wrap-" not in command:
            done = subprocess.run(
                ["sh", "-c", command], input=json.dumps({**payload, "cwd": str(WORK)}), cwd=WORK,
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            answers.append(done.stdout)
    return answers


def play_killed() -> dict[str, str]:
    """The sections of another scene: an install that was killed after some of its files."""
    _write(BEFORE)
    with _made_up_programs():
        child = os.fork()
        if not child:
            _install_and_die()
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 9
    return sections()


KILLED = f"install {USER} ../packs/bell --host claude --host gemini"


def _install_and_die() -> None:
    apply, left = execute.apply_change, [4]

    def counted(change: object) -> object:
        left[0] -= 1
        return apply(change) if left[0] else os._exit(9)  # type: ignore[arg-type]

    try:
        with mock.patch.object(execute, "apply_change", counted):
            hookctl(KILLED)
    finally:
        os._exit(1)


SCENES = {"": play, "-killed": play_killed}


# As texts
def _write(files: dict[str, str]) -> None:
    for name, text in files.items():
        path = TOP / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def sections() -> dict[str, str]:
    """Every file of the scene, by its heading: path, and mode and last line where they are unusual."""
    paths = [path for path in sorted(TOP.rglob("*")) if path.is_file() and REPOSITORY not in path.parents]
    found = texts.sections(TOP, [path for path in paths if path.suffix != ".lock"])
    return {heading: re.sub(_PROCESS, _MADE_UP, text) for heading, text in found.items()}


def joined(found: dict[str, str]) -> str:
    return texts.joined(found, TOP)


def parsed(text: str) -> Iterator[tuple[str, list[str], str]]:
    """Path, flags and text of each file of a kept scene."""
    return texts.parsed(text, TOP)


def lay(text: str) -> None:
    """Write the files of a kept scene."""
    texts.lay(parsed(text), TOP, int(NOW))


def is_released(version: str) -> bool:
    return version in json.loads((Path(programs.__file__).parent / "released.json").read_text())


def main() -> None:
    if is_released(__version__):
        sys.exit(f"{__version__} is released, and its records stay: raise the version, then make the new one's")
    for name, scene in SCENES.items():
        with place():
            (KEPT / f"{__version__}{name}.txt").write_text(joined(scene()))


if __name__ == "__main__":
    main()
