"""hookctl pack with what people really have: odd folders, odd names, and settings that no pack can hold as they are."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hookctl import hosts
from tests.conftest import Hookctl, put
from tests.manifest import hook as pack_hook
from tests.manifest import manifest
from tests.texts import rows

CORPUS = Path(__file__).parent / "corpus"
SECRET = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz012345"

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


def command(text: str, **more: Any) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": text, **more}]}


def imported(settings: Path, hookctl: Hookctl, hooks: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The pack of these hooks of Claude Code, and what is left out; `pack check` finds nothing wrong with it."""
    put(settings, json.dumps({"hooks": hooks}))
    done = hookctl("pack", "import", "--host", "claude", "-o", "my-hooks/", "--json")
    checked = hookctl("pack", "check", "my-hooks", "--host", "claude")
    assert (checked.code, "Next: hookctl pack test ./my-hooks --host claude" in checked.out) == (0, True)
    return tomllib.loads(Path("my-hooks", "pack.toml").read_text()), done.data["left"]


def test_an_import_leaves_out_what_no_pack_can_hold_and_says_why(settings: Path, hookctl: Hookctl) -> None:
    hooks = {
        "Stop": [command(text) for text in ("fine", "a\nb", "", 'echo "', "echo {host}", "echo {files}", "\ud800")]
    }
    pack, left = imported(settings, hookctl, hooks)
    assert [hook["command"] for hook in pack["hooks"]] == ["fine"]
    assert left == [
        "Stop, `a b`: the command has a line break",
        "Stop: the command cannot be ''",
        'Stop, `echo "`: the command cannot be read: " is opened and never closed',
        "Stop, `echo {host}`: the command has {host}, which a pack would replace",
        "Stop, `echo {files}`: the command has {files}, but the pack has no files",
        "Stop, `\ud800`: the file is not UTF-8",
    ]


@pytest.mark.parametrize(
    ("field", "value"),
    {"args": ["--fast"], "if": "Bash(git *)", "shell": "powershell", "async": True, "asyncRewake": True}.items(),
)
def test_an_import_leaves_out_what_claude_code_runs_in_a_way_of_its_own(
    settings: Path, hookctl: Hookctl, field: str, value: Any
) -> None:
    usual = {"async": False, "asyncRewake": False, "shell": "bash", "statusMessage": "x"}
    pack, left = imported(settings, hookctl, {"Stop": [command("a", **{field: value}), command("b", **usual)]})
    assert [hook["command"] for hook in pack["hooks"]] == ["b"]
    assert left == [f"Stop, `a{' --fast' * (field == 'args')}`: it has `{field}`, which no hook of a pack has"]


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
    ours = [entry for group in entries for entry in group["hooks"] if "hookctl=" in entry["command"]]
    assert [entry["timeout"] for entry in ours] == [602, 9]


# The hooks of real-looking files, into a pack and back into the settings.
@pytest.mark.parametrize(("host", "file"), rows("imports"))
def test_hooks_of_every_hosts_file_come_back_from_their_pack(
    isolated: Path, hookctl: Hookctl, host: str, file: str
) -> None:
    def list_hooks() -> list[tuple[str, str, str]]:
        found = hookctl("hooks", "--host", host, "--json").data["hooks"]
        return [(hook["event"], hook["matcher"], hook["command"]) for hook in found if hook["state"] != "ignored"]

    source = CORPUS / file
    layouts = hosts.load(host).layouts()
    variant = layouts["-" in source.parent.name and -1]  # a second file, or another layout of the same
    at = Path(hosts.settings_path(variant, "user", os.environ, ""))
    put(at, source.read_text())
    theirs = list_hooks()
    done = hookctl("pack", "import", "--host", host, "-o", "mine", "--json")
    assert (len(theirs), done.data["left"]) == (done.data["hooks"], [])
    copied = hookctl("pack", "import", str(source), "--host", host, "-o", "copied", "--json")
    assert copied.data["hooks"] == len(theirs)
    assert hookctl("pack", "check", "mine", "--host", host).code == 0
    at.unlink()
    assert hookctl("install", "./mine", "--host", host, "--yes").code == 0
    for (event, matcher, command), ours in zip(theirs, list_hooks(), strict=True):
        assert ours[:2] == (event, "" if matcher == "*" else matcher)
        plain = command.removeprefix("sh -c ").strip("'") if host == "hermes" else command
        assert plain in ours[2].replace("'\"'\"'", "'"), "behind our mark"


def test_an_import_names_each_field_that_a_pack_does_not_have(settings: Path, hookctl: Hookctl) -> None:
    fields = {"statusMessage": "x", "_by": "y", "\x1b[2J": None}
    start = {"matcher": "resume", **command("a", **fields)}
    wild = {"hooks": [{"type": "http", "url": f"https://x.invalid/{SECRET:/>69}"}]}
    hooks = {"SessionStart": [start], "Stop": [command("b", once=True), command("c", **{"\x1b[2J": 1}), wild]}
    pack, left = imported(settings, hookctl, hooks)
    assert pack["hooks"] == [
        {"id": "hook-1", "event": "SessionStart", "matcher": "resume", "command": "a", "timeout": 600}
    ]
    assert left[0] == "Stop, `b`: it has `once`, which no hook of a pack has"
    done = hookctl("pack", "import", "--host", "claude", "-o", "again")
    assert "not kept: SessionStart, `a`: statusMessage, _by" in done.out
    assert "\x1b" not in done.out and SECRET[:15] not in done.out + str(left)
    assert "it runs no command" in done.out


def test_an_import_takes_a_file_a_scope_or_single_hooks_by_their_ids(isolated: Path, hookctl: Hookctl) -> None:
    for name, text in (("home", "of-user"), ("work", "of-project")):
        put(isolated / name / ".claude/settings.json", json.dumps({"hooks": {"Stop": [command(text), command("b")]}}))
    Path(".git").mkdir()
    put(Path("mine.json"), json.dumps({"hooks": {"Stop": [command("of-file")]}}))
    by_id = {hook["command"]: hook["id"] for hook in hookctl("hooks", "--host", "claude", "--json").data["hooks"]}

    def commands(*options: str) -> list[str]:
        shutil.rmtree("mine", ignore_errors=True)
        done = hookctl("pack", "import", *options, "--host", "claude", "-o", "mine")
        assert done.code == 0, done.err
        return [hook["command"] for hook in tomllib.loads(Path("mine/pack.toml").read_text())["hooks"]]

    assert commands() == ["of-user", "b"]
    assert commands("--scope", "project") == ["of-project", "b"]
    assert commands(".claude/settings.json", "--id", by_id["of-project"][:5]) == ["of-project"]
    assert commands("--id", by_id["of-user"]) == ["of-user"]
    assert commands("mine.json") == ["of-file"]
    wrong = hookctl("pack", "import", "--host", "claude", "--id", by_id["of-project"], "-o", "none")
    assert (wrong.code, f"{by_id['of-user'][:8]} (Stop, `of-user`)" in wrong.err) == (2, True)
    assert not Path("none").exists()


def test_an_import_copies_scripts_of_the_home_and_nothing_from_elsewhere(settings: Path, hookctl: Hookctl) -> None:
    scripts = settings.parent / "hooks"
    put(scripts / "a.sh", "#!/bin/sh\nexit 0\n").chmod(0o755)
    put(scripts / "sub/a.sh", "exit 0 # other\n")
    (scripts / "link.sh").symlink_to(put(Path("secret.sh"), "exit 0\n").absolute())
    texts = ['"$HOME/.claude/hooks/a.sh" --now', "sh ~/.claude/hooks/sub/a.sh", "sh ~/.claude/hooks/link.sh"]
    hooks = {"Stop": [command(text) for text in (*texts, f"true --token={SECRET}")]}
    pack, _ = imported(settings, hookctl, hooks)
    assert [hook["command"] for hook in pack["hooks"]][:3] == [
        "{files}/scripts/a.sh --now", "sh {files}/scripts/1-a.sh", texts[2]
    ]  # fmt: skip
    assert sorted(path.name for path in Path("my-hooks/scripts").iterdir()) == ["1-a.sh", "a.sh"]
    assert os.access("my-hooks/scripts/a.sh", os.X_OK)
    assert Path("my-hooks/pack.toml").stat().st_mode & 0o777 == 0o600, "it has a secret"
    tested = hookctl("pack", "test", "my-hooks", "--host", "claude")
    assert (tested.code, "3 of 3 as expected" in tested.out) == (0, True), "the linked script has no case"


@pytest.mark.parametrize(("host", "event"), [("claude", "PreToolUse"), ("gemini", "BeforeTool")])
def test_the_cases_of_an_import_show_what_refuses_something_harmless(
    isolated: Path, hookctl: Hookctl, host: str, event: str
) -> None:
    group = {"matcher": "write_file" if host == "gemini" else "Write"}
    hooks = {event: [{**group, **command("true")}, {**group, **command("echo no >&2; exit 2")}]}
    put(isolated / "home" / f".{host}" / "settings.json", json.dumps({"hooks": hooks}))
    assert hookctl("pack", "import", "--host", host, "-o", "mine").code == 0
    done = hookctl("pack", "test", "mine", "--host", host)
    assert (done.code, "1 of 2 as expected" in done.out) == (1, True)
    assert "hook-2 says nothing to a harmless Write: expected none, and it was deny" in done.out


# test
@pytest.mark.parametrize(
    "case",
    ['event = ["x"]', 'event = "Stop"\nhosts = 3', 'event = "Stop"\nhosts = ["cluade"]', 'event = "Stop"\nexpect = [1]',
     'event = "Stop"\nhook = 3', 'event = "PreToolUse"\nhook = "no-forc"',
     'event = "PreToolUse"\ntool = "Bash"\ninput = { at = 2020-01-01 }'],
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


def test_hooks_under_test_see_nothing_that_reaches_the_author(
    hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "DBUS_SESSION_BUS_ADDRESS",
        "XDG_RUNTIME_DIR",
        "SSH_AUTH_SOCK",
        "GH_TOKEN",
    ):
        monkeypatch.setenv(name, "theirs")
    put(Path("own/pack.toml"), HEAD + hook("SessionStart").replace("true", "env; echo at $HOME"))
    put(Path("own/tests/cases.toml"), case("SessionStart", "context"))
    (row,) = hookctl("pack", "test", "own", "--host", "claude", "--json").data["cases"]
    assert "PATH=" in row["stdout"] and "theirs" not in row["stdout"]
    assert "at /" in row["stdout"] and str(isolated / "home\n") not in row["stdout"]
    assert "a HOME of their own" in hookctl("pack", "test", "own", "--host", "claude").out


# hookctl pack check: the interpreter of a script is the one that its command names, else that of its first line.
BASH = "x=(a b)\n"
CUT = "for (\n"


@pytest.mark.parametrize(
    ("command", "text", "fault"),
    [
        ("bash {files}/x.sh", BASH, ""),
        ("bash {files}/x.sh", CUT, "x.sh: line 1: "),
        ("{files}/x.sh", "#!/bin/bash\n" + BASH, ""),
        ("{files}/x.sh", "#!/usr/bin/env bash\n" + BASH, ""),
        ("{files}/x.sh", BASH, "x.sh: line 1: "),
        ("sh {files}/x.sh", "#!/bin/bash\n" + BASH, "x.sh: line 2: "),
        ("env -S bash {files}/x.sh", BASH, ""),
        ("perl {files}/x.sh", CUT, ""),
    ],
)
def test_a_script_is_read_by_what_runs_it(hookctl: Hookctl, command: str, text: str, fault: str) -> None:
    put(Path("own/pack.toml"), f"{HEAD}[files]\ninclude = ['x.sh']\n" + hook("Stop").replace("true", command))
    put(Path("own/x.sh"), text)
    Path("own/x.sh").chmod(0o755)
    done = hookctl("pack", "check", "own", "--host", "claude", "--json")
    assert (done.code, [one.startswith(fault) for one in done.data["faults"]]) == ((1, [True]) if fault else (0, []))


def test_doctor_says_that_an_interpreter_is_on_no_path(hookctl: Hookctl) -> None:
    put(Path("own/pack.toml"), HEAD + hook("Stop").replace("true", "no-such-python x"))
    assert hookctl("install", "./own", "--host", "claude", "--yes").code == 0
    assert "no-such-python is not on PATH [script_missing]" in hookctl("doctor").out


def test_a_matcher_that_fits_no_tool_is_said_everywhere_with_the_nearest(hookctl: Hookctl) -> None:
    slip = 'the matcher "Edti" matches no tool of Claude Code, which has Edit'
    told = noted(hookctl, hook("PostToolUse", 'matcher = "Edti|Write"'), case("PostToolUse", "none"))
    assert len(told[f"post-tool: {slip}"]) == len(hookctl("hosts", "--json").data["hosts"])
    told = noted(hookctl, hook("PostToolUse", 'matcher = "Edti"'), case("PostToolUse", "none"))
    assert (told[f"post-tool: {slip}"], f"post-tool: {slip}: not registered" in told) == (["claude"], True)
    assert slip in hookctl("plan", "./own", "--host", "claude").err
    told = noted(hookctl, hook("PostToolUse", 'matcher = "Nobodys"'), case("PostToolUse", "none"))
    assert not any("claude" in hosts for hosts in told.values()), "it may be a new tool"
    told = noted(hookctl, hook("SessionStart", 'matcher = "startpu"'), case("SessionStart", "none"))
    assert any('"startpu" fits none of startup, resume' in note for note in told)


# The README.md of a new pack
COMMIT = "0123456789" * 4
FROM_GIT = {  # what it has of hookctl's own address, by url and revision in PEP 610's file
    ("https://h.example/o/hookctl", "v9.1"): "git+https://h.example/o/hookctl@v9.1",
    ("ssh://git@h.example/o/hookctl", "main"): f"git+ssh://git@h.example/o/hookctl@{COMMIT}",
    ("https://me:secret@h.example/o/hookctl", "v9.1"): "git+https://HOST/OWNER/hookctl@TAG",
    ("file:///home/me/hookctl", ""): "git+https://HOST/OWNER/hookctl@TAG",
}


@pytest.mark.parametrize(("url", "revision"), FROM_GIT)
def test_a_new_pack_tells_others_how_to_install_it(
    hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch, url: str, revision: str
) -> None:
    about = put(isolated / "site" / "hookctl-9.dist-info" / "METADATA", "Metadata-Version: 2.1\nName: hookctl\n")
    commit = {"vcs": "git", "commit_id": COMMIT, "requested_revision": revision}
    put(about.with_name("direct_url.json"), json.dumps({"url": url, **({"vcs_info": commit} if revision else {})}))
    monkeypatch.syspath_prepend(str(isolated / "site"))
    assert "fill in what is in capitals" in hookctl("pack", "new", "own").out
    text, begin = Path("own/README.md").read_text(), f'\nuvx --from "{FROM_GIT[url, revision]}" hookctl'
    assert f'{begin} install "git+https://HOST/ORG/own@TAG" --host claude\n' in text
    assert f"{begin} uninstall own\n" in text
    assert "HOOKCTL" not in text and "NAME" not in text
    assert hookctl("install", "./own", "--host", "claude", "--yes").code == 0
    assert not list((isolated / "data").rglob("README.md")), "it is no file of the pack"


# hookctl pack check: it warns of what the pack really needs and a host lacks, each thing once.
HEAD = '[pack]\nname = "own"\nversion = "1"\n'


def hook(event: str, more: str = "") -> str:
    return f'[[hooks]]\nevent = "{event}"\ncommand = "true"\n{more}\n'


def case(event: str, expect: str, more: str = "") -> str:
    return f'[[cases]]\nevent = "{event}"\nexpect = "{expect}"\n{more}\n'


SILENCE = "no opinion is told as an `allow`, since silence refuses there"


def noted(hookctl: Hookctl, hooks: str, cases: str = "") -> dict[str, list[str]]:
    """What is said of a pack, and of which hosts."""
    put(Path("own/pack.toml"), HEAD + hooks)
    if cases:
        put(Path("own/tests/cases.toml"), cases)
    done = hookctl("pack", "check", "own", "--json")
    assert done.code == 0
    told: dict[str, list[str]] = {}
    for row in done.data["hosts"]:
        for note in row["notes"]:
            if note.endswith(SILENCE):  # of every hook before tools
                assert row["host"] == "antigravity"
                continue
            told.setdefault(note, []).append(row["host"])
    return told


@pytest.mark.parametrize("language", ["sh", "python", "node"])
def test_a_pack_that_only_refuses_has_no_warning(hookctl: Hookctl, language: str) -> None:
    hookctl("pack", "new", "own", "--lang", language)
    done = hookctl("pack", "check", "own", "--json")
    told = [(row["host"], note) for row in done.data["hosts"] for note in row["notes"]]
    assert told == [("antigravity", f"no-force: {SILENCE}")]
    assert hookctl("pack", "check", "own").out.count("warn") == 2, "the host, and what is said of it"


@pytest.mark.parametrize(
    ("event", "expect", "said"),
    [
        ("PreToolUse", "ask", "pre-tool: `ask` becomes a refusal"),
        ("PreToolUse", "change", "pre-tool: a changed input becomes a refusal that names it"),
        ("PreToolUse", "context", "pre-tool: context for the model is dropped"),
        ("PreToolUse", "end", "pre-tool: `continue: false` becomes a refusal"),
        ("PostToolUse", "block", "post-tool: nobody reads a refusal"),
        ("PostToolUse", "end", "post-tool: `continue: false` is dropped"),
        ("UserPromptSubmit", "block", "prompt: it cannot refuse there, so the call runs"),
        ("Stop", "end", "stop: `continue: false` lets the agent stop"),
    ],
)
def test_what_a_case_shows_is_said_where_it_is_lost(hookctl: Hookctl, event: str, expect: str, said: str) -> None:
    told = noted(hookctl, hook(event), case(event, expect))
    assert said in told
    about = said[: said.index(": ") + 12]
    others = [text for text in told if not text.startswith(about)]
    assert all("has no event" in text for text in others), "and nothing else"
    assert "claude" not in told[said]


def test_what_the_pack_declares_counts_beside_its_cases(hookctl: Hookctl) -> None:
    told = noted(hookctl, hook("PreToolUse", "may_allow = true"), case("PreToolUse", "deny"))
    assert told == {
        "pre-tool: `allow` lifts no permission": [
            "antigravity", "cursor", "gemini", "grok", "hermes", "kimi", "kiro", "opencode", "openhands", "pi",
            "vibe", "windsurf",
        ]
    }  # fmt: skip
    told = noted(hookctl, hook("UserPromptSubmit", 'on_failure = "deny"'), case("UserPromptSubmit", "none"))
    assert told["prompt: it cannot refuse there, so the call runs"] == ["antigravity", "droid", "hermes", "opencode"]


# What stands in an exported plugin; tests/e2e/test_exported_plugin.py loads one.
def test_a_host_that_does_not_say_which_calls_failed_is_named(hookctl: Hookctl) -> None:
    said = "post-tool-failure: it does not say which calls failed: not registered"
    told = noted(hookctl, hook("PostToolUseFailure"), case("PostToolUseFailure", "none"))
    assert told.keys() == {said}
    assert {"codex", "droid"} <= set(told[said])
    done = hookctl("install", "./own", "--host", "codex", "--yes")
    assert "own on Codex CLI: post-tool-failure: it does not say which calls failed: not registered" in done.err


NOT_KNOWN = "how it names MCP tools is not known: mcp__gh__make may never fit"


NOT_TOLD = "it does not tell the server of an MCP tool: mcp__gh__make never fits"


def test_an_mcp_tool_that_a_host_may_call_otherwise_is_said(hookctl: Hookctl) -> None:
    told = noted(hookctl, hook("PreToolUse", 'matcher = "Bash|mcp__gh__make"'), case("PreToolUse", "deny"))
    assert told == {f"pre-tool: {NOT_KNOWN}": ["openhands"], f"pre-tool: {NOT_TOLD}": ["cursor"]}
    told = noted(hookctl, hook("PreToolUse", 'matcher = "^mcp__gh__.*$"'), case("PreToolUse", "deny"))
    assert [text.rpartition(": ")[2] for text in told] == ["mcp__gh__.* never fits", "mcp__gh__.* may never fit"]
    assert noted(hookctl, hook("PreToolUse", 'matcher = "^Notebook"'), case("PreToolUse", "deny")) == {}


JUDGE = """\
[pack]
name = "judge"
version = "1"
FILES
[[hooks]]
event = "PreToolUse"
matcher = "MATCHER"
command = "COMMAND"
"""
FILES = '[files]\ninclude = ["judge.sh"]\n'


@pytest.fixture
def export(isolated: Path, hookctl: Hookctl) -> Any:
    """Writes a pack, exports it and gives the plugin's only group of hooks, and its folder."""

    def run(files: str = FILES, matcher: str = "Bash", command: str = "sh {files}/judge.sh") -> Any:
        text = JUDGE.replace("FILES", files).replace("MATCHER", matcher).replace("COMMAND", command)
        pack = put(isolated / "judge" / "pack.toml", text).parent
        put(pack / "judge.sh", "echo no >&2; exit 2\n")
        folder = isolated / "a plugin"
        assert hookctl("pack", "export", str(pack), "--as", "claude-plugin", "-o", str(folder)).code == 0
        shutil.rmtree(pack)
        (group,) = json.loads((folder / "hooks" / "hooks.json").read_text())["hooks"]["PreToolUse"]
        return group, folder

    return run


def run(command: str, root: str) -> tuple[int, str]:
    environ = {"CLAUDE_PLUGIN_ROOT": root, "PATH": "/usr/bin:/bin"}
    done = subprocess.run(["/bin/sh", "-c", command], env=environ, capture_output=True, text=True)
    return done.returncode, done.stderr


def test_the_command_runs_from_the_plugins_folder_and_does_nothing_without_it(export: Any) -> None:
    group, folder = export()
    (entry,) = group["hooks"]
    assert run(entry["command"], str(folder)) == (2, "no\n")
    assert run(entry["command"], "") == (0, "")
    shutil.rmtree(folder)
    assert run(entry["command"], str(folder)) == (0, "")


def exported(hookctl: Hookctl, manifest: str, programs: dict[str, str], expected: int) -> tuple[Any, list[str]]:
    """The plugin's hooks by event, and what is said to be lost."""
    put(Path("own/pack.toml"), f'[pack]\nname = "own"\nversion = "1"\n\n{manifest}')
    for name, text in programs.items():
        put(Path("own", name), text)
    done = hookctl("pack", "export", "own", "--as", "claude-plugin", "-o", "plugin", "--json")
    assert done.code == expected, done
    return json.loads(Path("plugin/hooks/hooks.json").read_text())["hooks"], done.data["lost"]


HOOK = '[files]\ninclude = ["a.py"]\n\n[[hooks]]\nevent = "PreToolUse"\ncommand = "python3 {files}/a.py"\n'


def test_each_command_asks_for_its_own_files_and_keeps_its_time(hookctl: Hookctl) -> None:
    manifest = HOOK.replace('"a.py"]', '"a.py", "start.py"]')
    for event, command in (
        ("SessionStart", "python3 {files}/start.py"),
        ("Stop", "true"),
        ("PreCompact", "ls {files}"),
    ):
        manifest += f'[[hooks]]\nevent = "{event}"\ncommand = "{command}"\n'
    manifest += '[[host.claude.hooks]]\nevent = "TaskCompleted"\ncommand = "true"\n'
    hooks = exported(hookctl, manifest, {"a.py": "", "start.py": ""}, 0)[0]
    entries = {event: groups[0]["hooks"][0] for event, groups in hooks.items()}
    root = '"${CLAUDE_PLUGIN_ROOT}"'
    assert {event: entry["command"].partition(" || exit 0; ")[0] for event, entry in entries.items()} == {
        "PreToolUse": f"[ -r {root}/a.py ]",
        "SessionStart": f"[ -r {root}/start.py ]",
        "Stop": "true",
        "PreCompact": f"[ -r {root}/a.py ]",
        "TaskCompleted": "true",
    }
    assert [entry.get("timeout") for entry in entries.values()] == [10, 10, 10, 10, None]
