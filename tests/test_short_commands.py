"""The commands that install registers, on every host and scope: short, and harmless whatever becomes of their files."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hookctl import hosts
from hookctl.packs import guard, wrapping
from hookctl.settings.targets import Target
from tests.conftest import Hookctl, put
from tests.made_by_0_2_0 import CASES, TOP, Hook, registered, said
from tests.manifest import hook as pack_hook
from tests.manifest import manifest

pytestmark = pytest.mark.usefixtures("fixed_python")

PLACES = [
    (host, scope) for host in hosts.names() for scope in ("user", "project", "local") if scope in hosts.load(host).files
]
QUIET = ("gemini", "qwen")  # they take what a hook says on stderr for an answer
LONGEST = 200  # characters beside the paths
PACK = manifest("bell", pack_hook("PreToolUse", "echo '{}'", matcher="Bash", id="look", on_failure="deny"))


@pytest.fixture(params=PLACES, ids="-".join)
def commands(request: pytest.FixtureRequest, isolated: Path, hookctl: Hookctl) -> list[Hook]:
    """The commands of the guard, with all its events, and of a pack."""
    host, scope = request.param
    put(isolated / "bell" / "pack.toml", PACK)
    put(isolated / "work" / ".git" / "HEAD", "ref: refs/heads/main\n")
    for pack in ([], [str(isolated / "bell")]):
        more = [] if pack else ["--nudge", "report", "--dispatch", "*"]
        done = hookctl("install", *pack, "--host", host, "--scope", scope, *more)
        assert done.code in (0, 1), done.err
    found = registered(hookctl("status", "--all", "--json").out)
    assert {hook.name.split()[1] for hook in found} == {scope}
    assert any("guard/" in hook.name for hook in found)
    return found


def test_each_is_short_and_names_each_path_once(commands: list[Hook], isolated: Path) -> None:
    for hook in commands:
        start, end, _ = hook.command.partition("hook.py")
        path = start.rpartition(" ")[2] + end
        assert hook.command.count(path) == 1
        if "guard/" in hook.name:
            words = hook.command.replace(path, "").replace("/usr/bin/python3", "")
            words = re.sub(r'"\$d/[^"]*"', "", words)  # where Codex' command looks for the project
            assert len(words) < LONGEST, words
            assert words.startswith(f": hookctl={hook.name.split()[2]}; ")
            assert words.endswith("; exit 0")
            assert (" 2>/dev/null" in words) == (hook.name.split()[0] in QUIET)


def lay_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


FATES: dict[str, Callable[[Path], object]] = {
    "deleted": Path.unlink,
    "a folder": lay_folder,
    "unreadable": lambda path: path.chmod(0),
    "broken": lambda path: path.write_text("raise SystemExit(2)"),
    "without Python": lambda path: None,
}


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_whatever_becomes_of_its_files_the_host_sees_nothing(commands: list[Hook], isolated: Path, shell: str) -> None:
    program, work = shutil.which(shell), isolated / "work"
    if program is None:
        pytest.skip(f"there is no {shell}")
    names = {hosts.load(host).environment.project for host, _ in PLACES} - {""}
    environ = {**os.environ, **dict.fromkeys(names, str(work)), "PATH": "/usr/bin:/bin"}
    payload = json.dumps({"session_id": "s", "cwd": str(work), "tool_name": "Bash", "tool_input": {"command": "true"}})
    launchers = [path for root in (isolated / "data", work / ".hookctl") for path in root.rglob("hook.py")]
    assert launchers
    for fate, befall in FATES.items():
        if fate == "unreadable" and os.geteuid() == 0:
            continue
        texts = {path: path.read_bytes() for path in launchers}
        for path in launchers:
            befall(path)
        for name, _, command in commands:
            if fate == "without Python":
                environ["PATH"], command = f"{isolated}/no", command.replace("/usr/bin/python3", "/no/python3")
            done = subprocess.run(
                [program, "-c", command],
                input=payload,
                cwd=work,
                env=environ,
                capture_output=True,
                text=True,
                timeout=20,
            )
            assert (done.returncode, done.stdout) == (0, ""), (name, fate)
            assert done.stderr == "" if name.split()[0] in QUIET else fate == "broken" or done.stderr, (name, fate)
        for path, text in texts.items():
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            path.write_bytes(text)


OLD = [(case, hook) for case in CASES for hook in said(case)[0] if " guard/" in hook.name]


@pytest.mark.parametrize(("case", "hook"), OLD, ids=[f"{case} {hook.name}" for case, hook in OLD])
def test_a_command_of_0_2_0_is_known_word_for_word_and_an_edit_of_it_is_none(case: str, hook: Hook) -> None:
    name, scope, id = hook.name.split()
    project = "" if scope == "user" else str(TOP / case / "project")
    target = Target(hosts.load(name), scope, "/settings", project)
    edits = [hook.command + " ", hook.command.replace(" -S ", " ", 1), hook.command.replace(" -S ", " -S /tmp", 1)]
    for command, is_ours in [(hook.command, True), *((edit, False) for edit in edits)]:
        if "wrap-" in id:
            assert (wrapping.original_of(command) is not None) == is_ours
            continue
        assert bool(guard.config_path(command, id, id.partition("/")[2], target)) == is_ours
        assert scope != "project" or guard.is_shared_command(command, id, target) == is_ours
