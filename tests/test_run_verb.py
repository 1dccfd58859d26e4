"""hookctl run: the files that it writes, what it refuses, and that the real hook obeys each of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hookctl import clock
from hookctl.errors import HookctlError
from hookctl.packs import supervised
from hookctl.system import project
from tests.templates.lab import TABLE, lay

from .conftest import Hookctl, Outcome, put
from .trees import tree

NOW = 1_000_000_000


class Run:
    """One project, where hookctl and the hook see the same environment."""

    def __init__(self, hookctl: Hookctl, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.hookctl, self.root, self.monkeypatch = hookctl, root, monkeypatch
        self.project = root / "work"
        self.folder = self.project / ".hookctl" / "run"
        monkeypatch.setenv("HOOKCTL_NOW", str(NOW))

    def __call__(self, *arguments: str) -> Outcome:
        outcome = self.hookctl("run", *arguments, "--json")
        return outcome

    def does(self, *arguments: str) -> dict[str, Any]:
        outcome = self(*arguments)
        assert outcome.code == 0, outcome
        return outcome.data

    @property
    def state(self) -> Path:
        return Path(project.state_folder(str(self.root / "state"), str(self.project)))

    def task(self) -> Any:
        return json.loads((self.folder / "task.json").read_text())

    def names(self) -> set[str]:
        return set(os.listdir(self.folder)) if self.folder.is_dir() else set()

    def says(self, session: str = "S1", active: bool = False, cwd: Path | None = None, **knobs: Any) -> str:
        """What the hook says to a stop: block, release, or nothing."""
        hook = self.root / "hook" / "hook.py"
        lay(hook.parent)
        config = {"state_dir": str(self.root / "state"), **knobs, "hosts": TABLE}
        put(hook.with_name("config.json"), json.dumps(config))
        payload = {"session_id": session, "cwd": str(cwd or self.project), "stop_hook_active": active}
        call = [sys.executable, "-I", "-S", str(hook), "stop", "--host", "claude"]
        done = subprocess.run(call, input=json.dumps(payload), capture_output=True, text=True, cwd=self.root)
        assert (done.returncode, done.stderr) == (0, "")
        answer = json.loads(done.stdout or "{}")
        return answer.get("decision", "release" if "systemMessage" in answer else "")


@pytest.fixture
def run(hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return Run(hookctl, isolated, monkeypatch)


# The hook obeys; see also the stories run-and-log and a-run-and-its-files.


def test_a_heartbeat_changes_even_where_the_clock_stands_still(run: Run) -> None:
    values = [run.does("heartbeat")["heartbeat"] for _ in range(4)]
    assert all(old != new for old, new in pairwise(values))
    assert values[0] == "2001-09-09T01:46:40.000000Z"


@pytest.mark.parametrize(("mode", "asks"), [("breaker", True), ("keepalive", False)])
def test_a_run_asks_for_work_only_where_the_guard_needs_some(
    hookctl: Hookctl, settings: Path, mode: str, asks: bool
) -> None:
    assert hookctl("install", "--host", "claude", "--mode", mode).code == 0
    told = hookctl("run", "start").out
    assert ("no work is named" in told, "counts as no work" in hookctl("run", "status").out) == (asks, asks)
    hookctl("run", "stop")
    assert ("but STOP is there" in hookctl("run", "heartbeat").out) == (not asks)


def test_respawns_are_counted_for_each_run(run: Run) -> None:
    supervised.note(str(run.state), os.getpid(), 3)
    assert run.does("status")["respawns"] == 3
    run.does("start")
    assert run.does("status")["respawns"] == 0
    with pytest.raises(HookctlError, match="still runs"), supervised.alone(str(run.state)):
        pass


def test_start_arms_until_its_end(run: Run) -> None:
    armed = {"require_arm": True}
    run.does("remaining", "1")
    run.monkeypatch.setenv("HOOKCTL_NOW", str(NOW))
    assert run.says(**armed) == ""
    assert run.does("start")["active_until"] == NOW + 12 * 3600
    assert (run.state / "ACTIVE").read_text() == f"{NOW + 12 * 3600}\n"
    assert run.says(**armed) == "block"
    assert run.does("start", "--for", "90m")["active_until"] == NOW + 90 * 60
    run.monkeypatch.setenv("HOOKCTL_NOW", str(NOW + 90 * 60 + 1))
    assert run.says(active=True, **armed) == ""
    assert run.does("status")["active_until"] is None


@pytest.mark.parametrize(
    ("action", "stays"), [("stop", False), ("conclude", False), ("heartbeat", True), ("status", True)]
)
def test_only_an_end_takes_the_breadcrumb_away(run: Run, action: str, stays: bool) -> None:
    put(run.state / "RESPAWN_REQUESTED", "")
    run.does(action)
    assert (run.state / "RESPAWN_REQUESTED").exists() == stays


def test_the_hosts_variable_names_the_project(run: Run) -> None:
    other = run.root / "other"
    (other / ".git").mkdir(parents=True)
    (other / "sub").mkdir()
    run.monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(other / "sub"))
    assert run.does("remaining", "1")["project"] == str(other)
    assert run.says(cwd=run.project) == "block", "for the hook the variable wins over the payload too"


@pytest.mark.parametrize("named", ["{root}/elsewhere/run", "tasks", "  tasks ", " "])
def test_a_variable_moves_the_run_folder(run: Run, named: str) -> None:
    run.monkeypatch.setenv("HOOKCTL_RUN_DIR", named.format(root=run.root))
    folder = Path(run.does("remaining", "2")["run_dir"])
    assert (folder / "task.json").exists()
    assert folder.relative_to(run.root) in (Path("elsewhere/run"), Path("work/tasks"), Path("work/.hookctl/run"))
    assert (run.project / ".hookctl").exists() == (named == " ")
    assert run.says() == "block"
    run.does("stop")
    assert run.says(active=True) == ""


# The files are shared with people and agents.


@pytest.mark.parametrize("text", ['{"remaining": 3', "[1]", '"text"', '{"remaining": 1 /* one */}', '{"remaining": 1,}',
                                  '{"remaining": 1, "remaining": 2}', "\xff"])  # fmt: skip
@pytest.mark.parametrize("arguments", [("remaining", "4"), ("heartbeat",), ("start", "--remaining", "4")])
def test_a_task_that_the_hook_could_not_read_is_refused_without_loss(
    run: Run, text: str, arguments: tuple[str, ...]
) -> None:
    """A comment too: to the hook such a task says nothing, and hookctl would have promised a block."""
    put(run.folder / "STOP", "")
    path = put(run.folder / "task.json", text.encode("latin-1"))
    outcome = run(*arguments)
    if outcome.code == 0:  # the doubled key, which only `heartbeat` does not touch
        assert (text, arguments) == ('{"remaining": 1, "remaining": 2}', ("heartbeat",))
        return
    assert outcome.code == 4
    assert outcome.result["errors"][0]["path"] == str(path)
    assert path.read_bytes() == text.encode("latin-1")
    assert run.names() == {"STOP", "task.json"}
    assert run.hookctl("run", "status").code == 0


def test_what_status_says_of_a_task_is_what_the_hook_sees(run: Run) -> None:
    put(run.folder / "task.json", '{"remaining": 3} // soon')
    assert run.does("status")["remaining"] is None
    assert run.says() == ""


def test_an_empty_task_is_filled(run: Run) -> None:
    put(run.folder / "task.json", "")
    run.does("remaining", "1")
    assert run.task() == {"remaining": 1}


def test_two_runs_that_make_the_folder_at_once_both_succeed(run: Run) -> None:
    real = os.makedirs

    def slow(path: str, **options: Any) -> None:
        real(path, **options)
        ignore = run.project / ".hookctl" / ".gitignore"
        if run.folder.is_dir() and not ignore.exists():
            ignore.write_text("run/\n")  # the other one was faster

    run.monkeypatch.setattr("os.makedirs", slow)
    run.does("remaining", "1")


def test_a_file_that_never_stands_still_is_an_error_and_no_promise(run: Run) -> None:
    from hookctl.system import files

    def changed(*_: Any, **__: Any) -> None:
        raise files.Changed("it")

    run.monkeypatch.setattr("hookctl.system.files.replace", changed)
    for arguments in (("stop",), ("remaining", "1")):
        outcome = run(*arguments)
        assert outcome.code == 4
        assert outcome.result["errors"][0]["code"] == "changed_meanwhile"


def test_modes_follow_the_umask(run: Run) -> None:
    mask = os.umask(0o027)
    try:
        run.does("remaining", "1")
        run.does("stop")
    finally:
        os.umask(mask)
    assert (run.folder / "task.json").stat().st_mode & 0o777 == 0o640
    assert (run.folder / "STOP").stat().st_mode & 0o777 == 0o640
    assert run.folder.stat().st_mode & 0o777 == 0o750


def test_status_writes_nothing(run: Run) -> None:
    before = tree(run.root)
    data = run.does("status")
    assert (data["remaining"], data["heartbeat"], data["owner"], data["stop"]) == (None, None, None, False)
    assert run.hookctl("run", "status").code == 0
    assert tree(run.root) == before


@pytest.mark.parametrize(
    ("heartbeat", "age"),
    [
        ('"2001-09-09T01:46:30Z"', 10), ('"2001-09-09T01:46:30.000000Z++"', 10), ('"2001-09-09T03:46:30+02:00"', 10),
        ('"2001-09-09T01:47:00Z"', 0), ('"step 4"', None), ("7", None), ("{}", None), ('"0001-01-01"', None),
        ("null", None), ('""', None),
    ],
)  # fmt: skip
def test_a_heartbeat_is_as_old_as_it_says(run: Run, heartbeat: str, age: float | None) -> None:
    put(run.folder / "task.json", f'{{"heartbeat": {heartbeat}}}')
    assert run.does("status")["ages"].get("heartbeat") == age


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (-5, "0 s"), (0.9, "0 s"), (59, "59 s"), (60, "1 min"), (61, "1 min 1 s"), (3600, "1 h"), (3605, "1 h"),
        (43080, "11 h 58 min"), (86400, "1 d"), (86400 + 59, "1 d"), (2 * 86400 + 3 * 3600 + 60, "2 d 3 h"),
    ],
)  # fmt: skip
def test_ages_are_told_in_their_two_largest_units(span: float, text: str) -> None:
    assert clock.age(span) == text


def test_what_it_says_fits_80_columns(run: Run) -> None:
    run.monkeypatch.setenv("COLUMNS", "80")
    run.does("heartbeat")
    for words in (["start", "--remaining", "3"], ["stop"], ["conclude"], ["remaining", "5"], ["status"]):
        lines = run.hookctl("run", *words).out.splitlines()
        assert [line for line in lines if len(line) > 80 and "/" not in line] == [], (
            "a path is copied, and never broken"
        )
    assert f"run folder {run.folder}" in lines
    (first,) = [number for number, line in enumerate(lines) if line.startswith("running    until ")]
    assert lines[first + 1].startswith(" " * 11), "it stays in its column"


def test_an_owner_that_the_guard_could_not_read_whole_is_refused(run: Run) -> None:
    outcome = run("start", "--owner", "x" * 257)
    assert (outcome.code, run.names()) == (2, set())
    run.does("start", "--remaining", "1", "--owner", f" {'x' * 256} ")
    assert run.says("x" * 256) == "block"
    assert run.says("S2") == ""


# A repository could bring links.

LINKS = (".hookctl", ".hookctl/run", ".hookctl/run/task.json", ".hookctl/run/STOP", ".hookctl/run/CONCLUDE",
         ".hookctl/run/OWNER")  # fmt: skip
WRITES = {
    ("remaining", "1"): "task.json",
    ("heartbeat",): "task.json",
    ("stop",): "STOP",
    ("conclude",): "CONCLUDE",
    ("start", "--owner", "S1"): "OWNER",
    ("start", "--remaining", "1"): "task.json",
    ("start",): "",
}


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("arguments", WRITES, ids=" ".join)
@pytest.mark.parametrize("dangling", [False, True], ids=["", "dangling"])
def test_nothing_is_written_through_a_link(run: Run, link: str, arguments: tuple[str, ...], dangling: bool) -> None:
    outside = run.root / "outside"
    path = run.project / link
    target = outside / path.name
    path.parent.mkdir(parents=True, exist_ok=True)
    for name in ("STOP", "CONCLUDE", "OWNER", "task.json", "run/STOP", "run/CONCLUDE", "run/OWNER", "run/task.json"):
        put(outside / ".hookctl" / name, "{}")
        put(outside / "run" / name.rpartition("/")[2], "{}")
        put(outside / name.rpartition("/")[2], "{}")
    if dangling:
        shutil.rmtree(target) if target.is_dir() else target.unlink()
    path.symlink_to(target)
    before = tree(outside)
    outcome = run(*arguments)
    refused = path.name in (".hookctl", "run", WRITES[arguments])
    if refused:
        assert outcome.code == 4
        assert outcome.result["errors"][0]["code"] == "linked"
        assert outcome.result["errors"][0]["path"] == str(path)
        assert path.is_symlink()
    assert tree(outside) == before


@pytest.mark.parametrize("link", [".hookctl", ".hookctl/run", ".hookctl/run/task.json"])
def test_the_work_behind_a_link_counts_as_for_the_hook_and_only_the_count_is_shown(run: Run, link: str) -> None:
    path = run.project / link
    outside = run.root / "outside"
    put(outside / "run" / "task.json", '{"remaining": 3, "heartbeat": "secret"}')
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to({".hookctl": outside, ".hookctl/run": outside / "run"}.get(link, outside / "run" / "task.json"))
    assert run.says() == "block"
    data = run.does("status")
    assert (data["remaining"], data["heartbeat"]) == (3, "***")
    assert "3" in run.hookctl("run", "status").out
    put(outside / "run" / "task.json", '{"remaining": "secret"}')
    assert run.says() == "", "what is no count is no work"
    assert run.does("status")["remaining"] == "***"
    assert "secret" not in run.hookctl("run", "status").out


def test_an_owner_behind_a_link_counts_as_for_the_hook_and_is_not_shown(run: Run) -> None:
    run.does("remaining", "3")
    (run.folder / "OWNER").symlink_to(put(run.root / "secret", "S2"))
    assert (run.says("S1"), run.says("S2")) == ("", "block")
    assert run.does("status")["owner"] == "***"
    put(run.root / "secret", "")
    assert run.says("S3") == "block"
    assert run.does("status")["owner"] == project.session_hash("S3")


@pytest.mark.parametrize("name", ["task.json", "OWNER"])
def test_a_link_to_no_regular_file_says_nothing_and_hangs_nobody(run: Run, name: str) -> None:
    run.folder.mkdir(parents=True)
    os.mkfifo(run.root / "pipe")
    (run.folder / name).symlink_to(run.root / "pipe")
    assert run.says() == ""
    data = run.does("status")
    assert (data["remaining"], data["owner"]) == (None, None)


@pytest.mark.parametrize("text", ["1e20", "inf", "nan", "-1", "soon", "\udcff"])
def test_an_end_that_is_no_time_arms_nothing(run: Run, text: str) -> None:
    run.does("start")
    (active,) = run.root.glob("state/guard/*/ACTIVE")
    active.write_text(text, errors="surrogateescape")
    assert run.does("status")["active_until"] is None


@pytest.mark.parametrize("now", ["inf", "nan", "1e18", "-5"])
def test_a_clock_that_says_nonsense_is_passed_over(run: Run, now: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOKCTL_NOW", now)
    assert run("start").code == 0


def test_a_run_that_would_be_over_at_once_is_refused(run: Run) -> None:
    assert run("start", "--for", "0h").code == 2


def test_the_folder_and_the_file_of_the_installed_guard_are_used(run: Run) -> None:
    assert run.hookctl("install", "--host", "claude", "--set", "run_dir=work", "--set", "task_file=todo.json").code == 0
    run.does("remaining", "3")
    run.does("stop")
    assert (run.project / "todo.json").read_text() == '{\n  "remaining": 3\n}\n'
    assert (run.project / "work" / "STOP").exists() and not (run.project / ".hookctl").exists()


def test_a_project_cannot_configure_where_a_run_lies(run: Run) -> None:
    """A ledger page without the guard names no folder; the working folder's config.json is not to stand in."""
    assert run.hookctl("install", "--host", "claude").code == 0
    ledger = run.root / "state" / "ledger.json"
    page = json.loads(ledger.read_text())
    for record in page["files"].values():
        record["packs"] = {"other": record["packs"]["guard"]}
    ledger.write_text(json.dumps(page))
    put(run.project / "config.json", json.dumps({"run_dir": str(run.root / "elsewhere")}))
    assert run.does("stop")["run_dir"] == str(run.folder)
    assert not (run.root / "elsewhere").exists()


def test_the_clock_may_stand_at_its_beginning(run: Run) -> None:
    run.monkeypatch.setenv("HOOKCTL_NOW", "0")
    assert run.does("heartbeat")["heartbeat"] == "1970-01-01T00:00:00.000000Z"


def test_where_another_system_writes_the_task_its_field_is_named_and_no_refused_command(run: Run) -> None:
    outcome = run.hookctl("install", "--host", "claude", "--preset", "bmad")
    assert ("run remaining" in outcome.out, "run status" in outcome.out) == (False, True)
    marker = put(run.project / ".claude" / ".story-automator-active", "{}")
    assert f"`storiesRemaining` in {marker} does" in run.hookctl("run", "start").out
    put(marker, '{"storiesRemaining": 2}')
    said = run.hookctl("run", "status").out
    assert (".story-automator-active written" in said, "task.json" in said) == (True, False)
    run.monkeypatch.setenv("HOOKCTL_NOW", str(os.stat(marker).st_mtime + 13 * 3600))
    run.monkeypatch.setenv("HOOKCTL_WORK_HOURS", "12")
    for outcome in (run.hookctl("run", "status"), run.hookctl("status"), run.hookctl("doctor")):
        said = " ".join((outcome.out + outcome.err).split())
        assert ("`hookctl run remaining" in said, "`storiesRemaining` in" in said) == (False, True)


# What a project's `.env` may set.


@pytest.mark.parametrize("fields", ["", "heartbeat=private_key,owner=client_email"])
def test_a_task_file_outside_that_a_variable_names_is_only_read_and_shows_no_more_than_a_count(
    hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch, fields: str
) -> None:
    text = '{"remaining": 3, "heartbeat": "s3cret", "private_key": "s3cret", "client_email": "s3cret"}'
    path = put(isolated / "home" / ".config" / "cred.json", text)
    monkeypatch.setenv("HOOKCTL_TASK_FILE", "../home/.config/cred.json")
    if fields:
        monkeypatch.setenv("HOOKCTL_TASK_FIELDS", fields)
    for action in (["remaining", "3"], ["heartbeat"], ["status"], ["status", "--json"]):
        done = hookctl("run", *action)
        assert "s3cret" not in done.out + done.err
        assert (done.code == 0) == (action[0] == "status")
    assert path.read_text() == text


def test_a_task_file_that_the_hook_would_not_read_is_not_read(hookctl: Hookctl, isolated: Path) -> None:
    path = isolated / "work" / ".hookctl" / "run" / "task.json"
    put(path, '{"remaining": 3, "heartbeat": "%s"}' % ("a" * 60_000))
    done = hookctl("run", "status")
    assert "remaining  3\n" in done.out and len(done.out) < 2_000
    text = '{"remaining": 3, "heartbeat": "%s"}' % ("a" * 65_536)
    put(path, text)
    assert "larger than 64 KiB" in hookctl("run", "status").out
    assert (hookctl("run", "remaining", "2").code, path.read_text()) == (4, text)
