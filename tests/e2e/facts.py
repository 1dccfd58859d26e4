"""What a client makes of hooks, a row a fact: the hooks in its settings, a turn, and what must come of it."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from .agent import Place, Run
from .clients import Client
from .dialects import Reply
from .hooks import handler, in_turn, lost_fields
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
    """What came of a row."""

    run: Any  # the last one
    runs: Sequence[Any]
    client: Client
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

    def payloads(self, name: str = "it") -> list[dict[str, Any]]:
        return [heard.payload for heard in self.probes[name].heard()]

    def told(self, text: str) -> bool:
        """The model was told this in some request."""
        return text in json.dumps([entry.request.body for entry in self.run.log])


class Fact(NamedTuple):
    """A row; what is None is not looked at. Files are named from the place's folder on.

    In commands and texts @NAME is a probe's command; in texts, variables and environment {place.home} is the home.
    """

    says: str
    hooks: Mapping[str, Sequence[Given]] = {}
    more: Mapping[str, Any] = {}  # in the settings beside the hooks
    files: Mapping[str, Hooks] = {}  # further files of the client's form
    texts: Mapping[str, str] = {}  # files as they are
    text: Callable[[str], str] | None = None  # what becomes of the settings' text
    prepare: Callable[[Any], object] = lambda place: None
    replies: Sequence[Reply] | Script | Callable[[Any], Sequence[Reply]] = ("done",)
    prompts: Sequence[str] = ("begin",)  # a run each
    options: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}
    cwd: str = ""
    requests: int | None = None
    code: int | None = 0
    out: str | None = None
    flags: Mapping[str, str] | str | None = None  # of each probe, or of the one that is called it
    distinct: Mapping[str, int] = {}  # how many values a field of its payloads had
    heard: Mapping[str, int] | int | None = None  # how often
    fields: Mapping[str, Sequence[str]] = {}  # that a probe's first payload has
    said: Sequence[str] = ()  # on stderr
    unsaid: Sequence[str] = ()  # to nobody
    keeps: bool = False  # the settings' bytes
    variables: Mapping[str, str | None] = {}  # that its first call was told, or was not
    timeout: float = 60
    check: Callable[[Came], bool | None] | None = None


class Host(NamedTuple):
    """A client's table."""

    driver: Any
    write: Write
    rows: Sequence[Fact]
    flags: Callable[[Probe], str] = Probe.flags


class _Probes(dict[str, Probe]):
    """The probes of a row, each made when it is first named."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place

    def element(self, hook: Given) -> tuple[str, Mapping[str, Any]]:
        if isinstance(hook, tuple) and not isinstance(hook, Hook):
            return in_turn(self.place.root, *map(self.named, hook)), {}
        if isinstance(hook, str):
            return self.named(hook), {}
        if hook.command:
            return self.named(hook.command), hook.fields
        if hook.name not in self:
            self[hook.name] = make_probe(self.place.root, hook.name, hook.answers, seconds=hook.seconds)
        return self[hook.name].command, hook.fields

    def named(self, text: str) -> str:
        """A text with the commands of the probes that it names."""
        return re.sub(r"@(\w+)", lambda found: self.element(probe(found[1]))[0], text)

    def entries(self, hooks: Hooks) -> Entries:
        return {event: list(map(self.element, given)) for event, given in hooks.items()}


def play(host: Host, client: Client, place: Any, fact: Fact) -> None:
    """Make what a row says, and hold what comes of it against the row."""

    def placed(values: Mapping[str, str | None]) -> dict[str, Any]:
        return {name: value and re.sub(r"\{place\.(\w+)\}", _of(place), value) for name, value in values.items()}

    probes = _Probes(place)
    host.write(place.settings, probes.entries(fact.hooks), fact.more)
    for name, hooks in fact.files.items():
        host.write(place.root / name, probes.entries(hooks), {})
    for name, text in placed(fact.texts).items():
        (place.root / name).parent.mkdir(parents=True, exist_ok=True)
        (place.root / name).write_text(probes.named(text))
    if fact.text:
        place.settings.write_bytes(fact.text(place.settings.read_bytes().decode()).encode())
    fact.prepare(place)
    before, cwd = place.settings.read_bytes(), place.root / fact.cwd if fact.cwd else place.project
    cwd.mkdir(exist_ok=True)
    replies = fact.replies(place) if callable(fact.replies) else fact.replies
    more = {"environment": placed(fact.environment), "cwd": cwd, "timeout": fact.timeout}
    runs: list[Run] = [
        host.driver.play(client, place, replies, *fact.options, prompt=prompt, **more) for prompt in fact.prompts
    ]
    run, asked = runs[-1], sum(run.requests for run in runs)
    expected = {"requests": fact.requests, "code": fact.code, "out": fact.out}
    found = {"requests": asked, "code": run.code, "out": run.out}
    assert [(name, found[name]) for name in expected if expected[name] not in (None, found[name])] == [], run.errors
    wanted = {"it": fact.flags} if isinstance(fact.flags, str) else fact.flags or {}
    assert {name: host.flags(probes[name]) for name in wanted} == wanted
    for field, count in fact.distinct.items():
        assert len({heard.payload[field] for heard in probes["it"].heard()}) == count, field
    times = {"it": fact.heard} if isinstance(fact.heard, int) else fact.heard or {}
    assert {name: len(probes[name].heard()) for name in times} == times
    assert lost_fields(fact.fields, probes) == {}
    assert [words for words in fact.said if words not in run.errors] == []
    assert [words for words in fact.unsaid if words in run.out + run.errors] == []
    assert not fact.keeps or place.settings.read_bytes() == before
    told = placed(fact.variables)
    assert {name: probes["it"].heard()[0].environment.get(name) for name in told} == told
    assert fact.check is None or fact.check(Came(run, runs, client, place, probes)) is not False


def _of(place: Any) -> Callable[["re.Match[str]"], str]:
    return lambda found: str(getattr(place, found[1]))


def passes(event: str, hooks: Sequence[Given], says: str = "what passes", **row: Any) -> Fact:
    """All these hooks let a turn end."""
    return Fact(says, {event: hooks}, requests=1, **row)


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
    """Writes settings in the form that most hosts share with Claude Code, a group for each matcher of an event."""

    def write(path: Path, events: Entries, more: Mapping[str, Any]) -> None:
        groups: dict[str, list[dict[str, Any]]] = {event: [] for event in events}
        for event, hooks in events.items():
            for hook, fields in hooks:
                own = {name: value for name, value in fields.items() if name == "matcher"}
                if own or not groups[event] or "matcher" in groups[event][-1]:
                    groups[event].append({**own, "hooks": []})
                others = {name: value for name, value in fields.items() if name != "matcher"}
                groups[event][-1]["hooks"].append(handler(hook, **others))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**base, **more, "hooks": groups}))

    return write


def table(hosts: Mapping[str, Host]) -> pytest.MarkDecorator:
    """The rows of these clients."""
    rows = [pytest.param(name, fact, id=f"{name}: {fact.says}") for name, host in hosts.items() for fact in host.rows]
    return pytest.mark.parametrize(("host", "fact"), rows)
