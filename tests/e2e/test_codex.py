"""hookctl's promises, kept with the real Codex: approvals that go by position, projects, config.toml, policies."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookctl.hosts.codex import state_path, trusted_hash

from .acceptance import operators_file
from .clients import Client
from .codex import BYPASS, Place, approve, list_hooks, play, trust_project
from .probe import Probe, make_probe
from .product import KEPT, LIMIT, codes, hookctl, leave_work

pytestmark = pytest.mark.e2e
OWN_FOLDERS = True


@pytest.fixture
def operators_hook(codex: Client, place: Place) -> Probe:
    """A Stop hook of the operator's own, registered and approved; it only listens."""
    probe = make_probe(place.root, "operators")
    place.settings.write_text(operators_file("codex.json", probe.command))
    place.config.write_text("# by hand\n[tools]\nview_image =   false\n\n")
    approve(place, {hook.key: hook.hash for hook in list_hooks(codex, place)})
    return probe


def install(place: Place, *options: str) -> str:
    """Install the guard and return what was said, messages too."""
    done = hookctl(place, "install", "--host", "codex", *options)
    return done.stdout + done.stderr


def install_approved(codex: Client, place: Place) -> None:
    """Install the guard, and approve its hooks as the person does under /hooks."""
    install(place)
    approve(place, {hook.key: hook.hash for hook in list_hooks(codex, place) if hook.trust != "trusted"})


def trusts(codex: Client, place: Place) -> dict[str, str]:
    """What Codex thinks of each hook, by its place in its file."""
    hooks = list_hooks(codex, place)
    return {f"{Path(hook.key.partition(':')[0]).name}:{hook.key.partition(':')[2]}": hook.trust for hook in hooks}


def test_without_an_approval_the_guard_waits_and_the_operator_s_hook_runs_on(
    codex: Client, place: Place, operators_hook: Probe
) -> None:
    said = install(place)
    assert "/hooks" in said
    leave_work(place)
    run = play(codex, place, ["done"])
    assert (run.requests, run.code, codes(place), operators_hook.flags()) == (1, 0, [], "F")
    told = [line for line in run.errors.splitlines() if "hook" in line and str(place.root) not in line]
    assert [line for line in told if not line.startswith("hook: ")] == [], "of a hook that waits nobody is told"
    assert trusts(codex, place) == {"hooks.json:stop:0:0": "trusted", "hooks.json:stop:1:0": "untrusted"}


def test_once_approved_the_guard_works_beside_the_operator_s_hook_and_every_byte_comes_back(
    codex: Client, place: Place, operators_hook: Probe
) -> None:
    before = place.settings.read_bytes()
    install_approved(codex, place)
    config = place.config.read_bytes()
    assert trusts(codex, place) == {"hooks.json:stop:0:0": "trusted", "hooks.json:stop:1:0": "trusted"}
    leave_work(place)
    run = play(codex, place, ["done"])
    assert (run.requests, codes(place), operators_hook.flags()) == (LIMIT + 1, KEPT, "F" + "T" * LIMIT)
    assert run.hooks("Stop").count("Blocked") == LIMIT

    assert "nothing to do" in install(place)
    hookctl(place, "run", "start", "--project", str(place.project))  # else the work is the first session's
    assert play(codex, place, ["done"]).requests == LIMIT + 1

    hookctl(place, "uninstall")
    assert (place.settings.read_bytes(), place.config.read_bytes()) == (before, config)
    assert play(codex, place, ["done"]).requests == 1
    assert trusts(codex, place) == {"hooks.json:stop:0:0": "trusted"}


@pytest.mark.full
def test_a_hook_that_the_operator_put_behind_ours_stays_approved_when_we_leave(codex: Client, place: Place) -> None:
    install_approved(codex, place)
    later = make_probe(place.root, "later")
    text = json.loads(place.settings.read_text())
    text["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": later.command}]})
    place.settings.write_text(json.dumps(text, indent=2))
    approve(place, {hook.key: hook.hash for hook in list_hooks(codex, place) if ":stop:1:" in hook.key})
    hookctl(place, "uninstall")
    assert trusts(codex, place) == {"hooks.json:stop:1:0": "trusted"}
    assert play(codex, place, ["done"]).requests == 1
    assert later.flags() == "F"
    # What comes back takes its empty place again, and leaves no more behind when it goes once more.
    between = place.settings.read_bytes()
    install_approved(codex, place)
    assert trusts(codex, place) == {"hooks.json:stop:0:0": "trusted", "hooks.json:stop:1:0": "trusted"}
    hookctl(place, "uninstall")
    assert trusts(codex, place) == {"hooks.json:stop:1:0": "trusted"}
    assert place.settings.read_bytes() == between


def test_the_project_s_own_program_runs_and_none_that_lies_in_a_folder_below(codex: Client, place: Place) -> None:
    install(place, "--scope", "project")
    trust_project(place, place.project)
    start, ran = place.project / "vendor" / "lib", place.root / "ran"
    program = start / ".hookctl" / "hook.py"
    program.parent.mkdir(parents=True)
    program.write_text(f"open({str(ran)!r}, 'w')\n")
    play(codex, place, ["done"], BYPASS, cwd=start)
    (start / ".git").mkdir()  # no repository for Codex
    play(codex, place, ["done"], BYPASS, cwd=start)
    assert codes(place) == ["no_work", "no_work"]
    # In a repository of its own it is another project, and Codex runs no hook of ours.
    (start / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    play(codex, place, ["done"], BYPASS, cwd=start)
    (start / ".git" / "HEAD").unlink()
    (start / ".git").rmdir()
    (start / ".git").write_text("gitdir: /nowhere\n")
    play(codex, place, ["done"], BYPASS, cwd=start)
    assert (codes(place), ran.exists()) == (["no_work", "no_work"], False)


@pytest.mark.full
def test_the_hash_that_approves_a_hook_is_codex_s_own(codex: Client, place: Place) -> None:
    events = codex.pins["events"]
    forms: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({}, {}),
        ({"matcher": "Bash"}, {"timeout": 0}),
        ({"matcher": ""}, {"timeout": 5}),
        ({"matcher": "*"}, {"timeout": 601, "statusMessage": "hi é"}),
        ({"matcher": None}, {"timeout": 2, "async": True, "name": "x"}),
        ({}, {"async": False, "statusMessage": None, "timeout": None}),
    ]
    command = 'say "é" </tag> & \u2028 \t'
    groups = [{**group, "hooks": [{"type": "command", "command": command, **handler}]} for group, handler in forms]
    place.settings.write_text(json.dumps({"hooks": dict.fromkeys(events, groups)}))
    expected = {
        state_path(str(place.settings), ("hooks", event, number, "hooks", 0))[-1]: trusted_hash(
            event, group, group["hooks"][0]
        )
        for event in events
        for number, group in enumerate(groups)
    }
    assert {hook.key: hook.hash for hook in list_hooks(codex, place)} == expected


@pytest.mark.full
def test_a_settings_file_that_is_a_link_is_approved_under_the_path_that_codex_sees(codex: Client, place: Place) -> None:
    elsewhere = place.root / "dotfiles"
    elsewhere.mkdir()
    (elsewhere / "hooks.json").write_text("{}\n")
    place.settings.symlink_to(elsewhere / "hooks.json")
    install_approved(codex, place)
    assert trusts(codex, place) == {"hooks.json:stop:0:0": "trusted"}
    assert place.settings.is_symlink()
