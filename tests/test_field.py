"""Settings files of the sort that people have: what runs of them, and what hookctl says, a row a file.

What is expected was seen on the real clients, in front of which tests/e2e/test_field.py plays the same rows; where one
is not `played`, the host's documents say so. A hook is a word that its command writes down.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.approving import approve
from tests.conftest import Hookctl, Outcome, put

CLAUDE, CODEX, CONFIG = "~/.claude/settings.json", "~/.codex/hooks.json", "~/.codex/config.toml"
COPILOT, COPILOTS, REPOSITORY = "~/.copilot/hooks/a.json", "~/.copilot/settings.json", ".github/copilot/settings.json"
DROID, GEMINI, QWEN = "~/.factory/settings.json", "~/.gemini/settings.json", "~/.qwen/settings.json"
TOOLS = {  # by host: the names of its shell and of what writes a file, which are called
    "claude": ("Bash", "Write"), "codex": ("Bash", "apply_patch"), "copilot": ("bash", "create"),
    "droid": ("Execute", "Create"), "gemini": ("run_shell_command", "write_file"),
    "qwen": ("run_shell_command", "write_file"), "cursor": ("Shell", "Write"),
}  # fmt: skip


def c(word: str, key: str = "command", **more: Any) -> dict[str, Any]:
    """A handler that writes a word."""
    return {"type": "command", key: f"echo {word} >> MARKS", **more}


def group(*handlers: Any, **more: Any) -> dict[str, Any]:
    return {**more, "hooks": list(handlers)}


def hooks(**events: Any) -> dict[str, Any]:
    return {"hooks": events}


def copilots(**events: Any) -> dict[str, Any]:
    return {"version": 1, "hooks": events}


class Row(NamedTuple):
    """Files, and what is true of them. `~` is HOME, a path without it is one of the project, MARKS where words go."""

    says: str
    host: str
    files: Mapping[str, Any]  # a text, or a value of JSON
    runs: str = ""  # words of the hooks that run
    not_runs: str = ""  # of those that do not; @EVENT: all of that event
    fires: Mapping[str, str] = {}  # what an event runs, as "stop" or "pre-tool TOOL"; without it the event is not asked
    doctor: str = ""  # the file that doctor names at level error or warning, before the install and after it
    doctor_says: str = ""  # an expression for the message, beside what `starts` and `loud` ask for
    loud: bool = False  # the client reads nothing of the file that install writes into, or does not start
    starts: bool = True  # the client
    approved: tuple[str, ...] = ()  # files of Codex whose hooks are approved
    trusted: bool = False  # Codex trusts the project
    managed: str = ""  # words of hooks that are listed as managed ones
    played: bool = True  # the client was run on it

    @property
    def ran(self) -> set[str]:
        """What runs in a session that calls the shell, writes a file and ends."""
        return {word for words in self.fires.values() for word in words.split()}


FILES = {"claude": CLAUDE, "droid": DROID, "codex": CODEX, "gemini": GEMINI, "qwen": QWEN}
TRUSTED = {"gemini": {"security": {"folderTrust": {"enabled": False}, "auth": {"selectedType": "gemini-api-key"}}}}
STOP = [group(c("good"))]
WHOLE = "not start|whole|no hook|nothing"  # what doctor says of a file of which nothing is read
ROWS: list[Row] = []


def rows(*more: Row) -> None:
    ROWS.extend(more)


# W1. One fault, and the client reads nothing of the file.
rows(
    *(
        Row(f"droid loses a file with a handler of type {kind}", "droid",
            {DROID: hooks(PreToolUse=[group(c("tool"))], Stop=[group(c("stop"), odd)]),
             ".factory/settings.json": hooks(Stop=[group(c("project"))])},
            runs="project", not_runs="tool stop", fires={"pre-tool Execute": "", "stop": "project"},
            doctor=DROID, loud=True)
        for kind, odd in {"prompt": {"type": "prompt", "prompt": "x"}, "http": {"type": "http", "url": "https://x.example"},
                          "none": {"command": "true"}, "function": {"type": "function", "command": "true"}}.items()
    ),
    Row("copilot loses a file of another version", "copilot",
        {COPILOT: {"version": 2, "hooks": {"agentStop": [c("lost")]}},
         "~/.copilot/hooks/b.json": copilots(agentStop=[c("good")])},
        runs="good", not_runs="lost", fires={"stop": "good"}, doctor=COPILOT),
    Row("copilot loses a file with an object for a list", "copilot",
        {COPILOT: copilots(agentStop={"command": "true"}, sessionStart=[c("lost")]),
         "~/.copilot/hooks/b.json": copilots(agentStop=[c("good")])},
        runs="good", not_runs="lost", fires={"stop": "good", "session-start": ""}, doctor=COPILOT),
    Row("copilot loses the hooks of its settings with one bad item", "copilot",
        {COPILOTS: hooks(agentStop=[c("lost"), {"type": "prompt", "prompt": "x"}], sessionStart=[c("lost2")]),
         COPILOT: copilots(agentStop=[c("good")])},
        runs="good", not_runs="lost lost2", fires={"stop": "good", "session-start": ""}, doctor=COPILOTS),
    *(
        Row(f"copilot loses of its folder the bad item alone: {kind}", "copilot",
            {COPILOT: copilots(agentStop=[c("good"), odd], sessionStart=[c("good2")])},
            runs="good good2", not_runs="bad" if "command" in odd else "@none",
            fires={"stop": "good", "session-start": "good2"})
        for kind, odd in {"a type": c("bad", type="function"), "a timeout": c("bad", timeoutSec="ten"),
                          "a prompt": {"type": "prompt", "prompt": "x"}}.items()
    ),
    Row("claude reads nothing where hooks is a list", "claude",
        {CLAUDE: {"hooks": [{"event": "Stop", "command": "true"}], "permissions": {"allow": ["Bash"]}},
         ".claude/settings.json": hooks(Stop=[group(c("good"))])},
        runs="good", fires={"stop": "good"}, doctor=CLAUDE, doctor_says="whole|nothing|permissions", loud=True),
    Row("codex loses a file without hooks round the events", "codex", {CODEX: {"Stop": [group(c("lost"))]}},
        not_runs="lost", fires={"stop": ""}, doctor=CODEX, loud=True),
)  # fmt: skip

# W2. Codex does not start.
OLD_LIST = '[[hooks]]\nevent = "SessionStart"\ncommand = "true"\n'
PATH = 'hooks = "/opt/tools/hooks.json"\n'
TABLE = '[hooks.PreToolUse]\nmatcher = "Bash"\ncommand = "true"\n'
SPELLINGS = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "true"\n'
BOTH = SPELLINGS + 'commandWindows = "rem a"\ncommand_windows = "rem b"\n'
rows(
    *(
        Row(f"codex does not start with {kind} in the user's config.toml", "codex",
            {CODEX: hooks(Stop=STOP), CONFIG: text}, not_runs="good", fires={"stop": ""}, doctor=CONFIG, loud=True,
            starts=False, approved=(CODEX,) if text != PATH else ())
        for kind, text in {
            "the list of an older release": OLD_LIST, "a path": PATH, "a table": TABLE, "two spellings": BOTH,
            "a type that is none": SPELLINGS.replace("command", "http", 1),
            "a list that is none": "[hooks]\nStop = 5\n", "no command": SPELLINGS.replace('command = "true"\n', ""),
            "a timeout as a text": SPELLINGS + "timeout = '10'\n", "a feature as a text": "[features]\nhooks = 'no'\n",
        }.items()
    ),
    *(
        Row(f"codex {'does not start' if trusted else 'starts'} with {kind} in a project, trusted: {trusted}", "codex",
            {CODEX: hooks(Stop=STOP), ".codex/config.toml": text}, approved=(CODEX,), trusted=trusted,
            runs="" if trusted else "good", not_runs="good" if trusted else "", starts=not trusted,
            fires={"stop": "" if trusted else "good"}, doctor=".codex/config.toml" if trusted else "", loud=trusted)
        for kind, text in {"a path": PATH, "a table": TABLE}.items() for trusted in (True, False)
    ),
    *(
        Row(f"codex loses hooks.json with {kind}", "codex", {CODEX: hooks(**odd)}, not_runs="good", fires={"stop": ""},
            doctor=CODEX, loud=True)
        for kind, odd in {
            "a table": {"Stop": STOP, "PreToolUse": {"matcher": "Bash"}},
            "two spellings": {"Stop": [*STOP, group(c("both", commandWindows="a", command_windows="b"))]},
            "an entry that is none": {"Stop": [*STOP, 5]},
            "a group's list that is none": {"Stop": [*STOP, {"hooks": 5}]},
        }.items()
    ),
)  # fmt: skip

# W3. Switches: the rows of tests/switches.py have the others.
OFF = {"disableAllHooks": True}
rows(
    Row("copilot skips one file that says so of itself", "copilot",
        {COPILOT: copilots(agentStop=[c("good")]),
         "~/.copilot/hooks/off.json": {**copilots(agentStop=[c("off")]), **OFF}},
        runs="good", not_runs="off", fires={"stop": "good"}),
)  # fmt: skip

# W4. Managed layers.
TOML_STOP = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "echo WORD >> MARKS"\n'
rows(
    Row("codex runs the hooks of its three managed files without an approval", "codex",
        {"/etc/codex/hooks.json": hooks(Stop=[group(c("one"))]),
         "/etc/codex/config.toml": TOML_STOP.replace("WORD", "two"),
         "/etc/codex/managed_config.toml": TOML_STOP.replace("WORD", "three")},
        runs="one two three", managed="one two three", fires={"stop": "one two three"}),
    Row("copilot runs a policy's hook in spite of the switch", "copilot",
        {"/etc/github-copilot/policy.d/10-audit.json": copilots(preToolUse=[c("policy", "bash")]),
         COPILOT: copilots(preToolUse=[c("user")]), REPOSITORY: OFF},
        runs="policy", managed="policy", not_runs="user", fires={"pre-tool bash": "policy"}),
    *(
        Row(f"an administrator's hook runs on {host}", host, {file: {**more, **hooks(**{event: [group(c("all"))]})}},
            runs="all", managed="all", fires={"stop": "all"}, played=host == "claude")  # the others: test_managed.py
        for host, file, event, more in (
            ("claude", "/etc/claude-code/managed-settings.json", "Stop", {}),
            ("gemini", "/etc/gemini-cli/settings.json", "AfterAgent", TRUSTED["gemini"]),
            ("qwen", "/etc/qwen-code/settings.json", "Stop", {}),
        )
    ),
    Row("cursor counts an administrator's file beside the user's", "cursor",
        {"/etc/cursor/hooks.json": copilots(beforeShellExecution=[{"command": "echo all >> MARKS"}]),
         "~/.cursor/hooks.json": copilots(beforeShellExecution=[{"command": "echo user >> MARKS"}])},
        runs="all user", managed="all", played=False),
)  # fmt: skip

# W7. A handler of a type or with a field that never runs there.
PROMPT, MCP = {"type": "prompt", "prompt": "x"}, {"type": "mcp_tool", "server": "s", "tool": "t"}
HTTP = {"type": "http", "url": "https://hooks.example/x"}
rows(
    *(
        Row(f"codex runs no {kind} at {event}", "codex",
            {CODEX: hooks(Stop=STOP), CONFIG: f"[[hooks.{event}]]\n[[hooks.{event}.hooks]]\ntype = '{kind}'\n{odd}"},
            approved=(CODEX,), runs="good", not_runs=f"@{event}", fires={"stop": "good"})
        for kind, event, odd in (("prompt", "SessionStart", "prompt = 'x'\n"),
                                 ("agent", "PreToolUse", "prompt = 'x'\n"),
                                 ("mcp_tool", "SessionEnd", "server = 's'\ntool = 't'\n"))
    ),
    Row("codex wants an approval of an mcp_tool as of a command", "codex", {CODEX: hooks(PreToolUse=[group(MCP)])},
        not_runs="@PreToolUse", fires={"pre-tool Bash": ""}),
    *(
        Row(f"claude runs no {odd['type']} at SessionStart", "claude",
            {CLAUDE: hooks(SessionStart=[group(odd, c("good"))])}, runs="good", not_runs=f"={odd['type']}",
            fires={"session-start": "good"})
        for odd in (PROMPT, HTTP)
    ),
    *(
        Row(f"claude runs nothing with `if` at {event}", "claude",
            {CLAUDE: hooks(**{event: [group(c("never", **{"if": "Bash(touch *)"}), c("good"))]})},
            runs="good", not_runs="never", fires={kind: "good"})
        for event, kind in (("SessionStart", "session-start"), ("UserPromptSubmit", "prompt"), ("Stop", "stop"),
                            ("SessionEnd", "session-end"))
    ),
    *(
        Row(f"claude runs what has `if` at {event} where it holds", "claude",
            {CLAUDE: hooks(**{event: [group(c("it", **{"if": "Bash(touch *)"}),
                                            c("other", **{"if": "Bash(git *)"}))]})},
            runs="it other")  # fire names them: the client alone knows whether a condition holds
        for event in ("PreToolUse", "PostToolUse")
    ),
    Row("claude takes no notice of these fields", "claude",
        {CLAUDE: hooks(Stop=[group(c("a", once=True), c("b", enabled=False), c("d", disabled=True),
                                   c("e", timeout_ms=1))])},
        runs="a b d e", fires={"stop": "a b d e"}),
)  # fmt: skip

# W8. PowerShell, and paths of Windows.
TOOL = "C:\\Users\\me\\tools\\tool.exe hook"
rows(
    Row("copilot denies each call for PowerShell that is not there", "copilot",
        {COPILOT: copilots(preToolUse=[c("text", "powershell")])}, not_runs="text", fires={"pre-tool bash": ""},
        doctor=COPILOT),
    Row("copilot takes bash where both are there", "copilot",
        {COPILOT: copilots(preToolUse=[c("sh", "bash", powershell="echo ps >> MARKS")])}, runs="sh",
        fires={"pre-tool bash": "sh"}),
    *(
        Row(f"{host} does not run PowerShell's text in sh", host,
            {file: hooks(Stop=[group(c("text", shell="powershell"), c("good"))])}, runs="good", not_runs="text",
            fires={"stop": "good"})
        for host, file in (("claude", CLAUDE), ("qwen", QWEN))
    ),
    *(
        Row(f"claude finds no program at {command}", "claude",
            {CLAUDE: hooks(Stop=[group({"type": "command", "command": command}, c("good"))])}, runs="good",
            not_runs="@tool.exe", fires={"stop": "good"})
        for command in (TOOL, '"C:/Program Files/tool/tool.exe" hook')
    ),
)  # fmt: skip

# W9. How Copilot lets an entry be written.
UNTYPED = {"bash": "echo it >> MARKS"}
ARGS = {"type": "command", "exec": "sh", "args": ["-c", "echo it >> MARKS"]}
rows(
    *(
        Row(f"copilot runs {kind}", "copilot", {COPILOT: copilots(**{event: [odd]})}, runs="it",
            fires={"pre-tool bash": "it"})
        for kind, event, odd in (
            ("what has no type", "preToolUse", UNTYPED), ("a program with arguments", "preToolUse", ARGS),
            ("a group", "PreToolUse", group(c("it"))), ("a group with *", "PreToolUse", group(c("it"), matcher="*")),
            ("an entry without a group", "PreToolUse", c("it")),
            ("an entry with *", "PreToolUse", c("it", matcher="*")),
        )
    ),
    Row("copilot takes bash before command", "copilot",
        {COPILOT: copilots(preToolUse=[c("command", bash="echo bash >> MARKS")])}, fires={"pre-tool bash": "bash"}),
    *(
        Row(f"a matcher never fires, copilot: {matcher}", "copilot",
            {COPILOT: copilots(preToolUse=[c("never", matcher=matcher), c("good", matcher="bash")])}, runs="good",
            not_runs="never", fires={"pre-tool bash": "good"})
        for matcher in ("ba", "(ba", "*")
    ),
    *(
        Row(f"copilot skips {kind} before a call", "copilot", {COPILOT: copilots(preToolUse=[odd, c("good")])},
            runs="good", not_runs=f"={odd['type']}", fires={"pre-tool bash": "good"})
        for kind, odd in (("a prompt", PROMPT), ("http:", {"type": "http", "url": "http://127.0.0.1:9/x"}))
    ),
    Row("claude loses an unknown event alone", "claude",
        {CLAUDE: hooks(PreToolCall=[group(c("lost"))], Stop=STOP)}, runs="good", not_runs="lost",
        fires={"stop": "good"}),
)  # fmt: skip

# Neighbours of these kinds.
GEMINI_BASE = TRUSTED["gemini"]
rows(
    Row("gemini takes a group for a list of one", "gemini",
        {GEMINI: {**GEMINI_BASE, **hooks(AfterAgent=group(c("it")))}}, runs="it", fires={"stop": "it"}),
    *(
        Row(f"gemini loses {event} with a matcher that is no text", "gemini",
            {GEMINI: {**GEMINI_BASE, **hooks(**{event: [group(c("lost")), group(c("odd"), matcher=5)],
                                                "AfterAgent": [group(c("good"))]})},
             ".gemini/settings.json": hooks(**{event: [group(c("project"))]})},
            runs="good", not_runs="lost odd project", fires={kind: "", "stop": "good"})
        for event, kind in (("SessionStart", "session-start"), ("BeforeTool", "pre-tool run_shell_command"))
    ),
    Row("qwen takes a timeout below 0 for none", "qwen", {QWEN: hooks(Stop=[group(c("it", timeout=-1))])}, runs="it",
        fires={"stop": "it"}),
    Row("qwen loses an event with a matcher that is no text", "qwen",
        {QWEN: hooks(PreToolUse=[group(c("lost")), group(c("odd"), matcher=5)], Stop=[group(c("good"))]),
         ".qwen/settings.json": hooks(PreToolUse=[group(c("project"))])},
        runs="good", not_runs="lost odd project", fires={"pre-tool run_shell_command": "", "stop": "good"}),
    *(
        Row(f"{host} takes the matcher {value!r} on {event} for none", host,
            {FILES[host]: {**base, **hooks(**{event: [group(c("it")), group(c("odd"), matcher=value)]})}},
            runs="it odd", fires={kind: "it odd"})
        for host, base, event, kind, value in (
            ("gemini", GEMINI_BASE, "AfterAgent", "stop", 5), ("gemini", GEMINI_BASE, "AfterAgent", "stop", None),
            ("gemini", GEMINI_BASE, "BeforeTool", "pre-tool run_shell_command", None),
            ("qwen", {}, "Stop", "stop", 5), ("qwen", {}, "PreToolUse", "pre-tool run_shell_command", None),
        )
    ),
    Row("gemini takes a word for no false", "gemini",
        {GEMINI: {**GEMINI_BASE, "hooksConfig": {"enabled": "no"}, **hooks(AfterAgent=[group(c("it"))])}}, runs="it"),
    Row("gemini loses the user's hooks with the project's", "gemini",
        {GEMINI: {**GEMINI_BASE, **hooks(AfterAgent=[group(c("user"))])}, ".gemini/settings.json": {"hooks": "x"}},
        not_runs="user", fires={"stop": ""}, doctor=".gemini/settings.json", loud=True),
    Row("gemini does not start with a trailing comma", "gemini",
        {GEMINI: json.dumps(GEMINI_BASE)[:-1] + ",}", ".gemini/settings.json": hooks(AfterAgent=[group(c("project"))])},
        not_runs="project", fires={"stop": ""}, doctor=GEMINI, loud=True, starts=False),
    Row("gemini knows no arguments", "gemini",
        {GEMINI: {**GEMINI_BASE, **hooks(AfterAgent=[group(c("it", args=["x"]))])}}, runs="it", fires={"stop": "it"}),
    Row("claude drops a group with a matcher that is no text", "claude",
        {CLAUDE: hooks(Stop=[group(c("lost"), matcher=None), group(c("good"))])}, runs="good", not_runs="lost",
        fires={"stop": "good"}),
    Row("claude takes a command with a list of arguments for a program", "claude",
        {CLAUDE: hooks(Stop=[group(c("never", args=[]), c("good"))])}, runs="good", not_runs="never",
        fires={"stop": "good"}),
    *(
        Row(f"{host} knows no `if`", host, {FILES[host]: hooks(Stop=[group(c("it", **{"if": "Bash(git *)"}))])},
            runs="it", fires={"stop": "it"}, approved=(FILES[host],) if host == "codex" else ())
        for host in ("codex", "droid")
    ),
    *(
        Row(f"{host} takes a timeout of 0 for none", host,
            {FILES[host]: hooks(Stop=[group({**c("it", timeout=0), "command": "sleep 0.3; echo it >> MARKS"})])},
            runs="it", fires={"stop": "it"}, approved=(FILES[host],) if host == "codex" else ())
        for host in ("codex", "droid")
    ),
    Row("droid does not start with a model that is none", "droid", {DROID: {"model": 5, **hooks(Stop=STOP)}},
        not_runs="good", fires={"stop": ""}, doctor=DROID, loud=True, starts=False),
    Row("droid reads no list for a file", "droid", {DROID: json.dumps([hooks(Stop=STOP)])}, not_runs="good",
        fires={"stop": ""}, doctor=DROID, loud=True),
    Row("copilot loses the hooks of its settings with another key", "copilot",
        {COPILOTS: {"statusLine": 5, **hooks(agentStop=[c("lost")])}, COPILOT: copilots(agentStop=[c("good")])},
        runs="good", not_runs="lost", fires={"stop": "good"}, doctor=COPILOTS),
    *(
        Row(f"copilot loses an item with {name} {value!r}", "copilot",
            {COPILOT: copilots(agentStop=[c("bad", **{name: value}), c("good")])}, runs="good", not_runs="bad",
            fires={"stop": "good"})
        for name, value in (("timeout", 0), ("env", None), ("env", 5), ("cwd", 5), ("cwd", "/nowhere"))
    ),
    Row("copilot asks for a matcher that is a text before a call alone", "copilot",
        {COPILOT: copilots(preToolUse=[c("bad", matcher=5)], agentStop=[c("good", matcher=5)])}, runs="good",
        not_runs="bad", fires={"stop": "good", "pre-tool bash": ""}),
    *(
        Row(f"copilot loses a file with {value!r} for a list", "copilot",
            {COPILOT: copilots(sessionStart=value, agentStop=[c("lost")])}, not_runs="lost", fires={"stop": ""},
            doctor=COPILOT)
        for value in (True, "x", 5)
    ),
)  # fmt: skip


def path_of(name: str, home: Path, project: Path, etc: Path) -> Path:
    """Where a file of a row lies."""
    if name.startswith("~/"):
        return home / name[2:]
    return etc / name.removeprefix("/etc/") if name.startswith("/etc/") else project / name


def lay_out(
    row: Row, home: Path, project: Path, etc: Path, marks: Path, base: Mapping[str, Any] = {}
) -> dict[str, Path]:
    """Write a row's files, the user's settings with what a client needs to start, and what Codex has to be told."""
    paths = {name: path_of(name, home, project, etc) for name in row.files}
    for name, value in row.files.items():
        more = base if name.startswith("~/") and name.endswith("/settings.json") else {}
        text = value if isinstance(value, str) else json.dumps({**more, **value})
        put(paths[name], text.replace("MARKS", str(marks)))
    if row.approved or row.trusted:
        config = home / ".codex" / "config.toml"
        own = config.read_text() if config.exists() else ""
        config.unlink(missing_ok=True)
        for name in row.approved:
            approve(paths[name])
        told = config.read_text() if config.exists() else ""
        if row.trusted:
            told += f"[projects.{json.dumps(str(project))}]\ntrust_level = 'trusted'\n"
        # A key at the root, and a list of tables, may not stand behind a table.
        is_behind = own.startswith("[") and not own.startswith("[[hooks]]")
        config.write_text(told + own if is_behind else own + told)
    return paths


class Stage:
    """A row's files, and hookctl there."""

    def __init__(self, row: Row, root: Path, hookctl: Hookctl) -> None:
        self.row, self.hookctl = row, hookctl
        self.marks = root / "marks"
        put(root / "work" / ".git" / "HEAD", "ref: refs/heads/main\n")
        self.paths = lay_out(row, root / "home", root / "work", root / "etc", self.marks)
        self.shown = {name: Path(name) if name.startswith("/etc") else path for name, path in self.paths.items()}

    def bytes(self) -> dict[str, bytes]:
        return {name: path.read_bytes() for name, path in self.paths.items()}

    def page(self, *arguments: str) -> Any:
        return self.hookctl(*arguments, "--host", self.row.host, "--json").data

    def hooks(self) -> None:
        """What runs is said to run, and what does not is not."""
        page = self.page("hooks")
        unreadable = {one["path"] for one in page["unreadable"]}

        def states(word: str) -> set[str]:
            return {hook["state"] for hook in page["hooks"] if self._is(hook, word)}

        for word in self.row.runs.split():
            assert states(word) == {"runs"}, word
        for word in self.row.not_runs.split():
            assert "runs" not in states(word), word
            assert states(word) or word[0] in "@=" or unreadable & {*map(str, self.shown.values())}, word
        for word in self.row.managed.split():
            assert {hook["scope"] for hook in page["hooks"] if self._is(hook, word)} == {"managed"}, word

    def _is(self, hook: Mapping[str, Any], word: str) -> bool:
        if word[0] == "=":  # of a type
            return "echo" not in hook["command"]
        if word[0] == "@":
            return hook["event"] == word[1:] or word[1:] in hook["command"]
        return bool(re.search(rf"\b{word} >>", hook["command"]))

    def doctor(self) -> None:
        """It names the file, and not only before the install."""
        assert self._named(), "before the install"
        self.hookctl("install", "--host", self.row.host)
        assert self._named(), "after the install"

    def _named(self) -> list[str]:
        file = str(self.shown[self.row.doctor])
        says = self.row.doctor_says or ("not start" if not self.row.starts else WHOLE if self.row.loud else "")
        return [
            one["message"] for one in self.page("doctor")["findings"]
            if one["level"] in ("error", "warning") and (one["path"] == file or file in one["message"])
            and re.search(says, one["message"])
        ]  # fmt: skip

    def install(self) -> None:
        """It writes nothing, or says that nothing comes of it."""
        before = self.bytes()
        done = self.hookctl("install", "--host", self.row.host)
        file = str(self.shown[self.row.doctor])
        is_refused = done.code != 0 and self.bytes() == before
        assert is_refused or (file in done.err and "installed" not in done.out), done

    def fire(self) -> None:
        """Each event runs what the client runs."""
        for event, words in self.row.fires.items():
            kind, _, tool = event.partition(" ")
            inputs = {TOOLS[self.row.host][0]: {"command": "touch shell-ran"}}
            call = ["--tool", tool, "--input", json.dumps(inputs.get(tool, {"file_path": "made.txt"}))] if tool else []
            self.marks.unlink(missing_ok=True)
            self.page("fire", kind, *call, "--run-project", "--yes")
            ran = set(self.marks.read_text().split()) if self.marks.exists() else set()
            assert ran - {*self.row.managed.split()} == set(words.split()) - {*self.row.managed.split()}, event
        for hook in self.page("hooks")["hooks"]:
            if re.search(r"\b(ps|text) >>", hook["command"]):
                self.hookctl("fire", hook["event"], "--hook", hook["id"])
        assert not self.marks.exists() or not {"ps", "text"} & {*self.marks.read_text().split()}

    def bytes_stay(self) -> None:
        """What is installed can be taken away, however odd the file."""
        before = self.bytes()
        for verb in ("install", "install", "uninstall"):
            self.hookctl(verb, "--host", self.row.host)
        assert self.bytes() == before


def etc_of(row: Row) -> bool:
    return any(name.startswith("/etc/") for name in row.files)


@pytest.fixture
def with_etc(isolated: Path) -> Hookctl:
    """The command line as a process that has the test's own /etc."""
    etc = isolated / "etc"
    etc.mkdir()
    if not shutil.which("unshare") or subprocess.run(in_namespace(etc, "true"), capture_output=True).returncode:
        pytest.skip("this user cannot have a mount namespace")

    def call(*arguments: str, agrees: bool = True) -> Outcome:
        agreed = ["--yes"] if arguments[0] == "install" else []
        command = [sys.executable, "-m", "hookctl", *arguments, *agreed]
        done = subprocess.run(in_namespace(etc, *command), capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return Outcome(done.returncode, done.stdout, done.stderr)

    return call


def in_namespace(etc: Path, *command: str) -> list[str]:
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", *user, "--mount", "sh", "-c", 'mount --bind "$0" /etc && exec "$@"', str(etc), *command]


def aspects(row: Row) -> Iterator[str]:
    """What is asked of a row."""
    yield "hooks"
    yield from ["doctor"] if row.doctor else []
    yield from ["install"] if row.loud else []
    yield from ["fire"] if row.fires and not row.managed else []
    yield from ["bytes_stay"] if not etc_of(row) else []


def cases() -> Iterator[Any]:
    """Each row with each aspect."""
    for row in ROWS:
        for aspect in aspects(row):
            name = f"{aspect}: {row.says}"
            yield pytest.param(row, aspect, id=name)


@pytest.mark.parametrize(("row", "aspect"), [*cases()])
def test_what_is_said_of_a_file(
    row: Row, aspect: str, request: pytest.FixtureRequest, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "powershell" in str(row.files) and shutil.which("pwsh"):
        pytest.skip("PowerShell is there")
    fixture: Callable[..., Any] = request.getfixturevalue("with_etc" if etc_of(row) else "hookctl")
    getattr(Stage(row, isolated, fixture), aspect)()
