"""hookctl's promises, kept with six clients beyond the story that all of them share."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hookctl import hosts
from hookctl.survey.listing import list_hooks
from hookctl.survey.plugins import read_plugins
from tests.manifest import hook as pack_hook
from tests.manifest import manifest
from tests.test_entries_of_hosts import DROPPED, TAKEN, text_of

from . import grok, kimi, opencode, openhands, pi, vibe
from .acceptance import OPERATORS
from .agent import Run
from .clients import Client
from .dialects import Call
from .everywhere import receipt_lines, told
from .hooks import group, verdict
from .judge import install_judge
from .model_server import Script
from .plugins import by_own_means, machine_of
from .probe import make_probe
from .product import KEPT, LIMIT, codes, decisions, hookctl, hookctl_json, leave_work
from .test_facts_of_others import entry, hook

pytestmark = [pytest.mark.e2e, pytest.mark.full]
OWN_FOLDERS = True


def on(host: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("host", [host])


# Kimi Code

BEGIN = Call("Agent", {"prompt": "MARKER", "description": "a part", "subagent_type": "coder"})


@on("kimi")
def test_a_sub_agent_is_kept_too_and_the_limit_holds_for_both(client: Client, place: Any) -> None:
    hookctl(place, "install", "--host", "kimi", "--set", "MAX_STOP_BLOCKS=1")
    leave_work(place)

    def turn(*calls: Call) -> tuple[int, int, list[str]]:
        said = len(codes(place))
        run = kimi.play(client, place, Script([*calls, "done"], limit=9, sub_marker="MARKER", sub_replies=["looked"]))
        return run.requests, run.count("sub"), codes(place)[said:]

    assert turn(BEGIN) == (3, 2, ["blocked", "blocked"]), "the sub-agent is a new tool call of the agent's"
    hookctl(place, "run", "start", "--project", str(place.project))  # else the work is the first session's
    assert turn(BEGIN, BEGIN) == (3, 4, ["blocked", "blocked", "tripped"]), "the same one again is none"


@on("kimi")
@pytest.mark.parametrize("more", ["", '[tools]\n"x y" = 1\n\n'], ids=["plain", "quoted"])
def test_a_file_that_the_client_wrote_anew_loses_our_hooks_and_nothing_else(
    client: Client, place: Any, more: str
) -> None:
    theirs = make_probe(place.root, "operators")
    place.settings.write_text(
        (OPERATORS / "kimi-config.toml").read_text() + more + entry("Stop", theirs.command, timeout=5) + "# end\n"
    )
    hookctl(place, "install", "--host", "kimi")
    by_own_means(kimi, client, place, "provider", "remove", "x")
    text = place.settings.read_text()
    assert ("# end" in text, text.count("hookctl=guard/")) == (not more, 3)
    assert hookctl_json(place, "install", "--host", "kimi")["actions"] == []
    leave_work(place)
    assert kimi.play(client, place, Script(["done"], limit=4)).requests == 2
    done = hookctl(place, "uninstall")
    assert done.stderr == ""
    left = tomllib.loads(place.settings.read_text())["hooks"]
    assert left == [{"event": "Stop", "command": theirs.command, "timeout": 5}]
    assert ("# end" in place.settings.read_text()) is not bool(more)
    assert (kimi.play(client, place, ["done"]).requests, theirs.flags()) == (1, "FF")


@on("kimi")
def test_hooks_of_plugins_are_listed_as_the_client_runs_them(client: Client, place: Any) -> None:
    ran = place.root / "ran"

    def plugin(folder: Path, name: str, hooks: list[dict[str, object]], *, manifest: str = "kimi.plugin.json") -> None:
        (folder / manifest).parent.mkdir(parents=True)
        (folder / manifest).write_text(json.dumps({"name": name, "version": "1.0.0", "hooks": hooks}))

    def installed(*names: str) -> None:
        path = place.settings.parent / "plugins" / "installed.json"
        path.parent.mkdir(exist_ok=True)
        about = {"source": "local-path", "installedAt": "2026-11-24T00:00:00.000Z"}
        rows = [
            {"id": name, "root": str(place.root / name), "enabled": name in names, **about} for name in ("one", "two")
        ]
        path.write_text(json.dumps({"version": 1, "plugins": rows}))

    def wrote() -> list[str]:
        ran.unlink(missing_ok=True)
        kimi.play(client, place, ["done"])
        return sorted(ran.read_text().split()) if ran.exists() else []

    def states() -> list[tuple[str, str]]:
        hooks = list_hooks(read_plugins(machine_of(place), hosts.load("kimi"))[0])
        return sorted((hook.owner, hook.state) for hook in hooks)

    command = f'echo "$KIMI_PLUGIN_ROOT" >> {ran}'
    plugin(place.root / "one", "one", [{"event": "SessionStart", "command": command}])
    bad = {"event": "SessionStart", "command": f"echo bad >> {ran}", "name": "x"}
    good = {"event": "SessionStart", "command": f"echo two >> {ran}"}
    plugin(place.root / "two", "two", [bad, good], manifest=".kimi-plugin/plugin.json")
    installed("one", "two")
    assert wrote() == sorted([str(place.root / "one"), "two"])
    assert states() == [("one", "runs"), ("two", "ignored"), ("two", "runs")]
    installed("two")
    assert wrote() == ["two"]
    assert states() == [("one", "off"), ("two", "ignored"), ("two", "runs")]


def states(place: Any) -> dict[str, str]:
    """What hookctl says of the hooks of each owner."""
    return {hook["owner"]: hook["state"] for hook in hookctl_json(place, "hooks")["hooks"]}


@on("pi")
def test_a_prompt_of_a_person_begins_anew_in_one_session_and_in_a_resumed_one(client: Client, place: Any) -> None:
    hookctl(place, "install", "--host", "pi")
    leave_work(place)
    run = pi.play_session(client, place, Script(["done"], limit=30), "one", "two")
    assert (run.requests, codes(place)) == (2 * (LIMIT + 1), KEPT * 2)
    assert pi.play(client, place, ["done"], "--continue", prompt="three").requests == LIMIT + 1
    assert codes(place) == KEPT * 3
    assert len({entry["session"] for entry in decisions(place)}) == 1


@on("pi")
def test_a_message_that_a_person_has_typed_comes_before_a_block(client: Client, place: Any) -> None:
    typed = place.root / "typed"
    block = """echo '{"decision":"block","reason":"go on"}'"""
    install_judge(place, "pi", stop=f"[ -e {typed} ] || {{ until [ -e {typed} ]; do sleep 0.1; done; {block}; }}")
    more = {"type": "follow_up", "message": "more", "while": "agent_end", "then": str(typed)}
    run = pi.play_session(client, place, ["one", "two"], "begin", more)
    assert [told[0]["text"] for told in run.told("user")] == ["begin", "more"]


@on("pi")
def test_the_agent_s_own_commands_know_the_session(client: Client, place: Any) -> None:
    install_judge(place, "pi", stop=f"cat > {place.root / 'told'}")
    run = pi.play(client, place, [pi.shell("printenv PI_SESSION_ID"), "done"])
    assert run.told("tool") == [json.loads((place.root / "told").read_text())["session_id"] + "\n"]


@on("pi")
def test_a_refused_prompt_does_not_reach_the_model(client: Client, place: Any) -> None:
    install_judge(place, "pi", prompt="echo not now >&2; exit 2")
    run = pi.play(client, place, ["done"])
    assert (run.requests, run.code, run.errors) == (0, 0, "not now\n")


@on("pi")
def test_hooks_hear_of_a_compaction_and_of_the_end_of_each_session_once(client: Client, place: Any) -> None:
    log = place.root / "log"
    note = f"cat >> {log}; echo >> {log}"
    install_judge(place, "pi", session_start=note, pre_compact=note, session_end=note)
    (place.agent_folder / "settings.json").write_text('{"compaction": {"keepRecentTokens": 10}}')
    compact, new = {"type": "compact"}, {"type": "new_session"}
    pi.play_session(client, place, ["one" * 50], "begin", "again", compact, new, "begin")
    heard = [json.loads(line) for line in log.read_text().splitlines()]
    assert [told["hook_event_name"] for told in heard] == [
        "session_start", "session_before_compact", "session_shutdown", "session_start", "session_shutdown",
    ]  # fmt: skip
    reasons = [told.get("source") or told.get("trigger") or told["reason"] for told in heard]
    assert reasons == ["startup", "manual", "new", "new", "quit"]


# What is said of folders, Pi's settings, and whether a project's hooks run then.
TRUSTED = json.loads(Path(__file__).with_name("pis_trust.json").read_text())


@on("pi")
@pytest.mark.parametrize("name", TRUSTED)
def test_a_project_s_hooks_run_where_hookctl_says_so(client: Client, place: Any, name: str) -> None:
    folders, settings, runs = TRUSTED[name]
    paths = {"PROJECT": str(place.project), "ABOVE": str(place.root)}
    text = json.dumps({paths[folder]: word for folder, word in folders.items()})
    (place.agent_folder / "trust.json").write_text(text)
    (place.agent_folder / "settings.json").write_text(settings if isinstance(settings, str) else json.dumps(settings))
    hookctl(place, "install", "--host", "pi", "--scope", "project")
    leave_work(place)
    assert states(place)["guard"] == ("runs" if runs else "folder_untrusted")
    assert pi.play(client, place, ["done"]).requests == (LIMIT + 1 if runs else 1)
    assert ("Pi does not trust" in hookctl(place, "doctor", "--verbose").stdout) is not runs


def write_hooks(path: Path, *hooks: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(hooks))


@on("vibe")
def test_the_hooks_that_are_listed_as_running_run_and_no_other(client: Client, place: Any) -> None:
    names = ("user", "project", "twice", "second", "own")
    probes = {name: make_probe(place.root, name) for name in names}
    write_hooks(
        place.settings,
        hook("post_agent", probes["user"].command, name="same"),
        hook("post_agent", probes["twice"].command, name="twice"),
        hook("pre_tool", probes["second"].command, name="twice"),
        hook("post_tool", probes["own"].command, name="own"),
    )
    write_hooks(place.project / ".vibe" / "hooks.toml", hook("post_agent", probes["project"].command, name="same"))

    def check(*options: str) -> set[str]:
        """What runs, which is what is listed as running."""
        before = {name: len(probe.heard()) for name, probe in probes.items()}
        assert vibe.play(client, place, Script([vibe.shell("true"), "done"], limit=9), vibe.YOLO, *options).code == 0
        ran = {name for name, probe in probes.items() if len(probe.heard()) > before[name]}
        by_command = {probe.command: name for name, probe in probes.items()}
        rows = hookctl_json(place, "hooks", "--host", "vibe")["hooks"]
        listed = {by_command[row["command"]] for row in rows if row["state"] == "runs"}
        assert ran == listed
        return ran

    assert check() == {"user", "twice", "own"}
    trust = f'trusted = ["{place.project}"]\nuntrusted = []\n'
    (place.config / client.pins["trust"]["file"]).write_text(trust)
    assert check() == {"project", "twice", "own"}


@on("vibe")
def test_what_the_client_drops_is_what_is_listed_as_dropped(client: Client, place: Any) -> None:
    """One file with every hook that it takes, and every one that it does not."""
    entries = [*TAKEN, *(fields for fields, _ in DROPPED)]
    ran = place.root / "ran"
    hooks = [text_of(fields, number, f"echo {number} >> {ran}") for number, fields in enumerate(entries)]
    write_hooks(place.settings, *hooks)
    assert vibe.play(client, place, Script([vibe.shell("true"), "done"], limit=9), vibe.YOLO).code == 0
    states = {hook["line"]: hook["state"] for hook in hookctl_json(place, "hooks", "--host", "vibe")["hooks"]}
    listed = {number for number, line in enumerate(sorted(states)) if states[line] == "runs"}
    assert {*map(int, ran.read_text().split())} == listed == set(range(len(TAKEN)))


@on("openhands")
def test_a_second_prompt_is_kept_again_and_a_new_tool_call_starts_the_count_again(client: Client, place: Any) -> None:
    hookctl(place, "install", "--host", "openhands", "--set", "max_stop_blocks=2")
    leave_work(place)
    replies = ["one", "two", "three", "four", openhands.shell("true 1"), "on and on"]
    run = openhands.play(client, place, replies, "second")
    assert codes(place) == ["blocked", "blocked", "tripped", *["blocked"] * 3, "tripped"]
    assert (run.requests, run.status) == (8, "finished")
    assert [text for text in run.told("user") if text in ("begin", "second")] == ["begin", "second"]


@on("openhands")
def test_a_person_s_next_prompt_starts_the_count_of_a_wrapped_hook_again(client: Client, place: Any) -> None:
    foreign = make_probe(place.root, "foreign", answers=(verdict("deny"),))
    place.settings.write_text(json.dumps({"stop": [group(foreign)]}))
    hookctl(place, "install", "--host", "openhands", "--mode", "off", "--wrap", "foreign")
    run = openhands.play(client, place, ["done"], "the same", "the same")
    assert (run.requests, run.status) == (3 * LIMIT, "finished")


# OpenCode

MODEL = {"providerID": "mock", "modelID": "mock"}


def idled(place: Any) -> int:
    """How often the operator's plugin has seen an idle session."""
    log = place.root / "idle"
    return len(log.read_text().splitlines()) if log.exists() else 0


def plugins(place: Any) -> dict[str, bytes]:
    """The operator's folder of plugins."""
    return {path.name: path.read_bytes() for path in place.settings.parent.iterdir()}


@on("opencode")
def test_the_guard_keeps_the_agent_lets_it_go_and_leaves_nothing_behind(client: Client, place: Any) -> None:
    place.settings.write_text(
        (OPERATORS / "opencode.js").read_text().replace("LOG", json.dumps(str(place.root / "idle")))
    )
    before = plugins(place)
    leave_work(place)
    assert opencode.play(client, place, ["done"]).requests == 1
    assert idled(place) == 1

    hookctl(place, "install", "--host", "opencode")
    hookctl(place, "install", "--host", "opencode")
    second = opencode.step("prompt", text="second", agent="plan")
    run = opencode.play(client, place, Script(["done"], limit=30), second)
    assert (run.code, run.requests, codes(place)) == (0, 2 * (LIMIT + 1), KEPT * 2)
    assert idled(place) == 1 + run.requests
    reason = "Work remains (2)."
    assert [prompt["text"][: len(reason)] for prompt in run.prompts] == [
        "begin", *[reason] * LIMIT, "second", *[reason] * LIMIT,
    ]  # fmt: skip
    # A session that plans goes on planning.
    assert [prompt["agent"] for prompt in run.prompts] == ["build"] * (LIMIT + 1) + ["plan"] * (LIMIT + 1)
    assert [prompt["model"] for prompt in run.prompts] == [MODEL] * run.requests
    assert "stopped blocking after 5 blocks" in (place.home / ".local/share/opencode/log/opencode.log").read_text()

    hookctl(place, "uninstall")
    assert plugins(place) == before
    assert opencode.play(client, place, ["done"]).requests == 1
    assert len(decisions(place)) == 2 * (LIMIT + 1)


# Grok Build runs what is ours in Claude Code's file: in its words, and once where its own file has it too.

PACK = manifest("judge", pack_hook("PreToolUse", "echo not by force >&2; exit 2", matcher="Bash"))
TRUSTS = {"GROK_FOLDER_TRUST": "0"}  # a project's hooks run without a question
WHERE = [["claude"], ["grok"], ["claude", "grok"]]
everywhere = pytest.mark.parametrize("hosts", WHERE, ids=" and ".join)


def play_grok(client: Client, place: Any, *replies: Any) -> Run:
    return grok.play(client, place, Script([*replies, "done"], limit=20), grok.YOLO, environment=TRUSTS)


@on("grok")
@pytest.mark.parametrize("scope", ["user", "project"])
@everywhere
def test_the_guard_counts_a_stop_once_and_keeps_the_agent_at_work(
    client: Client, place: Any, hosts: list[str], scope: str
) -> None:
    leave_work(place)
    for name in hosts:
        hookctl(place, "install", "--host", name, "--scope", scope)
    run = play_grok(client, place)
    assert codes(place) == KEPT
    assert run.requests == len(KEPT)
    assert {line["host"] for line in decisions(place)} == {"grok"}
    assert json.dumps(run.last_messages).count("Work remains (2)") == len(KEPT) - 1


@on("grok")
@everywhere
def test_a_packs_command_runs_once_and_refuses(client: Client, place: Any, hosts: list[str]) -> None:
    folder = place.root / "judge"
    folder.mkdir()
    (folder / "pack.toml").write_text(PACK)
    for name in hosts:
        hookctl(place, "install", str(folder), "--host", name)
    run = play_grok(client, place, grok.shell("touch gone"))
    assert not (place.project / "gone").exists()
    assert "not by force" in told(run)
    lines = [(line["host"], line["event"], line["outcome"]) for line in receipt_lines(place)]
    assert lines == [("grok", "PreToolUse", "deny")]


@on("grok")
def test_all_hooks_of_an_event_get_the_same_bytes(client: Client, place: Any) -> None:
    """By which a stop that comes twice is known for one."""
    own, borrowed = make_probe(place.root, "own"), make_probe(place.root, "borrowed")
    for path, probe in ((place.settings, own), (place.home / ".claude/settings.json", borrowed)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"hooks": {"Stop": [group(probe)]}}))
    play_grok(client, place)
    assert [heard.payload for heard in own.heard()] == [heard.payload for heard in borrowed.heard()] != []
    assert borrowed.heard()[0].environment["GROK_HOOK_EVENT"] == "stop"


@on("grok")
def test_what_stands_in_cursors_own_form_does_not_run_there(client: Client, place: Any) -> None:
    leave_work(place)
    hookctl(place, "install", "--host", "cursor")
    assert play_grok(client, place).requests == 1
    assert decisions(place) == []
