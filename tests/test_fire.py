"""hookctl fire: which hooks are run, with what, in which order, and which only after a yes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookctl import hosts
from hookctl.firing.calls import Asked, Call, Place, Reading, combine, find_event, is_meant, make_call, read_answer
from hookctl.hosts import matchers
from hookctl.hosts.matchers import explain_mismatch, fits
from hookctl.system import guard_module, processes
from hookctl.system.processes import Output
from tests.approving import approve
from tests.conftest import Hookctl, Outcome, put
from tests.documents.table import document_of
from tests.e2e.sessions import CASES, Bench
from tests.manifest import hook as pack_hook
from tests.manifest import manifest
from tests.matching import OF_SHELL, SHELLS, VIBES, of_vibe
from tests.templates.hosts import NAMES, PAYLOADS
from tests.templates.wraps import alive
from tests.test_cli_contract import check_envelope
from tests.texts import all_of, rows


def handler(command: str, **more: Any) -> dict[str, Any]:
    return {"type": "command", "command": command, **more}


def events(**named: Any) -> str:
    """Settings of Claude Code with these hooks; a matcher stands before its hook."""
    lists = {}
    for event, entries in named.items():
        groups = []
        for entry in entries:
            matcher, fields = entry if isinstance(entry, tuple) else (None, entry)
            fields = handler(fields) if isinstance(fields, str) else fields
            groups.append({**({"matcher": matcher} if matcher is not None else {}), "hooks": [fields]})
        lists[event] = groups
    return json.dumps({"hooks": lists})


REFUSES = "echo 'not here' >&2; exit 2"
BLOCKS = """echo '{"decision":"block","reason":"go on"}'"""


def only(outcome: Outcome) -> dict[str, Any]:
    assert outcome.code == 0, outcome
    (host,) = check_envelope(outcome, "fire")["data"]["hosts"]
    return host


def outcomes(outcome: Outcome) -> list[str]:
    return [hook["outcome"] for hook in only(outcome)["hooks"]]


# What runs, and what it is told.
def test_the_hooks_that_match_are_run_in_order_with_the_hosts_payload_and_variables(
    hookctl: Hookctl, settings: Path, isolated: Path
) -> None:
    told = isolated / "told"
    put(settings, events(PreToolUse=[("Bash", f"cat > {told}; env > {told}.env; pwd > {told}.pwd"), ("Edit", REFUSES)]))
    result = only(hookctl("fire", "pre-tool", "--tool", "Bash", "--input", '{"command": "ls"}', "--json"))
    assert result["host"] == "claude" and result["event"] == "PreToolUse" and result["outcome"] == "none"
    (hook,) = result["hooks"]
    assert hook.keys() == {"id", "ms", "status", "stdout", "stderr", "outcome", "reason"}
    assert (hook["status"], hook["outcome"]) == (0, "none")
    payload = json.loads(told.read_text())
    assert (payload["tool_name"], payload["tool_input"]) == ("Bash", {"command": "ls"})
    variables = dict(line.split("=", 1) for line in Path(f"{told}.env").read_text().splitlines() if "=" in line)
    work = str(isolated / "work")
    assert variables["CLAUDE_PROJECT_DIR"] == Path(f"{told}.pwd").read_text().strip() == payload["cwd"] == work
    assert variables["CLAUDECODE"] == "1"


def test_every_host_with_a_hook_for_it_is_asked_in_its_own_words(hookctl: Hookctl, settings: Path) -> None:
    put(settings, events(Stop=[BLOCKS]))
    seen = settings.parents[1] / "seen"
    hooks = {"version": 1, "hooks": {"agentStop": [handler(f"cat > {seen}")]}}
    put(settings.parents[1] / ".copilot/hooks/mine.json", json.dumps(hooks))
    found = {host["host"]: host for host in hookctl("fire", "stop", "--json").data["hosts"]}
    assert {name: host["outcome"] for name, host in found.items()} == {"claude": "block", "copilot": "none"}
    assert json.loads(seen.read_text())["stopReason"] == "end_turn"
    assert only(hookctl("fire", "stop", "--host", "copilot", "--json"))["event"] == "agentStop"


def test_a_payload_of_ones_own_reaches_the_hook_byte_for_byte(hookctl: Hookctl, settings: Path, tmp_path: Path) -> None:
    seen, data = tmp_path / "seen", b'{"tool_name":  "Write", "x": "\xc3\xa9"}\n'
    put(settings, events(PreToolUse=[("Write", f"cat > {seen}"), ("Bash", REFUSES)]))
    payload = str(put(tmp_path / "payload.json", data))
    assert outcomes(hookctl("fire", "pre-tool", "--payload", payload, "--json")) == ["none"]
    assert seen.read_bytes() == data


def test_a_serial_host_asks_no_hook_after_a_refusal_and_passes_a_change_on(hookctl: Hookctl, settings: Path) -> None:
    home = settings.parents[1]
    change = """echo '{"modifiedArgs":{"command":"other"}}'"""
    hooks = {"version": 1, "hooks": {"preToolUse": [handler(change), handler(f"cat > {home}/seen"), handler("exit 1")]}}
    hooks["hooks"]["preToolUse"].append(handler(f"touch {home}/late"))
    put(home / ".copilot/hooks/mine.json", json.dumps(hooks))
    result = only(hookctl("fire", "pre-tool", "--tool", "Bash", "--host", "copilot", "--json"))
    assert [hook["outcome"] for hook in result["hooks"]] == ["change", "none", "deny", "not_run"]
    assert (result["outcome"], result["reason"]) == ("deny", "hook exited with code 1")
    assert json.loads((home / "seen").read_text())["toolArgs"] == {"command": "other"}
    assert not (home / "late").exists()


def test_on_copilot_cli_a_hook_is_told_and_read_in_the_dialect_of_its_events_name(
    hookctl: Hookctl, isolated: Path
) -> None:
    change = """echo '{"modifiedArgs":{"command":"other"}}'"""
    seen = isolated / "seen"
    deny = {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "R"}, "decision": "block"}
    says = f"cat > {seen}; echo '{json.dumps(deny)}'"
    hooks = {"preToolUse": [handler(change)], "PreToolUse": [{"matcher": "Bash", "hooks": [handler(says)]}]}
    file = isolated / "home" / ".copilot/hooks/mine.json"
    put(file, json.dumps({"version": 1, "hooks": hooks}))
    for event in ("pre-tool", "PreToolUse"):
        result = only(hookctl("fire", event, "--tool", "Bash", "--json"))
        assert [hook["outcome"] for hook in result["hooks"]] == ["change", "deny"]
        assert (result["outcome"], result["reason"]) == ("deny", "R")
    told = json.loads(seen.read_text())
    assert (told["hook_event_name"], told["tool_name"]) == ("PreToolUse", "Bash")
    assert told["tool_input"] == {"command": "other"}
    put(file, json.dumps({"version": 1, "hooks": {"preToolUse": [handler(says)]}}))
    assert only(hookctl("fire", "pre-tool", "--tool", "Bash", "--json"))["outcome"] == "none"
    put(file, json.dumps({"version": 1, "hooks": {"PreToolUse": [handler("exit 2")]}}))
    done = hookctl("fire", "pre-tool", "--tool", "Bash", "--host", "copilot")
    assert "Copilot CLI would refuse the call: hook exited with code 2" in done.out


@pytest.mark.parametrize("by_id", [False, True])
@pytest.mark.parametrize(("host", "event", "entry", "outcome", "started"), [row[1:] for row in rows("starts")])
def test_a_hook_is_started_as_its_host_starts_it(
    hookctl: Hookctl, isolated: Path, host: str, event: str, entry: str, outcome: str, started: str, by_id: bool
) -> None:
    handler = json.loads(entry)
    lists = {event: [handler if host == "copilot" else {"hooks": [handler]}]}
    put(isolated / "home" / OF_HOST[host][0], json.dumps({"version": 1, "hooks": lists}))
    (isolated / "work" / "sub").mkdir()
    (hook,) = hookctl("hooks", "--host", host, "--json").data["hooks"]
    words = ("--hook", hook["id"]) if by_id else ()
    assert only(hookctl("fire", "pre-tool", "--tool", "Bash", "--host", host, *words, "--json"))["outcome"] == outcome
    assert sorted(path.name for path in (isolated / "work").iterdir() if path.is_file()) == started.strip("-").split()


def test_the_host_does_not_wait_for_a_hook_in_the_background(hookctl: Hookctl, settings: Path) -> None:
    put(settings, events(Stop=[handler(BLOCKS, **{"async": True})]))
    result = only(hookctl("fire", "stop", "--json"))
    assert result["outcome"] == "none" and "does not wait" in result["hooks"][0]["reason"]


# A program that is not there. By host: its file, and its event before a tool call.
OF_HOST = {
    "claude": (".claude/settings.json", "PreToolUse"), "gemini": (".gemini/settings.json", "BeforeTool"),
    "qwen": (".qwen/settings.json", "PreToolUse"), "copilot": (".copilot/hooks/mine.json", "preToolUse"),
    "droid": (".factory/settings.json", "PreToolUse"), "openhands": (".openhands/hooks.json", "pre_tool_use"),
}  # fmt: skip


@pytest.mark.parametrize("host", OF_HOST)
@pytest.mark.parametrize(("command", "stops", "told"), rows("endings"))
def test_a_program_that_is_gone_does_to_a_call_what_its_host_makes_of_it(
    hookctl: Hookctl, isolated: Path, host: str, command: str, stops: str, told: str
) -> None:
    name, event = OF_HOST[host]
    fields = handler(command)
    lists = {event: [fields if host == "copilot" else {"hooks": [fields]}]}
    page = lists if host == "openhands" else {"hooks": lists}
    trusted = {"security": {"folderTrust": {"enabled": False}}} if host == "gemini" else {}
    put(isolated / "home" / name, json.dumps({**page, **trusted}))
    result = only(hookctl("fire", "pre-tool", "--tool", "Bash", "--host", host, "--json"))
    (hook,) = result["hooks"]
    assert hook["status"] in (0, 1, 2, 3, 127)
    assert (result["outcome"] in ("deny", "end")) == (stops == "all" or host in stops.split())
    findings = hookctl("doctor", "--host", host, "--json").data["findings"]
    levels = [one["level"] for one in findings if one["code"] == "script_missing"]
    assert levels == (["error"] if told == "all" or host in told.split() else [])


def test_a_projects_own_hooks_need_an_option_a_look_and_a_yes(
    hookctl: Hookctl, process: Hookctl, settings: Path, isolated: Path
) -> None:
    mark = isolated / "mark"
    put(isolated / "work/.claude/settings.json", events(Stop=[f"touch {mark}"]))
    put(settings, events(Stop=["true"]))
    assert outcomes(hookctl("fire", "stop", "--json")) == ["not_run", "none"]
    for more in ([], ["--json"]):
        refused = process("fire", "stop", "--run-project", *more)
        assert refused.code == 2 and "consent" in refused.out + refused.err and not mark.exists()
    assert f"touch {mark}" in process("fire", "stop", "--run-project").err
    assert outcomes(hookctl("fire", "stop", "--run-project", "--yes", "--json")) == ["none", "none"]
    assert mark.exists()


def test_variables_of_a_projects_settings_reach_nobodys_hook_without_it(hookctl: Hookctl, isolated: Path) -> None:
    seen = isolated / "seen"
    project = json.loads(events(Stop=["true"])) | {"env": {"EVIL": "1"}}
    put(isolated / "work/.claude/settings.json", json.dumps(project))
    users = json.loads(events(Stop=[f"env > {seen}"])) | {"env": {"MINE": "2"}}
    put(isolated / "home/.claude/settings.json", json.dumps(users))
    hookctl("fire", "stop", "--json")
    assert "MINE=2" in seen.read_text() and "EVIL" not in seen.read_text()
    hookctl("fire", "stop", "--run-project", "--yes", "--json")
    assert "EVIL=1" in seen.read_text()


def test_what_the_host_would_not_run_is_named_and_runs_by_its_id(hookctl: Hookctl, settings: Path) -> None:
    put(settings, events(Stop=[handler("exit 2", **{"if": "Bash(*)"}), {"type": "prompt", "prompt": "ok?"}, "true"]))
    result = only(hookctl("fire", "stop", "--json"))
    assert [hook["outcome"] for hook in result["hooks"]] == ["not_run", "not_run", "none"]
    first, second, _ = result["hooks"]
    by_id = hookctl("fire", "stop", "--hook", first["id"])
    assert by_id.code == 0 and "would not run it" in by_id.out and "exit status 2" in by_id.out
    assert hookctl("fire", "stop", "--hook", second["id"]).code == 2


def test_what_a_host_would_not_run_does_not_decide_for_it(hookctl: Hookctl, settings: Path) -> None:
    put(settings, events(PreToolUse=[("bash", REFUSES), ("Bash", "true"), ("Bahs", "exit 2")]))
    ids = [hook["id"] for hook in hookctl("hooks", "--event", "pre-tool", "--json").data["hooks"]]
    command = ["fire", "pre-tool", "--tool", "Bash"]
    for number, id in enumerate(ids):
        command += ["--hook", id]
        result = only(hookctl(*command, "--json"))
        assert [hook["outcome"] for hook in result["hooks"]] == ["deny", "none", "deny"][: number + 1]
        assert result["outcome"] == "none"
    said = hookctl(*command)
    assert "ok    Claude Code would make the call\n" in said.out


def test_a_plugins_hook_runs_by_its_id_alone_with_its_root_after_a_yes(
    hookctl: Hookctl, process: Hookctl, settings: Path
) -> None:
    folder = settings.parent / "skills" / "fmt"
    put(folder / ".claude-plugin/plugin.json", '{"name": "fmt"}')
    hooks = json.loads(events(Stop=['cat "$CLAUDE_PLUGIN_ROOT"/word >&2; exit 2']))
    put(folder / "hooks/hooks.json", json.dumps(hooks))
    put(folder / "word", "from the plugin")
    (hook,) = hookctl("hooks", "--host", "claude", "--json").data["hooks"]
    assert outcomes(hookctl("fire", "stop", "--json")) == ["not_run"]
    asked = process("fire", "stop", "--hook", hook["id"])
    assert asked.code == 2 and "of the plugin fmt" in asked.err
    result = only(hookctl("fire", "stop", "--hook", hook["id"], "--yes", "--json"))
    assert (result["outcome"], result["reason"]) == ("block", "from the plugin")


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_guard_answers_as_it_would_and_counts_nothing(hookctl: Hookctl, isolated: Path) -> None:
    (isolated / "work/.git").mkdir()
    hookctl("install", "--host", "claude")
    hookctl("run", "remaining", "3")
    before = tree(isolated / "state"), tree(isolated / "work")
    for _ in range(8):  # more than its limit
        result = only(hookctl("fire", "stop", "--json"))
        assert result["outcome"] == "block" and "Work remains (3)" in result["reason"]
    assert (tree(isolated / "state"), tree(isolated / "work")) == before
    hookctl("run", "remaining", "0")
    assert only(hookctl("fire", "stop", "--json"))["outcome"] == "none"


PACK = manifest("judge", pack_hook("PreToolUse", "python3 {files}/judge.py", matcher="Bash"), files=["judge.py"])
JUDGE = """\
import json, sys
asked = json.load(sys.stdin)
if "crash" in asked["tool_input"]["command"]:
    raise SystemError
if "rm" in asked["tool_input"]["command"]:
    print("no rm, says " + asked["portable"]["host"], file=sys.stderr)
    sys.exit(2)
"""


@pytest.fixture
def pack(tmp_path: Path) -> str:
    put(tmp_path / "judge/judge.py", JUDGE)
    put(tmp_path / "judge/pack.toml", PACK)
    return str(tmp_path / "judge")


def test_a_pack_is_tried_on_every_host_without_being_installed(hookctl: Hookctl, pack: str, isolated: Path) -> None:
    before = tree(isolated / "home"), tree(isolated / "work")
    tried = hookctl("fire", "pre-tool", "--tool", "Bash", "--input", '{"command": "rm x"}', "--pack", pack, "--json")
    found = {host["host"]: host for host in tried.data["hosts"]}
    assert {"claude", "codex", "gemini", "qwen", "copilot", "openhands", "droid", "hermes"} <= found.keys()
    for name, host in found.items():
        assert (host["outcome"], host["reason"]) == ("deny", f"no rm, says {name}"), host
    assert (tree(isolated / "home"), tree(isolated / "work")) == before
    assert not (isolated / "data").exists() and not (isolated / "state/guard").exists()


def test_a_receipt_says_that_it_was_fired(hookctl: Hookctl, pack: str, isolated: Path) -> None:
    (isolated / "work/.git").mkdir()
    hookctl("install", pack, "--host", "claude")
    command = json.loads((isolated / "home/.claude/settings.json").read_text())["hooks"]["PreToolUse"][0]["hooks"][0]
    payload = {"hook_event_name": "PreToolUse", "cwd": str(isolated / "work"), "session_id": "s"}
    payload |= {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    for fired in ("1", ""):
        subprocess.run(
            ["/bin/sh", "-c", command["command"]], input=json.dumps(payload).encode(), check=True,
            env={**os.environ, "HOOKCTL_FIRED": fired},
        )  # fmt: skip
    (path,) = (isolated / "state/guard").glob("*/runs.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line.get("fired") for line in lines] == [True, None]
    assert [row["runs"] for row in hookctl("stats", "--json").data["hooks"]] == [1]


def test_a_locked_guard_is_not_run(hookctl: Hookctl, settings: Path, tmp_path: Path) -> None:
    put(tmp_path / "guard/claude.json", '{"locked": true}')
    put(tmp_path / "hook.py", "")
    words = f"{tmp_path}/hook.py stop --host claude {tmp_path}/mark"
    command = f": hookctl=guard/stop; /usr/bin/touch -I -S {words}; exit 0"
    put(settings, events(Stop=[command]))
    assert outcomes(hookctl("fire", "stop", "--json")) == ["not_run"] and not (tmp_path / "mark").exists()


def test_a_pipe_in_the_place_of_its_configuration_is_not_waited_for(hookctl: Hookctl, isolated: Path) -> None:
    """Anybody's hook can look like the guard's, in a project that one has only entered."""
    (isolated / "work/guard").mkdir()
    os.mkfifo(isolated / "work/guard/claude.json")
    words = f"{isolated}/work/hook.py stop --host claude {isolated}/mark"
    command = f": hookctl=guard/stop; /usr/bin/touch -I -S {words}; exit 0"
    put(isolated / "work/.claude/settings.json", events(Stop=[command]))
    signal.alarm(60)
    assert outcomes(hookctl("fire", "stop", "--json")) == ["not_run"]
    signal.alarm(0)


def test_a_hook_has_the_time_that_its_host_gives_it_and_its_group_ends_with_it(
    hookctl: Hookctl, settings: Path
) -> None:
    home = settings.parents[1]
    put(settings, events(Stop=[handler(f"sleep 300 & echo $! > {home}/pid; wait", timeout=0.5), "true"]))
    result = only(hookctl("fire", "stop", "--json"))
    late, fine = result["hooks"]
    assert (late["outcome"], late["status"], fine["outcome"]) == ("timeout", None, "none")
    assert late["ms"] >= 500
    assert_ended(int((home / "pid").read_text()))


def assert_ended(pid: int) -> None:
    end = time.monotonic() + 20
    while alive(pid):
        assert time.monotonic() < end
        time.sleep(0.02)


def test_what_is_left_in_the_background_is_not_waited_for(hookctl: Hookctl, settings: Path) -> None:
    put(settings, events(Stop=[handler("sleep 60 & echo $!; exit 0", timeout=50)]))
    (hook,) = only(hookctl("fire", "stop", "--json"))["hooks"]
    assert hook["outcome"] == "none" and hook["ms"] < 50_000
    os.kill(int(hook["stdout"]), signal.SIGKILL)


def test_output_is_bounded_and_a_hook_that_reads_nothing_is_fine(
    hookctl: Hookctl, settings: Path, tmp_path: Path
) -> None:
    put(settings, events(Stop=["yes x | head -c 3000000", "true"]))
    large = str(put(tmp_path / "large.json", json.dumps({"x": "y" * 3_000_000})))
    result = only(hookctl("fire", "stop", "--payload", large, "--json"))
    first, second = result["hooks"]
    assert (first["outcome"], second["outcome"]) == ("failed", "none")
    assert len(first["stdout"]) == processes.LIMIT


def test_secrets_are_masked_in_all_that_is_shown(hookctl: Hookctl, settings: Path) -> None:
    leak = """echo '{"decision":"block","reason":"use sk-abcdefghijklmnop"}'; echo API_KEY=hunter2 >&2"""
    put(settings, events(Stop=[leak]))
    for words in ([], ["--json"]):
        said = hookctl("fire", "stop", *words)
        assert "hunter2" not in said.out and "sk-abcdef" not in said.out and "***" in said.out


def test_ctrl_c_ends_the_hook_and_what_it_has_started(settings: Path, isolated: Path) -> None:
    home = settings.parents[1]
    put(settings, events(Stop=[f"sleep 300 & echo $! > {home}/pid.new; mv {home}/pid.new {home}/pid; wait"]))
    process = subprocess.Popen([sys.executable, "-m", "hookctl", "fire", "stop"], stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 30
    while not (home / "pid").exists():
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert "Traceback" not in process.communicate()[1]
    assert_ended(int((home / "pid").read_text()))


def test_a_projects_hook_is_not_run_by_its_id_alone_either(hookctl: Hookctl, isolated: Path) -> None:
    mark = isolated / "mark"
    put(isolated / "work/.claude/settings.local.json", events(Stop=[f"touch {mark}"]))
    (hook,) = hookctl("hooks", "--json").data["hooks"]
    refused = hookctl("fire", "stop", "--hook", hook["id"], "--yes")
    assert refused.code == 2 and "--run-project" in refused.err and not mark.exists()


def test_a_plugin_that_lies_in_the_project_is_the_projects_too(hookctl: Hookctl, isolated: Path) -> None:
    (isolated / "work/.git").mkdir()
    folder = isolated / "work/.claude/skills/fmt"
    put(folder / ".claude-plugin/plugin.json", '{"name": "fmt"}')
    put(folder / "hooks/hooks.json", events(Stop=["touch was-here"]))
    (hook,) = hookctl("hooks", "--host", "claude", "--json").data["hooks"]
    refused = hookctl("fire", "stop", "--hook", hook["id"], "--yes")
    assert refused.code == 2 and "--run-project" in refused.err
    assert outcomes(hookctl("fire", "stop", "--run-project", "--yes", "--json")) == ["not_run"]
    assert not (isolated / "work/was-here").exists()
    hookctl("fire", "stop", "--hook", hook["id"], "--run-project", "--yes")
    assert (isolated / "work/was-here").exists()


def test_a_named_hook_of_another_event_is_no_success(hookctl: Hookctl, settings: Path) -> None:
    hook = {"type": "command", "command": "true"}
    put(settings, json.dumps({"hooks": {"SessionStart": [{"hooks": [hook]}]}}))
    (listed,) = hookctl("hooks", "--json").data["hooks"]
    refused = hookctl("fire", "stop", "--hook", listed["id"])
    assert (refused.code, "no named hook is for stop" in refused.err) == (2, True)
    assert hookctl("fire", "stop").code == 0


# What each host makes of a hook's answer: the table of runs with the real clients, row by row.
HOSTS = ("claude", "codex", "gemini", "qwen", "copilot", "opencode", "pi", "openhands", "droid", "hermes")
HOSTS += ("grok", "kimi", "vibe")
EVERY = set(HOSTS)


def call(name: str, event: str = "pre-tool") -> Call:
    host = hosts.load(name)
    return Call(host, *find_event(host, event), payload={}, data=b"{}", tool="")


def nested(decision: str, **more: Any) -> dict[str, Any]:
    named = {"hookEventName": "PreToolUse", "permissionDecision": decision}
    return {"hookSpecificOutput": {**named, "permissionDecisionReason": "R", **more}}


def read(name: str, answer: object = "", status: int = 0, err: str = "", event: str = "pre-tool") -> Reading:
    out = answer if isinstance(answer, str) else json.dumps(answer)
    return read_answer(call(name, event), Output(status, 1, out, err))


def refusing(*answer: Any, event: str = "pre-tool") -> set[str]:
    return {
        name for name in HOSTS if find_event(hosts.load(name), event)[0] if read(name, *answer, event=event).refuses
    }


DENY, BLOCK = {"decision": "deny", "reason": "R"}, {"decision": "block", "reason": "R"}


def told(cell: str) -> str:
    """A cell's text, where `-` stands for none."""
    return "" if cell == "-" else document_of(cell).decode()


def named(cell: str) -> set[str]:
    """The hosts of a cell."""
    names = set(cell.split())
    return EVERY - names if cell.startswith("all but ") else names - {"nobody"}


@all_of(("event", "answer", "status", "err", "who"), rows("refusals"))
def test_who_takes_an_answer_for_a_refusal(event: str, answer: str, status: str, err: str, who: str) -> None:
    assert refusing(told(answer), int(status), told(err), event=event) == named(who)


@pytest.mark.parametrize(("answer", "status", "err", "outcome"), rows("refusals-of-copilot"))
def test_copilot_cli_reads_another_dialect_under_claude_codes_names(
    answer: str, status: str, err: str, outcome: str
) -> None:
    host = hosts.load("copilot").as_claude
    assert host
    asked = Call(host, *find_event(host, "pre-tool"), payload={}, data=b"{}")
    found = read_answer(asked, Output(int(status), 1, told(answer), told(err)))
    assert found.outcome == outcome
    assert err == "-" or found.reason == "hook exited with code 2"


@pytest.mark.parametrize(("answer", "outcome"), [("", "deny"), ("{broken", "deny"), ({"decision": "allow"}, "none")])
def test_antigravity_takes_an_answer_without_a_decision_for_a_refusal(answer: object, outcome: str) -> None:
    assert read("antigravity", answer).outcome == outcome
    assert read("antigravity", answer, event="stop").outcome in ("none", "failed")


def test_the_end_of_a_turn_beats_a_block() -> None:
    both = {**BLOCK, "continue": False, "stopReason": "enough"}
    outcomes = {name: read(name, both, event="stop").outcome for name in ("claude", "codex", "gemini")}
    assert set(outcomes.values()) == {"end"}
    # The opposite of what it means elsewhere.
    assert read("qwen", {"continue": False, "stopReason": "R"}, event="stop").outcome == "block"


def test_a_stop_hook_whose_script_is_gone_does_not_block_claude_code() -> None:
    gone = "python3: can't open file 'gone.py': [Errno 2] No such file or directory"
    assert read("claude", "", 2, gone, event="stop").outcome == "failed"
    assert read("claude", "", 2, gone).outcome == "deny"
    assert read("codex", "", 2, gone, event="stop").outcome == "block"


CONTEXT = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "C"}}


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (CONTEXT, {"claude", "codex", "gemini", "qwen", "opencode", "pi", "droid"}),
        ({"additionalContext": "C"}, {"copilot", "openhands"}),
        ("C", {"claude", "codex", "qwen", "droid"}),
    ],
)
def test_who_takes_context_at_the_start(answer: object, told: set[str]) -> None:
    found = {name for name in HOSTS if "C" in read(name, answer, event="session-start").context}
    assert found == told


CHANGED = {"command": "other"}


@pytest.mark.parametrize(
    ("answer", "changes"),
    [
        (nested("allow", updatedInput=CHANGED), {"claude", "codex", "opencode", "pi", "droid", "grok"}),
        (
            {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": CHANGED}},
            {"claude", "opencode", "pi", "droid", "grok"},
        ),
        ({"modifiedArgs": CHANGED}, {"copilot"}),
        ({"hook_specific_output": {"tool_input": CHANGED}}, {"vibe"}),
        ({"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": CHANGED}}, {"gemini"}),
    ],
)
def test_who_takes_a_changed_input(answer: object, changes: set[str]) -> None:
    assert {name for name in HOSTS if read(name, answer).change == CHANGED} == changes


def test_a_question_to_the_person_and_an_end() -> None:
    assert {name for name in HOSTS if read(name, nested("ask")).outcome == "ask"} == {"claude", "qwen", "grok"}
    assert read("copilot", {"permissionDecision": "ask"}).outcome == "ask"
    end = {"continue": False, "stopReason": "enough"}
    assert {name for name in HOSTS if read(name, end).outcome == "end"} == {"claude", "gemini", "droid"}
    # The call is made, and then the session ends; with a refusal it is not made.
    assert not read("claude", end).refuses
    assert read("claude", {**nested("deny"), **end}).outcome == "end"
    assert read("claude", {**nested("deny"), **end}).refuses


# Several hooks.
def outcome(name: str, *answers: Reading) -> tuple[str, str]:
    verdict = combine(call(name), answers)
    return verdict.outcome, verdict.reason


def test_which_of_two_new_inputs_counts_and_all_reasons_are_said() -> None:
    for name, form, wins in (("claude", "updatedInput", 0), ("gemini", "tool_input", 1), ("droid", "updatedInput", 0)):
        event = hosts.load(name).events["pre-tool"]
        changes = [read(name, {"hookSpecificOutput": {"hookEventName": event, form: {"command": c}}}) for c in "ab"]
        assert outcome(name, *changes) == ("change", json.dumps({"command": "ab"[wins]}))
    deny = [read("claude", nested("deny", permissionDecisionReason=word)) for word in "ab"]
    assert outcome("claude", *deny) == ("deny", "a\nb")
    assert outcome("claude", read("claude"), read("claude")) == ("none", "")
    assert outcome("claude", Reading("not_run", "why"), deny[0]) == ("deny", "a")


# The payload that fire makes: the fields that the real client sends, and no others.
PLACE = Place("/home/u/project", "/home/u", "/tmp/transcript.jsonl", {"HOOKCTL_NOW": "1795334400"})
EVENTS = [(name, event) for name in NAMES for event in PAYLOADS[name]]


def payload(name: str, event: str, tool: str = "", input: dict[str, Any] | None = None) -> dict[str, Any]:
    return dict(make_call(hosts.load(name), Asked(event, tool, input), PLACE).payload)


TOOLS_OWN = ("tool_input", "toolInput", "toolArgs", "args", "tool_response", "toolResult", "tool_output")


def shape(value: Any, name: str = "") -> Any:
    """The keys of a payload with the kinds of their values; a tool's input and output are its own."""
    if isinstance(value, dict) and name not in TOOLS_OWN:
        return {key: shape(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return "list"
    return type(value).__name__


@all_of(("name", "event"), EVENTS)
def test_it_has_the_fields_of_the_real_clients(name: str, event: str) -> None:
    made, sent = payload(name, event, "Bash", {"command": "make check"}), PAYLOADS[name][event]
    assert shape(made) == shape(sent)
    for field in ("hook_event_name", "event_type", "tool_name", "toolName", "cwd", "working_dir"):
        assert made.get(field) == sent.get(field)


def test_a_tool_by_claude_codes_name_or_the_hosts_is_the_hosts() -> None:
    input = {"file_path": "/a", "content": "b"}
    for tool in ("Write", "write_file"):
        assert payload("gemini", "pre-tool", tool, input)["tool_name"] == "write_file"
    assert payload("openhands", "pre-tool", "Write", input)["tool_input"] == {
        "command": "create", "path": "/a", "file_text": "b",
    }  # fmt: skip
    assert "*** Add File: /a" in payload("codex", "pre-tool", "Write", input)["tool_input"]["command"]
    assert payload("claude", "pre-tool", "mcp__a__b", {"x": 1})["tool_input"] == {"x": 1}


ONE_EVENT = ["gemini", "hermes", "opencode", "openhands", "pi", "vibe"]  # for calls that went well and others


@pytest.mark.parametrize("name", ONE_EVENT)
def test_a_failed_call_is_told_as_one_where_there_is_one_event_for_both(name: str) -> None:
    host = hosts.load(name)
    table = {**host.runner, "tools": host.tools}
    usual = make_call(host, Asked("post-tool", tool="Bash"), PLACE)
    failed = make_call(host, Asked("post-tool-failure", tool="Bash"), PLACE)
    assert (failed.event, failed.protocol) == (usual.event, usual.protocol)
    for call, is_failed in ((usual, False), (failed, True)):
        (question,) = guard_module("payload").questions(table, "PostToolUse", call.payload, name)
        assert (question.portable["ok"] is False) == is_failed


# A matcher of another host's tools is known to match nothing; what may match is left alone.
@all_of(("host", "matcher", "instead"), rows("matchers"))
def test_a_matcher_of_other_tools(host: str, matcher: str, instead: str) -> None:
    matcher, instead = document_of(matcher).decode(), document_of(instead).decode()
    reason = explain_mismatch(hosts.load(host), hosts.load(host).events["pre-tool"], matcher)
    assert matcher in reason
    assert instead in reason


@all_of("host", hosts.names())
@all_of("matcher", [".*", "mcp_hub_create", ".*Own", "MyOwnTool", "Bash|MyOwnTool", "Bash,Write|MyOwnTool", None, 3])
def test_what_may_match(host: str, matcher: object) -> None:
    described = hosts.load(host)
    if described.matchers.prefix and isinstance(matcher, str):
        matcher = described.matchers.prefix + matcher
    for short, event in described.events.items():
        if short in ("pre-tool", "post-tool"):
            assert explain_mismatch(described, event, matcher) == ""


FITTING = [(host, SHELLS[host], *row) for host, rows in OF_SHELL.items() for row in rows.items()]
FITTING += [("vibe", tool, *row) for tool in VIBES for row in of_vibe(tool).items()]


@all_of(("host", "tool", "matcher", "fits"), FITTING)
def test_a_matcher_fits_what_it_fits_on_the_real_client(host: str, tool: str, matcher: str, fits: bool) -> None:
    described = hosts.load(host)
    call = Call(described, described.events["pre-tool"], "PreToolUse", {}, b"", tool)
    assert is_meant(call, matcher) is fits


def test_an_expression_that_takes_hours_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matchers, "_left", [0.05])
    claude = hosts.load("claude")
    assert not fits(claude, "(.*)*(.*)*(.*)*x!", ["mcp__one__Bash"])
    assert fits(claude, "^Bash$", ["Bash"]) and fits(claude, "^(Edit|Write.*)$", ["Write"])


# Which matchers fire, as the real clients had it: `fire` runs those, and `hooks` says `runs` of no other one.
FIRES = json.loads(Path(__file__).with_name("field_matchers.json").read_text())


def cases() -> Iterator[Any]:
    for host, events in FIRES.items():
        for name in events:
            for aspect in ("fire", "hooks"):
                label = f"{aspect}: {host} {name}"
                yield pytest.param(host, name, aspect, id=label)


@pytest.mark.parametrize(("host", "name", "aspect"), [*cases()])
def test_every_matcher(host: str, name: str, aspect: str, isolated: Path) -> None:
    bench = Bench(CASES[host], isolated)
    event = next(event for event, names in bench.case.events.items() if name in names)
    place = bench.lay_out(event, name)
    if host == "codex":
        approve(place.settings)
    fires = FIRES[host][name]
    if aspect == "fire":
        assert bench.fired(place, event) == fires
    else:
        runs = bench.running(place, event)
        assert set(fires) <= set(runs)
        assert all(bench.may_fit(event, matcher) for matcher in set(runs) - set(fires))
