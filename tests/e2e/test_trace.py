"""Traced hooks on real clients: the model, the hooks and the person see what they see without a trace."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from hookctl.packs import tracing

from . import claude, copilot, droid, gemini, grok, kimi, qwen, vibe
from .agent import Place, Run
from .clients import Client
from .product import hookctl, hookctl_json, state_folder

pytestmark = [pytest.mark.e2e, pytest.mark.full]

PROBE = """n=$(ls "$2" | grep -c "^$1[.].*[.]in$")
cat > "$2/$1.$n.in"
env -0 | sort -z > "$2/$1.$n.env"
pwd > "$2/$1.$n.folder"
cat "$3/$1.out"
cat "$3/$1.err" >&2
exit $(cat "$3/$1.status")
"""
# What differs from run to run: sessions, times, ports, numbers of processes.
RANDOM = re.compile(
    r"[0-9a-f]{8}-[0-9a-f-]{8,}|\b[0-9a-f]{8,}\b|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z?|[0-9]{2,}(\.[0-9]+)?|\b[0-9]+m?s\b|(?<=[_n][mM]s\":)[0-9]+|toolu_\w+"
)


class Hook(NamedTuple):
    """A hook of another tool: its event, and what it says."""

    event: str
    out: str = ""
    err: str = ""
    status: int = 0


class Case(NamedTuple):
    """A client, what it is asked to do, and hooks that say all that they can."""

    driver: ModuleType
    hooks: dict[str, Hook]
    call: Any
    options: tuple[str, ...] = ()


def add(event: str, field: str = "additionalContext") -> str:
    """An answer that puts something into the context."""
    return json.dumps(
        {"hookSpecificOutput": {"hookEventName": event, field: f"told at {event}, né 日"}}, ensure_ascii=False
    )


def hooks_in_claudes_words(*lost: str) -> dict[str, Hook]:
    """Hooks of a host with Claude Code's events, but for those that never come in this client."""
    hooks = {
        "start": Hook("SessionStart", add("SessionStart")),
        "prompt": Hook("UserPromptSubmit", add("UserPromptSubmit")),
        "pre": Hook("PreToolUse", add("PreToolUse"), "nobody reads this"),
        "failing": Hook("PreToolUse", "lost", "a warning", 1),
        "post": Hook("PostToolUse", "", "what the model may hear, né 日", 2),
        "stop": Hook("Stop"),
    }
    return {name: hook for name, hook in hooks.items() if name not in lost}


CASES = {
    "claude": Case(
        claude,
        {
            "start": Hook("SessionStart", "plain text, né 日\n\n"),
            "prompt": Hook("UserPromptSubmit", add("UserPromptSubmit")),
            "pre": Hook("PreToolUse", add("PreToolUse"), "nobody reads this"),
            "failing": Hook("PreToolUse", "lost", "a warning", 1),
            "post": Hook("PostToolUse", "", "the model hears this, né 日", 2),
            "stop": Hook("Stop", json.dumps({"systemMessage": "bye"})),
        },
        claude.bash("echo tool"),
        ("--allowedTools", "Bash(echo tool)"),
    ),
    "gemini": Case(
        gemini,
        {
            "start": Hook("SessionStart", add("SessionStart")),
            "prompt": Hook("BeforeAgent", add("BeforeAgent")),
            "pre": Hook("BeforeTool", json.dumps({"systemMessage": "a message"})),
            "failing": Hook("BeforeTool", "", "a warning", 1),
            "post": Hook("AfterTool", add("AfterTool")),
            "stop": Hook("AfterAgent"),
        },
        gemini.shell("echo tool"),
        (gemini.YOLO,),
    ),
    "grok": Case(grok, hooks_in_claudes_words(), grok.shell("echo tool"), (grok.YOLO,)),
    "qwen": Case(qwen, hooks_in_claudes_words(), qwen.shell("echo tool"), (qwen.YOLO,)),
    "droid": Case(droid, hooks_in_claudes_words("prompt"), droid.shell("echo tool")),
    "copilot": Case(
        copilot,
        {
            "start": Hook("sessionStart", '{"additionalContext": "told at the start, né 日"}'),
            "prompt": Hook("userPromptSubmitted", '{"additionalContext": "told at the prompt"}'),
            "pre": Hook("preToolUse", '{"additionalContext": "told before the tool"}', "nobody reads this"),
            "post": Hook("postToolUse", '{"additionalContext": "told after the tool"}'),
            "stop": Hook("agentStop"),
        },
        copilot.shell("echo tool"),
    ),
    "kimi": Case(
        kimi,
        {
            "start": Hook("SessionStart", "lost"),
            "prompt": Hook("UserPromptSubmit", "said at the prompt, né 日"),
            "pre": Hook("PreToolUse", "lost", "nobody reads this"),
            "failing": Hook("PreToolUse", "lost", "a warning", 1),
            "post": Hook("PostToolUse", "lost"),
            "stop": Hook("Stop", "lost"),
        },
        kimi.shell("echo tool"),
    ),
    "vibe": Case(
        vibe,
        {
            "pre": Hook("pre_tool", json.dumps({"system_message": "a message, né 日"}), "nobody reads this"),
            "failing": Hook("pre_tool", "lost", "a warning", 1),
            "post": Hook("post_tool", '{"hook_specific_output": {"additional_context": "told after it, né 日"}}'),
            "stop": Hook("post_agent", json.dumps({"system_message": "bye"})),
        },
        vibe.shell("echo tool"),
        (vibe.YOLO,),
    ),
}


class Played(NamedTuple):
    """What one run left that a trace could change."""

    run: Run
    seen: dict[str, str]  # what the hooks were given
    model: list[str]  # what the model got
    said: list[str]  # what the person, or the client's own log, got


@pytest.fixture(params=list(CASES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def client(request: pytest.FixtureRequest, name: str) -> Client:
    found: Client = request.getfixturevalue(name)
    return found


def lay_out(case: Case, root: Path) -> tuple[Place, bytes]:
    """A place with these hooks in its settings; their bytes, as a person might have written them."""
    shutil.rmtree(root, ignore_errors=True)
    place: Place = case.driver.Place.make(root)
    seen, answers = root / "seen", root / "answers"
    for folder in (seen, answers):
        folder.mkdir()
    probe = root / "probe.sh"
    probe.write_text(PROBE)
    key = "bash" if case.driver is copilot else "command"
    events: dict[str, list[Any]] = {}
    entries: list[str] = []  # of a host with one list of all hooks
    for name, hook in case.hooks.items():
        for kind, text in (("out", hook.out), ("err", hook.err), ("status", str(hook.status))):
            (answers / f"{name}.{kind}").write_text(text)
        handler = {"type": "command", key: f"/bin/sh {probe} {name} '{seen}' \"{answers}\""}
        event = "event" if case.driver is kimi else "type"
        entries += ["[[hooks]] # mine", f'{event} = "{hook.event}"', f"command = {json.dumps(handler[key])}"]
        entries += [""] if case.driver is kimi else [f'name = "{name}"', ""]
        events.setdefault(hook.event, []).append(handler if key == "bash" else {"hooks": [handler]})
    if case.driver in (kimi, vibe):
        place.settings.write_text("\n".join(entries))
        return place, place.settings.read_bytes()
    settings: dict[str, Any] = {"version": 1} if key == "bash" else {}
    if place.settings.exists():
        settings = json.loads(place.settings.read_text())
    place.settings.write_text(json.dumps({**settings, "hooks": events}, indent=3, ensure_ascii=True) + "\n\n")
    return place, place.settings.read_bytes()


def play(case: Case, client: Client, place: Place) -> Played:
    run: Run = case.driver.play(client, place, [case.call, "done"], *case.options)
    assert run.code == 0, run.errors
    seen = {}
    for path in sorted((place.root / "seen").iterdir()):
        entries = path.read_text("utf-8", "replace").split("\0")
        seen[path.name] = steady("\n".join(entry for entry in entries if not entry.startswith("_=")))
    names = name_commands(place)
    model = [steady(with_names(json.dumps(entry.request.body, sort_keys=True), names)) for entry in run.log]
    lines = [line for line in (*run.out.splitlines(), *run.errors.splitlines()) if not line.startswith("[STARTUP]")]
    return Played(run, seen, model, sorted(steady(with_names(line, names)) for line in lines))


def name_commands(place: Place) -> dict[str, str]:
    """The commands in the settings, to the hook's own: some clients show them, where a hook blocks or fails."""
    names = {}
    for text in re.findall(r'"?(?:command|bash)"?(?:: | = )("(?:[^"\\]|\\.)*")', place.settings.read_text()):
        command = json.loads(text)
        names[command] = tracing.own_command(command)
    return names


def with_names(text: str, names: dict[str, str]) -> str:
    for command, own in names.items():
        for _ in range(3):  # as it is, in JSON, and in JSON inside of JSON
            text = text.replace(command, own)
            command, own = json.dumps(command)[1:-1], json.dumps(own)[1:-1]
    return text


def steady(text: str) -> str:
    return RANDOM.sub("N", text)


def test_nothing_differs_but_the_receipts(name: str, client: Client, tmp_path: Path) -> None:
    case, root = CASES[name], tmp_path / "place"
    place, _ = lay_out(case, root)
    alone = play(case, client, place)
    place, before = lay_out(case, root)
    hookctl(place, "trace", "on", "--host", name)
    assert place.settings.read_bytes().count(b": hookctl-trace=") == len(case.hooks)
    traced = play(case, client, place)
    assert list(traced.seen) == list(alone.seen)
    for file, text in alone.seen.items():
        assert traced.seen[file].splitlines() == text.splitlines(), file
    for mine, theirs in zip(sorted(traced.model), sorted(alone.model), strict=True):
        assert mine == theirs
    for mine, theirs in zip(traced.said, alone.said, strict=True):
        assert mine == theirs
    compare_with_receipts(case, place, traced)
    hookctl(place, "trace", "off")
    assert place.settings.read_bytes() == before


def compare_with_receipts(case: Case, place: Place, played: Played) -> None:
    """A receipt for each run that the hooks know of, and the statuses of the client's own log."""
    counts = Counter(name.partition(".")[0] for name in played.seen if name.endswith(".in"))
    assert set(counts) == set(case.hooks)
    listed = {}
    for hook in hookctl_json(place, "hooks")["hooks"]:
        listed[hook["command"].split()[2]] = hook
    assert {name: hook["runs"] for name, hook in listed.items()} == counts
    failing = {name for name, hook in case.hooks.items() if hook.status == 1}
    assert {name for name, hook in listed.items() if hook["failures"]} == failing
    for name, hook in case.hooks.items():
        told = re.search('told [^"]*', hook.out)
        if told:
            assert listed[name]["bytes"] == len(told[0].encode()) * counts[name]
    if isinstance(played.run, claude.Run):
        logs = state_folder(place).glob("guard/*/runs.jsonl")
        receipts = [json.loads(line) for log in logs for line in log.read_text().splitlines()]
        own = Counter((line["hook_event"], line["exit_code"]) for line in played.run.system_lines("hook_response"))
        assert Counter((line["event"], line["status"]) for line in receipts) == own
