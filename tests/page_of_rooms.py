"""Makes the picture of docs/development.md from the code: `python -m tests.page_of_rooms` writes the page.

A room is a folder of `hookctl/`, or a module beside them. An arrow means "imports"; an arrow that others already imply
is left out, so that the picture shows the way down, except from a verb to ownership, the way that each change goes.
"""

from __future__ import annotations

import ast
from pathlib import Path

from tests.test_architecture import imports, modules

PAGE = Path(__file__).parents[1] / "docs" / "development.md"
BEGIN, END = "<!-- rooms: made by `python -m tests.page_of_rooms` -->", "<!-- end of rooms -->"
_LEFT_OUT = ("__init__", "__main__")  # the first has only the version, the second only calls cli
_KEPT = {"verbs": {"ownership"}}
_EVERYWHERE = ("errors", "model", "masking")  # values that every room may use; their arrows would say nothing


def room_of(module: str) -> str:
    """The room of a module, by its dotted name."""
    return module.partition(".")[0]


def edges() -> dict[str, set[str]]:
    """The rooms that each room imports."""
    rooms: dict[str, set[str]] = {}
    for name, path in modules().items():
        room = room_of(name)
        if room in _LEFT_OUT:
            continue
        imported = {room_of(other) for other in imports(path)}
        rooms.setdefault(room, set()).update(imported - {room, *_LEFT_OUT})
    return rooms


def reached(rooms: dict[str, set[str]], start: str) -> set[str]:
    """Every room that can be reached from one, without itself."""
    seen: set[str] = set()
    pending = list(rooms[start])
    while pending:
        room = pending.pop()
        if room not in seen:
            seen.add(room)
            pending += rooms[room]
    return seen


def direct(rooms: dict[str, set[str]]) -> dict[str, list[str]]:
    """The arrows that no longer way implies."""
    arrows = {}
    for room, imported in rooms.items():
        implied: set[str] = set()
        for other in imported:
            implied |= reached(rooms, other)
        arrows[room] = sorted(imported - implied | imported & _KEPT.get(room, set()))
    return arrows


def sentence(room: str) -> str:
    """What a room is for: the first sentence of its docstring."""
    path = modules()[room]
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    return text.partition("\n\n")[0].replace("\n", " ").partition(". ")[0].rstrip(".")


def drawn() -> list[str]:
    """The picture, and under it a line for each room."""
    rooms = edges()
    lines = ["```mermaid", "flowchart TD"]
    for room, others in sorted(direct(rooms).items()):
        lines += [f"  {room} --> {other}" for other in others if other not in _EVERYWHERE]
    lines += ["```", "", "| room | what belongs there |", "| --- | --- |"]
    for room in sorted(rooms, key=lambda room: (-len(reached(rooms, room)), room)):
        shown = f"hookctl/{room}/" if modules()[room].name == "__init__.py" else f"hookctl/{room}.py"
        lines.append(f"| `{shown}` | {sentence(room)} |")
    return lines


def renewed(page: str) -> str:
    """The page with the picture as the code has it."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return "\n".join([before + BEGIN, *drawn(), END]) + after


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text()))
