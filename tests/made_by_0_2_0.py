"""What hookctl 0.2.0 itself left on a machine, in `tests/records/made/0.2.0.txt`: it never changes.

Settings, records, backups, programs, the settings files as they were before (`before/`), what 0.2.0 said of its entries
and its hooks answered (`said.json`). Nothing here knows hookctl from inside. The records hold digests of paths, so a
case lies in a folder of one name.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests import texts

TOP = Path("/tmp/hookctl-made-by-0.2.0")
KEPT = Path(__file__).parent / "records" / "made" / "0.2.0.txt"
NOW = 1_800_000_000
PYTHON = "/usr/bin/python3"  # what 0.2.0 registered; the hooks are run with it
_VARIABLES = [f"{host}_PROJECT_DIR" for host in ("CLAUDE", "CODEX", "COPILOT", "CURSOR", "FACTORY", "GEMINI",
                                                 "OPENCODE", "OPENHANDS", "QWEN")]  # fmt: skip


class Case(NamedTuple):
    """Some hosts with 0.2.0 there, and what people did beside it."""

    hosts: tuple[str, ...]
    edits: tuple[tuple[str, str], ...] = ()  # a file, and what somebody wrote into it
    left: tuple[tuple[str, str, str], ...] = ()  # the edits that stay: file, text before hookctl, text without it
    disabled: tuple[str, ...] = ()  # what `enable` takes; {COMMAND} is the id of the hook with this command
    users_only: tuple[str, ...] = ()  # hosts without a project's settings


_USER, _GEMINI, _HERMES = "home/.claude/settings.json", "home/.gemini/settings.json", "home/.hermes/config.yaml"
CASES = {
    "claude": Case(
        ("claude",),
        tuple((_USER, text) for text in ('"MAX_STOP_BLOCKS": "7"', '"BELL_LEVEL": "3"', '"Bash|Edit"', '"model": "n"')),
        (
            (_USER, '"model": "m"', '"model": "n"'),
            (_USER, '"MINE": "1"', '"MINE": "1", "MAX_STOP_BLOCKS": "7", "BELL_LEVEL": "3"'),
        ),
        ("{check-it}", "chime"),
    ),
    "codex": Case(("codex",), disabled=("bell/look",)),
    "gemini": Case(
        ("gemini", "qwen", "droid"),
        ((_GEMINI, '"theme": "light"'),),
        ((_GEMINI, '"theme": "Ayu"', '"theme": "light"'),),
        ("bell/ring",),
    ),
    "tables": Case(
        ("hermes", "kimi", "vibe"),
        ((_HERMES, "max_turns: 80 "),),
        ((_HERMES, "max_turns: 60 ", "max_turns: 80 "),),
        ("guard", "bell/look"),
        ("hermes", "kimi"),
    ),
    "plugins": Case(("opencode", "pi"), disabled=("guard",)),
    "others": Case(
        ("antigravity", "copilot", "cursor", "grok", "kiro", "openhands", "vscode", "windsurf"), disabled=("bell",)
    ),
}


@contextlib.contextmanager
def place(name: str) -> Iterator[Path]:
    """The case's folder, empty, with nobody else in it."""
    TOP.mkdir(exist_ok=True)
    with texts.alone(TOP / name):
        yield TOP / name


def environment(top: Path) -> dict[str, str]:
    """That of every command and hook."""
    return {
        "PATH": f"{top}/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(top / "home"), "HOOKCTL_NOW": str(NOW),
        "NO_COLOR": "1",
    }  # fmt: skip


Run = Callable[[list[str]], tuple[int, str]]  # a command's code, and what it prints


def call(run: Run, command: str, codes: tuple[int, ...] = (0,)) -> str:
    """What a command prints; `{COMMAND}` in it is the id of the hook with that command."""
    for wanted in re.findall(r"\{(.+?)\}", command):
        hooks = json.loads(call(run, "hooks --json"))["data"]["hooks"]
        id = next(hook["id"] for hook in hooks if hook["command"] == wanted)
        command = command.replace(f"{{{wanted}}}", id)
    code, said = run(command.split())
    assert code in codes, f"{command}: {code}\n{said}"
    return said


class Hook(NamedTuple):
    """A registered command of hookctl's."""

    name: str  # host, scope, pack and id
    event: str  # as the host calls it
    command: str


def registered(status: str) -> list[Hook]:
    """The commands that `status --json --all` names, but for those that people removed."""
    hooks = []
    for file in json.loads(status)["data"]["files"]:
        for entry in file["entries"]:
            fields = entry["value"] if entry["kind"] == "element" and entry["state"] != "missing" else {}
            for command in [value for value in fields.values() if ": hookctl=" in str(value)]:
                hooks.append(Hook(f"{file['host']} {file['scope']} {entry['id']}", entry["path"][-1], command))
    return sorted(hooks)


def ask(hook: Hook, top: Path) -> str:
    """What a command answers to its event, with work in hand."""
    payload = {
        "session_id": "s", "transcript_path": "", "cwd": str(top / "project"), "hook_event_name": hook.event,
        "stop_hook_active": False, "prompt": "go on", "tool_name": "Bash", "tool_input": {"command": "true"},
    }  # fmt: skip
    environ = {**environment(top), **dict.fromkeys(_VARIABLES, str(top / "project")), "BELL_LEVEL": "2"}
    done = subprocess.run(
        ["sh", "-c", hook.command], input=json.dumps(payload), cwd=top / "project", env=environ, capture_output=True,
        text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), f"{hook.name}: {done}"
    return done.stdout


@functools.cache
def _kept() -> list[tuple[str, list[str], str]]:
    return list(texts.parsed(KEPT.read_bytes().decode(), TOP))


def lay(name: str) -> None:
    """Write the kept files of a case."""
    texts.lay((file for file in _kept() if file[0].startswith(f"{name}/")), TOP, NOW)


def said(name: str) -> tuple[list[Hook], Mapping[str, str]]:
    """The commands that 0.2.0 registered, and what they answered there."""
    document: dict[str, Any] = json.loads(next(body for file, _, body in _kept() if file == f"{name}/said.json"))
    return [Hook(*hook) for hook in document["hooks"]], document["answers"]
