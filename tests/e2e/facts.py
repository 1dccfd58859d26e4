"""What a client makes of hooks, a row a fact: the hooks in its settings, a turn, and what must come of it.

A client's rows stand in its table. There
- a hook is a command; a list of them, one after the other, call by call; or a table with `command`, with `probe` (a
  probe's name, its `answers` and `seconds`), or with what it has to `say`, its `errors` and `code`. What else stands in
  the table stands beside the command in the settings. With `sh` it is called by a shell.
- @NAME in a command or a file is the command of a probe.
- `base` has what all rows begin with, and `each` of a row makes one of it for each name, which stands for {}.
"""

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from . import tables
from .agent import Place, Run
from .clients import Client
from .hooks import handler, in_turn, lost_fields, say
from .model_server import Script
from .probe import Probe, make_probe

Hooks = Mapping[str, Sequence[Any]]
Entries = Mapping[str, list[tuple[str, Mapping[str, Any]]]]  # commands with their fields, by event
# The text of a settings file of the client with these hooks and these keys beside them; its name may tell the form.
Write = Callable[[Path, Entries, Mapping[str, Any]], str]


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

    def ran(self) -> list[str]:
        """The probes that were called."""
        return [name for name, probe in self.probes.items() if probe.heard()]

    def payloads(self, name: str = "it") -> list[dict[str, Any]]:
        return [heard.payload for heard in self.probes[name].heard()]

    def told(self, text: str) -> bool:
        """The model was told this in some request."""
        return text in json.dumps([entry.request.body for entry in self.run.log])


class Fact(NamedTuple):
    """A row; what is None is not looked at. Files are named from the place's folder on."""

    says: str
    hooks: Mapping[str, Sequence[Any]] = {}
    more: Mapping[str, Any] = {}  # in the settings beside the hooks
    files: Mapping[str, Hooks] = {}  # further files of the client's form
    texts: Mapping[str, str] = {}  # files as they are
    text: Sequence[tuple[str, str]] = ()  # expressions for what is replaced in the settings' text, and what by
    prepare: Callable[[Any], object] = lambda place: None
    replies: Sequence[Any] = ("done",)
    limit: int = 20
    sub_marker: str = ""
    prompts: Sequence[str] = ("begin",)  # a run each
    options: Sequence[str] = ()
    environment: Mapping[str, str] = {}
    cwd: str = ""
    requests: int | None = None
    code: int | None = 0
    out: str | None = None
    errors: str | None = None
    flags: Mapping[str, str] | str | None = None  # of each probe, or of the one that is called it
    distinct: Mapping[str, int] = {}  # how many values a field of its payloads had
    heard: Mapping[str, int] | int | None = None  # how often
    fields: Mapping[str, Sequence[str]] = {}  # that a probe's first payload has
    said: Sequence[str] = ()  # on stderr
    unsaid: Sequence[str] = ()  # to nobody
    keeps: bool = False  # the settings' bytes
    variables: Mapping[str, str | None] = {}  # that its first call was told, or was not
    made: Sequence[str] | None = None
    refusals: str | None = None  # what the model was told of each call that was refused
    sees: Mapping[str, Any] = {}  # expressions of what came, with their values
    timeout: float = 60
    check: Callable[[Came], bool | None] | None = None


class Host(NamedTuple):
    """A client's table."""

    driver: Any
    write: Write
    rows: Sequence[Fact]
    flags: Callable[[Probe], str] = Probe.flags
    refusals: Callable[[Any], Sequence[str]] = lambda run: ()


def read(
    driver: Any, names: Mapping[str, Any], *more: Fact, write: Write | None = None, **ways: Callable[[Any], Any]
) -> Host:
    """A client with its rows and some more; the functions that they name are those of the test's module."""
    base, rows = tables.read(driver, "base"), []
    for row in tables.read(driver, "rows", names):
        for name, own in row.pop("each", {"": {}}).items():
            rows.append(Fact(**{**base, **row, **own, "says": row["says"].replace("{}", name)}))
    return Host(driver, write or claude_like(), [*rows, *more], **ways)


class _Probes(dict[str, Probe]):
    """The probes of a row, each made when it is first named."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place

    def element(self, hook: Any) -> tuple[str, Mapping[str, Any]]:
        if isinstance(hook, str):
            return self.named(hook), {}
        if isinstance(hook, list):
            return in_turn(self.place.root, *(self.element(each)[0] for each in hook)), {}
        fields = dict(hook)
        own = {name: fields.pop(name) for name in ("say", "errors", "code", "command", "sh") if name in fields}
        if "probe" in fields:
            name, answers, seconds = fields.pop("probe"), fields.pop("answers", [""]), fields.pop("seconds", 0)
            if name not in self:
                self[name] = make_probe(self.place.root, name, tuple(answers), seconds)
            return self[name].command, fields
        command = own.get("command") or say(own.get("say", ""), own.get("code", 0), own.get("errors", ""))
        return f"sh -c {shlex.quote(command)}" if "sh" in own else self.named(command), fields

    def named(self, text: str) -> str:
        """A text with the commands of the probes that it names."""
        return re.sub(r"@(\w+)", lambda found: self.element({"probe": found[1]})[0], text)

    def entries(self, hooks: Hooks) -> Entries:
        return {event: list(map(self.element, given)) for event, given in hooks.items()}


def play(host: Host, client: Client, place: Any, fact: Fact) -> None:
    """Make what a row says, and hold what comes of it against the row."""

    fact, probes = Fact(*(tables.placed(value, place) for value in fact)), _Probes(place)
    texts = {place.settings: host.write(place.settings, probes.entries(fact.hooks), fact.more)}
    for name, hooks in fact.files.items():
        texts[place.root / name] = host.write(place.root / name, probes.entries(hooks), {})
    texts |= {place.root / name: probes.named(text) for name, text in fact.texts.items()}
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for old, new in fact.text:
        text = re.sub(old, new.replace("\\", "\\\\"), place.settings.read_bytes().decode())
        place.settings.write_bytes(text.encode())
    fact.prepare(place)
    before, cwd = place.settings.read_bytes(), place.root / fact.cwd if fact.cwd else place.project
    cwd.mkdir(exist_ok=True)
    script = Script([tables.reply(host.driver, each) for each in fact.replies], fact.limit, sub_marker=fact.sub_marker)
    more = {"environment": fact.environment, "cwd": cwd, "timeout": fact.timeout}
    runs: list[Run] = [
        host.driver.play(client, place, script, *fact.options, prompt=prompt, **more) for prompt in fact.prompts
    ]
    run, came = runs[-1], Came(runs[-1], runs, client, place, probes)
    expected = {"requests": fact.requests, "code": fact.code, "out": fact.out, "errors": fact.errors, "made": fact.made}
    found = {**vars(run), "requests": sum(run.requests for run in runs), "made": came.made()}
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
    told = {name: probes["it"].heard()[0].environment.get(name) for name in fact.variables}
    assert told == fact.variables
    assert fact.refusals is None or set(host.refusals(run)) == {fact.refusals}
    scope = {**came._asdict(), "payloads": came.payloads, "told": came.told, "ran": came.ran, "json": json}
    assert {each: eval(each, dict(scope)) for each in fact.sees} == fact.sees
    assert fact.check is None or fact.check(came) is not False


def claude_like(base: Mapping[str, Any] = {}) -> Write:
    """Settings in the form that most hosts share with Claude Code, a group for each matcher of an event."""

    def write(path: Path, events: Entries, more: Mapping[str, Any]) -> str:
        groups: dict[str, list[dict[str, Any]]] = {event: [] for event in events}
        for event, hooks in events.items():
            for hook, fields in hooks:
                own = {name: value for name, value in fields.items() if name == "matcher"}
                if own or not groups[event] or "matcher" in groups[event][-1]:
                    groups[event].append({**own, "hooks": []})
                others = {name: value for name, value in fields.items() if name != "matcher"}
                groups[event][-1]["hooks"].append(handler(hook, **others))
        return json.dumps({**base, **more, "hooks": groups})

    return write


def table(hosts: Mapping[str, Host]) -> pytest.MarkDecorator:
    """The rows of these clients."""
    rows = [pytest.param(name, fact, id=f"{name}: {fact.says}") for name, host in hosts.items() for fact in host.rows]
    return pytest.mark.parametrize(("host", "fact"), rows)
