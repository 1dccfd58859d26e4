"""--dispatch TOOL[:MAX/SECONDS]: what it says of tools and limits, and what it does not take."""

import pytest

from hookctl import hosts
from hookctl.packs import guard
from hookctl.packs.abilities import limits_for
from hookctl.packs.choices import Settings


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
