"""The table of docs/museum.md, made from the museum's groups."""

from __future__ import annotations

from pathlib import Path

from tests.museum.groups import GROUPS, Group

PAGE = Path(__file__).parents[2] / "docs" / "museum.md"
HEAD = ["| | elsewhere | reported in | hookctl |", "| --- | --- | --- | --- |"]


def table() -> list[str]:
    """The table's lines."""
    return HEAD + [f"| {one.number} | {one.elsewhere} | {links(one)} | {one.here} |" for one in GROUPS]


def links(group: Group) -> str:
    """Each issue of a group as a link."""
    found = []
    for issue in group.issues:
        repository, _, number = issue.partition("#")
        found.append(f"[{issue}](https://github.com/{repository}/issues/{number})")
    return ", ".join(found)


def renewed(page: str) -> str:
    """The page with the table as the groups have it."""
    lines = page.splitlines()
    begin = lines.index(HEAD[0])
    end = next((n for n in range(begin, len(lines)) if not lines[n].startswith("|")), len(lines))
    return "\n".join([*lines[:begin], *table(), *lines[end:]]) + "\n"
