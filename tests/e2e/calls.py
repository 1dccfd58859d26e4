"""The tool calls of the real clients as their hooks are told of them.

Each host's are kept in tests/templates/calls/HOST.json, with what a hook for Claude Code should be asked about them,
which is written by hand. A call there says what the model calls; here it is made anew with the real client. Paths, ids
and times are the same in every recording.
"""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.manifest import hook, manifest

from .agent import Place
from .clients import Client
from .dialects import Call
from .everywhere import Case
from .model_server import Logged, Script
from .probe import make_probe
from .product import hookctl
from .setups import SETUPS, STDIO, WAIT, Setup

FOLDER = Path(__file__).parents[1] / "templates" / "calls"
HOME, PROJECT, MARKER = "/home/u", "/home/u/project", "MARKER"
PACK = manifest("recorder", hook("pre-tool", "{}", timeout=30), hook("prompt", "{}", timeout=30), protocol="host")
# What a project has before each call, so that one does not depend on another.
FILES = {
    "notes.txt": "one\ntwo\n",
    "other.txt": "one\ntwo\n",
    "gone.txt": "one\n",
    "moved.txt": "one\ntwo\n",
    "sub/deep.txt": "one\ntwo\n",
    "book.ipynb": (FOLDER / "book.ipynb.txt").read_text("utf-8"),
}
# What differs from run to run; a text with such an id in it keeps the rest.
IDS = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b(call|toolu|ses|msg|prt|turn|fc|sess)_(?=\w*\d)\w{8,}|"
    r"\b\d{8}_\d{6}_[0-9a-f]{6}\b|\b[0-9a-f]{32}\b|\b(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{8,}\b"
)
NO_LETTER = re.compile(r"[^A-Za-z0-9]")  # some name a file after a folder
TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}[:-]\d{2}([:-]\d{2}([.-]\d+)?)?(Z|[+]00:00)?")


@dataclass
class Recording:
    """What a client did: of each call what hooks were told and which files changed, and the tools that it offered."""

    told: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    changed: dict[str, list[str]] = field(default_factory=dict)
    offered: dict[str, set[str]] = field(default_factory=dict)


def read(host: str) -> dict[str, Any]:
    """What is kept of a host."""
    return json.loads((FOLDER / f"{host}.json").read_text("utf-8"))


def record(case: Case, client: Client, root: Path, calls: list[dict[str, Any]]) -> Recording:
    """Make the calls with the real client, all of one setup in one session, one of a sub-agent in its own."""
    recording = Recording()
    for number, (setup, some) in enumerate(_sessions(calls)):
        session = _Session(case, client, root / str(number), SETUPS[case.host][setup])
        session.play(some, recording)
        recording.offered[setup] = recording.offered.get(setup, set()) | session.offered
    return recording


def _sessions(calls: list[dict[str, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    made = [call for call in calls if "call" in call]
    for setup in dict.fromkeys(call.get("setup", "") for call in made):
        yield setup, [call for call in made if call.get("setup", "") == setup and "agent" not in call]
        for call in made:
            if call.get("setup", "") == setup and "agent" in call:
                yield setup, [call]


class _Session:
    """One session of a client, with hooks that write down what they are told."""

    def __init__(self, case: Case, client: Client, root: Path, setup: Setup) -> None:
        self.case, self.client, self.setup = case, client, setup
        self.place: Place = case.driver.Place.make(root, own_folders=True)
        self.calls_probe = make_probe(self.place.root / "calls")
        self.prompts_probe = make_probe(self.place.root / "prompts")
        setup.prepare(self.place)
        pack = self.place.root / "pack.toml"
        pack.write_text(PACK.format(self.calls_probe.command, self.prompts_probe.command))
        hookctl(self.place, "install", str(pack), "--host", case.host)

    def play(self, calls: list[dict[str, Any]], recording: Recording) -> None:
        """Make these calls, one a reply; where a client edits only what it has read, behind one that reads."""
        self._lay_out()
        marks: list[tuple[int, list[str]]] = []  # by each request of the model: calls of the hook, files changed
        each = 2 if self.setup.reads else 1
        late = {1 + each * place for place, call in enumerate(calls, 1) if call.get("background")}
        in_sub_agent = "agent" in calls[0]

        def before(number: int) -> None:
            if number in late:
                self._wait_for_changes()
            marks.append((len(self.calls_probe.heard()), self._changes()))
            if not in_sub_agent:
                self._lay_out()

        script = self._script(calls)._replace(before=before)
        run = self.setup.play(self.case, self.client, self.place, script)
        before(0)
        self.offered = {name for entry in run.log if entry.kind in ("main", "sub") for name in offered_in(entry)}
        heard = [self._normal(one.payload) for one in self.calls_probe.heard() if WAIT not in str(one.payload)]
        if in_sub_agent:
            each, marks = 1, [(1, []), (2, marks[-1][1])]  # the one behind the call that starts it
        for name, last in ((call["name"], each * place) for place, call in enumerate(calls, 1)):
            if last < len(marks):
                recording.told[name] = heard[marks[last - 1][0] : marks[last][0]]
                recording.changed[name] = marks[last][1]
        for call in calls:
            if not call["call"]:
                recording.told[call["name"]] = [self._normal(one.payload) for one in self.prompts_probe.heard()][:1]

    def _script(self, calls: list[dict[str, Any]]) -> Script:
        """What the model says: the agent makes the calls, or one that it starts."""
        reading = [tuple(self._call(call) for call in self.setup.reads)] if self.setup.reads else []
        replies = [reply for call in calls if call["call"] for reply in (*reading, self._call(call["call"]))]
        script = Script([*replies, "done"], limit=len(replies) + 6)
        if "agent" not in calls[0]:
            return script
        start = self._call(calls[0]["agent"])
        return script._replace(
            replies=[start, *self.setup.waits, "done"], sub_marker=MARKER, sub_replies=[*replies, self.setup.ends]
        )

    def _call(self, call: dict[str, Any]) -> Call:
        return Call(call["tool"], json.loads(json.dumps(call["input"]).replace(PROJECT, str(self.place.project))))

    def _lay_out(self) -> None:
        """The project as it is before each call."""
        for made in self._files_at_home():
            made.unlink()
        for path in self._files():
            if path not in FILES:
                (self.place.project / path).unlink()
        for name, text in FILES.items():
            path = self.place.project / name
            if not path.exists() or path.read_text() != text:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)

    def _changes(self) -> list[str]:
        """The files that a call has changed; those of the home with their whole path."""
        there = {path: (self.place.project / path).read_text("utf-8", "replace") for path in self._files()}
        made = [f"{HOME}/{path.name}" for path in self._files_at_home()]
        return sorted([*made, *(path for path in {*there, *FILES} if there.get(path) != FILES.get(path))])

    def _wait_for_changes(self) -> None:
        """A command that runs on has done its work a little later."""
        deadline = time.monotonic() + 20
        while not self._changes() and time.monotonic() < deadline:
            time.sleep(0.05)

    def _files_at_home(self) -> list[Path]:
        return [path for path in self.place.home.glob("*.txt") if path.is_file()]

    def _files(self) -> list[str]:
        paths = (path.relative_to(self.place.project) for path in self.place.project.rglob("*") if path.is_file())
        return [str(path) for path in paths if path.parts[0][0] != "."]

    def _normal(self, payload: dict[str, Any]) -> dict[str, Any]:
        """A payload as it would be on another machine at another time."""
        text = json.dumps(payload, ensure_ascii=False)
        text = text.replace(STDIO["command"], "/usr/bin/python3").replace(STDIO["args"][-1], f"{HOME}/server.py")
        for path, name in ((self.place.project, PROJECT), (self.place.home, HOME), (self.place.tmp, "/tmp")):
            for spelled in (str(path).replace("/", "-"), NO_LETTER.sub("-", str(path))):
                text = text.replace(spelled, name.replace("/", "-"))
            text = text.replace(str(path).replace("/", "%2F"), name.replace("/", "%2F")).replace(str(path), name)
        ids = dict.fromkeys(match.group() for match in IDS.finditer(text))
        for number, id in enumerate(ids, 1):
            text = text.replace(id, f"id-{number}")
        return _without_times(json.loads(TIME.sub("2026-11-28T00:00:00Z", text)))


def _without_times(value: Any) -> Any:
    """Numbers that tell a time become 0."""
    if isinstance(value, dict):
        return {key: _without_times(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_times(item) for item in value]
    return 0 if type(value) in (int, float) and value > 1_000_000_000 else value


def offered_in(entry: Logged) -> set[str]:
    """The names of the tools that a request offers to the model; of a namespace those in it."""
    names = set()
    for tool in entry.request.body.get("tools") or ():
        inner = tool.get("functionDeclarations") or tool.get("tools") or [tool.get("function") or tool]
        names |= {str(one.get("name") or one.get("type")) for one in inner}
    return names


def renew(kept: dict[str, Any], recording: Recording, version: str) -> dict[str, Any]:
    """What would be kept of this recording."""
    calls = []
    for call in kept["calls"]:
        told = recording.told.get(call["name"], [])
        # Of a call that makes another one that one is kept.
        new = {"payload": told[-1] if told else None, "changes": recording.changed.get(call["name"], [])}
        calls.append({**call, **new} if "call" in call else call)
    return {**kept, "client": f"{kept['client'].rpartition(' ')[0]} {version}", "calls": calls}
