"""The packs that come along: protect with every real client, and notify beside the guard."""

import time

import pytest

from .agent import Place
from .calls import read
from .clients import Client
from .everywhere import EVERY, Case, receipts, told
from .model_server import Script
from .product import decisions, hookctl, leave_work
from .setups import SETUPS
from .test_patches import about, made_of

pytestmark = pytest.mark.e2e

SECRET = "TOKEN-42\none\n"
THEMSELVES = ("gemini", "kimi")  # they keep their tools from .env before any hook is asked


@pytest.mark.parametrize("case", EVERY)
def test_no_tool_reads_writes_or_edits_a_protected_file_and_another_one_is_written(
    case: Case, stage: tuple[Client, Place]
) -> None:
    client, place = stage
    name, glob = ("my.key", "*.key") if case.host in THEMSELVES else (".env", ".env")
    setup = SETUPS[case.host][""]
    setup.prepare(place)
    hookctl(place, "install", "protect", "--host", case.host)
    kept = {call["name"]: call for call in read(case.host)["calls"] if "call" in call and not call.get("agent")}
    calls = [made_of(about(kept[each]["call"], "(notes|new).txt", name), place) for each in ("read", "write", "edit")]
    (place.project / name).write_text(SECRET)
    run = setup.play(case, client, place, Script([*calls, made_of(kept["write"]["call"], place), "done"], limit=12))
    assert (place.project / name).read_text() == SECRET
    assert "TOKEN-42" not in told(run)
    assert f"is protected ({glob})" in told(run)
    assert (place.project / "new.txt").exists()
    assert [outcome for _, outcome in receipts(place)] == ["deny", "deny", "deny", "none"]


@pytest.mark.parametrize("case", [case for case in EVERY if case.id in ("claude", "codex")])
def test_a_stop_is_said_once_where_the_guard_has_blocked_the_one_before(
    case: Case, stage: tuple[Client, Place]
) -> None:
    client, place = stage
    said = place.root / "said"
    program = place.root / "bin" / "notify-send"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\necho "$@" >> {said}\n')
    program.chmod(0o755)
    hookctl(place, "install", "--host", case.host)
    hookctl(place, "install", "notify", "--host", case.host)
    leave_work(place, 1)
    environment = {**case.environment, "PATH": f"{program.parent}:{place.environment()['PATH']}"}
    replies = ["stopped", case.shell("rm .hookctl/run/task.json"), "done"]
    options = [*case.options, *(["--allowedTools", "Bash"] if case.host == "claude" else [])]
    case.driver.play(client, place, Script(replies, limit=9), *options, timeout=300, environment=environment)
    assert [line["decision"] for line in decisions(place)] == ["block", "allow"]
    time.sleep(5)  # the pause of the hook, and some more
    assert said.read_text() == f"-- {case.host} in project has stopped\n"
