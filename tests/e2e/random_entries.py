"""Settings files at random: many hooks that are as they should be, and here and there one thing that is odd.

A file is a list of pieces, so that a difference can be shown with as few of them as it takes.
"""

import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ABSENT = object()
WITH_TOOL = ("pre-tool", "post-tool")
FOREIGN = ["Bash", "Write", "Edit", "Shell", "WriteFile", "run_shell_command", "Execute", "create", "apply_patch"]
OTHERS = ["Read", "mcp__.*", "mcp__probe__ping", "Nope", "Bash Write", "Bash;Write", "^(?!Bash)", "[^B].*"]
TEXTS = [
    "S", "W", "S|W", "W|Edit", ".*", "*", "", "^S$", "^W$", "S.*", "(S", "S(git *)", "S(*)", "!S", "S|", "|S", "S:*",
    "S, W", "S,W", " S ", "S ", "(?i)S", "[", "]", "**", "+", "?", r"\bS\b", "(?P<n>S)", r"S\Z", "[]", ".", "^.*$",
    r"\w+", "(S|W)", "^(S|W)$", "S|(", "S|Nope", "Nope|S", "s", "S$", "/S/", "S|W|", "(?:S)", "S{1}", "S{", "S\\", "@S",
]  # fmt: skip
NO_TEXTS = [None, 5, True, [], {}, ["S"]]
WORDS = {  # of the events that are not about a tool
    "session-start": ["startup", "resume", "startup|resume", "startup,resume", "clear", "Startup", "start", "^startup$",
                      " startup ", "(st", "new", "|startup", "startup|", "sta.*", "startup, resume"],
    "prompt": ["x", "(x", "begin", "^begin$"],
    "stop": ["x", "(x", "end_turn"],
    "session-end": ["other", "clear", "exit", "(x", "prompt_input_exit", "complete"],
}  # fmt: skip
LATER = {"resume", "clear", "compact", "exit", "prompt_input_exit"}  # would fire another time
FIELDS: dict[str, list[Any]] = {
    "type": [ABSENT, None, 5, "", "Command", "shell", "prompt", "agent", "http", "mcp_tool", "function"],
    "command": [ABSENT, None, 5, [], {}, ["true"]],
    "timeout": ["10", "soon", "", 0, -1, 10.5, 10**12, None, True, [], {}],
    "timeoutSec": [10, "ten", 0, -1, None, 10.5],
    "matcher": ["Nope", 5],
    "if": ["Bash(touch *)", "Bash", "Nope(x)", "Write", "", 5, None],
    "shell": ["bash", "sh", "zsh", "powershell", "pwsh", 5, None],
    "args": [[], ["x"], "x", None, [5]],
    "env": [{}, {"A": "b"}, {"A": 5}, 5, None, []],
    "cwd": ["/", "/nowhere", 5, None, "."],
    "async": [False, "yes", 5, None],
    "asyncRewake": [False, "yes"],
    "once": [True, "yes"],
    "enabled": [False, "no"],
    "disabled": [True, "yes"],
    "statusMessage": ["words", 5, None],
    "name": ["mine", "", 5, None],
    "description": ["words", 5],
    "onFailure": ["continue", "x"],
    "prompt": ["words"],
    "url": ["https://127.0.0.1:9/", 5],
    "bash": ["MARK", 5],
    "powershell": ["MARK", 5],
    "exec": ["sh", 5],
    "commandWindows": ["x", 5, None],
    "command_windows": ["x", 5],
    "windows": ["x", 5],
    "linux": ["MARK", 5],
    "sequential": [True, "yes"],
    "model": ["x", 5],
    "x": [1],
}
LISTS = [ABSENT, None, {}, "x", 5, [], [None], ["x"], [5], [[]], [{}]]  # in the place of a group's handlers
ENTRIES = [None, "x", 5, [], {}, True]  # in the place of a group
EVENTS = [None, {}, "x", 5, [], True, [[]]]  # in the place of an event's list
NAMES = [
    "PreToolCall", "Nonsense", "stop", "preToolUse", "PreToolUse", "pre-tool-use", "session_start", "BeforeTool",
    "AfterAgent", "agentStop", "PRETOOLUSE", "", "Stop ", "Stop", "enabled", "disabled", "state", "hooksDisabled",
    "SubagentStop", "userPromptSubmitted", "AgentStop", "notifications", "description", "managed_dir",
]  # fmt: skip
HOOKS = [None, [], {}, "x", 5, True, [{"event": "Stop", "command": "true"}]]
ROOTS: dict[str, list[Any]] = {
    "$schema": ["https://example.org/x.json", 5],
    "description": ["words", 5, None],
    "x": [1],
    "version": [1, 2, "1", None],
    "disableAllHooks": [True, False, "true", None, 1],
    "enableHooks": [False, "no"],
    "hooksDisabled": [True, "yes"],
    "hooksConfig": [{"enabled": False}, {"enabled": True}, {"enabled": "no"}, {"disabled": ["x"]}, {"disabled": 5}, 5],
    "tools": [{"enableHooks": False}],
    "allowManagedHooksOnly": [True, "yes", None],
    "allow_managed_hooks_only": [True],
    "permissions": [5, [], {"allow": 5}, {"defaultMode": "x"}, {"deny": ["Bash(rm *)"]}],
    "env": [5, {"A": 5}, {"A": "b"}, None],
    "model": [5, None],
    "statusLine": [5],
    "includeCoAuthoredBy": ["no"],
    "features": [{"hooks": False}, {"codex_hooks": False}, {"hooks": "no"}, {"hooks": True}],
}
CHANGES = {
    "a comment before": lambda text: "// mine\n" + text,
    "a comment behind": lambda text: text + "\n/* mine */\n",
    "a comment within": lambda text: text.replace("{", "{ // mine\n", 1),
    "a trailing comma": lambda text: text[:-1] + ",}",
    "a byte order mark": lambda text: "\ufeff" + text,
    "nothing": lambda text: "",
    "blanks alone": lambda text: " \n",
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "two keys hooks, the last one empty": lambda text: text[:-1] + ', "hooks": {}}',
    "two keys hooks, the first one empty": lambda text: text.replace("{", '{"hooks": {}, ', 1),
    "a word behind": lambda text: text + "x",
    "a list around": lambda text: f"[{text}]",
    "cut": lambda text: text[: len(text) // 2],
    "a form feed": lambda text: "\f" + text,
}


class Piece(NamedTuple):
    """A part of one of a host's files: an entry of an event's list, an event's value, a root key, or the whole text."""

    kind: str  # entry | event | root | text
    file: int
    where: str = ""
    value: Any = None
    label: str = ""  # what is odd, without marks
    event: str = ""  # of an entry, as hookctl calls it
    may: bool = False  # its matcher may fit another tool, or fire another time

    @property
    def marks(self) -> set[str]:
        return set(re.findall(r"\bh\d+[a-z]*\b", json.dumps(self.value)))


def texts_of(event: str) -> list[str]:
    """What matchers say at an event."""
    return TEXTS + FOREIGN + OTHERS if event in WITH_TOOL else WORDS[event] + ["", "*", ".*", "Bash"]


class Shape(NamedTuple):
    """What there is to know of a host in order to write hooks for it."""

    events: dict[str, list[str]]  # its names of what fires, by hookctl's
    flat: set[str]  # events whose lists have handlers, and no groups; others may have them, too
    shell: str
    write: str
    tools: Sequence[str]  # all that it has
    files: int
    timeout: int = 30


class Maker:
    """Makes a host's files by chance."""

    def __init__(self, shape: Shape, seed: int, marks: Path) -> None:
        self.shape, self.marks = shape, marks
        self.chance = random.Random(seed)
        self.number = 0
        self.odd = list(self._oddities())
        self.chance.shuffle(self.odd)

    def files(self, hooks: int = 12) -> list[Piece]:
        """Hooks of every event, and behind every second file's ones something odd."""
        self.number = 0
        pieces = [self._good() for _ in range(hooks)]
        for _ in range(self.chance.choice([0, 1, 1, 2])):
            kind, where, value = self.odd.pop() if self.odd else self.chance.choice(list(self._oddities()))
            pieces.append(self._oddity(kind, where, value))
        self.chance.shuffle(pieces)
        return pieces

    def every_matcher(self, event: str, name: str) -> list[Piece]:
        """A hook with each matcher that is a text."""
        self.number = 0
        matchers = dict.fromkeys(map(self._named, texts_of(event)))
        return [
            self.entry(0, event, name, self.handler(), matcher, self._matcher_label(event, matcher))
            for matcher in matchers
        ]

    def _good(self) -> Piece:
        event = self.chance.choice(list(self.shape.events))
        file = self.chance.choice([0, 0, *range(self.shape.files)])
        matcher = self._matcher(event) if self.chance.random() < 0.6 else ABSENT
        name = self.chance.choice(self.shape.events[event])
        return self.entry(file, event, name, self.handler(), matcher, self._matcher_label(event, matcher))

    def _matcher_label(self, event: str, matcher: Any) -> str:
        return "" if matcher is ABSENT else f"matcher {json.dumps(matcher)} at {event}"

    def _matcher(self, event: str) -> Any:
        return self._named(self.chance.choice(texts_of(event) if self.chance.random() < 0.97 else [None]))

    def _named(self, text: Any) -> Any:
        if not isinstance(text, str):
            return text
        tools = {"S": self.shape.shell, "W": self.shape.write, "s": self.shape.shell.lower()}
        if text == "s" and tools["s"] == self.shape.shell:
            return self.shape.shell.capitalize()
        return re.sub(r"(?<![A-Zac-z])[SWs](?![A-Za-z])", lambda found: tools[found.group()], text)

    def _may(self, event: str, matcher: Any) -> bool:
        """Does the matcher fit a tool that is not called, or a time that does not come?"""
        if not isinstance(matcher, str):
            return False
        if event not in WITH_TOOL:
            return bool(LATER & set(re.split(r"\W+", matcher)))
        called = (self.shape.shell, self.shape.write)
        others = ["mcp__probe__ping", *(tool for tool in self.shape.tools if tool not in called)]
        try:
            return any(re.search(matcher, tool) for tool in others)
        except re.error:
            return False

    def command(self, more: str = "") -> str:
        return f"cat > /dev/null; echo h{self.number}{more} >> {self.marks}"

    def handler(self) -> dict[str, Any]:
        self.number += 1
        extra = self.chance.choice([{}, {}, {}, {"timeout": self.shape.timeout}, {"description": "mine"}])
        return {"type": "command", "command": self.command(), **extra}

    def entry(self, file: int, event: str, name: str, handler: Any, matcher: Any = ABSENT, label: str = "") -> Piece:
        more = {} if matcher is ABSENT else {"matcher": matcher}
        is_flat = name in self.shape.flat or ("flat" in self.shape.flat and self.chance.random() < 0.5)
        value = {**more, **handler} if is_flat and isinstance(handler, dict) else {**more, "hooks": [handler]}
        return Piece("entry", file, name, value, label, event, self._may(event, matcher))

    def _oddities(self) -> Iterator[tuple[str, str, Any]]:
        for name, values in FIELDS.items():
            yield from (("field", name, value) for value in values)
        yield from (("list", "", value) for value in LISTS)
        yield from (("matcher", "", value) for value in NO_TEXTS * 2)
        yield from (("group", "", value) for value in ENTRIES)
        yield from [("group", "other shape", None), ("group", "a key more", None), ("exec", "", None)]
        yield from (("event", "", value) for value in [*EVENTS, ABSENT])
        yield from (("name", name, None) for name in NAMES)
        yield from (("name", name, value) for name in ("Nonsense", "enabled") for value in (5, "x", {}, []))
        yield from (("root", "hooks", value) for value in HOOKS)
        yield from (("root", name, value) for name, values in ROOTS.items() for value in values)
        yield ("root", "an event", None)
        yield from (("text", name, None) for name in CHANGES)

    def _oddity(self, kind: str, where: str, value: Any) -> Piece:
        """A piece with something odd; where it is an entry, a mark of its own."""
        file = self.chance.randrange(self.shape.files)
        event = self.chance.choice(list(self.shape.events))
        name = self.chance.choice(self.shape.events[event])
        handler = self.handler()
        shown = "absent" if value is ABSENT else json.dumps(value)
        if kind == "field":
            if value is ABSENT:
                del handler[where]
            else:
                handler[where] = self.command(where) if value == "MARK" else value
            piece = self.entry(file, event, name, handler, ABSENT, f"{where} {shown} at {event}")
            return piece._replace(may=where == "if" and event in WITH_TOOL)  # where its condition holds
        if kind == "exec":
            handler = {"type": "command", "command": "sh", "args": ["-c", self.command("args")]}
            return self.entry(file, event, name, handler, ABSENT, "command with args")
        if kind == "matcher":
            return self.entry(file, event, name, handler, self._listed(value), f"matcher {shown} at {event}")
        if kind == "list":
            group = {"x": 1} if value is ABSENT else {"hooks": value}
            return Piece("entry", file, name, group, f"a group's hooks {shown}", event)
        if kind == "group":
            whole: Any = {"hooks": [handler]} if name in self.shape.flat else handler
            odd = whole if where == "other shape" else {"x": 1, "hooks": [handler]} if where else value
            return Piece("entry", file, name, odd, f"an entry {where or shown}", event)
        if kind == "event":
            odd = {"hooks": [handler]} if value is ABSENT else value
            return Piece("event", file, name, odd, f"an event's list {'a group' if value is ABSENT else shown}", event)
        if kind == "name":
            odd = [{"hooks": [handler]}] if value is None else value
            label = f"event {where!r} with {'a group' if value is None else shown}"
            return Piece("event", file, where, odd, label, may=where == "SubagentStop")
        if kind == "root" and where == "an event":
            return Piece("root", file, name, [{"hooks": [handler]}], "an event beside hooks")
        return Piece(kind, file, where, value, where if kind == "text" else f"root {where} {shown}")

    def _listed(self, value: Any) -> Any:
        return [self.shape.shell] if value == ["S"] else value


def text_of(pieces: Sequence[Piece], base: dict[str, Any], format: str) -> str:
    """The text of one file with these pieces of it."""
    value: dict[str, Any] = {**base, "hooks": {}}
    for piece in pieces:
        if piece.kind == "entry":
            value["hooks"].setdefault(piece.where, []).append(piece.value)
    for piece in pieces:
        if piece.kind == "event":
            value["hooks"][piece.where] = piece.value
    for piece in pieces:
        if piece.kind == "root":
            old = value.get(piece.where)
            is_wider = isinstance(old, dict) and isinstance(piece.value, dict) and piece.where != "hooks"
            value[piece.where] = {**old, **piece.value} if is_wider else piece.value
    text = json.dumps(value, indent=1) if format == "json" else toml(value)
    for piece in pieces:
        if piece.kind == "text":
            text = CHANGES[piece.where](text)
    return text


def toml(value: dict[str, Any]) -> str:
    """Tables for the root's objects, so that others may be added to them; a null is left out."""
    plain = {name: item for name, item in value.items() if not isinstance(item, dict) or name == ""}
    lines = [f"{json.dumps(name)} = {_inline(item)}" for name, item in plain.items() if item is not None]
    for name, item in value.items():
        if name not in plain:
            lines += [f"[{json.dumps(name)}]"]
            lines += [f"{json.dumps(key)} = {_inline(inner)}" for key, inner in item.items() if inner is not None]
    return "\n".join(lines) + "\n"


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{json.dumps(key)} = {_inline(item)}" for key, item in value.items() if item is not None)
        return "{" + inner + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_inline(item) for item in value if item is not None) + "]"
    return json.dumps(value)
