"""A ledger in a merge conflict: `doctor --fix` makes it anew from both sides and the settings files."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import hookctl
from hookctl import packs
from hookctl.checks import entries, project
from hookctl.ledger.conflict import split_sides
from hookctl.model import Claim, Current, Entry, Hooks, PackRecord, Record
from hookctl.packs import guard, programs, released
from hookctl.planner import remade_ledger
from hookctl.planner.sources import Sources
from hookctl.system import folders
from hookctl.system.files import content_digest
from tests.conftest import put
from tests.test_pages_tried import blocks
from tests.test_project_ledger import INSTALL, THEIRS, Team, bell, hook, ledger, own_git, settings, team, value
from tests.trees import tree

__all__ = ["own_git", "team"]  # fixtures

NOW = hookctl.__version__
Release = Callable[[str], None]


@pytest.fixture
def release() -> Iterator[Release]:
    """Makes hookctl another version: other programs, and the digests of those before it."""
    with pytest.MonkeyPatch.context() as patch:
        known, read = programs._read_modules(), released.read_data
        digests: dict[str, dict[str, str]] = {}

        def modules_of(version: str) -> dict[str, bytes]:
            """One module begins in another way, so that both conflict; another one's end differs in 0.5.0 alone."""
            if version == NOW:
                return known
            calls = known["call.py"].replace(b'"""', f'"""{version}: '.encode(), 1)
            ends = b"# More.\n" if version == "0.5.0" else b""
            return {**known, "call.py": calls, "stop.py": known["stop.py"] + ends}

        def read_known(*path: str) -> bytes:
            return json.dumps(digests).encode() if path[-1] == "released.json" else read(*path)

        def read_pack(*path: str) -> bytes:
            return read(*path).replace(NOW.encode(), hookctl.__version__.encode())

        def set_release(version: str) -> None:
            for module in (hookctl, released, guard, entries, project):
                patch.setattr(module, "__version__", version)
            digests.clear()
            for earlier in (NOW, "0.4.0", "0.5.0"):
                patch.setattr(programs, "_read_modules", lambda earlier=earlier: modules_of(earlier))
                programs.load_programs.cache_clear()
                programs.load_runner.cache_clear()
                if earlier == version:
                    return
                digests[earlier] = {"hook": content_digest(b"", programs.load_programs(wrapper=False).all), "wrap": ""}

        patch.setattr(released, "read_data", read_known)
        patch.setattr(packs, "read_data", read_pack)
        yield set_release
        patch.undo()
        programs.load_programs.cache_clear()
        programs.load_runner.cache_clear()


def test_a_release_is_played_as_one_is_made(team: Team, release: Release) -> None:
    """What the tests below stand on: an older project is known, and upgraded; a newer one is not."""
    release("0.5.0")
    assert "0.3.0" in team.hookctl("bob", "check").err + team.hookctl("bob", "status").out
    assert team.hookctl("bob", "check").code == 0
    assert team.hookctl("bob", "upgrade", "--project", ".", "--yes").code == 0
    assert value(ledger(team, "bob"))["files"][".claude/settings.json"]["packs"]["guard"]["version"] == "0.5.0"
    assert team.hookctl("bob", "check", "--require", "guard").code == 0
    release("0.4.0")
    assert "Upgrade hookctl to 0.5.0 or later" in team.hookctl("bob", "check").out


# What a branch does in its clone, by what a team lead would say of it.
CHANGES = {
    "a limit of 9": ("guard", "--set", "max_stop_blocks=9"),
    "a limit of 7": ("guard", "--set", "max_stop_blocks=7"),
    "keepalive": ("guard", "--mode", "keepalive"),
    "off": ("guard", "--mode", "off"),
    "bell": ("bell",),
    "horn": ("horn",),
    "0.4.0": ("guard",),
    "0.5.0": ("guard",),
}
PAIRS = [pair for pair in itertools.combinations(CHANGES, 2)]
# What the settings on record say of a side's wish, and what names it where it is lost.
WISHES = {
    "a limit of 9": ("max_stop_blocks", 9, "--set max_stop_blocks=9"),
    "a limit of 7": ("max_stop_blocks", 7, "--set max_stop_blocks=7"),
    "keepalive": ("mode", "keepalive", "--mode keepalive"),
    "off": ("mode", "off", "--mode off"),
}


def change(team: Team, name: str, wanted: str, release: Release) -> None:
    pack, *options = CHANGES[wanted]
    source = pack if pack == "guard" else bell(team.clone(name), name=pack)
    release(wanted if wanted[0] == "0" else NOW)
    assert team.hookctl(name, "install", source, *options, *INSTALL[1:]).code == 0
    team.commit(name)


def merge(team: Team, side: str) -> bool:
    """Pull Ann's branch into Bob's, take a side of all but ledger and runtime; whether the ledger is in conflict."""
    team.at("bob")
    team.git("bob", "config", "merge.conflictStyle", "diff3")
    subprocess.run(
        ["git", "pull", "-q", "--no-rebase", "--no-edit", str(team.clone("ann")), "main"],
        cwd=team.clone("bob"), capture_output=True, timeout=60,
    )  # fmt: skip
    unmerged = team.git("bob", "diff", "--name-only", "--diff-filter=U").split()
    for path in dict.fromkeys(unmerged):
        if not path.endswith("ledger.json") and not path.startswith(".hookctl/runtime/"):
            done = subprocess.run(["git", "checkout", "-q", f"--{side}", "--", path], cwd=team.clone("bob"))
            if done.returncode:  # that side has removed it
                team.git("bob", "rm", "-q", "--", path)
    return ".hookctl/ledger.json" in unmerged


def packs_in_settings(text: str) -> set[str]:
    return set(re.findall(r": hookctl=([a-z-]+)/", text))


def is_blocked(team: Team) -> bool:
    """Whether the guard that is registered in Bob's clone answers a stop with work remaining in a run."""
    (command,) = re.findall(r'"(: hookctl=guard/stop; (?:[^"\\]|\\.)*)"', settings(team, "bob").read_text()) or [""]
    if not command:
        return False
    assert team.hookctl("bob", "run", "start", "--remaining", "3").code == 0
    payload = {"session_id": "s", "hook_event_name": "Stop", "cwd": str(team.clone("bob")), "stop_hook_active": False}
    done = subprocess.run(
        ["sh", "-c", json.loads(f'"{command}"')], input=json.dumps(payload), capture_output=True, text=True,
        env={**os.environ, "CLAUDE_PROJECT_DIR": str(team.clone("bob"))}, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    shutil.rmtree(team.clone("bob") / ".hookctl" / "run")
    return '"block"' in done.stdout


def recorded_packs(team: Team) -> dict[str, Any]:
    packs: dict[str, Any] = value(ledger(team, "bob"))["files"][".claude/settings.json"]["packs"]
    return {name: pack for name, pack in packs.items() if name}


def require_told(team: Team) -> None:
    """Status says what the record and the settings say of the guard."""
    (shown,) = team.hookctl("bob", "status", "--json").data["files"]
    recorded = recorded_packs(team)
    assert shown["packs"] == {name: pack["version"] for name, pack in recorded.items()}
    guard = recorded["guard"]["settings"]
    if guard["mode"] == "breaker":
        env = value(settings(team, "bob"))["env"]
        assert f"blocks at most {env['MAX_STOP_BLOCKS']} stops" in shown["guard"], shown
        assert int(env["MAX_STOP_BLOCKS"]) == guard["knobs"].get("max_stop_blocks", 5)
    else:
        wanted = "keeps a run going" if guard["mode"] == "keepalive" else "its mode is off"
        assert wanted in shown["guard"], shown


@pytest.mark.parametrize("side", ["ours", "theirs"])
@pytest.mark.parametrize(("mine", "yours"), PAIRS, ids=lambda name: name.replace(" ", "-"))
def test_the_merge_is_resolved_by_what_the_tools_print(
    team: Team, release: Release, mine: str, yours: str, side: str
) -> None:
    change(team, "ann", yours, release)
    change(team, "bob", mine, release)
    newest = max(name if name[0] == "0" else NOW for name in (mine, yours))
    release(newest)
    in_conflict = merge(team, side)
    before = settings(team, "bob").read_bytes()
    refused = team.hookctl("bob", "check")
    if in_conflict:
        assert refused.code == 1 and "`hookctl doctor --fix` makes it anew" in refused.out
        found = team.hookctl("bob", "doctor", "--json", "--host", "claude").data["findings"]
        codes = [finding["code"] for finding in found if finding["level"] == "error"]
        assert codes == ["ledger_unreadable"], "no other advice stands beside it"
        assert "nothing is installed" not in team.hookctl("bob", "status").out
    done = team.hookctl("bob", "doctor", "--fix", "--host", "claude")
    assert settings(team, "bob").read_bytes() == before, "settings are never touched by it"
    recorded = recorded_packs(team)
    there = packs_in_settings(before.decode())
    if in_conflict:
        assert there <= recorded.keys() <= there | {"guard"}, done
        if {CHANGES[mine][0], CHANGES[yours][0]} == {"guard"}:  # else git has merged its record by itself
            assert (recorded["guard"]["settings"]["mode"] == "off") == ("guard" not in there)
        assert "rebuilt from both sides" in done.err
        for lost in {CHANGES[mine][0], CHANGES[yours][0]} - recorded.keys():
            assert f"{lost} is not in the settings any more" in done.err
    for wish in {mine, yours} & WISHES.keys():
        name, wanted, option = WISHES[wish]
        chosen = {**recorded["guard"]["settings"]["knobs"], "mode": recorded["guard"]["settings"]["mode"]}
        if chosen.get(name) != wanted and in_conflict:
            assert re.search(rf"the guard's other side: .*{option}.*; to have it: hookctl install ", done.err), done
    for line in re.findall(r"to have it again: hookctl (.*)", done.err):
        assert team.hookctl("bob", *shlex.split(line)).code == 0
    upgraded = team.hookctl("bob", "upgrade", "--project", ".", "--yes")
    assert upgraded.code == 0, upgraded
    checked = team.hookctl("bob", "check")
    assert checked.code == 0, checked
    assert recorded_packs(team)["guard"]["version"] == newest
    require_told(team)
    assert is_blocked(team) == (recorded_packs(team)["guard"]["settings"]["mode"] != "off")
    for pack in sorted(recorded_packs(team), reverse=True):
        assert team.hookctl("bob", "uninstall", pack, "--scope", "project").code == 0
    assert json.loads(settings(team, "bob").read_bytes()) == json.loads(THEIRS)
    left = sorted(str(path.relative_to(team.clone("bob"))) for path in (team.clone("bob") / ".hookctl").rglob("*"))
    assert not left, left


def test_no_earlier_text_is_offered_for_settings_in_a_conflict(team: Team, release: Release) -> None:
    for name, wanted in (("ann", "a limit of 9"), ("bob", "a limit of 7")):
        change(team, name, wanted, release)
    subprocess.run(
        ["git", "pull", "-q", "--no-rebase", "--no-edit", str(team.clone("ann")), "main"],
        cwd=team.clone("bob"), capture_output=True, timeout=60,
    )  # fmt: skip
    found = team.hookctl("bob", "doctor", "--host", "claude")
    assert "the file has merge-conflict marks" in found.out and "hookctl restore" not in found.out


def test_the_sides_are_split_with_and_without_an_ancestor_and_however_many_marks_there_are() -> None:
    marked = b"a\n<<<<<<< HEAD\nb\n||||||| base\nc\n=======\nd\n>>>>>>> main\ne\n"
    assert split_sides(marked) == (b"a\nb\ne\n", b"a\nd\ne\n")
    assert split_sides(marked.replace(b"||||||| base\nc\n", b"")) == (b"a\nb\ne\n", b"a\nd\ne\n")
    assert split_sides(b"<<<<<<< x\n" * 500_000) == (b"", b"")  # a repository could bring it: no pass for each


# A hookctl that is older than what stands there.


def newer_project(team: Team, release: Release) -> None:
    """Ann's guard is of 0.5.0, and Bob, who has 0.3.0, has pulled that."""
    change(team, "ann", "0.5.0", release)
    team.pull("bob", "ann")
    release(NOW)


def test_an_older_hookctl_does_not_replace_the_programs_of_a_newer_one(team: Team, release: Release) -> None:
    newer_project(team, release)
    team.at("bob")
    before = tree(team.clone("bob") / ".hookctl")
    for command in (["upgrade", "--project", "."], [*INSTALL]):
        refused = team.hookctl("bob", *command)
        assert refused.code == 1 and "Upgrade hookctl to 0.5.0 or later" in refused.err, refused
        assert "is up to date" not in refused.out
    assert "guard 0.5.0 -> 0.3.0, older" in refused.err
    assert team.hookctl("bob", "doctor", "--fix").code == 0
    assert tree(team.clone("bob") / ".hookctl") == before
    forced = team.hookctl("bob", *INSTALL, "--force")
    assert forced.code == 0 and "guard 0.5.0 -> 0.3.0, older" in forced.err
    assert recorded_packs(team)["guard"]["version"] == "0.3.0" and is_blocked(team)


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_an_older_hookctl_names_the_one_that_a_merge_of_two_newer_ones_needs(
    team: Team, release: Release, side: str
) -> None:
    change(team, "ann", "0.5.0", release)
    change(team, "bob", "0.4.0", release)
    release(NOW)
    merge(team, side)
    newer = "0.4.0" if side == "ours" else "0.5.0"
    done = team.hookctl("bob", "doctor", "--fix")
    assert done.code == 1 and f"Upgrade hookctl to {newer} or later" in done.out, done
    checked = team.hookctl("bob", "check").out
    assert f"Upgrade hookctl to {newer} or later, then `hookctl doctor --fix`" in checked, checked
    assert team.hookctl("bob", "upgrade", "--project", ".").code == 1
    assert team.hookctl("bob", *INSTALL, "--force").code == 0
    assert team.hookctl("bob", "check").code == 0 and is_blocked(team)


def test_a_mixture_of_two_runtimes_is_one_finding_for_each_folder(team: Team, release: Release) -> None:
    change(team, "ann", "0.5.0", release)
    change(team, "bob", "0.4.0", release)
    release("0.5.0")
    merge(team, "theirs")
    team.hookctl("bob", "doctor", "--fix")  # the ledger
    lay_mixtures(team)
    found = team.hookctl("bob", "check", "--json").data["findings"]
    assert [finding["code"] for finding in found] == ["hook_unknown", "stray_file"]
    assert all("`hookctl doctor --fix`" in finding["fix"] for finding in found), found
    assert "12 files" in found[1]["message"]
    said = team.hookctl("bob", "upgrade", "--project", ".", "--dry-run")
    assert "is up to date" not in said.out
    assert team.hookctl("bob", "doctor", "--fix").code == 0
    assert team.hookctl("bob", "check").code == 0 and is_blocked(team)


def lay_mixtures(team: Team) -> None:
    """What git makes of two runtimes: in each of both folders the same mixture."""
    (package,) = (team.clone("bob") / ".hookctl" / "runtime").iterdir()
    put(package / "call.py", b"<<<<<<< HEAD\n" + (package / "call.py").read_bytes())
    shutil.copytree(package, package.with_name("guard_0123456789abcdef"))


def test_an_edited_launcher_is_never_called_up_to_date(team: Team, release: Release) -> None:
    put(hook(team, "bob"), hook(team, "bob").read_bytes() + b"# mine\n")
    for version in (NOW, "0.5.0"):
        release(version)
        said = team.hookctl("bob", "upgrade", "--project", ".")
        assert said.code == 0 and "its program is not one of hookctl's and stays" in said.out, said
        assert "is up to date" not in said.out and "nothing to do" not in said.out


def test_a_launcher_with_conflict_marks_is_written_anew(team: Team, release: Release) -> None:
    change(team, "ann", "0.5.0", release)
    change(team, "bob", "0.4.0", release)
    release("0.5.0")
    merge(team, "theirs")
    team.git("bob", "checkout", "-q", "--merge", "--", ".hookctl/guard/claude/hook.py")
    assert b"<<<<<<<" in hook(team, "bob").read_bytes()
    assert team.hookctl("bob", "doctor", "--fix").code == 0
    assert team.hookctl("bob", "check").code == 0 and is_blocked(team)


@pytest.mark.parametrize("side", ["HEAD", "MERGE_HEAD"])
def test_the_recipe_of_the_team_page_makes_one_runtime_of_two(team: Team, release: Release, side: str) -> None:
    change(team, "ann", "0.4.0", release)
    change(team, "bob", "0.5.0", release)
    team.git("bob", "pull", "-q", "--no-rebase", "--no-edit", str(team.clone("ann")), "main", code=1)
    for line in blocks("docs/teams.md", "sh", "Merge conflicts")[0].splitlines():
        text = line.partition("#")[0].replace("HEAD", side).replace("--require ./hooks/notify", "")
        program, *words = shlex.split(text)
        if program == "git":
            team.git("bob", *words)
        elif words[0] != "install":  # no pack is lost here
            done = team.hookctl("bob", *words)
            assert done.code == 0, done
    team.git("bob", "commit", "-q", "-m", "merged")
    assert team.git("bob", "status", "--porcelain") == "" and is_blocked(team)


def test_a_value_of_hookctls_own_from_another_mode_is_not_given_back_as_the_operators(team: Team) -> None:
    """The settings of one side with the record of the other, and the advice of doctor followed."""
    assert team.hookctl("bob", "install", "--mode", "keepalive", *INSTALL[1:]).code == 0
    merged = settings(team, "bob").read_bytes()
    assert value(settings(team, "bob"))["env"]["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"] == "5000"
    team.git("bob", "checkout", "-q", "--", ".hookctl")
    settings(team, "bob").write_bytes(merged)
    assert "--force` restores it" in team.hookctl("bob", "doctor").out
    assert team.hookctl("bob", *INSTALL, "--force").code == 0
    assert value(settings(team, "bob"))["env"]["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"] == "8"
    assert team.hookctl("bob", "uninstall", "--scope", "project").code == 0
    assert value(settings(team, "bob")) == json.loads(THEIRS)


def test_a_cap_of_the_operators_is_given_back_where_a_record_has_it_as_theirs(team: Team) -> None:
    """It was there before hookctl: what hookctl would write for another mode may be somebody's, too."""
    assert team.hookctl("bob", "uninstall", "--scope", "project").code == 0
    put(settings(team, "bob"), '{"env": {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "5000"}}')
    for force in ((), ("--force",)):
        assert team.hookctl("bob", *INSTALL, *force).code == 0
    assert team.hookctl("bob", "uninstall", "--scope", "project").code == 0
    assert value(settings(team, "bob")) == {"env": {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "5000"}}


def test_a_pack_that_a_colleague_installed_is_not_installed_once_more(team: Team) -> None:
    assert team.hookctl("ann", "install", bell(team.clone("ann")), *INSTALL[1:]).code == 0
    team.commit("ann")
    team.pull("bob", "ann")
    said = team.hookctl("bob", "install", "./bell", *INSTALL[1:])
    assert said.code == 0 and team.git("bob", "status", "--porcelain") == ""
    assert said.out == "bell 1 is here already: nothing to do\n"


def test_a_container_goes_with_the_last_of_its_entries() -> None:
    known = Record("claude", "project", "json", entries=(Entry(("env",), "container"),))
    assert remade_ledger._join_entries([known], Current({("env",): {}}, {}, Hooks())) == ()


def test_what_a_side_has_not_of_another_pack_says_nothing_against_it(isolated: object) -> None:
    side = Record("claude", "project", "json", packs={"bell": PackRecord("1", {})})
    held = [Entry(("env", "A"), "leaf", written="1", owners={"horn": Claim("1", "1")})]
    fit = remade_ledger._measure(Sources(folders.here()), "bell", side, Current({}, {}, Hooks()), held)
    assert fit.entries == 0
