"""The behaviour of the real Qwen Code that hookctl relies on; expected values are in pins/qwen.toml."""

import json
from pathlib import Path
from typing import Any

import pytest

from . import facts
from .clients import Client, pins_of
from .dialects import Call
from .facts import Fact, probe
from .hooks import END, FLAT, GUARDED, NESTED, SPEAK, UNDECIDED, group, say, verdict
from .model_server import Script
from .probe import BLOCK, make_probe
from .qwen import BASE, YOLO, Place, play, shell

pytestmark = [pytest.mark.e2e, pytest.mark.full]

CAP, EXIT = pins_of("qwen")["cap"], pins_of("qwen")["exit"]
GONE = "python3 /nowhere/hook.py"
STOP, BLOCKED = {"Stop": [probe()]}, {"Stop": [probe("it", BLOCK)]}
FACTS = [
    Fact("of 8 blocks in a row the last one is overridden and the reply kept", BLOCKED, requests=CAP["default"],
         flags="F" + "T" * (CAP["default"] - 1), distinct={"prompt_id": 1}, said=[CAP["said"].format(CAP["default"])],
         out="done" * CAP["default"] + "\n"),
    *(Fact(f"of the variable {variable} and the setting {setting} the variable counts, and is all that a hook sees",
           BLOCKED, requests=blocks, variables={CAP["key"]: variable},
           more={"env": {CAP["key"]: variable} if variable else {}, **({CAP["setting"]: setting} if setting else {})})
      for variable, setting, blocks in ((None, 3, 3), ("3", 5, 3), ("0", None, CAP["default"]),
                                        ("abc", None, CAP["default"]))),
    Fact("no cap is above 100", {"Stop": [say(BLOCK)]}, more={"env": {CAP["key"]: "5000"}}, timeout=180,
         replies=Script(["done"], limit=CAP["most"] + 5), requests=CAP["most"]),
    Fact("a tool call leaves the cap's count, the flag and the prompt as they were", BLOCKED, options=(YOLO,),
         more={CAP["setting"]: 3}, replies=["one", shell("true 1"), "two", shell("true 2"), "three", "four"],
         requests=5, flags="FTT", distinct={"prompt_id": 1}),
    facts.blocks("Stop", say(verdict("block", more=1)), say(verdict("deny")), say(verdict("block", "")), say(END),
                 say(BLOCK, code=1), say(code=2, errors="on"), GONE),
    facts.passes("Stop", [*UNDECIDED, say("text"), say(code=2), say(code=1, errors="on"), say(code=3, errors="on"),
                          "/nowhere/hook"], out="done\n"),
    Fact("of several messages a person gets to read the last", {"Stop": [say("text"), say(SPEAK), say()]}, requests=1,
         unsaid=["\ntext\n"], check=lambda came: came.run.errors.endswith("\nlet go\n")),
    # Below 1000 it is in seconds, any other in milliseconds.
    facts.times_out("Stop", [{"timeout": 1}, {"timeout": 1000}], {"timeout": 999}),
    facts.refuses("PreToolUse", shell,
                  [say(NESTED), say(verdict("block", "no")), say(verdict("deny", "no")), say(code=2, errors="no"),
                   GONE], [say(FLAT), say(code=2), say(code=1, errors="no"), GUARDED.format("/nowhere/hook.py")],
                  lambda run: [content[0]["text"] for content in run.told("tool")[:4]], "no", options=(YOLO,)),
    # Files
    Fact("user and project hooks run and the same command once", {"Stop": [probe("user"), probe("both")]},
         files={"project/.qwen/settings.json": {"Stop": [probe("project"), probe("both", timeout=9)]}},
         flags={"user": "F", "project": "F", "both": "F"}),
    Fact("variables in any string of the settings are replaced when they are loaded",
         {"Stop": [probe("it", env={"OWN": "in ${HOME}"})]},
         more={"env": {"KNOWN": "in $HOME", "UNKNOWN": "in $NOWHERE"}},
         variables={"KNOWN": "in {place.home}", "UNKNOWN": "in $NOWHERE", "OWN": "in {place.home}"}),
    Fact("comments and a byte order mark are read", {"Stop": [probe("it", BLOCK, "")]}, requests=2, flags="FT",
         text=lambda text: f"\ufeff// mine\n{text}/* too */\n\n", keeps=True),
    Fact("a trailing comma keeps it from starting", STOP, text=lambda text: text[:-1] + ",}", requests=0,
         code=EXIT["settings_broken"], check=lambda came: came.place.settings.read_bytes()
         == came.place.settings.with_name("settings.json.corrupted").read_bytes()),
]  # fmt: skip
test_fact = facts.table("qwen", FACTS, facts.claude_like(BASE))


def write_settings(path: Path, more: dict[str, Any] | None = None, **events: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**BASE, **(more or {}), "hooks": events}))


def test_where_folders_are_trusted_one_by_one_a_stranger_s_hooks_do_not_run(qwen: Client, place: Place) -> None:
    user, project = make_probe(place.root, "user"), make_probe(place.root, "project")
    security = {**BASE["security"], "folderTrust": {"enabled": True}}
    write_settings(place.settings, {"security": security}, Stop=[group(user)])
    write_settings(place.project / ".qwen" / "settings.json", Stop=[group(project)])
    play(qwen, place, ["done"])
    assert (user.flags(), project.flags()) == ("F", "")
    place.settings.with_name("trustedFolders.json").write_text(json.dumps({str(place.project): "TRUST_FOLDER"}))
    play(qwen, place, ["done"])
    assert (user.flags(), project.flags()) == ("FF", "F")


def test_context_after_a_failed_tool_reaches_the_model(qwen: Client, place: Place) -> None:
    nested = {"hookEventName": "PostToolUseFailure", "additionalContext": "AFTER-FAILURE"}
    failed = make_probe(place.root, "failed", answers=(json.dumps({"hookSpecificOutput": nested}),))
    ended = make_probe(place.root, "ended")
    write_settings(place.settings, PostToolUseFailure=[group(failed)], PostToolUse=[group(ended)])
    gone = Call("read_file", {"file_path": str(place.project / "gone.txt")})
    run = play(qwen, place, [gone, shell("true"), "done"], YOLO)
    assert [heard.payload["tool_name"] for heard in failed.heard()] == ["read_file"]
    assert len(ended.heard()) == 1
    assert "AFTER-FAILURE" in json.dumps([asked.request.body for asked in run.log])
