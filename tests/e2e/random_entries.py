"""Settings files at random: many hooks that are as they should be, and here and there one thing that is odd.

A file is a list of pieces, so that a difference can be shown with as few of them as it takes.
"""

import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ABSENT = "ABSENT"  # a key that is not there
WITH_TOOL = ("pre-tool", "post-tool")
# Matchers, and what stands in the place of a field, a list, an entry, an event or a root key. In a matcher S is the
# host's shell and W what writes a file there.
ODD: dict[str, Any] = json.loads((Path(__file__).parent / "oddities.json").read_text())
LATER = {"resume", "clear", "compact", "exit", "prompt_input_exit"}  # would fire another time
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
    return ODD["texts"] if event in WITH_TOOL else ODD["words"][event] + ["", "*", ".*", "Bash"]


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
        return "" if matcher == ABSENT else f"matcher {json.dumps(matcher)} at {event}"

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
        # A plain name that no list has may be a tool's of a newer client.
        others = ["mcp__probe__ping", "Nope", *(tool for tool in self.shape.tools if tool not in called)]
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
        more = {} if matcher == ABSENT else {"matcher": matcher}
        is_flat = name in self.shape.flat or ("flat" in self.shape.flat and self.chance.random() < 0.5)
        value = {**more, **handler} if is_flat and isinstance(handler, dict) else {**more, "hooks": [handler]}
        return Piece("entry", file, name, value, label, event, self._may(event, matcher))

    def _oddities(self) -> Iterator[tuple[str, str, Any]]:
        for name, values in ODD["fields"].items():
            yield from (("field", name, value) for value in values)
        yield from (("list", "", value) for value in ODD["lists"])
        yield from (("matcher", "", value) for value in ODD["no_texts"] * 2)
        yield from (("group", "", value) for value in ODD["entries"])
        yield from [("group", "other shape", None), ("group", "a key more", None), ("exec", "", None)]
        yield from (("event", "", value) for value in [*ODD["events"], ABSENT])
        yield from (("name", name, None) for name in ODD["names"])
        yield from (("name", name, value) for name in ("Nonsense", "enabled") for value in (5, "x", {}, []))
        yield from (("root", "hooks", value) for value in ODD["hooks"])
        yield from (("root", name, value) for name, values in ODD["roots"].items() for value in values)
        yield ("root", "an event", None)
        yield from (("text", name, None) for name in CHANGES)

    def _oddity(self, kind: str, where: str, value: Any) -> Piece:
        """A piece with something odd; where it is an entry, a mark of its own."""
        file = self.chance.randrange(self.shape.files)
        event = self.chance.choice(list(self.shape.events))
        name = self.chance.choice(self.shape.events[event])
        handler = self.handler()
        shown = "absent" if value == ABSENT else json.dumps(value)
        if kind == "field":
            if value == ABSENT:
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
            group = {"x": 1} if value == ABSENT else {"hooks": value}
            return Piece("entry", file, name, group, f"a group's hooks {shown}", event)
        if kind == "group":
            whole: Any = {"hooks": [handler]} if name in self.shape.flat else handler
            odd = whole if where == "other shape" else {"x": 1, "hooks": [handler]} if where else value
            return Piece("entry", file, name, odd, f"an entry {where or shown}", event)
        if kind == "event":
            odd = {"hooks": [handler]} if value == ABSENT else value
            return Piece("event", file, name, odd, f"an event's list {'a group' if value == ABSENT else shown}", event)
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
