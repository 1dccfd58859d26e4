"""The behaviour of the real Kimi Code that hookctl relies on; expected values are in pins/kimi.toml."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.matching import OF_SHELL

from . import facts
from . import kimi as driver
from .clients import Client, pins_of
from .dialects import Call
from .facts import Fact, beside, probe
from .hooks import FLAT, GUARDED, UNDECIDED, say, verdict
from .kimi import Place, play, refusal, shell
from .model_server import Script
from .probe import BLOCK, Probe, make_probe

pytestmark = [pytest.mark.e2e, pytest.mark.full]

BLOCKS = say(code=2, errors="on")
SAID, FOLDER = pins_of("kimi")["said"], pins_of("kimi")["variables"]["config_folder"]
STOP = {"Stop": [BLOCKS]}


def entry(event: str, hook: Probe | str, **more: Any) -> str:
    """One hook as the file has it."""
    command = hook if isinstance(hook, str) else hook.command
    fields = {"event": event, "command": command, **more}
    return "[[hooks]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in fields.items())


def write(path: Path, events: facts.Entries, more: Mapping[str, Any]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(entry(event, hook, **fields) for event in events for hook, fields in events[event]))


SENDS_ON = {
    "a refusal": say(refusal("Stop", "on")), "one of another event": say(refusal("PreToolUse", "on", more=1)),
    "one without a reason": say(refusal("Stop", "")), "exit 2": BLOCKS, "both": say(refusal("Stop", "on"), code=2),
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
    "a byte order mark": "\ufeff# mine\n" + entry("Stop", BLOCKS) + "# end\n",
    "carriage returns": entry("Stop", BLOCKS, timeout=5.0).replace("\n", "\r\n"),
    "an inline array": f'hooks = [{{event = "Stop",\n command = {json.dumps(BLOCKS)},}}]\n',
    "strange keys": "strange = 1\n" + entry("Stop", BLOCKS) + "[loop_control]\nmax_steps_per_turn = 'many'\n",
}
FACTS = [
    *(Fact(f"{name} sends it on, and the first of several counts", {"Stop": [hook, say(refusal("Stop", "second"))]},
           replies=Script(["done"], limit=4), requests=2,
           check=lambda came: came.run.told("user")[-1] in ("on", SAID["refused"].format("Stop")))
      for name, hook in SENDS_ON.items()),
    facts.passes("Stop", [*UNDECIDED, say(BLOCK), say(FLAT), say("text"), say(json.dumps({"message": "said"})),
                          say(refusal("Stop", "on"), code=1), say(code=1, errors="on"), "/nowhere/hook",
                          beside(BLOCKS, matcher="*")], out="• done\n\n"),
    Fact("the same command runs once and a slow one is cut off", requests=1, flags={"twice": "F", "slow": "F"},
         hooks={"Stop": [probe("twice"), probe("twice", timeout=9),
                         probe("slow", refusal("Stop", "on"), seconds=4, timeout=1)]}),
    facts.refuses("PreToolUse", shell,
                  [say(refusal("PreToolUse", "no")), say(code=2, errors="no"), say(refusal("Other", "no"))],
                  [say(FLAT), say(verdict("block", "no")), say(refusal("PreToolUse", "no").replace("deny", "ask")),
                   say(ALLOW), say(code=1, errors="no"), GUARDED.format("/nowhere/hook.py")],
                  lambda run: [told.splitlines()[-1] for told in run.told("tool")[:3]], "no"),
    *(Fact(f"the matcher {matcher!r} {'fits' if fits else 'does not fit'}",
           {"PreToolUse": [beside(BLOCKS, matcher=matcher)]}, replies=[shell("touch ran"), "done"],
           check=lambda came, fits=fits: came.made() == ([] if fits else ["ran"]))
      for matcher, fits in OF_SHELL["kimi"].items()),
    *(Fact(f"a prompt is refused by {name}", {"UserPromptSubmit": [hook]}, requests=0, code=1,
           said=[SAID["prompt_refused"]])
      for name, hook in (("an answer", say(refusal("UserPromptSubmit", "no"))), ("exit 2", say(code=2, errors="no")))),
    Fact("a session's start takes nothing from a hook", {"SessionStart": [say(CONTEXT), BLOCKS]}, requests=1,
         check=lambda came: "CONTEXT" not in json.dumps(came.run.last_messages)),
    # The file
    *(Fact(f"{name} costs all hooks", STOP, text=lambda text, more=more: text + more, requests=1, said=[SAID["entry"]])
      for name, more in LOST.items()),
    *(Fact(f"{name} costs all hooks without a word", STOP, text=lambda text, more=more: text + more, requests=1,
           unsaid=["config"])
      for name, more in (("a torn line", "x = \n"), ("a doubled key", "[a]\nx = 1\nx = 2\n"), ("a null", "# \x00\n"))),
    *(Fact(f"{name}: read", STOP, text=lambda _, text=text: text, requests=2, keeps=True)
      for name, text in READ.items()),
    Fact("a variable moves its folder", {}, files={"elsewhere/config.toml": STOP}, requests=2,
         environment={FOLDER: "{place.root}/elsewhere"}),
    Fact("a project has no hooks", {}, requests=1,
         files={f"project/{name}": STOP for name in (".kimi-code/config.toml", "kimi.toml", ".kimi/config.toml")}),
]  # fmt: skip
test_fact = facts.table("kimi", FACTS, write)


def write_settings(place: Place, *entries: str) -> None:
    place.settings.write_text("".join(entries))


def test_one_block_in_a_turn_is_honoured_then_no_hook_is_asked(kimi: Client, place: Place) -> None:
    probe = make_probe(place.root, answers=(refusal("Stop", "on"),))
    write_settings(place, entry("Stop", probe))
    before = place.settings.read_bytes()
    cap = kimi.pins["cap"]["default"]
    run = play(kimi, place, ["one", shell("true 1"), "two", shell("true 2"), "three"])
    assert (run.requests, probe.flags(), run.code) == (2 + cap, "F" * cap, 0)
    assert "on" in run.told("user")
    assert "• one\n" in run.out and "• two\n" in run.out
    session = probe.heard()[0].payload["session_id"]
    assert play(kimi, place, ["four"], "--session", session).requests == 1 + cap
    assert probe.flags() == "F" * 2 * cap, "a new turn has a block of its own, and its stop is no forced one"
    assert place.settings.read_bytes() == before


def test_nobody_waits_for_a_hook_on_a_call_that_has_run_and_a_turn_s_end_cuts_it_off(
    kimi: Client, place: Place
) -> None:
    slow, refused, failed = (make_probe(place.root, name) for name in ("slow", "refused", "failed"))
    write_settings(
        place,
        entry("PreToolUse", say(code=2, errors="no"), matcher="Write"),
        entry("PostToolUse", f"sleep 2; {slow.command}"),
        entry("PostToolUse", refused, matcher="Write"),
        entry("PostToolUseFailure", failed),
    )
    write = Call("Write", {"path": str(place.project / "file"), "content": ""})
    run = driver.DRIVER.play(kimi, place, [write, shell("false"), shell("true"), "done"])
    assert (run.requests, slow.heard(), refused.heard()) == (4, [], [])
    assert [heard.payload["tool_name"] for heard in failed.heard()] == ["Write", "Bash"], (
        "a refused call is a failed one"
    )
    assert failed.heard()[0].payload["error"]["message"] == "no"


OPERATORS = """\
# mine
default_model = "m"   # the model

[providers.x]
type = "openai"
api_key = "made-up"
# between

[models.m]
provider = "x"
model = "mock"
max_context_size = 1000

"""
