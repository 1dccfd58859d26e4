"""hookctl doctor: every finding, made for real; and that it never writes, raises or starts a changed hook."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookctl import hosts
from hookctl.checks import entries
from hookctl.packs.choices import PRESETS
from tests import findings
from tests.conftest import put
from tests.findings import (
    CAP,
    LIMIT,
    MADE,
    Place,
    active,
    cap_is,
    entries_wiped,
    handler,
    in_the_shell,
    loose,
    ours_with,
    place,
    sessions,
    theirs,
    work,
)  # fmt: skip
from tests.findings_of_hosts import MADE_OF_HOSTS
from tests.page_of_codes import PAGE, renewed
from tests.test_check import MADE as MADE_BY_CHECK
from tests.texts import rows
from tests.trees import tree

__all__ = ["place"]  # a fixture


def named(case: object) -> str:
    """An arrangement by its name, without the frame that it stands in."""
    return getattr(case, "__qualname__", str(case)).partition(".")[0]


@pytest.mark.parametrize(("code", "level", "arrange"), MADE, ids=named)
def test_every_finding(place: Place, code: str, level: str, arrange: Callable[[Place], None]) -> None:
    arrange(place)
    before = tree(place.root)
    outcome = place.doctor("--strict", *(["--fix"] if code == "fix_failed" else []))
    findings = outcome.data["findings"]
    found = [finding for finding in findings if finding["code"] == code]
    assert [finding["level"] for finding in found] == [level], findings
    assert found[0]["message"]
    assert found[0]["fix"] or level == "info"
    assert "='" not in found[0]["message"], "values are quoted as in the settings file"
    levels = [finding["level"] for finding in findings]
    assert levels == sorted(levels, key=["error", "warning", "info"].index)
    assert outcome.code == (1 if {"error", "warning"} & set(levels) else 0)
    assert tree(place.root) == before, "doctor writes nothing"


@pytest.mark.parametrize(
    ("arrange", "codes"),
    [(cap_is("8"), (0, 0)), (cap_is("4"), (0, 1)), (entries_wiped, (1, 1))],
    ids=["fine", "a warning", "an error"],
)
def test_warnings_count_only_if_they_are_to(
    place: Place, arrange: Callable[[Place], None], codes: tuple[int, int]
) -> None:
    arrange(place)
    plain, strict = place.hookctl("doctor"), place.hookctl("doctor", "--strict")
    assert (plain.code, strict.code) == codes
    assert plain.out == strict.out
    for finding in place.findings():
        is_problem = finding["level"] != "info"
        assert (f"{finding['message']} [{finding['code']}]" in plain.out) == is_problem
        assert (f"    fix: {finding['fix']}\n" in plain.out) == is_problem, finding
    verbose = place.hookctl("doctor", "--verbose").out
    for finding in place.findings():
        assert f"{finding['message']} [{finding['code']}]" in verbose


def test_every_code_is_made_by_a_test() -> None:
    assert {code for code, *_ in (*MADE, *MADE_OF_HOSTS, *MADE_BY_CHECK)} == set(entries())
    assert len(entries()) <= 75


# A client's version, the options of the install, and what it is too old for: the level and the version that is not.
@pytest.mark.parametrize(("version", "options", "old"), rows("old-clients"))
def test_a_client_is_too_old_for_what_is_installed_and_install_says_so_too(
    place: Place, version: str, options: str, old: str
) -> None:
    version = version.replace("seen", hosts.load("claude").client.seen)
    place.client(f"echo '{version} (Claude Code)'")
    words = [] if options == "-" else options.split()
    installed = place.hookctl("install", "--host", "claude", *words, "--json").data
    told = [line["message"] for line in installed["messages"] if line["code"] == "client_old"]
    found = [finding for finding in place.findings() if finding["code"].startswith("client")]
    pairs = zip(old.split()[::2], old.split()[1::2], strict=False)
    wanted = [(level, f"Upgrade Claude Code to {since} or later.") for level, since in pairs]
    assert [(finding["level"], finding["fix"]) for finding in found] == wanted
    texts = [finding["message"] for finding in found if finding["level"] != "info"]
    assert [text.partition(": upgrade it to ")[0] for text in told] == texts


# What hosts.md says that Claude Code makes of a cap, and what doctor says of it.
@pytest.mark.parametrize(("cap", "effective", "verdict"), rows("caps"))
def test_the_cap_as_the_client_reads_it(place: Place, cap: str, effective: str, verdict: str) -> None:
    value = json.loads(cap)
    text = value if isinstance(value, str) else json.dumps(value)
    assert hosts.read_cap(hosts.load("claude"), text) == float(effective)
    cap_is(value)(place)
    found = {finding["code"]: finding for finding in place.findings() if finding["code"].startswith("cap_")}
    assert set(found) == ({"cap_below_limit"} if verdict == "below" else set())
    if found:
        assert f"the host cap is {effective}," in found["cap_below_limit"]["message"]


def test_the_nearest_scope_wins(place: Place) -> None:
    """managed before local before project before user; a later file of the managed folder before an earlier one."""
    place.install("--set", f"{LIMIT}=20")

    def winner() -> str:
        (finding,) = [f for f in place.findings() if f["code"] == "cap_below_limit"]
        return finding["path"]

    def page(value: str) -> str:
        return json.dumps({"env": {CAP: value}})

    work = Path.cwd()
    project = put(work / ".claude" / "settings.json", page("9"))
    assert winner() == str(project)
    local = put(work / ".claude" / "settings.local.json", page("10"))
    assert winner() == str(local)
    managed = place.managed({"env": {CAP: "11"}})
    assert winner() == str(managed)
    put(managed.parent / "d" / "10.json", page("12"))
    last = put(managed.parent / "d" / "20.json", page("13"))
    assert winner() == str(last)


@pytest.mark.parametrize(("limit", "codes"), [("20", ["cap_below_limit"]), ("2", []), ("0", []), ("many", [])])
def test_the_limit_of_another_system_is_held_against_the_cap(place: Place, limit: str, codes: list[str]) -> None:
    place.install("--preset", "bmad")
    put(Path(".claude/settings.json"), json.dumps({"env": {"STORY_AUTOMATOR_MAX_STOP_BLOCKS": limit}}))
    assert [code for code in place.codes() if code.startswith("cap_")] == codes


def test_a_changed_hook_is_not_started(place: Place) -> None:
    marker = place.root / "started"
    place.install().hook.write_text(f"open({str(marker)!r}, 'w')\n")
    codes = place.codes()
    assert "hook_changed" in codes and "self_test_failed" not in codes
    assert place.trials() == []
    assert not marker.exists()


def test_the_self_test_leaves_the_sessions_and_the_log_alone(place: Place) -> None:
    place.install()
    assert place.trials() == [True]
    assert not (place.root / "state" / "guard").exists()


# Every preset, and each setting that moves, renames or switches something: the hook works with all of them.
WORKING: list[dict[str, Any]] = [
    *(preset for preset in PRESETS.values() if preset.get("mode") != "off"),
    *(json.loads(knobs) for (knobs,) in rows("knobs-that-work")),
]


@pytest.mark.parametrize(
    ("knobs", "scope"), [(knobs, ("user", "project")[number % 2]) for number, knobs in enumerate(WORKING)], ids=str
)
def test_the_self_test_passes_whatever_the_knobs(place: Place, knobs: dict[str, Any], scope: str) -> None:
    place.install("--scope", scope)
    config = place.config if scope == "user" else Path(".hookctl/guard/claude.json")
    place.change(lambda page: page.update(knobs), config)
    assert place.trials() == [True]
    if scope == "project":
        found = {one["code"] for one in place.hookctl("check", "--json").data["findings"]}
        assert found <= {"config_changed", "config_invalid", "guard_off"}


@pytest.mark.parametrize("knobs", [{"require_arm": True}, {"owner": "somebody"}], ids=str)
def test_a_person_may_have_a_session_or_a_run_of_their_own(place: Place, knobs: dict[str, Any]) -> None:
    """In a project, where nobody who clones it has those, tests/test_check.py has it named."""
    place.install().change(lambda page: page.update(knobs), place.config)
    assert place.trials() == [True]


@pytest.mark.parametrize(
    "knobs",
    [{"hosts": {}}, {"hosts": {"claude": {"block": 5}}}, {"hosts": {"claude": {"block": ""}}}, {"hosts": []}],
    ids=str,
)
def test_a_hook_that_cannot_work_is_named(place: Place, knobs: dict[str, Any]) -> None:
    place.install().change(lambda page: page.update(knobs), place.config)
    assert "self_test_failed" in place.codes()


@pytest.mark.parametrize(
    ("code", "arrange"),
    [
        ("script_missing", theirs(PreToolUse=[handler("python3 check.py")])),
        ("script_missing", theirs(PreToolUse=[handler("python3 /bin/sh")])),
        ("script_missing", theirs(PreToolUse=[handler("test -f /gone.py && python3 /gone.py")])),
        ("unknown_event", theirs(WorktreeCreate=[handler()])),
        ("entry_disarmed", ours_with(timeout=2)),
        ("entry_disarmed", ours_with(shell="bash", statusMessage="...")),
        ("entry_edited", ours_with(timeout=1)),
        ("hook_environment", in_the_shell("HOOKCTL_DEBUG", "1")),
        ("hook_environment", in_the_shell("HOOKCTL_CHILD", "0")),
        ("hook_environment", in_the_shell("HOOKCTL_SOMETHING", "1")),
        ("state_elsewhere", findings.installed),
        ("run_unusable", work("STOP")),
        ("run_unusable", work("task.json", '{"remaining": "3", "heartbeat": [1]}')),
        ("run_unusable", work("task.json", '{"heartbeat": 1}')),
        ("run_unusable", active("1000001\n")),
        ("work_waiting", work("STOP")),
        ("cap_below_limit", lambda place: place.install("--set", f"{LIMIT}=0")),
        ("unparsable", findings.managed_text(findings.MANAGED_ONLY)),
        ("not_read", lambda place: (findings.not_in_the_home_folder(place), place.install())),
        ("strict_host", findings.managed_text("")),
        ("hook_environment", in_the_shell("HOOKCTL_LATCH", "0")),
        ("loose_mode", loose(lambda place: place.root / "state", 0o1777)),
        ("loose_mode", loose(lambda place: place.settings, 0o664)),
    ],
    ids=named,
)
def test_nothing_is_said_where_nothing_is_wrong(place: Place, code: str, arrange: Callable[[Place], None]) -> None:
    arrange(place)
    assert code not in place.codes()


def test_a_script_of_a_pack_that_does_not_compile_is_named(place: Place) -> None:
    findings.pack(place)
    findings.pack_file(place).write_text("if")
    assert "script_missing" in place.codes()


def test_only_sessions_since_the_install_that_have_ended_count(place: Place) -> None:
    folder = place.settings.parent / "projects" / "-work"
    sessions(place.install(), 3)
    hook = place.hook.stat().st_mtime
    os.utime(folder / "00000000-0000-4000-8000-000000000000.jsonl", (hook - 9, hook - 9))
    assert "hook_silent" not in place.codes()
    sessions(place, 3)
    assert "hook_silent" in place.codes()
    place.monkeypatch.setenv("HOOKCTL_NOW", str(hook + 3600 + 2 * 60 + 299))
    assert "hook_silent" not in place.codes(), "the newest may be at work"
    sessions(place, 3)
    for name in ("00000000-0000-4000-8000-000000000000", "00000000-0000-4000-8000-000000000001"):
        (folder / f"{name}.jsonl").rename(folder / f"agent-{name[:8]}{name[-1]}.jsonl")
    assert "hook_silent" not in place.codes()


def test_transcripts_are_never_opened(place: Place) -> None:
    sessions(place.install(), 3)
    folder = place.settings.parent / "projects" / "-work"
    for path in list(folder.iterdir()):
        at = path.stat().st_mtime
        path.unlink()
        os.mkfifo(path)
        os.utime(path, (at, at))
    assert "hook_silent" in place.codes()


def test_the_page_has_the_table_of_the_codes() -> None:
    page = PAGE.read_text()
    assert page == renewed(page), "run: python -m tests.page_of_codes"


def test_a_client_is_asked_once_however_many_files_it_has(place: Place) -> None:
    place.client(f"echo asked >> {place.root}/asked; echo '9.9.9 (Claude Code)'")
    place.install().install("--scope", "local")
    (place.root / "asked").unlink()
    place.doctor()
    assert (place.root / "asked").read_text() == "asked\n"
