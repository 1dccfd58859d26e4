"""Makes tables of docs/packs.md and docs/hosts.md from the hosts' files: `python -m tests.page_of_answers` writes them.

What each host makes of an answer is what the runner does with it: a host without a form for it gets the next stricter
one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hookctl import hosts
from hookctl.hosts import Host
from hookctl.packs.runner import EVENTS, SHORT, native_event, own_names
from hookctl.system import guard_module

PAGES = [Path(__file__).parents[1] / "docs" / name for name in ("packs.md", "hosts.md")]
END = "<!-- end of table -->"
CLAUDE = "claude"
# The one whose names packs have, those whose clients were run, and those that are known from documents alone.
HOSTS = sorted(hosts.names(), key=lambda name: (name != CLAUDE, hosts.load(name).sure != "proven", name))
SHORT_TITLES = {"vibe": "Vibe", "vscode": "VS Code"}
NO = "-"
SAME = "="
# What a command may answer, by the names of the hosts' forms; at other events there is only a message.
ANSWERS = {
    "PreToolUse": ("refuse", "ask", "allow", "change", "context", "end", "message"),
    "PostToolUse": ("refuse", "context", "replace", "end", "message"),
    "PostToolUseFailure": ("context", "message"),
    "UserPromptSubmit": ("refuse", "context", "end", "message"),
    "SessionStart": ("context", "end", "message"),
    "Stop": ("refuse", "end", "message"),
    "SubagentStop": ("refuse", "end", "message"),
}
SAID = {
    "refuse": "refuse",
    "ask": "`ask`",
    "allow": "`allow`, with `may_allow`",
    "change": "changed input",
    "context": "context",
    "replace": "another result",
    "end": "`continue: false`",
    "message": "message",
}


def outcome(event: str, answer: str, forms: dict[str, Any]) -> str:
    """What comes of an answer on a host with these forms: the runner is asked."""
    made = rendered(event, answer, forms, may_allow=answer == "allow")
    if answer in made.dropped:
        if answer == "refuse" and event != "PostToolUse":
            return "**cannot**"
        return "lets stop" if answer == "end" and event in ("Stop", "SubagentStop") else "dropped"
    if answer != "refuse" and made.outcome in ("deny", "block"):
        is_taken = answer == "change" and rendered(event, answer, forms, may_allow=True).outcome == "change"
        return "with `may_allow`, else refused" if is_taken else "refused"
    is_context = answer == "refuse" and forms[answer] == forms.get("context")
    return "as context" if is_context else "yes"


def rendered(event: str, name: str, forms: dict[str, Any], *, may_allow: bool) -> Any:
    """What the runner makes of an answer, by the name of the hosts' form for it."""
    decision = {"refuse": "deny"}.get(name, name if name in ("ask", "allow") else "")
    answer = guard_module("answer").Answer(decision, "why")
    values = {"change": ("change", {"a": 1}), "context": ("context", "c"), "replace": ("replace", "r")}
    values |= {"end": ("ends", True), "message": ("message", "m")}
    if name in values:
        setattr(answer, *values[name])
    return guard_module("answer").render(forms, event, answer, may_allow, lambda input: input)


def answers() -> Iterator[list[str]]:
    """The rows of an answer that go the same way stand as one, at the place of the first."""
    yield ["event", "answer", "as it is", "else"]
    rows: list[tuple[list[str], str, list[str]]] = []
    for event, names in ANSWERS.items():
        for answer in names:
            cells = [of_answer(host, event, answer) for host in every_host()]
            same = next((row for row in rows if row[1] == answer and go_the_same_way(row[2], cells)), None)
            if same is None:
                rows.append(([event], answer, cells))
                continue
            same[0].append(event)
            same[2][:] = [new if old == NO else old for old, new in zip(same[2], cells, strict=True)]
    for events_, answer, cells in rows:
        yield ["all" if len(events_) == len(ANSWERS) else ", ".join(events_), SAID[answer], *in_groups(cells)]


def in_groups(cells: list[str]) -> tuple[str, str]:
    """The hosts that pass an answer on as it is, and what the others make of it; the largest group has no names."""
    groups: dict[str, list[str]] = {}
    for cell, title in sorted(zip(cells, titles(), strict=True)):
        groups.setdefault(cell, []).append(title)
    largest = max(groups, key=lambda cell: (len(groups[cell]), cell))
    named = {cell: ", ".join(group) for cell, group in groups.items()}
    named[largest] = "all others" if len(groups) > 1 else "all"
    done, absent = named.pop("yes", NO), named.pop(NO, "")
    if absent:
        named["no such event"] = absent
    if largest in named:
        named[largest] = named.pop(largest)  # the last
    return done, "; ".join(f"{outcome}: {names}" for outcome, names in named.items()) or NO


def go_the_same_way(some: list[str], others: list[str]) -> bool:
    """Whether two rows say the same wherever both events exist."""
    return all(one == other or NO in (one, other) for one, other in zip(some, others, strict=True))


def of_answer(host: Host, event: str, answer: str) -> str:
    if not native_event(host, SHORT[event]):
        return NO
    return outcome(event, answer, host.runner.get("answers", {}).get(event, {}))


def events() -> Iterator[list[str]]:
    yield ["host", *(f"`{event}`" for event in EVENTS.values())]
    for host, title in zip(every_host(), titles(), strict=True):
        own = [(native_event(host, short), event) for short, event in EVENTS.items()]
        yield [title, *(SAME if name == event else coded([name]) for name, event in own)]


def tools() -> Iterator[list[str]]:
    kinds, mcp = guard_module("payload").TOOLS, "mcp__S__T"
    unclassed = guard_module("payload").UNCLASSED
    yield ["host", *(f"`{name}`" for name in kinds.values()), f"`{mcp}`"]
    yield ["*class*", *("other" if kind in unclassed else kind for kind in kinds), "mcp"]
    for host, title in zip(every_host(), titles(), strict=True):
        own = [(own_names(host, name), name) for name in kinds.values()]
        own.append((own_names(host, mcp) if host.tools.get("mcp") else [], mcp))
        yield [title, *(SAME if names == [name] else coded(names) for names, name in own)]


def titles() -> list[str]:
    return [SHORT_TITLES.get(host.name, host.title.removeprefix("Factory ").split()[0]) for host in every_host()]


def every_host() -> list[Host]:
    return [hosts.load(name) for name in HOSTS]


def coded(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names if name) or NO


def readers() -> Iterator[list[str]]:
    """Every host, since one that is known from documents alone may read another one's files."""
    yield ["files of", "which", "also read by", "sure"]
    for host in map(hosts.load, hosts.names()):
        for agent in host.also_read_by:
            which = [*agent.scopes, *(["plugins in `.agents/plugins`"] if agent.plugins else [])]
            yield [host.title, ", ".join(which), hosts.describe_reader(agent), agent.sure]


REACH = {"host": "all hooks", "file": "those of the file", "names": "the hooks in it", "rules": "the files in it",
         "urls": "hooks of type `http` whose URL is in no list"}  # fmt: skip


def managed() -> Iterator[list[str]]:
    yield ["host", "managed files on Linux, the strongest first", "sure"]
    for host in map(hosts.load, hosts.names()):
        if "linux" in host.managed_files:
            yield [host.title, coded(list(reversed(host.managed_files["linux"]))), host.sure]


def switches() -> Iterator[list[str]]:
    yield ["host", "switch", "off at", "where, the strongest first", "turns off", "but not"]
    for host in map(hosts.load, hosts.names()):
        for rule in host.switches:
            off = coded([json.dumps(value) for value in rule.off] if rule.reach in ("host", "file") else [])
            files = [name if "/" not in name and "$" not in name else f"`{name}`" for name in rule.files]
            name = ".".join(rule.key)
            spared = " and ".join(f"{scope} ones" for scope in rule.spares) or NO
            yield [host.title, coded([name]), off, ", ".join(files), REACH[rule.reach], spared]


TABLES = {
    "answers": answers, "events": events, "tools": tools, "readers": readers, "managed": managed, "switches": switches,
}  # fmt: skip


def lines(name: str) -> list[str]:
    """A table in Markdown."""
    head, *rows = TABLES[name]()
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def renewed(page: str) -> str:
    """The page with its tables as the hosts' files have it."""
    for name in TABLES:
        begin = f"<!-- {name}: made by `python -m tests.page_of_answers` -->"
        between = re.compile(re.escape(begin) + ".*?" + re.escape(END), re.DOTALL)
        table = "\n".join([begin, "", *lines(name), "", END])
        page = between.sub(lambda _, table=table: table, page)
    return page


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(renewed(page.read_text()))
