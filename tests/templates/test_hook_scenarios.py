"""The breaker's scenarios, one row each: the configuration, and what happens, in the words of `play`."""

from typing import Any

from .lab import WAKE_TEXT, Lab
from .play import NO_CAP, Row, play, rows

SEED0 = {"chain_reset": "fresh", "latch": False, "progress": ["heartbeat", "remaining"]}

SEVEN = "work 2; calls ls; 0111111=BBBBBBB"
EIGHT_MORE = "11111111=BBBBBBBR[host_cap]"

SCENARIOS: list[Row] = [
    ("A1 no task file", {}, "0=A[no_work]"),
    ("A2 no work", {}, "work 0; 0=A[no_work]"),
    ("A3 work", {}, "work 2; 0=B[blocked]"),
    ("A4 a string of digits is a number", {}, 'work "2"; 0=B'),
    ("A5 less than none", {}, "work -1; 0=A[no_work]"),
    ("A6 a boolean is no number", {}, "work true; 0=A[no_work]"),
    ("A6 a fraction is no number", {}, "work 2.0; 0=A[no_work]"),
    ("A6 other text is no number", {}, 'work "2 or 3"; 0=A[no_work]'),
    ("A6 a digit of another kind is no number", {}, 'work "²"; 0=A[no_work]'),
    ("A6 a number that nobody can count", {}, "work " + "9" * 5000 + "; 0=A[no_work]"),
    ("A7 no JSON", {}, "text {; 0=A[no_work]"),
    ("A9 no text", {}, "bytes fffe7b; 0=A[no_work]"),
    ("A10 a child", {"child_env": ["AUTO_CHILD"]}, "work 2; 0=B; env AUTO_CHILD=true; 0=A[child]"),
    ("A10 the usual child", {}, "work 2; env HOOKCTL_CHILD=1; 0=A[child]"),
    ("A11 false is false", {"child_env": ["C"]}, "work 2; env C=false; 0=B"),
    ("A14 disabled", {}, "work 2; env HOOKCTL_DISABLE=1; 0=A[off]"),
    ("A14 not disabled", {}, "work 2; env HOOKCTL_DISABLE=0; 0=B"),
    ("A14 disabled with blanks", {}, "work 2; env HOOKCTL_DISABLE= on ; 0=A[off]"),
    ("A14 disabled in capitals", {}, "work 2; env HOOKCTL_DISABLE=YES; 0=A[off]"),
    ("A15 the host waits itself", {}, "work 2; 0=B; waits; 1=A[background]; state blocks 1"),
    ("B1 a bystander", {}, "work 2; owner S1; S2:0=A[not_owner]; S1:0=B"),
    ("B1 the knob's owner", {"owner": "S1"}, "work 2; S2:0=A[not_owner]; S1:0=B"),
    ("B1 the file before the knob", {"owner": "S2"}, "work 2; owner S1; S2:0=A[not_owner]; S1:0=B"),
    ("B1 an empty file names nobody", {}, "work 2; owner ; S2:0=B"),
    ("B1 blanks around the owner", {}, "work 2; owner   S1 ; S1:0=B"),
    ("B1 blanks around the knob's owner", {"owner": " S1 "}, "work 2; S2:0=A[not_owner]; S1:0=B"),
    ("B2 no owner", {}, "work 2; S2:0=B"),
    ("B4 a count each", {"max_stop_blocks": 1, "claim": False}, "work 2; a:0=B; b:0=B; a:1=R; b:1=R"),
    ("C1 five blocks", {}, "work 2; 011111=BBBBBR[tripped]"),
    ("C2 the message comes once", {}, "work 2; 0111111=BBBBBRA[open]"),
    ("C2 other hooks go on after the release", {}, "work 2; 011111=BBBBBR; 111=AAH[stop_loop]; 1=A"),
    ("C4 no limit", {"max_stop_blocks": 0}, f"{NO_CAP}; work 2; 0{'1' * 10}={'B' * 11}"),
    ("C4 below none is no limit", {"max_stop_blocks": -3}, f"{NO_CAP}; work 2; 0{'1' * 7}={'B' * 8}"),
    ("C4 no limit, but the host's", {"max_stop_blocks": 0}, f"work 2; 0{'1' * 9}={'B' * 8}RA[open]"),
    (
        "C4 the host's count begins with the first stop",
        {},
        "env CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=2; work 2; 11=BR[host_cap]",
    ),
    ("C6 attempts", {"count": "attempts"}, "work 2; 01111=BBBBR[tripped]"),
    (
        "C6 attempts begin anew after a release",
        {"count": "attempts", "max_stop_blocks": 2, "latch": False},
        "work 2; 0111=BRBR",
    ),
    ("C7 heartbeat", {"max_stop_blocks": 2}, "work 2 t0; 01=BB; work 2 t1; 111=BBR"),
    ("C9 less work", {"max_stop_blocks": 2}, "work 3; 01=BB; work 2; 111=BBR"),
    ("C10 more work", {"max_stop_blocks": 2}, "work 3; 01=BB; work 4; 1=R"),
    ("C12 a heartbeat that vanishes", {"max_stop_blocks": 1}, "work 2 a; 0=B; work 2; 1=B"),
    (
        "C12 a heartbeat that is false is one",
        {"max_stop_blocks": 1},
        'work 2; 0=B; text {"remaining": 2, "heartbeat": 0}; 1=B; text {"remaining": 2, "heartbeat": ""}; 1=B',
    ),
    ("C12 no work left is hard progress", {}, "work 1; owner S9; 0111=AAAA; work 0; 1111=AAAA; 1=H"),
    ("C12 a task file that vanishes is none", {}, "work 3; owner S9; 0111=AAAA; no task.json; 1=H"),
    ("C13 fresh stops", {**SEED0, "max_stop_blocks": 2}, "work 2; 0101010=BBBBBBB"),
    ("C13 fresh stops do not count by default", {"max_stop_blocks": 2}, "work 2; 0101=BBRA[open]"),
    ("C14 a host that says false", {"max_stop_blocks": 3}, "work 2; 0000=BBBR"),
    ("C14 a host that says true", {"max_stop_blocks": 3}, "work 2; 1111=BBBR"),
    ("C16 no flag", {"max_stop_blocks": 3}, "host openhands; work 2; ----=BBBR[tripped]"),
    ("C17 no latch", SEED0, "work 2; 0111110=BBBBBRB"),
    ("C17 no latch, active", {"latch": False, "max_stop_blocks": 1}, "work 2; 0111=BRBR"),
    ("C19 progress closes the latch", {}, "work 2 a; 011111=BBBBBR; work 2 b; 0=B"),
    ("C19 a fresh stop does not", {"max_stop_blocks": 1}, "work 2; 01=BR; 0000=AAAA[open]"),
    ("C21 honour the flag", {"honor_stop_hook_active": True}, "work 2; 0101=BABA[honor_active]"),
    ("C24 done", {}, "work 1; 01=BB; work 0; 1=A[no_work]"),
    ("D1 a tool call", {"max_stop_blocks": 2}, "work 2; says; 01=BB; calls ls; 111=BBR"),
    ("D1 the same call again", {"max_stop_blocks": 2}, "work 2; calls ls; 0=B; calls ls; 1=B; calls ls; 1=R"),
    ("D1 calls before the first stop", {"max_stop_blocks": 2}, "work 2; calls a; calls b; 011=BBR"),
    ("D2 only text", {"max_stop_blocks": 2}, "work 2; says; 1=B; says; 1=B; says; 1=R"),
    ("D2 text about tool_use", {"max_stop_blocks": 1}, 'work 2; says "tool_use"; 0=B; says {"type":"tool_use"}; 1=R'),
    ("D5 events", {"max_stop_blocks": 2}, "work 2; " + "; ".join(f"tool c{i}; {int(i > 0)}=B" for i in range(6))),
    ("D5 the same event again", {"max_stop_blocks": 2}, "work 2; tool c; 0=B; tool c; 1=B; tool c; 1=R"),
    (
        "D6 without novelty",
        {"max_stop_blocks": 2, "action_novelty": False},
        "work 2; " + "; ".join(f"tool c; {int(i > 0)}=B" for i in range(6)),
    ),
    (
        "D7 actions do not count",
        {**SEED0, "max_stop_blocks": 2},
        "work 2; calls a; 0=B; calls b; 1=B; calls c; 1=R; 1=B",
    ),
    ("D9 no transcript", {"max_stop_blocks": 1}, "no transcript; work 2; 01=BR"),
    (
        "D11 the soft allowance",
        {"max_stop_blocks": 2, "max_soft_resets": 4},
        "work 2 a; "
        + "; ".join(f"{'work 2 b; ' if i == 5 else ''}calls c{i}; {int(i > 0)}=B" for i in range(10))
        + "; calls x; 1=B; 1=R",
    ),
    (
        "D11 used up",
        {"max_stop_blocks": 2, "max_soft_resets": 4},
        "work 2; " + "; ".join(f"calls c{i}; {int(i > 0)}=B" for i in range(6)) + "; calls x; 1=R; calls y; 1=A[open]",
    ),
    (
        "D12 no bound",
        {"max_stop_blocks": 2, "max_soft_resets": 0},
        "work 2; " + "; ".join(f"calls c{i}; {int(i > 0)}=B" for i in range(9)),
    ),
    ("C a prompt amid the blocks", {"max_stop_blocks": 2}, "work 2; turn p; 01=BB; turn q; 011=BBR"),
    (
        "C a prompt amid the attempts",
        {"max_stop_blocks": 3, "count": "attempts"},
        "work 2; turn p; 01=BB; turn q; 011=BBR",
    ),
    (
        "D a prompt refills the soft allowance",
        {"max_stop_blocks": 1, "max_soft_resets": 2},
        "work 2; turn p; calls a; 0=B; calls b; 1=B; calls c; 1=B; turn q; calls d; 0=B; calls e; 1=B; calls f; 1=R",
    ),
    ("E11 armed, but nothing to do", {}, "0=A; armed 9000000000; 0=A[no_work]"),
    (
        "E11 armed until now",
        {"require_arm": True},
        "env HOOKCTL_NOW=1000; work 2; 0=A; armed 1001; 0=B; armed 1000; 0=A[inactive]",
    ),
    ("E11 armed by nonsense", {"require_arm": True}, "work 2; 0=A; armed soon; 0=A[inactive]; armed ; 0=A[inactive]"),
    ("E12 STOP", {}, "work 2; mark STOP; 0=A[stop]"),
    ("E12 CONCLUDE", {}, "work 2; mark CONCLUDE; 0=A[conclude]"),
    ("F foreign chain, nothing to do", {}, "01111=AAAAH[stop_loop]; 11111=AAAAH; 0111=AAAA; 1=H"),
    ("F foreign chain, STOP", {}, "work 2; mark STOP; 01111=AAAAH"),
    ("F foreign chain, CONCLUDE", {}, "work 2; mark CONCLUDE; 01111=AAAAH"),
    ("F foreign chain, bystander", {}, "work 2; owner S9; 01111=AAAAH"),
    ("F foreign chain, not armed", {"require_arm": True}, "work 2; 01111=AAAAH"),
    ("F foreign chain, though the project is armed", {}, "armed 9000000000; 01111=AAAAH[stop_loop]"),
    ("F no chain, on a host that takes no block", {}, "host qwen; env QWEN_CODE_STOP_HOOK_BLOCK_CAP=1; 0=A[no_work]"),
    ("F foreign chain, honour", {"honor_stop_hook_active": True}, "work 2; 01111=BAAAA; 1=H"),
    ("F foreign chain, no limit but the host's", {"max_stop_blocks": 0}, "01111111=AAAAAAAA; 1=H; 1=A"),
    ("F foreign chain, no limit at all", {"max_stop_blocks": 0}, f"{NO_CAP}; 0{'1' * 11}={'A' * 12}"),
    ("F limit one", {"max_stop_blocks": 1}, "0=A; 1=H"),
    ("F limit one, the first stop is active", {"max_stop_blocks": 1}, "1=H"),
    ("F progress in between", {}, "calls z; 0=A; 111=AAA; calls a; 1=A; 111=AAA; 1=H"),
    (
        "F progress without end",
        {"max_soft_resets": 1},
        "calls z; 0=A; " + "; ".join(f"calls c{i}; 1=A" for i in range(9)),
    ),
    ("F actions that do not count", {"progress": ["heartbeat"]}, "0=A; calls a; 1=A; calls b; 1=A; calls c; 1=A; 1=H"),
    ("F less work is progress", {}, "work 0; owner S9; 0111=AAAA; work -1; 1=H"),
    ("F a heartbeat is progress", {}, "work 0 a; 0111=AAAA; work 0 b; 1111=AAAA; 1=H"),
    ("F fresh stops are no chain", {}, "000000000=AAAAAAAAA"),
    ("F a fresh stop begins a chain", {}, "0111=AAAA; 0111=AAAA; 1=H"),
    ("F the fifth stop of a turn, though fresh", {}, "turn p; 0000=AAAA; 0=H[stop_loop]"),
    ("F another turn", {}, "turn p; 0111=AAAA; turn q; 1111=AAAA; 1=H"),
    ("F gates that stop the rule: off", {"mode": "off"}, "0111111=AAAAAAA"),
    ("F gates that stop the rule: child", {"child_env": ["C"]}, "env C=1; 0111111=AAAAAAA"),
    ("F a host without an end", {}, "host qwen; 01111=AAAAA[stop_loop]"),
    ("F after a release", {"max_stop_blocks": 2}, "work 2; 011=BBR; 1=A; 1=H"),
    # the host's cap
    ("H a call starts the host's count anew", {"max_stop_blocks": 0}, f"{SEVEN}; calls ls; 1=B; {EIGHT_MORE}"),
    ("H an event of a call does too", {"max_stop_blocks": 0}, f"{SEVEN}; tool ls; 1=B; {EIGHT_MORE}"),
    ("H a fresh stop does too", {"max_stop_blocks": 0}, f"{SEVEN}; 0=B; {EIGHT_MORE}"),
    (
        "H the same call starts the host's count anew, and is no progress",
        {"max_stop_blocks": 9},
        f"work 2; calls ls; 0=B; {'calls ls; 1=B; ' * 8}calls ls; 1=R[tripped]",
    ),
    (
        "H on Qwen Code a call does not, and its number is one too many",
        {"max_stop_blocks": 0},
        "host qwen; env QWEN_CODE_STOP_HOOK_BLOCK_CAP=3; work 1; tool a; 0=B; tool b; 1=B; tool c; 1=R[host_cap]",
    ),
    (
        "H on Copilot CLI a call does not",
        {"max_stop_blocks": 0},
        "host copilot; work 1; "
        + "; ".join(f"tool c{i}; {int(i > 0)}=B" for i in range(8))
        + "; tool x; 1=A[host_cap]",
    ),
    ("H a turn that cannot be ended", {}, "host qwen; 01111=AAAAA[stop_loop]; work 2; 111=BBR[host_cap]"),
    (
        "H our own blocks up to the cap are no other hook's",
        {},
        "; ".join(f"work 2 beat{i}; {int(i > 0)}=B" for i in range(8)) + "; work 0; 1=A[no_work]",
    ),
    # prompts and wake-ups
    (
        "P without an identity the transcript's last prompt counts",
        {"max_stop_blocks": 1, "end_foreign_chains": False},
        "work 2; asks one; 011=BRA; says; 0=A; asks two; 1=A; 01=BR; woken; 0=A",
    ),
    ("P a wake-up starts the streak anew", {}, "asks one; turn p; 0111=AAAA; woken; turn w; 01111=AAAAH"),
    (
        "P a prompt event gives everything back, a wake-up nothing",
        {"max_stop_blocks": 1},
        f"work 2; turn p; 01=BR; turn w; prompt {WAKE_TEXT}; 0=A; turn q; prompt go on; 01=BR",
    ),
    # what is new, and when
    (
        "D where calls come as events the transcript tells none",
        {"max_stop_blocks": 1},
        "work 2; tool a; 0=B; calls b; 1=R",
    ),
    (
        "D a call right behind the last stop is new",
        {"max_stop_blocks": 1, "action_novelty": False, "end_foreign_chains": False},
        "work 2; calls a; 0=B; calls a; 1=B; 1=R",
    ),
    ("A15 CONCLUDE while the host waits", {}, "work 2; waits; mark CONCLUDE; 0=A[conclude]"),
    ("F no chain while the host waits", {}, "mark STOP; waits; 0111111111=AAAAAAAAAA[stop]"),
    (
        "T a clock that goes backwards",
        {"work_hours": 0},
        "work 2; at 2000000000; 0=B; at 1900000000; 11=BB; at 1000; 111=BBR",
    ),
    ("T a clock before 1970, and less than no work", {}, "at -100; work 2; 0=B; work -5; 1=A; work 2; 11111=BBBBR"),
]


@rows(SCENARIOS)
def test_the_hook_plays_the_scenario(lab: Lab, config: dict[str, Any], script: str) -> None:
    play(lab, config, script)
