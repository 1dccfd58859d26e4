"""hookctl trace: everybody's hooks with receipts for a while, and the very bytes back."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hookctl import hosts
from hookctl.packs import tracing
from hookctl.settings.targets import Target

from .conftest import Hookctl, put
from .disk import temporary, tree

# As a person wrote it, and no program would.
THEIRS = """{
  "model": "m", "hooks": {
    "PreToolUse": [ { "matcher": "Bash", "hooks": [
        {"type":"command",  "command":"cat; echo \\u0068i; exit 3" , "timeout": 5} ] } ],

    "SessionStart": [{"hooks": [
      {"type": "command", "command": "echo ctx"}, {"type": "command", "command": "echo ctx"}]}]
  }
}"""
BARE = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "exit 4"}]}]}}'
CODEX = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "true"\n'


def commands(path: Path, *keys: str) -> list[str]:
    """The commands of every hook in a file, in their order."""
    found: list[str] = []

    def look(value: Any) -> None:
        if isinstance(value, dict):
            found.extend(value[key] for key in keys or ("command",) if isinstance(value.get(key), str))
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            look(inner)

    look(json.loads(path.read_text()))
    return found


def run_hook(command: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    """Run a command as a host does; status, stdout and stderr."""
    done = subprocess.run(["/bin/sh", "-c", command], input=stdin, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def said(outcome: Any) -> str:
    assert outcome.code == 0, outcome
    return str(outcome.out + outcome.err)


def test_a_file_has_its_bytes_back_and_nothing_of_the_trace_is_left(
    hookctl: Hookctl, settings: Path, isolated: Path
) -> None:
    put(settings, THEIRS).chmod(0o640)
    before = tree(isolated / "home")
    assert "3 hooks are traced until" in said(hookctl("trace", "on"))
    assert settings.read_text() != THEIRS
    assert all(map(tracing.is_traced, commands(settings)))
    assert "3 hooks have their own commands again" in said(hookctl("trace", "off"))
    assert tree(isolated / "home") == before
    assert not (isolated / "data").exists()
    assert not (isolated / "state" / "traces.json").exists()
    assert "no hook is traced" in said(hookctl("trace", "off"))


def test_the_host_sees_the_hook_and_hookctl_its_receipts(hookctl: Hookctl, settings: Path) -> None:
    put(settings, THEIRS)
    before = hookctl("hooks", "--json").data["hooks"]
    said(hookctl("trace", "on"))
    first, second, _ = commands(settings)
    for number in range(3):
        assert run_hook(first, b"in") == (3, b"inhi\n", b""), number
    assert run_hook(second) == (0, b"ctx\n", b"")
    after = hookctl("hooks", "--json").data["hooks"]
    names = ("id", "host", "scope", "event", "matcher", "command", "file", "line", "owner", "state")
    assert [[hook[name] for name in names] for hook in after] == [[hook[name] for name in names] for hook in before]
    counts = {hook["id"]: (hook["runs"], hook["failures"], hook["bytes"]) for hook in after}
    ids = [hook["id"] for hook in before]
    assert [counts[id] for id in ids] == [(1, 0, 3), (0, 0, 0), (3, 3, 0)]
    assert all("traced until" in hook["reason"] for hook in after)
    said(hookctl("trace", "off"))
    kept = hookctl("hooks", "--json").data["hooks"]
    assert [hook["runs"] for hook in kept] == [1, 0, 3]
    assert not any("traced" in hook["reason"] for hook in kept)


def test_tracing_again_begins_the_time_anew_and_keeps_the_first_bytes(
    hookctl: Hookctl, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(settings, THEIRS)
    monkeypatch.setenv("HOOKCTL_NOW", "1000")
    assert hookctl("trace", "on", "--for", "30m", "--json").data["until"] == 2800
    monkeypatch.setenv("HOOKCTL_NOW", "2000")
    assert hookctl("trace", "on", "--for", "24h", "--json").data["until"] == 2000 + 86_400
    assert all("--until 88400 " in command for command in commands(settings))
    said(hookctl("trace", "off"))
    assert settings.read_text() == THEIRS


@pytest.mark.parametrize("span", ["25h", "0s", "x", "2d"])
def test_a_span_that_is_too_long_or_none_is_refused(hookctl: Hookctl, settings: Path, span: str) -> None:
    put(settings, THEIRS)
    assert hookctl("trace", "on", "--for", span).code == 2
    assert settings.read_text() == THEIRS


def test_neither_on_nor_off_is_refused(hookctl: Hookctl) -> None:
    assert hookctl("trace", "maybe").code == 2


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"args": ["-n"]}, "it has args"),
        ({"shell": "powershell"}, "it runs in the shell powershell"),
        ({"async": True}, "it runs asynchronously"),
        ({"command": "x" * 32_001}, "its command is too long"),
    ],
)
def test_what_cannot_be_traced_is_named_and_left_alone(
    hookctl: Hookctl, settings: Path, fields: dict[str, Any], reason: str
) -> None:
    handler = {"type": "command", "command": "true", **fields}
    text = json.dumps({"hooks": {"Stop": [{"hooks": [handler, {"type": "prompt", "prompt": "p"}]}]}})
    put(settings, text)
    outcome = hookctl("trace", "on", "--json")
    assert [line["reason"][: len(reason)] for line in outcome.data["kept"]] == [reason]
    assert outcome.data["until"] is None
    assert settings.read_text() == text


def test_hooks_of_hookctl_and_wrapped_ones_have_receipts_already(hookctl: Hookctl, settings: Path) -> None:
    put(settings, BARE)
    said(hookctl("install", "--host", "claude", "--wrap", "exit 4"))
    text = settings.read_text()
    assert "2 hooks of hookctl's: receipts are written already" in said(hookctl("trace", "on"))
    assert settings.read_text() == text


def test_a_command_that_somebody_edited_stays_and_is_named(hookctl: Hookctl, settings: Path) -> None:
    put(settings, THEIRS)
    said(hookctl("trace", "on"))
    edited = settings.read_text().replace("set -- 'echo ctx'", "set -- 'echo mine'", 1).replace('; fi"', ' ; fi"', 1)
    settings.write_text(edited)
    outcome = hookctl("trace", "off")
    assert "its command was edited, so it stays" in said(outcome)
    assert "2 hooks have their own commands again" in outcome.out
    (left,) = [command for command in commands(settings) if tracing.is_traced(command)]
    assert run_hook(left)[0] == 3
    assert "no hook can be traced" not in said(hookctl("trace", "on"))
    assert left in commands(settings)


def test_what_was_added_moved_and_removed_meanwhile_stays_so(hookctl: Hookctl, settings: Path) -> None:
    put(settings, THEIRS)
    said(hookctl("trace", "on"))
    document = json.loads(settings.read_text())
    moved = document["hooks"].pop("SessionStart")[0]["hooks"][0]
    document["hooks"]["Stop"] = [{"hooks": [{"type": "command", "command": "new"}, moved]}]
    settings.write_text(json.dumps(document))
    said(hookctl("trace", "off"))
    assert commands(settings) == ["cat; echo hi; exit 3", "new", "echo ctx"]


def test_a_lost_record_loses_no_command(hookctl: Hookctl, settings: Path, isolated: Path) -> None:
    put(settings, THEIRS)
    said(hookctl("trace", "on"))
    shutil.rmtree(isolated / "state")
    shutil.rmtree(isolated / "data")
    assert run_hook(commands(settings)[0], b"x") == (3, b"xhi\n", b"")
    said(hookctl("trace", "off"))
    assert json.loads(settings.read_text()) == json.loads(THEIRS)


def test_a_file_that_is_gone_is_forgotten(hookctl: Hookctl, settings: Path, isolated: Path) -> None:
    put(settings, THEIRS)
    said(hookctl("trace", "on"))
    settings.unlink()
    assert "no hook is traced any more" in said(hookctl("trace", "off"))
    assert not (isolated / "state" / "traces.json").exists()
    assert not (isolated / "data").exists()


def test_a_linked_file_is_traced_where_it_lies(hookctl: Hookctl, settings: Path, isolated: Path) -> None:
    real = put(isolated / "dotfiles" / "claude.json", THEIRS)
    settings.parent.mkdir(parents=True)
    settings.symlink_to(real)
    said(hookctl("trace", "on"))
    assert settings.is_symlink() and tracing.is_traced(commands(real)[0])
    said(hookctl("trace", "off"))
    assert settings.is_symlink() and real.read_text() == THEIRS


def test_this_checkouts_settings_are_traced_and_the_shared_ones_are_not(
    hookctl: Hookctl, settings: Path, isolated: Path
) -> None:
    work = isolated / "work"
    (work / ".git").mkdir()
    shared, local = put(work / ".claude/settings.json", BARE), put(work / ".claude/settings.local.json", THEIRS)
    put(settings, BARE)
    assert "4 hooks are traced" in said(hookctl("trace", "on"))
    assert shared.read_text() == BARE
    assert tracing.is_traced(commands(local)[0])
    said(hookctl("trace", "off"))
    assert (local.read_text(), settings.read_text()) == (THEIRS, BARE)


def test_off_for_one_host_leaves_the_others(hookctl: Hookctl, settings: Path, isolated: Path) -> None:
    gemini = put(isolated / "home/.gemini/settings.json", BARE.replace("Stop", "AfterAgent"))
    put(settings, BARE)
    assert "2 hooks are traced" in said(hookctl("trace", "on"))
    said(hookctl("trace", "off", "--host", "claude"))
    assert settings.read_text() == BARE
    assert run_hook(commands(gemini)[0])[0] == 4
    assert (isolated / "data/runtime/trace.py").exists()
    assert [line["host"] for line in hookctl("status", "--json").data["traced"]] == ["gemini"]
    said(hookctl("trace", "off"))
    assert gemini.read_text() == BARE.replace("Stop", "AfterAgent")


def test_variables_that_a_host_fills_in_are_left_to_it(hookctl: Hookctl, isolated: Path) -> None:
    text = BARE.replace("Stop", "AfterAgent").replace("exit 4", "$HOME/x")
    gemini = put(isolated / "home/.gemini/settings.json", text)
    assert "Gemini CLI puts values in place of the variables" in said(hookctl("trace", "on", "--host", "gemini"))
    assert gemini.read_text() == text


def test_every_file_that_copilot_reads_is_traced_by_the_key_that_it_runs(hookctl: Hookctl, isolated: Path) -> None:
    folder = isolated / "home/.copilot/hooks"
    handler = {"type": "command", "bash": "exit 5", "powershell": "no", "timeoutSec": 9}
    text = json.dumps({"version": 1, "hooks": {"agentStop": [handler]}})
    file = put(folder / "theirs.json", text)
    assert "1 hook is traced" in said(hookctl("trace", "on", "--host", "copilot"))
    (command,) = commands(file, "bash")
    assert tracing.is_traced(command) and run_hook(command)[0] == 5
    assert commands(file, "powershell") == ["no"]
    assert [hook["runs"] for hook in hookctl("hooks", "--host", "copilot", "--json").data["hooks"]] == [1]
    said(hookctl("trace", "off"))
    assert file.read_text() == text


def test_hosts_that_approve_the_text_of_a_hook_are_named(hookctl: Hookctl, settings: Path, isolated: Path) -> None:
    codex = put(isolated / "home/.codex/config.toml", CODEX)
    put(settings, BARE)
    outcome = hookctl("trace", "on")
    assert "its approvals hold for the text of a hook" in said(outcome)
    assert codex.read_text() == CODEX
    for host in ("codex", "hermes"):
        refused = hookctl("trace", "on", "--host", host)
        assert refused.code == 2 and "approvals" in refused.err
    refused = hookctl("trace", "on", "--host", "pi")  # it trusts folders, and approves no hook
    assert refused.code == 2 and "Pi: tracing is not proven there" in refused.err


def test_a_broken_file_is_named_and_keeps_nothing_else(hookctl: Hookctl, settings: Path, isolated: Path) -> None:
    put(settings, BARE)
    put(isolated / "home/.gemini/settings.json", '{"hooks": ')
    outcome = hookctl("trace", "on")
    assert ".gemini/settings.json is left alone" in said(outcome)
    assert tracing.is_traced(commands(settings)[0])


# It ends by itself, and before what would not know of it.


def test_a_trace_that_is_over_ends_with_the_next_command_that_writes(
    hookctl: Hookctl, settings: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(settings, THEIRS)
    monkeypatch.setenv("HOOKCTL_NOW", "1000")
    said(hookctl("trace", "on"))
    for verb in ("status", "doctor", "hooks"):
        assert "traced until" in hookctl(verb).out, verb
    monkeypatch.setenv("HOOKCTL_NOW", "4600")
    assert "`hookctl trace off`" in hookctl("status").out
    assert "since then they run without a receipt" in hookctl("doctor").out
    assert "traced until" in hookctl("hooks").out
    assert settings.read_text() != THEIRS
    assert "tracing has ended: 3 hooks" in said(hookctl("install", "--host", "gemini"))
    assert settings.read_text() == THEIRS
    assert not (isolated / "data/runtime/trace.py").exists()


@pytest.mark.parametrize("verb", ["install", "uninstall", "upgrade", "restore"])
def test_a_command_that_writes_the_file_ends_its_trace_first(hookctl: Hookctl, settings: Path, verb: str) -> None:
    put(settings, THEIRS)
    if verb != "install":
        said(hookctl("install", "--host", "claude"))
    if verb == "upgrade":
        settings.write_text(settings.read_text().replace('"timeout": 10', '"timeout": 11'))
    installed = settings.read_text()
    said(hookctl("trace", "on"))
    words = {"restore": (str(settings), "--to", "1"), "upgrade": ()}.get(verb, ("--host", "claude"))
    if verb == "upgrade":
        words = ("--yes",)
    hookctl(verb, *words)
    if verb == "upgrade":  # there was nothing to write
        said(hookctl("trace", "off"))
        assert settings.read_text() == installed
        return
    assert not any(map(tracing.is_traced, commands(settings)))
    assert "no hook is traced" in said(hookctl("trace", "off"))
    said(hookctl("uninstall", "--host", "claude"))
    if verb != "restore":
        assert settings.read_text() == THEIRS


def test_an_install_and_its_trace_leave_the_first_bytes(hookctl: Hookctl, settings: Path, isolated: Path) -> None:
    """Each write of ours began from the bytes of the one before, so uninstall gives the first back."""
    put(settings, THEIRS)
    said(hookctl("install", "--host", "claude"))
    said(hookctl("trace", "on"))
    said(hookctl("trace", "off"))
    said(hookctl("uninstall", "--host", "claude"))
    assert settings.read_text() == THEIRS
    assert not (isolated / "data").exists()


def test_a_hook_that_is_traced_can_be_wrapped(hookctl: Hookctl, settings: Path) -> None:
    put(settings, BARE)
    said(hookctl("trace", "on"))
    said(hookctl("install", "--host", "claude", "--wrap", "exit 4"))
    assert not any(map(tracing.is_traced, commands(settings)))
    said(hookctl("uninstall", "--host", "claude"))
    assert settings.read_text() == BARE


def test_a_hook_that_is_traced_can_be_disabled_and_enabled(hookctl: Hookctl, settings: Path) -> None:
    put(settings, THEIRS)
    first = hookctl("hooks", "--json").data["hooks"][-1]["id"]
    said(hookctl("trace", "on"))
    assert "tracing has ended: 3 hooks" in said(hookctl("disable", first))
    assert commands(settings) == ["echo ctx", "echo ctx"]
    said(hookctl("trace", "on"))
    assert "tracing has ended: 2 hooks" in said(hookctl("enable", first))
    assert settings.read_text() == THEIRS


def test_a_dry_run_and_nothing_to_do_end_no_trace(hookctl: Hookctl, settings: Path) -> None:
    put(settings, BARE)
    said(hookctl("install", "--host", "claude"))
    said(hookctl("trace", "on"))
    said(hookctl("install", "--host", "claude"))
    said(hookctl("uninstall", "--host", "claude", "--dry-run"))
    assert tracing.is_traced(commands(settings)[0])


def test_an_imported_hook_is_imported_with_its_own_command(hookctl: Hookctl, settings: Path, isolated: Path) -> None:
    put(settings, BARE)
    said(hookctl("trace", "on"))
    said(hookctl("pack", "import", "--host", "claude", "-o", str(isolated / "pack")))
    assert "hookctl-trace" not in (isolated / "pack/pack.toml").read_text()


def test_packs_and_traces_share_the_runner(hookctl: Hookctl, settings: Path, isolated: Path) -> None:
    pack = '[pack]\nname = "p"\nversion = "1"\ndescription = "d"\n[[hooks]]\nevent = "Stop"\ncommand = "true"\n'
    put(settings, BARE)
    said(hookctl("install", str(put(isolated / "p/pack.toml", pack)), "--host", "claude"))
    installed = settings.read_text()
    said(hookctl("trace", "on"))
    assert hookctl("doctor").code == 0
    said(hookctl("trace", "off"))
    assert settings.read_text() == installed
    runtime = isolated / "data/runtime"
    assert (runtime / "hook.py").exists() and not (runtime / "trace.py").exists()
    said(hookctl("trace", "on", "--host", "claude"))
    said(hookctl("uninstall", "p", "--host", "claude"))
    assert settings.read_text() == BARE
    assert not runtime.exists() and not temporary(isolated)


@given(command=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1))
@example("'")
@example("a\n'b' \"$1\" `c` \\")
def test_every_command_is_read_back_from_its_tracing_one(command: str) -> None:
    target = Target(hosts.load("claude"), "user", "/home/me/.claude/settings.json")
    text = tracing.command(command, "0123456789ab#2", "Stop", target, "/data/it's/runtime", "/usr/bin/python3", 5)
    assert tracing.read_command(text) == ("0123456789ab#2", command, 5)
    assert tracing.read_command(text + " ") is None
