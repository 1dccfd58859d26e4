"""What a client makes of hooks, a row a fact: the hooks in its settings, a turn, and what must come of it."""

import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from .agent import Place, Run
from .clients import Client
from .dialects import Reply
from .hooks import handler, in_turn
from .model_server import Script
from .probe import BLOCK, Probe, make_probe


class Hook(NamedTuple):
    """A hook of a row: a probe of that name, unless there is a command; and what stands beside the command."""

    name: str
    answers: tuple[str, ...]
    seconds: float
    command: str
    fields: Mapping[str, Any]


def probe(called: str = "it", /, *answers: str, seconds: float = 0, **fields: Any) -> Hook:
    """A probe that gives these answers; one name is one probe, wherever it stands."""
    return Hook(called, answers or ("",), seconds, "", fields)


def beside(command: str, /, **fields: Any) -> Hook:
    """A command with further fields of its element."""
    return Hook("", (), 0, command, fields)


Given = Hook | str | tuple[str, ...]  # a tuple: one command after the other, call by call
Hooks = Mapping[str, Sequence[Given]]
Entries = Mapping[str, list[tuple[str, Mapping[str, Any]]]]  # commands with their fields, by event
# Writes a settings file of the client with these hooks and these keys beside them.
Write = Callable[[Path, Entries, Mapping[str, Any]], None]


class Came(NamedTuple):
    """What came of a row's turn."""

    run: Any
    place: Any
    probes: Mapping[str, Probe]

    def made(self) -> list[str]:
        """What lies in the project."""
        return sorted(path.name for path in self.place.project.iterdir() if not path.name.startswith("."))

    def silent(self) -> bool:
        """Nothing on stderr."""
        return bool(self.run.errors == "")

    def refused(self) -> bool:
        """The run went on until the model server refused it."""
        return bool(self.run.count("refused"))


class Fact(NamedTuple):
    """A row; what is None is not looked at. Files are named from the place's folder on."""

    says: str
    hooks: Hooks
    more: Mapping[str, Any] = {}  # in the settings beside the hooks
    files: Mapping[str, Hooks] = {}  # further files of the client's form
    text: Callable[[str], str] | None = None  # what becomes of the settings' text
    replies: Sequence[Reply] | Script = ("done",)
    options: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}  # {place.home} stands for the home, and so on
    cwd: str = ""
    requests: int | None = None
    code: int | None = 0
    out: str | None = None
    flags: Mapping[str, str] | str | None = None  # of each probe, or of the one that is called it
    distinct: Mapping[str, int] = {}  # how many values a field of its payloads had
    heard: Mapping[str, int] | None = None  # how often
    said: Sequence[str] = ()  # on stderr
    unsaid: Sequence[str] = ()  # to nobody
    keeps: bool = False  # the settings' bytes
    variables: Mapping[str, str | None] = {}  # that its first call was told, or was not; {place.home} as above
    timeout: float = 60
    check: Callable[[Came], bool | None] | None = None


def play(
    driver: Any, client: Client, place: Place, fact: Fact, write: Write, flags: Callable[[Probe], str] = Probe.flags
) -> None:
    """Make what a row says, and hold what comes of it against the row."""
    probes: dict[str, Probe] = {}

    def element(hook: Given) -> tuple[str, Mapping[str, Any]]:
        if isinstance(hook, tuple) and not isinstance(hook, Hook):
            return in_turn(place.root, *hook), {}
        if isinstance(hook, str):
            return hook, {}
        if hook.command:
            return hook.command, hook.fields
        if hook.name not in probes:
            probes[hook.name] = make_probe(place.root, hook.name, hook.answers, seconds=hook.seconds)
        return probes[hook.name].command, hook.fields

    def entries(hooks: Hooks) -> Entries:
        return {event: list(map(element, given)) for event, given in hooks.items()}

    write(place.settings, entries(fact.hooks), fact.more)
    for name, hooks in fact.files.items():
        write(place.root / name, entries(hooks), {})
    if fact.text:
        place.settings.write_bytes(fact.text(place.settings.read_bytes().decode()).encode())
    before, cwd = place.settings.read_bytes(), place.root / fact.cwd if fact.cwd else place.project
    cwd.mkdir(exist_ok=True)
    environment = {name: value.format(place=place) for name, value in fact.environment.items()}
    more = {"environment": environment, "cwd": cwd, "timeout": fact.timeout}
    run: Run = driver.play(client, place, fact.replies, *fact.options, **more)
    expected = {"requests": fact.requests, "code": fact.code, "out": fact.out}
    expected = {name: value for name, value in expected.items() if value is not None}
    assert {name: getattr(run, name) for name in expected} == expected, run.errors
    if fact.flags is not None:
        wanted = {"it": fact.flags} if isinstance(fact.flags, str) else fact.flags
        assert {name: flags(probes[name]) for name in wanted} == wanted
    for field, count in fact.distinct.items():
        assert len({heard.payload[field] for heard in probes["it"].heard()}) == count, field
    if fact.heard is not None:
        assert {name: len(probes[name].heard()) for name in fact.heard} == fact.heard
    assert [words for words in fact.said if words not in run.errors] == []
    assert [words for words in fact.unsaid if words in run.out + run.errors] == []
    assert not fact.keeps or place.settings.read_bytes() == before
    told = {name: value and value.format(place=place) for name, value in fact.variables.items()}
    assert {name: probes["it"].heard()[0].environment.get(name) for name in told} == told
    assert fact.check is None or fact.check(Came(run, place, probes)) is not False


def passes(event: str, hooks: Sequence[Given], **row: Any) -> Fact:
    """All these hooks let a turn end."""
    return Fact("what passes", {event: hooks}, requests=1, **row)


def blocks(event: str, *hooks: str, **row: Any) -> Fact:
    """Each of these hooks sends the agent on, one after the other."""
    return Fact("what blocks", {event: [hooks]}, requests=len(hooks) + 1, **row)


def blocks_for_ever(event: str, says: str, hook: str, *options: str) -> Fact:
    """The agent goes on until the model server refuses it."""
    replies = Script(["done"], limit=4)
    return Fact(says, {event: [hook]}, replies=replies, options=options, requests=4, code=None, check=Came.refused)


def times_out(event: str, slow: Sequence[Mapping[str, Any]], quick: Mapping[str, Any], **row: Any) -> Fact:
    """A block that takes 4 seconds comes too late with each of the fields, one that takes 1.2 in time."""
    late = [probe(f"slow{number}", BLOCK, seconds=4, **fields) for number, fields in enumerate(slow)]
    hooks = [*late, probe("quick", BLOCK, "", seconds=1.2, **quick)]
    return Fact("the unit of a timeout", {event: hooks}, requests=2, **row)


def refuses(
    event: str, shell: Callable[[str], Reply], refusing: Sequence[str], passing: Sequence[str],
    told: Callable[[Any], Sequence[str]], words: str, **row: Any,
) -> Fact:  # fmt: skip
    """Call by call a tool call is refused, then made; `told` are texts that the model was told of the refused ones."""
    steps = range(len(refusing) + len(passing))

    def check(came: Came) -> None:
        assert sorted(map(int, came.made())) == list(steps[len(refusing) :])
        assert set(told(came.run)) == {words}

    replies = [*(shell(f"echo > {step}") for step in steps), "done"]
    return Fact("how a call is refused", {event: [(*refusing, *passing)]}, replies=replies, check=check, **row)


def claude_like(base: Mapping[str, Any] = {}) -> Write:
    """Writes settings in the form that most hosts share with Claude Code, one group an event."""

    def write(path: Path, events: Entries, more: Mapping[str, Any]) -> None:
        groups = {event: [{"hooks": [handler(hook, **fields) for hook, fields in events[event]]}] for event in events}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**base, **more, "hooks": groups}))

    return write


def table(name: str, rows: Sequence[Fact], write: Write, **more: Any) -> Callable[..., None]:
    """The test of a client's rows."""
    driver = importlib.import_module(f".{name}", __package__)

    @pytest.mark.parametrize("fact", rows, ids=lambda fact: fact.says)
    def test_fact(request: pytest.FixtureRequest, place: Place, fact: Fact) -> None:
        play(driver, request.getfixturevalue(name), place, fact, write, **more)

    return pytest.mark.usefixtures(name)(test_fact)
