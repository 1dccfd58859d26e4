"""Our plugin in the real OpenCode and our extension in the real Pi: how commands are asked, and what they answer."""

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hookctl import hosts
from hookctl.documents.jsonc import PluginDocument
from tests.templates.wraps import alive

from . import mcp_server, opencode, pi, tables
from .acceptance import OPERATORS
from .agent import Run
from .clients import Client
from .dialects import Call, Reply
from .everywhere import CASES
from .hooks import in_turn
from .judge import nested
from .model_server import Script
from .probe import BLOCK

pytestmark = pytest.mark.e2e

DENIED = nested("PreToolUse", permissionDecision="deny", permissionDecisionReason="not this one")
ONCE = f"""[ -e once ] || {{ touch once; echo '{json.dumps({"decision": "block", "reason": "go on"})}'; }}"""


class Agent:
    """One of the two in a place of its own, with a file of ours that the test fills."""

    def __init__(self, driver: ModuleType, client: Client, root: Path) -> None:
        self.place = driver.Place.make(root, own_folders=True)
        self.driver, self.client = driver, client
        self.case = next(case for case in CASES if case.driver is driver)
        self.events = hosts.load(client.name).events
        self.document = PluginDocument.parse(b"", host=client.name)
        self.file = self.place.settings.with_name("hookctl.js")
        self.seen = self.place.root / "seen"

    def hook(self, event: str, command: str, **fields: Any) -> None:
        self.document = self.document.append(("hooks", self.events[event]), {"command": command, **fields})

    def note(self, event: str, more: str = ":") -> None:
        """A hook that writes down what it is told, and says more."""
        self.hook(event, f"""printf '%s\\n' "$(cat)" >> {self.seen}; {more}""")

    def heard(self, event: str) -> list[dict[str, Any]]:
        told = [json.loads(line) for line in self.seen.read_text().splitlines()] if self.seen.exists() else []
        return [each for each in told if each["hook_event_name"] == self.events[event]]

    def play(self, *replies: Reply) -> Run:
        """One turn; OpenCode goes on after it only where it is served."""
        self.file.write_bytes(self.document.data)
        is_one_turn = self.driver is opencode and self.events["stop"] not in self.document.value["hooks"]
        play = opencode.play_one_turn if is_one_turn else self.driver.play
        options = [pi.TRUST] if self.driver is pi else []
        run: Run = play(self.client, self.place, Script([*replies, "done"], limit=40), *options)
        assert run.code == 0, run.errors
        return run

    def shell(self, command: str) -> Call:
        call: Call = self.driver.shell(command)
        return call

    def made(self) -> list[str]:
        return sorted(path.name for path in self.place.project.iterdir() if not path.name.startswith("."))

    def prompts(self, run: Run) -> list[str]:
        if self.driver is opencode:
            return [prompt["text"] for prompt in run.prompts]  # type: ignore[attr-defined]
        return [told[0]["text"] for told in run.told("user")]


EACH = [pytest.param(opencode, id="opencode"), pytest.param(pi, id="pi")]
both = pytest.mark.parametrize("agent", EACH, indirect=True)
only_opencode = pytest.mark.parametrize("agent", EACH[:1], indirect=True)
only_pi = pytest.mark.parametrize("agent", EACH[1:], indirect=True)


@pytest.fixture(params=EACH)
def agent(request: pytest.FixtureRequest, tmp_path: Path) -> Agent:
    client = request.getfixturevalue(tables.name_of(request.param))
    return Agent(request.param, client, tmp_path / "place")


# Commands before a call that refuse it, and those that do not; and answers at a stop that block nothing.
COMMANDS = json.loads(Path(__file__).with_name("plugin_commands.json").read_text())
REFUSALS, FAILURES, NO_BLOCKS = (COMMANDS[name] for name in ("refusals", "failures", "no_blocks"))


@both
def test_a_refused_call_does_not_run_and_its_reason_is_told_whatever_is_left_running(agent: Agent) -> None:
    agent.hook("pre-tool", in_turn(agent.place.root, *REFUSALS), matcher="bash", timeout=5)
    run = agent.play(*(agent.shell(f"touch made{number}") for number, _ in enumerate(REFUSALS)))
    assert run.told("tool") == ["not this one"] * len(REFUSALS)
    assert [name for name in agent.made() if name.startswith("made")] == []


@both
def test_whatever_a_command_does_a_call_is_made(agent: Agent) -> None:
    """A command need not read what it is asked, however long that is."""
    agent.hook("pre-tool", in_turn(agent.place.root, *FAILURES))
    calls = [f"touch {number:02}; : {'x' * 100_000}" for number, _ in enumerate(FAILURES)]
    agent.play(*map(agent.shell, calls))
    assert agent.made() == [f"{number:02}" for number, _ in enumerate(FAILURES)]


def test_one_block_with_a_reason_prompts_the_agent_once_whatever_stands_beside_it(agent: Agent) -> None:
    """Broken entries, commands that fail or take too long, files that somebody broke, and the same file twice."""
    stop, pid = agent.events["stop"], agent.place.root / "pid"
    for number, hooks in enumerate((None, 5, {stop: 5}, {stop: {}}, {stop: [None, {"command": 5}]}, {})):
        broken = PluginDocument.parse(b"", host=agent.client.name).set(("hooks",), hooks)
        agent.file.with_name(f"broken{number}.js").write_bytes(broken.data)
    entries = [{}, {"command": 5}, {"command": "true\0"}, None, "exit 0"]
    agent.document = agent.document.set(("hooks", stop), entries)
    for command in (*FAILURES[:-1], *(f"echo '{answer}'" for answer in NO_BLOCKS), "echo on >&2; exit 2"):
        agent.hook("stop", command)
    agent.hook("stop", f"sleep 300 & echo $! > {pid}; echo '{BLOCK}'; wait", timeout=1)
    agent.note("stop", ONCE)
    whole, agent.document = agent.document, PluginDocument.parse(b"", host=agent.client.name)
    agent.note("stop", ONCE.replace("once", "twice"))
    of_project = Path(hosts.load(agent.client.name).files["project"].format(project=agent.place.project))
    of_project.parent.mkdir(parents=True)
    of_project.write_bytes(agent.document.data)
    agent.document = whole
    run = agent.play("one")
    assert (run.requests, agent.prompts(run)) == (2, ["begin", "go on"])
    heard = agent.heard("stop")
    assert [told["stop_hook_active"] for told in heard] == [False, False, True, True]
    assert len({told["prompt_id"] for told in heard}) == 1
    assert len({told["message_id"] for told in heard}) == 2
    assert not alive(int(pid.read_text()))


def test_a_changed_input_replaces_the_keys_that_it_names_and_a_result_is_told_what_hooks_say(agent: Agent) -> None:
    more = {"timeout": 5} if agent.driver is pi else {"timeout": 5000, "description": "a step"}
    agent.hook("pre-tool", nested("PreToolUse", permissionDecision="allow", updatedInput={"command": "echo changed"}))
    said = ["echo wrong >&2; exit 2", """echo '{"decision":"block","reason":"wrong"}'"""]
    said += [nested("PostToolUse", additionalContext="wrong"), nested("PostToolUse", updatedToolOutput="wrong")]
    agent.hook("post-tool", in_turn(agent.place.root, *said))
    agent.note("post-tool")
    run = agent.play(*(Call("bash", {"command": f"touch made{number}", **more}) for number, _ in enumerate(said)))
    assert [told.split() for told in run.told("tool")] == [["changed", "wrong"]] * 3 + [["wrong"]]
    heard = agent.heard("post-tool")
    assert [told["tool_input"] for told in heard] == [{"command": "echo changed", **more}] * len(said)
    assert {told["tool_response"]["output"] for told in heard} == {"changed\n"}


MATCHERS = {None: "bash write", "": "bash write", "*": "bash write", "Bash|Edit": "bash", "wr.*": "write", "rit": "",
            "(": ""}  # fmt: skip


def test_a_matcher_is_an_expression_for_the_whole_name_in_any_case(agent: Agent) -> None:
    for number, matcher in enumerate(MATCHERS):
        command = f"grep -o 'tool_name\":\"[a-z]*' | cut -c13- >> {agent.place.root}/matcher{number}"
        agent.hook("pre-tool", command, **({} if matcher is None else {"matcher": matcher}))
    agent.play(agent.shell("true"), agent.case.writes(agent.place))
    fits = {path.name: path.read_text().split() for path in agent.place.root.glob("matcher*")}
    assert [fits.get(f"matcher{number}", []) for number, _ in enumerate(MATCHERS)] == [
        *map(str.split, MATCHERS.values())
    ]


def test_every_context_reaches_the_model(agent: Agent) -> None:
    for event, name in (("session-start", "SessionStart"), ("prompt", "UserPromptSubmit"), ("pre-tool", "PreToolUse"),
                        ("post-tool", "PostToolUse")):  # fmt: skip
        agent.hook(event, nested(name, additionalContext=event))
    run = agent.play(agent.shell("echo ran"))
    assert [told.split() for told in run.told("tool")] == [["ran", "pre-tool", "post-tool"]]
    texts = [part["text"] for told in run.told("user") for part in told]
    assert "\n\n".join(texts) == "begin\n\nsession-start\n\nprompt"


@only_opencode
def test_the_result_of_an_mcp_tool_is_told_what_hooks_say_and_a_person_sees_their_own_words(agent: Agent) -> None:
    agent.hook("prompt", nested("UserPromptSubmit", additionalContext="with the prompt"))
    agent.note("stop")
    answers = ({"additionalContext": "after"}, {"updatedToolOutput": "*"})
    agent.hook("post-tool", in_turn(agent.place.root, *(nested("PostToolUse", **answer) for answer in answers)))
    command = {"type": "local", "command": [sys.executable, mcp_server.__file__]}
    agent.place.config.write_text(json.dumps({"mcp": {"probe": command}}))
    run = agent.play(Call("probe_ping", {}), Call("probe_ping", {}))
    assert run.told("tool") == ["pong\n\nafter", "*"]
    assert agent.prompts(run) == ["begin"]


@only_opencode
def test_only_the_end_of_a_prompt_s_turn_is_a_stop_and_a_sub_agent_works_for_its_session(agent: Agent) -> None:
    """In OpenCode an abort, a shell command and a compaction end in idle, too."""
    for event in ("session-start", "prompt", "pre-tool", "stop", "pre-compact"):
        agent.note(event)
    agent.file.write_bytes(agent.document.data)
    steps = [opencode.step(kind, text=text) for kind, text in (("abort", "second"), ("shell", "true"), ("compact", ""))]
    replies = [opencode.subagent("MARKER"), "one", agent.shell("sleep 30"), "a summary"]
    script = Script(replies, sub_marker="MARKER", sub_replies=[agent.shell("true"), "looked"])
    opencode.play(agent.client, agent.place, script, *steps)
    (start,), (stop,), (compact,) = map(agent.heard, ("session-start", "stop", "pre-compact"))
    first, second = agent.heard("prompt")
    assert [told["prompt"] for told in (first, second)] == ["begin", "second"]
    assert stop["prompt_id"] == first["prompt_id"]
    assert {told["session_id"] for told in (start, first, second, compact)} == {stop["session_id"]}
    calls = [(told["tool_name"], "agent_id" in told, told["session_id"]) for told in agent.heard("pre-tool")]
    assert [(tool, is_sub) for tool, is_sub, _ in calls] == [("task", False), ("bash", True), ("bash", False)]
    assert {session for *_, session in calls} == {stop["session_id"]}


@only_opencode
def test_the_end_of_the_process_waits_for_a_hook_and_prompts_nobody(agent: Agent) -> None:
    agent.hook("stop", f"sleep 2; touch late; echo '{BLOCK}'")
    agent.file.write_bytes(agent.document.data)
    for prompts, options in ((["begin"], []), (["begin", "more"], ["--continue"])):
        more = {"prompt": prompts[-1], "timeout": 180}
        run = opencode.play_one_turn(agent.client, agent.place, ["done"], *options, **more)
        assert (run.requests, run.code, run.told("user"), agent.made()) == (1, 0, prompts, ["late"])
        (agent.place.project / "late").unlink()


@only_pi
def test_a_result_is_replaced_whole_each_call_has_its_own_context_and_a_reload_begins_and_ends_nothing(
    agent: Agent,
) -> None:
    """What only Pi has: content for programs, calls at once, and extensions that are loaded anew."""
    log = agent.place.root / "log"
    agent.file.with_name("a.js").write_text((OPERATORS / "pi-own.js").read_text())  # before ours
    last = (OPERATORS / "pi-last.js").read_text().replace("LOG", json.dumps(str(log)))
    agent.file.with_name("last.js").write_text(last)
    for event in ("session-start", "session-end"):
        agent.note(event)
    agent.hook("post-tool", nested("PostToolUse", updatedToolOutput="***"), matcher="own")
    contexts = [nested("PreToolUse", additionalContext=word) for word in ("one", "two")]
    agent.hook("pre-tool", in_turn(agent.place.root, *contexts), matcher="bash")
    agent.hook("stop", ONCE)
    agent.file.write_bytes(agent.document.data)
    both = (agent.shell("sleep 1; echo 1"), agent.shell("echo 2"))
    replies = [Call("own", {}), both, "done"]
    run = pi.play_session(agent.client, agent.place, replies, "begin", "/again", "more")
    assert agent.prompts(run)[:3] == ["begin", "theirs", "go on"]
    own, *others = run.told("tool")[:3]
    assert (own, sorted(told.split() for told in others)) == ("***", [["1", "one"], ["2", "two"]])
    assert json.loads(log.read_text().splitlines()[0]) == [[{"type": "text", "text": "***"}], None]
    assert [told["source"] for told in agent.heard("session-start")] == ["startup"]
    assert [told["reason"] for told in agent.heard("session-end")] == ["quit"]


@only_pi
def test_the_end_of_a_turn_is_an_abort_and_the_person_reads_why(agent: Agent) -> None:
    agent.hook("pre-tool", """echo '{"decision":"deny","reason":"enough","continue":false}'""")
    agent.hook("pre-tool", DENIED)
    agent.file.write_bytes(agent.document.data)
    run = pi.play(agent.client, agent.place, [agent.shell("touch made"), "done"])
    assert (run.requests, run.code, run.errors.count("enough")) == (1, 1, 1)
    assert not (agent.place.project / "made").exists()
