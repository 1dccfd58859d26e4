"""What the real clients do that hookctl relies on: those with lists of hooks, those with modules. See test_facts.py."""

import json
import shlex
import subprocess
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import matching

from . import facts, hermes, kimi, opencode, openhands, pi, vibe
from .clients import Client, pins_of
from .dialects import Call
from .facts import Came, Entries, Fact, beside, probe
from .hooks import END, FLAT, GUARDED, NESTED, UNDECIDED, group, say, verdict
from .model_server import Script
from .plugins import by_own_means
from .probe import BLOCK, make_probe

pytestmark = [pytest.mark.e2e, pytest.mark.full]

PINS = {name: pins_of(name) for name in ("hermes", "kimi", "openhands", "opencode", "pi", "vibe")}
TEN = Script(["done"], limit=12)
NO = verdict("block", "no")


# Hermes: a turn that writes a file has an end that hooks hear of.
def in_shell(command: str) -> str:
    """The form that hookctl writes for a host that runs no shell."""
    return f"sh -c {shlex.quote(command)}"


def write_for_hermes(path: Path, events: Entries, more: Mapping[str, Any]) -> None:
    """Commands of a probe or of several lines go through a shell."""
    hooks = {event: [{"command": command, **fields} for command, fields in events[event]] for event in events}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(hermes.BASE + yaml.safe_dump({**more, "hooks": hooks}, width=10_000, sort_keys=False))


def turn(place: Any) -> Script:
    """A turn that writes a file, and whose model is done every time it is asked again."""
    return Script([hermes.write_file(place), "done"], limit=12)


def verified(says: str, *hooks: Any, **row: Any) -> Fact:
    row = {"options": (hermes.YOLO, hermes.ACCEPT), "replies": turn, **row}
    return Fact(says, {"pre_verify": hooks, **row.pop("hooks", {})}, timeout=120, **row)


def attempts(came: Came, name: str = "it") -> list[int]:
    return [payload["extra"]["attempt"] for payload in came.payloads(name)]


def is_asked_to_the_cap(came: Came) -> None:
    heard, names = came.probes["first"].heard()[0], HERMES["variables"]
    assert attempts(came, "first") == attempts(came, "second") == list(range(HERMES["cap"]["default"]))
    assert came.run.told("user") == ["begin", *["first"] * HERMES["cap"]["default"]]
    assert came.run.out.endswith("\ndone\n") and "unknown hook event 'Stop'" in came.place.log()
    assert HERMES["consent"]["entry"] == sorted(came.place.approvals()[0])
    assert heard.payload["cwd"] == heard.environment[names["project"]] == str(came.place.project)
    assert heard.payload["session_id"] == heard.environment[names["session"]] != ""
    assert heard.payload["extra"]["changed_paths"] == [str(came.place.project / "made.py")]


def are_looked_for_as_programs(came: Came) -> bool:
    return "No closing quotation" in came.place.log() and came.place.log().count("command not found") == 2


def is_cut_off(came: Came) -> None:
    assert came.run.told("user") == ["begin", "in time"]
    assert "timed out" in came.place.log() and f"timeout={HERMES['timeout']['default']}s" in came.place.log()


def agree(place: Any) -> None:
    """What counts is the event and the command, word for word, and not when the script was written."""
    hooks = yaml.safe_load(place.settings.read_text())["hooks"]["pre_verify"]
    agreed, changed, other = (hook["command"] for hook in hooks)
    old = {"event": "pre_verify", "script_mtime_at_approval": "2001-01-01T00:00:00Z"}
    rows = [{**old, "command": agreed}, {**old, "command": f"{changed} "}, {**old, "command": other, "event": "x"}]
    place.consent.write_text(json.dumps({"approvals": rows}))


def is_not_allowed(came: Came) -> bool:
    assert came.place.log().count("not allowlisted") == 2 and len(came.place.approvals()) == 3
    return "not allowlisted" in by_own_means(hermes, came.client, came.place, "hooks", "list").stdout


def writes(place: Any, *names: str) -> list[Call]:
    return [hermes.write_file(place, name) for name in names]


def are_refused(came: Came) -> bool:
    payload = came.payloads("refuses")[0]
    assert came.run.told("tool")[:2] == ['{"error": "no"}'] * 2
    assert payload["tool_input"] == dict(hermes.write_file(came.place, "0.py").arguments)
    return came.made() == ["shell.txt"]


def is_kept_aside(came: Came) -> bool:
    broken = came.place.settings.read_bytes()
    return [path.read_bytes() for path in came.place.config.glob("config.yaml.corrupt.*.bak")] == [broken]


def keeps_its_variables(came: Came) -> bool:
    agreed = [one["command"] for one in came.place.approvals()]
    return agreed == [came.probes["it"].command, "sh -c ': ${NOT_SET}'", "sh -c ': $PROBE'"]


def is_agreed_there(came: Came) -> bool:
    return (came.place.root / "elsewhere" / came.place.consent.name).exists() and not came.place.consent.exists()


HERMES = PINS["hermes"]
CONSENT = HERMES["consent"]
HERMES_FOLDERS = {HERMES["variables"][name]: f"{{place.root}}/{folder}"
                  for name, folder in (("config_folder", "elsewhere"), ("managed_folder", "managed"))}  # fmt: skip
STRANGERS = {"on_session_start": None, "post_tool_call": ["text", {"timeout": 1}], "on_session_end": "text"}
HERMESES = [
    verified("a hook that always blocks is asked three times, and a second one is not heard",
             probe("first", verdict("block", "first")), probe("second", verdict("block", "second")),
             hooks={"Stop": [probe("first", verdict("block", "first"))]}, keeps=True, check=is_asked_to_the_cap,
             requests=2 + HERMES["cap"]["default"],
             text=lambda text: text + textwrap.indent(yaml.safe_dump(STRANGERS), "  ")),
    verified("a turn without a file that a tool writes asks no hook", probe("it", BLOCK), requests=2, heard=0,
             replies=[hermes.shell("echo 1 > made.py"), "done"], check=lambda came: came.made() == ["made.py"]),
    verified("the cap is a setting and a tool call does not start its count again", probe("it", BLOCK), requests=6,
             more={"agent": {HERMES["cap"]["setting"]: 2}}, check=lambda came: attempts(came) == [0, 1],
             replies=lambda place: Script([reply for name in ("made.py", "more.py", "last.py")
                                           for reply in (*writes(place, name), "done")], limit=12)),
    verified("these block whatever the exit code", (
        *(say(answer, code=2, errors="words") for answer in (
            json.dumps({"action": "continue", "message": "one"}),
            json.dumps({"decision": "block", "message": "two", "more": 1}), verdict("block", "three"))),
    ), requests=5, check=lambda came: came.run.told("user") == ["begin", "one", "two", "three"]),
    verified("what passes", *map(in_shell, [*UNDECIDED, say(END), say("text"), say(verdict("block", "")),
                                            say(verdict("approve", "on")), say(code=2, errors="on")]),
             "/nowhere/hook", "sh /nowhere/hook", "sh -c 'open", ": hookctl=guard/stop; exit 0", requests=2,
             unsaid=["let go"], check=are_looked_for_as_programs),
    verified("a timeout is in seconds and its hook's answer is lost",
             probe("late", verdict("block", "late"), seconds=3, timeout=1),
             probe("slow", verdict("block", "in time"), "", seconds=2, timeout=20), "true", check=is_cut_off),
    # Consent
    verified("without consent no hook is run and the log says so", probe("agreed"), probe("changed"), probe("other"),
             options=(hermes.YOLO,), prepare=agree, requests=2, heard={"agreed": 1, "changed": 0, "other": 0},
             check=is_not_allowed),
    *(verified(f"consent may come from a {way} and is written down", probe(), options=(hermes.YOLO,), more=more,
               environment=environment, heard=1, check=lambda came: [one["command"] for one in came.place.approvals()]
               == [came.probes["it"].command])
      for way, more, environment in (("setting", {CONSENT["setting"]: True}, {}),
                                     ("variable", {}, {CONSENT["variable"]: "1"}))),
    # The other events
    Fact("a refused tool call is not made and the model is told, and it is no write",
         {"pre_tool_call": [probe("refuses", NO, json.dumps({"action": "block", "message": "no"}), matcher="write_.*"),
                            beside(in_shell(say(code=2, errors="no")), matcher="patch|terminal"),
                            probe("passed", NO, matcher="term")],
          "pre_verify": [probe("ended")]},
         replies=lambda place: [*writes(place, "0.py", "1.py"), hermes.shell("echo 1 > shell.txt"), "done"],
         options=(hermes.YOLO, hermes.ACCEPT), timeout=120, heard={"refuses": 2, "passed": 0, "ended": 0},
         check=are_refused),
    Fact("Claude Code's nested answer refuses no call", {"pre_tool_call": [probe("it", NESTED)]}, replies=turn, heard=1,
         options=(hermes.YOLO, hermes.ACCEPT), timeout=120, check=lambda came: came.made() == ["made.py"]),
    # The settings file
    *(Fact(f"a file with {name} is ignored as a whole", text=lambda _, text=text: text, requests=0,
           code=HERMES["exit"]["settings_broken"], options=(hermes.YOLO,), said=["is being IGNORED"], keeps=True,
           check=is_kept_aside)
      for name, text in {"a torn line": "model: [\n", "a tab": f"{hermes.BASE}hooks:\n\tx: 1\n",
                         "two documents": f"{hermes.BASE}---\nx: 1\n"}.items()),
    verified("a byte order mark and carriage returns are read and of a doubled key the last",
             texts={"home/.hermes/config.yaml": hermes.BASE + "".join(
                 f'hooks:\n  pre_verify:\n  - command: "@{name}"\n' for name in ("first", "last"))},
             text=lambda text: "\ufeff" + text.replace("\n", "\r\n"), heard={"first": 0, "last": 1}),
    verified("a variable in braces is put in by the client itself if it is set", probe(), "sh -c ': ${NOT_SET}'",
             "sh -c ': $PROBE'", text=lambda text: text.replace("/it\n", "/${PROBE}\n"), environment={"PROBE": "it"},
             heard=1, check=keeps_its_variables),
    verified("the config folder moves with its variable and managed settings hide an event", probe("users"),
             files={"elsewhere/config.yaml": {"pre_verify": [probe("users")], "on_session_end": [probe("moved")]},
                    "managed/config.yaml": {"pre_verify": [probe("managed")]}},
             prepare=lambda place: (place.root / "managed/config.yaml").write_text(
                 (place.root / "managed/config.yaml").read_text().removeprefix(hermes.BASE)),
             environment=HERMES_FOLDERS, heard={"users": 0, "moved": 1, "managed": 1}, check=is_agreed_there),
]  # fmt: skip


def place_of(driver: Any, tmp_path: Path) -> Any:
    return driver.Place.make(tmp_path / "place")


@pytest.mark.parametrize("host", ["hermes"])
def test_a_new_prompt_of_the_same_session_starts_the_count_again(client: Client, tmp_path: Path) -> None:
    """Nothing but the attempt says so: the payload has no identity of the turn."""
    place = place_of(hermes, tmp_path)
    stop = make_probe(place.root, answers=(BLOCK, ""))
    write_for_hermes(place.settings, {"pre_verify": [(stop.command, {})]}, {})
    for options in ((), ("--continue",)):
        hermes.play(client, place, turn(place), hermes.YOLO, hermes.ACCEPT, *options, timeout=120)
    payloads = [heard.payload for heard in stop.heard()]
    assert [payload["extra"]["attempt"] for payload in payloads] == [0, 1, 0]
    assert len({payload["session_id"] for payload in payloads}) == 1
    assert not any("turn" in name for payload in payloads for name in payload["extra"])


def in_list(**fields: Any) -> str:
    """A hook in a list of TOML tables, as the file has it."""
    return "[[hooks]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in fields.items())


def entry(event: str, command: str, **more: Any) -> str:
    return in_list(event=event, command=command, **more)


def write_for_kimi(path: Path, events: Entries, more: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(entry(event, hook, **fields) for event in events for hook, fields in events[event]))


def changes(text: Any) -> Any:
    return lambda old: old + text


KIMI, refusal = PINS["kimi"], kimi.refusal
SENT_ON, SAID = say(code=2, errors="on"), KIMI["said"]
KIMI_STOP = {"Stop": [SENT_ON]}
SENDS_ON = {
    "a refusal": say(refusal("Stop", "on")), "one of another event": say(refusal("PreToolUse", "on", more=1)),
    "one without a reason": say(refusal("Stop", "")), "exit 2": SENT_ON,
    "both": say(refusal("Stop", "on"), code=2),
}  # fmt: skip
ALLOW = json.dumps({"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"command": "false"}}})
CONTEXT = json.dumps({"message": "CONTEXT", "hookSpecificOutput": {"additionalContext": "CONTEXT"}})
LOST = {
    "a key of its own": 'name = "mine"\n', "an unknown event": entry("Nonsense", "true"),
    "a timeout of 0": entry("SessionEnd", "true", timeout=0), "of 601": entry("SessionEnd", "true", timeout=601),
    "of 1.5": entry("SessionEnd", "true", timeout=1.5), "a number as matcher": entry("SessionEnd", "true", matcher=1),
    "an empty command": entry("SessionEnd", ""), "no command": '[[hooks]]\nevent = "Stop"\n',
}  # fmt: skip
READ = {
    "a byte order mark": "\ufeff# mine\n" + entry("Stop", SENT_ON) + "# end\n",
    "carriage returns": entry("Stop", SENT_ON, timeout=5.0).replace("\n", "\r\n"),
    "an inline array": f'hooks = [{{event = "Stop",\n command = {json.dumps(SENT_ON)},}}]\n',
    "strange keys": "strange = 1\n" + entry("Stop", SENT_ON) + "[loop_control]\nmax_steps_per_turn = 'many'\n",
}
KIMIS = [
    *(Fact(f"{name} sends it on, and the first of several counts", {"Stop": [hook, say(refusal("Stop", "second"))]},
           replies=Script(["done"], limit=4), requests=2,
           check=lambda came: came.run.told("user")[-1] in ("on", SAID["refused"].format("Stop")))
      for name, hook in SENDS_ON.items()),
    facts.passes("Stop", [*UNDECIDED, say(BLOCK), say(FLAT), say("text"), say(json.dumps({"message": "said"})),
                          say(refusal("Stop", "on"), code=1), say(code=1, errors="on"), "/nowhere/hook",
                          beside(SENT_ON, matcher="*")], out="• done\n\n"),
    Fact("the same command runs once and a slow one is cut off", requests=1, flags={"twice": "F", "slow": "F"},
         hooks={"Stop": [probe("twice"), probe("twice", timeout=9),
                         probe("slow", refusal("Stop", "on"), seconds=4, timeout=1)]}),
    facts.refuses("PreToolUse", kimi.shell,
                  [say(refusal("PreToolUse", "no")), say(code=2, errors="no"), say(refusal("Other", "no"))],
                  [say(FLAT), say(NO), say(refusal("PreToolUse", "no").replace("deny", "ask")),
                   say(ALLOW), say(code=1, errors="no"), GUARDED.format("/nowhere/hook.py")],
                  lambda run: [told.splitlines()[-1] for told in run.told("tool")[:3]], "no"),
    *(Fact(f"the matcher {matcher!r} {'fits' if fits else 'does not fit'}",
           {"PreToolUse": [beside(SENT_ON, matcher=matcher)]}, replies=[kimi.shell("touch ran"), "done"],
           check=lambda came, fits=fits: came.made() == ([] if fits else ["ran"]))
      for matcher, fits in matching.OF_SHELL["kimi"].items()),
    *(Fact(f"a prompt is refused by {name}", {"UserPromptSubmit": [hook]}, requests=0, code=1,
           said=[SAID["prompt_refused"]])
      for name, hook in (("an answer", say(refusal("UserPromptSubmit", "no"))), ("exit 2", say(code=2, errors="no")))),
    Fact("a session's start takes nothing from a hook", {"SessionStart": [say(CONTEXT), SENT_ON]}, requests=1,
         check=lambda came: "CONTEXT" not in json.dumps(came.run.last_messages)),
    # The file
    *(Fact(f"{name} costs all hooks", KIMI_STOP, text=changes(more), requests=1, said=[SAID["entry"]])
      for name, more in LOST.items()),
    *(Fact(f"{name} costs all hooks without a word", KIMI_STOP, text=changes(more), requests=1, unsaid=["config"])
      for name, more in (("a torn line", "x = \n"), ("a doubled key", "[a]\nx = 1\nx = 2\n"), ("a null", "# \x00\n"))),
    *(Fact(f"{name}: read", KIMI_STOP, text=lambda _, text=text: text, requests=2, keeps=True)
      for name, text in READ.items()),
    Fact("a variable moves its folder", files={"elsewhere/config.toml": KIMI_STOP}, requests=2,
         environment={KIMI["variables"]["config_folder"]: "{place.root}/elsewhere"}),
    Fact("a project has no hooks", requests=1,
         files={f"project/{name}": KIMI_STOP for name in (".kimi-code/config.toml", "kimi.toml", ".kimi/config.toml")}),
]  # fmt: skip


@pytest.mark.parametrize("host", ["kimi"])
def test_one_block_in_a_turn_is_honoured_then_no_hook_is_asked(client: Client, tmp_path: Path) -> None:
    place, cap = place_of(kimi, tmp_path), KIMI["cap"]["default"]
    stop = make_probe(place.root, answers=(refusal("Stop", "on"),))
    place.settings.write_text(entry("Stop", stop.command))
    before = place.settings.read_bytes()
    run = kimi.play(client, place, ["one", kimi.shell("true 1"), "two", kimi.shell("true 2"), "three"])
    assert (run.requests, stop.flags(), run.code) == (2 + cap, "F" * cap, 0)
    assert "on" in run.told("user")
    assert "• one\n" in run.out and "• two\n" in run.out
    session = stop.heard()[0].payload["session_id"]
    assert kimi.play(client, place, ["four"], "--session", session).requests == 1 + cap
    assert stop.flags() == "F" * 2 * cap, "a new turn has a block of its own, and its stop is no forced one"
    assert place.settings.read_bytes() == before


@pytest.mark.parametrize("host", ["kimi"])
def test_nobody_waits_for_a_hook_on_a_call_that_has_run_and_a_turn_s_end_cuts_it_off(
    client: Client, tmp_path: Path
) -> None:
    place = place_of(kimi, tmp_path)
    slow, refused, failed = (make_probe(place.root, name) for name in ("slow", "refused", "failed"))
    hooks = [
        entry("PreToolUse", say(code=2, errors="no"), matcher="Write"),
        entry("PostToolUse", f"sleep 2; {slow.command}"),
        entry("PostToolUse", refused.command, matcher="Write"),
        entry("PostToolUseFailure", failed.command),
    ]
    place.settings.write_text("".join(hooks))
    write = Call("Write", {"path": str(place.project / "file"), "content": ""})
    run = kimi.DRIVER.play(client, place, [write, kimi.shell("false"), kimi.shell("true"), "done"])
    assert (run.requests, slow.heard(), refused.heard()) == (4, [], [])
    told = [heard.payload for heard in failed.heard()]
    assert [payload["tool_name"] for payload in told] == ["Write", "Bash"], "a refused call is a failed one"
    assert told[0]["error"]["message"] == "no"


def hook(event: str, command: str, **fields: Any) -> str:
    """A hook in the client's own form; its name is the event unless the fields have one."""
    return in_list(**{"name": event, "type": event, "command": command, **fields})


def write_for_vibe(path: Path, events: Entries, more: Mapping[str, Any]) -> None:
    """Hooks, each under a name of its own."""
    named = [(event, command, fields) for event in events for command, fields in events[event]]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(hook(event, command, **{"name": f"hook {number}", **fields})
                            for number, (event, command, fields) in enumerate(named)))  # fmt: skip


def told_to_go_on(*texts: str) -> Any:
    return lambda came: came.run.told("user") == ["begin", *texts]


def sees_the_change(came: Came) -> bool:
    """Claude Code's names are read, and the next hook is told of a changed input."""
    told = came.payloads()[0]["tool_input"]
    return told == {"file_path": "other.txt", "content": "other"} and came.made() == ["other.txt"]


def is_added(came: Came) -> None:
    """What is added to a failed call's result stands in its place."""
    first, failed, last = came.run.told("tool")
    assert "stdout: one" in first and first.endswith("\nADDED") and (failed, last) == ("ADDED", "REPLACED")
    assert [payload["tool_status"] for payload in came.payloads()] == ["success", "failure", "success"]
    assert came.payloads()[0]["tool_output"]["returncode"] == 0


def has_no_variable(came: Came) -> bool:
    (heard,) = came.probes["it"].heard()
    told = [value for name, value in heard.environment.items() if name != "PWD"]
    return heard.payload["session_id"] not in told and not any(str(came.place.project) in value for value in told)


def names_the_file(times: int) -> Any:
    return lambda came: (
        [line.partition(": ")[0] for line in came.run.errors.splitlines()] == [str(came.place.settings)] * times
    )


VIBE = PINS["vibe"]
VIBES_CAP, TRUST = VIBE["cap"]["default"], f"home/.vibe/{VIBE['trust']['file']}"
DENY = verdict("deny", "go on")
ADDED = json.dumps({"hook_specific_output": {"additional_context": "ADDED"}})
TOUCH = [vibe.shell("touch made"), "done"]
CHANGES = json.dumps({"hook_specific_output": {"tool_input": {"file_path": "other.txt", "content": "other"}}})
END_OF_TURN = {"post_agent": [probe()]}
OF_VIBES_PROJECT = {"project/.vibe/hooks.toml": END_OF_TURN}
VIBES_CALLS = {
    "file_system.bash": vibe.shell("true"),
    "process.start": vibe.within("tools.process.start({command: 'true'})"),
    "file_system.write_file": Call("write_file", {"path": "made.txt", "content": "made"}),
    "file_system.edit": Call("edit", {"file_path": "a", "old_string": "one", "new_string": "two"}),
    "file_system.read_file": Call("read_file", {"path": "a"}),
    "agents.spawn": vibe.subagent("MARKER"),
    "vibe.todo": Call("todo", {"action": "read"}),
}
PROJECT, ABOVE = '["{place.project}"]', '["{place.root}"]'
FOLDERS = [  # trusted and not, the start folder, and whether a project's hooks run; the real path counts
    ("[]", "[]", "", 0), (PROJECT, "[]", "", 1), (ABOVE, "[]", "", 1), (ABOVE, PROJECT, "", 0),
    (PROJECT, PROJECT, "", 1), (PROJECT, ABOVE, "", 1), ('["/"]', "[]", "", 1),
    ('["{place.project}/"]', "[]", "", 0), ('["{place.root}/link"]', "[]", "", 0),
    (PROJECT, "[]", "project/sub", 0), (PROJECT, "[]", "link", 1),
]  # fmt: skip
BAD = [
    hook("Stop", "@bad", name="event"), hook("post_agent", "@bad", name="strict", strict=True),
    hook("post_agent", "@bad", name="blank").replace("command = ", 'command = " " # '),
    hook("post_agent", "@bad", name="x").replace("name = ", "# "), hook("post_agent", "@bad", name=5),
    hook("post_agent", "@bad", name="timeout", timeout="x"), hook("post_agent", "@bad", name="text", description=5),
]  # fmt: skip
WHOLE = "".join(["own = 1\n", *BAD, hook("post_agent", "@it", more=1), "[table]\n"])
PLUGIN = {
    "$schema": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json", "name": "noisy", "version": "1.0.0",
    "extensions": {"ai.mistral.vibe": {"schemaVersion": 1}},
}  # fmt: skip
VIBES = [fact._replace(options=(vibe.YOLO,)) for fact in [
    Fact("what retries", {"post_agent": [probe("it", DENY, json.dumps({"decision": "deny"}),
                                               verdict("deny", "three", system_message="shown", more=1))]},
         replies=TEN, check=lambda came: came.run.told("user")[1::2] == ["go on", "three"]),
    facts.passes("post_agent", [*UNDECIDED, say(BLOCK), say(END), say("text"), say("[1]"), say(f"{DENY}\n{DENY}"),
                                say(DENY, code=1), say(DENY, code=2), say(code=2, errors="on"), "/nowhere/hook"],
                 out="done\n", check=Came.silent),
    Fact("a timeout is in seconds and its hook's answer is lost",
         {"post_agent": [probe("late", verdict("deny", "late"), seconds=3, timeout=1),
                         probe("slow", verdict("deny", "in time"), "", seconds=2, timeout="20")]},
         replies=TEN, check=told_to_go_on("in time")),
    Fact("a refused call is not made and the model is told, and no hook behind it is asked",
         {"pre_tool": [probe("refuses", verdict("deny", "no")), probe("behind")]}, replies=TOUCH,
         heard={"refuses": 1, "behind": 0}, check=lambda came: (came.run.told("tool"), came.made()) == (["no"], [])),
    Fact("what refuses no call", replies=TOUCH, check=lambda came: came.made() == ["made"],
         hooks={"pre_tool": [say(NESTED), say(BLOCK), say(code=2, errors="no"), say("text"), say(verdict("ask"))]}),
    Fact("a strict hook that fails refuses", {"pre_tool": [beside(say(code=3, errors="broken"), strict=True)]},
         replies=TOUCH, check=lambda came: came.run.told("tool") == ["broken"]),
    Fact("the next hook sees a changed input", {"pre_tool": [say(CHANGES), probe()]},
         replies=[VIBES_CALLS["file_system.write_file"], "done"], check=sees_the_change),
    Fact("what is said after a call", {"post_tool": [probe("it", ADDED, ADDED, verdict("deny", "REPLACED"))]},
         replies=[vibe.shell("echo one"), Call("read_file", {"path": "/nowhere"}), vibe.shell("echo two"), "done"],
         check=is_added),
    # Older clients have one more; a hook on it is told the same fields.
    *(Fact(f"a matcher is held against every name of {tool}", texts={"project/a": "one\n"},
           hooks={"pre_tool": [probe(f"p{number}", match=text) for number, text in enumerate(matching.of_vibe(tool))]},
           replies=Script([VIBES_CALLS[tool], "done"], limit=9, sub_marker="MARKER"),
           check=lambda came, tool=tool: [bool(probe.heard()) for probe in came.probes.values()]
           == [*matching.of_vibe(tool).values()])
      for tool in matching.VIBES if tool != "file_system.search_replace"),
    # Files
    *(Fact(f"a project's hooks with {trusted} and without {untrusted} in {cwd or 'it'}", files=OF_VIBES_PROJECT,
           texts={TRUST: f"trusted = {trusted}\nuntrusted = {untrusted}\n"}, heard=heard, cwd=cwd,
           prepare=lambda place: (place.root / "link").symlink_to(place.project))
      for trusted, untrusted, cwd, heard in FOLDERS),
    Fact("a broken entry is ignored alone and stderr says so", texts={"home/.vibe/hooks.toml": WHOLE},
         heard={"it": 1, "bad": 0}, check=names_the_file(len(BAD))),
    Fact("a byte order mark and carriage returns are read", texts={"home/.vibe/hooks.toml": WHOLE}, heard=1,
         text=lambda text: "\ufeff" + text.replace("\n", "\r\n")),
    *(Fact(f"{broken!r} costs the whole file", END_OF_TURN, text=lambda text, broken=broken: broken, requests=1,
           heard=0, keeps=True, check=names_the_file(1))
      for broken in (hook("post_agent", "true") + "[[hooks]\n", "[hooks]\n", "hooks = {}\n")),
    Fact("the config folder moves with its variable", {"post_agent": [probe("usual")]},
         files={"elsewhere/hooks.toml": END_OF_TURN}, heard={"usual": 0, "it": 1},
         # The driver writes the address of the model where the client looks for it.
         prepare=lambda place: (place.root / "elsewhere/config.toml").symlink_to(place.config / "config.toml"),
         environment={VIBE["variables"]["config_folder"]: "{place.root}/elsewhere"}),
    Fact("a hook starts in the start folder with a shell and no variable of its own", check=has_no_variable,
         hooks={"post_agent": ["[ -e here ] && @it"]}, texts={"project/here": ""}),
    # Its documents say that they are.
    Fact("hooks of plugins are not run", heard=0, texts={"home/.vibe/plugins/noisy/plugin.json": json.dumps(PLUGIN)},
         files={"home/.vibe/plugins/noisy/ai.mistral.vibe/hooks.toml": END_OF_TURN}),
]]  # fmt: skip


@pytest.mark.parametrize("host", ["vibe"])
def test_three_retries_a_turn_are_heeded_of_all_hooks_together(client: Client, tmp_path: Path) -> None:
    """The one that denies next is asked, but not heeded; a tool call between them changes nothing, a prompt does."""
    place = place_of(vibe, tmp_path)
    first, second = make_probe(place.root, "first", (DENY, "", DENY, "")), make_probe(place.root, "second", (DENY,))
    write_for_vibe(place.settings, {"post_agent": [(first.command, {}), (second.command, {})]}, {})
    before = place.settings.read_bytes()
    texts = [reply for name in ("one", "two", "three") for reply in (name, vibe.shell(f"true {name}"))]
    run = vibe.play(client, place, Script([*texts, "done"], limit=12), vibe.YOLO)
    assert (run.requests, run.code, run.out) == (4 + VIBES_CAP, 0, "done\n")
    assert run.told("user") == ["begin", *["go on"] * VIBES_CAP]
    assert (len(first.heard()), len(second.heard())) == (4, 2)
    assert vibe.play(client, place, ["done"], vibe.YOLO, "--continue").requests == 1 + VIBES_CAP
    assert len({heard.payload["session_id"] for heard in second.heard()}) == 1
    assert place.settings.read_bytes() == before


def write_for_openhands(path: Path, events: Entries, more: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    hooks = {event: [group(hook, **fields)] for event, given in events.items() for hook, fields in given}
    path.write_text(json.dumps({**more, **hooks}))


OPENHANDS = PINS["openhands"]
DENIED = [say("", 2, "no"), say('{"continue": false}'), say(verdict("deny"), 1), say(verdict("deny"), 3)]
ALLOWED = [say(verdict("block")), say("note: " + verdict("deny")), say("", 1, "no"), "sleep 5", GUARDED.format("/no")]
PROMPTS = [f"prompt {number}" for number in range(2, len(ALLOWED) + 1)]
ELSEWHERE = {OPENHANDS["variables"]["config_folder"]: "{place.root}/elsewhere"}
OPENHANDSES = [
    Fact("a hook that always denies is honoured up to the last step, and its feedback is no prompt",
         {"stop": [probe("it", verdict("deny", "go on"))], "user_prompt_submit": [probe("prompt")]},
         replies=Script(["done"], limit=25), environment={"STEPS": "20"}, requests=20, out="finished\n",
         heard={"it": 19, "prompt": 1}, check=lambda came: came.run.told("user")
         == ["begin"] + [OPENHANDS["stop"]["feedback"] + "go on"] * 19),
    Fact("what denies a stop and what does not", {"stop": [(*DENIED, *ALLOWED)]}, options=tuple(PROMPTS),
         text=lambda text: text.replace('"type"', '"timeout": 2, "type"'), requests=len(DENIED) + len(ALLOWED),
         check=lambda came: [text for text in came.run.told("user") if text.startswith("prompt")] == PROMPTS),
    # A project's file, in its other form, hides the user's and counts only where the agent works.
    *(Fact(f"in {cwd} with {'a' if moved else 'no'} variable", {"stop": [probe("usual")]}, cwd=cwd, requests=1,
           files={"elsewhere/hooks.json": {"stop": [probe("moved")]}}, environment=moved,
           texts={"project/.openhands/hooks.json": json.dumps({"hooks": {"Stop": [group("@it")]}})},
           heard=dict(zip(("usual", "moved", "it"), heard, strict=True)))
      for cwd, moved, heard in (("project/below", {}, (1, 0, 0)), ("project/below", ELSEWHERE, (0, 1, 0)),
                                ("project", ELSEWHERE, (0, 0, 1)))),
]  # fmt: skip

HOSTS = {
    "hermes": facts.Host(hermes, write_for_hermes, HERMESES),
    "kimi": facts.Host(kimi, write_for_kimi, KIMIS),
    "openhands": facts.Host(openhands, write_for_openhands, OPENHANDSES),
    "vibe": facts.Host(vibe, write_for_vibe, VIBES),
}


@facts.table(HOSTS)
def test_fact(client: Client, tmp_path: Path, host: str, fact: Fact) -> None:
    facts.play(HOSTS[host], client, place_of(HOSTS[host].driver, tmp_path), fact)


@pytest.mark.parametrize("host", ["openhands"])
def test_the_sdk_and_its_tools_are_of_the_pinned_version(client: Client) -> None:
    code = "from importlib.metadata import version; print(version('openhands-sdk'), version('openhands-tools'))"
    done = subprocess.run([*client.command, "-I", "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == [client.version] * 2


LOAD = """\
import json, sys
from openhands.sdk.hooks import HookConfig
said = {}
for path in sys.argv[1:]:
    try:
        said[path] = len(HookConfig.load(path).stop)
    except Exception as error:
        said[path] = type(error).__name__
print(json.dumps(said))
"""
ONE = json.dumps([group("true")])
STRICT = {
    "as hookctl writes it": (f'{{"stop": {ONE}}}', 1), "wrapped": (f'{{"hooks": {{"Stop": {ONE}}}}}', 1),
    "a key in an entry": (f'{{"stop": {json.dumps([{**group("true", mine=1), "mine": 1}])}}}', 1),
    "a key beside the wrapper": (f'{{"hooks": {{"stop": {ONE}}}, "mine": 1}}', 1),
    "timeout as text": (f'{{"stop": {json.dumps([group("true", timeout="10")])}}}', 1),
    "timeout with a fraction": (f'{{"stop": {json.dumps([group("true", timeout=1.5)])}}}', "ValidationError"),
    "an unknown event": (f'{{"stop": {ONE}, "subagent_stop": []}}', "ValidationError"),
    "an unknown event, wrapped": (f'{{"hooks": {{"Stop": {ONE}, "SubagentStop": []}}}}', "ValidationError"),
    "an unknown key": (f'{{"stop": {ONE}, "description": "mine"}}', "ValidationError"),
    "an event twice": (f'{{"stop": {ONE}, "Stop": {ONE}}}', "ValidationError"),
    "a comment": (f'{{"stop": {ONE} // mine\n}}', "JSONDecodeError"),
    "a trailing comma": (f'{{"stop": {ONE},}}', "JSONDecodeError"),
    "a byte order mark": (f'\ufeff{{"stop": {ONE}}}', "JSONDecodeError"), "empty": ("", "JSONDecodeError"),
}  # fmt: skip


@pytest.mark.parametrize("host", ["openhands"])
def test_how_strict_it_is_with_its_file(client: Client, tmp_path: Path) -> None:
    place = place_of(openhands, tmp_path)
    paths = {str(place.root / f"{number}.json"): name for number, name in enumerate(STRICT)}
    for path, name in paths.items():
        Path(path).write_text(STRICT[name][0])
    words = [*client.command, "-I", "-c", LOAD, *paths]
    environment = {**place.environment(), **openhands.QUIET}
    done = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = {paths[path]: found for path, found in json.loads(done.stdout).items()}
    assert said == {name: wanted for name, (_, wanted) in STRICT.items()}


# OpenCode and Pi: which modules are loaded; each writes down its name.

CODE = {
    "opencode": "export const Probe = async () => (appendFileSync(LOG, NAME), {})",
    "pi": "export default (pi) => { appendFileSync(LOG, NAME); MORE }",
}
BROKEN = ["export default (pi) => {", "export default 5", "export default () => { throw new Error('no') }", ""]


class Modules:
    """Modules of one of the two in a place of its own."""

    def __init__(self, host: str, client: Client, root: Path) -> None:
        self.driver, self.client = (opencode, pi)[host == "pi"], client
        self.place, self.log, self.code = self.driver.Place.make(root), root / "loaded", CODE[host]

    def write(self, more: str = "", **files: Path) -> None:
        for name, file in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            code = self.code.replace("MORE", more).replace("NAME", json.dumps(f"{name}\n"))
            code = code.replace("LOG", json.dumps(str(self.log)))
            file.write_text(f'import {{ appendFileSync }} from "node:fs"\n{code}\n')

    def play(self, *options: str, **more: Any) -> Any:
        play = opencode.play_one_turn if self.driver is opencode else self.driver.play
        return play(self.client, self.place, ["done"], *options, **more)

    def loaded(self) -> list[str]:
        return sorted(self.log.read_text().split())


@pytest.fixture
def modules(host: str, client: Client, tmp_path: Path) -> Modules:
    return Modules(host, client, tmp_path / "place")


on_opencode = pytest.mark.parametrize("host", ["opencode"])
on_pi = pytest.mark.parametrize("host", ["pi"])


@on_opencode
def test_every_folder_of_plugins_is_read_also_above_the_start_folder(modules: Modules) -> None:
    place = modules.place
    below, config = place.project / "below", place.settings.parents[1]
    below.mkdir()
    (place.project / ".git").mkdir()
    folders = [config, place.home / ".opencode", place.project / ".opencode", below / ".opencode"]
    files = {f"in{number}": folder / "plugin" / "a.js" for number, folder in enumerate(folders)}
    files |= {f"s{number}": folder / "plugins" / "a.js" for number, folder in enumerate((config, folders[2]))}
    modules.write(**files)
    assert modules.play(cwd=below).code == 0
    assert modules.loaded() == sorted(files)


@on_opencode
def test_a_plugin_that_breaks_takes_no_other_with_it(modules: Modules) -> None:
    modules.write(probe=modules.place.settings)
    broken = ["export const A = async () => {", "export const B = async () => { throw new Error('no') }",
              "export const C = 42", ""]  # fmt: skip
    for number, text in enumerate(broken):
        (modules.place.settings.parent / f"{number}.js").write_text(text)
    run = modules.play()
    assert (run.requests, run.code, modules.loaded()) == (1, 0, ["probe"])


@pytest.mark.parametrize(
    ("host", "variable", "file"),
    [
        ("opencode", "XDG_CONFIG_HOME", "opencode/plugin/a.js"),
        ("pi", PINS["pi"]["variables"]["config_folder"], "extensions/a.js"),
    ],
)
def test_the_operator_s_own_variable_replaces_the_folder_of_settings(
    modules: Modules, variable: str, file: str
) -> None:
    elsewhere = modules.place.root / "elsewhere"
    modules.write(usual=modules.place.settings, elsewhere=elsewhere / file)
    # Pi's model of the tests is not there: only what is loaded counts.
    modules.play(environment={variable: str(elsewhere)})
    assert set(modules.loaded()) == {"elsewhere"}


@on_pi
def test_without_anything_new_for_the_model_it_does_not_go_on(modules: Modules) -> None:
    more = 'pi.on("agent_before_settle", async () => ({ continue: true }))'
    modules.write(more, probe=modules.place.settings)
    run = modules.play()
    assert run.requests == 1
    assert "requested continuation without runnable model context" in run.errors


@on_pi
def test_which_extensions_are_loaded(modules: Modules) -> None:
    below, folder = modules.place.project / "below", modules.place.settings.parent
    below.mkdir()
    files = {"user": folder / "a.js", "typescript": folder / "b.ts", "folder": folder / "c" / "index.js",
             "project": below / ".pi" / "extensions" / "a.js"}  # fmt: skip
    others = {"deep": folder / "d" / "e" / "index.js", "suffix": folder / "f.mjs",
              "above": modules.place.project / ".pi" / "extensions" / "a.js"}  # fmt: skip
    modules.write(**files, **others)
    assert modules.play(pi.TRUST, cwd=below).code == 0
    assert modules.loaded() == sorted(files)


@on_pi
@pytest.mark.parametrize("text", BROKEN, ids=["syntax", "a number", "an error", "empty"])
def test_it_does_not_start_with_an_extension_that_it_cannot_load(modules: Modules, text: str) -> None:
    (modules.place.settings.parent / "broken.js").write_text(text)
    run = modules.play()
    assert (run.requests, run.code) == (0, PINS["pi"]["exit"]["broken_extension"])
    assert "Failed to load extension" in run.errors
