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


# The next step


def test_a_case_is_not_played_past_a_matcher_that_its_host_holds_against_it(hookctl: Hookctl, isolated: Path) -> None:
    assert hookctl("pack", "new", "np").code == 0
    put(Path("np/pack.toml"), Path("np/pack.toml").read_text().replace('matcher = "Bash"', 'matcher = "bash"'))
    done = hookctl("pack", "test", "np", "--host", "claude")
    assert (done.code, "expected deny, and it was not asked" in done.out) == (1, True)
