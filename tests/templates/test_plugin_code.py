"""What OpenCode's plugin and Pi's extension have in common, in node: how commands are asked, and what they answer."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from . import opencode_stage, pi_stage
from .plugin_stage import BLOCK, NEEDS_NODE, Stage, nested

pytestmark = NEEDS_NODE


@pytest.fixture(params=[opencode_stage, pi_stage], ids=["opencode", "pi"])
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Stage:
    return request.param.Stage(tmp_path)


@pytest.mark.parametrize(
    "answer", ["", "{}", '{"decision":"block"}', '{"decision":"block","reason":""}', '{"reason":"x"}']
)
def test_no_block_or_one_without_a_reason_prompts_nobody(stage: Stage, answer: str) -> None:
    assert stage.hook(stage.stop, answer).prompts() == []


def test_a_status_of_2_is_no_block_of_a_stop(stage: Stage) -> None:
    assert stage.hook(stage.stop, command="echo go on >&2; exit 2").prompts() == []


DENIED = nested(permissionDecision="deny", permissionDecisionReason="not this one")
REFUSALS = {
    "deny": """echo '{"decision":"deny","reason":"not this one"}'""",
    "block": """echo '{"decision":"block","reason":"not this one"}'""",
    "nested": f"echo '{DENIED}'",
    "nested, ask": "echo '" + DENIED.replace('"deny"', '"ask"') + "'",
    "nested, with another status": f"echo '{DENIED}'; exit 3",
    "status 2": "echo not this one >&2; exit 2",
    "nested, beside what it leaves behind": f"sleep 9 >/dev/null & echo '{DENIED}'",
    "status 2, and what it leaves behind": "sleep 9 >/dev/null & echo not this one >&2; exit 2",
    "nested, beside what holds its streams": f"sleep 9 & echo '{DENIED}'",
    "status 2, beside what holds its streams": "sleep 9 & echo not this one >&2; exit 2",
    "status 2, and its reason on stdout": f"echo '{DENIED}'; echo another >&2; exit 2",
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refused_call_does_not_run_and_its_reason_is_told(stage: Stage, name: str) -> None:
    stage.hook(stage.before_call, command=REFUSALS[name], matcher="bash", timeout=5)
    assert stage.refusals(stage.call(), stage.call("edit")) == ["not this one", ""]


def test_what_a_command_leaves_running_holds_nobody(stage: Stage) -> None:
    note, late = stage.root / "process", stage.root / "late"
    stage.hook(stage.before_call, command=f"(sleep 20; touch {late}) & echo $! > {note}; echo '{DENIED}'")
    assert stage.refusals(stage.call()) == ["not this one"]
    assert not late.exists()
    os.kill(int(note.read_text()), signal.SIGKILL)


def test_a_changed_input_replaces_the_keys_that_it_names(stage: Stage) -> None:
    stage.hook(stage.before_call, nested(permissionDecision="allow", updatedInput={"command": "ls -a"}))
    assert stage.inputs(stage.call(command="ls", timeout=5)) == [{"command": "ls -a", "timeout": 5}]


def test_a_refused_call_keeps_its_input(stage: Stage) -> None:
    stage.hook(stage.before_call, nested(updatedInput={"command": "ls -a"})).hook(stage.before_call, DENIED)
    assert stage.inputs(stage.call()) == [{"command": "ls"}]


@pytest.mark.parametrize(
    ("matcher", "tools"),
    [
        (None, "bash edit webfetch"),
        ("", "bash edit webfetch"),
        ("*", "bash edit webfetch"),
        ("Bash|Edit", "bash edit"),
        ("b.*", "bash"),
        ("fetch", ""),
        ("(", ""),
    ],
)
def test_a_matcher_is_an_expression_for_the_whole_name_in_any_case(
    stage: Stage, matcher: str | None, tools: str
) -> None:
    stage.hook(stage.before_call, **({} if matcher is None else {"matcher": matcher}))
    stage.play(*map(stage.call, ("bash", "edit", "webfetch")))
    assert [heard["tool_name"] for heard in stage.heard()] == tools.split()


FAILURES = {
    "a missing program": "/nowhere/program",
    "a crash": "echo '{}'; exit 3",
    "a signal": "kill -9 $$",
    "a list": "echo '[1]'",
    "null": "echo null",
    "noise": f"echo note; echo '{BLOCK}'",
    "a permission": "echo '" + DENIED.replace('"deny"', '"allow"') + "'",
    "two answers": f"echo '{BLOCK}'; echo '{BLOCK}'",
    "closed streams": "exec <&- >&-",
    "too much": """printf '{"decision":"block","reason":"'; head -c 17000000 /dev/zero | tr '\\0' x; printf '"}'""",
    "not UTF-8": "printf '\\377\\376'",
}


@pytest.mark.parametrize("name", FAILURES)
def test_whatever_a_command_does_the_agent_goes_on(stage: Stage, name: str) -> None:
    stage.hook(stage.stop, command=FAILURES[name]).hook(stage.before_call, command=FAILURES[name])
    assert stage.refusals(stage.call(), stage.call(text="x" * 300_000)) == ["", ""]
    assert stage.prompts() == []


def test_a_command_that_takes_too_long_is_ended_with_all_its_processes(stage: Stage) -> None:
    mark = stage.root / "late"
    command = f"(sleep 2; touch {mark}) & echo '{BLOCK}'; wait"
    assert stage.hook(stage.stop, command=command, timeout=0.3).prompts() == []
    subprocess.run(["sleep", "2.2"], check=True)
    assert not mark.exists()


BROKEN = {
    "no command": [{}],
    "a number": [{"command": 5}],
    "a zero byte": [{"command": "true\0"}],
    "null": [None],
    "text": ["exit 0"],
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_entry_that_somebody_broke_takes_no_other_with_it(stage: Stage, name: str) -> None:
    stage.document = stage.document.set(("hooks", stage.stop), BROKEN[name])
    assert stage.hook(stage.stop, BLOCK).prompts() == ["go on"]


@pytest.mark.parametrize(
    "hooks", [None, 5, {"EVENT": 5}, {"EVENT": {}}, {"EVENT": [None, {"command": 5}]}, {}], ids=str
)
def test_settings_that_somebody_broke_do_nothing(stage: Stage, hooks: Any) -> None:
    if hooks and hooks != 5:
        hooks = dict.fromkeys((stage.stop, stage.before_call), hooks["EVENT"])
    stage.document = stage.document.set(("hooks",), hooks)
    assert (stage.refusals(stage.call()), stage.prompts()) == ([""], [])
