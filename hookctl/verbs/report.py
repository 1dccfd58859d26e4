"""hookctl report: one HTML page of the hooks, what they cost, and what needs attention.

The page loads nothing.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby
from string import Template
from typing import Any

from hookctl import __version__, clock, events, hosts
from hookctl.checks import codes
from hookctl.checks.survey import Survey
from hookctl.errors import FAILED, USAGE, HookctlError
from hookctl.hosts.hook_id import shorten
from hookctl.masking import by_look, masked_text, plain
from hookctl.model import Result
from hookctl.output.lines import amount, place, show_ms, tilde
from hookctl.receipts.reading import HookName, Runs, read_runs
from hookctl.survey.inventory import Inventory, take_inventory
from hookctl.survey.model import RUNS, WANTED, Hook
from hookctl.system import files
from hookctl.system.folders import Folders
from hookctl.system.package_data import read_data
from hookctl.verbs.hooks import shown_command

DEFAULT = "hookctl-report.html"
HELP = """
--output -o FILE  The file to write; default: hookctl-report.html here.
--since T  Only runs and decisions since then: 2h, 7d, or a date.

Examples:
  hookctl report
  hookctl report -o ~/hooks.html --since 7d
"""
MARK = b'<meta name="generator" content="hookctl">'  # tells a page of ours from another file
_KINDS = {"error": "bad", "warning": "odd"}
_HOOKS = ("Event", "Hook", "State", "File")
_RUNS = ("Hook", "Runs", "Failed", "Median", "95 of 100 within", "Together", "Context bytes")
_MOST = 60  # columns of the plot
_CLASSES = {word: f"c{number}" for number, word in enumerate(events.DONE, 1)}
_MOST_BARS = 20
_HEIGHT = 100.0  # of stacks


def report(folders: Folders, output: str = "", since: str = "") -> Result:
    """Write the page to a file, which may be an older page but no other file."""
    path = os.path.join(folders.cwd, os.path.expanduser(output or DEFAULT))
    if not output and os.path.islink(path):  # which whoever made the folder may have put there
        hint = "Remove it, or name a file with -o."
        raise HookctlError("conflict", "this is a link", path=path, hint=hint, exit_code=FAILED)
    old = _read_old(path)
    page, numbers = _make_page(folders, since)
    try:
        files.replace(old, page)
    except files.Changed:
        message, hint = "this file changed meanwhile", "Run the command again."
        raise HookctlError("changed", message, path=path, hint=hint, exit_code=FAILED) from None
    nouns = ("hook", "run", "decision")
    said = [amount(numbers[f"{noun}s"], noun) for noun in nouns]
    said.append(amount(numbers["attention"], "thing needs attention", "things need attention"))
    return Result({"file": path, **numbers}, (f"{tilde(path)}: {', '.join(said)}",))


def _read_old(path: str) -> files.Snapshot:
    if os.path.isdir(path) or not os.path.isdir(os.path.dirname(path)):
        what = "this is a folder" if os.path.isdir(path) else "there is no such folder"
        hint = "Name a file in a folder that is there."
        raise HookctlError("usage", what, path=path, hint=hint, exit_code=USAGE)
    old = files.read(path)
    if old.data and MARK not in old.data[:4096]:
        hint = "Name another file with -o, or remove this one first."
        raise HookctlError(
            "conflict", "this file is not a hookctl report", path=path, hint=hint, exit_code=FAILED
        )
    return old


def _make_page(folders: Folders, since: str) -> tuple[bytes, dict[str, int]]:
    """The page as it is written, and how much it tells of."""
    folder, now = tilde(folders.cwd), clock.now(folders.environ)
    earliest = clock.moment(since, now) if since else None
    inventory = take_inventory(folders)
    things = _list_things(folders, inventory)
    runs = read_runs(folders.state, "", earliest)
    decided = []
    for event in (*events.read(folders.state), *events.read_untold(folders.state)):
        if event.get("decision") in events.DONE and event["t"] >= (earliest or 0):
            decided.append(event)
    decided.sort(key=lambda event: event["t"])
    broken = sum(hook.state not in (RUNS, *WANTED) for hook in inventory.hooks)
    if broken:
        count = amount(broken, "hook does not run", "hooks do not run")
        things.append(_thing("warning", count, "Their states below say why."))
    numbers = {
        "hooks": len(inventory.hooks),
        "runs": sum(found.runs for found in runs.values()),
        "decisions": sum(map(_number, decided)),
        "attention": len(things) - bool(broken) + broken,
    }
    span = f"; runs and decisions of the last {since}" if since else ""
    running = sum(hook.state == RUNS for hook in inventory.hooks)
    failed = sum(found.failures for found in runs.values())
    figures = [
        (f"{numbers['attention']}", "to look at"),
        (f"{running} of {numbers['hooks']}", "hooks run here"),
        (f"{numbers['runs']}", f"runs with a receipt, {failed} failed"),
        (f"{numbers['decisions']}", "decisions of the guard"),
    ]
    page = Template(read_data("templates", "report", "page.html").decode()).substitute(
        title=_text(f"hookctl report, {folder}"),
        heading=_text(f"Hooks in {folder}"),
        about=_text(f"{clock.local(now)}, by hookctl {__version__}{span}"),
        figures=_lines(_element("li", _element("b", number), said) for number, said in figures),
        attention=_lines(things)
        or _element("p", "Nothing: doctor found nothing bad here, and all hooks run."),
        hooks=_hooks(inventory.hooks, folder),
        runs=_runs(runs),
        decisions=_decisions(decided),
        foot=_prose(
            "What hookctl knows for a secret is masked; look before you hand this page on. "
            "`hookctl report` makes it anew."
        ),
    )
    return page.encode("utf-8", "backslashreplace"), numbers


def _title(host: str) -> str:
    return hosts.load(host).title if host in hosts.names() else host


def _list_things(folders: Folders, inventory: Inventory) -> list[_Html]:
    """What needs attention, each with its file and what to do: the worst first."""
    survey, things = Survey(folders), []
    for finding in codes.worst_first(survey.findings(survey.hosts_in_use())):
        if finding.level in _KINDS:
            where = " · ".join(filter(None, [_title(finding.host), tilde(finding.path)]))
            message = f"{masked_text(finding.message)} `{finding.code}`"
            things.append(_thing(finding.level, message, where, finding.fix or ""))
    for file in inventory.unreadable:
        message = f"its hooks are not known: {file.message}"
        things.append(_thing("error", message, place(file.path, file.line)))
    return things


def _thing(level: str, message: str, where: str, fix: str = "") -> _Html:
    head = _element("b", level, class_=_KINDS[level])
    said = [_element("p", head, _prose(f" {message}")), _element("p", where, class_="soft")]
    said += [_element("p", _prose(f"What to do: {fix}"))] if fix else []
    return _element("div", *said, class_=f"finding {level}")


def _hooks(hooks: Sequence[Hook], folder: str) -> _Html:
    if not hooks:
        return _element("p", "No host of this machine has a hook in this folder.")
    said = f"As the agents would be started in {folder}; another folder may have others."
    parts = [_element("p", said, class_="soft")]
    for name, group in groupby(hooks, lambda hook: hook.host):
        rows = map(_row, group)
        title = _title(name)
        table_of_host = _table(f"Hooks of {title}", _HOOKS, rows, "rows fixed")
        parts += [_element("h3", title), table_of_host]
    return _lines(parts)


def _row(hook: Hook) -> list[str]:
    tool = _element("small", f"matcher {hook.matcher}") if hook.matcher else ""
    about = [shorten(hook.id), hook.own_id or hook.owner, f"{hook.scope} scope"]
    shown = shown_command(hook)
    command = _element("code", shown) if shown else _element("span", "no command")
    kind = "good" if hook.state == RUNS else "odd" if hook.state in WANTED else "bad"
    state = [_element("b", hook.state.replace("_", " "), class_=kind)]
    for said in (hook.reason, hook.fix and f"What to do: {hook.fix}"):
        state += [_element("small", _prose(said))] if said else []
    return [
        _element("span", hook.event, tool),
        _element("span", command, _element("small", " · ".join(filter(None, about)))),
        _element("span", *state),
        _element("code", place(hook.file, hook.line)),
    ]


def _runs(runs: dict[HookName, Runs]) -> _Html:
    if not runs:
        return _element("p", "There are no receipts. The hooks of packs leave one for each run.")
    times, sizes, rows = [], [], []
    for name, found in sorted(runs.items(), key=lambda pair: -pair[1].ms):
        title = f"{name.id} · {_title(name.host)}, {name.event}"
        times.append((title, found.ms, show_ms(found.ms)))
        if found.bytes:
            sizes.append((title, found.bytes, amount(found.bytes, "byte")))
        spans = [show_ms(found.median_ms), show_ms(found.p95_ms), show_ms(found.ms)]
        rows.append([title, str(found.runs), str(found.failures), *spans, str(found.bytes)])
    parts = [_element("h3", "Time of all runs together"), _bars(times)]
    if sizes:
        parts += [_element("h3", "Bytes that went into the model's context"), _bars(sizes)]
    parts += [_element("h3", "All numbers"), _table("Runs by hook", _RUNS, rows, "rows", 6)]
    return _lines(parts)


def _decisions(decisions: Sequence[dict[str, Any]]) -> _Html:
    """Decisions of the guard: how many of which kind over time, and why."""
    if not decisions:
        return _element("p", "There are no decisions of the guard.")
    first, last = decisions[0]["t"], decisions[-1]["t"]
    columns = _count_by_time(decisions, first, last)
    highest = f"at most {max(map(sum, columns))} in one column"
    said = [clock.local(first), highest, clock.local(last)]
    totals: Counter[str] = Counter()
    reasons: Counter[tuple[str, str]] = Counter()
    for event in decisions:
        totals[event["decision"]] += _number(event)
        reason = events.reason_of(event) or event.get("code", "")
        reasons[event["decision"], reason] += _number(event)
    legend = []
    for word, kind in _CLASSES.items():
        if totals[word]:
            mark = _element("span", class_=kind)
            legend.append(_element("li", mark, f"{events.DONE[word]} {totals[word]}"))
    rows = []
    for (word, reason), number in reasons.most_common():
        rows.append([events.DONE[word], reason, str(number)])
    ends = _element("div", *(_element("span", each) for each in said), class_="ends")
    plot = _stacks(columns, [*_CLASSES.values()])
    shown = _element("figure", plot, ends, _element("ul", *legend, class_="legend"))
    titles = ("Decision", "Reason", "Times")
    return _lines([shown, _table("Decisions by reason", titles, rows, "rows", 1)])


def _count_by_time(
    decisions: Sequence[dict[str, Any]], first: float, last: float
) -> list[list[int]]:
    """How many decisions of each kind lie in each of some equal spans of time."""
    count = min(_MOST, len(decisions))
    span = (last - first) / count or 1
    columns = [[0] * len(_CLASSES) for _ in range(count)]
    kinds = [*_CLASSES]
    for event in decisions:
        column = min(int((event["t"] - first) / span), count - 1)
        columns[column][kinds.index(event["decision"])] += _number(event)
    return columns


def _number(event: dict[str, Any]) -> int:
    """How many decisions a line stands for: refused calls may share one."""
    number = event.get("refusals", 1)
    return number if type(number) is int and number > 0 else 1


# The elements and plots. Text is escaped here, and nowhere else.


class _Html(str):
    """A text that is HTML already."""

    __slots__ = ()


def _text(value: str) -> _Html:
    """A text as HTML shows it, without what looks like a secret, and with ~ for the home folder.

    What is HTML already stays.
    """
    if isinstance(value, _Html):
        return value
    home = os.path.expanduser("~")
    if home != "/":
        value = value.replace(f"{home}/", "~/")
    return _Html(escape(by_look(plain(value))))


def _element(name: str, *inside: str, **attributes: str) -> _Html:
    """An element; an attribute named `class_` is `class`, and `data_title` is `data-title`."""
    shown = ""
    for key, value in attributes.items():
        if value:
            shown += f' {key.rstrip("_").replace("_", "-")}="{_text(value)}"'
    return _Html(f"<{name}{shown}>{''.join(map(_text, inside))}</{name}>")


def _lines(parts: Iterable[str]) -> _Html:
    """Parts below each other."""
    return _Html("\n".join(map(_text, parts)))


def _prose(value: str) -> _Html:
    """A sentence; what stands in backticks is code."""
    return _Html(re.sub("`([^`]+)`", r"<code>\1</code>", _text(value)))


def _table(
    caption: str, titles: Sequence[str], rows: Iterable[Sequence[str]], kind: str, numbers: int = 0
) -> _Html:
    """A table, which a narrow screen shows as a list; its last columns may be numbers.

    The roles keep it a table where the style makes blocks of its cells.
    """
    classes = ["number" if len(titles) - at <= numbers else "" for at in range(len(titles))]
    heads = []
    for title, class_ in zip(titles, classes, strict=True):
        heads.append(_element("th", title, scope="col", role="columnheader", class_=class_))
    body = []
    for row in rows:
        cells = []
        for title, class_, cell in zip(titles, classes, row, strict=True):
            cells.append(_element("td", cell, role="cell", class_=class_, data_title=title))
        body.append(_element("tr", *cells, role="row"))
    return _element(
        "table",
        _element("caption", caption, class_="hidden"),
        _element("thead", _element("tr", *heads, role="row"), role="rowgroup"),
        _element("tbody", _lines(body), role="rowgroup"),
        class_=kind,
        role="table",
    )


def _bars(items: Sequence[tuple[str, float, str]]) -> _Html:
    """Horizontal bars with names, lengths, and these in words; the longest first, and no more."""
    items = sorted(items, key=lambda bar: -bar[1])[:_MOST_BARS]
    longest = items[0][1] or 1
    shown = []
    for name, length, said in items:
        rect = f'<rect class="c1" width="{100 * length / longest:.2f}" height="10"/>'
        words = _element("div", _element("span", name), _element("span", said))
        shown.append(_element("li", words, _svg(rect, "0 0 100 10")))
    return _element("ul", _lines(shown), class_="bars")


def _stacks(columns: Sequence[Sequence[int]], classes: Sequence[str]) -> _Html:
    """Columns side by side, each a stack of numbers in these classes, from the bottom upwards."""
    highest = max(map(sum, columns)) or 1
    rects = ""
    for x, column in enumerate(columns):
        top = _HEIGHT
        for number, kind in zip(column, classes, strict=True):
            height = _HEIGHT * number / highest
            top -= height
            if number:
                at = f'x="{x + 0.06:.2f}" y="{top:.2f}" width="0.88" height="{height:.2f}"'
                rects += f'<rect class="{kind}" {at}/>'
    return _svg(rects, f"0 0 {len(columns)} {_HEIGHT:.0f}", "plot")


def _svg(content: str, box: str, kind: str = "") -> _Html:
    """A plot without a text: the words beside it say the same for everybody."""
    attributes = {"viewBox": box, "preserveAspectRatio": "none", "aria_hidden": "true"}
    return _element("svg", _Html(content), class_=kind, **attributes)
