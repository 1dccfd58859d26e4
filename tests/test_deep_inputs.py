"""Deep and long inputs at every door: no crash, and no work that grows faster than the input."""

from __future__ import annotations

import contextlib
import gc
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hookctl.hosts.shapes import split_words
from hookctl.masking import masked_text
from hookctl.survey.scripts import find_scripts
from tests.conftest import Hookctl, put

pytestmark = pytest.mark.usefixtures("fixed_python")

USER, PROJECT = "home/.claude/settings.json", "work/.claude/settings.json"
INSTALLED = ("install", "--host", "claude"), ("install", "--host", "claude", "--scope", "project")
DOORS = [
    ("hooks",), ("status",), ("status", "--all", "--verbose"), ("doctor",),
    ("doctor", "--host", "claude", "--json"), ("check",),
    ("plan", "--host", "claude"), ("plan", "--host", "claude", "--force", "--json"),
    ("plan", "--host", "claude", "--scope", "project", "--reset"), ("plan", "../pack", "--host", "claude"),
    ("install", "--host", "claude", "--dry-run"), ("install", "--host", "claude", "--scope", "project", "--force"),
    ("log",), ("log", "--json"), ("stats",), ("stats", "--json"), ("run", "status"), ("run", "status", "--json"),
    ("run", "heartbeat"), ("run", "remaining", "2"), ("run", "wait", "--timeout", "0s", "--stall", "1m"),
    ("render", "--host", "claude", "--scope", "user"), ("restore", f"../{USER}", "--list"),
    ("upgrade", "--dry-run"), ("uninstall", "--dry-run"), ("uninstall", "--scope", "project"),
]  # fmt: skip


def arrays(depth: int) -> str:
    return "[" * depth + "]" * depth


def objects(depth: int) -> str:
    return '{"a": ' * depth + "1" + "}" * depth


def both(depth: int) -> str:
    return '[{"token": ' * (depth // 2) + '"x"' + "}]" * (depth // 2)


ALL = os.environ.get("HOOKCTL_TESTS") == "all"
# As deep as a document may be, where walks over one used to end the stack, and where the reader does.
DEPTHS = [(97, arrays), (500, objects), (800, both)]
EVERY = [(depth, make) for depth in (90, 97, 130, 400, 500, 700, 900, 20_000) for make in (arrays, objects, both)]


def in_place_of(path: str, part: str) -> Callable[[Path, str], None]:
    """Put the value in the place of a part of a file that an install wrote."""

    def change(isolated: Path, value: str) -> None:
        text = (isolated / path).read_text()
        assert part in text, text
        (isolated / path).write_text(text.replace(part, part.rpartition(" ")[0] + " " + value, 1))

    return change


def as_file(path: str, text: str) -> Callable[[Path, str], None]:
    """A file with the value in it."""
    return lambda isolated, value: (put(isolated / path, text.replace("VALUE", value)), None)[1]


PLACES: dict[str, Callable[[Path, str], None]] = {
    "our timeout": in_place_of(USER, '"timeout": 10'),
    "our limit": in_place_of(USER, '"MAX_STOP_BLOCKS": "5"'),
    "our timeout in a project": in_place_of(PROJECT, '"timeout": 10'),
    "our command in a project": in_place_of(PROJECT, '"type": "command"'),
    "an entry of the committed ledger": in_place_of("work/.hookctl/ledger.json", '"written": "5"'),
    "an entry of the ledger": in_place_of("state/ledger.json", '"written": "5"'),
    "the guard's configuration": as_file("work/.hookctl/guard/claude.json", '{"mode": VALUE}'),
    "a setting of theirs": as_file("work/.claude/settings.local.json", '{"permissions": VALUE}'),
    "a variable of theirs": as_file("work/.claude/settings.local.json", '{"env": {"MAX_STOP_BLOCKS": VALUE}}'),
    "a hook of theirs": as_file(
        "work/.claude/settings.local.json", '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": VALUE}]}]}}'
    ),
    "a field of a hook of theirs": as_file(
        "work/.claude/settings.local.json",
        '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "odd": VALUE}]}]}}',
    ),
    "Codex": as_file("home/.codex/config.toml", "a = VALUE\n"),
    "Hermes": as_file("home/.hermes/config.yaml", "a: VALUE\n"),
    "the task": as_file("work/.hookctl/run/task.json", '{"remaining": 2, "heartbeat": VALUE}'),
    "the count": as_file("work/.hookctl/run/task.json", '{"remaining": VALUE}'),
    "an event": as_file("work/events", '{"event": "stop", "x": VALUE}\n'),
    "the change in an event": as_file("work/events", '{"run": {"heartbeat": VALUE}}\n{"event": "stop"}\n'),
    "a pack": as_file("pack/pack.toml", '[pack]\nname = "p"\nversion = "1"\nprotocol = "host"\n[env]\nA = VALUE\n'),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_nothing_is_too_deep(place: str, isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hookctl.checks.self_test.run", lambda *_: None)
    put(isolated / "work" / "events", '{"event": "stop"}\n')
    put(isolated / "pack" / "pack.toml", '[pack]\nname = "p"\nversion = "1"\nprotocol = "host"\n')
    for command in INSTALLED:
        assert hookctl(*command).code == 0
    kept = {path: path.read_bytes() for path in isolated.rglob("*") if path.is_file()}
    for turn, (depth, make) in enumerate(EVERY if ALL else DEPTHS):
        PLACES[place](isolated, make(depth))
        doors = DOORS if ALL else [door for number, door in enumerate(DOORS) if (number + turn) % 3]  # two of three
        for command in doors:
            outcome = hookctl(*command)
            assert outcome.code != 3 and "Traceback" not in outcome.err, (depth, make, command, outcome)
        for path, data in kept.items():
            put(path, data)


# Long commands of a hook, from a part that is repeated.

LONG: dict[str, Callable[[int], str]] = {
    "programs that run another": lambda size: "exec " * size + "x",
    "shells in shells": lambda size: "sh -c " * size + "x",
    "env": lambda size: "env -u A B=1 " * size + "/x",
    "runners": lambda size: "uv run -q " * size + "x.py",
    "assignments": lambda size: "A=1 " * size + "/x.py",
    "options": lambda size: "python3 " + "-u " * size + "/x.py",
    "options with a value": lambda size: "python3 " + "-W a " * size + "/x.py",
    "one word": lambda size: "/" + "a" * size,
    "quoted parts": lambda size: "/x" + "'a'" * size,
    "an open quote": lambda size: '/x"' + "a" * size,
    "backslashes": lambda size: "/x" + "\\" * size,
    "variables": lambda size: "/x$HOME" * size,
    "open variables": lambda size: "${A:-" * size,
    "steps": lambda size: "cd /a && " * size + "/x",
    "redirections": lambda size: "/x " + ">b " * size,
    "a condition of ours": lambda size: ": hookctl=a/b; [ -f " + "x ] && [ -r " * size,
    "names of secrets": lambda size: "token=" * size,
    "flags of secrets": lambda size: "--token a " * size,
    "open brackets": lambda size: "token=[" * size,
    "addresses": lambda size: "://u:p@" * size,
}
READERS: dict[str, Callable[[str], object]] = {
    "scripts": lambda command: find_scripts(command, {"HOME": "/home/u"}),
    "words": split_words,
    "mask": masked_text,
}


@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("reader", READERS)
def test_no_command_takes_more_than_its_length(name: str, reader: str) -> None:
    """Four times the text may take about four times as long; a square would take sixteen times."""

    def taken(size: int) -> float:
        text = LONG[name](size)
        gc.disable()  # it goes over all objects of the tests again and again
        start = time.process_time()
        with contextlib.suppress(ValueError):
            READERS[reader](text)
        end = time.process_time()
        gc.enable()
        return end - start

    assert any(taken(80_000) < 11 * taken(20_000) + 0.05 for _ in range(5))
