"""The guard in the real Claude Code's user, project and local scope: alone, together, in a clone and below the root."""

from pathlib import Path

import pytest

from .claude import Place, play
from .clients import Client
from .product import KEPT, LIMIT, codes, decisions, git, hookctl, hookctl_json, leave_work_by_hand

pytestmark = pytest.mark.e2e
OWN_FOLDERS = True

SCOPES = ("user", "project", "local")
CAP = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"

# What a team has in its project before hookctl comes, formatted by hand.
TEAMS_FILE = """\
{
    "permissions": { "allow": [ "Bash(true:*)" ] },
    "env": { "TEAM": "ours" }
}
"""


def settings_of(place: Place, scope: str) -> Path:
    """The settings file of a scope."""
    name = {"user": "", "project": "settings.json", "local": "settings.local.json"}[scope]
    return place.project / ".claude" / name if name else place.settings


def install(place: Place, scope: str, *options: str) -> str:
    """Install the guard and return what was said, messages too."""
    done = hookctl(place, "install", "--host", "claude", "--scope", scope, *options)
    return done.stdout + done.stderr


def contents(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder: the bytes of its files, None for its folders."""
    paths = (path for path in folder.rglob("*") if ".git" not in path.relative_to(folder).parts)
    return {str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes() for path in paths}


def committed_with(place: Place, text: str) -> list[str]:
    """The project's committed files that have a text in them."""
    names = git(place.project, "ls-files").splitlines()
    return [name for name in names if text.encode() in (place.project / name).read_bytes()]


# Several scopes at once


def test_at_several_scopes_at_once_a_stop_is_counted_once(claude: Client, place: Place) -> None:
    for scope in SCOPES:
        install(place, scope)
    leave_work_by_hand(place)
    run = play(claude, place, [f"reply {number}" for number in range(1, 12)])
    assert (run.requests, run.result) == (LIMIT + 1, f"reply {LIMIT + 1}")
    assert codes(place) == KEPT
    assert [entry["blocks"] for entry in decisions(place)] == [*range(1, LIMIT + 1), LIMIT]
    assert not run.was_overridden

    findings = hookctl_json(place, "doctor")["findings"]
    assert [finding for finding in findings if finding["level"] == "error"] == []


# A committed project


@pytest.fixture
def authors(place: Place) -> Place:
    """A project of which every commit is made: the team's own file, then the guard."""
    settings_of(place, "project").parent.mkdir()
    settings_of(place, "project").write_text(TEAMS_FILE)
    git(place.project, "init", "--quiet")
    git(place.project, "add", ".claude")
    git(place.project, "commit", "--quiet", "--message", "begin")
    install(place, "project")
    leave_work_by_hand(place, 7)
    git(place.project, "add", ".claude", ".hookctl")
    git(place.project, "commit", "--quiet", "--message", "install the guard")
    return place


@pytest.fixture
def teammate(authors: Place, tmp_path: Path) -> Place:
    """A clone in somebody else's home, who has work in hand and has not called hookctl."""
    teammate = Place.make(tmp_path / "teammate", own_folders=True)
    git(teammate.root, "clone", "--quiet", str(authors.project), str(teammate.project))
    authors.project.rename(authors.root / "moved")  # nothing may depend on where it was
    leave_work_by_hand(teammate)
    return teammate


def test_the_guard_works_in_a_clone_without_any_command(claude: Client, teammate: Place, authors: Place) -> None:
    run = play(claude, teammate, [f"reply {number}" for number in range(1, 12)])
    assert (run.requests, run.result) == (LIMIT + 1, f"reply {LIMIT + 1}")
    assert (codes(teammate), decisions(authors)) == (KEPT, [])
    assert git(teammate.project, "status", "--porcelain") == ""


def test_a_teammate_without_python_is_kept_by_nobody(claude: Client, teammate: Place) -> None:
    programs = teammate.root / "bin"
    programs.mkdir()
    (programs / "sh").symlink_to("/bin/sh")
    run = play(claude, teammate, ["done"], environment={"PATH": str(programs)})
    assert (run.requests, run.result, decisions(teammate)) == (1, "done", [])
    assert [(hook["exit_code"], hook["stdout"]) for hook in run.hooks("Stop")] == [(0, "")]


def test_uninstalled_in_a_clone_exactly_our_parts_are_gone(claude: Client, teammate: Place) -> None:
    hookctl(teammate, "uninstall", "--scope", "project")
    assert play(claude, teammate, ["done"]).requests == 1
    assert decisions(teammate) == []
    assert settings_of(teammate, "project").read_text() == TEAMS_FILE
    # The work in hand is the teammate's own, and what keeps it out of version control stays with it.
    assert set(contents(teammate.project / ".hookctl")) == {".gitignore", "run", "run/task.json"}
    assert git(teammate.project, "diff", "--name-only", "HEAD~1", "--", ".claude") == ""
    assert git(teammate.project, "diff", "--diff-filter=AMR", "--name-only") == ".claude/settings.json\n"
