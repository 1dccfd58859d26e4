"""The museum, M10 to M14, M20, M21 and M23: settings that were replaced, emptied, reordered or shifted."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path

import pytest

from hookctl.planner import sources
from tests.conftest import Hookctl, put
from tests.hostfiles import BY_NAME
from tests.museum.conftest import FOREIGN, findings, ours, run, value_of
from tests.trees import tree

INSTALL, UNINSTALL = ("install", "--host", "claude"), ("uninstall", "--host", "claude")
STEPS = [INSTALL, INSTALL, (*INSTALL, "--force"), (*INSTALL, "--set", "MAX_STOP_BLOCKS=9"), (*INSTALL, "--reset")]


def without_ours(path: Path) -> object:
    """The settings less what the guard has there."""
    value = value_of(path)
    for key in ("MAX_STOP_BLOCKS", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"):
        value["env"].pop(key, None)
    for groups in value["hooks"].values():
        groups[:] = [group for group in groups if not group["hooks"][0]["command"].startswith(": hookctl=")]
    return value


def test_m10_graphify_2167_nothing_around_ours_changes_at_any_step(
    theirs: bytes, settings: Path, hookctl: Hookctl
) -> None:
    before, lines = json.loads(theirs), theirs.decode().splitlines()
    for step in STEPS:
        run(hookctl, *step)
        assert without_ours(settings) == before
        text = settings.read_text()
        assert all(line in text for line in (row.rstrip(",") for row in lines))
    run(hookctl, *UNINSTALL)
    assert settings.read_bytes() == theirs and settings.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("steps", [1, 4])
def test_m10_graphify_2167_restore_brings_the_first_bytes_back(
    steps: int, theirs: bytes, settings: Path, process: Hookctl
) -> None:
    for step in STEPS[:steps]:
        assert process(*step).code == 0
    assert process("restore", str(settings), "--yes").code in (0, 2)
    if settings.read_bytes() != theirs:
        assert process("restore", str(settings)).code == 0
    assert settings.read_bytes() == theirs


def test_m11_codebase_memory_mcp_1200_ours_goes_behind_and_a_plan_is_exact(
    theirs: bytes, settings: Path, isolated: Path, hookctl: Hookctl
) -> None:
    before = tree(isolated)
    planned = run(hookctl, "plan", "--host", "claude")
    assert run(hookctl, *INSTALL, "--dry-run")["actions"] == planned["actions"]
    assert tree(isolated) == before, "a plan writes nothing"
    assert run(hookctl, *INSTALL)["actions"] == planned["actions"]
    stop = value_of(settings)["hooks"]["Stop"]
    assert stop[:-1] == json.loads(theirs)["hooks"]["Stop"]
    assert [one["command"] for one in stop[-1]["hooks"]] == [one["command"] for one in ours(settings)]
    assert run(hookctl, *INSTALL)["actions"] == []


TORN = {
    "torn": (b'{\n  "model": "m",\n  "env": {', 3),
    "trailing comma": (b'{\n  "model": "m",\n}\n', 2),
    "comment": (b'{\n  // mine\n  "model": "m"\n}\n', 2),
    "conflict": (b'{\n<<<<<<< a\n  "model": "m"\n=======\n>>>>>>> b\n}\n', 2),
}


@pytest.mark.parametrize(("data", "line"), TORN.values(), ids=TORN)
def test_m12_pixel_agents_378_unreadable_is_not_empty(
    data: bytes, line: int, settings: Path, isolated: Path, hookctl: Hookctl
) -> None:
    put(settings, data)
    before = tree(isolated)
    done = hookctl(*INSTALL, "--json")
    (error,) = done.result["errors"]
    assert (done.code, error["path"], error["line"]) == (4, str(settings), line)
    assert error["column"] and tree(isolated) == before


def test_m12_pixel_agents_378_a_byte_order_mark_stays(settings: Path, hookctl: Hookctl) -> None:
    put(settings, data := b'\xef\xbb\xbf{"model": "m"}')
    run(hookctl, *INSTALL)
    assert settings.read_bytes().startswith(b"\xef\xbb\xbf{")
    run(hookctl, *UNINSTALL)
    assert settings.read_bytes() == data


def test_m12_pixel_agents_378_a_file_in_the_middle_of_a_write_is_read_again(
    theirs: bytes, settings: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "READ_PAUSE", 0.2)
    settings.write_bytes(theirs[:200])
    writer = threading.Thread(target=lambda: (time.sleep(0.1), settings.write_bytes(theirs)))
    writer.start()
    run(hookctl, *INSTALL)
    writer.join()
    run(hookctl, *UNINSTALL)
    assert settings.read_bytes() == theirs


def test_m13_rulesync_2940_other_tools_hooks_stay_in_order(theirs: bytes, settings: Path, hookctl: Hookctl) -> None:
    before = json.loads(theirs)["hooks"]
    for step in (*STEPS, UNINSTALL):
        run(hookctl, *step)
        hooks = value_of(settings)["hooks"]
        assert list(hooks) == list(before)
        for event, groups in before.items():
            assert hooks[event][: len(groups)] == groups


def test_m14_irrlicht_1371_comments_order_and_characters_stay(isolated: Path, hookctl: Hookctl) -> None:
    path = BY_NAME["gemini"].path(isolated, "user")
    put(path, data := b'// mine\n{\n  "z": "a && b < c > d $VAR \xc3\xa9 \\u00e9", /* why */\n  "a": 1.0e3\n}\n')
    run(hookctl, "install", "--host", "gemini")
    text = path.read_bytes()
    for piece in (b"// mine", b"a && b < c > d $VAR \xc3\xa9 \\u00e9", b"/* why */", b"1.0e3"):
        assert piece in text
    assert text.index(b'"z"') < text.index(b'"a"')
    run(hookctl, "uninstall", "--host", "gemini")
    assert path.read_bytes() == data


def test_m14_irrlicht_1371_a_file_that_the_host_laid_out_anew_is_edited_as_it_is(
    theirs: bytes, settings: Path, hookctl: Hookctl
) -> None:
    run(hookctl, *INSTALL)
    anew = dict(sorted(value_of(settings).items()))
    settings.write_text(json.dumps(anew, indent="\t"))
    assert run(hookctl, *INSTALL)["actions"] == []
    run(hookctl, *UNINSTALL)
    assert value_of(settings) == json.loads(theirs)
    assert settings.read_text() == json.dumps(value_of(settings), indent="\t")


@pytest.mark.parametrize("kind", ["link to a link", "linked folder", "dangling"])
def test_m20_ai_memory_263_links_stay(kind: str, settings: Path, isolated: Path, hookctl: Hookctl) -> None:
    real = isolated / "home" / "dotfiles" / "claude" / "settings.json"
    real.parent.mkdir(parents=True)
    if kind == "linked folder":
        settings.parent.symlink_to(real.parent)
    else:
        settings.parent.mkdir()
        (settings.parent / "hop").symlink_to(real)
        settings.symlink_to("hop")
    if kind != "dangling":
        put(real, '{"model": "m"}').chmod(0o640)
    links = {path: os.readlink(path) for path in isolated.rglob("*") if path.is_symlink()}
    run(hookctl, *INSTALL)
    assert ours(real) and ours(settings)
    assert kind == "dangling" or real.stat().st_mode & 0o777 == 0o640
    run(hookctl, *UNINSTALL)
    assert {path: os.readlink(path) for path in isolated.rglob("*") if path.is_symlink()} == links
    assert not real.exists() if kind == "dangling" else real.read_text() == '{"model": "m"}'


@pytest.mark.parametrize("left", ["{}", '{"env": {}}'])
def test_m21_claude_code_76749_after_a_wipe_doctor_tells_and_install_puts_back(
    left: str, theirs: bytes, settings: Path, hookctl: Hookctl
) -> None:
    run(hookctl, *INSTALL)
    settings.write_text(left)
    assert "entries_wiped" in findings(hookctl)
    run(hookctl, *INSTALL)
    assert ours(settings) and "entries_wiped" not in findings(hookctl)
    backups = [path.read_bytes() for path in (Path(os.environ["HOOKCTL_STATE_DIR"]) / "backups").rglob("*")
               if path.is_file()]  # fmt: skip
    assert theirs in backups


def test_m21_claude_code_76749_one_entry_that_you_removed_stays_away(settings: Path, hookctl: Hookctl) -> None:
    run(hookctl, *INSTALL)
    value = value_of(settings)
    del value["env"]["MAX_STOP_BLOCKS"]
    settings.write_text(json.dumps(value))
    run(hookctl, *INSTALL)
    assert "MAX_STOP_BLOCKS" not in value_of(settings)["env"]


def test_m23_nodeterm_51_the_places_of_others_never_shift_on_codex(isolated: Path, hookctl: Hookctl) -> None:
    path = BY_NAME["codex"].path(isolated, "user")
    one, two = ({"hooks": [{**FOREIGN, "command": name}]} for name in ("one", "two"))
    put(path, json.dumps({"hooks": {"Stop": [one]}}))
    said = hookctl("install", "--host", "codex")
    assert said.code == 0 and "approve" in (said.out + said.err).lower()
    installed = path.read_bytes()
    stop = value_of(path)["hooks"]["Stop"]
    assert stop[0] == one and len(stop) == 2
    assert run(hookctl, "install", "--host", "codex")["actions"] == [] and path.read_bytes() == installed
    put(path, json.dumps({"hooks": {"Stop": [*stop, two]}}))
    run(hookctl, "uninstall", "--host", "codex")
    stop = value_of(path)["hooks"]["Stop"]
    assert (stop[0], stop[2]) == (one, two), "an empty place stays where ours was"
    assert "not_approved" not in findings(hookctl, "codex")
