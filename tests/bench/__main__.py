"""Print the table of speeds: python -m tests.bench.

Speed as ratios of CPU time, measured side by side in one run, in turns; never absolute times, never a timed test.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from hookctl.documents.jsonc import JsonDocument
from tests.bench import walk
from tests.templates.lab import lay
from tests.templates.runner_bench import Bench

Row = tuple[str, str, float, str]  # what, yardstick, ratio of the medians, aim
PYTHON = shutil.which("python3", path="/usr/bin") or getattr(sys, "_base_executable", sys.executable)
HOOKCTL = os.path.join(os.path.dirname(sys.executable), "hookctl")
INSTALL, DOCTOR = ["install", "--host", "claude"], ["doctor", "--host", "claude"]
MANY, HOOKS, KEYS = 1000, 200, 60_000


def cpu(command: list[str], environ: Mapping[str, str], stdin: bytes = b"", folder: Path | None = None) -> float:
    """The CPU time, user and system, of one call in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=stdin, env=environ, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def medians(calls: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """What each of these calls says, in the middle of so many."""
    said = [{name: call() for name, call in calls.items()} for _ in range(rounds)]
    return {name: statistics.median(each[name] for each in said) for name in calls}


def ratio(call: Callable[[], float], yardstick: Callable[[], float], rounds: int) -> float:
    median = medians({"call": call, "yardstick": yardstick}, rounds)
    return median["call"] / median["yardstick"]


# The runtime hook, against the bare interpreter and against itself
def write_transcript(path: Path, size: int, *, one_line: bool = False) -> Path:
    """A transcript of that size, the bulk of it a hole in the file; without a line break if so wanted."""
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}
    content = [call, {"type": "text", "text": "x" * 500}]
    line = json.dumps({"type": "assistant", "message": {"role": "assistant", "content": content}}).encode() + b"\n"
    tail = b"x" * (256 * 1024) if one_line else b"\n" + line * (256 * 1024 // len(line))
    with path.open("wb") as file:
        file.seek(max(0, size - len(tail)))
        file.write(tail)
    return path


def hook_rows(root: Path) -> Iterator[Row]:
    installed, shared, idle, busy = (root / name for name in ("data", "team/.hookctl", "idle", "busy"))
    lay(installed)
    lay(shared)
    idle.mkdir()
    (busy / ".hookctl/run").mkdir(parents=True)
    (busy / ".hookctl/run/task.json").write_text('{"remaining": 2, "heartbeat": "t"}')
    environ = {"PATH": os.defpath, "HOME": str(root), "HOOKCTL_STATE_DIR": str(root / "state"), "MAX_STOP_BLOCKS": "0"}

    def stop(folder: Path, project: Path, session: str, **more: str) -> Callable[[], float]:
        payload = {"session_id": session, "prompt_id": "p", "cwd": str(project), **more}
        command = [PYTHON, "-I", "-S", str(folder / "hook.py"), "stop", "--host", "claude"]
        return partial(cpu, command, environ, json.dumps(payload).encode())

    def reads(name: str, size: int, *, one_line: bool = False) -> Callable[[], float]:
        return stop(installed, busy, name, transcript_path=str(write_transcript(root / name, size, one_line=one_line)))

    runner = Bench(root / "runner")
    asked = json.dumps(runner.tool_call("claude", "Bash", {"command": "ls"})).encode()
    calls = {
        "bare": partial(cpu, [PYTHON, "-I", "-S", "-c", "pass"], environ),
        "shell": partial(cpu, ["/bin/sh", "-c", ":"], environ),
        "runner": partial(cpu, [PYTHON, *runner.command("claude", "PreToolUse", ":")[1:]], environ, asked),
        "idle": stop(installed, idle, "S1"),
        "decision": stop(installed, busy, "S1"),
        "idle, source": stop(shared, idle, "S2"),
        "decision, source": stop(shared, busy, "S2"),
        "small": reads("small", 256 * 1024),
        "large": reads("large", 500_000_000),
        "line": reads("line", 500_000_000, one_line=True),
    }
    medians(calls, 1)  # writes the bytecode
    median = medians(calls, 31)
    median["both"] = median["bare"] + median["shell"]
    python = "python3 -I -S -c pass"
    for what, call, yardstick, against, aim in (
        ("hook, nothing to do", "idle", python, "bare", "below 1.3"),
        ("hook, a decision with state", "decision", python, "bare", "below 1.4"),
        ("the same without bytecode, idle", "idle, source", python, "bare", "below 2.8"),
        ("the same without bytecode", "decision, source", python, "bare", "below 2.8"),
        ("runner, its command does nothing", "runner", f"{python} + sh -c :", "both", "below 1.6"),
        ("hook, 500 MB transcript", "large", "256 KiB transcript", "small", "below 1.2"),
        ("hook, 500 MB in one line", "line", "256 KiB transcript", "small", "below 1.2"),
    ):
        yield what, yardstick, median[call] / median[against], aim


# The command line

# hookctl's main in a process that says at its end how much CPU time it took itself, without what it started.
ITSELF = """
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
# Where eight hosts have their hooks, and their names of two events; OpenCode has modules.
EIGHT = {
    ".claude/settings.json": ("PreToolUse", "Stop"), ".codex/hooks.json": ("PreToolUse", "Stop"),
    ".qwen/settings.json": ("PreToolUse", "Stop"), ".factory/settings.json": ("PreToolUse", "Stop"),
    ".openhands/hooks.json": ("PreToolUse", "Stop"), ".gemini/settings.json": ("BeforeTool", "AfterAgent"),
    ".copilot/hooks/own.json": ("preToolUse", "agentStop"), ".cursor/hooks.json": ("preToolUse", "stop"),
}  # fmt: skip


def command_rows(root: Path) -> Iterator[Row]:
    def home(name: str) -> dict[str, str]:
        own = str(root / name)
        return {
            "PATH": os.environ["PATH"],
            "HOME": own,
            "HOOKCTL_STATE_DIR": f"{own}/s",
            "HOOKCTL_DATA_DIR": f"{own}/d",
        }

    def hookctl(environ: Mapping[str, str], *words: str) -> Callable[[], float]:
        return partial(cpu, [HOOKCTL, *words], environ)

    def itself(*words: str) -> float:
        call = [sys.executable, "-c", ITSELF, *words]
        done = subprocess.run(call, env=plain, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        return float(done.stderr.rpartition("\n")[2])

    plain, nine = home("plain"), home("nine")
    install = hookctl(plain, *INSTALL)
    install()
    typer = partial(cpu, [sys.executable, "-c", "import typer"], plain)
    yield "no-op install, one host", "python -c 'import typer' there", ratio(install, typer, 25), "< 1.25"
    doctor = ratio(partial(itself, *DOCTOR), partial(itself, *INSTALL), 25)
    yield "doctor, one host, without its self-test's processes", "no-op install", doctor, "< 1.8"
    write_hooks(root / "nine")
    hookctl(nine, *INSTALL)()
    found = ratio(hookctl(nine, "hooks"), hookctl(nine, *INSTALL), 25)
    yield f"hooks, nine hosts with {HOOKS} hooks", "no-op install", found, "< 2"
    # Every settings folder that CLAUDE_CONFIG_DIR names is a registration of its own.
    one, many = home("one"), home("many")
    for environ in (one, many):
        hookctl({**environ, "CLAUDE_CONFIG_DIR": f"{environ['HOME']}/config-0"}, *INSTALL)()
    multiply(root / "many")
    found = ratio(hookctl(many, "status"), hookctl(one, "status"), 3)
    yield f"status over {MANY} settings files", "status over one", found, "< 1000"


def write_hooks(home: Path) -> None:
    """Hooks of nine hosts; every fourth runs a script, of which there are twenty; these are looked at too."""
    (home / "bin").mkdir(parents=True)
    for number in range(20):
        (home / "bin" / f"hook{number}.py").write_text("import json, sys\n\nprint(json.load(sys.stdin))\n" * 5)
    for name, events in EIGHT.items():
        hooks: dict[str, list[object]] = {event: [] for event in events}
        for number in range(HOOKS // 9):
            command = f"say {name} {number}" if number % 4 else f"python3 ~/bin/hook{number % 20}.py"
            handler = {"type": "command", "command": command}
            is_flat = events[0] == "preToolUse"
            hooks[events[number % 2]].append(handler if is_flat else {"matcher": "*", "hooks": [handler]})
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(json.dumps(hooks if "openhands" in name else {"version": 1, "hooks": hooks}, indent=2))
    modules = home / ".config" / "opencode" / "plugin"
    modules.mkdir(parents=True)
    for number in range(HOOKS - HOOKS // 9 * 8):
        (modules / f"own{number}.js").write_text("export const Own = async () => ({ event: async () => {} })\n")


def multiply(home: Path) -> None:
    """The one settings file and its page in the ledger again under a thousand names."""
    pages = json.loads((home / "s" / "ledger.json").read_bytes())
    (page,) = pages["files"].values()
    for number in range(1, MANY):
        copy = home / f"config-{number}" / "settings.json"
        copy.parent.mkdir()
        shutil.copy(home / "config-0" / "settings.json", copy)
        pages["files"][str(copy)] = page
    (home / "s" / "ledger.json").write_text(json.dumps(pages))


# One lossless edit, against reading and writing the same text with json

REWRITE = "import json; v = json.loads(open('s').read()); open('o', 'w').write(json.dumps(v, indent=2))"
YARDSTICK = "json.loads + json.dumps(indent=2)"


def settings(size: int) -> str:
    """A settings file of about that many characters, in the form that Claude Code writes."""
    count = size // 400
    handlers = [{"type": "command", "command": f"~/{at}.sh", "timeout": 10} for at in range(count // 2)]
    groups = [{"matcher": "Edit|Write", "hooks": [one]} for one in handlers]
    value: dict[str, Any] = {
        "$schema": "https://json.schemastore.org/claude-code-settings.json",
        "env": {f"TOOL_{at}": f"value {at}" for at in range(count // 2)},
        "permissions": {
            "allow": [f"Bash(tool-{at} run:*)" for at in range(count)],
            "deny": [f"Read(./secrets/{at}/**)" for at in range(count // 2)],
        },
        "hooks": {event: groups for event in ("PreToolUse", "PostToolUse", "Stop")},
    }
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def edit(data: bytes) -> float:
    start = time.process_time()
    assert JsonDocument.parse(data).set(("env", "MAX_STOP_BLOCKS"), "3").data
    return time.process_time() - start


def rewrite(text: str) -> float:
    start = time.process_time()
    value = json.loads(text)
    value["env"]["MAX_STOP_BLOCKS"] = "3"
    assert json.dumps(value, indent=2, ensure_ascii=False)
    return time.process_time() - start


def document_rows() -> Iterator[Row]:
    for name, size, rounds in (("10 kB", 10_000, 300), ("1 MB", 1_000_000, 9)):
        text = settings(size)
        # A remark on every tenth line, as in a hand-kept file.
        remarks = "\n".join(f"{line} // why" if at % 10 == 1 else line for at, line in enumerate(text.split("\n")))
        for what, data in ((f"lossless edit, {name}", text), (f"lossless edit, {name} with comments", remarks)):
            found = ratio(partial(edit, data.encode()), partial(rewrite, text), rounds)
            yield what, f"{YARDSTICK}, without comments", found, "below 4"
    text = json.dumps({f"key_{at}": f"value number {at} of many" for at in range(KEYS)}, indent=2) + "\n"

    def run(*command: str) -> float:
        with tempfile.TemporaryDirectory() as name:
            for path in (Path(name, ".claude", "settings.json"), Path(name, "s")):
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
            environ = {"HOME": name, "PATH": os.environ["PATH"], "PYTHONPATH": str(walk.CHECKOUT)}
            return cpu([sys.executable, *command], environ, folder=Path(name))

    found = ratio(partial(run, "-m", "hookctl", *INSTALL), partial(run, "-c", REWRITE), 5)
    yield f"install into a file of {KEYS} keys, as a process", f"a process of {YARDSTICK}", found, "below 6"


def main() -> None:
    """Measure every row and print it beside its aim, and how far the commands walk through the code."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for what, yardstick, found, aim in (*hook_rows(root), *command_rows(root), *document_rows()):
            print(f"{what:52}  {yardstick:50}  {found:7.2f}  {aim}")
    print("", *walk.table(walk.measure(walk.CHECKOUT)), sep="\n")


if __name__ == "__main__":
    main()
