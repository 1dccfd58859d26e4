"""What hookctl 0.2.0 itself leaves on a machine, kept in `tests/records/made/0.2.0.txt` for all later versions.

`python -m tests.made_by_0_2_0 --with HOOKCTL` plays the cases below with the command line of a hookctl 0.2.0 (in an
environment of its own, with the extra `yaml`) and keeps every file: settings, records, backups, programs. Beside them
stand the settings files as they were before, and what 0.2.0 said of its entries and its hooks answered. Nothing here
knows hookctl from inside. The records hold digests of paths, so a case lies in a folder of one name.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import functools
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests import texts
from tests.hostfiles import CORPUS

VERSION = "0.2.0"
TOP = Path("/tmp/hookctl-made-by-0.2.0")
KEPT = Path(__file__).parent / "records" / "made" / "0.2.0.txt"
NOW = 1_800_000_000
PYTHON = "/usr/bin/python3"  # what 0.2.0 registered; the hooks are run with it
# The agent's process as the guard knows it: here it is whatever ran the case.
_PROCESS, _MADE_UP = r'(?<="process":")\d+ \d+ [0-9a-f]{8}:\d+', "99 99 00000000:99"
_VARIABLES = [f"{host}_PROJECT_DIR" for host in ("CLAUDE", "CODEX", "COPILOT", "CURSOR", "FACTORY", "GEMINI",
                                                 "OPENCODE", "OPENHANDS", "QWEN")]  # fmt: skip

BELL = """[pack]
name = "bell"
version = "1"

[rules]
text = "Ring the bell when you are done."

[env]
BELL_LEVEL = "2"

[files]
include = ["ring.sh"]

[[hooks]]
event = "PreToolUse"
matcher = "Bash"
id = "look"
command = "sh {files}/ring.sh"
on_failure = "deny"

[[hooks]]
event = "Stop"
id = "ring"
command = "sh {files}/ring.sh"
timeout = 5
"""
RING = """cat >/dev/null
echo rung >> "$HOME/rung"
printf '{"systemMessage":"ring %s"}' "$BELL_LEVEL"
"""
CHIME = """[pack]
name = "chime"
version = "3"
protocol = "host"

[env]
CHIME_TONE = "low"

[[hooks]]
event = "stop"
command = "true chime"
"""
PACKS = {
    "packs/bell/pack.toml": BELL,
    "packs/bell/ring.sh": RING,
    "packs/chime/pack.toml": CHIME,
    "bin/theirs": """#!/bin/sh\ncat >/dev/null\necho '{"decision":"block","reason":"theirs"}'\n""",
    "project/.git/HEAD": "ref: refs/heads/main\n",
}
CLAUDE = """{
    "model": "m",   "env": {"MINE": "1"},
  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "theirs\\u0020--stop", "timeout": 3}]}],

    "PreToolUse": [ {"matcher": "Bash", "hooks": [{"type":"command", "command": "check-it"}]},
       {"hooks": [ {"type": "command",  "command": "theirs\\u0020--look"} ]} ]}
}"""
INSTALL, SHARED = "install --yes", "install --yes --scope project"
GEMINI = """// top: "quoted" { [ and // again
{
  "ui": {"theme": "Ayu"}, // end of line
  /* a block
     of two lines, with "hooks": {} inside */
  "hooks": { // events
    // before they stop
    "AfterAgent": [
      // {"hooks": [{"name": "old-bell", "type": "command", "command": "old bell"}]},
      {"hooks": [{"name": "bell", "type": "command", "command": "bell", "timeout": 5000}]} // theirs
    ]
  },
  "tools": {"sandbox": false}
  // the end
}
// below
"""


class Case(NamedTuple):
    """Some hosts, and what people do with 0.2.0 there."""

    hosts: tuple[str, ...]
    before: dict[str, str]  # a text, or a file of the corpus
    commands: tuple[str, ...]  # {COMMAND} is the id of the hook with this command
    edits: tuple[tuple[str, str, str], ...] = ()  # then by hand: file, expression, what takes its place
    later: tuple[str, ...] = ("run start --remaining 3",)
    left: tuple[tuple[str, str, str], ...] = ()  # the edits that stay: file, text before hookctl, text without it
    disabled: tuple[str, ...] = ()  # what `enable` takes; {COMMAND} as above
    users_only: tuple[str, ...] = ()  # hosts without a project's settings


def _on(*hosts: str) -> str:
    return " ".join(f"--host {host}" for host in hosts)


_USER = "home/.claude/settings.json"
_OTHERS = ("antigravity", "copilot", "cursor", "grok", "kiro", "openhands", "vscode", "windsurf")
CASES = {
    "claude": Case(
        ("claude",),
        {
            _USER: CLAUDE,
            "home/.claude/CLAUDE.md": "# Mine\n\nBe kind.\n",
            "project/.claude/settings.json": "claude/commands-of-all-kinds.json",
            "project/.claude/settings.local.json": '{ "env": {} }\n',
            "project/CLAUDE.md": "# The team's",
        },
        (
            f"{INSTALL} {_on('claude')} --force --wrap theirs --rules --set latch=false",
            f"{SHARED} {_on('claude')} --mode keepalive",
            f"{INSTALL} --scope local {_on('claude')} --dispatch Bash:5/60",
            f"{INSTALL} ../packs/bell {_on('claude')}",
            f"{INSTALL} ../packs/chime {_on('claude')}",
            f"{SHARED} ../packs/bell {_on('claude')}",
        ),
        (
            (_USER, '"MAX_STOP_BLOCKS": "5"', '"MAX_STOP_BLOCKS": "7"'),
            (_USER, '"BELL_LEVEL": "2"', '"BELL_LEVEL": "3"'),
            (_USER, '"Bash"(?=[^{]+[{]"type": "command", "command": ": hookctl=bell/look)', '"Bash|Edit"'),
            (_USER, '"model": "m"', '"model": "n"'),
        ),
        ("disable {check-it}", "disable chime", "trace on --host claude --for 24h", "run start --remaining 3"),
        (
            (_USER, '"model": "m"', '"model": "n"'),
            (_USER, '"MINE": "1"', '"MINE": "1", "MAX_STOP_BLOCKS": "7", "BELL_LEVEL": "3"'),
        ),
        ("{check-it}", "chime"),
    ),
    "codex": Case(
        ("codex",),
        {
            "home/.codex/config.toml": '# mine\nmodel = "m"   # a comment\n\n[tui]\nnotifications = true\n',
            "home/.codex/hooks.json": "codex/commands-of-all-kinds.json",
            "project/.codex/config.toml": "codex-config/hooks-by-hand.toml",
        },
        (
            f"{INSTALL} {_on('codex')} --trust",
            f"{INSTALL} ../packs/bell {_on('codex')} --trust",
            f"{SHARED} {_on('codex')}",
        ),
        (("home/.codex/hooks.json", '("timeout": )10', r"\g<1>14"),),
        ("disable bell/look --host codex", "run start --remaining 3"),
        disabled=("bell/look",),
    ),
    "gemini": Case(
        ("gemini", "qwen", "droid"),
        {
            "home/.gemini/settings.json": GEMINI,
            "project/.gemini/settings.json": "gemini/comments-crlf-tabs.json",
            "home/.qwen/settings.json": "qwen/comments-crlf-tabs.json",
            "project/.qwen/settings.json": "qwen/bom.json",
            "home/.factory/settings.json": "droid/comments-everywhere.json",
            "project/.factory/hooks.json": "droid-hooks/two-spaces-canonical.json",
        },
        (
            f"{INSTALL} {_on('gemini', 'qwen', 'droid')}",
            f"{INSTALL} ../packs/bell {_on('gemini', 'qwen')}",
            f"{SHARED} {_on('gemini', 'qwen', 'droid')}",
            f"{SHARED} ../packs/bell {_on('qwen')}",
        ),
        (
            ("home/.gemini/settings.json", '"theme": "Ayu"', '"theme": "light"'),
            ("home/.gemini/settings.json",
             r',\s*"AfterTool": \[[^\[]*\[[^\[]*hookctl=guard/post-tool.*\n[^\]]*\][^\]]*\]', ""),
        ),
        ("disable bell/ring --host qwen", "trace on --host gemini --for 24h", "run start --remaining 3"),
        (("home/.gemini/settings.json", '"theme": "Ayu"', '"theme": "light"'),),
        ("bell/ring",),
    ),
    "tables": Case(
        ("hermes", "kimi", "vibe"),
        {
            "home/.hermes/config.yaml": "hermes/with-hooks.yaml",
            "home/.kimi-code/config.toml": "kimi/hooks-by-hand.toml",
            "home/.vibe/hooks.toml": "vibe/all-events.toml",
            "project/.vibe/hooks.toml": "vibe/event-last.toml",
        },
        (
            f"{INSTALL} {_on('hermes', 'kimi', 'vibe')}",
            f"{INSTALL} ../packs/bell {_on('hermes', 'kimi', 'vibe')}",
            f"{SHARED} {_on('vibe')}",
        ),
        (
            ("home/.hermes/config.yaml", "max_turns: 60 ", "max_turns: 80 "),
            ("home/.vibe/hooks.toml", r"\[\[hooks\]\]\n.*\n.*\ncommand = .: hookctl=guard/post-tool.*\n.*\n\n", ""),
        ),
        ("disable guard --host hermes", "disable bell/look --host kimi", "run start --remaining 3"),
        (("home/.hermes/config.yaml", "max_turns: 60 ", "max_turns: 80 "),),
        ("guard", "bell/look"),
        ("hermes", "kimi"),
    ),
    "plugins": Case(
        ("opencode", "pi"),
        {},
        (
            f"{INSTALL} {_on('opencode', 'pi')} --dispatch Bash:5/60",
            f"{SHARED} {_on('opencode', 'pi')}",
        ),
        (("home/.pi/agent/extensions/hookctl.js", '("timeout": )10', r"\g<1>14"),),
        ("disable guard --host pi", "run start --remaining 3"),
        disabled=("guard",),
    ),
    "others": Case(
        _OTHERS,
        {
            "home/.gemini/config/hooks.json": "antigravity/commands-of-all-kinds.json",
            "project/.agents/hooks.json": "antigravity/two-spaces-canonical.json",
            "home/.cursor/hooks.json": "cursor/commands-of-all-kinds.json",
            "project/.cursor/hooks.json": "cursor/tabs.json",
            "home/.openhands/hooks.json": "openhands/unknown-keys.json",
            "project/.openhands/hooks.json": "openhands-wrapped/crlf.json",
            "home/.codeium/windsurf/hooks.json": "windsurf/commands-of-all-kinds.json",
            "project/.windsurf/hooks.json": "windsurf/minified.json",
        },
        (
            f"{INSTALL} {_on(*_OTHERS)}",
            f"{SHARED} {_on(*_OTHERS)}",
            f"{INSTALL} ../packs/bell {_on('cursor', 'copilot')}",
        ),
        later=("disable bell --host copilot", "run start --remaining 3"),
        disabled=("bell",),
    ),
}  # fmt: skip


# The place


@contextlib.contextmanager
def place(name: str) -> Iterator[Path]:
    """The case's folder, empty, with nobody else in it."""
    TOP.mkdir(exist_ok=True)
    with open(TOP / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(TOP / name, ignore_errors=True)
        try:
            yield TOP / name
        finally:
            shutil.rmtree(TOP / name)


def environment(top: Path) -> dict[str, str]:
    """That of every command and hook."""
    return {
        "PATH": f"{top}/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(top / "home"), "HOOKCTL_NOW": str(NOW),
        "NO_COLOR": "1",
    }  # fmt: skip


def call(program: Sequence[str], top: Path, command: str, codes: tuple[int, ...] = (0,)) -> str:
    """What a command prints in the case's project; `{COMMAND}` in it is the id of the hook with that command."""
    for wanted in re.findall(r"\{(.+?)\}", command):
        hooks = json.loads(call(program, top, "hooks --json"))["data"]["hooks"]
        id = next(hook["id"] for hook in hooks if hook["command"] == wanted)
        command = command.replace(f"{{{wanted}}}", id)
    done = subprocess.run(
        [*program, *command.split()], cwd=top / "project", env=environment(top), capture_output=True, text=True,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode in codes, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


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


def _traced(top: Path) -> list[Hook]:
    """The commands of others that are traced in Claude Code's settings."""
    path = top / _USER
    events = json.loads(path.read_text())["hooks"] if path.exists() else {}
    found = [(event, hook["command"]) for event in events for group in events[event] for hook in group["hooks"]]
    return [Hook("claude user traced", event, command) for event, command in found if "hookctl-trace=" in command]


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


# The cases


def play(program: Sequence[str], name: str) -> dict[str, str]:
    """The sections of a case."""
    case = CASES[name]
    with place(name) as top:
        for file, source in {**PACKS, **case.before}.items():
            text = source if "\n" in source or " " in source else (CORPUS / source).read_bytes().decode()
            for path in (top / file, top / "before" / file) if file in case.before else (top / file,):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text.encode())
                path.chmod(0o755 if text.startswith("#!") else 0o644)
        for command in case.commands:
            call(program, top, command)
        for file, old, new in case.edits:
            text = (top / file).read_bytes().decode()
            changed = re.sub(old, new, text, count=1)
            assert changed != text, (file, old, text)
            (top / file).write_bytes(changed.encode())
        for command in case.later:
            call(program, top, command)
        status = call(program, top, "status --json --all")
        files = [path for path in sorted(top.rglob("*")) if path.is_file() and path.suffix != ".lock"]
        found = {heading: re.sub(_PROCESS, _MADE_UP, text) for heading, text in texts.sections(TOP, files).items()}
        shutil.rmtree(top)
        texts.lay(texts.parsed(texts.joined(found, TOP), TOP), TOP, NOW)
        hooks = [*registered(status), *_traced(top)]
        said = {"hooks": hooks, "answers": {hook.name: ask(hook, top) for hook in hooks}}
        return {**found, f"{name}/said.json": json.dumps(said, indent=1) + "\n"}


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


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.made_by_0_2_0", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--with", dest="program", required=True, metavar="HOOKCTL")
    program = [parser.parse_args().program]
    version = subprocess.run([*program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if version != f"hookctl {VERSION}":
        sys.exit(f"{program[0]} is {version}, and these records are made by {VERSION} alone")
    found: dict[str, str] = {}
    for name in CASES:
        found |= play(program, name)
    KEPT.parent.mkdir(exist_ok=True)
    KEPT.write_bytes(texts.joined(texts.named_once(found), TOP).encode())


if __name__ == "__main__":
    main()
