"""From files with hooks to the list: IDs, owners, states and repeats; nothing is read."""

from __future__ import annotations

from typing import Any

import pytest

from hookctl import hosts
from hookctl.errors import HookctlError
from hookctl.hooks import ids
from hookctl.hooks.listing import list_hooks
from hookctl.hooks.model import Handler, Hook, HookFile, Obstacle
from hookctl.hosts import hook_id
from hookctl.hosts.loading import never_runs

CLAUDE = hosts.load("claude")


def command(text: str, event: str = "Stop", matcher: str = "", line: int = 1, own: str = "", **more: Any) -> Handler:
    fields = {"type": "command", "command": text, **more}
    return Handler(("hooks", event, line), event, fields, matcher, line, own)


def file(*handlers: Handler, host: str = "claude", scope: str = "user", **more: Any) -> HookFile:
    return HookFile(hosts.load(host), scope, f"/{host}/{scope}.json", handlers, **more)


def states(*files: HookFile) -> list[str]:
    return [hook.state for hook in list_hooks(files)]


def only(*files: HookFile) -> Hook:
    (hook,) = list_hooks(files)
    return hook


# IDs.


def test_an_id_is_made_of_host_scope_event_matcher_and_command_and_not_of_the_place() -> None:
    one = only(file(command("a", line=3)))
    assert one.id == only(file(command("a", line=9, timeout=5))).id
    others = [
        file(command("b")),
        file(command("a", event="SubagentStop")),
        file(command("a", matcher="Bash")),
        file(command("a"), scope="local"),
        file(command("a"), host="qwen"),
    ]
    assert len({one.id, *(only(other).id for other in others)}) == 6


def test_the_second_of_two_hooks_with_one_digest_has_a_number() -> None:
    first, second, third = list_hooks([file(command("a"), command("a"), command("a"))])
    assert (second.id, third.id) == (f"{first.id}#2", f"{first.id}#3")
    hooks = [first, second, third]
    assert ids.find(hooks, first.id) == [first]
    assert ids.find(hooks, first.id[:4]) == [first]
    with pytest.raises(HookctlError, match="no hook here has the ID"):
        ids.find(hooks, first.id[:3])
    assert ids.find(hooks, f"{first.id[:4]}#2") == [second]
    with pytest.raises(HookctlError):
        ids.find(hooks, f"{first.id}#4")


def test_a_pack_and_a_name_of_a_pack_are_ids_too() -> None:
    stop, tool = command("s", own="guard/stop"), command("t", "PreToolUse", own="guard/pre-tool")
    hooks = list_hooks([file(stop, tool), file(stop, host="qwen"), file(command("other"))])
    assert ids.find(hooks, "guard") == hooks[:3]
    assert ids.find(hooks, "guard/stop") == [hooks[0], hooks[2]]
    assert ids.find(hooks, hooks[3].id) == [hooks[3]]


def test_any_beginning_will_do_that_only_one_hook_has() -> None:
    hooks = list_hooks([file(*(command(f"c{number}") for number in range(40)))])
    shared = next(hook.id[0] for hook in hooks if sum(other.id[0] == hook.id[0] for other in hooks) > 1)
    with pytest.raises(HookctlError) as error:
        ids.find(hooks, shared)
    assert error.value.exit_code == 2 and shared in error.value.message
    assert [ids.find(hooks, hook.id.upper()) for hook in hooks] == [[hook] for hook in hooks]


@pytest.mark.parametrize("text", ["", "#2", "no-such", "zz", "guard"])
def test_what_is_no_hook_is_refused(text: str) -> None:
    with pytest.raises(HookctlError) as error:
        ids.find(list_hooks([file(command("a"))]), text)
    assert error.value.exit_code == 2


def test_the_whole_digest_is_an_id() -> None:
    hook = only(file(command("a")))
    whole = hook_id.digest("claude", "user", "Stop", "", "a")
    assert ids.find([hook], whole) == [hook]
    for other in (whole[:20] + "x", whole + "0", f"{whole}#2"):
        with pytest.raises(HookctlError):
            ids.find([hook], other)


# States and reasons.


def test_a_hook_runs_where_nothing_is_in_its_way() -> None:
    hook = only(file(command("a", matcher="x")))
    assert (hook.state, hook.reason, hook.owner, hook.line) == ("runs", "", "", 1)


def test_the_owner_is_a_pack_a_plugin_or_nobody() -> None:
    files = [file(command("a", own="guard/stop"), command("b")), file(command("c"), scope="plugin", plugin="fmt@m")]
    assert [hook.owner for hook in list_hooks(files)] == ["guard", "", "fmt@m"]


def test_an_event_that_the_host_does_not_have() -> None:
    hook = only(file(command("a", event="Stopp")))
    assert hook.state == "unknown_event" and "no event Stopp" in hook.reason
    # Of these hosts not every event is known.
    assert states(file(command("a", event="somethingElse"), host="cursor")) == ["runs"]


def test_an_event_that_another_file_hides() -> None:
    hook = only(file(command("a"), hidden_events={"Stop": "/other.json"}))
    assert hook.state == "hidden" and "/other.json" in hook.reason


def test_an_entry_that_the_host_does_not_load_or_never_runs() -> None:
    assert states(file(command("a", timeout="soon"))) == ["ignored"]
    hook = only(file(command("a", **{"if": "Bash(git *)"})))
    assert hook.state == "ignored" and "if" in hook.reason


def test_a_matcher_that_fits_no_tool() -> None:
    hook = only(file(command("a", event="PreToolUse", matcher="run_shell_command")))
    assert hook.state == "no_tool" and "Bash" in hook.reason
    assert states(file(command("a", event="PreToolUse", matcher="Bash|Edit"))) == ["runs"]


def test_an_approval_that_is_missing_is_that_of_one_hook() -> None:
    waiting = Obstacle("not_approved", "approve it")
    one, other = command("a"), command("b", line=2)
    assert states(file(one, other, closed={one.path: waiting})) == ["not_approved", "runs"]


def test_a_broken_script() -> None:
    gone = Obstacle("missing", "/x.sh is not there")
    assert states(file(command("a")._replace(broken=gone))) == ["missing"]


def test_what_the_host_meets_first_is_the_reason() -> None:
    """The file, the event, the entry, the approval, the tools, the script."""
    handler = command("a", "PreToolUse", "run_shell_command", timeout="soon")._replace(broken=Obstacle("missing", ""))
    path = handler.path
    closed = {path: Obstacle("not_approved", "")}
    every = file(handler, obstacle=Obstacle("off", ""), hidden_events={"PreToolUse": "/o"}, closed=closed)
    assert states(every) == ["off"]
    every = every._replace(obstacle=None)
    assert states(every) == ["hidden"]
    every = every._replace(hidden_events={})
    assert states(every) == ["ignored"]
    handler = handler._replace(fields={"type": "command", "command": "a"})
    every = every._replace(handlers=(handler,))
    assert states(every) == ["not_approved"]
    every = every._replace(closed={})
    assert states(every) == ["no_tool"]
    every = every._replace(handlers=(handler._replace(matcher="Bash"),))
    assert states(every) == ["missing"]


# What stops all hooks of a host.


UNTRUSTED = Obstacle("folder_untrusted", "the host does not trust this folder")
SWITCHED = Obstacle("off", "disableAllHooks is true in /s", "remove disableAllHooks from /s")


def test_a_hooks_own_obstacle_counts_before_what_stops_all_hooks_and_the_reason_names_both() -> None:
    hook = only(file(command("a", "PreToolUse", "bash"), shared=(SWITCHED, UNTRUSTED)))
    assert hook.state == "no_tool"
    first, *others = hook.reason.split("; also: ")
    assert first == hook.own_reason and "Bash" in first
    assert others == [SWITCHED.reason, UNTRUSTED.reason]
    assert hook.fix == f"{hook.own_fix}; {SWITCHED.fix}"
    assert hook.own_fix == "matchers are case-sensitive; did you mean Bash?"


def test_what_stops_all_hooks_is_the_state_of_one_without_a_fault_of_its_own() -> None:
    hook = only(file(command("a"), shared=(SWITCHED, UNTRUSTED)))
    assert (hook.state, hook.own_reason, hook.own_fix) == ("off", "", "")
    assert hook.reason == f"{SWITCHED.reason}; also: {UNTRUSTED.reason}"
    assert hook.fix == SWITCHED.fix


def test_every_obstacle_of_its_own_is_named() -> None:
    off = Obstacle("off", "a list names it", "take it out")
    mode = Obstacle("not_executable", "/a is not executable", "chmod +x /a")
    handler = command("a")._replace(broken=mode)
    hook = only(file(handler, closed={handler.path: off}))
    assert (hook.state, hook.reason) == ("off", "a list names it; also: /a is not executable")
    assert hook.fix == "take it out; chmod +x /a"


def test_a_file_that_is_not_read_and_a_disabled_hook_have_one_reason() -> None:
    unread = Obstacle("hidden", "not read here")
    assert only(file(command("a", "PreToolUse", "bash"), obstacle=unread)).reason == unread.reason
    disabled = command("a", "PreToolUse", "bash")._replace(disabled="since today")
    assert only(file(disabled, shared=(UNTRUSTED,))).reason == "since today"


# Ways out.


@pytest.mark.parametrize(
    ("host", "event", "fix"),
    [
        ("claude", "SessionsStart", "did you mean SessionStart?"),
        ("claude", "stop", "Claude Code calls it Stop"),
        ("gemini", "PreToolUse", "Gemini CLI calls it BeforeTool"),
        ("claude", "Zzz", ""),
    ],
)
def test_an_unknown_event_comes_with_the_name_that_was_meant(host: str, event: str, fix: str) -> None:
    hook = only(file(command("a", event), host=host))
    assert (hook.state, hook.fix) == ("unknown_event", fix)


@pytest.mark.parametrize(
    ("host", "matcher", "fix"),
    [
        ("claude", "bash|edit", "matchers are case-sensitive; did you mean Bash|Edit?"),
        ("claude", "run_shell_command", ""),  # the reason says which tools there are
        ("gemini", "Replace", "matchers are case-sensitive; did you mean replace?"),
    ],
)
def test_only_a_matcher_in_the_wrong_case_is_told_so(host: str, matcher: str, fix: str) -> None:
    event = hosts.load(host).events["pre-tool"] or ""
    assert only(file(command("a", event, matcher), host=host)).fix == fix


# Repeats.


def test_of_equal_hooks_in_settings_the_first_runs() -> None:
    local, user = file(command("a", line=3), scope="local"), file(command("a"), command("b"))
    first, again, other = list_hooks([local, user])
    assert [first.state, again.state, other.state] == ["runs", "twice", "runs"]
    assert "line 3 of /claude/local.json" in again.reason and "once" in again.reason


def test_a_repeat_of_a_hook_that_does_not_run_runs() -> None:
    local = file(command("a"), scope="local", obstacle=Obstacle("folder_untrusted", ""))
    assert states(local, file(command("a"))) == ["folder_untrusted", "runs"]


def test_equal_hooks_have_event_matcher_and_command_in_common() -> None:
    hooks = [command("a"), command("a", "SubagentStop"), command("a", matcher="x"), command("b")]
    assert states(file(*hooks), file(command("a"), host="qwen")) == ["runs"] * 5
    # Gemini CLI and Qwen Code run what has two names twice.
    named = [command("a", "AfterAgent", name=name) for name in ("one", "two", "two")]
    assert states(file(*named, host="gemini")) == ["runs", "runs", "twice"]


def test_a_host_that_runs_both_is_said_to() -> None:
    assert "twice" in list_hooks([file(command("a"), command("a"), host="codex")])[1].reason


def test_the_copy_of_a_plugin_runs_and_names_the_other() -> None:
    plugin = file(command("a"), scope="plugin", plugin="p")
    settings, copy = list_hooks([file(command("a", line=7)), plugin])
    assert (settings.state, copy.state) == ("runs", "runs")
    assert "line 7 of /claude/user.json" in copy.reason
    copy, settings = list_hooks([plugin, file(command("a", line=7))])
    assert (copy.state, settings.state) == ("runs", "runs")


# What a hook runs.


@pytest.mark.parametrize(
    ("host", "fields", "text"),
    [
        ("claude", {"type": "command", "command": "x", "args": ["-a", "b"]}, "x -a b"),
        ("claude", {"type": "http", "url": "https://e.x/h"}, "https://e.x/h"),
        ("claude", {"type": "prompt", "prompt": "Is it done?"}, "Is it done?"),
        ("claude", {"type": "mcp_tool", "server": "s", "tool": "t"}, "s t"),
        ("copilot", {"type": "command", "powershell": "p"}, "p"),
        ("copilot", {"type": "command", "bash": "b", "powershell": "p"}, "b"),
    ],
)
def test_the_command_is_what_the_hook_runs(host: str, fields: dict[str, Any], text: str) -> None:
    handler = Handler(("hooks", "Stop", 0), "Stop", fields)
    hook = only(file(handler, host=host))
    assert (hook.command, hook.state) == (text, "runs")


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("for f in a b; do echo $f; done", False),
        ('while read -r line; do echo "${line}"; done', False),
        ("for f in a b; do echo '$f'; done", False),
        ("for f in a b; do echo $''f; done", True),
        ("f=1; for f in a b; do echo $f; done", True),
        ("of=1; for f in a b; do echo ${f%x}; done", False),
        ("for f in a b; do echo $file; done", True),
        ("echo $HOME for you", True),
    ],
)
def test_grok_runs_no_command_with_the_variable_of_a_loop(command: str, runs: bool) -> None:
    """As measured: see tests/e2e/test_grok_facts.py."""
    entry = {"type": "command", "command": command}
    assert bool(never_runs(hosts.load("grok"), "Stop", entry)) != runs
    assert never_runs(hosts.load("claude"), "Stop", entry) == ""
