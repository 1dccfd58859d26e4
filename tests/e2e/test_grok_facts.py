"""The behaviour of the real Grok Build that hookctl relies on; expected values are in pins/grok.toml."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.matching import OF_SHELL

from . import facts
from .clients import Client, pins_of
from .facts import Came, Fact, probe
from .grok import YOLO, Place, ends_turn, play, shell
from .hooks import END, NESTED, UNDECIDED, group, handler, say, verdict
from .model_server import Script
from .probe import BLOCK, Probe, make_probe

pytestmark = [pytest.mark.e2e, pytest.mark.full]

CAP, NAMES = pins_of("grok")["cap"]["default"], pins_of("grok")["variables"]
STOP = {"Stop": [probe()]}
OTHER_DENY = NESTED.replace("PreToolUse", "Other")
NESTED_STOP = json.dumps({"hookSpecificOutput": {"hookEventName": "Stop", "decision": "block", "reason": "on"}})


def one_prompt(came: Came) -> bool:
    stops = [heard.payload for heard in came.probes["it"].heard() if ends_turn(heard.payload)]
    return len({payload["promptId"] for payload in stops}) == 1


def tools_are_told_the_session_alone(came: Came) -> None:
    for heard in came.probes["it"].heard():
        told = [heard.environment[NAMES[name]].rstrip("/") for name in ("session", "itself", "workspace")]
        assert told == [heard.payload["session_id"], heard.payload["hookEventName"], str(came.place.project)]
    tools = (came.place.project / "env").read_text()
    assert f"{NAMES['session']}={told[0]}" in tools and NAMES["itself"] not in tools


def with_group(text: str) -> Any:
    """The settings' text with a group of another event."""
    return lambda hooks: hooks.replace('"hooks": {', f'"hooks": {{"PreToolUse": [{text}], ', 1)


FACTS = [
    Fact("8 stops of a turn are asked about and the 9th is not", {"Stop": [probe("it", BLOCK)]}, options=(YOLO,),
         replies=Script([reply for n in range(12) for reply in (shell(f"true {n}"), f"text {n}")], limit=40),
         requests=2 * (CAP + 1), flags="F" + "T" * (CAP - 1), check=one_prompt),
    facts.blocks("Stop", *(say(BLOCK, code=code) for code in (0, 1, 3, 127)), say(code=2, errors="on"),
                 say(verdict("block", "")), check=lambda came: "Stop hook feedback:\n- on\n" in came.run.told("user")),
    # Nobody gets to read a message that a hook has for a person.
    facts.passes("Stop", [*UNDECIDED, say(END), say("text"), say(verdict("deny")), say(NESTED_STOP), "/nowhere/hook"],
                 out="done\n", unsaid=["let go"]),
    Fact("the end of a turn beats the block of another hook", {"Stop": [say(BLOCK), say(END)]}, requests=1),
    facts.times_out("Stop", [{"timeout": 1}], {"timeout": 30}),
    facts.refuses("PreToolUse", shell,
                  [say(NESTED), say(verdict("deny", "no")), say(verdict("block", "no")), say(code=2, errors="no"),
                   say(verdict("deny", "no"), code=1), say(NESTED, code=127), say(OTHER_DENY)],
                  [say(code=1, errors="no"), say(END), say("text"), "/nowhere/hook"],
                  lambda run: [told for told in run.told("tool") if told.startswith("Hook denied")],
                  "Hook denied: no", options=(YOLO,)),
    Fact("one refusal is enough and the hooks behind it are not asked", {"PreToolUse": [say(NESTED), probe()]},
         replies=[shell("true"), "done"], options=(YOLO,), heard={"it": 0}),
    Fact("a hook is told the session, itself and the project, and a tool the session alone",
         {event: [probe()] for event in ("UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")}, options=(YOLO,),
         replies=[shell("env > env"), "done"], check=tools_are_told_the_session_alone),
    # Which files count
    Fact("one command runs once from however many files", STOP, flags="F",
         files={"home/.claude/settings.json": {"Stop": [probe("it", timeout=7)]}}),
    Fact("a comment costs the whole file", STOP, text=lambda text: f"// a comment\n{text}", heard={"it": 0},
         check=Came.silent),
    Fact("a byte order mark costs the whole file", STOP, text=lambda text: f"\ufeff{text}", heard={"it": 0},
         check=Came.silent),
    Fact("a group without hooks costs the whole file", STOP, text=with_group('{"matcher": "x"}'), heard={"it": 0},
         check=Came.silent),
    Fact("a timeout that is not whole costs the whole file", STOP, heard={"it": 0}, check=Came.silent,
         text=with_group('{"hooks": [{"type": "command", "command": "true", "timeout": 5.5}]}')),
]  # fmt: skip


def write_hooks(path: Path, text: str = "", **events: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text or json.dumps({"hooks": events}))


def flags(probe: Probe) -> str:
    """What each stop of a turn said of being forced: F or T."""
    return "".join("FT"[heard.payload["stopHookActive"]] for heard in probe.heard() if ends_turn(heard.payload))


test_fact = facts.table("grok", FACTS, facts.claude_like(), flags=flags)


@pytest.mark.parametrize(("matcher", "fits"), OF_SHELL["grok"].items())
def test_what_a_matcher_fits(grok: Client, place: Place, matcher: str, fits: bool) -> None:
    probe = make_probe(place.root)
    write_hooks(place.settings, PreToolUse=[{"matcher": matcher, **group(probe)}])
    play(grok, place, [shell("true"), "done"], YOLO)
    assert bool(probe.heard()) == fits


def test_every_file_in_the_folder_counts_and_config_toml_too(grok: Client, place: Place) -> None:
    first, second, third = (make_probe(place.root, name) for name in ("first", "second", "third"))
    write_hooks(place.settings, Stop=[group(first)])
    write_hooks(place.settings.with_name("other.json"), Stop=[group(second)])
    place.configure(f"[[hooks.Stop]]\nhooks = [{{type = 'command', command = {json.dumps(third.command)}}}]\n")
    play(grok, place, ["done"])
    assert [flags(probe) for probe in (first, second, third)] == ["F", "F", "F"]


def test_cursor_s_file_counts_only_where_every_hook_stands_in_a_group(grok: Client, place: Place) -> None:
    probe = make_probe(place.root)
    path = place.home / ".cursor" / "hooks.json"
    write_hooks(path, stop=[group(probe)])
    play(grok, place, ["done"])
    assert flags(probe) == "F"
    write_hooks(path, stop=[group(probe)], preToolUse=[handler("true")])
    play(grok, place, ["done"])
    assert flags(probe) == "F"


@pytest.mark.parametrize(
    ("section", "name", "file", "off"),
    [
        ("compat.claude", "hooks", "home/.claude/settings.json", "GROK_CLAUDE_HOOKS_ENABLED"),
        ("compat.cursor", "hooks", "home/.cursor/hooks.json", "GROK_CURSOR_HOOKS_ENABLED"),
        ("folder_trust", "enabled", "project/.grok/hooks/own.json", "GROK_FOLDER_TRUST"),
    ],
)
def test_a_variable_with_a_word_for_yes_or_no_goes_before_a_switch(
    grok: Client, place: Place, section: str, name: str, file: str, off: str
) -> None:
    probe = make_probe(place.root)
    write_hooks(place.root / file, Stop=[group(probe)])
    ran = []
    for value in ("true", "false"):
        place.configure(f"[{section}]\n{name} = {value}\n")
        for word in ("x", " Off ", "1"):
            before = len(probe.heard())
            play(grok, place, ["done"], environment={off: word})
            ran.append(len(probe.heard()) > before)
    is_file_of_others = section != "folder_trust"  # there trust that is on keeps the hook from running
    assert ran == [told == is_file_of_others for told in (True, False, True, False, False, True)]


def test_what_costs_only_itself(grok: Client, place: Place) -> None:
    probe = make_probe(place.root)
    others = [{"hooks": [{"type": "prompt", "prompt": "x"}]}, {"hooks": [{"type": "command"}]}]
    write_hooks(place.settings, Nope=[{}], Stop=[*others, {"more": 1, **group(probe)}])
    play(grok, place, ["done"])
    assert flags(probe) == "F"


def test_a_command_with_a_variable_that_is_not_set_never_runs(grok: Client, place: Place) -> None:
    kept, lost = make_probe(place.root, "kept"), make_probe(place.root, "lost")
    of_shell, in_quotes = f"x=1; echo $x; {kept.command}", f"echo '$NOT_SET'; {lost.command}"
    write_hooks(place.settings, Stop=[group(of_shell), group(in_quotes)])
    play(grok, place, ["done"])
    assert (flags(kept), flags(lost)) == ("F", "")
