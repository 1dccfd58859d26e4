"""hookctl's promises, kept with the real Pi: installed by the command line, run, and taken out again."""

import json

import pytest

from .clients import Client
from .judge import install_judge
from .model_server import Script
from .pi import Place, play, play_session, shell
from .product import KEPT, LIMIT, codes, decisions, hookctl, hookctl_json, leave_work

pytestmark = [pytest.mark.e2e, pytest.mark.full]

HOST = ("--host", "pi")
OWN_FOLDERS = True


def states(place: Place) -> dict[str, str]:
    """What hookctl says of the hooks of each owner."""
    return {hook["owner"]: hook["state"] for hook in hookctl_json(place, "hooks")["hooks"]}


def test_a_prompt_of_a_person_begins_anew_in_one_session_and_in_a_resumed_one(pi: Client, place: Place) -> None:
    hookctl(place, "install", *HOST)
    leave_work(place)
    run = play_session(pi, place, Script(["done"], limit=30), "one", "two")
    assert (run.requests, codes(place)) == (2 * (LIMIT + 1), KEPT * 2)
    assert play(pi, place, ["done"], "--continue", prompt="three").requests == LIMIT + 1
    assert codes(place) == KEPT * 3
    assert len({entry["session"] for entry in decisions(place)}) == 1


def test_a_message_that_a_person_has_typed_comes_before_a_block(pi: Client, place: Place) -> None:
    typed = place.root / "typed"
    block = """echo '{"decision":"block","reason":"go on"}'"""
    install_judge(place, "pi", stop=f"[ -e {typed} ] || {{ until [ -e {typed} ]; do sleep 0.1; done; {block}; }}")
    more = {"type": "follow_up", "message": "more", "while": "agent_end", "then": str(typed)}
    run = play_session(pi, place, ["one", "two"], "begin", more)
    assert [told[0]["text"] for told in run.told("user")] == ["begin", "more"]


def test_the_agent_s_own_commands_know_the_session(pi: Client, place: Place) -> None:
    install_judge(place, "pi", stop=f"cat > {place.root / 'told'}")
    run = play(pi, place, [shell("printenv PI_SESSION_ID"), "done"])
    assert run.told("tool") == [json.loads((place.root / "told").read_text())["session_id"] + "\n"]


def test_a_refused_prompt_does_not_reach_the_model(pi: Client, place: Place) -> None:
    install_judge(place, "pi", prompt="echo not now >&2; exit 2")
    run = play(pi, place, ["done"])
    assert (run.requests, run.code, run.errors) == (0, 0, "not now\n")


def test_hooks_hear_of_a_compaction_and_of_the_end_of_each_session_once(pi: Client, place: Place) -> None:
    log = place.root / "log"
    note = f"cat >> {log}; echo >> {log}"
    install_judge(place, "pi", session_start=note, pre_compact=note, session_end=note)
    (place.agent_folder / "settings.json").write_text('{"compaction": {"keepRecentTokens": 10}}')
    compact, new = {"type": "compact"}, {"type": "new_session"}
    play_session(pi, place, ["one" * 50], "begin", "again", compact, new, "begin")
    heard = [json.loads(line) for line in log.read_text().splitlines()]
    assert [told["hook_event_name"] for told in heard] == [
        "session_start", "session_before_compact", "session_shutdown", "session_start", "session_shutdown",
    ]  # fmt: skip
    reasons = [told.get("source") or told.get("trigger") or told["reason"] for told in heard]
    assert reasons == ["startup", "manual", "new", "new", "quit"]


TRUSTED = {
    "nobody says so": ({}, {}, False),
    "the folder is": ({"PROJECT": True}, {}, True),
    "the folder above is": ({"ABOVE": True}, {}, True),
    "the folder above is, and it is not": ({"ABOVE": True, "PROJECT": False}, {}, False),
    "the folder above is, and of it nothing is said": ({"ABOVE": True, "PROJECT": None}, {}, True),
    "every folder is": ({}, {"defaultProjectTrust": "always"}, True),
    "no folder is": ({}, {"defaultProjectTrust": "never"}, False),
    "the settings are broken": ({}, "{", False),
}


@pytest.mark.parametrize("name", TRUSTED)
def test_a_project_s_hooks_run_where_hookctl_says_so(pi: Client, place: Place, name: str) -> None:
    folders, settings, runs = TRUSTED[name]
    paths = {"PROJECT": str(place.project), "ABOVE": str(place.root)}
    text = json.dumps({paths[folder]: word for folder, word in folders.items()})
    (place.agent_folder / "trust.json").write_text(text)
    (place.agent_folder / "settings.json").write_text(settings if isinstance(settings, str) else json.dumps(settings))
    hookctl(place, "install", *HOST, "--scope", "project")
    leave_work(place)
    assert states(place)["guard"] == ("runs" if runs else "folder_untrusted")
    assert play(pi, place, ["done"]).requests == (LIMIT + 1 if runs else 1)
    assert ("Pi does not trust" in hookctl(place, "doctor", "--verbose").stdout) is not runs
