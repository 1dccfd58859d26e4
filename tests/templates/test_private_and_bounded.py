"""All policies at once: what their files hold, how large they grow, and how long a spoilt folder may hold the agent."""

import json
import os
import stat
import time
from typing import Any

import pytest

from .lab import Lab, name_of, own_programs, spoil

EVERYTHING: dict[str, Any] = {
    "mode": "keepalive",
    "keepalive_cap": 4,
    "required_tools": ["finish"],
    "max_nudges": 2,
    "dispatch_tools": ["*"],
    "dispatch_max": 1,
    "lock_ms": 200,
}
SECRET = "hunter2-secret"
EVENTS = ("stop", "prompt", "pre-tool", "post-tool")


def live(lab: Lab) -> None:
    """A day of an agent: kept alive, released, reminded and refused, with a secret in everything that it says."""
    lab.environment.update(API_KEY=SECRET, HOOKCTL_REASON=SECRET, HERMES_KANBAN_TASK=SECRET)
    lab.payload.update(last_assistant_message=SECRET, prompt_id=SECRET)
    lab.task(remaining=1, heartbeat=SECRET, note=SECRET)
    lab.arm()
    for number in range(3):
        lab.asks(f"{SECRET} {number}")
        lab.call("prompt", prompt=SECRET)
        lab.attempts(SECRET, 3)
        lab.call("post-tool", tool_name="Bash", tool_input={"command": SECRET}, tool_response=SECRET)
        lab.calls(SECRET)
        lab.stops("0111111")
    lab.mark("CONCLUDE", SECRET)
    lab.call("prompt", prompt=SECRET)  # it closes the latch, under which nobody is reminded
    lab.stops("0111")


@pytest.mark.usefixtures("strace")
def test_the_hook_starts_nothing_and_talks_to_nobody(lab: Lab) -> None:
    lab.task(remaining=2)
    trace = lab.root / "trace"
    calls = "trace=execve,fork,vfork,clone,clone3,socket,connect"
    done = lab.run_command(["strace", "-f", "-o", str(trace), "-e", calls, *lab.command("stop")])
    assert done.returncode == 0 and b"block" in done.stdout
    (started,) = [line for line in trace.read_text().splitlines() if "(" in line]
    assert "execve" in started


def test_no_file_of_the_state_tells_anything_all_are_private_and_nothing_lies_elsewhere(lab: Lab) -> None:
    own_programs(lab.top)
    lab.config(**EVERYTHING)
    old = os.umask(0)
    try:
        live(lab)
    finally:
        os.umask(old)
    assert {"blocked", "tripped", "nudged", "dispatch_refused"} <= set(lab.codes())
    paths = [lab.state, *lab.state.rglob("*")]
    files = [path for path in paths if path.is_file()]
    assert [path for path in paths if SECRET in path.name] == []
    assert [path for path in files if SECRET.encode() in path.read_bytes() or b"S1" in path.read_bytes()] == []
    assert [path for path in files if str(lab.project).encode() in path.read_bytes()] == [lab.folder / "project"]
    for path in files:
        assert path == lab.folder / "ACTIVE" or stat.S_IMODE(path.stat().st_mode) == 0o600, path.name
    assert not list(lab.home.rglob("*"))
    assert {path.name for path in lab.top.iterdir()} == {"hook.py", "guard", "runtime"}
    assert {path.suffix for path in (lab.top / "runtime").rglob("*") if path.is_file()} == {".py", ".pyc"}
    assert {path.name for path in lab.run.iterdir()} == {"task.json", "CONCLUDE"}


@pytest.mark.parametrize("mask", [0, 0o777])
def test_the_folders_that_the_hook_makes_are_private_whatever_the_umask(lab: Lab, mask: int) -> None:
    lab.config(**{**EVERYTHING, "mode": "breaker"})
    old = os.umask(mask)
    try:
        lab.attempts("a", 2)
        lab.stops("01")
    finally:
        os.umask(old)
    folders = [lab.state, *(path for path in lab.state.rglob("*") if path.is_dir())]
    assert {stat.S_IMODE(path.stat().st_mode) for path in folders} == {0o700}


def test_a_long_life_leaves_small_files(lab: Lab) -> None:
    lab.config(**{**EVERYTHING, "dispatch_max_keys": 20})
    lab.arm()
    for number in range(40):
        lab.call("post-tool", tool_name="x" * 3000, tool_input={"n": number})
        lab.attempt(number)
    lab.task(remaining=2, heartbeat="h" * 60_000)
    lab.stops("01", prompt_id="p" * 10_000)
    assert lab.breadcrumb.stat().st_size < 200
    lab.stops("11111", prompt_id="p" * 10_000)
    assert lab.session_file().stat().st_size < 2000
    assert (lab.folder / "dispatch.json").stat().st_size < 3000


@pytest.mark.parametrize(
    ("mode", "how"),
    [("keepalive", "folder"), ("keepalive", "fifo"), ("guard", "loop"), ("breaker", "zero"), ("breaker", "full")],
)
def test_a_folder_full_of_pipes_and_devices_holds_nobody(lab: Lab, mode: str, how: str) -> None:
    session = name_of("S1") + ".json"
    lab.config(**{**EVERYTHING, "mode": mode}).task(remaining=1)
    if mode == "keepalive":
        lab.arm()
    for name in (session, "dispatch.json"):
        for ending in ("", ".lock", ".tmp"):
            spoil(lab.folder / (name + ending), how)
    for name in ("RESPAWN_REQUESTED", "events.jsonl", "events.jsonl.1"):
        spoil(lab.folder / name, how)
    for event in EVENTS:
        begin = time.monotonic()
        said = lab.call(event, tool_name="Bash", tool_input={"a": 1}, prompt="x", stop_hook_active=True)
        assert time.monotonic() - begin < 0.2 + 1 + 1  # lock_ms, a second, and a busy machine
        assert not said or "decision" not in json.loads(said), event


@pytest.mark.parametrize("how", ["fifo", "loop", "zero", "full"])
def test_a_run_folder_full_of_pipes_and_devices_holds_nobody(lab: Lab, how: str) -> None:
    lab.config(**EVERYTHING)
    for name in ("task.json", "OWNER"):
        spoil(lab.run / name, how)
    spoil(lab.folder / "ACTIVE", how)
    lab.payload["transcript_path"] = str(lab.root / "spoilt")
    spoil(lab.root / "spoilt", how)
    begin = time.monotonic()
    assert lab.stops("01") == "AA"
    assert time.monotonic() - begin < 4
    assert lab.codes() == ["inactive"] * 2


@pytest.mark.parametrize("event", ["stop", "pre-tool", "post-tool", "prompt"])
def test_an_odd_payload_never_fails(lab: Lab, event: str) -> None:
    lab.config(**EVERYTHING)
    lab.arm()
    odd: list[Any] = [None, True, -1, 1.5, "", "x", [], [[]], {}, {"a": {"b": None}}]
    for value in odd:
        names = ("tool_name", "tool_input", "prompt", "prompt_id", "transcript_path", "stop_hook_active", "loop_count")
        said = lab.call(event, **dict.fromkeys(names, value))
        assert said == "" or isinstance(json.loads(said), dict)
