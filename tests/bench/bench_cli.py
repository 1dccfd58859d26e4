"""The command line: a no-op install, doctor, all hooks of a machine, and status over many settings files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench import cpu, ratio

_HOOKCTL = os.path.join(os.path.dirname(sys.executable), "hookctl")
_ROUNDS = 25
_MANY = 1000
_HOOKS = 200
# hookctl's main in a process that says at its end how much CPU time it took itself, without what it started.
_ITSELF = """
import os, resource, sys
from hookctl.__main__ import main

def end(code):
    own = resource.getrusage(resource.RUSAGE_SELF)
    sys.stderr.write(f"\\n{own.ru_utime + own.ru_stime}")
    sys.stderr.flush()
    leave(code)

leave, os._exit = os._exit, end
main()
"""


def rows() -> list[tuple[str, str, float, str]]:
    """What, yardstick, ratio of the medians, aim."""
    with tempfile.TemporaryDirectory() as home:
        environ = {"HOME": home, "PATH": os.environ["PATH"]}
        return [_no_op(environ), _doctor(environ), _hooks(environ), _status(environ)]


def _no_op(environ: dict[str, str]) -> tuple[str, str, float, str]:
    install = [_HOOKCTL, "install", "--host", "claude"]
    cpu(install, environ)
    typer = [sys.executable, "-c", "import typer"]
    found = ratio(lambda: cpu(install, environ), lambda: cpu(typer, environ), _ROUNDS)
    return "no-op install, one host", "python -c 'import typer' of the same environment", found, "< 1.25"


def _doctor(environ: dict[str, str]) -> tuple[str, str, float, str]:
    """Both without the processes that they start: doctor's self-test runs the hook."""
    doctor, install = ["doctor", "--host", "claude"], ["install", "--host", "claude"]
    cpu([_HOOKCTL, *install], environ)
    found = ratio(lambda: _cpu_of_itself(doctor, environ), lambda: _cpu_of_itself(install, environ), _ROUNDS)
    return "doctor, one host, without its self-test's processes", "no-op install", found, "< 1.8"


# Where eight hosts have their hooks, and their names of two events; with groups, or without. OpenCode has modules.
_EIGHT = (
    (".claude/settings.json", "PreToolUse", "Stop", True),
    (".codex/hooks.json", "PreToolUse", "Stop", True),
    (".gemini/settings.json", "BeforeTool", "AfterAgent", True),
    (".qwen/settings.json", "PreToolUse", "Stop", True),
    (".copilot/hooks/own.json", "preToolUse", "agentStop", False),
    (".cursor/hooks.json", "preToolUse", "stop", False),
    (".factory/settings.json", "PreToolUse", "Stop", True),
    (".openhands/hooks.json", "PreToolUse", "Stop", True),
)


def _hooks(environ: dict[str, str]) -> tuple[str, str, float, str]:
    """Every fourth hook runs a script, of which there are twenty; these are looked at too."""
    home = Path(environ["HOME"], "nine")
    own = dict(environ, HOME=str(home), HOOKCTL_STATE_DIR=f"{home}/state", HOOKCTL_DATA_DIR=f"{home}/data")
    (home / "bin").mkdir(parents=True)
    for number in range(20):
        (home / "bin" / f"hook{number}.py").write_text("import json, sys\n\nprint(json.load(sys.stdin))\n" * 5)
    for name, tool, stop, has_groups in _EIGHT:
        _register(home / name, (tool, stop), _HOOKS // 9, has_groups=has_groups)
    modules = home / ".config" / "opencode" / "plugin"
    modules.mkdir(parents=True)
    for number in range(_HOOKS - _HOOKS // 9 * 8):
        (modules / f"own{number}.js").write_text("export const Own = async () => ({ event: async () => {} })\n")
    install = [_HOOKCTL, "install", "--host", "claude"]
    cpu(install, own)
    found = ratio(lambda: cpu([_HOOKCTL, "hooks"], own), lambda: cpu(install, own), _ROUNDS)
    return f"hooks, nine hosts with {_HOOKS} hooks", "no-op install", found, "< 2"


def _register(path: Path, events: tuple[str, str], count: int, *, has_groups: bool) -> None:
    """Write so many hooks into a settings file, on both events."""
    hooks: dict[str, list[object]] = {event: [] for event in events}
    for number in range(count):
        command = f"say {path.name} {number}" if number % 4 else f"python3 ~/bin/hook{number % 20}.py"
        handler = {"type": "command", "command": command}
        hooks[events[number % 2]].append({"matcher": "*", "hooks": [handler]} if has_groups else handler)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"version": 1, "hooks": hooks} if "openhands" not in str(path) else hooks, indent=2))


def _status(environ: dict[str, str]) -> tuple[str, str, float, str]:
    """Every settings folder that CLAUDE_CONFIG_DIR names is a registration of its own."""
    one = dict(environ, HOOKCTL_STATE_DIR=f"{environ['HOME']}/one", HOOKCTL_DATA_DIR=f"{environ['HOME']}/data-one")
    cpu([_HOOKCTL, "install", "--host", "claude"], dict(one, CLAUDE_CONFIG_DIR=f"{environ['HOME']}/single"))
    many = dict(environ, HOOKCTL_STATE_DIR=f"{environ['HOME']}/many", HOOKCTL_DATA_DIR=f"{environ['HOME']}/data-many")
    _install_many(many)
    status = [_HOOKCTL, "status"]
    found = ratio(lambda: cpu(status, many), lambda: cpu(status, one), 3)
    return f"status over {_MANY} settings files", "status over one", found, "< 1000"


def _install_many(environ: dict[str, str]) -> None:
    """One real install, and its settings file and ledger page again under a thousand names."""
    first = Path(environ["HOME"], "config-0", "settings.json")
    cpu([_HOOKCTL, "install", "--host", "claude"], dict(environ, CLAUDE_CONFIG_DIR=str(first.parent)))
    ledger = Path(environ["HOOKCTL_STATE_DIR"], "ledger.json")
    pages = json.loads(ledger.read_bytes())
    (page,) = pages["files"].values()
    for n in range(1, _MANY):
        copy = first.parents[1] / f"config-{n}" / "settings.json"
        copy.parent.mkdir()
        shutil.copy(first, copy)
        pages["files"][str(copy)] = page
    ledger.write_text(json.dumps(pages))


def _cpu_of_itself(arguments: list[str], environ: dict[str, str]) -> float:
    """The CPU time of one call of hookctl in seconds, without that of the processes that it starts."""
    call = [sys.executable, "-c", _ITSELF, *arguments]
    done = subprocess.run(call, env=environ, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return float(done.stderr.rpartition("\n")[2])
