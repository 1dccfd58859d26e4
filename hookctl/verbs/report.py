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
from hookctl.errors import FAILED, HookctlError, usage_error
from hookctl.hosts.hook_id import shorten
from hookctl.masking import by_look, masked_text, plain
from hookctl.model import Result
from hookctl.output.lines import amount, place, show_ms, tilde
from hookctl.receipts.reading import HookName, Runs, read_runs
from hookctl.survey.listing import Inventory, take_inventory
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
_REASONS = ("Decision", "Reason", "Times")


def report(folders: Folders, output: str = "", since: str = "") -> Result:
    """Write the page to a file, which may be an older page but no other file."""
    path = os.path.join(folders.cwd, os.path.expanduser(output or DEFAULT))
    old = _read_old(path, is_named=bool(output))
    page, numbers = _make_page(folders, since)
    try:
        files.replace(old, page)
    except files.Changed:
        raise _refused(path, "this file changed meanwhile", "Run the command again.") from None
    said = [amount(numbers[f"{noun}s"], noun) for noun in ("hook", "run", "decision")]
    said.append(amount(numbers["attention"], "thing needs attention", "things need attention"))
    return Result({"file": path, **numbers}, (f"{tilde(path)}: {', '.join(said)}",))


def _read_old(path: str, *, is_named: bool) -> files.Snapshot:
    if os.path.isdir(path) or not os.path.isdir(os.path.dirname(path)):
        raise usage_error("this is no file in a folder that is there", "Name one with -o.", path)
    if not is_named and os.path.islink(path):  # which whoever made the folder may have put there
        raise _refused(path, "this is a link", "Remove it, or name a file with -o.")
    old = files.read(path)
    if old.data and MARK not in old.data[:4096]:
        hint = "Name another file with -o, or remove this one first."
        raise _refused(path, "this file is not a hookctl report", hint)
    return old


def _refused(path: str, message: str, hint: str) -> HookctlError:
    return HookctlError("conflict", message, path=path, hint=hint, exit_code=FAILED)


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
    broken = sum(hook.state not in (RUNS, *WANTED) for hook in inventory.hooks)
    if broken:
        count = amount(broken, "hook does not run", "hooks do not run")
        things.append(_thing("warning", count, "Their states below say why."))
    numbers = {
        "hooks": len(inventory.hooks),
        "runs": sum(found.runs for found in runs.values()),
        "decisions": sum(map(events.number_of, decided)),
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
        attention=_lines(things) or _element("p", "Nothing."),
        hooks=_hooks(inventory.hooks),
        runs=_runs(runs),
        decisions=_decisions(decided),
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


def _hooks(hooks: Sequence[Hook]) -> _Html:
    parts = []
    for name, group in groupby(hooks, lambda hook: hook.host):
        parts += [_element("h3", _title(name)), _table(_HOOKS, map(_row, group))]
    return _lines(parts) or _element("p", "No host of this machine has a hook in this folder.")


def _row(hook: Hook) -> list[str]:
    tool = _element("small", f"matcher {hook.matcher}") if hook.matcher else ""
    about = [shorten(hook.id), hook.own_id or hook.owner, f"{hook.scope} scope"]
    command = _element("code", shown_command(hook) or "no command")
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
    rows = []
    for name, found in sorted(runs.items(), key=lambda pair: -pair[1].ms):
        title = f"{name.id} · {_title(name.host)}, {name.event}"
        spans = [show_ms(found.median_ms), show_ms(found.p95_ms), show_ms(found.ms)]
        rows.append([title, str(found.runs), str(found.failures), *spans, str(found.bytes)])
    return _table(_RUNS, rows)


def _decisions(decisions: Sequence[dict[str, Any]]) -> _Html:
    """Decisions of the guard: how many of which kind on each day, and why."""
    if not decisions:
        return _element("p", "There are no decisions of the guard.")
    days: dict[str, Counter[str]] = {}
    reasons: Counter[tuple[str, str]] = Counter()
    for event in sorted(decisions, key=lambda event: event["t"]):
        word, day = event["decision"], clock.local(event["t"])[:10]
        days.setdefault(day, Counter())[word] += events.number_of(event)
        reasons[word, events.reason_of(event) or event.get("code", "")] += events.number_of(event)
    by_day = [[day, *(str(counts[word]) for word in events.DONE)] for day, counts in days.items()]
    by_reason = []
    for (word, reason), number in reasons.most_common():
        by_reason.append([events.DONE[word], reason, str(number)])
    return _lines([_table(("Day", *events.DONE.values()), by_day), _table(_REASONS, by_reason)])


# The elements. Text is escaped here, and nowhere else.


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


def _element(name: str, *inside: str, class_: str = "") -> _Html:
    kind = f' class="{class_}"' if class_ else ""
    return _Html(f"<{name}{kind}>{''.join(map(_text, inside))}</{name}>")


def _lines(parts: Iterable[str]) -> _Html:
    """Parts below each other."""
    return _Html("\n".join(map(_text, parts)))


def _prose(value: str) -> _Html:
    """A sentence; what stands in backticks is code."""
    return _Html(re.sub("`([^`]+)`", r"<code>\1</code>", _text(value)))


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> _Html:
    """A table, which is scrolled where it is too wide."""
    head = _element("tr", *(_element("th", title) for title in titles))
    body = [_element("tr", *(_element("td", cell) for cell in row)) for row in rows]
    return _element("div", _element("table", _lines([head, *body])), class_="wide")
