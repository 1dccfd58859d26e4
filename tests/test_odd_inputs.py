"""What is no file, and far too much of one, at every door: an error that names it, nothing changed, in bounded time."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookctl import hosts
from hookctl.documents.toml import inline, key_text
from hookctl.hosts.shapes import split_words
from hookctl.masking import masked_text
from hookctl.survey.programs import find_scripts
from hookctl.system import folders
from tests.conftest import Hookctl, put
from tests.hostfiles import KINDS, Kind
from tests.manifest import hook, manifest

MIB = 1024 * 1024
SECONDS = 10  # for a command, on a busy machine; a tenth of it is usual
PACK = manifest("p", hook("stop", "{files}/p.sh"), protocol="host", files=["p.sh"])
SETTINGS = "home/.claude/settings.json"
INSTALL, UNINSTALL, PLAN = (
    ("install", "--host", "claude"),
    ("uninstall", "--host", "claude"),
    ("plan", "--host", "claude"),
)
READING = (("status",), ("doctor",), ("hooks",))
PACKED = (("plan", "../pack", "--host", "claude"), ("install", "../pack", "--host", "claude"))
Command = tuple[str, ...]


class Door(NamedTuple):
    """A file that hookctl reads, the commands that need it, and those that do without."""

    name: str
    path: str
    refusing: tuple[Command, ...] = ()
    bearing: tuple[Command, ...] = ()
    installed: bool = False


def of_scope(scope: str) -> tuple[Command, ...]:
    return tuple((*command, "--scope", scope) for command in (INSTALL, PLAN, UNINSTALL))


DOORS = [
    Door("settings", SETTINGS, (INSTALL, (*INSTALL, "--force"), PLAN, UNINSTALL), READING),
    Door(
        "ledger", "state/ledger.json", (INSTALL, UNINSTALL, ("status",)), (("doctor",), ("run", "status"), ("hooks",))
    ),
    Door("shared", "work/.claude/settings.json", of_scope("project"), READING),
    Door("local", "work/.claude/settings.local.json", of_scope("local"), READING),
    Door("journal", "state/journal.json", (INSTALL, UNINSTALL), (("status",), ("doctor",))),
    Door("committed", "work/.hookctl/ledger.json", of_scope("project")[:1], (("status",), ("doctor",))),
    Door("pack", "pack/pack.toml", PACKED),
    Door("config", "data/guard/claude.json", (), (INSTALL, ("status",), ("doctor",)), installed=True),
    Door("hook", "data/hook.py", (), (("status",), ("doctor",)), installed=True),
    Door("backups", SETTINGS, (), (("restore", f"../{SETTINGS}", "--list"),), installed=True),
    Door("task", "work/.hookctl/run/task.json", (), (("run", "status"), ("status",), ("doctor",))),
    Door("owner", "work/.hookctl/run/OWNER", (), (("run", "status"), ("status",))),
]


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b"{")
        file.truncate(100 * MIB)


def blank(path: Path) -> None:
    path.write_bytes(b"{" + b" " * (100 * MIB) + b"}")


SORTS: dict[str, Callable[[Path], object]] = {
    "huge": huge, "blank": blank,
    "deep": lambda path: path.write_text('{"a":' * 10_000 + "1" + "}" * 10_000),
    "unclosed": lambda path: path.write_text('{"a": ' * 200_000),
    "nul": lambda path: path.write_bytes(b'{"a": "\0"}\0'),
    "pipe": os.mkfifo, "device": lambda path: path.symlink_to("/dev/zero"),
    "node": lambda path: os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5)),  # /dev/zero
    "loop": lambda path: path.symlink_to(path.name), "folder": Path.mkdir,
}  # fmt: skip
if os.geteuid() != 0:
    del SORTS["node"]
ALL = os.environ.get("HOOKCTL_TESTS") == "all"
PAIRS = [
    pytest.param(door, make, id=f"{door.name}-{name}")
    for row, door in enumerate(DOORS)
    for column, (name, make) in enumerate(SORTS.items())
    # Each door and each kind a few times; a repository may bring any kind of settings.
    if ALL or door.name in ("shared", "local", "committed") or (row + column) % 3 == 0
]


def prepare(isolated: Path, door: Door, make: Callable[[Path], object], hookctl: Hookctl) -> Path:
    if door.installed:
        assert hookctl(*INSTALL).code == 0
    put(isolated / "pack" / "pack.toml", PACK)
    put(isolated / "pack" / "p.sh", "true\n")
    path = isolated / door.path
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    make(path)
    return path


def everything(isolated: Path, odd: Path) -> dict[str, object]:
    """What lies there, of the odd file its size alone; without the lock, which hookctl may take before it looks."""
    found: dict[str, object] = {}
    for path in sorted(isolated.rglob("*")):
        about = path.lstat()
        data = path.read_bytes() if path.is_file() and path != odd else None
        found[str(path.relative_to(isolated))] = about.st_mode, path == odd and about.st_size, data
    found.pop("state/lock", None)
    return found


@pytest.mark.parametrize(("door", "make"), PAIRS)
def test_an_odd_file_is_named_and_nothing_changes(
    door: Door, make: Callable[[Path], object], isolated: Path, hookctl: Hookctl, fixed_python: None
) -> None:
    path = prepare(isolated, door, make, hookctl)
    before = everything(isolated, path)
    for command in (*door.refusing, *door.bearing):
        start = time.process_time()
        done = hookctl(*command)
        said = done.out + done.err
        assert done.code in ((4,) if command in door.refusing else (0, 1, 4)), (command, done)
        assert "Traceback" not in said and time.process_time() - start < SECONDS
        assert done.code != 4 or path.name in said
        assert everything(isolated, path) == before, command


@pytest.mark.parametrize(
    "door", [door for door in DOORS if door.name in ("settings", "ledger", "pack")], ids=lambda door: door.name
)
def test_a_file_of_100_mb_takes_no_memory_for_it(door: Door, isolated: Path, hookctl: Hookctl) -> None:
    prepare(isolated, door, blank, hookctl)
    done = subprocess.run(
        [sys.executable, "-m", "hookctl", *door.refusing[0]], capture_output=True, text=True, timeout=60,
        stdin=subprocess.DEVNULL, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (220 * MIB, 220 * MIB)),
    )  # fmt: skip
    assert done.returncode == 4 and "larger than" in done.stderr, done


# Limits of the machine
LIMITS = [
    *((resource.RLIMIT_FSIZE, number) for number in (0, 100, 2000, 9000)),
    *((resource.RLIMIT_NOFILE, number) for number in (5, 6, 8, 12)),
]


@pytest.mark.parametrize("verb", [INSTALL, UNINSTALL], ids=lambda verb: verb[0])
@pytest.mark.parametrize(("kind", "number"), LIMITS, ids=lambda value: str(value))
def test_a_limit_of_the_shell_stops_a_run_and_changes_nothing(
    kind: int, number: int, verb: tuple[str, ...], settings: Path, isolated: Path, hookctl: Hookctl
) -> None:
    put(settings, theirs := '{"model": "m", "note": "' + "x" * 6000 + '"}')
    if verb == UNINSTALL:
        assert hookctl(*INSTALL).code == 0
    before = settings.read_text()
    done = subprocess.run(
        [sys.executable, "-B", "-m", "hookctl", *verb], capture_output=True, text=True, timeout=60, check=False,
        stdin=subprocess.DEVNULL, preexec_fn=lambda: resource.setrlimit(kind, (number, number)),
    )  # fmt: skip
    assert done.returncode in (0, 1, 4) and "Traceback" not in done.stderr, done
    if done.returncode:
        assert settings.read_text() == before and done.stderr
        if kind == resource.RLIMIT_FSIZE:
            assert "File too large" in done.stderr and not folders.here().has_unfinished_run()
    for command in (INSTALL, UNINSTALL):
        assert hookctl(*command).code == 0
    assert settings.read_text() == theirs


# No odd document that can be parsed makes a command end unexpectedly (3), on any host.
pytestmark = pytest.mark.usefixtures("fixed_python")

EXAMPLES = int(os.environ.get("HOOKCTL_TEST_ODD") or 5)
COMMANDS = [
    ("doctor",), ("plan",), ("install",), ("install", "--set", "max_stop_blocks=3"), ("doctor",), ("doctor", "--fix"),
    ("uninstall",),
]  # fmt: skip
OTHERS = [
    "x", "", "é", "a.b", "a b", "__proto__", "matcher", "hooks", "description", "$schema", "PreToolUse", "<<", "=",
    "\u2028",
]  # fmt: skip
TABLES = ("registration", "handlers", "known_keys", "switches", "cap", "environment", "guarding", "trust", "events")
SCALARS = st.sampled_from(
    [None, True, False, 0, 1, -1, 10, 1.5, 10**25, "", "x", "0", "10", "*", "command", "http", "prompt", "é\u2028\x1b",
     ": hookctl=guard/stop; x", ": hookctl=other/stop; x", "sh -c 'x", "a.b", [], {}]
)  # fmt: skip


def words_in(value: Any) -> list[str]:
    """Every key and text of a host's file that is a single word."""
    words = []
    if isinstance(value, dict):
        for key, inner in value.items():
            words += [key, *words_in(inner)]
    elif isinstance(value, list):
        for inner in value:
            words += words_in(inner)
    elif isinstance(value, str) and value.isidentifier():
        words.append(value)
    return words


@cache
def names(host: str) -> list[str]:
    """What a key may be called where this host looks: in a settings file and in a hook."""
    found = {*OTHERS, "hooks", "type", "command", "timeout", "env"}
    for name in TABLES:
        found.update(words_in(hosts.load(host).data.get(name, {})))
    return sorted(found)


def maps(kind: Kind, inner: st.SearchStrategy[Any], size: int = 2) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from([*names(kind.host), *kind.stop]), inner, max_size=size)


def odd_values(kind: Kind) -> st.SearchStrategy[Any]:
    return st.recursive(
        SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), maps(kind, inner, 4)), max_leaves=8
    )


@st.composite
def documents(draw: st.DrawFn, kind: Kind) -> dict[str, Any]:
    """A document with something odd at the root, on the way to the hooks, or in a hook."""
    odd = odd_values(kind)
    path = list(kind.stop[:-1] if kind.event else kind.stop)
    handler = {"type": "command", "command": "x", **draw(maps(kind, odd))}
    handler |= {kind.event: kind.stop[-1]} if kind.event else {}
    groups = [handler if kind.flat else {"hooks": [handler, *draw(st.lists(odd, max_size=1))]}]
    value: Any = draw(st.sampled_from([groups, [*groups, draw(odd)], draw(odd)]))
    for key in reversed(path[draw(st.integers(0, len(path) - 1)) :]):
        value = {**draw(maps(kind, odd)), key: value}
    return {**draw(maps(kind, odd, 3)), **value}


def without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_null(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [without_null(inner) for inner in value if inner is not None]
    return value


def with_odd_keys(value: Any) -> Any:
    """YAML's keys may be of any type."""
    if isinstance(value, dict):
        changed = {"": None, "x": True, "a.b": 1, "=": 0.5}
        return {changed.get(key, key): with_odd_keys(inner) for key, inner in value.items()}
    return [with_odd_keys(inner) for inner in value] if isinstance(value, list) else value


def text_of(kind: Kind, value: dict[str, Any]) -> str:
    """The document in the format of the kind."""
    if kind.format == "toml":
        return "".join(f"{key_text(key)} = {inline(inner)}\n" for key, inner in without_null(value).items())
    if kind.format == "yaml":
        return yaml.safe_dump(with_odd_keys(value), allow_unicode=True)
    return json.dumps(value, indent=2)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.format != "plugin"], ids=lambda kind: kind.name)
def test_no_odd_document_ends_a_command_unexpectedly(isolated: Path, hookctl: Hookctl, kind: Kind) -> None:
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(documents(kind))
    def check(value: dict[str, Any]) -> None:
        for name in ("home", "state", "data"):
            shutil.rmtree(isolated / name, ignore_errors=True)
        path = kind.path(isolated, "user")
        put(path, text_of(kind, value))
        for command in COMMANDS:
            done = hookctl(command[0], "--host", kind.host, *command[1:])
            assert done.code in (0, 1, 4), (command, done, path.read_text() if path.exists() else None)

    check()


# Deep and long inputs at every door: no crash, and no work that grows faster than the input.
USER, PROJECT = "home/.claude/settings.json", "work/.claude/settings.json"
INSTALLED = ("install", "--host", "claude"), ("install", "--host", "claude", "--scope", "project")
DEEP_DOORS = [
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
        doors = DEEP_DOORS if ALL else DEEP_DOORS[turn :: len(DEPTHS)]  # each at one depth
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

    assert any(taken(20_000) < 11 * taken(5_000) + 0.005 for _ in range(5))
