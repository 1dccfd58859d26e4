"""Recipes and samples of the pages, run as they stand there."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put
from tests.manifest import hook, manifest

ROOT = Path(__file__).parents[1]
TEAM = ("--host", "claude", "--host", "codex", "--scope", "project")
MANIFEST = manifest("{name}", hook("stop", "sh {{files}}/{name}.sh"), protocol="host", files=["{name}.sh"])


def blocks(page: str, language: str, heading: str = "") -> list[str]:
    """The fenced blocks of a language below a heading of a page, or of the whole page."""
    text = (ROOT / page).read_text()
    if heading:
        text = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found = re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found, (page, heading)
    return found


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True, timeout=60)


@pytest.fixture
def project(isolated: Path, monkeypatch: pytest.MonkeyPatch, fixed_python: None) -> Path:
    """An empty repository with two packs in it, and its folder as the working one."""
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "A")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.com")
    top = isolated / "team"
    for name in ("notify", "audit"):
        put(top / "hooks" / name / "pack.toml", MANIFEST.format(name=name))
        put(top / "hooks" / name / f"{name}.sh", "cat >/dev/null\n")
    monkeypatch.chdir(top)
    git("init", "-qb", "main")
    return top


@pytest.mark.parametrize(
    ("start", "packs"),
    [("merge", []), ("merge", ["./hooks/notify"]), ("rebase", ["./hooks/notify"])],
    ids=["a setting each", "a pack there", "a pack here, rebased"],
)
def test_the_recipe_of_the_team_page_brings_both_branches_together(
    project: Path, hookctl: Hookctl, start: str, packs: list[str]
) -> None:
    def branch(limit: str, old: str, *packs: str) -> None:
        for pack in packs:
            assert hookctl("install", pack, *TEAM, "--yes").code == 0
        assert hookctl("install", *TEAM, "--set", f"MAX_STOP_BLOCKS={limit}").code == 0
        notes.write_text(notes.read_text().replace(old, f"{old} {limit}"))
        git("add", "-A")
        git("commit", "-qm", limit)

    notes = put(project / ".claude" / "agents" / "a.md", "first\n2\n3\n4\n5\nlast\n")
    assert hookctl("install", *TEAM).code == 0
    git("add", "-A")
    git("commit", "-qm", "base")
    git("checkout", "-qb", "theirs")
    branch("7", "last", *(packs if start == "merge" else ()))
    git("checkout", "-q", "main")
    branch("9", "first", *(packs if start == "rebase" else ()))
    assert subprocess.run(["git", start, "theirs"], capture_output=True, timeout=60).returncode == 1
    lines: list[str] = []
    checked = hookctl("check")
    for line in blocks("docs/teams.md", "sh", "Merge conflicts")[0].splitlines():
        command = line.partition("#")[0].replace("MERGE_HEAD", f"{start.upper()}_HEAD").strip()
        if command.startswith("git "):
            assert "checkout" not in command or f"`{command}`" in checked.out
            git(*shlex.split(command)[1:])
        elif command.startswith("hookctl status "):
            lines = re.findall(r"^ *hookctl (install .*)$", hookctl(*command.split()[1:]).out, re.MULTILINE)
        elif command.startswith("hookctl install "):
            assert not packs or command.removeprefix("hookctl ") in lines
            for words in map(shlex.split, lines):
                assert hookctl(*words, agrees=True).code == 0
        else:
            checked = hookctl(*shlex.split(command)[1:])
    assert checked.code == (0 if packs else 1), "notify is required there"
    git("-c", "core.editor=true", start, "--continue")
    required = [word for name in ("guard", *packs) for word in ("--require", name)]
    assert hookctl("check", *required).code == 0
    limit = "7" if start == "merge" else "9"
    settings = json.loads((project / ".claude" / "settings.json").read_text())
    config = json.loads((project / ".hookctl" / "guard" / "codex.json").read_text())
    assert (settings["env"]["MAX_STOP_BLOCKS"], config["max_stop_blocks"]) == (limit, int(limit))
    assert notes.read_text() == "first 9\n2\n3\n4\n5\nlast 7\n"


def walk(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a text with `$ ` in front, and the lines that it prints."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *printed = part.splitlines()
        yield command, printed


def test_the_first_pack_of_the_page_of_packs_goes_as_it_is_shown(isolated: Path) -> None:
    """Every line that is shown is printed, in this order; `...` stands for lines, or for the rest of one."""
    home = isolated / "home"
    environ = {name: value for name, value in os.environ.items() if not name.startswith("HOOKCTL_")}
    environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    shown = "".join(blocks("docs/packs.md", "text", "A first pack in ten minutes"))
    assert shown.count("$ hookctl ") == 7
    for command, lines in walk(shown):
        agreed = command.replace("hookctl install", "hookctl install --yes")  # at a terminal it asks, as is shown
        asked = [line for line in lines if line.startswith("Install ")]
        lines = [line for line in lines if line not in asked]
        assert asked == (["Install no-force? [y/N] y"] if agreed != command else [])
        done = subprocess.run(agreed, shell=True, cwd=home, env=environ, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (command, done)
        printed = done.stderr.replace("hookctl: ", "") + done.stdout
        patterns = [".*".join(re.escape(part) for part in line.split("...")) for line in lines if line != "..."]
        assert re.search(".*^".join(patterns), printed, re.DOTALL | re.MULTILINE), (command, printed)
    assert not (home / ".local" / "share" / "hookctl" / "packs").exists()


def test_the_pack_that_the_page_shows_is_the_one_that_is_made(isolated: Path, hookctl: Hookctl) -> None:
    assert hookctl("pack", "new", "no-force").code == 0
    shown = blocks("docs/packs.md", "toml", "A first pack in ten minutes")
    assert shown == [Path("no-force", "pack.toml").read_text()]


def test_the_notifier_beside_the_guard_speaks_only_at_a_stop_that_is_one(isolated: Path, hookctl: Hookctl) -> None:
    (program,) = [block for block in blocks("docs/guard.md", "sh") if "--session" in block]
    assert "  sleep 2 " in program and program.endswith(") >/dev/null 2>&1 &\n")
    put(Path("notify.sh"), program.replace("  sleep 2 ", "  : ").replace(">&1 &\n", ">&1\n"))
    assert hookctl("install", "--host", "claude").code == 0
    settings = json.loads((isolated / "home" / ".claude" / "settings.json").read_text())
    (guard,) = settings["hooks"]["Stop"][0]["hooks"]
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    fields = {"hook_event_name": "Stop", "session_id": "S1", "cwd": os.getcwd(), "prompt_id": "p1"}
    payload = json.dumps({**fields, "stop_hook_active": False})
    told = []
    for remaining in ("2", "0"):
        assert hookctl("run", "remaining", remaining).code == 0
        for command in (guard["command"], "sh ./notify.sh claude"):
            subprocess.run(command, shell=True, input=payload, env=environ, text=True, check=True, timeout=60)
        log = isolated / "home" / "agents.log"
        told.append(log.read_text() if log.exists() else "")
    assert told == ["", "claude is done\n"]
