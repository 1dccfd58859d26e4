"""--dispatch TOOL[:MAX/SECONDS]: what it says of tools and limits, and what it does not take."""

import pytest

from hookctl import hosts
from hookctl.errors import HookctlError
from hookctl.packs import guard
from hookctl.packs.abilities import limits_for
from hookctl.packs.choices import Request, Settings, choose, remarks


@pytest.mark.parametrize(
    ("wishes", "knobs"),
    [
        (("Bash",), {"dispatch_tools": ["Bash"]}),
        (("Bash:30/300",), {"dispatch_tools": ["Bash"], "dispatch_max": 30, "dispatch_window_s": 300}),
        (("Bash:2/60", "mcp__board__show"), {"dispatch_tools": ["Bash", "mcp__board__show"], "dispatch_max": 2}),
        (("server:tool",), {"dispatch_tools": ["server:tool"]}),
        (("*",), {"dispatch_tools": ["*"]}),
        (("",), {"dispatch_tools": []}),
    ],
)
def test_the_option_becomes_knobs(wishes: tuple[str, ...], knobs: dict[str, object]) -> None:
    chosen = choose(Settings(), Request(dispatch=wishes)).options
    assert {**chosen, **knobs} == chosen


@pytest.mark.parametrize("wish", ["Bash:30", "Bash:30/", "Bash:/300", "Bash:", "Bash,Read", ":30/300", "Bash:1/2/3"])
def test_a_limit_of_which_a_part_is_missing_is_no_tool_s_name(wish: str) -> None:
    with pytest.raises(HookctlError, match="has no tool") as caught:
        choose(Settings(), Request(dispatch=(wish,)))
    assert "TOOL:MAX/SECONDS" in caught.value.hint


def test_two_limits_are_one_too_many() -> None:
    with pytest.raises(HookctlError, match="share one limit"):
        choose(Settings(), Request(dispatch=("Bash:30/300", "Read:10/300")))


@pytest.mark.parametrize(
    ("wishes", "named"),
    [(("Task:x",), "Task:x"), (("a:b", "Read", "c:d/e"), "a:b, c:d/e"), (("MCP:show", "Read:3/60"), ""), ((), "")],
)
def test_a_colon_in_a_tool_s_name_is_said_in_case_a_limit_was_meant(wishes: tuple[str, ...], named: str) -> None:
    request = Request(dispatch=wishes)
    said = remarks(choose(Settings(), request), request)
    assert said == ((f"{named} is taken for a tool's whole name; a limit is as in Task:30/300",) if named else ())


@pytest.mark.parametrize(("end", "expected"), [(3, ("pre-tool", "prompt")), (0, ("pre-tool",))])
def test_where_prompts_come_as_events_the_end_of_a_turn_needs_them(end: int, expected: tuple[str, ...]) -> None:
    settings = Settings("off", {"dispatch_tools": ["Task"], "dispatch_end": end})
    assert guard.events(settings, hosts.load("gemini")) == expected


def test_what_a_host_cannot_end_is_said_once_asked_for() -> None:
    codex = hosts.load("codex")
    for most, is_said in ((0, False), (3, True)):
        settings = Settings("breaker", {"dispatch_tools": ["Task"], "dispatch_end": most})
        assert ("--dispatch only refuses" in " ".join(limits_for(codex, settings)[1])) == is_said


@pytest.mark.parametrize(
    ("host", "asked", "counted"),
    [
        ("vibe", ["Bash"], ["file_system.bash"]),
        ("vibe", ["bash", "file_system.bash", "own.tool"], ["file_system.bash", "own.tool"]),
        ("pi", ["BASH"], ["bash"]),
        ("grok", ["Write"], ["write", "search_replace"]),
        ("qwen", ["Bash", "*"], ["run_shell_command", "*"]),
        ("codex", ["Edit"], ["apply_patch"]),
        ("claude", ["Task", "bash"], ["Agent", "Task", "bash"]),
    ],
)
def test_calls_are_counted_under_the_names_that_the_host_sends(host: str, asked: list[str], counted: list[str]) -> None:
    settings = Settings("breaker", {"dispatch_tools": asked})
    assert guard.configuration(settings, "", hosts.load(host))["dispatch_tools"] == counted
