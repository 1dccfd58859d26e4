"""`install --wrap`: another tool's Stop hook gets a limit, keeps all that is its own, and gets its very bytes back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from hookctl.packs import wrapping
from hookctl.system import folders
from tests.conftest import Hookctl, put

pytestmark = pytest.mark.usefixtures("fixed_python")

KEEP, SAY = 'node "$HOME"/keep.js --go', "say done"
# Odd on purpose: escapes, blanks, an order of keys and a number that no serialiser would write.
TEXT = r"""{ "model":"m",
  "hooks" : {"Stop":[ {"matcher": "", "hooks":[
        {"timeout":1e1, "command" : "node \u0022$HOME\u0022\/keep.js --\u0067o","type":"command"}]},
     {"hooks":[{"type":"command","command":"say done"} ] }  ]}
}
"""
INSTALL, UNINSTALL = ("install", "--host", "claude"), ("uninstall", "--host", "claude")
WRAP = (*INSTALL, "--wrap", "keep.js")


@pytest.fixture
def wrapped(hookctl: Hookctl, settings: Path) -> Path:
    """The settings file after an install that wraps keep.js."""
    put(settings, TEXT)
    outcome = hookctl(*WRAP)
    assert outcome.code == 0, outcome
    return settings


def document(path: Path) -> Any:
    return json.loads(path.read_bytes())


def handlers(path: Path) -> list[dict[str, Any]]:
    return [handler for group in document(path)["hooks"].get("Stop", []) for handler in group["hooks"]]


def commands(path: Path) -> list[str]:
    """The commands on Stop, with what ours wrap in square brackets; the guard's own is left out."""
    found = []
    for text in [handler["command"] for handler in handlers(path)]:
        original = wrapping.original_of(text)
        found += [] if "hookctl=guard/stop" in text else [text if original is None else f"[{original}]"]
    return found


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def edit(path: Path, number: int, **fields: Any) -> None:
    value = document(path)
    value["hooks"]["Stop"][number]["hooks"][0].update(fields)
    path.write_text(json.dumps(value, indent=3))


def entries(path: Path | None = None) -> dict[str, Any]:
    path = path or Path(folders.here().state) / "ledger.json"
    (page,) = json.loads(path.read_text())["files"].values()
    return {entry["id"]: entry for entry in page["entries"] if entry.get("id", "").startswith("guard/wrap-")}


def program(name: str = "wrap.py") -> Path:
    return Path(folders.here().data) / "guard" / "claude-user" / name


# There and back


def test_nothing_but_the_command_changes(wrapped: Path) -> None:
    new = wrapped.read_text()
    command = json.dumps(handlers(wrapped)[0]["command"])
    assert command in new
    assert new.startswith(TEXT[: TEXT.index('"node')] + command + TEXT[TEXT.index(',"type"') : TEXT.index(" ] }  ]")])


def test_twice_is_once(wrapped: Path, hookctl: Hookctl) -> None:
    before, ledger = wrapped.read_bytes(), Path(folders.here().ledger).read_bytes()
    for command in (WRAP, INSTALL, (*INSTALL, "--force"), (*INSTALL, "--wrap", KEEP)):
        assert "nothing to do" in hookctl(*command).out
    assert (wrapped.read_bytes(), Path(folders.here().ledger).read_bytes()) == (before, ledger)
    assert hookctl("plan", "--host", "claude", "--exit-code").code == 0


def test_a_file_that_a_host_has_written_anew_gets_its_command_back(wrapped: Path, hookctl: Hookctl) -> None:
    wrapped.write_text(json.dumps(document(wrapped), indent=2))
    assert hookctl(*UNINSTALL).code == 0
    assert document(wrapped) == json.loads(TEXT)


def test_an_edited_timeout_is_theirs_and_stays(wrapped: Path, hookctl: Hookctl) -> None:
    edit(wrapped, 0, timeout=99, statusMessage="x")
    for command in (INSTALL, (*INSTALL, "--force")):
        assert "nothing to do" in hookctl(*command).out
        assert (handlers(wrapped)[0]["timeout"], handlers(wrapped)[0]["statusMessage"]) == (99, "x")
    assert hookctl(*UNINSTALL).code == 0
    assert handlers(wrapped)[0] == {"timeout": 99, "command": KEEP, "type": "command", "statusMessage": "x"}


def test_a_guard_that_is_off_still_limits_what_it_wraps(wrapped: Path, hookctl: Hookctl) -> None:
    assert hookctl(*INSTALL, "--mode", "off").code == 0
    assert commands(wrapped) == [f"[{KEEP}]", SAY]
    assert len(handlers(wrapped)) == 2
    assert program().exists() and program("hook.py").exists()
    said = hookctl("status").out
    assert "lets the agent stop at denial 5 of 1 wrapped hook without progress, and does nothing else\n" in said
    assert hookctl(*INSTALL, "--wrap", "").code == 0
    assert not program().parent.exists()
    assert hookctl(*UNINSTALL).code == 0
    assert wrapped.read_text() == TEXT


# Which hook


def test_a_whole_command_is_named_by_itself_though_another_begins_with_it(hookctl: Hookctl, settings: Path) -> None:
    put(settings, TEXT.replace(SAY, "say").replace(r"--\u0067o", "say"))
    assert hookctl(*INSTALL, "--wrap", "say").code == 0
    assert commands(settings)[1] == "[say]"


@pytest.mark.parametrize("field", [{"args": []}, {"async": True}, {"asyncRewake": True}, {"shell": "powershell"}])
def test_only_a_plain_command_is_wrapped(field: dict[str, Any], hookctl: Hookctl, settings: Path) -> None:
    handler = {"type": "command", "command": KEEP, **field}
    put(settings, json.dumps({"hooks": {"Stop": [{"hooks": [handler]}]}}))
    outcome = hookctl(*WRAP)
    assert outcome.code == 2
    assert f"because of its {next(iter(field))}" in outcome.err
    assert ":1:" in outcome.err


def test_hooks_of_ours_and_of_other_events_are_not_there_to_be_wrapped(hookctl: Hookctl, settings: Path) -> None:
    put(settings, json.dumps({"hooks": {"SubagentStop": [{"hooks": [{"type": "command", "command": KEEP}]}]}}))
    assert hookctl(*INSTALL).code == 0
    for text in ("keep.js", "hook.py"):
        assert hookctl(*INSTALL, "--wrap", text).code == 2


def test_no_secret_of_a_wrapped_command_is_shown(hookctl: Hookctl, settings: Path) -> None:
    secret = """MY_TOKEN="a b $c" run --password 'p w' -H 'Authorization: Bearer abc def'"""
    put(settings, json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": secret}]}]}}))
    shown = ""
    plan = ("plan", "--host", "claude")
    on, off = ("--wrap", "run"), ("--wrap", "")
    for command in ((*plan, *on), (*INSTALL, *on), ("status",), (*plan, *off), UNINSTALL):
        for extra in ((), ("--json",)) if command[0] in ("plan", "status") else ((),):
            outcome = hookctl(*command, *extra)
            shown += outcome.out + outcome.err
    assert "guard/wrap-" in shown
    for word in ("a b", "p w", "abc def"):
        assert word not in shown


# What the operator and the tool do


def test_an_edited_command_is_theirs(wrapped: Path, hookctl: Hookctl) -> None:
    change(wrapped, "keep.js --go", "keep.js --no")
    before = wrapped.read_bytes()
    for command in (INSTALL, WRAP):
        outcome = hookctl(*command)
        assert outcome.code == 0
        assert "its command was edited, so it stays; --force puts ours back" in outcome.out
        assert wrapped.read_bytes() == before
    outcome = hookctl(*UNINSTALL)
    assert "its command was edited, so it stays" in outcome.out
    assert "keep.js --no" in handlers(wrapped)[0]["command"]
    assert [handler["command"] for handler in handlers(wrapped)[1:]] == [SAY]
    assert not program().exists()
    outcome = hookctl(*UNINSTALL)
    assert outcome.code == 0


def test_a_second_registration_beside_the_wrapped_one_is_wrapped_too(wrapped: Path, hookctl: Hookctl) -> None:
    value = document(wrapped)
    value["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": KEEP}]})
    wrapped.write_text(json.dumps(value))
    assert hookctl(*INSTALL).code == 0
    assert commands(wrapped) == [f"[{KEEP}]", SAY, f"[{KEEP}]"]
    before = wrapped.read_bytes()
    assert "nothing to do" in hookctl(*INSTALL).out
    assert "nothing to repair" in hookctl("doctor", "--fix").out
    assert wrapped.read_bytes() == before
    assert "entry_doubled" not in hookctl("doctor", "--json").out
    assert hookctl(*UNINSTALL).code == 0
    assert commands(wrapped) == [KEEP, SAY, KEEP]


def test_a_registration_anew_that_cannot_be_wrapped_stops_nothing(wrapped: Path, hookctl: Hookctl) -> None:
    edit(wrapped, 0, command=KEEP, args=["x"])
    assert hookctl(*INSTALL).code == 0
    assert commands(wrapped) == [KEEP, SAY]
    assert entries() == {}


@pytest.mark.parametrize("again", [INSTALL, ("doctor", "--fix")])
def test_after_a_wipe_no_hook_of_others_is_written(again: tuple[str, ...], wrapped: Path, hookctl: Hookctl) -> None:
    wrapped.write_text('{"model": "m"}')
    hookctl(*again)
    assert "keep.js" not in wrapped.read_text()
    assert "hookctl=guard/stop" in wrapped.read_text()
    assert hookctl(*UNINSTALL).code == 0
    assert document(wrapped) == {"model": "m"}


def test_a_wrapped_hook_alone_makes_no_wipe(wrapped: Path, hookctl: Hookctl) -> None:
    assert hookctl(*INSTALL, "--mode", "off").code == 0
    wrapped.write_text('{"model": "m"}')
    assert "entries_wiped" not in hookctl("doctor", "--json").out
    assert hookctl("doctor", "--fix").code == 0
    assert wrapped.read_text() == '{"model": "m"}'


def test_where_all_of_ours_but_a_wrap_is_gone_it_comes_back(wrapped: Path, hookctl: Hookctl) -> None:
    value = document(wrapped)
    del value["env"], value["hooks"]["Stop"][2]
    wrapped.write_text(json.dumps(value))
    assert "entries_wiped" in about(hookctl)
    assert hookctl("doctor", "--fix").code == 0
    assert "hookctl=guard/stop" in wrapped.read_text()
    assert commands(wrapped) == [f"[{KEEP}]", SAY]
    assert hookctl(*UNINSTALL).code == 0
    assert document(wrapped) == json.loads(TEXT)


def test_a_file_that_cannot_be_edited_is_told_with_the_command_to_put_back(wrapped: Path, hookctl: Hookctl) -> None:
    wrapped.write_text(wrapped.read_text() + "}")
    outcome = hookctl(*UNINSTALL)
    assert outcome.code == 4
    assert r', and put back "node \u0022$HOME\u0022\/keep.js --\u0067o"' in outcome.err


# The ledger is lost, the program changes, the clock goes back


def test_without_a_ledger_uninstall_still_gives_the_command_back(wrapped: Path, hookctl: Hookctl) -> None:
    shutil.rmtree(folders.here().state)
    assert hookctl(*UNINSTALL).code == 0
    assert commands(wrapped) == [KEEP, SAY]
    assert not program().parent.exists()


@pytest.mark.parametrize("fix", [False, True])
def test_without_a_ledger_install_takes_it_over(fix: bool, wrapped: Path, hookctl: Hookctl) -> None:
    shutil.rmtree(folders.here().state)
    before = wrapped.read_bytes()
    if fix:
        assert hookctl("doctor", "--fix").code == 0
    outcome = hookctl(*INSTALL)
    assert "hookctl's record did not have it" in outcome.out
    assert wrapped.read_bytes() == before
    assert "nothing to do" in hookctl(*INSTALL).out
    assert hookctl(*UNINSTALL).code == 0
    assert commands(wrapped) == [KEEP, SAY]
    assert not program().exists()


def test_another_python_and_another_folder_come_with_the_next_install(
    wrapped: Path, hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Path(folders.here().ledger)
    ledger.write_text(ledger.read_text().replace("/usr/bin/python3", "/gone/python3"))
    wrapped.write_text(wrapped.read_text().replace("/usr/bin/python3", "/gone/python3"))
    assert hookctl(*INSTALL).code == 0
    assert "/gone/python3" not in wrapped.read_text()
    assert commands(wrapped) == [f"[{KEEP}]", SAY]
    assert hookctl(*UNINSTALL).code == 0
    assert wrapped.read_text() == TEXT


@pytest.mark.parametrize("mode", ["breaker", "off"])
def test_doctor_chooses_another_python_for_it_too(mode: str, wrapped: Path, hookctl: Hookctl) -> None:
    assert hookctl(*INSTALL, "--mode", mode).code == 0
    ledger = Path(folders.here().ledger)
    ledger.write_text(ledger.read_text().replace("/usr/bin/python3", "/gone/python3"))
    wrapped.write_text(wrapped.read_text().replace("/usr/bin/python3", "/gone/python3"))
    assert hookctl("doctor", "--fix").code == 0
    assert "/gone/python3" not in wrapped.read_text()
    assert "/gone/python3" not in ledger.read_text()
    assert "nothing to do" in hookctl(*INSTALL).out


@pytest.mark.parametrize("mode", ["breaker", "off"])
def test_doctor_puts_a_missing_program_back(mode: str, wrapped: Path, hookctl: Hookctl) -> None:
    assert hookctl(*INSTALL, "--mode", mode).code == 0
    program().unlink()
    assert "wrap_missing" in hookctl("doctor", "--json").out
    assert hookctl("doctor", "--fix").code == 0
    assert program().exists()
    assert "wrap_missing" not in hookctl("doctor", "--json").out
    assert hookctl(*UNINSTALL).code == 0
    assert not program().exists()


def test_restore_gives_the_command_back_and_the_ledger_keeps_up(wrapped: Path, hookctl: Hookctl) -> None:
    assert hookctl("restore", str(wrapped)).code == 0
    assert wrapped.read_text() == TEXT
    assert "nothing to do" in hookctl(*UNINSTALL).out
    assert hookctl(*WRAP).code == 0
    assert hookctl(*UNINSTALL).code == 0
    assert wrapped.read_text() == TEXT


def test_another_pack_leaves_it_alone(wrapped: Path, hookctl: Hookctl) -> None:
    pack = str(Path(__file__).parent / "packs" / "notify")
    assert hookctl("install", pack, "--host", "claude").code == 0
    assert commands(wrapped)[:2] == [f"[{KEEP}]", SAY]
    assert len(entries()) == 1
    assert hookctl("uninstall", "notify", "--host", "claude").code == 0
    assert commands(wrapped) == [f"[{KEEP}]", SAY]
    assert hookctl(*UNINSTALL).code == 0
    assert commands(wrapped) == [KEEP, SAY]


def test_the_ledger_has_the_command_and_nothing_else_of_the_hook(wrapped: Path) -> None:
    (entry,) = entries().values()
    assert set(entry["written"]) == {"command"}
    assert entry["before"] == r'"node \u0022$HOME\u0022\/keep.js --\u0067o"'


def test_a_file_in_which_the_key_stands_twice_is_refused(hookctl: Hookctl, settings: Path) -> None:
    text = '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a","command":"keep.js"}]}]}}'
    put(settings, text)
    outcome = hookctl(*WRAP)
    assert outcome.code == 4
    assert settings.read_text() == text


# What doctor and status say


def test_status_warns_where_the_program_that_runs_a_wrapped_hook_is_gone(hookctl: Hookctl, wrapped: Path) -> None:
    (program,) = Path(folders.here().data).rglob("wrap.py")
    assert "limits the denials of 1 wrapped hook" in hookctl("status").out
    program.unlink()
    said = hookctl("status").out
    assert said.startswith("warn ") and f"its hook runs {program}, which is not there" in said


def about(hookctl: Hookctl) -> list[str]:
    """What doctor finds about wraps and entries, beside what it says on any machine."""
    found = hookctl("doctor", "--json").data["findings"]
    return [one["code"] for one in found if one["code"].startswith(("wrap", "entr", "orphan", "edited", "ledger"))]


def test_a_wrapped_hook_with_fields_of_its_own_is_no_finding(wrapped: Path, hookctl: Hookctl) -> None:
    for fields in ({"timeout": 99}, {"timeout": 1}, {"async": True}, {"if": "Bash(*)"}):
        edit(wrapped, 0, **fields)
        assert about(hookctl) == []


def test_without_a_limit_doctor_names_the_way_to_one(hookctl: Hookctl, settings: Path) -> None:
    put(settings, TEXT)
    assert hookctl(*INSTALL, "--set", "end_foreign_chains=false").code == 0
    assert "foreign_stop" not in hookctl("doctor", "--json").out, "the host's own cap ends what it forces"
    page = json.loads(settings.read_text())
    page["env"]["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"] = "0"
    put(settings, json.dumps(page))
    fixes = [one["fix"] for one in hookctl("doctor", "--json").data["findings"] if one["code"] == "foreign_stop"]
    assert ["--wrap TEXT" in fix for fix in fixes] == [True]


def test_a_wrapped_hook_is_not_called_one_without_an_end(hookctl: Hookctl, settings: Path) -> None:
    put(settings, TEXT)
    assert hookctl(*WRAP).code == 0
    assert hookctl(*INSTALL, "--wrap", SAY, "--set", "end_foreign_chains=false").code == 0
    assert "foreign_stop" not in hookctl("doctor", "--json").out
