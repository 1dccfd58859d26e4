"""What attackers of 0.2.0 found: each way in or to a loss, closed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hookctl.errors import HookctlError
from hookctl.model import HookEntry, Hooks
from hookctl.packs.pack import load_file
from hookctl.packs.risks import is_risky
from hookctl.system import backups, folders, project
from tests.conftest import Hookctl, put
from tests.templates.modules import module

pytestmark = pytest.mark.usefixtures("fixed_python")
PROJECT = ("--host", "claude", "--scope", "project")


# A clock that steps back


def test_a_backup_from_the_future_does_not_cost_the_one_of_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, path = folders.Folders(str(tmp_path), "/data", {"HOME": "/home/u"}, "/"), "/settings.json"
    now = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now + 2 * 3600 * 10**9)
    for number in range(backups.KEEP + 1):
        backups.back_up(here, path, f"{number}".encode(), first=number == 0)
    monkeypatch.setattr(time, "time_ns", lambda: now)
    backups.back_up(here, path, b"precious", first=False)
    kept = backups.read_backups(here, path)
    assert kept[-1].data == b"precious"
    assert len(kept) == backups.KEEP + 1


# Links below .hookctl


@pytest.fixture
def lured(hookctl: Hookctl, isolated: Path) -> Path:
    """A repository whose link leads our folder of programs into its own sources; that folder."""
    assert hookctl("install", *PROJECT).code == 0
    programs, sources = Path(".hookctl/guard/claude"), Path("src")
    programs.rename(sources)
    programs.symlink_to("../../src")
    put(sources / "main.py", "precious\n")
    return sources


@pytest.mark.parametrize("command", [("upgrade",), ("install", *PROJECT), ("uninstall", "--scope", "project")])
def test_nothing_is_removed_or_written_through_it(hookctl: Hookctl, lured: Path, command: tuple[str, ...]) -> None:
    ledger = Path(".hookctl/ledger.json")
    text = ledger.read_text().replace('"files": ["config.json"', '"files": ["main.py", "config.json"')
    ledger.write_text(text)
    before = {path.name: path.read_bytes() for path in lured.iterdir() if path.is_file()}
    assert hookctl(*command).code != 0
    assert {path.name: path.read_bytes() for path in lured.iterdir() if path.is_file()} == before
    assert "ledger_unreadable" in hookctl("doctor", "--json").out


def test_a_foreign_configuration_stays(hookctl: Hookctl, isolated: Path) -> None:
    put(Path("src/config.json"), '{ "port" : 8080 }')
    Path(".hookctl/guard").mkdir(parents=True)
    Path(".hookctl/guard/claude").symlink_to("../../src")
    outcome = hookctl("install", *PROJECT)
    assert (outcome.code, "a link inside .hookctl points to other files" in outcome.err) == (4, True)
    assert Path("src/config.json").read_text() == '{ "port" : 8080 }'


# A killed run, and then somebody else writes the settings


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("command", [("uninstall", "--all", "--yes"), ("doctor", "--fix")])
def test_programs_that_nobody_registered_go(
    hookctl: Hookctl, isolated: Path, scope: str, command: tuple[str, ...]
) -> None:
    folder = Path.cwd() if scope == "project" else Path.home()
    settings = put(folder / ".claude/settings.json", "{}\n")
    killed = (
        "import os, signal, sys\nfrom hookctl.system import files\nreplace = files.replace\n"
        "def replace_or_die(old, data, **more):\n"
        "    if old.path.endswith('.claude/settings.json'): os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return replace(old, data, **more)\n"
        "files.replace = replace_or_die\nfrom hookctl.__main__ import run\n"
        f"run(['install', '--host', 'claude', '--scope', {scope!r}])\n"
    )
    assert subprocess.run([sys.executable, "-c", killed], check=False, capture_output=True).returncode == -9
    put(settings, '{"model": "mine"}\n')
    hookctl(*command)
    data = Path(os.environ["HOOKCTL_DATA_DIR"])
    assert not list(data.rglob("hook.py"))
    assert not list(Path.cwd().rglob("hook.py"))
    assert settings.read_text() == '{"model": "mine"}\n'


# A lost record


def test_uninstall_all_takes_out_a_guard_whose_record_was_lost(hookctl: Hookctl, isolated: Path) -> None:
    settings = put(Path.home() / ".claude/settings.json", "{}\n")
    assert hookctl("install", "--host", "claude").code == 0
    (Path(os.environ["HOOKCTL_STATE_DIR"]) / "ledger.json").unlink()
    outcome = hookctl("uninstall", "--all", "--yes")
    assert outcome.code == 0
    assert "nothing is installed" not in outcome.out
    assert "hookctl=guard" not in settings.read_text()


# More than any project has


def test_a_committed_record_of_thousands_is_refused_at_once(hookctl: Hookctl, isolated: Path) -> None:
    assert hookctl("install", *PROJECT).code == 0
    ledger = Path(".hookctl/ledger.json")
    value = json.loads(ledger.read_text())
    record = value["files"][".claude/settings.json"]
    first = record["entries"][0]
    record["entries"] = [{**first, "path": [*first["path"], str(number)]} for number in range(600)] + ["end"]
    ledger.write_text(json.dumps(value))
    outcome = hookctl("check")
    assert outcome.code == 1
    assert "ledger_unreadable" in outcome.out


def test_a_hook_is_found_without_a_look_at_all_others() -> None:
    class Counted(HookEntry):
        looks = 0

        @property
        def id(self) -> str:  # type: ignore[override]
            Counted.looks += 1
            return self.path[0]  # type: ignore[return-value]

    hooks = Hooks(Counted((f"h{number}",), "", {}) for number in range(1000))
    found = [hooks.by_id.get(f"h{number}", []) for number in range(1000)]
    assert [len(copies) for copies in found] == [1] * 1000
    assert "none" not in hooks.by_id
    assert Counted.looks == 1000


# A pack's hook that is switched off by its name


@pytest.mark.parametrize("scope", ["user", "project"])
def test_a_hook_of_a_pack_that_a_list_switches_off(hookctl: Hookctl, isolated: Path, scope: str) -> None:
    text = '[pack]\nname = "notify"\nversion = "1"\n[[hooks]]\nevent = "stop"\ncommand = "echo"\n'
    pack = str(put(Path("hooks/notify.toml"), text))
    assert hookctl("install", pack, "--host", "gemini", "--scope", scope, "--yes").code == 0
    settings = (Path.cwd() if scope == "project" else Path.home()) / ".gemini/settings.json"
    value = json.loads(settings.read_text())
    settings.write_text(json.dumps({**value, "hooksConfig": {"disabled": ["hookctl-notify"]}}))
    assert "hook_disabled" in hookctl("doctor", "--json").out
    if scope == "project":
        outcome = hookctl("check", "--require", pack)
        assert (outcome.code, "hook_disabled" in outcome.out) == (1, True)


# Odd values in what a repository brings


CONFIGS = ['{"run_dir": "\\u0000x"}', '{"task_file": ".hookctl/\\ud800"}', '{"dispatch_tools": [1]}', '{"task_env": 5}']


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("command", ["doctor", "status", "run status", "run remaining 2", "upgrade", "check"])
def test_no_value_of_a_configuration_is_unexpected(hookctl: Hookctl, isolated: Path, config: str, command: str) -> None:
    assert hookctl("install", *PROJECT).code == 0
    put(Path(".hookctl/guard/claude/config.json"), config)
    assert hookctl(*command.split()).code != 3


@pytest.mark.parametrize("env", ['{"HOOKCTL_RUN_DIR": "\\u0000x"}', '{"HOOKCTL_TASK_FILE": "\\ud800"}'])
def test_no_variable_of_a_project_is_unexpected(hookctl: Hookctl, isolated: Path, env: str) -> None:
    assert hookctl("install", "--host", "claude").code == 0
    put(Path(".claude/settings.json"), f'{{"env": {env}}}')
    assert hookctl("doctor").code in (0, 1)


def test_no_number_is_too_large(hookctl: Hookctl, isolated: Path) -> None:
    hook = f'{{"hooks": [{{"type": "command", "command": "x", "timeout": 1{"0" * 400}}}]}}'
    put(Path(".gemini/settings.json"), f'{{"hooks": {{"AfterAgent": [{hook}]}}}}')
    hookctl("install", "--host", "gemini")
    assert hookctl("doctor").code in (0, 1)
    events = put(isolated / "events.jsonl", f'{{"event": "stop", "at": 1{"0" * 400}}}\n')
    assert hookctl("simulate", str(events)).code == 4
    put(events, json.dumps({"event": "stop", "env": {"A": "x" * 140_000}}))
    assert hookctl("simulate", str(events)).code == 4


# Programs of a project


def test_a_folder_without_a_mark_is_one_too() -> None:
    home = "/home/me"
    assert project.is_inside("/srv/work", "/srv/work/node_modules/.bin/claude", home)
    assert not project.is_inside("/usr/lib", "/usr/lib/node/bin/claude", home)
    assert not project.is_inside(home, f"{home}/.local/bin/claude", home)
    assert not project.is_inside("/", "/usr/bin/claude", home)


def test_a_program_of_the_project_around_this_one(tmp_path: Path) -> None:
    for folder in (tmp_path / "top" / ".git", tmp_path / "top" / "sub" / ".git"):
        folder.mkdir(parents=True)
    assert project.is_inside(str(tmp_path / "top/sub"), str(tmp_path / "top/bin/claude"), "/home/me")
    assert not project.is_inside(str(tmp_path / "top/sub"), str(tmp_path / "bin/claude"), "/home/me")


# Second names, times far ahead, hidden letters, loaders


@pytest.mark.parametrize("action", ["stop", "conclude", "remaining 3", "heartbeat"])
def test_a_file_with_a_second_name_is_not_written(hookctl: Hookctl, isolated: Path, action: str) -> None:
    name = {"stop": "STOP", "conclude": "CONCLUDE"}.get(action, "task.json")
    notes = put(isolated / "notes", '{"precious": 1}')
    Path(".hookctl/run").mkdir(parents=True)
    os.link(notes, Path(".hookctl/run") / name)
    outcome = hookctl("run", *action.split())
    assert outcome.code != 0
    assert notes.read_text() == '{"precious": 1}'


@pytest.mark.parametrize(("since", "is_free"), [(4_102_444_801, True), (1_800_000_060, False)])
def test_a_claim_from_the_future_holds_nobody(tmp_path: Path, since: int, is_free: bool) -> None:
    from tests.test_branches_of_guard import stop_of

    call = stop_of(tmp_path)
    call.now = 1_800_000_000
    (tmp_path / "taken").write_text(json.dumps({"session": "somebody", "t": since}))
    assert module("work").Holder(call).is_free(call) is is_free


@pytest.mark.parametrize("letter", ["\u3164", "\u115f", "\u2800", "\ufe00", "\U000e0100", "\u17b4", "\U0001d173"])
def test_a_letter_that_nobody_sees(tmp_path: Path, letter: str) -> None:
    text = f'[pack]\nname = "p"\nversion = "1"\n[[hooks]]\nevent = "stop"\ncommand = "echo a{letter}b"\n'
    with pytest.raises(HookctlError, match="invisible character"):
        load_file(str(put(tmp_path / "p.toml", text)))


RISKY = ["CLAUDE_CODE_SHELL_PREFIX", "CLAUDE_ENV_FILE", "CLAUDE_PROJECT_DIR", "MAKEFLAGS", "VIMINIT"]


@pytest.mark.parametrize("name", RISKY)
def test_variables_that_start_other_programs_are_asked_for(name: str) -> None:
    assert is_risky(name)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a folder away")
def test_the_mark_of_another_user_in_a_sticky_folder_is_none(tmp_path: Path) -> None:
    top = tmp_path / "T"
    (top / ".git").mkdir(parents=True)
    (top / "work").mkdir()
    top.chmod(0o1777)
    assert project.search(str(top / "work"), {"HOME": "/home/me"}) == str(top)
    shutil.chown(top / ".git", 12346, 12346)
    assert project.search(str(top / "work"), {"HOME": "/home/me"}) == str(top / "work")
    assert module("call").find_project(str(top / "work"), "/home/me") == str(top / "work")
