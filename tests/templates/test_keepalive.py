"""Mode keepalive: rides chains of forced continuations while it is armed, and leaves a breadcrumb for a supervisor."""

from typing import Any

import pytest

from .lab import Lab, letter, name_of, spoil
from .play import HIGH_CAP, NO_CAP, Row, play, rows

MODE: dict[str, Any] = {"mode": "keepalive"}
KA: dict[str, Any] = {**MODE, "chain_reset": "fresh", "latch": False}
ARMED = "armed 9000000000"

SCENARIOS: list[Row] = [
    ("E1 not armed", KA, "01=AA[inactive]"),
    ("E2 fifteen stops", KA, f"{HIGH_CAP}; {ARMED}; 0{'1' * 14}={'B' * 15}"),
    ("E2 work is not asked for", KA, f"{ARMED}; work 0; 01=BB[blocked]"),
    ("E3 STOP", KA, f"{ARMED}; 01=BB; mark STOP; 10=AA[stop]"),
    ("E3 STOP removes the breadcrumb", KA, f"{ARMED}; 01=BB; crumb yes; mark STOP; 1=A; crumb no"),
    ("E4 CONCLUDE", KA, f"{ARMED}; mark CONCLUDE; 1=A[conclude]"),
    ("E4 CONCLUDE removes the breadcrumb", KA, f"{ARMED}; 01=BB; crumb yes; mark CONCLUDE; 1=A; crumb no"),
    ("E5 the breadcrumb", KA, f"{ARMED}; 0=B; crumb no; 1=B; crumb yes"),
    ("E5 a fresh stop removes it", KA, f"{ARMED}; 01=BB; crumb yes; 0=B; crumb no; 1=B; crumb yes"),
    ("E5 a fresh stop removes an old one", KA, f"{ARMED}; 0111=BBBB; crumb yes; 00=BB; crumb no"),
    ("E5 a fresh stop at STOP removes it", KA, f"{ARMED}; 01=BB; mark STOP; 0=A[stop]; crumb no"),
    ("E5 a fresh stop at CONCLUDE removes it", KA, f"{ARMED}; 01=BB; mark CONCLUDE; 0=A[conclude]; crumb no"),
    (
        "E5 CONCLUDE with a reminder removes it",
        {**KA, "required_tools": ["finish"]},
        f"{ARMED}; 01=BB; mark CONCLUDE; 1=B[nudged]; crumb no; 1=A[conclude]; crumb no",
    ),
    ("E5 the guard's own limit takes it", {**KA, "keepalive_cap": 2}, f"{ARMED}; 01=BB; crumb yes; 1=R; crumb no"),
    (
        "E5 the host's cap does not",
        KA,
        f"env CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=2; {ARMED}; 01=BB; crumb yes; 1=R[host_cap]; crumb yes",
    ),
    ("E5 a bystander leaves it", KA, f"{ARMED}; owner S1; 01=BB; S2:0=A[not_owner]; crumb yes"),
    ("E5 a child leaves it", KA, f"{ARMED}; 01=BB; env HOOKCTL_CHILD=1; 0=A[child]; crumb yes"),
    ("E5 disabled, it stays", KA, f"{ARMED}; 01=BB; env HOOKCTL_DISABLE=1; 0=A[off]; crumb yes"),
    ("E5 disarmed, it stays", KA, f"{ARMED}; 01=BB; no ACTIVE; 0=A[inactive]; crumb yes"),
    (
        "E5 a reminder alone leaves none",
        {**KA, "required_tools": ["x"]},
        f"{ARMED}; mark CONCLUDE; 1=B[nudged]; crumb no",
    ),
    ("E5 the breaker has none", {}, f"{ARMED}; work 2; 01=BB; crumb no"),
    ("E5 mode guard has none", {"mode": "guard"}, f"{ARMED}; 01=AA; crumb no"),
    ("E8 its own cap", {**KA, "keepalive_cap": 10}, f"{HIGH_CAP}; {ARMED}; 0{'1' * 10}={'B' * 10}R[tripped]"),
    ("E8 not the breaker's", {**KA, "max_stop_blocks": 1}, f"{ARMED}; 0111=BBBB"),
    ("E8 no cap", {**KA, "keepalive_cap": 0}, f"{NO_CAP}; {ARMED}; 0{'1' * 11}={'B' * 12}"),
    ("E8 counted in attempts", {**KA, "keepalive_cap": 3, "count": "attempts"}, f"{ARMED}; 011=BBR[tripped]"),
    ("E8 again after a fresh stop", {**KA, "keepalive_cap": 2}, f"{ARMED}; 011=BBR; 011=BBR"),
    ("E8 the latch", {**MODE, "keepalive_cap": 2}, f"{ARMED}; 0111=BBRA[open]; 0=A[open]"),
    ("E8 a prompt closes the latch", {**MODE, "keepalive_cap": 2}, f"{ARMED}; turn p; 011=BBR; turn q; 011=BBR"),
    ("E8 fresh stops do not reset", {**MODE, "keepalive_cap": 2}, f"{ARMED}; 00=BB; 0=R"),
    ("E8 a heartbeat does", {**MODE, "keepalive_cap": 2}, f"{ARMED}; work 0 a; 01=BB; work 0 b; 111=BBR"),
    (
        "E8 calls reset without a bound",
        {**MODE, "keepalive_cap": 2, "max_soft_resets": 1},
        f"{ARMED}; calls z; 0=B; " + "; ".join(f"calls c{i}; 1=B" for i in range(6)),
    ),
    ("E8 the host's cap", KA, f"{ARMED}; 0{'1' * 8}={'B' * 8}R[host_cap]"),
    ("E8 both caps", {**KA, "keepalive_cap": 8}, f"{ARMED}; 0{'1' * 8}={'B' * 8}R[tripped]"),
    (
        "E8 a call starts the host's count anew",
        KA,
        f"{ARMED}; 0{'1' * 6}={'B' * 7}; calls a; 1=B; 1111111=BBBBBBB; 1=R",
    ),
    ("E9 disarmed in the chain", KA, f"{ARMED}; 01=BB; no ACTIVE; 1=A[inactive]"),
    ("E9 a chain of ours is no foreign one", KA, f"{ARMED}; 011111=BBBBBB; no ACTIVE; 1=A[inactive]"),
    ("E ended by its time", KA, "at 1000; armed 1001; 0=B; at 1000.5; 1=B; at 1001; 1=A[inactive]"),
    ("E armed with an end that is past", KA, "at 1000; armed 999; 0=A[inactive]"),
    ("E armed by an empty file", KA, "armed ; 0=A[inactive]"),
    ("E armed by nonsense", KA, "armed tomorrow; 0=A[inactive]"),
    ("E armed by no number", KA, "armed nan; 0=A[inactive]"),
    ("E armed in other digits", KA, "armed ９９９９９９９９９９; 0=A[inactive]"),
    ("E armed until no time", KA, "armed 250000000000; 0=A[inactive]; armed 249999999999; 0=B"),
    ("E armed for ever", KA, "armed inf; 0=A[inactive]; armed 1e400; 0=A[inactive]; armed 9_000_000_000; 0=A"),
    ("E a run folder cannot arm it", KA, "mark ACTIVE; 0=A[inactive]"),
    ("E a bystander", KA, f"{ARMED}; owner S1; S2:01=AA[not_owner]; S1:01=BB"),
    ("E a bystander, not armed", KA, "owner S1; S2:0=A[not_owner]"),
    ("E everybody without an owner", {**KA, "claim": False}, f"{ARMED}; a:0=B; b:0=B"),
    ("E the first without an owner", KA, f"{ARMED}; a:0=B; b:0=A[not_owner]"),
    ("E the host waits itself", KA, f"{ARMED}; 0=B; waits; 1=A[background]; no waits; 1=B"),
    ("E it does not yield", {**KA, "yield_on_background": False}, f"{ARMED}; waits; 01=BB"),
    ("E CONCLUDE while the host waits", KA, f"{ARMED}; waits; mark CONCLUDE; 1=A[conclude]"),
    ("E STOP before CONCLUDE", KA, f"{ARMED}; mark STOP; mark CONCLUDE; 0=A[stop]"),
    ("E honour the flag", {**KA, "honor_stop_hook_active": True}, f"{ARMED}; 0101=BABA[honor_active]"),
    ("E a child", KA, f"{ARMED}; env HOOKCTL_CHILD=1; 0=A[child]"),
    ("E a foreign chain, not armed", KA, "01111=AAAAH[stop_loop]"),
    ("E a foreign chain, its time is over", KA, "at 1000; armed 999; 01111=AAAAH[stop_loop]"),
    ("E a foreign chain, left alone", {**KA, "end_foreign_chains": False}, f"0{'1' * 9}={'A' * 10}[inactive]"),
    ("E a foreign chain, armed and stopped", KA, f"{ARMED}; mark STOP; 0{'1' * 9}={'A' * 10}[stop]"),
    ("E a foreign chain, armed and concluded", KA, f"{ARMED}; mark CONCLUDE; 0{'1' * 9}={'A' * 10}[conclude]"),
    ("E a foreign chain, armed, of a bystander", KA, f"{ARMED}; owner S9; 0{'1' * 9}={'A' * 10}[not_owner]"),
    (
        "E8 a wake-up does not close the latch",
        {**MODE, "keepalive_cap": 1},
        f"{ARMED}; asks go; turn p; 01=BR; woken; turn w; 0=A",
    ),
]


@rows(SCENARIOS)
def test_keepalive_plays_the_scenario(lab: Lab, config: dict[str, Any], script: str) -> None:
    play(lab, config, script)


def test_the_breadcrumb_holds_the_time_and_the_session_as_a_hash(lab: Lab) -> None:
    lab.config(**KA, claim=False).arm()
    lab.environment["HOOKCTL_NOW"] = "1763755200"
    assert lab.stops("01") == "BB"
    text = lab.breadcrumb.read_text()
    assert name_of("S1") in text and "S1" not in text
    assert any(time in text for time in ("1763755200", "2025-11-21T20:00:00"))
    assert lab.breadcrumb.stat().st_mode & 0o777 == 0o600
    lab.environment["HOOKCTL_NOW"] = "1763755260"
    assert lab.stop(True, session_id="S2") == "B"
    assert name_of("S2") in lab.breadcrumb.read_text()
    assert any(time in lab.breadcrumb.read_text() for time in ("1763755260", "2025-11-21T20:01:00"))


@pytest.mark.parametrize("how", ["folder", "fifo", "full"])
def test_a_breadcrumb_that_cannot_be_written_is_ignored(lab: Lab, how: str) -> None:
    lab.config(**KA).arm()
    spoil(lab.breadcrumb, how)
    assert lab.stops("010") == "BBB"
    assert lab.codes() == ["blocked"] * 3


def test_a_subagent_leaves_the_breadcrumb(lab: Lab) -> None:
    lab.config(**KA).arm()
    assert lab.stops("01") == "BB"
    assert lab.stop(agent_id="a") == "A"
    assert lab.breadcrumb.exists()


@pytest.mark.parametrize("how", ["folder", "fifo", "zero"])
def test_a_spoilt_active_file_does_not_arm(lab: Lab, how: str) -> None:
    lab.config(**KA)
    spoil(lab.folder / "ACTIVE", how)
    assert (lab.stop(), lab.codes()) == ("A", ["inactive"])


def test_no_progress_lifts_the_ceiling_of_five_thousand(lab: Lab) -> None:
    lab.config(**MODE, keepalive_cap=0).arm()
    lab.environment["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"] = "0"
    lab.stop(prompt_id="p")
    lab.edit(total=4999)
    assert lab.stops("1", prompt_id="p") == "B"
    lab.task(remaining=0, heartbeat="moved")
    assert lab.stops("1", prompt_id="p") == "R"
    assert lab.codes()[-1] == "ceiling"
    lab.task(remaining=0, heartbeat="moved again")
    assert lab.stops("10", prompt_id="p") == "AA"
    assert lab.stops("0", prompt_id="q") == "B"


def test_a_state_that_cannot_be_saved_always_means_letting_go(lab: Lab) -> None:
    lab.config(**KA).arm()
    assert lab.stop() == "B"
    path = lab.session_file()
    path.unlink()
    path.mkdir()
    assert lab.stops("111") == "RRR"
    assert lab.codes()[1:] == ["state_error"] * 3
    assert not lab.breadcrumb.exists()


def test_a_stop_of_two_registrations_is_one_block_of_its_cap(lab: Lab) -> None:
    lab.config(**KA, keepalive_cap=2).arm()
    other = lab.second()
    assert [(lab.stop(flag), lab.stop(flag, other)) for flag in (False, True, True)] == [
        ("B", "B"),
        ("B", "B"),
        ("R", "R"),
    ]


@pytest.mark.parametrize("event", ["prompt", "post-tool", "subagent-stop"])
def test_only_a_stop_is_kept_alive(lab: Lab, event: str) -> None:
    lab.config(**KA).arm()
    assert letter(lab.call(event, tool_name="Bash", tool_input={}, prompt="x")) == "A"
    assert not lab.breadcrumb.exists()
