"""What needs attention: doctor's errors and warnings, and files that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator

from hookctl.hooks.model import Unreadable
from hookctl.output.lines import tilde
from hookctl.page.html import Html, element, lines, prose
from hookctl.page.model import Content

LEVELS = ("error", "warning")


def attention(content: Content) -> Html:
    """Each finding with its file and what to do."""
    parts = [*_findings(content), *map(_unreadable, content.unreadable)]
    if not parts:
        return element("p", prose("Nothing. `hookctl doctor` found no error and no warning here."))
    return lines(parts)


def count(content: Content) -> int:
    """How many things need attention."""
    found = [finding for finding in content.findings if finding.level in LEVELS]
    return len(dict.fromkeys(finding._replace(host="") for finding in found))


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
    place = f"{tilde(file.path)}:{file.line}" if file.line else tilde(file.path)
    said = element(
        "p", element("b", "error", class_="bad"), prose(f" its hooks are not known: {file.message}")
    )
    return element("div", said, element("p", place, class_="soft"), class_="finding error")


def figure(content: Content) -> tuple[str, str]:
    """The number at the top of the page, and its words."""
    number = count(content) + len(content.unreadable)
    return str(number), "thing needs attention" if number == 1 else "things need attention"
