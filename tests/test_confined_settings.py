"""A project's own configuration names nothing outside the project: to the hook, and to every command that reads it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hookctl.masking import MASK
from hookctl.packs import choices
from hookctl.packs.choices import PRESETS, schema
from hookctl.system.package_data import guard_module
from tests.conftest import Hookctl, put

pytestmark = pytest.mark.usefixtures("fixed_python")

SECRET = "hunter2-of-the-person"
FOREIGN = {"remaining": 7, "heartbeat": SECRET, "password": SECRET, "owner": SECRET}
CONFIG = Path(".hookctl/guard/claude.json")
# Settings of the schema that hold texts or names of tools, and so lead nowhere.
TEXTS = {"reason", "release_reason", "nudge_reason", "dispatch_reason", "guidance_text"}
TEXTS |= {"required_tools", "dispatch_tools"}

# What a repository may commit; OUT stands for a folder beside the project.
ATTACKS: dict[str, dict[str, Any]] = {
    "a variable that names a file": {"task_env": "CREDENTIALS"},
    "the same with fields": {"task_env": "CREDENTIALS", "task_fields": ["heartbeat=password", "owner=owner"]},
    "dots": {"task_file": "../out/victim.json", "task_fields": ["heartbeat=password", "owner=owner"]},
    "dots without fields": {"task_file": "../out/victim.json"},
    "an absolute path": {"task_file": "OUT/victim.json", "task_fields": ["remaining=remaining"]},
    "one of a list": {"task_file": "gone.json:../out/victim.json", "task_fields": ["heartbeat=password"]},
    "blanks around it": {"task_file": " ../out/victim.json ", "task_fields": ["heartbeat=password"]},
    "a link that leads out": {"task_file": "linked/victim.json", "task_fields": ["heartbeat=password"]},
    "a file that is a link": {"task_file": "victim-link", "task_fields": ["heartbeat=password"]},
    "down and up again": {"task_file": ".hookctl/../../out/victim.json"},
    "a run folder outside": {"run_dir": "../out"},
    "an absolute run folder": {"run_dir": "OUT"},
    "a run folder through a link": {"run_dir": "linked"},
    "what git keeps": {"run_dir": ".git", "task_file": ".git/victim.json"},
    "a state folder": {"state_dir": "OUT"},
    "variables in texts": {"show_env": ["SECRET"], "reason": "{env:SECRET}", "release_reason": "{env:SECRET}"},
    "odd types": {
        "dispatch_tools": [1],
        "task_env": 5,
        "task_file": ["../out"],
        "run_dir": {"a": 1},
        "show_env": "SECRET",
        "state_dir": 7,
    },
    "no path at all": {"task_file": "a\0b", "run_dir": "\ud800", "task_env": "\0"},
    "a host's variables": {"hosts": {"claude": {"project": "ELSEWHERE", "block": '{"decision":"block","reason":%s}'}}},
}
UNREADABLE = ("odd types", "no path at all", "a host's variables")  # of which other findings tell


@pytest.fixture
def victim(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with its own guard, and a person's file beside it that a variable names."""
    (isolated / "work" / ".git").mkdir()
    path = put(isolated / "out" / "victim.json", json.dumps(FOREIGN))
    put(isolated / "work/.git/victim.json", json.dumps(FOREIGN))
    (isolated / "work" / "linked").symlink_to(isolated / "out")
    (isolated / "work" / "victim-link").symlink_to(path)
    monkeypatch.setenv("CREDENTIALS", str(path))
    monkeypatch.setenv("SECRET", SECRET)
    monkeypatch.setenv("ELSEWHERE", str(isolated / "out"))
    return path


def commit(config: dict[str, Any], isolated: Path) -> None:
    """Change the committed configuration."""
    text = json.dumps({**json.loads(CONFIG.read_text()), **config})
    CONFIG.write_text(text.replace("OUT", str(isolated / "out")))


def stop(isolated: Path, **fields: Any) -> str:
    payload = {"session_id": "S1", "cwd": os.getcwd(), "hook_event_name": "Stop", "stop_hook_active": False, **fields}
    environ = {**os.environ, "CLAUDE_PROJECT_DIR": os.getcwd()}
    call = [sys.executable, "-I", "-S", str(Path(".hookctl/hook.py").resolve()), "stop", "--host", "claude"]
    done = subprocess.run(call, input=json.dumps(payload), capture_output=True, text=True, env=environ)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


COMMANDS = (
    ("run", "status"), ("run", "status", "--json"), ("run", "remaining", "3"), ("run", "heartbeat"), ("run", "start"),
    ("run", "conclude"), ("run", "stop"), ("run", "release"), ("run", "wait", "--timeout", "1"), ("status",),
    ("doctor",), ("check",), ("check", "--require", "guard"), ("supervise", "--", "true"), ("upgrade", "--dry-run"),
)  # fmt: skip


@pytest.mark.parametrize("ledger", ["committed", "gone"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_is_read_or_written_outside(
    victim: Path, hookctl: Hookctl, isolated: Path, attack: str, ledger: str
) -> None:
    assert hookctl("install", "--host", "claude", "--scope", "project").code == 0
    commit(ATTACKS[attack], isolated)
    commands = COMMANDS
    if ledger == "gone":
        Path(".hookctl/ledger.json").unlink()
        commands = (("run", "status"), ("run", "remaining", "3"), ("status",), ("doctor",))
    before = files_below(isolated / "out") | files_below(isolated / "work" / ".git")
    for command in commands:
        outcome = hookctl(*command)
        assert SECRET not in outcome.out + outcome.err, command
        assert outcome.code != 3
    assert hookctl("run", "start", "--remaining", "3").code == 0
    said = stop(isolated)
    assert SECRET not in said
    assert '"block"' in said, "the project's own task counts"
    assert files_below(isolated / "out") | files_below(isolated / "work" / ".git") == before
    assert sorted(os.listdir(isolated / "out")) == ["victim.json"]


@pytest.mark.parametrize("attack", [name for name in ATTACKS if name not in UNREADABLE])
def test_doctor_and_check_name_the_setting(victim: Path, hookctl: Hookctl, isolated: Path, attack: str) -> None:
    assert hookctl("install", "--host", "claude", "--scope", "project").code == 0
    commit(ATTACKS[attack], isolated)
    named = [name for name in ATTACKS[attack] if name not in ("task_fields", "reason", "release_reason")]
    for command in ("doctor", "check"):
        found = hookctl(command, "--json").data["findings"]
        said = [finding["message"] for finding in found if "not the project's" in finding["message"]]
        assert sorted(message.split()[0] for message in said) == sorted(named)


# Where a project's configuration, or a variable that its settings set, wants hookctl to write.
PRIVATE = (
    ".claude/settings.local.json", ".claude/settings.json", ".hookctl/ledger.json", ".hookctl/guard/claude.json",
    "notes.json",
)  # fmt: skip
WAYS: dict[str, dict[str, Any]] = {
    "a task file": {"task_file": "FILE"},
    "one of a list": {"task_file": "gone.json:FILE"},
    "in a run folder around it": {"run_dir": "FOLDER", "task_file": "FILE"},
    "the run folder itself": {"run_dir": "FOLDER"},
    "another name of it": {"task_file": "./FILE"},
}


@pytest.mark.parametrize("through", ["configuration", "variables"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PRIVATE)
def test_hookctl_writes_nothing_but_a_runs_own_files(
    hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch, name: str, way: str, through: str
) -> None:
    (isolated / "work" / ".git").mkdir()
    put(Path(".claude/settings.local.json"), "{}")
    put(Path("notes.json"), "{}")
    assert hookctl("install", "--host", "claude", "--scope", "project").code == 0
    text = json.dumps(WAYS[way]).replace("FILE", name).replace("FOLDER", os.path.dirname(name) or ".")
    if through == "configuration":
        commit(json.loads(text), isolated)
    else:
        for setting, value in json.loads(text).items():
            monkeypatch.setenv(f"HOOKCTL_{setting.upper()}", value)
    before = files_below(Path())
    for command in (("remaining", "2"), ("heartbeat",), ("start", "--remaining", "2"), ("stop",), ("conclude",)):
        assert hookctl("run", *command).code in (0, 1)
    after = files_below(Path())
    assert {path: after.get(path) for path in before} == before
    new = set(after) - set(before)
    assert {os.path.basename(path) for path in new} <= {"task.json", "STOP", "CONCLUDE", "OWNER", ".gitignore"}
    if through == "configuration":
        assert not [path for path in new if path.startswith(".hookctl/guard")]


@pytest.mark.parametrize("layer", ["person", "project"])
def test_a_projects_variables_name_no_variable_that_leads_out(
    victim: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch, layer: str
) -> None:
    assert hookctl("install", "--host", "claude").code == 0
    env = {"HOOKCTL_TASK_ENV": "CREDENTIALS", "HOOKCTL_TASK_FIELDS": "remaining=remaining"}
    put(Path(".claude/settings.json"), json.dumps({"env": env}))
    if layer == "project":
        monkeypatch.delenv("CREDENTIALS")
        put(Path(".claude/settings.local.json"), json.dumps({"env": {"CREDENTIALS": str(victim)}}))
    outcome = hookctl("doctor", "--json")
    assert "victim.json" not in json.dumps(outcome.data["findings"])
    assert "work waits" not in outcome.out


def test_every_setting_that_names_something_is_in_the_list() -> None:
    rules = guard_module("settings").RULES
    for name, rule in schema().items():
        is_free = rule.get("type") in ("string", "array") and "enum" not in rule.get("items", rule)
        ask = f"is {name} confined? RULES in templates/guard/guard/settings.py, or TEXTS here, say so"
        assert (name in rules) == (is_free and name not in TEXTS), ask


@pytest.mark.parametrize(
    "kept",
    [
        {"run_dir": "work"}, {"run_dir": "."}, {"task_file": "todo.json"}, {"task_file": "~/todo.json"},
        {"task_file": "a/../todo.json:.claude/x"}, {"task_file": "inner/todo.json"}, {"task_env": "UNSET"},
        {"task_env": "INSIDE"}, {"show_env": ["HERMES_KANBAN_TASK"]}, PRESETS["bmad"], PRESETS["hermes"],
    ],
    ids=str,
)  # fmt: skip
def test_what_lies_in_the_project_goes_on_working(isolated: Path, kept: dict[str, Any]) -> None:
    (isolated / "work" / "sub").mkdir()
    (isolated / "work" / "inner").symlink_to("sub")
    environ = {"INSIDE": str(isolated / "work" / "todo.json")}
    assert choices.confine(kept, str(isolated / "work"), environ) == kept


@pytest.mark.parametrize("named_by", ["configuration", "variable"])
def test_of_a_file_that_the_project_chose_counts_and_times_are_shown_alone(
    hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch, named_by: str
) -> None:
    (isolated / "work" / ".git").mkdir()
    put(Path("keys.json"), json.dumps(FOREIGN))
    assert hookctl("install", "--host", "claude", "--scope", "project").code == 0
    if named_by == "configuration":
        commit({"task_file": "keys.json", "task_fields": ["heartbeat=password", "owner=owner"]}, isolated)
    else:
        monkeypatch.setenv("HOOKCTL_TASK_FILE", "keys.json")
        monkeypatch.setenv("HOOKCTL_TASK_FIELDS", "heartbeat=password,owner=owner")
    data = hookctl("run", "status", "--json").data
    assert (data["remaining"], data["heartbeat"], data["owner"]) == (7, MASK, MASK)
    for command in (("run", "status"), ("run", "status", "--json"), ("status",), ("status", "--json"), ("doctor",)):
        outcome = hookctl(*command)
        assert SECRET not in outcome.out + outcome.err, command


@pytest.mark.parametrize("option", ["task_file=a:/x", "task_file=a:../x", "run_dir=/x", "show_env=HOME"])
def test_such_a_setting_is_refused_at_project_scope(hookctl: Hookctl, option: str) -> None:
    outcome = hookctl("install", "--host", "claude", "--scope", "project", "--set", option)
    assert outcome.code == 2
    assert not Path(".hookctl").exists()


def test_the_launchers_folder_says_who_brought_it(isolated: Path) -> None:
    project_of = guard_module("settings").project_of
    assert project_of("/p/.hookctl") == "/p"
    assert project_of("/.hookctl") == "/"
    assert project_of("/home/u/.local/share/hookctl") == ""


def test_a_list_of_paths_is_never_taken_for_one_path(victim: Path, hookctl: Hookctl, isolated: Path) -> None:
    """As one path this leads out of the project, though each of its parts is inside."""
    assert hookctl("install", "--host", "claude", "--scope", "project").code == 0
    Path("q:deep").mkdir()
    Path("a/b").mkdir(parents=True)
    Path("deep").symlink_to("a/b")
    commit({"task_file": "q:deep/../../out/victim.json"}, isolated)
    before = files_below(isolated / "out")
    for action in (["remaining", "3"], ["heartbeat"], ["status"]):
        outcome = hookctl("run", *action)
        assert str(isolated / "out") not in outcome.out + outcome.err
    assert '"block"' not in stop(isolated)  # the foreign file says that 7 remain
    assert files_below(isolated / "out") == before


@pytest.mark.parametrize("path", [".GIT/x", "a/.Git/x", "/.hookctl/../etc/x"])
def test_gits_folder_in_another_case_is_not_the_projects(isolated: Path, path: str) -> None:
    assert choices.confine({"task_file": path}, str(isolated / "work"), {}) == {}
