"""The behaviour of the real Mistral Vibe that hookctl relies on; expected values are in pins/vibe.toml."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests import matching

from . import facts
from .agent import Run
from .clients import Client
from .dialects import Call
from .facts import Came, Fact, beside, probe
from .hooks import END, NESTED, UNDECIDED, say, verdict
from .model_server import Script
from .probe import BLOCK, Probe, make_probe
from .vibe import YOLO, Place, play, shell, subagent, within

pytestmark = [pytest.mark.e2e, pytest.mark.full]

DENY = verdict("deny", "go on")
RETIRED = "file_system.search_replace"  # older clients have it; a hook on them is told the same fields


def hook(event: str, hook: Probe | str, **fields: Any) -> str:
    """A hook in the client's own form; its name is the event unless the fields have one."""
    command = hook if isinstance(hook, str) else hook.command
    values = {"name": event, "type": event, "command": command, **fields}
    return "[[hooks]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items())


def write(path: Path, *hooks: str) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(hooks))
    return path.read_bytes()


def write_table(path: Path, events: facts.Entries, more: Mapping[str, Any]) -> None:
    """Hooks, each under a name of its own."""
    named = [(event, command, fields) for event in events for command, fields in events[event]]
    write(path, *(hook(event, command, name=f"hook {n}", **fields) for n, (event, command, fields) in enumerate(named)))


TOUCH = [shell("touch made"), "done"]
CHANGES = json.dumps({"hook_specific_output": {"tool_input": {"file_path": "other.txt", "content": "other"}}})


def sees_the_change(came: Came) -> bool:
    """Claude Code's names are read, and the next hook is told of a changed input."""
    told = came.probes["it"].heard()[0].payload["tool_input"]
    return told == {"file_path": "other.txt", "content": "other"} and came.made() == ["other.txt"]


FACTS = [
    Fact("what retries", {"post_agent": [probe("it", DENY, json.dumps({"decision": "deny"}),
                                               verdict("deny", "three", system_message="shown", more=1))]},
         replies=Script(["done"], limit=12), check=lambda came: came.run.told("user")[1::2] == ["go on", "three"]),
    facts.passes("post_agent", [*UNDECIDED, say(BLOCK), say(END), say("text"), say("[1]"), say(f"{DENY}\n{DENY}"),
                                say(DENY, code=1), say(DENY, code=2), say(code=2, errors="on"), "/nowhere/hook"],
                 out="done\n", check=Came.silent),
    Fact("a timeout is in seconds and its hook's answer is lost",
         {"post_agent": [probe("late", verdict("deny", "late"), seconds=3, timeout=1),
                         probe("slow", verdict("deny", "in time"), "", seconds=2, timeout="20")]},
         replies=Script(["done"], limit=12), check=lambda came: came.run.told("user") == ["begin", "in time"]),
    Fact("a refused call is not made and the model is told, and no hook behind it is asked",
         {"pre_tool": [probe("refuses", verdict("deny", "no")), probe("behind")]}, replies=TOUCH,
         heard={"refuses": 1, "behind": 0}, check=lambda came: (came.run.told("tool"), came.made()) == (["no"], [])),
    Fact("what refuses no call", replies=TOUCH, check=lambda came: came.made() == ["made"],
         hooks={"pre_tool": [say(NESTED), say(BLOCK), say(code=2, errors="no"), say("text"), say(verdict("ask"))]}),
    Fact("a strict hook that fails refuses", {"pre_tool": [beside(say(code=3, errors="broken"), strict=True)]},
         replies=TOUCH, check=lambda came: came.run.told("tool") == ["broken"]),
    Fact("the next hook sees a changed input", {"pre_tool": [say(CHANGES), probe()]},
         replies=[Call("write_file", {"path": "made.txt", "content": "made"}), "done"], check=sees_the_change),
]  # fmt: skip
test_fact = facts.table("vibe", [fact._replace(options=(YOLO,)) for fact in FACTS], write_table)


def end_with(*hooks: Probe | str) -> list[str]:
    """Hooks of the end of a turn, each under a name of its own."""
    return [hook("post_agent", each, name=f"hook {number}") for number, each in enumerate(hooks)]


def run_turn(vibe: Client, place: Place, *replies: str | Call, **options: Any) -> Run:
    return play(vibe, place, Script([*replies, "done"], limit=12), YOLO, **options)


def test_three_retries_a_turn_are_heeded_of_all_hooks_together(vibe: Client, place: Place) -> None:
    """The one that denies next is asked, but not heeded; a tool call between them changes nothing, a prompt does."""
    answers = (DENY, "", DENY, "")
    first, second = make_probe(place.root, "first", answers), make_probe(place.root, "second", (DENY,))
    before = write(place.settings, *end_with(first, second))
    run = run_turn(vibe, place, "one", shell("true 1"), "two", shell("true 2"), "three", shell("true 3"))
    cap = vibe.pins["cap"]["default"]
    assert (run.requests, run.code, run.out) == (4 + cap, 0, "done\n")
    assert run.told("user") == ["begin", *["go on"] * cap]
    assert (len(first.heard()), len(second.heard())) == (4, 2)
    assert play(vibe, place, ["done"], YOLO, "--continue").requests == 1 + cap
    assert len({heard.payload["session_id"] for heard in second.heard()}) == 1
    assert place.settings.read_bytes() == before


def test_what_is_said_after_a_call(vibe: Client, place: Place) -> None:
    """What is added to a failed call's result stands in its place."""
    added = json.dumps({"hook_specific_output": {"additional_context": "ADDED"}})
    replaced = verdict("deny", "REPLACED")
    answers = make_probe(place.root, answers=(added, added, replaced))
    write(place.settings, hook("post_tool", answers))
    calls = [shell("echo one"), Call("read_file", {"path": "/nowhere"}), shell("echo two")]
    first, failed, last = run_turn(vibe, place, *calls).told("tool")
    assert "stdout: one" in first and first.endswith("\nADDED")
    assert (failed, last) == ("ADDED", "REPLACED")
    told = [heard.payload for heard in answers.heard()]
    assert [payload["tool_status"] for payload in told] == ["success", "failure", "success"]
    assert told[0]["tool_output"]["returncode"] == 0


@pytest.mark.parametrize("tool", [tool for tool in matching.VIBES if tool != RETIRED])
def test_a_matcher_is_held_against_every_name_of_a_tool(vibe: Client, place: Place, tool: str) -> None:
    calls = {
        "file_system.bash": shell("true"),
        "process.start": within("tools.process.start({command: 'true'})"),
        "file_system.write_file": Call("write_file", {"path": "made.txt", "content": "made"}),
        "file_system.edit": Call("edit", {"file_path": "a", "old_string": "one", "new_string": "two"}),
        "file_system.read_file": Call("read_file", {"path": "a"}),
        "agents.spawn": subagent("MARKER"),
        "vibe.todo": Call("todo", {"action": "read"}),
    }
    (place.project / "a").write_text("one\n")
    fits = matching.of_vibe(tool)
    probes = {text: make_probe(place.root, f"p{number}") for number, text in enumerate(fits)}
    write(place.settings, *(hook("pre_tool", probe, name=text, match=text) for text, probe in probes.items()))
    run = play(vibe, place, Script([calls[tool], "done"], limit=9, sub_marker="MARKER"), YOLO)
    assert run.code == 0
    assert {text: bool(probe.heard()) for text, probe in probes.items()} == fits


def test_a_project_s_hooks_want_a_trusted_folder_and_the_nearest_word_counts(vibe: Client, place: Place) -> None:
    probe, trust = make_probe(place.root), place.config / vibe.pins["trust"]["file"]
    write(place.project / ".vibe" / "hooks.toml", hook("post_agent", probe))
    inside, link = place.project / "sub", place.root / "link"
    inside.mkdir()
    link.symlink_to(place.project)
    project, above = str(place.project), str(place.project.parent)

    def runs(trusted: list[str], untrusted: list[str], *options: str, cwd: Path | None = None) -> bool:
        trust.write_text(f"trusted = {json.dumps(trusted)}\nuntrusted = {json.dumps(untrusted)}\n")
        before, data = len(probe.heard()), trust.read_bytes()
        assert run_turn(vibe, place, cwd=cwd).code == 0
        assert trust.read_bytes() == data
        return len(probe.heard()) > before

    assert [runs([], []), runs([project], []), runs([above], []), runs([above], [project])] == [
        False, True, True, False,
    ]  # fmt: skip
    assert [runs([project], [project]), runs([project], [above]), runs(["/"], [])] == [True, True, True]
    assert [runs([f"{project}/"], []), runs([str(link)], [])] == [False, False], "they are held against the real path"
    assert runs([project], [], cwd=inside) is False, "the files of a folder above are read now"
    assert runs([project], [], cwd=link) is True


def test_a_broken_file_is_ignored_and_a_broken_entry_alone_and_stderr_says_so(vibe: Client, place: Place) -> None:
    good, bad = make_probe(place.root, "good"), make_probe(place.root, "bad")
    entries = [
        hook("Stop", bad, name="event"),
        hook("post_agent", bad, name="strict", strict=True),
        hook("post_agent", bad, name="blank").replace("command = ", 'command = " " # '),
        hook("post_agent", bad, name="x").replace("name = ", "# "),
        hook("post_agent", bad, name=5),
        hook("post_agent", bad, name="timeout", timeout="x"),
        hook("post_agent", bad, name="text", description=5),
    ]
    whole = write(place.settings, "own = 1\n", *entries, hook("post_agent", good, more=1), "[table]\n")
    run = run_turn(vibe, place)
    assert (run.code, len(good.heard()), len(bad.heard())) == (0, 1, 0)
    assert [line.partition(": ")[0] for line in run.errors.splitlines()] == [str(place.settings)] * len(entries)
    for broken in (whole + b"[[hooks]\n", b"[hooks]\n", b"hooks = {}\n"):
        place.settings.write_bytes(broken)
        run = run_turn(vibe, place)
        assert (run.requests, run.code) == (1, 0)
        assert run.errors.startswith(f"{place.settings}: ")
        assert place.settings.read_bytes() == broken
    place.settings.write_bytes(b"\xef\xbb\xbf" + whole.replace(b"\n", b"\r\n"))
    run_turn(vibe, place)
    assert (len(good.heard()), len(bad.heard())) == (2, 0)


def test_the_config_folder_moves_with_its_variable(vibe: Client, place: Place) -> None:
    usual, moved = make_probe(place.root, "usual"), make_probe(place.root, "moved")
    write(place.settings, hook("post_agent", usual))
    write(place.root / "elsewhere" / "hooks.toml", hook("post_agent", moved))
    # The driver writes the address of the model where the client looks for it.
    (place.root / "elsewhere" / "config.toml").symlink_to(place.config / "config.toml")
    name = vibe.pins["variables"]["config_folder"]
    run_turn(vibe, place, environment={name: str(place.root / "elsewhere")})
    assert (len(usual.heard()), len(moved.heard())) == (0, 1)


def test_a_hook_starts_in_the_start_folder_with_a_shell_and_no_variable_of_its_own(vibe: Client, place: Place) -> None:
    probe = make_probe(place.root)
    write(place.settings, hook("post_agent", f"[ $(pwd) = '{place.project}' ] && {probe.command}"))
    run_turn(vibe, place)
    environment = probe.heard()[0].environment
    assert not any(str(place.project) in value for name, value in environment.items() if name != "PWD")
    assert probe.heard()[0].payload["session_id"] not in environment.values()


def test_hooks_of_plugins_are_not_run(vibe: Client, place: Place) -> None:
    """Its documents say that they are."""
    probe = make_probe(place.root)
    plugin = place.config / "plugins" / "noisy"
    write(plugin / "ai.mistral.vibe" / "hooks.toml", hook("post_agent", probe))
    manifest = {
        "$schema": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json",
        "name": "noisy",
        "version": "1.0.0",
        "extensions": {"ai.mistral.vibe": {"schemaVersion": 1}},
    }
    (plugin / "plugin.json").write_text(json.dumps(manifest))
    assert run_turn(vibe, place).code == 0
    assert probe.heard() == []
