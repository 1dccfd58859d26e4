"""What needs attention: doctor's errors and warnings, unreadable files, hooks that do not run."""

from __future__ import annotations

from collections.abc import Iterator

from hookctl.output.lines import amount, place, tilde
from hookctl.page import hooks
from hookctl.page.html import Html, element, lines, prose
from hookctl.page.model import Content
from hookctl.survey.model import Unreadable

LEVELS = ("error", "warning")


def attention(content: Content) -> Html:
    """Each finding with its file and what to do."""
    parts = [*_findings(content), *map(_unreadable, content.unreadable), *_broken(content)]
    if not parts:
        return element("p", "Nothing: doctor found nothing bad here, and all hooks run.")
    return lines(parts)


def count(content: Content) -> int:
    """How many things need attention."""
    found = [finding for finding in content.findings if finding.level in LEVELS]
    once = dict.fromkeys(finding._replace(host="") for finding in found)
    return len(once) + len(content.unreadable) + len(hooks.list_broken(content))


def _findings(content: Content) -> Iterator[Html]:
    hosts: dict[object, list[str]] = {}
    for finding in content.findings:
        if finding.level in LEVELS:
            title = content.titles.get(finding.host, finding.host)
            hosts.setdefault(finding._replace(host=""), []).append(title)
    for finding in content.findings:
        titles = hosts.pop(finding._replace(host=""), None)
        if titles is None:
            continue
        level = "bad" if finding.level == "error" else "odd"
        named = ", ".join(dict.fromkeys(filter(None, titles)))
        head = element("b", finding.level, class_=level)
        where = [part for part in (named, tilde(finding.path)) if part]
        parts = [element("p", head, prose(f" {finding.message} "), element("code", finding.code))]
        if where:
            parts.append(element("p", " · ".join(where), class_="soft"))
        if finding.fix:
            parts.append(element("p", prose(f"What to do: {finding.fix}")))
        yield element("div", *parts, class_=f"finding {finding.level}")


def _unreadable(file: Unreadable) -> Html:
    said = element(
        "p", element("b", "error", class_="bad"), prose(f" its hooks are not known: {file.message}")
    )
    return element(
        "div",
        said,
        element("p", place(file.path, file.line), class_="soft"),
        class_="finding error",
    )


def _broken(content: Content) -> Iterator[Html]:
    """The hooks that do not run, in one list."""
    broken = hooks.list_broken(content)
    if not broken:
        return
    items = []
    for hook, command in broken:
        title = content.titles.get(hook.host, hook.host)
        where = f"{title}, {hook.event}, {place(hook.file, hook.line)}"
        said = [element("small", prose(f"{where}: {hook.reason}"))]
        if hook.fix:
            said.append(element("small", prose(f"What to do: {hook.fix}")))
        items.append(element("li", element("code", command or hook.id), *said))
    count = amount(len(broken), "hook does not run", "hooks do not run")
    head = element("p", element("b", "warning", class_="odd"), f" {count}")
    yield element("div", head, element("ul", lines(items)), class_="finding warning")


def figure(content: Content) -> tuple[str, str]:
    """The number at the top of the page, and its words."""
    number = count(content)
    return str(number), "thing needs attention" if number == 1 else "things need attention"
