"""A session that calls the shell, writes a file and ends, and hooks with every matcher in front of it."""

import contextlib
import io
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from hookctl.__main__ import run as run_hookctl

from . import claude, codex, copilot, droid, everywhere, gemini, qwen, tables
from .agent import Place, Run
from .clients import Client

TOUCH = "touch shell-ran"
TURN = ("session-start", "prompt", "pre-tool", "post-tool", "stop", "session-end")
WITH_TOOL = ("pre-tool", "post-tool")
NAMES = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")
GEMINIS = ("SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd")
COPILOTS = ("sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "agentStop", "sessionEnd")
HEADLESS = {droid: "prompt", qwen: "session-end"}  # what does not fire in a run without a person
OTHER_NAMES = {"qwen": ("Edit", "Read"), "copilot": ("Edit", "Read")}  # by which a matcher may call tools
LATER = {"resume", "clear", "compact", "exit", "prompt_input_exit"}  # would fire another time
# By event. S is the host's shell, s the same in small letters, W what writes a file.
MATCHERS = json.loads((Path(__file__).parent / "matchers.json").read_text())


class Case(NamedTuple):
    """A client, the names that it has for the events of a turn, and how it is called."""

    driver: ModuleType
    names: Sequence[Sequence[str]]
    shell: str
    write: str
    file: str  # from the home
    options: Sequence[str] = ()
    base: Mapping[str, Any] = {}  # what its settings need

    @property
    def host(self) -> str:
        return tables.name_of(self.driver)

    @property
    def everywhere(self) -> everywhere.Case:
        return next(case for case in everywhere.CASES if case.driver is self.driver)

    @property
    def events(self) -> dict[str, tuple[str, ...]]:
        """Its names of what fires, by hookctl's."""
        events = dict(zip(TURN, zip(*self.names, strict=True), strict=True))
        return {event: names for event, names in events.items() if event != HEADLESS.get(self.driver)}


DRIVERS = (claude, codex, gemini, qwen, copilot, droid)
CASES = {tables.name_of(driver): Case(driver, **tables.read(driver, "session", globals())) for driver in DRIVERS}


def play_session(case: Case, client: Client, place: Any, *options: str) -> Run:
    replies = [case.everywhere.shell(TOUCH), case.everywhere.writes(place), "done"]
    run: Run = case.driver.play(client, place, replies, *case.options, *options, timeout=120)
    return run


class Bench:
    """One client in a place, whose hooks write down their numbers."""

    def __init__(self, case: Case, root: Path) -> None:
        self.case, self.root, self.marks = case, root, root / "marks"

    def matchers(self, event: str) -> list[str]:
        """What matchers say at an event."""
        tools = {"S": self.case.shell, "W": self.case.write, "s": self.case.shell.lower()}
        if tools["s"] == tools["S"]:
            tools["s"] = tools["S"].capitalize()
        texts = MATCHERS["tools"] if event in WITH_TOOL else [*MATCHERS[event], "", "*", ".*", "Bash"]
        named = (re.sub(r"(?<![A-Zac-z])[SWs](?![A-Za-z])", lambda found: tools[found[0]], text) for text in texts)
        return list(dict.fromkeys(named))

    def lay_out(self, event: str, name: str) -> Place:
        """A new place with a hook for each matcher at an event, in a folder that Gemini CLI trusts."""
        folder = self.root / "place"
        shutil.rmtree(folder, ignore_errors=True)
        place: Place = self.case.driver.Place.make(folder)
        if self.case.driver is gemini:
            trusted = {str(place.project): "TRUST_FOLDER"}
            (place.home / ".gemini" / "trustedFolders.json").write_text(json.dumps(trusted))
        entries = []
        for number, matcher in enumerate(self.matchers(event)):
            handler = {"type": "command", "command": f"cat > /dev/null; echo h{number} >> {self.marks}"}
            entries.append({"matcher": matcher, **(handler if name in COPILOTS else {"hooks": [handler]})})
        (place.home / self.case.file).parent.mkdir(parents=True, exist_ok=True)
        (place.home / self.case.file).write_text(json.dumps({**self.case.base, "hooks": {name: entries}}))
        return place

    def play(self, client: Client, event: str, name: str) -> list[str]:
        """The matchers of the hooks that run in a session."""
        place: Any = self.lay_out(event, name)
        if self.case.driver is codex:
            codex.approve(place, {hook.key: hook.hash for hook in codex.list_hooks(client, place)})
        return self._of_hooks_that(event, lambda: play_session(self.case, client, place))

    def fired(self, place: Place, event: str) -> list[str]:
        """The matchers of the hooks that `fire` runs for what happens in the session."""
        writes = self.case.everywhere.writes(place)
        calls = ((self.case.shell, {"command": TOUCH}), (self.case.write, dict(writes.arguments)))
        words = [("--tool", tool, "--input", json.dumps(input)) for tool, input in calls if event in WITH_TOOL] or [()]
        return self._of_hooks_that(
            event, lambda: [self._hookctl(place, "fire", event, *each, "--run-project", "--yes") for each in words]
        )

    def running(self, place: Place, event: str) -> list[str]:
        """The matchers of the hooks of which `hooks` says that they run."""
        hooks = [hook for hook in self._hookctl(place, "hooks")["hooks"] if hook["state"] == "runs"]
        return self._named(event, {word for hook in hooks for word in hook["command"].split()})

    def may_fit(self, event: str, matcher: str) -> bool:
        """Does the matcher fit a tool that is not called, or a time that does not come?"""
        if event not in WITH_TOOL:
            return bool(LATER & set(re.split(r"\W+", matcher)))
        calls = json.loads((Path(__file__).parents[1] / "templates" / "calls" / f"{self.case.host}.json").read_text())
        # A plain name that no list has may be a tool's of a newer client.
        others = {"mcp__probe__ping", "Nope", *calls["tools"], *OTHER_NAMES.get(self.case.host, ())}
        try:
            return any(re.search(matcher, tool) for tool in others - {self.case.shell, self.case.write})
        except re.error:
            return False

    def _of_hooks_that(self, event: str, act: Any) -> list[str]:
        self.marks.unlink(missing_ok=True)
        act()
        return self._named(event, set(self.marks.read_text().split()) if self.marks.exists() else set())

    def _named(self, event: str, marks: set[str]) -> list[str]:
        return [matcher for number, matcher in enumerate(self.matchers(event)) if f"h{number}" in marks]

    def _hookctl(self, place: Place, *arguments: str) -> dict[str, Any]:
        """What the command line says, in this process, with the client's own environment."""
        folders = {f"HOOKCTL_{name}_DIR": str(place.root / name.lower()) for name in ("STATE", "DATA")}
        out, errors = io.StringIO(), contextlib.redirect_stderr(io.StringIO())
        with at(place.project, {**place.environment(), **folders}), contextlib.redirect_stdout(out), errors:
            run_hookctl([*arguments, "--host", self.case.host, "--json"])
        data: dict[str, Any] = json.loads(out.getvalue())["data"]
        return data


@contextlib.contextmanager
def at(folder: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """This process in another folder with another environment."""
    before, cwd = dict(os.environ), os.getcwd()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(before)
