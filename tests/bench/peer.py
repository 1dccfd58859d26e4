"""hookctl beside harness-hooks 0.2.0, the closest peer: `python -m tests.bench.peer`, by hand (pip, strace, minutes).

Both install the same: a Stop hook and one env value, in a home of their own each time.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import venv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench.bench_hook import cpu

PEER = "harness-hooks==0.2.0"
CORPUS = Path(__file__).parents[1] / "corpus" / "claude"
THEIRS = '{\n    "model": "opus",\n    "env": {"MINE": "1"},\n    "n": 0\n}\n'
ROUNDS = 30
CHANGING = (  # with a ? each, since no machine has them all
    "?write,?pwrite64,?rename,?renameat,?renameat2,?link,?linkat,?symlink,?symlinkat,?unlink,?unlinkat,?mkdir,?mkdirat,"
    "?rmdir,?truncate,?ftruncate,?chmod,?fchmod,?fchmodat,?chown,?fchown,?fchownat,?fsync,?fdatasync"
)


class Tool(NamedTuple):
    """An installer: its program, its Python, and what it calls a pack."""

    name: str
    program: str
    python: str
    suffix: str

    def install(self, home: Path, pack: str = "a") -> list[str]:
        consent = ["--yes"] if self.name == "hookctl" else []
        return [self.program, "install", str(home.parent / f"{pack}{self.suffix}"), *self._host(), *consent]

    def remove(self, home: Path, pack: str = "a") -> list[str]:
        named = pack if self.name == "hookctl" else str(home.parent / f"{pack}{self.suffix}")
        return [self.program, "uninstall" if self.name == "hookctl" else "remove", named, *self._host()]

    def _host(self) -> list[str]:
        return ["--host", "claude"] if self.name == "hookctl" else ["--agent", "claude"]


def tools(folder: Path) -> list[Tool]:
    """Both installers; the peer in a virtual environment of its own."""
    venv.create(folder / "peer", with_pip=True)
    python = str(folder / "peer" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", PEER], check=True, stderr=subprocess.DEVNULL)
    own = os.path.join(os.path.dirname(sys.executable), "hookctl")
    return [
        Tool("hookctl", own, sys.executable, ".toml"),
        Tool(PEER, str(folder / "peer" / "bin" / "harness-hooks"), python, ".json"),
    ]


# A home, and what is in it


@contextlib.contextmanager
def a_home(text: bytes | str | None = THEIRS) -> Iterator[Path]:
    """A fresh home with these settings, and two packs beside it."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        settings(home).parent.mkdir(parents=True)
        if text is not None:
            settings(home).write_bytes(text.encode() if isinstance(text, str) else text)
        for name in "ab":
            hook, env = {"command": f"echo {name}", "timeout": 10}, {f"BENCH_{name.upper()}": "5"}
            page = {"name": name, "hooks": {"Stop": [hook]}, "env": env}
            Path(folder, f"{name}.json").write_text(json.dumps(page))
            Path(folder, f"{name}.toml").write_text(
                f'[pack]\nname = "{name}"\nversion = "1.0.0"\nprotocol = "host"\ndescription = "A bench"\n'
                f'[env]\nBENCH_{name.upper()} = "5"\n'
                f'[[hooks]]\nevent = "stop"\ncommand = "echo {name}"\ntimeout = 10\n'
            )
        yield home


def settings(home: Path) -> Path:
    return home / ".claude" / "settings.json"


def environ(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}


def run(command: list[str], home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=environ(home), capture_output=True, text=True, stdin=subprocess.DEVNULL)


def read(home: Path) -> Any:
    """The settings, or None where they are torn."""
    try:
        return json.loads(settings(home).read_bytes())
    except ValueError:
        return None


def entries(page: Any, pack: str) -> int:
    """How many of a pack's two entries are there."""
    commands = [hook["command"] for group in page.get("hooks", {}).get("Stop", []) for hook in group["hooks"]]
    return sum(f"echo {pack}" in c for c in commands) + (f"BENCH_{pack.upper()}" in page.get("env", {}))


# The rows


def formatting(tool: Tool) -> dict[str, str]:
    """Over the corpus of settings files: is what is not ours as it was, and do the bytes come back?"""
    kept = back = installed = 0
    paths = sorted(path for path in CORPUS.glob("*.json") if path.is_file())
    for path in paths:
        with a_home(path.read_bytes()) as home:
            if run(tool.install(home), home).returncode:
                continue
            installed += 1
            kept += is_kept(text_of(path), text_of(settings(home)))
            run(tool.remove(home), home)
            back += settings(home).exists() and settings(home).read_bytes() == path.read_bytes()
    return {
        f"corpus of {len(paths)} files: installed": str(installed),
        "... all that is not ours kept as it was": f"{kept} of {installed}",
        "... the very bytes back after uninstall": f"{back} of {installed}",
    }


def text_of(path: Path) -> str:
    return path.read_bytes().decode()


def is_kept(old: str, new: str) -> bool:
    """Whether every word and every blank of the old text is there, and nothing but entries with their blanks came."""
    a, b = (re.findall(r'\s+|"(?:[^"\\]|\\.)*"|[^\s"]', text) for text in (old, new))
    for kind, start, end, first, last in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        gone, came = "".join(a[start:end]), "".join(b[first:last])
        if kind != "equal" and (gone.strip() or (old.strip() and not came.strip())):
            return False
    return True


def overrides(tool: Tool) -> dict[str, str]:
    """What the operator changed after the install: is it still so?"""
    with a_home() as home:
        run(tool.install(home), home)
        page = read(home)
        page["env"]["BENCH_A"], page["hooks"]["Stop"][0]["hooks"][0]["timeout"] = "9", 20
        settings(home).write_text(json.dumps(page, indent=2))
        run(tool.install(home), home)
        again = read(home)
        run(tool.remove(home), home)
        gone = read(home)
    timeouts = [hook.get("timeout") for group in again["hooks"]["Stop"] for hook in group["hooks"]]
    return {
        "operator's env value kept: reinstall, uninstall": f"{yes(again['env'].get('BENCH_A') == '9')}, "
        f"{yes(gone.get('env', {}).get('BENCH_A') == '9')}",
        "operator's timeout kept on reinstall": yes(timeouts == [20]),
    }


def races(tool: Tool) -> dict[str, str]:
    """Two installs of different packs at once: every entry of both should be there."""
    rounds = lost = 0
    for _ in range(ROUNDS):
        with a_home() as home:
            calls = [tool.install(home, pack) for pack in "ab"]
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
            for process in [subprocess.Popen(call, env=environ(home), **quiet) for call in calls]:
                process.wait()
            missing = 4 - sum(entries(read(home) or {}, pack) for pack in "ab")
            rounds, lost = rounds + bool(missing), lost + missing
    return {f"two installs at once, {ROUNDS} rounds: with a loss, entries lost": f"{rounds}, {lost}"}


def kills(tool: Tool) -> dict[str, str]:
    """SIGKILL right before each system call that changes a file; then the next run."""
    with a_home() as home:
        log = home.parent / "log"
        run(strace(f"--output={log}", *tool.install(home)), home)
        names = re.findall(r"^(?:\d+ +)?(\w+)\(", log.read_text(), re.MULTILINE)
        whole, files = settings(home).read_bytes(), names_below(home)
    torn = left = wrong = kill_count = 0
    for name, count in Counter(names).items():
        for number in range(1, count + 1):
            with a_home() as home:
                inject = f"--inject={name}:signal=KILL:when={number}"
                kill_count += run(strace("--output=/dev/null", inject, *tool.install(home)), home).returncode != 0
                torn += read(home) is None
                run(tool.install(home), home)
                left += len(names_below(home) - files)
                wrong += settings(home).read_bytes() != whole
    return {
        "SIGKILL before each file-changing system call: kills": str(kill_count),
        "... settings empty or torn": str(torn),
        "... after the next run: files left over, settings not as wanted": f"{left}, {wrong}",
    }


def strace(*arguments: str) -> list[str]:
    return ["strace", "-f", "-qq", "--signal=none", f"--trace={CHANGING}", *arguments]


def names_below(home: Path) -> set[str]:
    """Every file and folder; hashes and times in a name differ from home to home."""
    return {re.sub("[0-9a-f]{16,}", "#", str(path.relative_to(home))) for path in home.rglob("*")}


def foreign(tool: Tool) -> dict[str, str]:
    """A program that takes no lock reads the settings, counts up and renames its own over them, in a loop."""
    over, seen = threading.Event(), Counter[str]()

    def write(path: Path) -> None:
        last = 0
        while not over.is_set():
            page = read(path.parents[1])
            if page is None:
                seen["torn"] += 1
                continue
            seen["lost"] += page["n"] != last
            last = page["n"] = page["n"] + 1
            path.with_suffix(".theirs").write_text(json.dumps(page, indent=2))
            os.replace(path.with_suffix(".theirs"), path)
            seen["written"] += 1
            time.sleep(0.02)

    with a_home() as home:
        thread = threading.Thread(target=write, args=(settings(home),))
        thread.start()
        for _ in range(ROUNDS):
            gave_up = run(tool.install(home), home).returncode != 0
            seen["gave up"] += gave_up or run(tool.remove(home), home).returncode != 0
        over.set()
        thread.join()
    row = f"a foreign writer, {ROUNDS} times installed and removed: its writes lost, times that a run gave up"
    return {row: f"{seen['lost']} of {seen['written']}, {seen['gave up']}"}


def places(tool: Tool) -> dict[str, str]:
    """Links, modes, and files that the host would not read."""
    with a_home() as home:
        target = home / "dotfiles.json"
        settings(home).rename(target)
        target.chmod(0o640)
        settings(home).symlink_to(target)
        run(tool.install(home), home)
        link, mode = settings(home).is_symlink() and entries(read(home), "a") == 2, target.stat().st_mode & 0o777
    bad = {"a comment": "// mine\n{}\n", "a torn file": '{"env": {', "not UTF-8": b'{"a": "\xff"}'}
    said = []
    for text in bad.values():
        with a_home(text) as home:
            done = run(tool.install(home), home)
            same = settings(home).read_bytes() == (text.encode() if isinstance(text, str) else text)
            said.append("lost" if not same else "traceback" if "Traceback" in done.stderr else "message")
    return {
        "a link and the mode 0640 behind it kept": f"{yes(link)}, {yes(mode == 0o640)}",
        f"{', '.join(bad)}: untouched, with": ", ".join(said),
    }


def speed(tool: Tool) -> dict[str, str]:
    """CPU time of an install with nothing to do, taking turns with the bare interpreter."""
    calls = [[tool.python, "-c", "pass"]]
    times: list[list[float]] = [[], [], []]
    with a_home() as home:
        calls += [tool.install(home), *([[tool.program, "install", *tool._host()]] if tool.name == "hookctl" else [])]
        environment = {**environ(home), "PYTHONDONTWRITEBYTECODE": ""}
        for _ in range(ROUNDS):
            for command, taken in zip(calls, times, strict=False):
                taken.append(cpu(command, b"", environment))
    bare, *ratios = (statistics.median(taken) for taken in times if taken)
    row = "install with nothing to do (and of hookctl's own guard), times `python -c pass`"
    return {row: ", ".join(f"{ratio / bare:.1f}" for ratio in ratios)}


def yes(so: bool) -> str:
    return "yes" if so else "no"


def main() -> None:
    """Measure both and print the table."""
    if not shutil.which("strace"):
        sys.exit("this bench needs strace")
    with tempfile.TemporaryDirectory() as folder:
        both = tools(Path(folder))
        found: list[dict[str, str]] = [{} for _ in both]
        for measure in (formatting, overrides, races, kills, foreign, places, speed):
            for tool, rows in zip(both, found, strict=True):
                print(f"measuring {measure.__name__} of {tool.name} ...", file=sys.stderr)
                rows |= measure(tool)
    table = [("what", *(tool.name for tool in both)), *((what, *(rows[what] for rows in found)) for what in found[0])]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


if __name__ == "__main__":
    main()
