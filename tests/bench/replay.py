"""Replay the published incidents through the real hook, with a model of the host: python -m tests.bench.replay.

The hook runs as a process, as the host runs it; turns, wake-ups, clocks and arrivals are a model. Nothing here is a
measurement of a live agent, and a figure of a published system is quoted, not reproduced.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.templates.lab import WAKE_TEXT, Lab
from tests.templates.presets import PRESETS

HOST_CAP = 8  # blocks in a row without a tool call that Claude Code honours
INCIDENT = 1599  # turns of the published incident: where a replay without an end is broken off
CLOCK = "host, clock; without: the published figure"


class Row(NamedTuple):
    """A line of the table."""

    what: str
    without: int
    with_hook: int
    unit: str
    modelled: str


def laboratory(root: Path, **knobs: Any) -> Lab:
    """A project with work left, and the hook configured so."""
    lab = Lab(root).config(**knobs)
    lab.task(remaining=2)
    return lab


def chain(decide: Callable[[int], str], limit: int, calls: bool, cap: int = HOST_CAP) -> int:
    """The turns of one chain in the model of the host: a block is another turn, until cap or limit."""
    blocks, turn = 0, 0
    while turn < limit:
        turn += 1
        blocks = 0 if calls else blocks
        if decide(turn) != "B" or 0 < cap <= blocks:
            break
        blocks += 1
    return turn


def always_blocked(turn: int) -> str:
    return "B"


COMMANDS: dict[str, Callable[[int], str]] = {
    "no tool call": lambda turn: "",
    "the same command": lambda turn: "poll",
    "two commands in turn": lambda turn: f"poll {turn % 2}",
    "always another command": lambda turn: f"poll {turn}",
}


def empty_turns(root: Path, behaviour: str, limit: int = INCIDENT) -> tuple[int, int]:
    """R1a: one chain of an agent that does not get on; turns without a limit of ours, and with the hook."""
    lab, command = laboratory(root), COMMANDS[behaviour]

    def turn(number: int) -> str:
        if command(number):
            lab.calls(command(number))
        lab.says()
        return lab.stop(number > 1, prompt_id="p")

    calls = bool(command(1))
    return chain(always_blocked, limit, calls), chain(turn, limit, calls)


def wake_ups(root: Path, wakes: int, **knobs: Any) -> tuple[int, int]:
    """R1b: background tasks wake an agent that answers with text only; turns without and with the hook."""
    lab, turns = laboratory(root, **knobs), 0
    if knobs.get("yield_on_background"):
        lab.payload["background_tasks"] = [{"id": "b1"}]
    lab.asks("watch the build")
    for wake in range(wakes):
        if wake:
            lab.asks(WAKE_TEXT, origin={"kind": "task-notification"})

        def turn(number: int, prompt: str = f"p{wake}") -> str:
            lab.says()
            return lab.stop(number > 1, prompt_id=prompt)

        turns += chain(turn, INCIDENT, calls=False)
    return wakes * chain(always_blocked, INCIDENT, calls=False), turns


def always_denied(root: Path, limit: int = 500) -> tuple[int, int]:
    """R3: another hook denies every end of the turn; steps up to the host's own limit, and with mode guard."""
    lab = laboratory(root, **PRESETS["openhands"])

    def step(number: int) -> str:
        return "H" if lab.stop(number > 1, prompt_id="p") == "H" else "B"  # else the other hook's denial counts

    return chain(always_blocked, limit, calls=False, cap=0), chain(step, limit, calls=False, cap=0)


def night(minutes: float, turn: float) -> Iterator[tuple[int, float]]:
    """The turns of a night and the minute at which each ends; the last one ends after it."""
    number = 0
    while number * turn < minutes:
        number += 1
        yield number, number * turn


def keepalive_night(root: Path, hours: float = 10, turn: float = 23.5, cap: int = 5000, **knobs: Any) -> int:
    """R2: turns of 23.5 min with preset nightly; STOP is made when the night is over. How many turns there are."""
    lab, start = laboratory(root, **{**PRESETS["nightly"], **knobs}), 1_800_000_000
    lab.environment["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"] = str(cap)
    lab.arm(start + 12 * 3600)
    turns = 0
    for number, minute in night(hours * 60, turn):
        if minute >= hours * 60:
            lab.mark("STOP")
        lab.environment["HOOKCTL_NOW"] = str(start + minute * 60)
        turns = number
        if lab.stop(number > 1) != "B":
            break
    return turns


def dispatches(root: Path, calls: int, minutes: float = 10) -> int:
    """R4: identical dispatches that arrive evenly; how many are executed under preset rockbot."""
    lab = laboratory(root, **PRESETS["rockbot"], dispatch_tools=["Task"])
    executed = 0
    for number in range(calls):
        lab.environment["HOOKCTL_NOW"] = str(1_800_000_000 + number * minutes * 60 / calls)
        executed += lab.attempt("the same definition") == "A"
    return executed


def rows(root: Path) -> Iterator[Row]:
    """Every replay at its full size."""
    for number, behaviour in enumerate(COMMANDS):
        yield Row(f"R1a {behaviour}", *empty_turns(root / f"a{number}", behaviour), "turns", "host, agent")
    yield Row("R1b 178 wake-ups", *wake_ups(root / "b1", 178), "turns", "host, agent, wake-ups")
    waiting = wake_ups(root / "b2", 178, yield_on_background=True)
    yield Row("R1b the same, tasks listed", *waiting, "turns", "host, agent, wake-ups")
    yield Row("R2 turns of 23.5 min, 10 h", 2, keepalive_night(root / "n1"), "turns", CLOCK)
    yield Row("R2 the same, cap 8", 2, keepalive_night(root / "n2", cap=8), "turns", CLOCK)
    yielding = keepalive_night(root / "n3", honor_stop_hook_active=True)
    yield Row("R2 the same, yield on the flag", 2, yielding, "turns", CLOCK)
    yield Row("R3 a hook that always denies", *always_denied(root / "d"), "steps", "host, the other hook")
    yield Row("R4 3,000 calls in 10 min", 3000, dispatches(root / "r", 3000), "executed", "arrival, clock")


def main() -> None:
    """Print the table."""
    table = [("replay", "without", "with the hook", "", "modelled")]
    with tempfile.TemporaryDirectory() as folder:
        for row in rows(Path(folder)):
            print(f"replayed {row.what}", file=sys.stderr)
            table.append((row.what, f"{row.without:,}", f"{row.with_hook:,}", row.unit, row.modelled))
    widths = [max(len(line[column]) for line in table) for column in range(5)]
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


if __name__ == "__main__":
    main()
