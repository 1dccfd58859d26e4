"""hookctl pack with what people really have: odd folders, odd names, and settings that no pack can hold as they are."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.manifest import hook as pack_hook
from tests.manifest import manifest

from .conftest import Hookctl, put

PACK = manifest("own", pack_hook("PreToolUse", "python3 {files}/own.py"), files=["own.py"])


def test_check_runs_nothing_of_a_pack_in_a_folder_with_any_name(isolated: Path, hookctl: Hookctl) -> None:
    folder = isolated / "x'+str(__import__('os').system('touch ran')),#"
    put(folder / "pack.toml", PACK)
    put(folder / "own.py", "open('ran', 'w')\n")
    assert hookctl("pack", "check", str(folder), "--host", "claude").code == 0
    assert not Path("ran").exists()


FAULTS = {
    "python": ("python3 {files}/own.py", "def\n", ["own.py: line 1: "]),
    "its own line": ("{files}/own.sh", "#!/bin/bash\na=(1 2)\n", []),
    "bash": ("bash {files}/own.sh", "a=(1 2)\n", []),
    "sh": ("sh {files}/own.sh", "fi\n", ["own.sh: line 1: "]),
    "no interpreter": ("LC_ALL=C nosuch3 -x {files}/own.py", "a\n", ["stop: there is no program nosuch3"]),
    "none at its path": ("/nowhere/py {files}/own.py", "a\n", ["stop: there is no program /nowhere/py"]),
    "whose author knows": ("nosuch3 {files}/own.py || true", "a\n", []),
    "a condition": ("[ ! -f x ] && python3 {files}/own.py", "a\n", []),
}


@pytest.mark.parametrize(("command", "text", "faults"), FAULTS.values(), ids=FAULTS)
def test_check_names_what_cannot_run(
    isolated: Path, hookctl: Hookctl, command: str, text: str, faults: list[str]
) -> None:
    name = "own.sh" if "own.sh" in command else "own.py"
    put(isolated / "it's" / "pack.toml", manifest("own", pack_hook("Stop", command), files=[name]))
    put(isolated / "it's" / name, text).chmod(0o755)
    done = hookctl("pack", "check", str(isolated / "it's"), "--host", "claude", "--json")
    assert (done.code, len(done.data["faults"])) == (len(faults), len(faults))
    assert all(said.startswith(fault) for said, fault in zip(done.data["faults"], faults, strict=True))


def test_check_takes_what_its_shell_quotes_though_it_is_no_text(
    isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where sh is bash, it prints the line that it cannot read, whatever bytes that has."""
    put(
        isolated / "bin" / "sh", "#!/bin/sh\nprintf 'x: error: `if \\377'\nprintf 'x: error: `if \\377' >&2\nexit 2\n"
    ).chmod(0o755)
    monkeypatch.setenv("PATH", str(isolated / "bin"), prepend=os.pathsep)
    put(isolated / "own" / "pack.toml", manifest("own", pack_hook("Stop", "sh {files}/own.sh"), files=["own.sh"]))
    put(isolated / "own" / "own.sh", "if \n")
    done = hookctl("pack", "check", str(isolated / "own"), "--host", "claude", "--json")
    assert (done.code, done.data["faults"]) == (1, ["own.sh: x: error: `if \ufffd"])


@pytest.mark.parametrize("output", ["file/below", "file"])
def test_a_folder_that_cannot_be_made_is_an_error_in_words(hookctl: Hookctl, output: str) -> None:
    put(Path("file"), "")
    done = hookctl("pack", "new", "own", "-o", output, "--json")
    assert done.code in (1, 2)
    assert done.result["errors"][0]["code"] in ("write_failed", "exists")


def test_a_pack_is_not_called_as_one_that_is_built_in(hookctl: Hookctl) -> None:
    assert hookctl("pack", "new", "guard").code == 2
    assert not Path("guard").exists()


def test_a_host_that_is_named_twice_is_looked_at_once(hookctl: Hookctl) -> None:
    hookctl("pack", "new", "own")
    done = hookctl("pack", "check", "own", "--host", "claude", "--host", "claude", "--json")
    assert [row["host"] for row in done.data["hosts"]] == ["claude"]


# import


def command(text: str, **more: Any) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": text, **more}]}


def imported(settings: Path, hookctl: Hookctl, hooks: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The pack of these hooks of Claude Code, and what is left out; `pack check` finds nothing wrong with it."""
    put(settings, json.dumps({"hooks": hooks}))
    done = hookctl("pack", "import", "--host", "claude", "-o", "my-hooks/", "--json")
    assert hookctl("pack", "check", "my-hooks", "--host", "claude").code == 0
    return tomllib.loads(Path("my-hooks", "pack.toml").read_text()), done.data["left"]


def test_an_import_leaves_out_what_no_pack_can_hold_and_says_why(settings: Path, hookctl: Hookctl) -> None:
    hooks = {
        "Stop": [command(text) for text in ("fine", "echo a\necho b", "", 'echo "', "echo {host}", "echo {files}")]
    }
    pack, left = imported(settings, hookctl, hooks)
    assert [hook["command"] for hook in pack["hooks"]] == ["fine"]
    assert left == [
        "Stop, `echo a echo b`: the command has a line break",
        "Stop: the command cannot be ''",
        'Stop, `echo "`: the command cannot be read: " is opened and never closed',
        "Stop, `echo {host}`: the command has {host}, which a pack would replace",
        "Stop, `echo {files}`: the command has {files}, but the pack has no files",
    ]


def test_an_import_names_a_hook_that_it_leaves_out_by_its_own_command(settings: Path, hookctl: Hookctl) -> None:
    """Its secrets are masked, and the ids are those of the hooks in the pack."""
    secret = "ghp_" + "a1B2" * 9
    odd = f"TOKEN={secret} echo '{{files}}'" + " x" * 60
    hooks = {"UserPromptSubmit": [command(odd)], "Stop": [{"hooks": [{"type": "prompt", "prompt": "x"}]}, command("a")]}
    put(settings, json.dumps({"hooks": hooks}))
    done = hookctl("pack", "import", "--host", "claude", "-o", "own")
    named, prompt = [line.strip() for line in done.out.splitlines() if "left out" in line]
    assert named.startswith("left out: UserPromptSubmit, `TOKEN=") and "..." in named
    assert named.endswith("`: the command has {files} inside single quotes")
    assert prompt == "left out: Stop: it runs no command"
    assert secret not in done.out and len(named) < 140
    assert "the command of hook-1" not in done.out


def test_an_import_says_what_it_read_and_that_the_hooks_are_there_twice_then(settings: Path, hookctl: Hookctl) -> None:
    put(settings, json.dumps({"hooks": {"Stop": [command("a")]}}))
    said = hookctl("pack", "import", "--host", "claude", "-o", "own").out
    assert "read from  ~/.claude/settings.json" in said
    assert "they run twice" in said and "`hookctl disable ID`" in said


def test_an_import_without_a_settings_file_names_the_file(settings: Path, hookctl: Hookctl) -> None:
    done = hookctl("pack", "import", "--host", "claude", "-o", "own", "--json")
    (error,) = done.result["errors"]
    assert (error["code"], error["message"]) == ("no_hooks", "Claude Code has no settings yet")
    assert error["path"] == str(settings)
    assert not Path("own").exists()


def test_an_import_keeps_an_event_of_claude_code_alone_and_drops_a_matcher_that_counts_nowhere(
    settings: Path, hookctl: Hookctl
) -> None:
    hooks = {"TaskCompleted": [command("one")], "Stop": [{"matcher": "x", **command("two")}]}
    pack, left = imported(settings, hookctl, hooks)
    assert left == []
    assert [hook["event"] for hook in pack["host"]["claude"]["hooks"]] == ["TaskCompleted"]
    assert [(hook["event"], "matcher" in hook) for hook in pack["hooks"]] == [("Stop", False)]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"args": ["--fast"]}, "args"),
        ({"if": "Bash(git *)"}, "if"),
        ({"shell": "powershell"}, "shell"),
        ({"async": True}, "async"),
        ({"asyncRewake": True}, "asyncRewake"),
    ],
)
def test_an_import_leaves_out_what_claude_code_runs_in_a_way_of_its_own(
    settings: Path, hookctl: Hookctl, fields: dict[str, Any], field: str
) -> None:
    usual = {"async": False, "asyncRewake": False, "shell": "bash", "statusMessage": "x"}
    pack, left = imported(settings, hookctl, {"Stop": [command("a", **fields), command("b", **usual)]})
    assert [hook["command"] for hook in pack["hooks"]] == ["b"]
    assert left == [f"Stop, `a`: it has `{field}`, which no hook of a pack has"]


def test_an_import_keeps_what_the_end_of_a_session_and_a_sub_agent_are_matched_by(
    settings: Path, hookctl: Hookctl
) -> None:
    hooks = {name: [{"matcher": "x", **command("a")}] for name in ("SessionEnd", "SubagentStop")}
    pack, left = imported(settings, hookctl, hooks)
    assert ([hook["matcher"] for hook in pack["hooks"]], left) == (["x", "x"], [])


def test_an_import_keeps_the_time_that_a_hook_had(settings: Path, hookctl: Hookctl) -> None:
    """Claude Code's own limit is longer than that of a pack."""
    hooks = {
        "PreToolUse": [command("one"), command("two", timeout=7)],
        "UserPromptSubmit": [command("three")],
        "SessionEnd": [command("four")],
        "TaskCompleted": [command("five")],
    }
    pack, _ = imported(settings, hookctl, hooks)
    limits = {hook["command"]: hook.get("timeout") for hook in pack["hooks"]}
    assert limits == {"one": 600, "two": 7, "three": 30, "four": None}
    assert "timeout" not in pack["host"]["claude"]["hooks"][0], "without the runner the host decides as before"
    assert hookctl("install", "./my-hooks", "--host", "claude", "--yes").code == 0
    entries = json.loads(settings.read_text())["hooks"]["PreToolUse"]
    assert [entry["timeout"] for group in entries for entry in group["hooks"] if "hookctl=" in entry["command"]] == [
        602,
        9,
    ]


def test_an_import_into_a_folder_whose_name_no_pack_can_have_writes_nothing(settings: Path, hookctl: Hookctl) -> None:
    put(settings, json.dumps({"hooks": {"Stop": [command("fine")]}}))
    assert hookctl("pack", "import", "--host", "claude", "-o", "My Hooks").code == 2
    assert not Path("My Hooks").exists()


# test


@pytest.mark.parametrize(
    "case",
    ['event = ["x"]', 'event = "Stop"\nhosts = 3', 'event = "Stop"\nhosts = ["cluade"]', 'event = "Stop"\nexpect = [1]',
     'event = "Stop"\nhook = 3', 'event = "PreToolUse"\nhook = "no-forc"',
     'event = "PreToolUse"\ntool = "Bash"\ninput = { at = 2020-01-01 }', 'event = "Stop"\nfields = { n = nan }'],
)  # fmt: skip
def test_a_case_that_could_never_be_asked_is_an_error_with_its_file(hookctl: Hookctl, case: str) -> None:
    hookctl("pack", "new", "own")
    put(Path("own/tests/odd.toml"), f"[[cases]]\n{case}\n")
    done = hookctl("pack", "test", "own", "--host", "claude", "--json")
    assert (done.code, done.result["errors"][0]["code"]) == (4, "bad_case")
    assert done.result["errors"][0]["path"].endswith("own/tests/odd.toml")


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
@pytest.mark.parametrize(("text", "code"), [("Use make", 0), ("größer", 0), ("npm", 1)])
def test_a_case_finds_its_text_in_a_context_that_is_plain_text(
    hookctl: Hookctl, event: str, text: str, code: int
) -> None:
    """Claude Code gets such an answer as it is, and other hosts get it in JSON."""
    hook = f'[[hooks]]\nevent = "{event}"\ncommand = "echo Use make, das ist größer"\n'
    put(Path("own/pack.toml"), f'[pack]\nname = "own"\nversion = "1"\n\n{hook}')
    put(Path("own/tests/cases.toml"), f'[[cases]]\nevent = "{event}"\nexpect = "context"\ntext = "{text}"\n')
    done = hookctl("pack", "test", "own", "--host", "claude", "--host", "gemini")
    assert done.code == code, done


@pytest.mark.parametrize("host", ["kiro", "windsurf"])
@pytest.mark.parametrize(("text", "code"), [("größer", 0), ("npm", 1)])
def test_a_case_finds_its_text_where_an_exit_status_refuses(hookctl: Hookctl, host: str, text: str, code: int) -> None:
    hook = '[[hooks]]\nevent = "PreToolUse"\ncommand = "echo das ist größer >&2; exit 2"\n'
    put(Path("own/pack.toml"), f'[pack]\nname = "own"\nversion = "1"\n\n{hook}')
    case = '[[cases]]\nevent = "PreToolUse"\ntool = "Bash"\ninput = { command = "x" }\nexpect = "deny"\n'
    put(Path("own/tests/cases.toml"), f'{case}text = "{text}"\n')
    assert hookctl("pack", "test", "own", "--host", host).code == code


ANSWERS = {
    "change": '"updatedInput":{"command":"ls"}',
    "ask": '"permissionDecision":"ask","permissionDecisionReason":"sure"',
    "deny": '"permissionDecision":"deny","permissionDecisionReason":"no"',
}


@pytest.mark.parametrize("expected", ["change", "ask"])
@pytest.mark.parametrize("answer", ANSWERS)
def test_a_refusal_is_a_change_or_a_question_only_where_the_runner_made_it_of_one(
    hookctl: Hookctl, answer: str, expected: str
) -> None:
    said = f'{{"hookSpecificOutput":{{"hookEventName":"PreToolUse",{ANSWERS[answer]}}}}}'
    put(Path("own/pack.toml"), manifest("own", pack_hook("PreToolUse", f"echo '{said}'")))
    case = '[[cases]]\nevent = "PreToolUse"\ntool = "Bash"\ninput = { command = "x" }\n'
    put(Path("own/tests/cases.toml"), f'{case}expect = "{expected}"\n')
    rows = hookctl("pack", "test", "own", "--json").data["cases"]
    assert {row["failed"] for row in rows} == {answer != expected}, [row["problem"] for row in rows]


# The next step


def test_check_and_test_name_the_next_command_for_the_same_pack_and_hosts(hookctl: Hookctl) -> None:
    hookctl("pack", "new", "own")
    hosts = ("--host", "claude", "--host", "gemini")
    for subject, shown in (("own", "./own"), ("./own/pack.toml", "./own/pack.toml")):
        checked = hookctl("pack", "check", subject, *hosts).out.splitlines()[-1]
        assert checked == f"Next: hookctl pack test {shown} --host claude --host gemini"
        tested = hookctl("pack", "test", subject, *hosts).out.splitlines()[-1]
        assert tested == f"Next: hookctl install {shown} --host claude --host gemini"
        assert hookctl(*tested.split()[2:], "--yes", "--dry-run").code == 0


def test_a_pack_that_fails_has_no_next_command(hookctl: Hookctl) -> None:
    hookctl("pack", "new", "own")
    put(Path("own/hook.py"), "def\n")
    for action in ("check", "test"):
        done = hookctl("pack", action, "own", "--host", "claude")
        assert (done.code, "Next:" in done.out) == (1, False)


def test_an_uninstall_of_what_is_not_installed_names_what_is(hookctl: Hookctl) -> None:
    """Without a name it means the guard."""
    assert hookctl("uninstall").out == "nothing to do\n"
    hookctl("pack", "new", "own")
    hookctl("install", "./own", "--host", "claude", "--yes")
    assert hookctl("uninstall").out == "nothing to do\nguard is not installed. Installed are: own\n"
    assert hookctl("uninstall", "own", "--host", "gemini").out == "nothing to do\n"
