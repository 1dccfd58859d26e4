"""The guard and packs by path with the real Claude Code: at all scopes at once, in a clone, and broken."""

import json
import shutil
from pathlib import Path

import pytest

from tests.manifest import hook as pack_hook
from tests.manifest import manifest

from .claude import Place, Run, bash, play
from .clients import Client
from .product import KEPT, LIMIT, codes, data_folder, decisions, git, hookctl, hookctl_json, leave_work_by_hand

pytestmark = pytest.mark.e2e
OWN_FOLDERS = True

NOTIFY = manifest(
    "notify",
    pack_hook("stop", "sh {files}/PROGRAM {event} {host}", id="done", timeout=10),
    version="VERSION",
    protocol="host",
    description="Writes down every stop",
    files=["PROGRAM"],
    env={"NOTIFY_FILE": "NOTIFIED"},
)
TOOLS = """
[[hooks]]
event = "pre-tool"
matcher = "Bash"
command = "python3 {files}/PROGRAM"
timeout = 10
"""
# What a team has in its project before hookctl comes, formatted by hand.
TEAMS_FILE = """\
{
    "permissions": { "allow": [ "Bash(true:*)" ] },
    "env": { "TEAM": "ours" }
}
"""
SETTINGS = '{ "permissions": {"allow": ["Bash(true:*)"]},\n\n  "env" : {"PAGER":"less"} }'


def write_pack(
    place: Place, version: str = "1.0", program: str = "notify.sh", notified: str = "", more: str = ""
) -> str:
    """Write the pack that notes down its version, event and host; its folder."""
    folder = place.root / "packs" / "notify"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / program).write_text(f'echo "{version} $*" >> "$NOTIFY_FILE"\n')
    text = (NOTIFY + more).replace("VERSION", version).replace("PROGRAM", program)
    (folder / "pack.toml").write_text(text.replace("NOTIFIED", notified or str(place.root / "notified")))
    return str(folder)


def notes(place: Place, notified: Path | None = None) -> list[str]:
    """What the pack noted down since the last look."""
    path = notified or place.root / "notified"
    lines = path.read_text().splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return lines


def all_went_well(run: Run, event: str = "Stop") -> bool:
    """Whether every hook on this event ran without a word of trouble."""
    return {(hook["exit_code"], hook["outcome"], hook["stderr"]) for hook in run.hooks(event)} == {(0, "success", "")}


def contents(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder: the bytes of its files, None for its folders."""
    paths = (path for path in folder.rglob("*") if ".git" not in path.relative_to(folder).parts)
    return {str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes() for path in paths}


def test_at_several_scopes_at_once_a_stop_is_counted_once(claude: Client, place: Place) -> None:
    for scope in ("user", "project", "local"):
        hookctl(place, "install", "--host", "claude", "--scope", scope)
    leave_work_by_hand(place)
    run = play(claude, place, [f"reply {number}" for number in range(1, 12)])
    assert (run.requests, run.result, codes(place)) == (LIMIT + 1, f"reply {LIMIT + 1}", KEPT)
    assert [entry["blocks"] for entry in decisions(place)] == [*range(1, LIMIT + 1), LIMIT]
    assert not run.was_overridden
    findings = hookctl_json(place, "doctor")["findings"]
    assert [finding for finding in findings if finding["level"] == "error"] == []


# Two packs


def test_two_committed_packs_work_in_a_clone_and_leave_it_as_it_was(
    claude: Client, place: Place, tmp_path: Path
) -> None:
    settings = place.project / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(TEAMS_FILE)
    git(place.project, "init", "--quiet")
    git(place.project, "add", "--all")
    git(place.project, "commit", "--quiet", "--message", "begin")
    pack = write_pack(place, notified=".hookctl/run/notified")
    for name in (pack, "guard"):
        hookctl(place, "install", name, "--host", "claude", "--scope", "project")
    git(place.project, "add", "--all")
    git(place.project, "commit", "--quiet", "--message", "install two packs")
    names = git(place.project, "ls-files").splitlines()
    assert [name for name in names if str(place.root).encode() in (place.project / name).read_bytes()] == []

    teammate = Place.make(tmp_path / "team mate's $HOME", own_folders=True)
    git(teammate.root, "clone", "--quiet", str(place.project), str(teammate.project))
    shutil.rmtree(place.root)
    folder = leave_work_by_hand(teammate)
    programs = teammate.root / "bin"
    programs.mkdir()
    (programs / "sh").symlink_to("/bin/sh")
    run = play(claude, teammate, ["done"], environment={"PATH": str(programs)})
    assert (run.requests, run.result, decisions(teammate)) == (1, "done", []), "without Python nobody is kept"
    assert {(hook["exit_code"], hook["stdout"]) for hook in run.hooks("Stop")} == {(0, "")}
    assert notes(teammate, folder / "notified") == ["1.0 stop claude"]
    run = play(claude, teammate, ["done"])
    assert (run.requests, run.result, all_went_well(run)) == (LIMIT + 1, "done", True)
    assert (codes(teammate), notes(teammate, folder / "notified")) == (KEPT, ["1.0 stop claude"] * (LIMIT + 1))
    assert git(teammate.project, "status", "--porcelain") == ""

    hookctl(teammate, "uninstall", "notify", "--scope", "project")
    assert play(claude, teammate, ["done"]).requests == LIMIT + 1
    assert notes(teammate, folder / "notified") == []
    shutil.rmtree(folder)
    hookctl(teammate, "uninstall", "--scope", "project")
    assert contents(teammate.project) == {".claude": None, ".claude/settings.json": TEAMS_FILE.encode()}


# Programs that are gone


@pytest.mark.parametrize("how", ["its file", "its folder"])
def test_a_pack_whose_program_was_deleted_blocks_no_stop_and_refuses_no_tool(
    claude: Client, place: Place, how: str
) -> None:
    hookctl(place, "install", write_pack(place, program="notify", more=TOOLS), "--host", "claude")
    program = next(data_folder(place).rglob("packs/notify/notify"))
    program.unlink() if how == "its file" else shutil.rmtree(data_folder(place))
    run = play(claude, place, [bash("true 1"), "done"])
    assert (run.requests, run.result, run.errors) == (2, "done", "")
    assert all_went_well(run, "Stop") and all_went_well(run, "PreToolUse")
    blocks = [block for line in run.lines if line["type"] == "user" for block in line["message"]["content"]]
    assert [block["is_error"] for block in blocks if block["type"] == "tool_result"] == [False]


def test_without_hookctl_s_own_words_a_deleted_program_refuses_every_tool(claude: Client, place: Place) -> None:
    """What the test above guards against is real: Python's status for a missing file is a refusal to this host."""
    hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": f"python3 {place.root}/gone.py"}]}]}
    place.settings.write_text(json.dumps({"permissions": {"allow": ["Bash(true:*)"]}, "hooks": hooks}))
    run = play(claude, place, [bash("true 1"), "done"])
    assert [hook["exit_code"] for hook in run.hooks("PreToolUse")] == [2]
    blocks = [block for line in run.lines if line["type"] == "user" for block in line["message"]["content"]]
    assert [block["is_error"] for block in blocks if block["type"] == "tool_result"] == [True]
