"""What the real clients do that hookctl relies on, a table each; expected values are in pins/.

Here are those whose hooks stand in JSON as Claude Code's do, and what all clients do in their own words; the others are
in test_facts_of_others.py.
"""

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hookctl import hosts
from hookctl.hosts.shapes import FAILS_OPEN
from tests.matching import OF_SHELL

from . import acceptance, claude, codex, copilot, droid, everywhere, facts, gemini, grok, qwen
from .agent import Place
from .clients import Client, pins_of
from .dialects import Call
from .facts import Came, Entries, Fact, probe
from .hooks import END, FLAT, GUARDED, NESTED, SPEAK, UNDECIDED, group, handler, say, verdict
from .model_server import Script
from .probe import BLOCK, Probe, make_probe

pytestmark = [pytest.mark.e2e, pytest.mark.full]

PINS = {name: pins_of(name) for name in ("claude", "codex", "copilot", "droid", "gemini", "grok", "qwen")}
GONE = "python3 /nowhere/hook.py"
STOP, BLOCKED = {"Stop": [probe()]}, {"Stop": [probe("it", BLOCK)]}
BOTH = verdict("block", **json.loads(SPEAK), **json.loads(END), more=1)
NESTED_STOP = json.dumps({"hookSpecificOutput": {"hookEventName": "Stop", "decision": "block", "reason": "on"}})


def context(event: str, text: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})


def stop_group(command: str = "@it") -> dict[str, Any]:
    """The hooks of a file that is written by hand."""
    return {"Stop": [group(command)]}


def in_file(hooks: Any) -> str:
    return json.dumps({"hooks": hooks})


def start_git(place: Place) -> None:
    subprocess.run(["git", "init", "-q", str(place.project)], env=place.environment(), check=True)


# Claude Code

CLAUDE = PINS["claude"]
KEY, CAP = CLAUDE["cap"]["key"], CLAUDE["cap"]["default"]
NO_SKILL = {"hookEventName": "PreSkillShellCommand", "permissionDecision": "deny", "permissionDecisionReason": "no"}


def overridden(came: Came) -> bool:
    notice = came.run.system_lines("notification")[-1]["key"]
    return bool(came.run.result == "" and came.run.was_overridden and notice == CLAUDE["cap"]["notification"])


def ended(came: Came) -> bool:
    """Alone it would keep the text; the feedback of the block that it beats takes the reply's place."""
    reason = came.run.ending["terminal_reason"]
    return bool(reason == CLAUDE["stop"]["ended_by_hook"] and came.run.result == "" and came.run.texts[-1] == "three")


def told_the_session(came: Came) -> bool:
    (heard,) = came.probes["it"].heard()
    return heard.payload["session_id"] == heard.environment[CLAUDE["variables"]["session"]] == came.run.session


CLAUDES = [
    Fact("a hook that always blocks is overridden and the reply is lost", BLOCKED, requests=CAP + 1,
         flags="F" + "T" * CAP, check=overridden),
    Fact("the cap comes from the settings' env", BLOCKED, more={"env": {KEY: "3"}}, requests=4,
         check=lambda came: came.run.result == ""),
    Fact("a cap of 0 switches the cap off", BLOCKED, more={"env": {KEY: "0"}}, replies=Script(["done"], limit=15),
         requests=15, code=None, check=lambda came: came.refused() and not came.run.was_overridden),
    Fact("a tool call starts the cap's count again but not the flag", BLOCKED, requests=5 + 1 + CAP + 1,
         replies=[*["text"] * 5, claude.bash("true 1"), "text"], flags="F" + "T" * (5 + CAP)),
    Fact("a hook that lets go by itself keeps the reply", {"Stop": [probe("it", BLOCK, BLOCK, SPEAK)]},
         replies=["one", "two", "three"], requests=3, check=lambda came: came.run.result == "three"
         and [line["content"] for line in came.run.system_lines("informational")]
         == [CLAUDE["stop"]["message_prefix"] + "let go"]),
    Fact("a hook that ends the turn beats another hook's block", {"Stop": [probe("blocks", BLOCK)]},
         files={"project/.claude/settings.json": {"Stop": [probe("ends", "", "", END)]}},
         replies=["one", "two", "three", "four"], requests=3, check=ended),
    Fact("a settings file with a comment is ignored as a whole", BLOCKED, requests=1, heard=0, check=Came.silent,
         text=lambda text: text.replace("{", "{ // mine\n", 1)),
    Fact("a known key of the wrong type loses the whole file", BLOCKED, more={"cleanupPeriodDays": "abc"}, requests=1,
         heard=0, check=Came.silent),
    Fact("an entry that does not fit is dropped with a warning in a headless run, and the other hook still runs", STOP,
         text=lambda text: text.replace('"Stop": [', '"Stop": [{"hooks": [{"type": "command", "command": 5}]}, '),
         options=("--output-format", "text"), requests=1, flags="F",
         said=["(hooks.Stop.0.hooks.0)", "entry ignored"]),
    Fact("a stop hook gets the pinned fields and variables", STOP, more={"env": {"MAX_STOP_BLOCKS": "5"}},
         fields={"it": CLAUDE["stop"]["payload"]}, check=told_the_session,
         variables={CLAUDE["variables"]["project"]: "{place.project}", "MAX_STOP_BLOCKS": "5"}),
    Fact("context at a stop sends the agent on and counts for the cap", requests=CAP + 1,
         hooks={"Stop": [probe("it", context("Stop", "more"))]}, flags="F" + "T" * CAP,
         check=lambda came: (came.run.result, came.run.was_overridden) == ("done", True)),
    Fact("a subagent fires its own event and not stop", {"Stop": [probe("stop")], "SubagentStop": [probe("sub")]},
         more={"permissions": {"allow": ["Task", "Agent"]}}, requests=2, heard={"stop": 1, "sub": 1},
         replies=Script([claude.subagent("MARKER"), "done"], sub_marker="MARKER"),
         fields={"sub": CLAUDE["subagent_stop"]["payload"]}, check=lambda came: came.run.count("sub") == 1),
    Fact("the shell commands of a skill ask an event of their own", prompts=["/make first", "/make second"],
         hooks={"PreSkillShellCommand": [probe("it", "", json.dumps({"hookSpecificOutput": NO_SKILL}), matcher="Bash")],
                "PreToolUse": [probe("unasked")]},
         texts={"project/.claude/commands/make.md": "---\nallowed-tools: Bash(touch:*)\n---\n!`touch $ARGUMENTS`\n"},
         heard={"it": 2, "unasked": 0}, check=lambda came: came.made() == ["first"]
         and [asked["tool_input"]["command"] for asked in came.payloads()] == ["touch first", "touch second"]),
]  # fmt: skip


# Codex

CODEX_TOLD = "Command blocked by PreToolUse hook: no."
ENDS = {  # how a hook that lets the turn end has ended itself
    say(): "Completed", say("{}"): "Completed", GUARDED.format("/nowhere/hook.py"): "Completed",
    say('{"systemMessage": "let go"}'): "Completed", say(verdict("block", more=1)): "Failed",
    say(verdict("block", "")): "Failed", say(verdict("deny")): "Failed", say("noise\n" + BLOCK): "Failed",
    say("text"): "Failed", say(BLOCK, code=1): "Failed", say(BLOCK, code=3): "Failed", say(code=2): "Failed",
    say(code=1, errors="on"): "Failed", say(code=127, errors="on"): "Failed",
}  # fmt: skip
LOST = {
    "a comment": lambda text: "// mine\n" + text,
    "a byte order mark": lambda text: "\ufeff" + text,
    "a trailing comma": lambda text: text[:-1] + ",}",
    "a timeout that is a string": lambda text: text.replace('"command":', '"timeout": "10", "command":'),
    "nothing": lambda text: "",
    "a root key": lambda text: text.replace("{", '{"$schema": "x", ', 1),
}


def refused_by_codex(run: Any) -> list[str]:
    """What the model was told of the first three calls, as far as it is ours."""
    outputs = [item["output"] for item in run.log[-1].request.body["input"] if "output" in item]
    return [output[: len(CODEX_TOLD)] for output in outputs[:3]]


def lists_both_files(came: Came) -> bool:
    names = [Path(hook.key.partition(":")[0]).name for hook in codex.list_hooks(came.client, came.place)]
    return names == ["hooks.json", "config.toml"]


def starts_where_the_session_began(came: Came) -> bool:
    """Whichever folder's file has the hook."""
    heard = [came.probes[name].heard()[0] for name in ("root", "sub")]
    places = {call.environment["PWD"] for call in heard} | {call.payload["cwd"] for call in heard}
    return places == {str(came.place.project / "sub")}


def lists_those_of_the_start_folder(came: Came) -> bool:
    below = came.place.project / "sub"
    below.mkdir()
    return [len(codex.list_hooks(came.client, came.place, folder)) for folder in (None, below)] == [1, 0]


OF_PROJECT = {"project/.codex/hooks.json": STOP}
CODEX_CONFIG = "home/.codex/config.toml"
TRUSTED = '[projects."{place.project}"]\ntrust_level = "trusted"\n'
IN_TOML = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "@there"\n'
CODEXES = [
    Fact("nothing caps a hook's blocks", {"Stop": [probe("it", *[BLOCK] * 30, "")]}, options=(codex.BYPASS,),
         replies=Script(["done"], limit=40), requests=31, flags="F" + "T" * 30, distinct={"turn_id": 1}),
    Fact("a tool call leaves the flag and the turn as they were", {"Stop": [probe("it", BLOCK, BLOCK, "")]},
         replies=["one", codex.shell("true 1"), "two", "three"], options=(codex.BYPASS, codex.YOLO), requests=4,
         flags="FTT", distinct={"turn_id": 1}),
    # In `codex exec` nobody gets to read a hook's message.
    facts.passes("Stop", [*ENDS], options=(codex.BYPASS,), out="done\n", unsaid=["let go"],
                 check=lambda came: came.run.hooks("Stop") == list(ENDS.values())),
    facts.blocks_for_ever("Stop", "exit code 2 with a reason on stderr blocks", say(code=2, errors="go on"),
                          codex.BYPASS),
    facts.blocks_for_ever("Stop", "a program that is gone blocks", GONE, codex.BYPASS),
    Fact("a hook that ends the turn beats another hook's block", {"Stop": [say(BLOCK), say(END)]}, requests=1,
         options=(codex.BYPASS,), out="done\n", check=lambda came: came.run.hooks("Stop") == ["Blocked", "Stopped"]),
    facts.times_out("Stop", [{"timeout": 1}], {"timeout": 30}, options=(codex.BYPASS,)),
    Fact("the same command twice runs twice", {"Stop": [probe(), probe()]}, options=(codex.BYPASS,), flags="FF"),
    facts.refuses("PreToolUse", codex.shell, [say(NESTED), say(verdict("block", "no")), say(code=2, errors="no")],
                  [say(NESTED.replace("{", '{"more": 1, ', 1)), say(FLAT), say(verdict("deny", "no"))],
                  refused_by_codex, CODEX_TOLD, options=(codex.BYPASS, codex.YOLO)),
    *(Fact(f"{name} loses all hooks of the file", STOP, text=text, options=(codex.BYPASS,), requests=1, heard=0)
      for name, text in LOST.items()),
    Fact("a config.toml that cannot be read keeps it from starting", texts={CODEX_CONFIG: "[hooks\n"}, requests=0,
         code=1),
    Fact("hooks of both files of a folder are merged with a warning", {"Stop": [probe("here")]},
         texts={CODEX_CONFIG: IN_TOML}, options=(codex.BYPASS,), flags={"here": "F", "there": "F"},
         said=["prefer a single representation"], check=lists_both_files),
    # Project hooks
    Fact("those of all folders from the repository's root down to the start folder count", cwd="project/sub",
         files={f"project/{folder}.codex/hooks.json": {"Stop": [probe(name)]}
                for name, folder in {"root": "", "sub": "sub/", "deep": "sub/deep/"}.items()},
         texts={CODEX_CONFIG: TRUSTED}, options=(codex.BYPASS,), flags={"root": "F", "sub": "F", "deep": ""},
         check=starts_where_the_session_began),
    Fact("outside a repository only the start folder's hooks count", files=OF_PROJECT, texts={CODEX_CONFIG: TRUSTED},
         prepare=lambda place: (place.project / ".git" / "HEAD").unlink(), options=(codex.BYPASS,),
         check=lists_those_of_the_start_folder),
    Fact("hooks of a project that nobody trusts do not run", files=OF_PROJECT, options=(codex.BYPASS,), requests=1,
         heard=0, said=["Untrusted project-local configuration is disabled"]),
    Fact("the option trusts a project and writes it down", files=OF_PROJECT, options=(codex.BYPASS, "--trust"),
         flags="F", check=lambda came: came.place.config.read_text()
         == TRUSTED.replace("{place.project}", str(came.place.project))),
]  # fmt: skip


def write_for_copilot(path: Path, events: Entries, more: Mapping[str, Any]) -> None:
    if path.parent.name == ".claude":
        return facts.claude_like()(path, events, more)
    entries = {event: [copilot_entry(hook, **fields) for hook, fields in hooks] for event, hooks in events.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"version": 1, "hooks": entries}))


def copilot_entry(hook: str, **more: Any) -> dict[str, Any]:
    fields = {"timeoutSec": 10, **more}
    return handler(hook, **{name: value for name, value in fields.items() if value is not None})


def tells_an_error(came: Came) -> bool:
    failed, ended = came.payloads("failed")[0], came.payloads("ended")[0]
    assert (failed["toolName"], type(failed["error"])) == ("view", str)
    assert (ended["toolName"], ended["toolResult"]["resultType"]) == ("bash", "success")
    return came.told("AFTER-FAILURE")


def are_told_their_own_folder(came: Came) -> bool:
    folders = {"root": came.place.project, "it": came.place.project / "sub"}
    heard = [(name, call) for name, probe in came.probes.items() for call in probe.heard()]
    return all(call.environment[NAMES["project"]] == str(folders[name]) for name, call in heard)


def lose_their_own_file(came: Came) -> bool:
    """A hook in each of these runs but in the one without a change."""
    return [name for name, probe in came.probes.items() if probe.heard()] == ["nochange"]


COPILOT = PINS["copilot"]
COPILOTS_CAP, NAMES = COPILOT["cap"]["default"], COPILOT["variables"]
EVERYTHING = {"COPILOT_ALLOW_ALL": "true"}
HOOKS_FILE = ".github/hooks/hookctl.json"
STOPPED, STOPPING = {"agentStop": [probe()]}, {"agentStop": [probe("it", BLOCK)]}
SHELL_TOOL = COPILOT["shell_tool"]
ENTRY = json.dumps({"hooks": {"agentStop": [copilot_entry("@NAME")]}, "version": 1})
IN_COPILOT = {
    "comment": "// mine\n" + ENTRY, "mark": "\ufeff" + ENTRY, "comma": ENTRY[:-1] + ",}", "nothing": "",
    "version2": ENTRY.replace('"version": 1', '"version": 2'), "switch": ENTRY[:-1] + ', "disableAllHooks": true}',
    "text": ENTRY.replace('"timeoutSec": 10', '"timeoutSec": "10"'), "nochange": ENTRY,
}  # fmt: skip
COPILOTS = [
    Fact("8 blocks in a row are honoured and the 9th is overridden", STOPPING,
         environment=dict.fromkeys(("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "COPILOT_STOP_HOOK_BLOCK_CAP"), "20"),
         requests=COPILOTS_CAP + 1, flags="F" + "T" * COPILOTS_CAP),
    Fact("a tool call leaves the cap's count and the flag as they were", STOPPING,
         replies=Script([reply for n in range(9) for reply in (f"text {n}", copilot.shell(f"true {n}"))], limit=30),
         requests=2 * COPILOTS_CAP + 1, flags="F" + "T" * COPILOTS_CAP),
    facts.blocks("agentStop", say(BLOCK), say(BOTH), say(BLOCK, code=2), unsaid=["let go"]),
    # Nobody gets to read a message that a hook has for a person.
    facts.passes("agentStop", [*UNDECIDED, say(END), say("text"), say(BLOCK + "\nnoise"), say(verdict("deny")),
                               say(verdict("block", "")), say(NESTED_STOP), say(BLOCK, code=1), say(BLOCK, code=3),
                               say(code=2, errors="on"), GONE, "/nowhere/hook"],
                 out="done\n\n", unsaid=["let go", "enough"]),
    # It has two names.
    facts.times_out("agentStop", [{"timeoutSec": 1}, {"timeoutSec": None, "timeout": 1}], {"timeoutSec": 30}),
    facts.refuses("preToolUse", copilot.shell,
                  [say(FLAT), say(code=2, errors="no"), say(code=1), GONE, "/nowhere/hook"],
                  [say(NESTED), say(verdict("block")), say(verdict("deny")), say("noise\n" + FLAT),
                   GUARDED.format("/nowhere/hook.py")],
                  lambda run: run.told("tool")[:1], "Denied by preToolUse hook: no"),
    Fact("a key with a capital letter takes both forms of a refusal", {"PreToolUse": [(say(NESTED), say(FLAT))]},
         replies=[*(copilot.shell(f"echo > {number}") for number in range(3)), "done"],
         check=lambda came: came.made() == ["2"]),
    Fact("an event of another spelling is none",
         {"AgentStop": [probe()], "stop": [probe()], "UserPromptSubmitted": [probe()]}, requests=1, heard=0),
    # Its keys are kept from hooks, and the session is told in the payload alone.
    Fact("hooks get the entry's own environment as it stands and tools the session",
         {"agentStop": [probe("it", env={"MAX_STOP_BLOCKS": "5", "LITERAL": "in $HOME"})]},
         replies=[copilot.shell(f"printenv {NAMES['session']} > session"), "done"],
         environment={"OF_THE_CLIENT": "1", "GITHUB_TOKEN": "made-up"},
         variables={"MAX_STOP_BLOCKS": "5", "LITERAL": "in $HOME", "OF_THE_CLIENT": "1", NAMES["itself"]: "1",
                    NAMES["project"]: "{place.project}", "GITHUB_TOKEN": None, "COPILOT_PROVIDER_API_KEY": None,
                    NAMES["session"]: None},
         check=lambda came: (came.place.project / "session").read_text().strip()
         == came.payloads()[0]["sessionId"]),
    # The spelling of an event's key decides how its payload is spelled.
    Fact("a payload of capital letters", {"PreToolUse": [probe()]}, replies=[copilot.shell("true 1"), "done"],
         check=lambda came: came.payloads()[0]["tool_name"] == SHELL_TOOL["hook_name"]),
    Fact("a payload of small letters", {"preToolUse": [probe()]}, replies=[copilot.shell("true 1"), "done"],
         check=lambda came: came.payloads()[0]["toolName"] == SHELL_TOOL["tool"]),
    Fact("the same command in two files runs twice and is told the same", options=(copilot.TRUST,), requests=3,
         files={f"project/{file}": {"Stop": [probe("it", *[BLOCK] * 4, "")]}
                for file in (HOOKS_FILE, ".claude/settings.json")},
         flags="FFTTTT", check=lambda came: came.payloads()[::2] == came.payloads()[1::2]),
    # Below a repository's root the way of trusting decides which folder's hooks run.
    *(Fact(f"{name} runs the hooks of {' and '.join(heard)}", cwd="project/sub", options=options, environment=trust,
           files={f"project/{HOOKS_FILE}": {"agentStop": [probe("root")]},
                  f"project/sub/{HOOKS_FILE}": {"agentStop": [probe("it")]}},
           heard={"root": 0, "it": 0, **heard}, check=are_told_their_own_folder)
      for name, options, trust, heard in (("the option", (copilot.TRUST,), {}, {"it": 1}),
                                          ("the variable", (), EVERYTHING, {"root": 1}))),
    Fact("these lose the hooks of their own file alone", requests=1, check=lose_their_own_file,
         files={f"home/.copilot/hooks/{name}.json": {"agentStop": [probe(name)]} for name in IN_COPILOT},
         texts={f"home/.copilot/hooks/{name}.json": text.replace("@NAME", f"@{name}")
                for name, text in IN_COPILOT.items()}),
    Fact("unknown keys and a missing version or type do no harm", STOPPED, flags="F", text=lambda text:
         text.replace('"version": 1', '"mine": 1').replace('"type": "command"', '"name": "mine"')),
    Fact("a failed tool has an event of its own but a failed shell command has not",
         {"postToolUseFailure": [probe("failed", json.dumps({"additionalContext": "AFTER-FAILURE"}))],
          "postToolUse": [probe("ended")]}, environment=EVERYTHING, heard={"failed": 1, "ended": 1},
         replies=lambda place: [Call("view", {"path": f"{place.project}/gone"}), copilot.shell("exit 3"), "done"],
         check=tells_an_error),
]  # fmt: skip


def write_for_droid(path: Path, events: Entries, more: Mapping[str, Any]) -> None:
    """Write settings, or a hooks.json: there the events stand at the root."""
    facts.claude_like()(path, events, more)
    if path.name == "hooks.json":
        path.write_text(json.dumps(json.loads(path.read_text())["hooks"]))


def with_event(event: str, value: Any) -> Callable[[str], str]:
    """The settings' text with one more key among the events."""
    return lambda text: text.replace('"hooks": {', f'"hooks": {{"{event}": {json.dumps(value)}, ', 1)


def with_entry(entry: Any) -> Callable[[str], str]:
    return with_event("SessionStart", [entry])


DROIDS_HOME, DROIDS_PROJECT = PINS["droid"]["variables"]["home"], PINS["droid"]["variables"]["project"]
HIDES = {  # what a hooks.json says, and whose hooks run then
    "the event": (stop_group("@hooks"), ["hooks"]),
    "no hook of the event": ({"Stop": []}, []),
    "another event": ({"SessionStart": [group("@hooks")]}, ["settings", "hooks"]),
    "wrapped": ({"hooks": stop_group("@hooks")}, ["settings"]),
    "wrapped, too": ({"hooks": {"Stop": []}, **stop_group("@hooks")}, ["hooks"]),
    "nothing": ({}, ["settings"]),
    "one bad entry": ({**stop_group("@hooks"), "SessionEnd": [{"type": "command", "command": "true"}]}, ["settings"]),
}
DROIDS = [
    Fact("nothing caps blocks and a tool call leaves the flag set", {"Stop": [probe("it", *[BLOCK] * 25, "")]},
         replies=Script(["one", droid.shell("true 1"), "two"], limit=40), requests=27, flags="F" + "T" * 25,
         out="two\n", distinct={"message_id": 26, "session_id": 1}),  # no field names the turn, but the reply
    facts.blocks("Stop", say(BLOCK), say(BOTH), say(BLOCK, code=1), say(BLOCK, code=3), say(code=2),
                 say(code=2, errors="on"), GONE, out="done\n"),
    # Nobody gets to read a message that a hook has for a person.
    facts.passes("Stop", [*UNDECIDED, say(END), say("text"), say(BLOCK + "\nnoise"), say(verdict("deny")),
                          say(verdict("block", "")), say(code=1, errors="on"), "/nowhere/hook"],
                 out="done\n", check=Came.silent),
    facts.times_out("Stop", [{"timeout": 1}], {"timeout": 30}),
    Fact("all hooks of an event run and any block counts",
         {"Stop": [probe("first", BLOCK, ""), probe("second"), probe("second")]},
         requests=2, flags={"first": "FT", "second": "FFTT"}),
    facts.refuses("PreToolUse", droid.shell, [say(NESTED), say(NESTED, code=1), say(code=2, errors="no"), GONE],
                  [say(FLAT), say(verdict("block")), say(verdict("deny")), say("noise\n" + NESTED),
                   say(code=1, errors="no"), "/nowhere/hook", GUARDED.format("/nowhere/hook.py")],
                  lambda run: run.told("tool")[:3], "Error: no"),
    # Files
    Fact("user and project settings are read and no others", {"Stop": [probe("user")]},
         files={"project/.factory/settings.json": {"Stop": [probe("project")]},
                "project/.factory/settings.local.json": {"Stop": [probe("local")]},
                "project/.claude/settings.json": {"Stop": [probe("claude")]}},
         heard={"user": 1, "project": 1, "local": 0, "claude": 0}),
    Fact("hooks.json hides nothing of the other scope", {"Stop": [probe("user")]},
         files={"project/.factory/settings.json": {"Stop": [probe("hidden")]},
                "project/.factory/hooks.json": {"Stop": [probe("project")]}},
         heard={"user": 1, "project": 1, "hidden": 0}),
    *(Fact(f"hooks.json beside the settings: {name}", {"Stop": [probe("settings")]},
           texts={"home/.factory/hooks.json": json.dumps(hooks)},
           check=lambda came, seen=seen: [name for name, probe in came.probes.items() if probe.heard()] == seen)
      for name, (hooks, seen) in HIDES.items()),
    Fact("the home variable replaces the home", STOP, flags="F",  # the model's address lies in the home, too
         environment={DROIDS_HOME: "{place.home}", "HOME": "{place.tmp}"}),
    Fact("a timeout as text loses all hooks", STOP, text=with_entry(group("true", timeout="10")), heard=0),
    Fact("an unknown type loses all hooks", STOP, heard=0,
         text=with_entry({"hooks": [{"type": "http", "url": "http://127.0.0.1:9"}]})),
    Fact("an entry in no group loses all hooks", STOP, text=with_entry(handler("true")), heard=0),
    Fact("comments, unknown events and unknown keys are read", {"Stop": [probe("it", BLOCK, "", name="mine")]},
         more={"mine": 1}, requests=2, flags="FT", keeps=True,
         text=lambda text: f"// mine\n{with_event('importedClaudeHooks', ['a'])(with_event('U', [])(text))}/**/\n\n"),
    Fact("a trailing comma loses all hooks", STOP, text=lambda text: text[:-1] + ",}", requests=1, heard=0),
    Fact("a byte order mark loses all hooks", STOP, text=lambda text: "\ufeff" + text, requests=1, heard=0),
    Fact("a file that is cut off loses all hooks", STOP, text=lambda text: text[:-1], requests=1, heard=0),
    Fact("the switch in general settings turns nothing off", STOP, more={"enableHooks": False}, flags="F"),
    Fact("below a folder that is no repository's root its settings do not count", cwd="project/sub", heard=0,
         files={"project/.factory/settings.json": STOP}),
    Fact("a repository's root is the project and the variable is the start folder", cwd="project/sub", heard=1,
         files={"project/.factory/settings.json": STOP}, prepare=start_git,
         variables={DROIDS_PROJECT: "{place.project}/sub"}),
]  # fmt: skip


# Gemini CLI

GEMINI = PINS["gemini"]["variables"]
UNTRUSTED = dict.fromkeys(gemini.TRUST, "")
AFTER, GEMINI_TOLD = {"AfterAgent": [probe()]}, "Tool execution blocked: no"
OF_GEMINIS_PROJECT = {"project/.gemini/settings.json": AFTER}
DETECTED = "project-level hooks have been detected"
BLOCKING = {
    "deny and an unknown key": say(verdict("deny", more=1)), "a block without a reason": say(verdict("block", "")),
    "a block at exit 1": say(BLOCK, code=1), "a block at exit 3": say(BLOCK, code=3),
    "exit 2 with words": say(code=2, errors="on"), "exit 3 with words": say(code=3, errors="on"),
    "exit 127 with words": say(code=127, errors="on"), "a block on stderr": say(errors=BLOCK),
    "a script that is gone": GONE, "a program that is gone": "/nowhere/hook",
}  # fmt: skip
READS = {
    "a comment": (lambda text: "// mine\n" + text, True),
    "an unknown key": (lambda text: text.replace("{", '{"$schema": "x", ', 1), True),
    "a trailing comma": (lambda text: text[:-1] + ",}", False),
    "a byte order mark": (lambda text: "\ufeff" + text, False),
    "nothing": (lambda text: "", False),
}


def refused_by_gemini(run: Any) -> list[str]:
    """The errors of the first three calls, as the model was told them."""
    parts = [part for content in run.log[-1].request.body["contents"] for part in content["parts"]]
    answers = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
    return [answer.get("error") for answer in answers[:3]]


def tools_are_told_neither(came: Came) -> None:
    (heard,) = came.probes["it"].heard()
    assert heard.environment[GEMINI["session"]] == heard.payload["session_id"]
    tools = {line.partition("=")[0] for line in (came.place.project / "environment").read_text().splitlines()}
    assert tools.isdisjoint({GEMINI["session"], GEMINI["project"]}) and "GEMINI_CLI" in tools


def tells_the_error_of_the_first(came: Came) -> bool:
    first, *others = (payload["tool_response"].get("error") for payload in came.payloads())
    return type(first["message"]) is str and others == [None]


GEMINIS = [
    # From some turn on a model is asked whether the agent goes in circles; the server knows these requests.
    Fact("nothing caps a hook's blocks", {"AfterAgent": [probe("it", *[BLOCK] * 30, "")]},
         replies=Script([f"reply {number}" for number in range(32)], limit=40), requests=31, flags="F" + "T" * 30,
         check=lambda came: {entry.kind for entry in came.run.log} <= {"main", "side"}),
    facts.passes("AfterAgent", [*UNDECIDED, say(errors="words"), say(code=2), say(code=1, errors="on"), say(code=3)],
                 out="done\n", said=["Hook system message: ", "let go"]),
    *(facts.blocks_for_ever("AfterAgent", f"{name} blocks", hook) for name, hook in BLOCKING.items()),
    Fact("a hook that ends the turn beats another hook's block", {"AfterAgent": [say(BLOCK), say(END)]}, requests=1,
         out="done\n", said=["Agent execution stopped: enough"]),
    # It is in milliseconds.
    facts.times_out("AfterAgent", [{"timeout": 1000}], {"timeout": 30_000}, said=["Hook timed out after 1000ms"]),
    Fact("the same command under the same name runs once", flags="FF",
         hooks={"AfterAgent": [probe("it", name="one"), probe("it", name="one"), probe("it", name="two")]}),
    facts.refuses("BeforeTool", gemini.shell,
                  [say(verdict("deny", "no")), say(verdict("block", "no", more=1)), say(code=2, errors="no")],
                  [say(json.dumps({"hookSpecificOutput": json.loads(FLAT)}))], refused_by_gemini, GEMINI_TOLD,
                  options=(gemini.YOLO,)),
    *(Fact(f"{name} in the settings {'is read' if reads else 'keeps it from starting'}", AFTER, text=text,
           requests=int(reads), code=0 if reads else PINS["gemini"]["exit"]["settings_broken"])
      for name, (text, reads) in READS.items()),
    Fact("hooks get their own environment, session and project, and tools neither",
         {"AfterAgent": [probe("it", env={"MAX_STOP_BLOCKS": "7"})]}, environment={"MAX_STOP_BLOCKS": "3"},
         replies=[gemini.shell("env > environment"), "done"], options=(gemini.YOLO,),
         variables={"MAX_STOP_BLOCKS": "7", GEMINI["project"]: "{place.project}"}, check=tools_are_told_neither),
    Fact("a user hook needs no more than skip-trust", AFTER, options=(gemini.SKIP,), environment=UNTRUSTED, requests=1,
         flags="F"),
    *(facts.passes(event, [FAILS_OPEN + "/nowhere/hook"], f"a gone program behind the trap lets {event} pass",
                   out="done\n") for event in ("AfterAgent", "BeforeAgent")),
    *(Fact(f"a gone program does not let {event} pass", {event: ["/nowhere/hook"]}, code=None,
           replies=Script(["done"], limit=4), check=lambda came: (came.run.requests, came.run.out) != (1, "done\n"))
      for event in ("AfterAgent", "BeforeAgent")),
    # The client itself puts the project into a command, quoted for the shell.
    *(Fact(f"the project variable {name}", cwd=folder, requests=1, texts={f"{folder}/note.sh": "pwd > ../note"},
           files={f"{folder}/.gemini/settings.json": {"AfterAgent": [
               f"[ -f {variable}/note.sh ] && sh {variable}/note.sh; exit 0"]}},
           check=lambda came, runs=runs: (came.place.root / "note").exists() == runs
           and (not runs or (came.place.root / "note").read_text() == f"{came.place.root}/it's my $HOME\n"))
      for name, variable, folder, runs in (("bare", "$GEMINI_PROJECT_DIR", "it's my $HOME", True),
                                           ("in quotes", '"$GEMINI_PROJECT_DIR"', "my project", False))),
    # Project hooks
    Fact("it does not run in a folder that nobody trusts", files=OF_GEMINIS_PROJECT, environment=UNTRUSTED, requests=0,
         code=PINS["gemini"]["exit"]["not_trusted"]),
    Fact("with skip-trust a project's hooks do not run", files=OF_GEMINIS_PROJECT, environment=UNTRUSTED, requests=1,
         options=(gemini.SKIP,), heard=0),
    Fact("in a trusted folder a project's hooks run and are named the first time", files=OF_GEMINIS_PROJECT,
         texts={"home/.gemini/trustedFolders.json": '{"{place.project}": "TRUST_FOLDER"}'}, environment=UNTRUSTED,
         prompts=["one", "two"], flags="FF",
         check=lambda came: [DETECTED in run.errors for run in came.runs] == [True, False]),
    Fact("a failed tool tells its error but a failed shell command does not", {"AfterTool": [probe()]},
         replies=lambda place: [Call("read_file", {"file_path": f"{place.project}/gone"}), gemini.shell("exit 3"),
                                "done"], options=(gemini.YOLO,), check=tells_the_error_of_the_first),
]  # fmt: skip


def grok_flags(probe: Probe) -> str:
    """What each stop of a turn said of being forced: F or T."""
    return "".join("FT"[heard.payload["stopHookActive"]] for heard in probe.heard() if grok.ends_turn(heard.payload))


def one_prompt(came: Came) -> bool:
    return len({payload["promptId"] for payload in came.payloads() if grok.ends_turn(payload)}) == 1


def tools_are_told_the_session_alone(came: Came) -> None:
    for heard in came.probes["it"].heard():
        told = [heard.environment[GROK[name]].rstrip("/") for name in ("session", "itself", "workspace")]
        assert told == [heard.payload["session_id"], heard.payload["hookEventName"], str(came.place.project)]
    tools = (came.place.project / "env").read_text()
    assert f"{GROK['session']}={told[0]}" in tools and GROK["itself"] not in tools


def with_group(text: str) -> Callable[[str], str]:
    """The settings' text with a group of another event."""
    return lambda hooks: hooks.replace('"hooks": {', f'"hooks": {{"PreToolUse": [{text}], ', 1)


GROK, GROKS_CAP = PINS["grok"]["variables"], PINS["grok"]["cap"]["default"]
OTHER_DENY = NESTED.replace("PreToolUse", "Other")
OWN = "home/.grok/hooks/hookctl.json"
GROK_CONFIG = "home/.grok/config.toml"
ANOTHER = {"Stop": [{"hooks": [{"type": "prompt", "prompt": "x"}]}, {"hooks": [{"type": "command"}]},
                    {"more": 1, **group("@it")}], "Nope": [{}]}  # fmt: skip
SWITCHES = (  # a section and its switch, a file that counts then, and the variable that goes before it
    ("compat.claude", "hooks", "home/.claude/settings.json", "GROK_CLAUDE_HOOKS_ENABLED"),
    ("compat.cursor", "hooks", "home/.cursor/hooks.json", "GROK_CURSOR_HOOKS_ENABLED"),
    ("folder_trust", "enabled", "project/.grok/hooks/own.json", "GROK_FOLDER_TRUST"),
)
SWITCHED = (("true", "x", True), ("true", " Off ", False), ("true", "1", True),
            ("false", "x", False), ("false", " Off ", False), ("false", "1", True))  # fmt: skip
GROKS = [
    Fact("8 stops of a turn are asked about and the 9th is not", {"Stop": [probe("it", BLOCK)]}, options=(grok.YOLO,),
         replies=Script([reply for n in range(12) for reply in (grok.shell(f"true {n}"), f"text {n}")], limit=40),
         requests=2 * (GROKS_CAP + 1), flags="F" + "T" * (GROKS_CAP - 1), check=one_prompt),
    facts.blocks("Stop", *(say(BLOCK, code=code) for code in (0, 1, 3, 127)), say(code=2, errors="on"),
                 say(verdict("block", "")), check=lambda came: "Stop hook feedback:\n- on\n" in came.run.told("user")),
    # Nobody gets to read a message that a hook has for a person.
    facts.passes("Stop", [*UNDECIDED, say(END), say("text"), say(verdict("deny")), say(NESTED_STOP), "/nowhere/hook"],
                 out="done\n", unsaid=["let go"]),
    Fact("the end of a turn beats the block of another hook", {"Stop": [say(BLOCK), say(END)]}, requests=1),
    facts.times_out("Stop", [{"timeout": 1}], {"timeout": 30}),
    facts.refuses("PreToolUse", grok.shell,
                  [say(NESTED), say(verdict("deny", "no")), say(verdict("block", "no")), say(code=2, errors="no"),
                   say(verdict("deny", "no"), code=1), say(NESTED, code=127), say(OTHER_DENY)],
                  [say(code=1, errors="no"), say(END), say("text"), "/nowhere/hook"],
                  lambda run: [told for told in run.told("tool") if told.startswith("Hook denied")],
                  "Hook denied: no", options=(grok.YOLO,)),
    Fact("one refusal is enough and the hooks behind it are not asked", {"PreToolUse": [say(NESTED), probe()]},
         replies=[grok.shell("true"), "done"], options=(grok.YOLO,), heard=0),
    Fact("a hook is told the session, itself and the project, and a tool the session alone",
         {event: [probe()] for event in ("UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")},
         options=(grok.YOLO,), replies=[grok.shell("env > env"), "done"], check=tools_are_told_the_session_alone),
    *(Fact(f"the matcher {matcher!r} {'fits' if fits else 'does not fit'}", {"PreToolUse": [probe(matcher=matcher)]},
           replies=[grok.shell("true"), "done"], options=(grok.YOLO,), heard=int(fits))
      for matcher, fits in OF_SHELL["grok"].items()),
    # Which files count
    Fact("every file in the folder counts and config.toml too", {"Stop": [probe("first")]},
         files={"home/.grok/hooks/other.json": {"Stop": [probe("second"), probe("third")]}},
         texts={"home/.grok/hooks/other.json": in_file(stop_group("@second")), GROK_CONFIG: grok.MORE
                + '[[hooks.Stop]]\nhooks = [{type = "command", command = "@third"}]\n'},
         flags={"first": "F", "second": "F", "third": "F"}),
    Fact("one command runs once from however many files", STOP, flags="F",
         files={"home/.claude/settings.json": {"Stop": [probe("it", timeout=7)]}}),
    Fact("a comment costs the whole file", STOP, text=lambda text: f"// a comment\n{text}", heard=0,
         check=Came.silent),
    Fact("a byte order mark costs the whole file", STOP, text=lambda text: f"\ufeff{text}", heard=0,
         check=Came.silent),
    Fact("a group without hooks costs the whole file", STOP, text=with_group('{"matcher": "x"}'), heard=0,
         check=Came.silent),
    Fact("a timeout that is not whole costs the whole file", STOP, heard=0, check=Came.silent,
         text=with_group('{"hooks": [{"type": "command", "command": "true", "timeout": 5.5}]}')),
    Fact("what costs only itself", STOP, texts={OWN: in_file(ANOTHER)}, flags="F"),
    Fact("Cursor's file counts", files={"home/.cursor/hooks.json": {"stop": [probe()]}}, flags="F"),
    Fact("Cursor's file does not count with a hook that stands in no group", heard=0,
         texts={"home/.cursor/hooks.json": in_file({"stop": [group("@it")], "preToolUse": [handler("true")]})}),
    Fact("a command with a variable that is not set never runs", flags={"kept": "F"}, heard={"lost": 0},
         texts={OWN: in_file({"Stop": [
             group("x=1; echo $x; @kept"), group("echo '$NOT_SET'; @lost")]})}),
    # A variable with a word for yes or no goes before a switch; trust that is on keeps a project's hook from running.
    *(Fact(f"{section} is {value} and the variable {word!r}", environment={off: word}, files={file: STOP},
           texts={GROK_CONFIG: f"{grok.MORE}[{section}]\n{name} = {value}\n"},
           check=lambda came, runs=(is_on == (section != "folder_trust")): bool(came.payloads()) == runs)
      for section, name, file, off in SWITCHES for value, word, is_on in SWITCHED),
]  # fmt: skip


# Qwen Code

QWENS_CAP, EXIT = PINS["qwen"]["cap"], PINS["qwen"]["exit"]
CAP_KEY, CAP_SETTING, QWENS = QWENS_CAP["key"], QWENS_CAP["setting"], QWENS_CAP["default"]
ONE_BY_ONE = {**qwen.BASE, "security": {**qwen.BASE["security"], "folderTrust": {"enabled": True}}}
TRUSTS = {"home/.qwen/trustedFolders.json": '{"{place.project}": "TRUST_FOLDER"}'}
QWEN = [
    Fact("of 8 blocks in a row the last one is overridden and the reply kept", BLOCKED, requests=QWENS,
         flags="F" + "T" * (QWENS - 1), distinct={"prompt_id": 1}, said=[QWENS_CAP["said"].format(QWENS)],
         out="done" * QWENS + "\n"),
    *(Fact(f"of the variable {variable} and the setting {setting} the variable counts, and is all that a hook sees",
           BLOCKED, requests=blocks, variables={CAP_KEY: variable},
           more={"env": {CAP_KEY: variable} if variable else {}, **({CAP_SETTING: setting} if setting else {})})
      for variable, setting, blocks in ((None, 3, 3), ("3", 5, 3), ("0", None, QWENS), ("abc", None, QWENS))),
    Fact("no cap is above 100", {"Stop": [say(BLOCK)]}, more={"env": {CAP_KEY: "5000"}}, timeout=180,
         replies=Script(["done"], limit=QWENS_CAP["most"] + 5), requests=QWENS_CAP["most"]),
    Fact("a tool call leaves the cap's count, the flag and the prompt as they were", BLOCKED, options=(qwen.YOLO,),
         more={CAP_SETTING: 3}, requests=5, flags="FTT", distinct={"prompt_id": 1},
         replies=["one", qwen.shell("true 1"), "two", qwen.shell("true 2"), "three", "four"]),
    facts.blocks("Stop", say(verdict("block", more=1)), say(verdict("deny")), say(verdict("block", "")), say(END),
                 say(BLOCK, code=1), say(code=2, errors="on"), GONE),
    facts.passes("Stop", [*UNDECIDED, say("text"), say(code=2), say(code=1, errors="on"), say(code=3, errors="on"),
                          "/nowhere/hook"], out="done\n"),
    Fact("of several messages a person gets to read the last", {"Stop": [say("text"), say(SPEAK), say()]}, requests=1,
         unsaid=["\ntext\n"], check=lambda came: came.run.errors.endswith("\nlet go\n")),
    # Below 1000 it is in seconds, any other in milliseconds.
    facts.times_out("Stop", [{"timeout": 1}, {"timeout": 1000}], {"timeout": 999}),
    facts.refuses("PreToolUse", qwen.shell,
                  [say(NESTED), say(verdict("block", "no")), say(verdict("deny", "no")), say(code=2, errors="no"),
                   GONE], [say(FLAT), say(code=2), say(code=1, errors="no"), GUARDED.format("/nowhere/hook.py")],
                  lambda run: [content[0]["text"] for content in run.told("tool")[:4]], "no", options=(qwen.YOLO,)),
    # Files
    Fact("user and project hooks run and the same command once", {"Stop": [probe("user"), probe("both")]},
         files={"project/.qwen/settings.json": {"Stop": [probe("project"), probe("both", timeout=9)]}},
         flags={"user": "F", "project": "F", "both": "F"}),
    *(Fact(f"where folders are trusted one by one a project's hooks run: {runs}", {"Stop": [probe("user")]},
           more=ONE_BY_ONE, files={"project/.qwen/settings.json": STOP}, texts=texts,
           flags={"user": "F", "it": "F" * runs})
      for runs, texts in ((False, {}), (True, TRUSTS))),
    Fact("variables in any string of the settings are replaced when they are loaded",
         {"Stop": [probe("it", env={"OWN": "in ${HOME}"})]},
         more={"env": {"KNOWN": "in $HOME", "UNKNOWN": "in $NOWHERE"}},
         variables={"KNOWN": "in {place.home}", "UNKNOWN": "in $NOWHERE", "OWN": "in {place.home}"}),
    Fact("comments and a byte order mark are read", {"Stop": [probe("it", BLOCK, "")]}, requests=2, flags="FT",
         text=lambda text: f"\ufeff// mine\n{text}/* too */\n\n", keeps=True),
    Fact("a trailing comma keeps it from starting", STOP, text=lambda text: text[:-1] + ",}", requests=0,
         code=EXIT["settings_broken"], check=lambda came: came.place.settings.read_bytes()
         == came.place.settings.with_name("settings.json.corrupted").read_bytes()),
    Fact("context after a failed tool reaches the model", options=(qwen.YOLO,), heard={"failed": 1, "ended": 1},
         hooks={"PostToolUseFailure": [probe("failed", context("PostToolUseFailure", "AFTER-FAILURE"))],
                "PostToolUse": [probe("ended")]},
         replies=lambda place: [Call("read_file", {"file_path": f"{place.project}/gone"}), qwen.shell("true"), "done"],
         check=lambda came: came.payloads("failed")[0]["tool_name"] == "read_file" and came.told("AFTER-FAILURE")),
]  # fmt: skip


HOSTS = {
    "claude": facts.Host(claude, facts.claude_like(), CLAUDES),
    "codex": facts.Host(codex, facts.claude_like(), CODEXES),
    "copilot": facts.Host(copilot, write_for_copilot, COPILOTS),
    "droid": facts.Host(droid, write_for_droid, DROIDS),
    "gemini": facts.Host(gemini, facts.claude_like(gemini.BASE), GEMINIS),
    "grok": facts.Host(grok, facts.claude_like(), GROKS, grok_flags),
    "qwen": facts.Host(qwen, facts.claude_like(qwen.BASE), QWEN),
}


@facts.table(HOSTS)
def test_fact(client: Client, tmp_path: Path, host: str, fact: Fact) -> None:
    facts.play(HOSTS[host], client, HOSTS[host].driver.Place.make(tmp_path / "place"), fact)


# What every client does in its own words: its version, one request without a hook, its folders and its sessions.

DRIVERS = {case.host: case.driver for case in everywhere.CASES}


class Words(NamedTuple):
    """How one client says what these tests ask for."""

    moved_file: str = ""  # the settings file in the folder that the variable names
    resume: tuple[str, ...] = ()  # goes on with the last session
    turn: str = ""  # the field that tells a new prompt


WORDS = {
    "claude": Words("settings.json", ("--continue",), "prompt_id"),
    "codex": Words("hooks.json", ("resume", "--last", "go on"), "turn_id"),
    "gemini": Words(".gemini/settings.json", ("--resume", "latest"), "prompt"),
    "qwen": Words("settings.json", ("--continue",), "prompt_id"),
    "copilot": Words("hooks/operators.json"),
}


class Host:
    """One client in a place of its own."""

    def __init__(self, name: str, client: Client, place: Place) -> None:
        self.name, self.client, self.place = name, client, place
        self.words = WORDS.get(name, Words())
        cases = {case.scope: case for case in acceptance.CASES if case.host == name and not case.home_file}
        self.case, self.projects = cases.get("user"), cases.get("project")
        self.options = self.projects.arguments if self.projects else ()

    def register(self, path: Any, hook: Probe | str) -> None:
        """Write the operator's settings with one stop hook."""
        command = hook if isinstance(hook, str) else hook.command
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(acceptance.operators_file(self.case.file, command))

    def play(self, *arguments: str, reply: str = "done", **options: Any) -> Any:
        return DRIVERS[self.name].play(self.client, self.place, [reply], *arguments, *self.options, **options)


def run_with(*names: str) -> pytest.MarkDecorator:
    """Run a test with these clients."""
    return pytest.mark.parametrize("host", names)


@pytest.fixture
def own(client: Client, host: str, tmp_path: Any) -> Host:
    return Host(host, client, DRIVERS[host].Place.make(tmp_path / "place"))


ALL = [name for name in DRIVERS if name != "openhands"]  # which is no program


@run_with(*ALL)
def test_the_client_is_the_pinned_version(own: Host) -> None:
    environment = {**own.place.environment(), "XDG_CACHE_HOME": str(own.client.program.parent / "unpacked")}
    done = subprocess.run(
        [*own.client.command, "--version"], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert own.client.version in done.stdout


@run_with(*(name for name in ALL if name not in ("opencode", "grok")))
def test_without_a_hook_the_model_is_asked_once(own: Host) -> None:
    files = [own.place.settings, *([own.place.config] if isinstance(own.place, codex.Place) else [])]
    before = [path.read_bytes() if path.exists() else None for path in files]
    run = own.play()
    assert (run.requests, run.code) == (1, 0)
    assert "done" in run.out
    beside = {entry.request.path for entry in run.log if entry.kind != "main"}
    assert beside <= {"/api/v1/models"}, "there is side traffic that the server does not know"
    assert [path.read_bytes() if path.exists() else None for path in files] == before


@run_with("codex", "gemini", "qwen", "copilot", "droid")
def test_the_model_is_told_the_reason_of_a_block(own: Host) -> None:
    own.register(own.place.settings, make_probe(own.place.root, answers=(BLOCK, "")))
    run = own.play()
    assert run.requests == 2
    assert json.loads(BLOCK)["reason"] in json.dumps(run.log[-1].request.body)


@run_with(*WORDS)
def test_the_config_folder_variable_replaces_the_one_in_the_home(own: Host) -> None:
    usual, moved = make_probe(own.place.root, "usual"), make_probe(own.place.root, "moved")
    folder = own.place.home / "elsewhere"
    own.register(own.place.settings, usual)
    own.register(folder / own.words.moved_file, moved)
    environment = {own.client.pins["variables"]["config_folder"]: str(folder)}
    assert own.play(environment=environment).requests == 1
    assert (usual.flags(), moved.flags()) == ("", "F")


@run_with("claude", "gemini", "qwen")
def test_settings_of_a_folder_above_the_start_folder_are_not_read(own: Host) -> None:
    probe, project = make_probe(own.place.root), own.place.project
    own.register(own.projects.settings(own.place), probe)
    (project / ".git").mkdir()
    (project / "sub").mkdir()
    assert own.play(cwd=project / "sub").requests == 1
    assert probe.flags() == ""


@run_with("claude", "codex", "gemini", "qwen", "copilot", "droid")
def test_a_hook_starts_in_the_folder_that_the_agent_was_started_in(own: Host) -> None:
    probe, start = make_probe(own.place.root), own.place.project / "sub"
    own.register(own.place.settings, "sh ./seen")
    start.mkdir()
    (start / "seen").write_text(probe.command)
    own.play(cwd=start)
    assert probe.flags() == "F"
    assert hosts.load(own.name).environment.starts_there


@run_with("claude", "codex", "gemini", "qwen")
def test_a_resumed_session_keeps_its_id_and_brings_a_new_turn(own: Host) -> None:
    probe = make_probe(own.place.root)
    own.register(own.place.settings, probe)
    own.play(reply="one")
    # Codex has the prompt among the words that resume a session.
    own.play(*own.words.resume, reply="two", **({} if "go on" in own.words.resume else {"prompt": "go on"}))
    first, second = (heard.payload for heard in probe.heard())
    assert first["session_id"] == second["session_id"]
    assert first[own.words.turn] != second[own.words.turn]


@run_with("qwen", "copilot", "droid")
def test_the_project_variable_in_quotes_finds_a_file_of_any_project(own: Host) -> None:
    probe, project = make_probe(own.place.root), own.place.root / "a pro'j$ect"
    variable = own.client.pins["variables"]["project"]
    own.register(project / own.projects.project_file, f'"${variable}"/.hookctl/hook')
    program = project / ".hookctl" / "hook"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{probe.command}\n")
    program.chmod(0o755)
    own.play(cwd=project)
    assert probe.flags() == "F"


@run_with("droid")
def test_a_new_prompt_begins_with_a_flag_that_is_not_set_and_has_no_event(own: Host) -> None:
    root = own.place.root
    stop, prompt = make_probe(root, "stop", answers=(BLOCK, "", BLOCK, "")), make_probe(root, "prompt")
    own.place.settings.write_text(in_file({"Stop": [group(stop)], "UserPromptSubmit": [group(prompt)]}))
    run = droid.converse(own.client, own.place, ["done"], "one", "two")
    assert (run.requests, stop.flags(), prompt.heard()) == (4, "FTFT", [])
    assert len({heard.payload["session_id"] for heard in stop.heard()}) == 1
