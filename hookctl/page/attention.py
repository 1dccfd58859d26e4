"""What needs attention: doctor's errors and warnings, and files whose hooks are not known."""

from __future__ import annotations

from hookctl.output.lines import amount, place, tilde
from hookctl.page.hooks import count_broken
from hookctl.page.html import Html, element, lines, prose
from hookctl.page.model import Content

_KINDS = {"error": "bad", "warning": "odd"}


def attention(content: Content) -> Html:
    """Each thing with its file and what to do."""
    parts = []
    for (level, message, path, fix), titles in list_things(content).items():
        where = " · ".join(filter(None, [", ".join(dict.fromkeys(filter(None, titles))), path]))
        parts.append(_thing(level, message, where, fix and f"What to do: {fix}"))
    broken = count_broken(content)
    if broken:
        count = amount(broken, "hook does not run", "hooks do not run")
        parts.append(_thing("warning", count, "Their states below say why."))
    if not parts:
        return element("p", "Nothing: doctor found nothing bad here, and all hooks run.")
    return lines(parts)


def list_things(content: Content) -> dict[tuple[str, ...], list[str]]:
    """Level, message, place and fix of each thing, with the hosts that it is about."""
    things: dict[tuple[str, ...], list[str]] = {}
    for finding in content.findings:
        if finding.level in _KINDS:
            message, path = f"{finding.message} `{finding.code}`", tilde(finding.path)
            titles = things.setdefault((finding.level, message, path, finding.fix or ""), [])
            titles.append(content.titles.get(finding.host, finding.host))
    for file in content.unreadable:
        message = f"its hooks are not known: {file.message}"
        things["error", message, place(file.path, file.line), ""] = []
    return things


def _thing(level: str, message: str, where: str, fix: str = "") -> Html:
    head = element("b", level, class_=_KINDS[level])
    said = [element("p", head, prose(f" {message}"))]
    said += [element("p", where, class_="soft")] if where else []
    said += [element("p", prose(fix))] if fix else []
    return element("div", *said, class_=f"finding {level}")
