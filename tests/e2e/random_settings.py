"""Random settings files in front of the real clients, and what hookctl says of them.

A file is written by chance, the client plays a session in which it calls its shell and writes a file, and `hooks`,
`fire` and `doctor` are asked in the same home.
"""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from hookctl.__main__ import run as run_hookctl
from tests.approving import approve

from . import claude, codex, copilot, droid, everywhere, gemini, qwen
from .agent import Place, Run
from .clients import Client
from .random_entries import Piece, Shape, text_of

TOUCH = "touch shell-ran"
TURN = ("session-start", "prompt", "pre-tool", "post-tool", "stop", "session-end")
NAMES = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")
GEMINIS = ("SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd")
COPILOTS = ("sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "agentStop", "sessionEnd")
HEADLESS = {droid: "prompt", qwen: "session-end"}  # what does not fire in a run without a person
OTHER_NAMES = {"qwen": ("Edit", "Read"), "copilot": ("Edit", "Read")}  # by which a matcher may call tools
LESSER = {"unknown_event"}  # what doctor says of less than a file


class Case(NamedTuple):
    """A client, the files that it reads, and how it is called."""

    driver: ModuleType
    names: Sequence[Sequence[str]]  # of the events of a turn
    shell: str
    write: str
    files: Sequence[str]  # below the place
    options: Sequence[str] = ()
    flat: frozenset[str] = frozenset()
    base: Mapping[str, Any] = {}  # of its first file
    timeout: int = 30

    @property
    def host(self) -> str:
        return self.driver.__name__.rpartition(".")[2]

    @property
    def everywhere(self) -> everywhere.Case:
        return next(case for case in everywhere.CASES if case.driver is self.driver)

    def shape(self) -> Shape:
        calls = json.loads((Path(__file__).parents[1] / "templates" / "calls" / f"{self.host}.json").read_text())
        events = {event: list(names) for event, names in zip(TURN, zip(*self.names, strict=True), strict=True)}
        if self.driver in HEADLESS:
            del events[HEADLESS[self.driver]]
        tools = [*calls["tools"], *OTHER_NAMES.get(self.host, ())]
        return Shape(events, {*self.flat}, self.shell, self.write, tools, len(self.files), self.timeout)


PERMITTED = ("--allowedTools", "Bash", "Write")
CASES = {
    case.host: case
    for case in (
        Case(claude, [NAMES], "Bash", "Write", ["home/.claude/settings.json", "project/.claude/settings.json"],
             PERMITTED),
        Case(codex, [NAMES], "Bash", "apply_patch", ["home/.codex/hooks.json", "home/.codex/config.toml"],
             (codex.YOLO, *codex.PATCHES)),
        Case(gemini, [GEMINIS], "run_shell_command", "write_file",
             ["home/.gemini/settings.json", "project/.gemini/settings.json"], (gemini.YOLO,), base=gemini.BASE,
             timeout=30_000),
        Case(qwen, [NAMES], "run_shell_command", "write_file",
             ["home/.qwen/settings.json", "project/.qwen/settings.json"], (qwen.YOLO,), base=qwen.BASE),
        Case(copilot, [COPILOTS, NAMES], "bash", "create",
             ["home/.copilot/hooks/a.json", "home/.copilot/hooks/b.json", "home/.copilot/settings.json"],
             flat=frozenset({*COPILOTS, "flat"})),
        Case(droid, [NAMES], "Execute", "Create", ["home/.factory/settings.json", "project/.factory/settings.json"],
             ("--auto", "high")),
    )
}  # fmt: skip


def play_session(case: Case, client: Client, place: Any, *options: str) -> Run:
    """A session that calls the shell, writes a file and ends."""
    replies = [case.everywhere.shell(TOUCH), case.everywhere.writes(place), "done"]
    run: Run = case.driver.play(client, place, replies, *case.options, *options, timeout=120)
    return run


class Outcome(NamedTuple):
    """What the client did with some files, and what hookctl says of them."""

    started: bool
    ran: set[str]
    fired: set[str]
    states: Mapping[str, set[str]]  # by the number of a hook, as h7
    doctor: Sequence[Mapping[str, str]]
    done: set[str]  # the tools whose calls were made

    def about(self, piece: Piece) -> tuple[Any, ...]:
        """What was seen of one hook."""
        marks = piece.marks
        states = {state for mark in marks for state in self.states.get(number_of(mark), ())}
        return sorted(marks & self.ran), sorted(marks & self.fired), sorted(states)


class Difference(NamedTuple):
    """What the client did, and what hookctl said."""

    kind: str
    piece: Piece | None  # a hook; none where it is about the start


def number_of(mark: str) -> str:
    """The mark of a hook, of which its entry may have several commands."""
    return mark[0] + mark[1:].rstrip("abcdefghijklmnopqrstuvwxyz")


def is_odd(piece: Piece) -> bool:
    """Is it something other than a hook with a matcher that is a text?"""
    return bool(piece.label) and not piece.label.startswith('matcher "')


def cause(difference: Difference, pieces: Sequence[Piece], outcome: Outcome) -> str:
    """What is odd about a hook, or where no hook of its file runs, about the file."""
    about = difference.piece
    beside = [piece for piece in pieces if about is None or piece.file == about.file or not outcome.started]
    is_lost = not any(piece.marks & outcome.ran for piece in beside)
    odd = sorted(piece.label for piece in beside if is_odd(piece))
    return about.label if about and about.label and not (is_lost and odd) else str(odd)


class Bench:
    """One client, with a folder for its places."""

    def __init__(self, case: Case, client: Client | None, root: Path) -> None:
        self.case, self.client, self.root = case, client, root
        self.marks = root / "marks"

    def play(self, pieces: Sequence[Piece]) -> Outcome:
        """Lay out the files, play a session, and ask hookctl."""
        place = self.lay_out(pieces)
        if self.case.driver is codex:
            self._approve(place)
        self.marks.unlink(missing_ok=True)
        run = play_session(self.case, self.client, place)
        ran = self._marks()
        made = {self.case.shell} if (place.project / "shell-ran").exists() else set()
        made |= {self.case.write} if (place.project / "made.txt").exists() else set()
        return Outcome(run.requests > 0, ran, self.fired(place), *self.said(place), made)

    def lay_out(self, pieces: Sequence[Piece]) -> Place:
        """A new place with these files, in a folder that Gemini CLI trusts."""
        folder = self.root / "place"
        shutil.rmtree(folder, ignore_errors=True)
        place: Place = self.case.driver.Place.make(folder)
        if self.case.driver is gemini:
            trusted = {str(place.project): "TRUST_FOLDER"}
            (place.home / ".gemini" / "trustedFolders.json").write_text(json.dumps(trusted))
        for number, name in enumerate(self.case.files):
            mine = [piece for piece in pieces if piece.file == number]
            if not mine and number:
                continue
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            base = dict(self.case.base) if number == 0 else {}
            path.write_bytes(text_of(mine, base, "toml" if name.endswith(".toml") else "json").encode())
        return place

    def _approve(self, place: Any) -> None:
        """Approve what the client lists; where it lists nothing, what a person may have approved before."""
        listed = []
        with contextlib.suppress(AssertionError, OSError, KeyError, subprocess.TimeoutExpired):
            listed = codex.list_hooks(self.client, place)
        if listed or not place.settings.exists():
            codex.approve(place, {hook.key: hook.hash for hook in listed})
            return
        text = place.config.read_text() if place.config.exists() else ""
        place.config.unlink(missing_ok=True)
        with contextlib.suppress(Exception):
            approve(place.settings)
        told = place.config.read_text() if place.config.exists() else ""
        place.config.write_text(text + told)

    def _marks(self) -> set[str]:
        return set(self.marks.read_text().split()) if self.marks.exists() else set()

    def fired(self, place: Place, events: Sequence[str] = TURN) -> set[str]:
        """The hooks that `fire` runs for what happens in the session."""
        self.marks.unlink(missing_ok=True)
        for event in events:
            if "tool" not in event:
                self._hookctl(place, "fire", event, "--run-project", "--yes")
                continue
            writes = self.case.everywhere.writes(place)
            for tool, input in ((self.case.shell, {"command": TOUCH}), (self.case.write, writes.arguments)):
                self._hookctl(place, "fire", event, "--tool", tool, "--input", json.dumps(dict(input)),
                              "--run-project", "--yes")  # fmt: skip
        return self._marks()

    def told(self, pieces: Sequence[Piece]) -> Iterator[tuple[str, str]]:
        """What is different with these pieces, as a kind that many have, and in full."""
        outcome = self.play(pieces)
        for difference in [*self.differences(pieces, outcome)]:  # before others lie in the place
            about = difference.piece
            kind = f"{re.sub('[0-9]', '', difference.kind)} | {cause(difference, pieces, outcome)}"
            lines = [f"{difference.kind}: {about.label or 'nothing odd' if about else 'the start'}"]
            for piece in [piece for piece in pieces if piece == about or is_odd(piece)]:
                value = json.dumps(piece.value).replace(f" >> {self.marks}", "").replace("cat > /dev/null; ", "")
                lines.append(f"    {self.case.files[piece.file]} {piece.kind} {piece.where}: {value}   [{piece.label}]")
            lines += [f"    doctor: {one['code']}: {one['message']} ({one['path']})" for one in outcome.doctor]
            yield kind, "\n".join(lines)

    def said(self, place: Place) -> tuple[dict[str, set[str]], list[dict[str, str]]]:
        """The states of each hook, and what doctor finds wrong."""
        states: dict[str, set[str]] = {}
        for hook in self._hookctl(place, "hooks")["hooks"]:
            for word in hook["command"].split():
                if word[:1] == "h" and word[1:2].isdigit():
                    states.setdefault(number_of(word), set()).add(hook["state"])
        findings = self._hookctl(place, "doctor")["findings"]
        return states, [one for one in findings if one["level"] in ("error", "warning")]

    def _hookctl(self, place: Place, *arguments: str) -> dict[str, Any]:
        """What the command line says, in this process, with the client's own environment."""
        root = place.root
        folders = {"HOOKCTL_STATE_DIR": str(root / "state"), "HOOKCTL_DATA_DIR": str(root / "data")}
        out = io.StringIO()
        errors = contextlib.redirect_stderr(io.StringIO())
        with at(place.project, {**place.environment(), **folders}), contextlib.redirect_stdout(out), errors:
            run_hookctl([*arguments, "--host", self.case.host, "--json"])
        page = json.loads(out.getvalue())
        assert page["data"] is not None, page
        return page["data"]

    def differences(self, pieces: Sequence[Piece], outcome: Outcome) -> Iterator[Difference]:
        """Where the client and hookctl are not of one mind."""
        paths = {str(self.root / "place" / name) for name in self.case.files}
        named = {one["path"] for one in outcome.doctor if one["code"] not in LESSER} & paths
        if not outcome.started and not named:
            yield Difference("it does not start, and doctor names no file", None)
        if outcome.started and any("does not start" in one["message"] for one in outcome.doctor):
            yield Difference("it starts, and doctor says that it does not", None)
        for number, name in enumerate(self.case.files):
            good = [piece for piece in pieces if piece.file == number and piece.marks and not piece.label]
            good = [piece for piece in good if piece.event not in ("pre-tool", "post-tool")]
            path = str(self.root / "place" / name)
            if good and good[0].marks - {*re.findall(r"\w+", Path(path).read_text("utf-8"))}:
                continue  # they do not stand in it
            fine = any(piece.marks & outcome.ran or outcome.about(piece)[2] == ["off"] for piece in good)
            if outcome.started and good and path not in named and not fine:
                yield Difference("no hook of the file runs, and doctor does not name it", good[0])
        for piece in pieces:
            ran, fired, states = outcome.about(piece)
            if not piece.marks or (piece.event == "post-tool" and len(outcome.done) < 2 and outcome.started):
                continue
            runs = bool({"runs", "twice"} & {*states})
            said = " or ".join(states) or "nothing"
            if ran and not runs:
                yield Difference(f"it runs, hooks says {said}, fire {'runs' if fired else 'does not run'} it", piece)
            elif ran != fired and not (ran and piece.label.startswith("if ")):  # which fire leaves to the client
                what = "runs" if ran and not fired else "does not run" if fired and not ran else f"runs {ran}"
                yield Difference(f"it {what}, fire {fired or 'does not run it'}, hooks says {said}", piece)
            elif runs and not ran and not piece.may:
                yield Difference("it does not run, hooks says runs, fire does not run it", piece)


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
