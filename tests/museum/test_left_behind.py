"""The museum, M15 to M19, M22, M24 and M25: copies, leftovers, removals too many, and edits that were put back."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Hookctl, put
from tests.findings import LIMIT
from tests.hostfiles import BY_NAME
from tests.museum.conftest import FOREIGN, as_the_host, findings, ours, run, value_of
from tests.templates.lab import Lab
from tests.trees import tree

INSTALL, UNINSTALL = ("install", "--host", "claude"), ("uninstall", "--host", "claude")


def edit_hook(path: Path, **fields: Any) -> None:
    value = value_of(path)
    value["hooks"]["Stop"][-1]["hooks"][0].update(fields)
    path.write_text(json.dumps(value, indent=2))


def test_m15_deja_vu_3424_one_entry_whoever_installs(
    settings: Path, isolated: Path, process: Hookctl, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(hookctl, *INSTALL)
    copy = isolated / "another checkout"
    for name in ("hookctl", "schemas", "templates"):
        shutil.copytree(Path(__file__).parents[2] / name, copy / name)
    monkeypatch.chdir(copy)
    monkeypatch.setenv("PYTHONPATH", str(copy))
    assert process(*INSTALL).code == 0
    assert len(ours(settings)) == 1


def test_m15_deja_vu_3424_a_copy_is_an_error_that_doctor_repairs(settings: Path, hookctl: Hookctl) -> None:
    run(hookctl, *INSTALL)
    value = value_of(settings)
    value["hooks"]["Stop"] *= 3
    settings.write_text(json.dumps(value))
    assert "entry_doubled" in findings(hookctl)
    hookctl("doctor", "--host", "claude", "--fix")
    assert len(ours(settings)) == 1


def test_m16_caveman_392_a_stop_counts_once_in_two_places(
    settings: Path, isolated: Path, hookctl: Hookctl, lab: Lab
) -> None:
    run(hookctl, *INSTALL)
    run(hookctl, *INSTALL, "--scope", "local")
    lab.task(remaining=2)
    second = lab.second()
    for number in range(5):
        active = number > 0
        answers = [lab.stop(active, config, prompt_id="p") for config in ("", second)]
        assert answers == ["B", "B"], number
    assert lab.stop(True, prompt_id="p") == "R"


def test_m17_claudekit_cli_898_entries_go_before_their_files(settings: Path, isolated: Path, hookctl: Hookctl) -> None:
    run(hookctl, *INSTALL)
    hook = isolated / "data" / "hook.py"
    actions = [one["action"] for one in run(hookctl, *UNINSTALL)["actions"]]
    first_file = next(number for number, action in enumerate(actions) if action == "remove-file")
    assert "remove" in actions[:first_file] and "remove" not in actions[first_file:]
    assert not hook.exists() and not settings.exists()


@pytest.mark.parametrize("gone", ["hook", "python"])
def test_m17_claudekit_cli_898_what_points_nowhere_does_nothing(
    gone: str, settings: Path, isolated: Path, hookctl: Hookctl
) -> None:
    run(hookctl, *INSTALL)
    (hook,) = ours(settings)
    command = hook["command"]
    if gone == "hook":
        shutil.rmtree(isolated / "data")
    else:
        assert "/usr/bin/python3" in command
        command = command.replace("/usr/bin/python3", str(isolated / "python3"))
    put(isolated / "work" / ".hookctl" / "run" / "task.json", '{"remaining": 3}')
    done = as_the_host(command, {"session_id": "s", "cwd": str(isolated / "work")})
    assert (done.returncode, done.stdout) == (0, b""), "Claude Code takes nothing else for an answer"
    assert gone != "hook" or "hook_missing" in findings(hookctl)


@pytest.mark.parametrize("name", ["claude", "gemini", "qwen", "copilot", "opencode", "openhands", "cursor"])
def test_m18_claude_mem_2579_nothing_of_ours_is_left(name: str, isolated: Path, hookctl: Hookctl) -> None:
    before = tree(isolated / "home")
    run(hookctl, "install", "--host", name)
    assert tree(isolated / "home") != before
    run(hookctl, "uninstall", "--host", name)
    assert list(tree(isolated / "home")) == list(before)
    assert not [path for path in (isolated / "data").rglob("*") if path.is_file()]


def test_m18_claude_mem_2579_what_was_yours_before_stays_and_is_listed(settings: Path, hookctl: Hookctl) -> None:
    put(settings, '{"env": {"MAX_STOP_BLOCKS": "5"}}')
    run(hookctl, *INSTALL)
    edit_hook(settings, command=ours(settings)[0]["command"] + " # mine")
    kept = run(hookctl, *UNINSTALL)["kept"]
    assert value_of(settings)["env"] == {"MAX_STOP_BLOCKS": "5"}
    assert [one for one in kept if one["id"] == "guard/stop" and one["reason"]]


def test_m19_caveman_593_what_looks_like_ours_is_theirs(settings: Path, isolated: Path, hookctl: Hookctl) -> None:
    hook = isolated / "data" / "hook.py"
    commands = ["hookctl status", f"cat {hook}", "python3 hook.py stop", "true # : hookctl=guard/stop; "]
    put(settings, json.dumps({"hooks": {"Stop": [{"hooks": [{**FOREIGN, "command": one}]} for one in commands]}}))
    before = value_of(settings)
    run(hookctl, *INSTALL)
    value = value_of(settings)
    mine = value["hooks"]["Stop"][0]["hooks"]
    value["hooks"]["Stop"][-1]["hooks"].append(FOREIGN)  # theirs in our group
    mine.append(dict(FOREIGN))
    put(settings, json.dumps(value))
    run(hookctl, *UNINSTALL)
    before["hooks"]["Stop"][0]["hooks"].append(FOREIGN)
    assert value_of(settings)["hooks"]["Stop"] == [*before["hooks"]["Stop"], {"hooks": [FOREIGN]}]


ODD = "a b'c\"d$HOME\\e;é"


def test_m22_agenfk_192_an_odd_home_is_no_trouble(
    isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, work = isolated / ODD, isolated / ODD / "work"
    put(work / ".hookctl" / "run" / "task.json", '{"remaining": 3}')
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("HOOKCTL_DATA_DIR", str(home / "data"))
    run(hookctl, *INSTALL)
    command = ours(home / ".claude" / "settings.json")[0]["command"]
    done = as_the_host(command, {"session_id": "s", "cwd": str(work), "stop_hook_active": False})
    assert json.loads(done.stdout)["decision"] == "block" and done.returncode == 0


def test_m22_agenfk_192_no_environment_of_ours_stands_in_the_command(
    settings: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # the real search for an interpreter
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(settings.parents[1]))
        for name, folder in (("STATE", "state"), ("DATA", "data")):
            patch.setenv(f"HOOKCTL_{name}_DIR", str(settings.parents[2] / folder))
        patch.delenv("CLAUDE_CONFIG_DIR", raising=False)
        patch.chdir(settings.parents[2] / "work")
        run(hookctl, *INSTALL)
        command = ours(settings)[0]["command"]
    assert sys.prefix == sys.base_prefix or sys.prefix + os.sep not in command
    assert "npx" not in command and "/.venv" not in command


def test_m22_agenfk_192_a_python_that_does_not_run_is_found(
    settings: Path, isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = put(isolated / "python3", '#!/bin/sh\nexec /usr/bin/python3 "$@"\n')
    stub.chmod(0o755)
    monkeypatch.setattr("hookctl.system.interpreter.choose", lambda environ: (str(stub), ""))
    run(hookctl, *INSTALL)
    stub.write_text("#!/bin/sh\nexit 49\n")
    assert "interpreter_broken" in findings(hookctl)


def test_m24_apm_1823_version_comes_with_a_new_file_and_goes_with_it(isolated: Path, hookctl: Hookctl) -> None:
    path = BY_NAME["cursor"].path(isolated, "user")
    run(hookctl, "install", "--host", "cursor")
    assert value_of(path)["version"] == 1
    run(hookctl, "uninstall", "--host", "cursor")
    assert not path.exists()
    put(path, '{"hooks": {}}')
    run(hookctl, "install", "--host", "cursor")
    assert value_of(path)["version"] == 1
    run(hookctl, "uninstall", "--host", "cursor")
    assert path.read_text() == '{"hooks": {}}'


def test_m24_apm_1823_files_come_before_entries(hookctl: Hookctl) -> None:
    actions = [one["action"] for one in run(hookctl, *INSTALL)["actions"]]
    assert "create-file" in actions and "create-file" not in actions[actions.index("write") :]


def test_m25_gascity_4298_an_edit_is_yours_and_named(settings: Path, hookctl: Hookctl) -> None:
    run(hookctl, *INSTALL)
    edit_hook(settings, timeout=77)
    value = value_of(settings)
    value["env"][LIMIT] = "9"
    settings.write_text(json.dumps(value))
    for step in (INSTALL, (*INSTALL, "--set", "latch=false")):
        kept = {tuple(one["path"])[-1] for one in run(hookctl, *step)["kept"]}
        assert value_of(settings)["env"][LIMIT] == "9" and LIMIT in kept
        assert ours(settings)[0]["timeout"] == 77
    run(hookctl, *UNINSTALL)
    assert value_of(settings) == {"env": {LIMIT: "9"}}


def test_m25_gascity_4298_force_alone_takes_over(settings: Path, hookctl: Hookctl) -> None:
    run(hookctl, *INSTALL)
    edit_hook(settings, timeout=77)
    run(hookctl, *INSTALL, "--force")
    assert ours(settings)[0]["timeout"] == 10


def test_m25_gascity_4298_registered_is_told_from_seen_to_run(settings: Path, isolated: Path, hookctl: Hookctl) -> None:
    run(hookctl, *INSTALL)
    assert json.loads(hookctl("log", "--json").out)["data"]["events"] == []
    done = as_the_host(ours(settings)[0]["command"], {"session_id": "s", "cwd": str(isolated / "work")})
    assert done.returncode == 0
    assert len(json.loads(hookctl("log", "--json").out)["data"]["events"]) == 1
