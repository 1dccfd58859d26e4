"""Under its preset the hook decides as each published system does, on random sequences that a host can produce."""

import os
import random
from pathlib import Path

import pytest

from hookctl.packs.choices import PRESETS

from .lab import Lab
from .oracles.bmad import Bmad
from .oracles.hermes import Hermes
from .oracles.nightly import Nightly
from .oracles.openhands import OpenHands
from .oracles.rockbot import RockBot

EXAMPLES = int(os.environ.get("HOOKCTL_TEST_EXAMPLES") or 8)  # many more where somebody looks for trouble
FEWER = range(EXAMPLES // 2)


def laboratory(root: Path, preset: str, **knobs: object) -> Lab:
    lab = Lab(root)
    lab.environment["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"] = "5000"
    return lab.config(**{**PRESETS[preset], **knobs})


def odds(dice: random.Random, chance: float) -> bool:
    return dice.random() < chance


def test_bmad_decides_the_same(tmp_path: Path) -> None:
    for seed in range(EXAMPLES):
        dice = random.Random(seed)
        lab, limit = laboratory(tmp_path / str(seed), "bmad"), dice.randint(1, 6)
        lab.environment["MAX_STOP_BLOCKS"] = str(limit)
        oracle, remaining, heartbeat, fresh = Bmad(limit), dice.randint(1, 4), dice.choice([None, "t0"]), True
        idle = dice.choice([0.5, 0.8, 0.95])
        for number in range(15):
            if not odds(dice, idle):
                heartbeat = dice.choice([None, "t0", f"t{number}"])
            if not odds(dice, idle):
                remaining = dice.randint(0, 4)
            task = {"remaining": dice.choice([remaining, str(remaining)])}
            lab.task(**task, **({} if heartbeat is None else {"heartbeat": heartbeat}))
            expected = oracle.stop(fresh, remaining, heartbeat)
            assert lab.stop(not fresh) == expected, (seed, number, limit)
            fresh = expected != "B" or odds(dice, 0.1)  # a chain ends with a release; a person may break in


def test_nightly_decides_the_same(tmp_path: Path) -> None:
    for seed in FEWER:
        dice, oracle = random.Random(seed), Nightly()
        lab = laboratory(tmp_path / str(seed), "nightly")
        marks = {"conclude": "CONCLUDE", "stopped": "STOP"}
        for number in range(25):
            if number == 0 or odds(dice, 0.15):
                oracle.active = odds(dice, 0.9)
                lab.arm(9_000_000_000 if oracle.active else 0)
            for field, name in marks.items():
                if odds(dice, 0.2):
                    setattr(oracle, field, odds(dice, 0.3))
                    (lab.run / name).unlink(missing_ok=True)
                    if getattr(oracle, field):
                        lab.mark(name)
            fresh = number == 0 or odds(dice, 0.2)
            expected = oracle.stop(fresh)
            assert lab.stop(not fresh) == expected, (seed, number)
            if expected == "B":
                assert lab.breadcrumb.exists() == oracle.respawn_requested, (seed, number)


@pytest.mark.parametrize("host", ["claude", "openhands"])
def test_openhands_decides_the_same(tmp_path: Path, host: str) -> None:
    """On its own host nothing can be said, so the log is asked; a limit of one never ends a turn that nobody forced."""
    for seed in FEWER:
        dice, ends = random.Random(seed), 0
        limit = dice.choice([2, 3, 4, 5, 6])
        lab = laboratory(tmp_path / str(seed), "openhands", max_stop_blocks=limit)
        lab.host = host
        for run in range(4):
            oracle, expected = OpenHands(limit), "A"
            turn = {"prompt_id": f"p{run}"} if host == "claude" else {}
            lab.call("prompt", prompt=f"run {run}", **turn)
            for number in range(10):
                acted = odds(dice, 0.25)
                for _ in range(dice.randint(1, 2) if acted else 0):
                    lab.call("post-tool", tool_name="Bash", tool_input={"command": "poll"})
                expected = oracle.denied(acted)
                ends += expected == "H"
                if host == "claude":
                    assert lab.stop(number > 0, **turn) == expected, (seed, run, number)
                else:
                    assert lab.call("stop") == ""
                assert lab.codes()[-1] == {"H": "stop_loop", "A": "allowed"}[expected], (seed, run, number)
                if expected == "H":
                    break
        assert lab.codes().count("stop_loop") == ends


def test_rockbot_decides_the_same(tmp_path: Path) -> None:
    for seed in FEWER:
        dice, now = random.Random(seed), 1000.0
        limit, window = dice.randint(1, 4), dice.choice([1, 10, 300])
        oracle = RockBot(limit, window)
        lab = laboratory(
            tmp_path / str(seed), "rockbot", dispatch_tools=["Task"], dispatch_max=limit, dispatch_window_s=window
        )
        for number in range(30):
            now += dice.choice([0, 0, 0.25 * window, 0.5 * window, window - 0.125, window])
            key = dice.choice("aab")
            lab.environment["HOOKCTL_NOW"] = str(now)
            assert lab.attempt(key, session_id=dice.choice("xy")) == oracle.admit(key, now), (seed, number)


def test_rockbot_decides_the_same_at_its_own_figures(tmp_path: Path) -> None:
    dice, now, oracle = random.Random(0), 1000.0, RockBot()
    lab = laboratory(tmp_path / "lab", "rockbot", dispatch_tools=["Task"])
    for number in range(80):
        now += dice.choice([0, 4, 8])
        lab.environment["HOOKCTL_NOW"] = str(now)
        assert lab.attempt("a") == oracle.admit("a", now), number
    assert oracle.trips


def test_hermes_decides_the_same(tmp_path: Path) -> None:
    for seed in FEWER:
        dice = random.Random(seed)
        lab = laboratory(tmp_path / str(seed), "hermes")
        for worker in range(4):
            oracle = Hermes(dice.choice(["T7", "T7", "T7", "", " "]))
            lab.environment["HERMES_KANBAN_TASK"] = oracle.scope
            lab.transcript = lab.root / f"worker-{worker}.jsonl"
            for turn in range(3):
                oracle.turn()
                lab.asks(f"turn {turn}")
                active, said = False, "B"
                while said == "B":
                    for _ in range(dice.randint(0, 2)):
                        tool = dice.choice(["kanban_show", "kanban_heartbeat", "Bash", "kanban_comment"])
                        tool = dice.choice(["kanban_complete", "kanban_block"]) if odds(dice, 0.15) else tool
                        lab.calls("x", name=tool)
                        oracle.call(tool)
                    lab.says()
                    said = oracle.exit()
                    fields = {"session_id": f"w{worker}", "prompt_id": f"p{worker}-{turn}"}
                    assert lab.stop(active, **fields) == said, (seed, worker, turn)
                    active = True
