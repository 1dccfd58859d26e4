"""What runs where: every hook by host, with its event, state and place."""

from __future__ import annotations

from itertools import groupby, starmap

from hookctl.hosts.hook_id import shorten
from hookctl.output.lines import amount, place
from hookctl.page.html import Column, Html, element, lines, prose, table
from hookctl.page.model import Content
from hookctl.survey.model import RUNS, WANTED, Hook

_COLUMNS = (
    Column("Event"),
    Column("Hook", repeats=False),
    Column("State", repeats=False),
    Column("File"),
)


def hooks(content: Content) -> Html:
    """A table for each host."""
    if not content.hooks:
        return element("p", "No host of this machine has a hook in this folder.")
    said = f"As the agents would be started in {content.folder}; another folder may have others."
    parts: list[str] = [element("p", said, class_="soft")]
    for name, group in groupby(content.hooks, lambda pair: pair[0].host):
        of_host = list(group)
        title = content.titles.get(name, name)
        running = sum(hook.state == RUNS for hook, _ in of_host)
        said = f"{amount(len(of_host), 'hook')}, of which {running} will run."
        parts += [element("h3", title), element("p", said, class_="soft")]
        parts.append(table(f"Hooks of {title}", _COLUMNS, starmap(_row, of_host), "rows fixed"))
    return lines(parts)


def count_broken(content: Content) -> int:
    """How many hooks do not run, and nobody meant that."""
    return sum(hook.state not in (RUNS, *WANTED) for hook, _ in content.hooks)


def _row(hook: Hook, shown: str) -> list[str]:
    tool = element("small", f"matcher {hook.matcher}") if hook.matcher else ""
    about = [shorten(hook.id), hook.own_id or hook.owner, f"{hook.scope} scope"]
    command = element("code", shown) if shown else element("span", "no command")
    return [
        element("span", hook.event, tool),
        element("span", command, element("small", " · ".join(filter(None, about)))),
        _state(hook),
        element("code", place(hook.file, hook.line)),
    ]


def _state(hook: Hook) -> Html:
    kind = "good" if hook.state == RUNS else "odd" if hook.state in WANTED else "bad"
    said = [hook.reason, hook.fix and f"What to do: {hook.fix}"]
    small = [element("small", prose(text)) for text in said if text]
    return element("span", element("b", hook.state.replace("_", " "), class_=kind), *small)
